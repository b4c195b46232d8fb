"""Banks: the kernels of one data set, as operations."""

from typing import TYPE_CHECKING

from ._base import Bank, Predictor, Source
from .dense import DenseBank
from .pairwise import PairwiseBank

if TYPE_CHECKING:
    from .pairwise import PairwiseBank

__all__ = ["Bank", "Predictor", "Source", "DenseBank", "PairwiseBank"]


def __getattr__(name):
    if name == "PairwiseBank":
        return PairwiseBank
    raise AttributeError(name)


def __dir__() -> list[str]:
    return sorted(__all__)
