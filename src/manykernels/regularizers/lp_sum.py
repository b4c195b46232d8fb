"""The separable ℓp penalty on the kernel weights."""

import numpy as np
from numpy import ndarray

from .._validation import check_number
from .base import Regularizer
from .lp_norm import power_prox, power_prox_jacobian


class LpSum(Regularizer):
    """The sum of powers of the kernel weights as a penalty; p = 1 is the group lasso.

    Ω(θ) = Σ θ_m^p / (2p), p ≥ 1: the Tikhonov ℓp-norm MKL of Tomioka & Suzuki (2011), Table 1.

    Ω*(s) = Σ (1 − 1/p) s_m (2 s_m)^{1/(p−1)};   block norm (1/r) Σ ‖f_m‖^r, r = 2p/(p+1).
    p = 1 is the unsquared block 1-norm Σ ‖f_m‖: Ω* is the indicator of s ≤ ½.

    Parameters
    ----------
    p : float, default 1
        1 ≤ p < inf.

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels.regularizers import LpSum
    >>> LpSum(1).block_norm(np.array([4.0, 9.0])), LpSum(1).finite_conjugate
    (5.0, False)
    """

    file_tag = ("regularizer/lp_sum", 1)

    def __init__(self, p: float = 1.0) -> None:
        self.p = check_number("p", p, 1, closed="left")

    @property
    def finite_conjugate(self) -> bool:  # type: ignore[override]  # depends on p
        return self.p > 1

    smooth = finite_conjugate

    def value(self, theta: ndarray) -> float:
        theta = np.asarray(theta, float)
        if theta.min() < -1e-9:
            return np.inf
        with np.errstate(over="ignore"):
            return float(np.sum(np.maximum(theta, 0.0) ** self.p)) / (2 * self.p)

    def conjugate(self, s: ndarray) -> float:
        s = np.maximum(s, 0.0)
        if self.p == 1:
            return 0.0 if s.max() <= 0.5 * (1 + 1e-9) else np.inf
        with np.errstate(over="ignore"):
            return (1 - 1 / self.p) * float(np.sum(s * (2 * s) ** (1 / (self.p - 1))))

    def shrink(self, s: ndarray) -> float:
        """Also shrinks where Ω* is finite but too large for floating point: θ = (2 s)^{1/(p−1)} above 1e30."""
        limit = 0.5 * 1e30 ** (self.p - 1)
        top = float(np.max(s))
        return 1.0 if top <= limit else float(np.sqrt(limit / top))

    def weights_from_norms(self, norms: ndarray) -> ndarray:
        return np.asarray(norms, float) ** (2 / (self.p + 1))

    def weights_from_dual(self, s: ndarray) -> ndarray:
        with np.errstate(over="ignore"):
            return np.minimum((2 * np.maximum(s, 0.0)) ** (1 / (self.p - 1)), 1e300)

    def prox(self, z: ndarray, step: float = 1.0) -> ndarray:
        return power_prox(z, 0.5 * step, self.p)

    def start(self, M: int) -> ndarray:
        return np.full(M, M ** (-1 / self.p))

    def block_prox(self, norms: ndarray, step: float = 1.0) -> ndarray:
        return power_prox(norms, step, 2 * self.p / (self.p + 1))

    def block_prox_jacobian(self, norms: ndarray, step: float = 1.0) -> ndarray:
        return power_prox_jacobian(self.block_prox(norms, step), step, 2 * self.p / (self.p + 1))
