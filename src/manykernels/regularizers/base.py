"""The protocol of a regularizer Ω on the kernel weights θ ≥ 0."""

from __future__ import annotations

import numpy as np
from numpy import ndarray

from .._limits import spend
from .._parts import Part
from .._validation import check_size
from ..losses.base import Loss

_WAYS = {"minimise": "prox", "block_norm": "weights_from_norms"}  # {method: the method that its general version calls}
_ALWAYS = ("start", "only", "shrink", "penalty", "restrict", "bind", "has", "why_not")


class Regularizer(Part):
    """A convex Ω(θ), its conjugate, and the weights it prefers; arrays are (M,).

    A subclass defines the methods that exist for its Ω; `has(method)` tells which, `why_not(method)` why not.
    If Ω is of degree 1 in f (not `finite_conjugate`), Ω* is the indicator of `level(s) <= limit`.

    Examples
    --------
    >>> from manykernels.regularizers import BlockNorm, LpNorm
    >>> LpNorm(2).has("prox"), BlockNorm(3).has("prox"), LpNorm(1).simplex
    (True, False, True)
    """

    finite_conjugate = True  # Ω* is finite everywhere
    smooth = True  # and differentiable, so that the dual weights are unique: not where p = 1
    constraint = False  # Ω is the indicator of a compact convex set
    simplex = False  # that set is the simplex
    exact = False  # the kernels must be float64
    bayesian = False  # models have a Gaussian posterior
    limit = 0.5
    per_kernel = ""  # the parameter that has an entry for each kernel
    conjugate_bend: float | None = None  # a bound of ∇²Ω*, if one is known

    def has(self, method: str) -> bool:
        """Whether its class defines the method and `why_not` gives no reason against it."""
        if self.why_not(method):
            return False
        # a method of its own class, by name
        own, general = getattr(type(self), method, None), getattr(Regularizer, method, None)
        if own is None or own is not general:
            return own is not None
        return method in _ALWAYS or (method in _WAYS and self.has(_WAYS[method]))

    def why_not(self, method: str) -> str:
        """The mathematical reason why there is no such method, or ""."""
        if method == "weights_from_dual" and not self.finite_conjugate:
            return "Ω* is an indicator, so that no weights attain it"
        return ""

    def value(self, theta: ndarray) -> float:
        """Ω(θ), +inf outside its domain."""
        raise NotImplementedError

    def conjugate(self, s: ndarray) -> float:
        """Ω*(s) = sup_{θ ≥ 0} ⟨θ, s⟩ − Ω(θ)."""
        raise NotImplementedError

    def weights_from_norms(self, norms: ndarray) -> ndarray:
        """argmin_θ ½ Σ_m norms_m² / θ_m + Ω(θ)."""
        raise NotImplementedError

    def weights_from_dual(self, s: ndarray) -> ndarray:
        """argmax_{θ ≥ 0} ⟨θ, s⟩ − Ω(θ)."""
        raise NotImplementedError

    def conjugate_curvature(self, s: ndarray) -> tuple[ndarray, ndarray]:
        """(d, e), (M,) each, with ∇²Ω*(s) = diag(d) − eeᵀ, where Ω* is that smooth."""
        raise NotImplementedError

    def derivatives(self, theta: ndarray) -> tuple[ndarray, ndarray]:
        """(Ω'_m(θ_m), Ω''_m(θ_m)), (M,) each, at θ > 0, of an Ω = Σ_m Ω_m(θ_m) on the simplex."""
        raise NotImplementedError

    def prox(self, z: ndarray, step: float = 1.0) -> ndarray:
        """argmin_{θ ≥ 0} ½ ‖θ − z‖² + step · Ω(θ)."""
        raise NotImplementedError

    def start(self, M: int) -> ndarray:
        """The uniform feasible weights on the boundary; for penalties, uniform weights of a sensible size."""
        raise NotImplementedError

    def only(self, M: int) -> ndarray | None:
        """The weights, (M,), that minimise ½ Σ_m ‖f_m‖² / θ_m + Ω(θ) whatever the f_m are; None if they are learned."""
        return None

    def level(self, s: ndarray) -> float:
        """How large s is: the domain of an unbounded Ω* is level(s) ≤ limit. level(ts − c) = t level(s) − c."""
        return float(np.max(s))

    def shrink(self, s: ndarray) -> float:
        """The largest t in [0, 1] with t² s in the domain of Ω*."""
        level = 0.0 if self.finite_conjugate else self.level(s)
        return 1.0 if level <= self.limit else float(np.sqrt(self.limit / level))

    def penalty(self, theta: ndarray, q: ndarray) -> tuple[float, float]:
        """½ Σ ‖f_m‖² / θ_m and Ω(θ) where ‖f_m‖² = θ_m² q_m."""
        return 0.5 * float(theta @ q), self.value(theta)

    def restrict(self, kernels: ndarray, M: int) -> Regularizer:
        """The regularizer of these of the M kernels, without the others."""
        if not self.per_kernel:
            return self
        params = self.get_params(deep=False)
        check_size(self.per_kernel, params[self.per_kernel], M)
        return type(self)(**params | {self.per_kernel: params[self.per_kernel][kernels]})

    def bind(
        self, bank, Y: ndarray, c: ndarray, loss: Loss | None = None, intercept: bool = True, C: float = 1.0
    ) -> tuple[Regularizer, ndarray]:
        """(regularizer, costs) for the targets Y (T, n) and their costs c; both may depend on the data.

        C is the cost of an example of weight 1. The fit uses the regularizer that `bind` returns, here itself.
        """
        return self, c

    def block_norm(self, sq_norms: ndarray) -> float:
        """g(x) = min_θ ½ Σ x_m / θ_m + Ω(θ) at x_m = ‖f_m‖² (Tomioka & Suzuki 2011, Theorem 1)."""
        sq_norms = np.asarray(sq_norms, float)
        theta = self.weights_from_norms(np.sqrt(sq_norms))
        with np.errstate(divide="ignore", over="ignore"):
            parts = np.divide(sq_norms, theta, out=np.zeros(sq_norms.shape), where=sq_norms > 0)  # 0/0 = 0
        return 0.5 * float(np.sum(parts)) + self.value(theta)

    def block_prox(self, norms: ndarray, step: float = 1.0) -> ndarray:
        """argmin_{t ≥ 0} ½ Σ (t_m − norms_m)² + step · block_norm(t²)."""
        raise NotImplementedError

    def block_prox_jacobian(self, norms: ndarray, step: float = 1.0) -> ndarray:
        """The derivative of `block_prox` in norms: its diagonal (M,) where it is diagonal, else (M, M)."""
        raise NotImplementedError

    def minimise(self, model, theta: ndarray, tolerance: float, max_steps: int = 500) -> ndarray:
        """argmin_{x ≥ 0} model(x) + Ω(x) from θ, until no more than `tolerance` can be gained.

        `model` is a convex quadratic ⟨g, x − θ⟩ + ½ (x − θ)ᵀH(x − θ), with `gradient` g, `multiply(v)` = H v and
        `diagonal`; `solvers.newton.LocalModel` has more, for methods that override this one. The general method takes
        proximal steps of Barzilai–Borwein length, each shortened to the best point on its line.
        For penalties Σx ≤ 10 Σθ (or 1): with a penalty of degree 1 in f the model may have no minimum otherwise.
        """
        x, gradient, omega = theta, model.gradient, self.value(theta)
        most = np.inf if self.constraint else max(10.0 * float(np.sum(theta)), 1.0)
        step = 1.0 / max(float(model.diagonal.max()), 1e-12 * float(np.abs(gradient).max()), 1e-300)
        for k in range(max_steps):
            spend(60.0)
            target = x - step * gradient
            target = self.prox(target, step) if self.constraint else self._capped_prox(target, step, most)
            move, omega_target = target - x, 0.0 if self.constraint else self.value(target)
            decrease = omega - omega_target - float(gradient @ move)
            if not 0 < decrease < np.inf:
                break
            curved = model.multiply(move)
            curvature = float(move @ curved)
            t = 1.0 if curvature <= decrease else decrease / curvature
            x, gradient = x + t * move, gradient + t * curved
            omega = self.value(x) if t < 1 and not self.constraint else omega_target
            if k % 10 == 9:
                bound = most if x.sum() > 0.999 * most or not self.finite_conjugate else np.inf
                if omega + self._capped_conjugate(-gradient, bound) + float(x @ gradient) <= tolerance:
                    break
            step = float(move @ move) / curvature if curvature > 1e-300 else 10 * step
        return np.maximum(x, 0.0)

    def _capped_prox(self, z, step, most):
        """The prox over Σθ ≤ most: that of z − ν, ν the multiplier, by false position."""
        theta = self.prox(z, step)
        over = theta.sum() - most
        if not over > 0:
            return theta
        lo, hi, above, below, inside = 0.0, float(np.max(z)), over, -most, np.zeros(len(z))
        for turn in range(120):
            spend(20.0)
            nu = lo + (hi - lo) * (above / (above - below) if turn % 2 else 0.5)
            theta = self.prox(z - nu, step)
            over = theta.sum() - most
            if over > 0:
                lo, above = nu, over
            else:
                hi, below, inside = nu, over, theta
            if abs(over) <= 1e-12 * most or hi - lo <= 1e-15 * hi:
                break
        return inside if over > 1e-12 * most else theta

    def _capped_conjugate(self, s, most):
        """sup over Σθ ≤ most of ⟨θ, s⟩ − Ω(θ) = min_{ν ≥ 0} ν·most + Ω*(s − ν)."""
        if not self.finite_conjugate:
            return most * max(self.level(s) - self.limit, 0.0)
        lo, hi, best = 0.0, float(np.max(s)), self.conjugate(s)
        for _ in range(60 if most < np.inf and hi > 0 else 0):
            spend(40.0)
            values = [nu * most + self.conjugate(s - nu) for nu in (0.6 * lo + 0.4 * hi, 0.4 * lo + 0.6 * hi)]
            lo, hi = (lo, 0.4 * lo + 0.6 * hi) if values[0] <= values[1] else (0.6 * lo + 0.4 * hi, hi)
            best = min(best, *values)
        return best
