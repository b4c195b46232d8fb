from ._base import ScaledKernel


class Chi2(ScaledKernel):
    """k(x, y) = exp(−gamma Σ_k (x_k − y_k)² / (x_k + y_k)) with 0/0 = 0, for non-negative data."""

    base = "chi2"

    def __init__(self, gamma=1.0):
        self.gamma = gamma

    def form(self):
        return 0, -self.gamma, 0.0
