"""The result of a solver."""

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

import numpy as np

from ._state import Stored, check


class Status(StrEnum):
    """How a fit ended; `Solution.reason` says it in words where the user can do something."""

    REACHED = "reached"  # the gap is at most tol
    ROUGH = "rough"  # the gap is at most tol, but rounding may change the objective by more, or the solver has doubts
    NOISELESS = "noiseless"  # empirical Bayes has learned a noise of almost 0
    STEPS = "steps"  # max_iter was reached
    WORK = "work"  # the allowance of counted work was used up
    STALLED = "stalled"  # the gap no longer improves
    ROUNDING = "rounding"  # the gap is above tol, and float64 cannot resolve a smaller one
    DIGITS = "digits"  # the same for the precision of the given kernel values
    MEMORY = "memory"  # memory_limit has no room for more active examples
    INDEFINITE = "indefinite"  # a kernel is not positive semidefinite
    INTERRUPTED = "interrupted"


@dataclass(frozen=True)
class Solution(Stored):
    """A feasible point (a, θ, b) with the certificate `gap = (primal − dual) / scale` that it is near the optimum.

    The predictor is f_t = Σ_m θ_m K_m a_t + b_t.

    Parameters
    ----------
    theta : array (M,)
        The weights.
    a : array (T, n)
        The signed dual variables.
    b : array (T,)
        The intercepts; (T, k) with covariates, see `Problem.coefficients`.
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
        Why the gap is above tol, or what makes the result doubtful although it is not.
    status : Status, optional
        The same as an enum; `solve` sets it.
    precision : str
        The dtype of the combined kernel in the last step, "float32" or "float64"; "" if it was not built.
    dual_a : array (T, n), optional
        A better dual point, if the solver found one, such as a mean of its cuts.
    log_marginal_likelihood, stationarity, noise : float, optional
        Of empirical Bayes: the noise is σ².
    norms : array (M',), optional
        q_m = Σ_t a_tᵀK_m a_t of the usable kernels, if the solver knows them at a; not kept in files.
    active : array of int, optional
        The last active examples, with which a warm start begins; not kept in files.

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels.solution import Solution
    >>> found = Solution(np.ones(1), np.zeros((1, 2)), np.zeros(1), primal=1.0, dual=0.9, gap=0.1)
    >>> found.gap, found.converged
    (0.1, False)
    """

    file_tag = ("solution", 1)
    saved = {
        "theta": "f8 M", "a": "f8 T n", "b": "f8 T or f8 T _", "dual_a": "?f8 T n", "primal": "number",
        "dual": "number",
        "gap": "number", "n_iter": "int 0", "history": "records", "converged": "any", "interrupted": "any",
        "reason": "text", "status": "?text", "precision": "?text", "log_marginal_likelihood": "?number",
        "stationarity": "?number", "noise": "?number",
    }  # fmt: skip
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
    status: Status | None = None
    precision: str = ""
    dual_a: np.ndarray | None = field(default=None, repr=False)
    log_marginal_likelihood: float | None = None
    stationarity: float | None = None
    noise: float | None = None
    norms: np.ndarray | None = field(default=None, repr=False)
    active: np.ndarray | None = field(default=None, repr=False)

    @property
    def support(self) -> np.ndarray:
        """The numbers of the examples with a ≠ 0 in an output."""
        return np.flatnonzero(self.a.any(axis=0))

    def to_state(self) -> dict[str, Any]:
        return super().to_state() | {"status": None if self.status is None else self.status.value}

    def check_state(self) -> None:
        status, precision = self.status, self.precision or ""  # old files have neither
        vars(self).update(status=None if status is None else Status(status), precision=precision)
        check(precision in ("", "float32", "float64"), f"precision={precision!r:.80} is unknown")
