"""Regularizers of the kernel weights: one member per file, `base.py` states the protocol.

Those of `papers`, which serve comparisons, are imported on first use. The weightings among them, `Align` and others,
take the place of a regularizer, and need solvers.
"""

from numbers import Real
from typing import TYPE_CHECKING

from .base import Regularizer
from .block_norm import BlockNorm
from .elastic_net import ElasticNet
from .empirical_bayes import EmpiricalBayes, GammaPrior, Prior
from .entropy import Entropy
from .fixed import Fixed
from .group_norm import GroupNorm
from .lp_norm import LpNorm
from .lp_penalty import LpPenalty
from .mixed_norm import MixedNorm
from .weighted_lp_norm import WeightedLpNorm

if TYPE_CHECKING:
    from .papers import (
        Align,
        AlignF,
        Ball,
        BestSingle,
        BlockElasticNet,
        BlockSum,
        EasyMKL,
        LpSum,
        NonIsotropic,
        Separable,
        TwoStage,
        Uniform,
        Wedge,
    )

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
    if name in __all__:  # of the papers: the others are there
        from . import papers

        return getattr(papers, name)
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
