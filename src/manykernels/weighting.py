"""The weightings of `regularizers`: rules that find the kernel weights before the predictor."""

from .regularizers.weightings import Align, AlignF, BestSingle, EasyMKL, TwoStage, Uniform

__all__ = ["Align", "AlignF", "BestSingle", "EasyMKL", "TwoStage", "Uniform"]


def __dir__() -> list[str]:
    return sorted(__all__)
