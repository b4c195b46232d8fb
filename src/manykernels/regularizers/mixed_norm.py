import numpy as np
from numpy import ndarray

from .._validation import check_number
from .base import Regularizer
from .lp_norm import LpNorm, positive


class MixedNorm(Regularizer):
    """A mixture of the ℓ1- and an ℓp-norm as a constraint on the kernel weights.

    Ω(θ) = 0 if θ ≥ 0 and v ‖θ‖₁ + (1−v) ‖θ‖_p^p ≤ 1, else +inf (Yang et al. 2011, remark 3).

    Ω*(s) = min_{μ ≥ 0} μ + Σ max_x (s_m − μv) x − μ(1−v) x^p. v = 1 is the simplex, v = 0 is LpNorm(p).

    Parameters
    ----------
    v : float, default 0.5
        The share of the ℓ1-norm, 0 ≤ v ≤ 1.
    p : float, default 2
        1 ≤ p < inf.

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels.regularizers import MixedNorm
    >>> MixedNorm(v=0.5, p=3).start(2).round(3)
    array([0.682, 0.682])
    """

    file_tag = ("regularizer/mixed_norm", 1)
    constraint = True

    def __init__(self, v: float = 0.5, p: float = 2.0) -> None:
        self.v = check_number("v", v, 0, 1, "both")
        self.p = check_number("p", p, 1, closed="left")

    @property
    def simplex(self) -> bool:  # type: ignore[override]  # depends on v and p
        return self.v == 1 or self.p == 1

    @property
    def smooth(self) -> bool:  # type: ignore[override]  # depends on v and p
        return not self.simplex

    def _size(self, theta):
        with np.errstate(over="ignore"):
            return self.v * float(np.sum(theta)) + (1 - self.v) * float(np.sum(theta**self.p))

    def _parts(self, M):
        """The coefficients (M,) of θ and of θ^p in the constraint."""
        return np.full(M, 1.0 if self.simplex else self.v), np.full(M, 0.0 if self.simplex else 1 - self.v)

    def value(self, theta: ndarray) -> float:
        theta = np.asarray(theta, float)
        return 0.0 if theta.min() >= -1e-9 and self._size(np.maximum(theta, 0.0)) <= 1 + 1e-9 * self.p else np.inf

    def _support(self, s):
        """max s, argmax ⟨θ, s⟩, the multiplier for s / max s, and s₊ / max s."""
        from ..loops.lp_projection import support_mixed

        s = positive(s)
        top = float(s.max())
        s = s / top if top > 0 else np.ones(len(s))
        if self.simplex:
            return top, LpNorm(1).weights_from_dual(s), 1.0, s
        return top, *support_mixed(s, *self._parts(len(s)), self.p), s

    def conjugate(self, s: ndarray) -> float:
        top, theta, mu, s = self._support(s)
        return top * (float(theta @ s) + mu * (1 - self._size(theta)))

    def weights_from_dual(self, s: ndarray) -> ndarray:
        from ..loops.lp_projection import tighten

        _, theta, _, s = self._support(s)
        return tighten(theta, s, *self._parts(len(s)), self.p)

    def weights_from_norms(self, norms: ndarray) -> ndarray:
        from ..loops.lp_projection import balance_mixed

        norms = np.asarray(norms, float)
        return balance_mixed(norms, *self._parts(len(norms)), self.p) if norms.max() > 0 else self.start(len(norms))

    def prox(self, z: ndarray, step: float = 1.0) -> ndarray:
        """The Euclidean projection of z, whatever the step."""
        from ..loops.lp_projection import project_mixed

        if self.simplex:
            return LpNorm(1).prox(z)
        z = positive(z)
        return z if self._size(z) <= 1 else project_mixed(z, *self._parts(len(z)), self.p)

    def minimise(self, model, theta: ndarray, tolerance: float, max_steps: int = 500) -> ndarray:
        if self.simplex:
            return LpNorm(1).minimise(model, theta, tolerance, max_steps)
        return super().minimise(model, theta, tolerance, max_steps)

    def start(self, M: int) -> ndarray:
        from ..loops.lp_projection import tighten

        return tighten(np.ones(M), np.ones(M), *self._parts(M), self.p)
