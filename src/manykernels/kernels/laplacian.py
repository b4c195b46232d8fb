from ._base import ScaledKernel


class Laplacian(ScaledKernel):
    """k(x, y) = exp(−gamma ‖x − y‖₁)."""

    base = "l1"

    def __init__(self, gamma=None):
        self.gamma = gamma

    def form(self):
        return 0, -self.gamma, 0.0
