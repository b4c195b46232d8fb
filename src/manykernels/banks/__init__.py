"""Banks: the kernels of one data set, as operations."""

from ._base import Bank, Predictor, Source
from .dense import DenseBank

__all__ = ["Bank", "Predictor", "Source", "DenseBank", "PairwiseBank"]


def __getattr__(name):
    if name == "PairwiseBank":
        from .pairwise import PairwiseBank

        return PairwiseBank
    raise AttributeError(name)
