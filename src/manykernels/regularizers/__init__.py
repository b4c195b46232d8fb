"""Regularizers of the kernel weights: one member per file, `base.py` states the protocol.

The weightings, `Align` and others, take the place of a regularizer. They need solvers and are imported on first use.
"""

from numbers import Real
from typing import TYPE_CHECKING

from .ball import Ball
from .base import Regularizer
from .block_elastic_net import BlockElasticNet
from .block_norm import BlockNorm
from .block_sum import BlockSum
from .elastic_net import ElasticNet
from .empirical_bayes import EmpiricalBayes, GammaPrior, Prior
from .entropy import Entropy
from .fixed import Fixed
from .group_norm import GroupNorm
from .lp_norm import LpNorm
from .lp_penalty import LpPenalty
from .lp_sum import LpSum
from .mixed_norm import MixedNorm
from .non_isotropic import NonIsotropic
from .separable import Separable
from .wedge import Wedge
from .weighted_lp_norm import WeightedLpNorm

if TYPE_CHECKING:
    from .weightings import Align, AlignF, BestSingle, EasyMKL, TwoStage, Uniform

__all__ = [
    "Align",
    "AlignF",
    "Ball",
    "BestSingle",
    "BlockElasticNet",
    "BlockNorm",
    "BlockSum",
    "EasyMKL",
    "ElasticNet",
    "EmpiricalBayes",
    "Entropy",
    "Fixed",
    "GammaPrior",
    "GroupNorm",
    "LpNorm",
    "LpPenalty",
    "LpSum",
    "MixedNorm",
    "NonIsotropic",
    "Prior",
    "Regularizer",
    "Separable",
    "TwoStage",
    "Uniform",
    "Wedge",
    "WeightedLpNorm",
    "get",
]
__dir__ = __all__.copy  # dir() lists the public names alone


def __getattr__(name):
    if name in __all__:  # a weighting: the others are there
        from . import weightings

        return getattr(weightings, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def get(regularizer) -> Regularizer:
    """The regularizer itself, or `LpNorm(p)` for a number p.

    Parameters
    ----------
    regularizer : Regularizer or float

    Returns
    -------
    Regularizer

    Examples
    --------
    >>> from manykernels.regularizers import get
    >>> get(1.5)
    LpNorm(p=1.5)
    """
    if isinstance(regularizer, Regularizer):
        return regularizer
    if isinstance(regularizer, Real):
        return LpNorm(regularizer)  # type: ignore[arg-type]  # a Real
    raise ValueError(
        f"regularizer={regularizer!r} must be a number p with 1 <= p <= inf or a Regularizer, such as LpNorm(2)"
    )
