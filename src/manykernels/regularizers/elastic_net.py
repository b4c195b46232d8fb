"""The elastic net on the kernel weights."""

from __future__ import annotations

from .._validation import check_number
from .mixed_norm import MixedNorm


class ElasticNet(MixedNorm):
    """Ω(θ) = 0 if θ ≥ 0 and v ‖θ‖₁ + (1−v) ‖θ‖₂² ≤ 1, else +inf (Yang et al. 2011).

    Sparse for v near 1, and equal kernels get equal weights for v < 1. v = 1 is LpNorm(1), v = 0 is LpNorm(2).
    """

    p = 2.0

    def __init__(self, v: float = 0.5) -> None:
        self.v = check_number("v", v, 0, 1, "both")
