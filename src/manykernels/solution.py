"""The result of a solver."""

from dataclasses import dataclass, field

import numpy as np


@dataclass(frozen=True)
class Solution:
    """A feasible point (a, θ, b) with the certificate `gap = (primal − dual) / scale` that it is near the optimum.

    theta (M,), a (T, n) signed, b (T,); the predictor is f_t = Σ_m θ_m K_m a_t + b_t, and `primal` its value. `dual`
    is the dual value at a, or at `dual_a` where a solver found a better one: a mean of its cuts, say. Empirical Bayes
    has no gap (NaN) but a log marginal likelihood, its stationarity and the noise σ².
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
    dual_a: np.ndarray | None = field(default=None, repr=False)
    log_marginal_likelihood: float | None = None
    stationarity: float | None = None
    noise: float | None = None
