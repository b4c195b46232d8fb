"""Regularizers and weightings of single papers: no default and no other part of the package uses them."""

from .ball import Ball
from .block_elastic_net import BlockElasticNet
from .block_sum import BlockSum
from .lp_sum import LpSum
from .non_isotropic import NonIsotropic
from .separable import Separable
from .wedge import Wedge
from .weightings import Align, AlignF, BestSingle, EasyMKL, TwoStage, Uniform

__all__ = [
    "Align",
    "AlignF",
    "Ball",
    "BestSingle",
    "BlockElasticNet",
    "BlockSum",
    "EasyMKL",
    "LpSum",
    "NonIsotropic",
    "Separable",
    "TwoStage",
    "Uniform",
    "Wedge",
]
