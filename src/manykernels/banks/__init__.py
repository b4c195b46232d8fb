"""Banks: the kernels of one data set, as operations."""

from .base import Bank, Predictor, Source
from .dense import DenseBank
from .pairwise import PairwiseBank

__all__ = ["Bank", "Predictor", "Source", "DenseBank", "PairwiseBank"]


def __dir__() -> list[str]:
    return sorted(__all__)
