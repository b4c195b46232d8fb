"""Losses by name: one member per file, `base.py` states the protocol."""

from .._validation import shown
from .base import Loss
from .cox import Cox
from .epsilon_insensitive import EpsilonInsensitive
from .hinge import Hinge
from .huber import Huber
from .level_set import LevelSet
from .log_time import LogTime
from .logistic import Logistic
from .one_class import OneClass
from .poisson import Poisson
from .quantile import Quantile
from .ranking import Ranking
from .smooth_hinge import SmoothHinge
from .squared import Squared
from .squared_hinge import SquaredHinge

LOSSES = {
    loss.name: loss
    for loss in (
        Hinge, SquaredHinge, SmoothHinge, Logistic, Squared, EpsilonInsensitive, Huber, Quantile, Poisson, LogTime,
        OneClass, LevelSet,
    )
}  # fmt: skip

COUPLED = {"cox": Cox, "ranking": Ranking}  # losses that are no sum over examples

__all__ = ["COUPLED", "LOSSES", "Loss", "get", *(loss.__name__ for loss in (LOSSES | COUPLED).values())]
__dir__ = __all__.copy  # dir() lists the public names alone


def get(loss: str | Loss, **params) -> Loss:
    """The loss of that name with these parameters, or the instance itself.

    Parameters
    ----------
    loss : str or Loss
        A key of `LOSSES` or `COUPLED`, or a loss.
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
    known = LOSSES | COUPLED
    if not isinstance(loss, str) or loss not in known:
        raise ValueError(f"loss={shown(loss)} is unknown; choose one of {sorted(known)} or pass a Loss instance")
    try:
        return known[loss](**params)
    except TypeError as error:
        raise ValueError(f"loss={loss!r} does not take the parameters {sorted(params)}") from error
