from ._base import ScaledKernel


class RBF(ScaledKernel):
    """k(x, y) = exp(−gamma ‖x − y‖²)."""

    base = "sqdist"

    def __init__(self, gamma=None):
        self.gamma = gamma

    def form(self):
        return 0, -self.gamma, 0.0
