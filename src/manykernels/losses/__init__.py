"""Losses by name: one member per file, `base.py` states the protocol."""

from typing import Any

from .._validation import shown
from .base import Loss
from .epsilon_insensitive import EpsilonInsensitive
from .hinge import Hinge
from .huber import Huber
from .level_set import LevelSet
from .logistic import Logistic
from .one_class import OneClass
from .smooth_hinge import SmoothHinge
from .squared import Squared
from .squared_hinge import SquaredHinge

LOSSES = {
    loss.name: loss
    for loss in (Hinge, SquaredHinge, SmoothHinge, Logistic, Squared, EpsilonInsensitive, Huber, OneClass, LevelSet)
}

__all__ = ["LOSSES", "Loss", "get", *(loss.__name__ for loss in LOSSES.values())]
__dir__ = __all__.copy  # dir() lists the public names alone


def get(loss: str | Loss, **params: Any) -> Loss:
    """The loss of that name with these parameters, or the instance itself.

    Parameters
    ----------
    loss : str or Loss
        A key of `LOSSES`, or a loss.
    **params
        Of the loss, where it is given by name.

    Returns
    -------
    Loss

    Examples
    --------
    >>> from manykernels.losses import get
    >>> get("huber", delta=2.0)
    Huber(delta=2.0)
    """
    if isinstance(loss, Loss):
        if params:
            raise ValueError(f"loss={loss!r} is an instance: set {sorted(params)} in its constructor instead")
        return loss
    if not isinstance(loss, str) or loss not in LOSSES:
        raise ValueError(f"loss={shown(loss)} is unknown; choose one of {sorted(LOSSES)} or pass a Loss instance")
    try:
        return LOSSES[loss](**params)
    except TypeError as error:
        raise ValueError(f"loss={loss!r} does not take the parameters {sorted(params)}") from error
