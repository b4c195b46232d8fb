from __future__ import annotations

from ._base import ScaledKernel


class Chi2(ScaledKernel):
    """k(x, y) = exp(−gamma Σ_k (x_k − y_k)² / (x_k + y_k)) with 0/0 = 0, for non-negative data."""

    base = "chi2"

    def __init__(self, gamma: float | str | None = 1.0) -> None:
        self.gamma = gamma

    def form(self) -> tuple[float, float, float] | None:
        return 0, -self.gamma, 0.0
