"""The protocol of a regularizer Ω on the kernel weights θ ≥ 0."""

import numpy as np


class Regularizer:
    """A convex Ω(θ), its conjugate, and the weights it prefers; arrays are (M,)."""

    def __repr__(self):
        return f"{type(self).__name__}({', '.join(f'{k}={v!r}' for k, v in vars(self).items())})"

    def __eq__(self, other):
        return type(self) is type(other) and vars(self) == vars(other)

    def __hash__(self):
        return hash(repr(self))

    def has(self, method):
        """Whether this regularizer states that method itself; `minimise` needs only `prox`."""
        own, general = getattr(type(self), method, None), getattr(Regularizer, method, None)
        return own is not None and (own is not general or method == "minimise")

    def value(self, theta):
        """Ω(θ), +inf outside its domain."""
        raise NotImplementedError

    def conjugate(self, s):
        """Ω*(s) = sup_{θ ≥ 0} ⟨θ, s⟩ − Ω(θ)."""
        raise NotImplementedError

    def weights_from_norms(self, norms):
        """argmin_θ ½ Σ_m norms_m² / θ_m + Ω(θ)."""
        raise NotImplementedError

    def weights_from_dual(self, s):
        """argmax_{θ ≥ 0} ⟨θ, s⟩ − Ω(θ)."""
        raise NotImplementedError

    def prox(self, z, step=1.0):
        """argmin_{θ ≥ 0} ½ ‖θ − z‖² + step · Ω(θ)."""
        raise NotImplementedError

    def minimise(self, model, theta, slack, max_steps=500):
        """argmin_{x ≥ 0} model(x) + Ω(x) from θ, until no more than `slack` can be gained.

        `model` is a convex quadratic ⟨g, x − θ⟩ + ½ (x − θ)ᵀH(x − θ), with `gradient` g, `multiply(v)` = H v and
        `diagonal`. Here: proximal steps of Barzilai–Borwein length, each shortened to the best point on its way.
        """
        x, gradient, omega = theta, model.gradient, self.value(theta)
        step = 1.0 / max(float(model.diagonal.max()), 1e-12 * float(np.abs(gradient).max()), 1e-300)
        for k in range(max_steps):
            target = self.prox(x - step * gradient, step)
            move, omega_target = target - x, self.value(target)
            decrease = omega - omega_target - float(gradient @ move)
            if not 0 < decrease < np.inf:
                break
            curved = model.multiply(move)
            curvature = float(move @ curved)
            t = 1.0 if curvature <= decrease else decrease / curvature
            x, gradient = x + t * move, gradient + t * curved
            omega = self.value(x) if t < 1 else omega_target
            if k % 10 == 9 and omega + self.conjugate(-gradient) + float(x @ gradient) <= slack:
                break
            step = float(move @ move) / curvature if curvature > 1e-300 else 10 * step
        return np.maximum(x, 0.0)

    def start(self, M):
        """The uniform feasible weights on the boundary."""
        raise NotImplementedError
