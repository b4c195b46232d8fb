"""The protocol of a regularizer Ω on the kernel weights θ ≥ 0."""


class Regularizer:
    """A convex Ω(θ), its conjugate, and the weights it prefers; arrays are (M,)."""

    def __repr__(self):
        return f"{type(self).__name__}({', '.join(f'{k}={v!r}' for k, v in vars(self).items())})"

    def __eq__(self, other):
        return type(self) is type(other) and vars(self) == vars(other)

    def __hash__(self):
        return hash(repr(self))

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

    def start(self, M):
        """The uniform feasible weights on the boundary."""
        raise NotImplementedError
