"""Checks of weights and losses, and the folds of a cross-validation."""

from numbers import Integral, Real

import numpy as np
from sklearn.utils import check_array
from sklearn.utils.multiclass import type_of_target

from .. import losses
from .._validation import shown
from ..kernels.normalize import precision
from .check_inputs import refuse_iterator


def check_weight(sample_weight, n):
    """Sample weights (n,) as float64 ≥ 0, not all zero; ones for None."""
    if sample_weight is None:
        return np.ones(n)
    if isinstance(sample_weight, Real):
        sample_weight = np.full(n, sample_weight)
    refuse_iterator("sample_weight", sample_weight)
    weight = check_array(sample_weight, ensure_2d=False, dtype=np.float64, input_name="sample_weight")
    if weight.shape != (n,):
        raise ValueError(f"sample_weight.shape == {weight.shape}, expected {(n,)}: one weight per example.")
    if weight.min() < 0:
        raise ValueError(f"sample_weight has the negative entry {weight.min():g}: weights must be >= 0.")
    if not weight.any():
        raise ValueError("sample_weight is zero everywhere: at least one weight must be non-zero.")
    return weight


def check_several(weight):
    """A ValueError if all examples but one weigh less together than rounding: one example teaches nothing."""
    top = int(weight.argmax())
    with np.errstate(over="ignore"):
        rest = float(np.delete(weight, top).sum())
    if rest <= precision(weight.dtype) * weight[top]:
        raise ValueError(
            f"sample_weight of example {top} is {weight[top]:g}, and all others together have {rest:g}: that leaves "
            "one example to learn from. Give weights of similar size."
        )


def check_loss(loss, targets, also=(), **params):
    """The Loss of this name, or this instance; a ValueError unless it suits `targets` or is among `also`."""
    known = losses.LOSSES | losses.COUPLED
    strange = not isinstance(loss, losses.Loss) and (not isinstance(loss, str) or loss not in known)
    found = None if strange else losses.get(loss, **params)
    if found is None or found.targets != targets and found.name not in also:
        able = [repr(name) for name, cls in known.items() if cls.targets == targets or name in also]
        own = f", or a class of your own with targets = {targets!r}"
        why = "unknown" if found is None else f"not made for {targets} targets"
        raise ValueError(f"loss={shown(loss)} is {why}: choose one of {', '.join(able)}{own}.")
    return found


def check_loss_of(model, targets, parameter_of, also=()):
    """`check_loss` of a model, whose parameters `parameter_of` {loss: parameter} belong to one loss each."""
    given = {}
    for name, parameter in parameter_of.items():
        value = model.get_params(deep=False)[parameter]
        if value is None:
            continue
        if not (isinstance(model.loss, str) and model.loss == name):
            raise ValueError(
                f"{parameter}={value!r} has no effect with loss={model.loss!r}: leave it out, or give loss={name!r}."
            )
        given[parameter] = value
    return check_loss(model.loss, targets, also=also, **given)


def make_splits(cv, X, y, classifier, groups=None, seed=None):
    """[(train, test)] of a number of folds, a splitter of scikit-learn or a list of splits; folds keep groups whole.

    None is 5 folds; in regression they are shuffled, since many tables are sorted by the target or by groups. A number
    of folds that is not below the number of groups holds out each group in turn, such as each site of a study. With a
    `seed` folds are shuffled, and their number is lowered to the size of the rarest class or the number of groups; []
    if it is below 2.
    """
    if isinstance(y, np.ndarray) and y.dtype.names:  # times: every fold has its share of the events
        y, classifier = y[y.dtype.names[0]].astype(int), True
        cv, seed = 5 if cv is None else cv, 0 if seed is None and groups is None else seed
    from sklearn.model_selection import (
        GroupKFold,
        KFold,
        LeaveOneGroupOut,
        StratifiedGroupKFold,
        StratifiedKFold,
        check_cv,
    )

    if cv is None and not classifier and groups is None:
        cv = KFold(5, shuffle=True, random_state=0)
    if cv is None or isinstance(cv, Integral):
        cv, labels = 5 if cv is None else int(cv), classifier and type_of_target(y) in ("binary", "multiclass")
        shuffled = {} if seed is None else dict(shuffle=True, random_state=seed)
        if shuffled:
            limit = len(np.unique(groups)) if groups is not None else len(y) // 2
            limit = int(np.unique(y, return_counts=True)[1].min()) if labels and groups is None else limit
            cv = min(cv, limit)
            if cv < 2:
                return []
        if groups is not None and 1 < len(np.unique(groups)) <= cv:
            cv = LeaveOneGroupOut()
        elif groups is not None:
            cv = StratifiedGroupKFold(cv, **shuffled) if labels else GroupKFold(cv)
        elif shuffled:
            cv = (StratifiedKFold if labels else KFold)(cv, **shuffled)
    return list(check_cv(cv, y, classifier=classifier).split(X, y, groups))
