from __future__ import annotations

from ._base import ScaledKernel


class Laplacian(ScaledKernel):
    """k(x, y) = exp(−gamma ‖x − y‖₁)."""

    base = "l1"

    def __init__(self, gamma: float | str | None = None) -> None:
        self.gamma = gamma

    def form(self) -> tuple[float, float, float] | None:
        return 0, -self.gamma, 0.0
