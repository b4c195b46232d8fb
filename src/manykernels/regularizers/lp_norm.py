"""The ℓp-norm, and the proximal steps of norms and powers that other members share."""

import numpy as np
from numpy import ndarray

from .._simplex import minimise_on_simplex, project_simplex
from .._validation import check_number
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

    def value(self, theta: ndarray) -> float:
        theta = np.asarray(theta, float)
        feasible = theta.min() >= -1e-9 and norm(theta, self.p) <= 1 + 1e-9
        return 0.0 if feasible else np.inf

    def conjugate(self, s: ndarray) -> float:
        q = np.inf if self.p == 1 else 1.0 if self.p == np.inf else self.p / (self.p - 1)
        return norm(np.maximum(s, 0.0), q)

    def weights_from_norms(self, norms: ndarray) -> ndarray:
        return self._weights(norms, 2 / (self.p + 1))

    def weights_from_dual(self, s: ndarray) -> ndarray:
        if self.p == 1:
            return np.eye(1, len(s), int(np.argmax(s)))[0] if np.max(s) > 0 else self.start(len(s))
        return self._weights(np.maximum(s, 0.0), 1 / (self.p - 1))

    def conjugate_curvature(self, s: ndarray) -> tuple[ndarray, ndarray]:
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
        theta = (np.asarray(x, float) / top) ** power
        return theta / norm(theta, self.p)

    def prox(self, z: ndarray, step: float = 1.0) -> ndarray:
        """The Euclidean projection of z, whatever the step."""
        z = positive(z)
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

    def minimise(self, model, theta: ndarray, tolerance: float, max_steps: int = 500) -> ndarray:
        if self.p > 1:
            return super().minimise(model, theta, tolerance, max_steps)
        return minimise_on_simplex(model, theta, tolerance, super().minimise)

    def start(self, M: int) -> ndarray:
        return np.full(M, M ** (-1 / self.p))

    def only(self, M: int) -> ndarray | None:
        return np.ones(M) if self.p == np.inf else None

    def block_prox(self, norms: ndarray, step: float = 1.0) -> ndarray:
        return squared_norm_prox(norms, step, self.block_power)

    def block_prox_jacobian(self, norms: ndarray, step: float = 1.0) -> ndarray:
        return squared_norm_prox_jacobian(self.block_prox(norms, step), step, self.block_power)


class OnBall(Regularizer):
    """A regularizer that is made from `LpNorm(p)`."""

    p: float

    @property
    def smooth(self) -> bool:  # type: ignore[override]  # depends on p
        return self.p > 1

    @property
    def _ball(self):
        return LpNorm(self.p)


def positive(x):
    """x₊ as floats."""
    return np.maximum(np.asarray(x, float), 0.0)


def norm(x, p):
    """‖x‖_p without overflow."""
    size = np.abs(x)
    top = float(np.maximum.reduce(size))  # methods such as `max` run Python, here in the innermost loop
    if p == np.inf or top == 0 or top == np.inf:
        return top
    return top * float(np.add.reduce((size / top) ** p)) ** (1 / p)


def power_prox(z, w, p):
    """argmin over x ≥ 0 of ½‖x − z‖² + (w/p) Σ x^p, 1 ≤ p < inf: x + w x^{p−1} = z."""
    z = positive(z)
    if p == 1:
        return np.maximum(z - w, 0.0)
    from ..loops.lp_projection import power_roots

    return power_roots(z, float(w), p - 1.0)


def power_prox_jacobian(x, w, p):
    """The derivative of `power_prox` in z, (M,), at its value x."""
    if p == 1:
        return (x > 0).astype(float)
    with np.errstate(divide="ignore", over="ignore"):
        return 1 / (1 + w * (p - 1) * np.asarray(x, float) ** (p - 2))


def squared_norm_prox(z, w, p):
    """argmin over x ≥ 0 of ½‖x − z‖² + (w/2) ‖x‖_p², 1 ≤ p ≤ inf."""
    z = positive(z)
    if p == 2:
        return z / (1 + w)
    if not z.max() > 0:
        return z
    if p in (1, np.inf):
        ordered, count = np.sort(z)[::-1], np.arange(1, len(z) + 1)
        sums = np.cumsum(ordered)
        if p == 1:  # x = (z − w Σx)₊
            threshold = w * sums / (1 + w * count)
            return np.maximum(z - threshold[np.count_nonzero(ordered > threshold) - 1], 0.0)
        top = sums / (count + w)  # x = min(z, R), Σ (z − R)₊ = w R
        return np.minimum(z, top[np.count_nonzero(ordered > top) - 1])
    from ..loops.lp_projection import prox_squared_norm

    return prox_squared_norm(z, float(w), float(p))


def squared_norm_prox_jacobian(x, w, p):
    """The derivative of `squared_norm_prox` in z, (M, M), at its value x, for 1 ≤ p < inf.

    (I + w (p−1) R^{2−p} diag(x^{p−2}) + w (2−p) vvᵀ)⁻¹ with R = ‖x‖_p, v = (x/R)^{p−1}, on the x that are not 0.
    """
    x = np.asarray(x, float)
    R = norm(x, p)
    if R == 0:
        return np.zeros((len(x), len(x))) if p < 2 else np.eye(len(x)) / (1 + w * (p == 2))
    with np.errstate(divide="ignore", over="ignore"):
        D = 1 / (1 + w * (p - 1) * (x / R) ** (p - 2)) if p > 1 else (x > 0).astype(float)
    v = (x / R) ** (p - 1) * (D > 0)
    c = w * (2 - p)
    return np.diag(D) - np.outer(D * v, D * v) * (c / (1 + c * float(v @ (D * v))))
