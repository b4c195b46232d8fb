"""Regularizers of the kernel weights: one member per file, `_base.py` states the protocol."""

from numbers import Real

from ._base import Regularizer
from .lp_norm import LpNorm

__all__ = ["LpNorm", "Regularizer", "get"]


def get(regularizer):
    """The regularizer itself, or `LpNorm(p)` for a number p."""
    if isinstance(regularizer, Regularizer):
        return regularizer
    if isinstance(regularizer, Real):
        return LpNorm(regularizer)
    raise ValueError(f"p={regularizer!r} must be a number with 1 <= p <= inf or a Regularizer, say LpNorm(2)")
