"""Banks: the kernels of one data set, as operations."""

from .base import Bank, Predictor, Source
from .dense import DenseBank
from .pairwise import PairwiseBank

__all__ = ["Bank", "Predictor", "Source", "DenseBank", "PairwiseBank"]
__dir__ = __all__.copy  # dir() lists the public names alone
