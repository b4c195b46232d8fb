"""The low-rank kernels of the estimators' parameter `approximation`."""

from .base import Kernel
from .nystroem import Nystroem
from .random_features import RandomFeatures


def approximated(kernel: Kernel, how: str, rank: int, random_state: int) -> Kernel:
    """The kernel by random features ("rff") or landmarks ("nystroem"); unchanged if it has explicit features."""
    if kernel.family in ("features", "low_rank"):
        return kernel
    return (RandomFeatures if how == "rff" else Nystroem)(kernel, rank, random_state=random_state)
