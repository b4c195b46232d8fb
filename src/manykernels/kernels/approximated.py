"""The estimators' shorthand for kernels of low rank."""

from __future__ import annotations

from .base import Kernel
from .nystroem import Nystroem
from .random_features import RandomFeatures


def approximated(kernel: Kernel, how: str, rank: int, random_state: int) -> Kernel:
    """The kernel by random features ("rff") or by landmarks ("nystroem"); those with few features stay as they are."""
    if kernel.family in ("features", "low_rank"):
        return kernel
    return (RandomFeatures if how == "rff" else Nystroem)(kernel, rank, random_state=random_state)
