import numpy as np
from numpy import ndarray
from numpy.typing import ArrayLike

from .._validation import check_vector
from .base import Regularizer


class Fixed(Regularizer):
    """Kernel weights that are given, not learned.

    Ω(θ) = 0 at θ = weights, else +inf;   Ω*(s) = ⟨weights, s⟩: weights (M,) ≥ 0 that were chosen elsewhere.

    Parameters
    ----------
    weights : array (M,)
        θ ≥ 0.

    Examples
    --------
    >>> from manykernels.regularizers import Fixed
    >>> Fixed([0.5, 0.5]).start(2)
    array([0.5, 0.5])
    """

    file_tag = ("regularizer/fixed", 1)
    constraint = True
    per_kernel = "weights"

    def __init__(self, weights: ArrayLike) -> None:
        self.weights = check_vector("weights", weights, zero=True)
        if not self.weights.any():
            raise ValueError(f"weights={weights!r} leaves no kernel that varies on the data: give one a weight > 0")

    def value(self, theta: ndarray) -> float:
        return 0.0 if np.allclose(theta, self.weights, rtol=1e-9, atol=1e-12 * self.weights.max()) else np.inf

    def conjugate(self, s: ndarray) -> float:
        return float(self.weights @ s)

    def _given(self, *_, **__) -> ndarray:
        """The weights, whatever is asked for."""
        return self.weights.copy()

    weights_from_norms = weights_from_dual = prox = minimise = start = only = _given

    def block_prox(self, norms: ndarray, step: float = 1.0) -> ndarray:
        return norms * self.block_prox_jacobian(norms, step)

    def block_prox_jacobian(self, norms: ndarray, step: float = 1.0) -> ndarray:
        return self.weights / (self.weights + step)
