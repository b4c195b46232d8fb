"""Weightings: rules that find the kernel weights before the predictor; `base.py` states the protocol."""

from .align import Align, AlignF
from .base import TwoStage
from .best_single import BestSingle
from .easy_mkl import EasyMKL
from .uniform import Uniform

__all__ = ["Align", "AlignF", "BestSingle", "EasyMKL", "TwoStage", "Uniform"]
