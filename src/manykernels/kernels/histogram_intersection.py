from __future__ import annotations

from ._base import Kernel


class HistogramIntersection(Kernel):
    """k(x, y) = Σ_k min(x_k, y_k), for non-negative data."""

    base = "min"

    def form(self) -> tuple[float, float, float] | None:
        return 1, 1.0, 0.0
