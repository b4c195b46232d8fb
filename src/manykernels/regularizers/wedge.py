import numpy as np
from numpy import ndarray

from .base import Regularizer


class Wedge(Regularizer):
    """Kernel weights that do not increase, for kernels in order of importance.

    Ω(θ) = ½ Σ θ_m with θ_1 ≥ θ_2 ≥ … ≥ 0 (Tomioka & Suzuki 2011, Example 4 and Corollary 6).

    Ω* is the indicator of Σ_{m ≤ k} s_m ≤ k/2 for every k. Leaving out a kernel keeps the order of the others.

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels.regularizers import Wedge
    >>> Wedge().weights_from_norms(np.array([1.0, 7.0])).round(6)
    array([5., 5.])
    """

    file_tag = ("regularizer/wedge", 1)
    finite_conjugate = False
    smooth = False

    def value(self, theta: ndarray) -> float:
        theta = np.asarray(theta, float)
        tolerance = 1e-9 * max(1.0, float(np.abs(theta).max()))
        feasible = theta.min() >= -1e-9 and (len(theta) == 1 or np.max(np.diff(theta)) <= tolerance)
        return 0.5 * float(theta.sum()) if feasible else np.inf

    def level(self, s: ndarray) -> float:
        """The largest mean of the first k entries."""
        return float(np.max(np.cumsum(s) / np.arange(1, len(s) + 1)))

    def conjugate(self, s: ndarray) -> float:
        return 0.0 if self.level(s) <= self.limit * (1 + 1e-9) else np.inf

    def weights_from_norms(self, norms: ndarray) -> ndarray:
        """The square roots of the pooled norms²."""
        from ..loops.lp_projection import decreasing

        norms = np.asarray(norms, float)
        top = max(float(norms.max()), 1e-300)
        return top * np.sqrt(decreasing((norms / top) ** 2))

    def prox(self, z: ndarray, step: float = 1.0) -> ndarray:
        from ..loops.lp_projection import decreasing

        return np.maximum(decreasing(np.asarray(z, float) - 0.5 * step), 0.0)

    def start(self, M: int) -> ndarray:
        return np.full(M, 1 / M)
