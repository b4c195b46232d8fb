from __future__ import annotations

from ._base import ScaledKernel


class RBF(ScaledKernel):
    """k(x, y) = exp(−gamma ‖x − y‖²)."""

    base = "sqdist"

    def __init__(self, gamma: float | str | None = None) -> None:
        self.gamma = gamma

    def form(self) -> tuple[float, float, float] | None:
        return 0, -self.gamma, 0.0
