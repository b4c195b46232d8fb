"""The weightings of `regularizers`: rules that find the kernel weights before the predictor."""

from .regularizers.weightings import Align, AlignF, BestSingle, EasyMKL, TwoStage, Uniform

__all__ = ["Align", "AlignF", "BestSingle", "EasyMKL", "TwoStage", "Uniform"]
__dir__ = __all__.copy  # dir() lists the public names alone
