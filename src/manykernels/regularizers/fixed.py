from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .._validation import check_size, check_vector
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

    def __init__(self, weights: ArrayLike) -> None:
        self.weights = check_vector("weights", weights, zero=True)
        if not self.weights.any():
            raise ValueError(f"weights={weights!r} leaves no kernel that varies on the data: give one a weight > 0")

    def restrict(self, kernels: np.ndarray, M: int) -> Regularizer:
        check_size("weights", self.weights, M)
        return Fixed(self.weights[kernels])

    def value(self, theta: np.ndarray) -> float:
        return 0.0 if np.allclose(theta, self.weights, rtol=1e-9, atol=1e-12 * self.weights.max()) else np.inf

    def conjugate(self, s: np.ndarray) -> float:
        return float(self.weights @ s)

    def weights_from_norms(self, norms: np.ndarray) -> np.ndarray:
        return self.weights.copy()

    def weights_from_dual(self, s: np.ndarray) -> np.ndarray:
        return self.weights.copy()

    def prox(self, z: np.ndarray, step: float = 1.0) -> np.ndarray:
        return self.weights.copy()

    def minimise(self, model: Any, theta: np.ndarray, tolerance: float, max_steps: int = 500) -> np.ndarray:
        return self.weights.copy()

    def start(self, M: int) -> np.ndarray:
        return self.weights.copy()

    def only(self, M: int) -> np.ndarray | None:
        return self.weights.copy()

    def block_norm(self, sq_norms: np.ndarray) -> float:
        """½ Σ x_m / weights_m, +inf where x_m > 0 without weight."""
        x, w = np.asarray(sq_norms, dtype=float), self.weights
        return np.inf if np.any((x > 0) & (w == 0)) else 0.5 * float(np.sum(x[w > 0] / w[w > 0]))

    def block_prox(self, norms: np.ndarray, step: float = 1.0) -> np.ndarray:
        return norms * self.block_prox_jacobian(norms, step)

    def block_prox_jacobian(self, norms: np.ndarray, step: float = 1.0) -> np.ndarray:
        return self.weights / (self.weights + step)
