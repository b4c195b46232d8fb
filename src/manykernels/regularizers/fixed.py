"""Kernel weights that are given."""

import numpy as np

from .._validation import check_size, check_vector
from ._base import Regularizer


class Fixed(Regularizer):
    """Ω(θ) = 0 at θ = weights, else +inf;   Ω*(s) = ⟨weights, s⟩: weights (M,) ≥ 0 that were chosen elsewhere."""

    constraint = True

    def __init__(self, weights):
        self.weights = check_vector("weights", weights, zero=True)
        if not self.weights.any():
            raise ValueError(f"weights={weights!r} leaves no kernel that varies on the data: give one a weight > 0")

    def restrict(self, kernels, M):
        check_size("weights", self.weights, M)
        return Fixed(self.weights[kernels])

    def value(self, theta):
        return 0.0 if np.allclose(theta, self.weights, rtol=1e-9, atol=1e-12 * self.weights.max()) else np.inf

    def conjugate(self, s):
        return float(self.weights @ s)

    def weights_from_norms(self, norms):
        return self.weights.copy()

    def weights_from_dual(self, s):
        return self.weights.copy()

    def prox(self, z, step=1.0):
        return self.weights.copy()

    def minimise(self, model, theta, slack, max_steps=500):
        return self.weights.copy()

    def start(self, M):
        return self.weights.copy()

    def block_norm(self, sq_norms):
        """½ Σ x_m / weights_m, +inf where x_m > 0 without weight."""
        x, w = np.asarray(sq_norms, dtype=float), self.weights
        return np.inf if np.any((x > 0) & (w == 0)) else 0.5 * float(np.sum(x[w > 0] / w[w > 0]))

    def block_prox(self, norms, step):
        return norms * self.block_prox_jacobian(norms, step)

    def block_prox_jacobian(self, norms, step):
        return self.weights / (self.weights + step)
