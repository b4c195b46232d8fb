from typing import Any

import numpy as np

from .._simplex import minimise_on_simplex, project_simplex
from .._validation import check_number
from ._powers import norm, squared_norm_prox, squared_norm_prox_jacobian
from .base import Regularizer


class LpNorm(Regularizer):
    """The ℓp-norm constraint on the kernel weights.

    Ω(θ) = 0 if θ ≥ 0 and ‖θ‖_p ≤ 1, else +inf;   Ω*(s) = ‖s₊‖_q, 1/p + 1/q = 1 (Kloft et al. 2011).

    p = 1 gives sparse weights, p = inf the plain sum of the kernels. Block norm ½ ‖(‖f_m‖)_m‖_r², r = 2p/(p+1).

    Parameters
    ----------
    p : float, default 1
        1 ≤ p ≤ inf.

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels.regularizers import LpNorm
    >>> LpNorm(2).start(4)
    array([0.5, 0.5, 0.5, 0.5])
    >>> LpNorm(2).weights_from_dual(np.array([3.0, 4.0]))
    array([0.6, 0.8])
    """

    file_tag = ("regularizer/lp_norm", 1)
    constraint = True

    def __init__(self, p: float = 1.0) -> None:
        self.p = check_number("p", p, 1, closed="both")

    @property
    def simplex(self) -> bool:  # type: ignore[override]  # depends on p
        return self.p == 1

    @property
    def smooth(self) -> bool:  # type: ignore[override]  # depends on p
        return self.p > 1

    @property
    def block_power(self) -> float:
        """r = 2p/(p+1)."""
        return 2.0 if self.p == np.inf else 2 * self.p / (self.p + 1)

    def why_not(self, method: str) -> str:
        if method == "conjugate_curvature" and self.p in (1, np.inf):
            return "Ω* is not twice differentiable"
        return super().why_not(method)

    def value(self, theta: np.ndarray) -> float:
        theta = np.asarray(theta, dtype=float)
        feasible = theta.min() >= -1e-9 and norm(theta, self.p) <= 1 + 1e-9
        return 0.0 if feasible else np.inf

    def conjugate(self, s: np.ndarray) -> float:
        q = np.inf if self.p == 1 else 1.0 if self.p == np.inf else self.p / (self.p - 1)
        return norm(np.maximum(s, 0.0), q)

    def weights_from_norms(self, norms: np.ndarray) -> np.ndarray:
        return self._weights(norms, 2 / (self.p + 1))

    def weights_from_dual(self, s: np.ndarray) -> np.ndarray:
        if self.p == 1:
            return np.eye(1, len(s), int(np.argmax(s)))[0] if np.max(s) > 0 else self.start(len(s))
        return self._weights(np.maximum(s, 0.0), 1 / (self.p - 1))

    def conjugate_curvature(self, s: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """∇²Ω*(s) = diag(d) − eeᵀ, as (d, e), for s ≥ 0: (q−1)/‖s‖ (diag(u^{q−2}) − u^{q−1} u^{q−1}ᵀ), u = s/‖s‖."""
        q = self.p / (self.p - 1)
        size = max(norm(s, q), 1e-300)
        u = np.maximum(s / size, 1e-100 if q < 2 else 0.0)
        return (q - 1) / size * u ** (q - 2), np.sqrt((q - 1) / size) * u ** (q - 1)

    def _weights(self, x, power):
        """x^power scaled to the unit ℓp sphere, uniform where x = 0."""
        top = np.max(x)
        if not top > 0 or self.p == np.inf:
            return self.start(len(x))
        theta = (np.asarray(x, dtype=float) / top) ** power
        return theta / norm(theta, self.p)

    def prox(self, z: np.ndarray, step: float = 1.0) -> np.ndarray:
        """The Euclidean projection of z, whatever the step."""
        z = np.maximum(np.asarray(z, dtype=float), 0.0)
        if self.p == np.inf:
            return np.minimum(z, 1.0)
        size = norm(z, self.p)
        if size <= 1:
            return z
        if self.p == 1:
            return project_simplex(z)
        if self.p == 2:
            return z / size
        from ..loops.lp_projection import project_mixed

        return project_mixed(z, np.zeros(len(z)), np.ones(len(z)), self.p)

    def minimise(self, model: Any, theta: np.ndarray, tolerance: float, max_steps: int = 500) -> np.ndarray:
        if self.p > 1:
            return super().minimise(model, theta, tolerance, max_steps)
        return minimise_on_simplex(model, theta, tolerance, super().minimise)

    def start(self, M: int) -> np.ndarray:
        return np.full(M, M ** (-1 / self.p))

    def only(self, M: int) -> np.ndarray | None:
        return np.ones(M) if self.p == np.inf else None

    def block_norm(self, sq_norms: np.ndarray) -> float:
        return 0.5 * norm(np.sqrt(np.asarray(sq_norms, dtype=float)), self.block_power) ** 2

    def block_prox(self, norms: np.ndarray, step: float = 1.0) -> np.ndarray:
        return squared_norm_prox(norms, step, self.block_power)

    def block_prox_jacobian(self, norms: np.ndarray, step: float = 1.0) -> np.ndarray:
        return squared_norm_prox_jacobian(self.block_prox(norms, step), step, self.block_power)
