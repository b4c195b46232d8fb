"""The result of a solver."""

from __future__ import annotations

from dataclasses import dataclass, field
from numbers import Real

import numpy as np

from ._state import check, check_array, check_integer, check_is, check_records


@dataclass(frozen=True)
class Solution:
    """A feasible point (a, θ, b) with the certificate `gap = (primal − dual) / scale` that it is near the optimum.

    The predictor is f_t = Σ_m θ_m K_m a_t + b_t.

    Parameters
    ----------
    theta : array (M,)
        The weights.
    a : array (T, n)
        The signed dual variables.
    b : array (T,)
        The intercepts.
    primal : float
        The value of the predictor.
    dual : float
        The dual value at a, or at `dual_a`.
    gap : float
        Relative; NaN for empirical Bayes.
    n_iter : int
        Outer steps.
    history : list of dict
        A record per outer step.
    converged, interrupted : bool
    reason : str
        Why it has not reached its gap, or what speaks against it although it has.
    dual_a : array (T, n), optional
        A better dual point where a solver found one: a mean of its cuts, say.
    log_marginal_likelihood, stationarity, noise : float, optional
        Of empirical Bayes: the noise is σ².

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels.solution import Solution
    >>> found = Solution(np.ones(1), np.zeros((1, 2)), np.zeros(1), primal=1.0, dual=0.9, gap=0.1)
    >>> found.gap, found.converged
    (0.1, False)
    """

    theta: np.ndarray
    a: np.ndarray
    b: np.ndarray
    primal: float
    dual: float
    gap: float
    n_iter: int = 0
    history: list = field(default_factory=list, repr=False)
    converged: bool = False
    interrupted: bool = False
    reason: str = ""
    dual_a: np.ndarray | None = field(default=None, repr=False)
    log_marginal_likelihood: float | None = None
    stationarity: float | None = None
    noise: float | None = None

    def check_state(self) -> None:
        """A ValueError where a file has restored what is no solution; see `_state`."""
        check_array("theta", self.theta, np.float64, None)
        check_array("a", self.a, np.float64, None, None)
        check_array("b", self.b, np.float64, len(self.a))
        if self.dual_a is not None:
            check_array("dual_a", self.dual_a, np.float64, *self.a.shape)
        check_records("history", self.history)
        check_integer("n_iter", self.n_iter, 0, 2**48)
        for name in ("primal", "dual", "gap", "log_marginal_likelihood", "stationarity", "noise"):
            check(isinstance(getattr(self, name), Real | None), f"{name} is not a number")
        bayes = {value is None for value in (self.log_marginal_likelihood, self.stationarity, self.noise)}
        check(len(bayes) == 1, "log_marginal_likelihood, stationarity and noise do not go together")
        for name in ("converged", "interrupted"):
            check_is(name, getattr(self, name), bool)
