"""Checks of targets, weights, losses, tasks and slack, and the folds of a cross-validation."""

import warnings
from numbers import Integral, Real

import numpy as np
from scipy.sparse import issparse
from sklearn.utils import check_array
from sklearn.utils.multiclass import check_classification_targets, type_of_target

from .. import losses
from .._callers import warn
from .._validation import shown
from ..banks.slack import SlackBank
from ..kernels import Identity
from ..kernels.normalize import precision
from ..kernels.tasks import ALL, Tasked, checked
from ..regularizers import EmpiricalBayes
from ..regularizers.weightings import TwoStage
from .check_inputs import as_labels, check_y, refuse_iterator, to_host

MAX_COST = 1e100


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


def check_costs(c):
    """A ValueError if products of costs, C times the weights (n,), overflow."""
    if not c.max() < MAX_COST:
        raise ValueError(
            f"C times the weight of an example is {c.max():.0e}, and products of such numbers overflow: divide "
            "sample_weight by its mean, which changes only what C means, or lower C."
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
    of folds that is not below the number of groups holds out each group in turn, such as each site of a study. A class
    with fewer examples than folds is spread over some of them, and a single example of a class is always in training.
    With a `seed` folds are shuffled, and their number is lowered to what the events, the smaller of two classes, half
    of the examples or the groups allow; [] if it is below 2, or fewer than two classes have two examples.
    """
    from sklearn.model_selection import (
        GroupKFold,
        KFold,
        LeaveOneGroupOut,
        StratifiedGroupKFold,
        StratifiedKFold,
        check_cv,
    )

    times, strict = isinstance(y, np.ndarray) and y.dtype.names is not None, seed is None
    if times:  # every fold has its share of the events
        y, classifier = y[y.dtype.names[0]].astype(int), True
        cv, seed = 5 if cv is None else cv, 0 if seed is None and groups is None else seed
    if cv is None and not classifier and groups is None:
        cv = KFold(5, shuffle=True, random_state=0)
    number, alone = cv is None or isinstance(cv, Integral), np.zeros(0, int)
    if number:
        cv, labels = 5 if cv is None else int(cv), classifier and type_of_target(y) in ("binary", "multiclass")
        shuffled = {} if seed is None else dict(shuffle=True, random_state=seed)
        known, codes, counts = np.unique(y if labels else [], return_inverse=True, return_counts=True)
        compared = np.sum(counts > 1) > 1 and not times
        least = int(y.sum() if times else counts.min() if len(counts) == 2 else 2)
        if strict and labels and groups is None and least < 2:
            few = "fewer than two events" if times else f"one example of {shown(known[counts.argmin()])}"
            raise ValueError(f"y has {few}, and every fold would learn or test without it: give more examples.")
        if shuffled:
            limit = len(y) // 2 if groups is None else len(np.unique(groups))
            if groups is None and labels:
                limit = least if times or len(counts) == 2 else int(counts.max() * compared)
            if 1 < limit < cv and groups is None:
                warn(
                    f"cv={cv}: there are {limit} folds, as many as the events, the rarer of two classes, or half of "
                    f"the examples allow. Give cv={limit}, or more examples."
                )
            cv = min(cv, limit)
            if cv < 2:
                return []
        rare = [f"{shown(label)} has {n}" for label, n in zip(known, counts, strict=True) if n < cv and compared]
        if rare:
            alone = np.flatnonzero(counts[codes] == 1) if groups is None else alone
            warn(
                f"cv={cv}: classes have fewer examples than there are folds ({', '.join(rare[:5])}). Some folds test "
                "none of these, and the scores say little about them: give more examples of them, or leave them out."
            )
        if groups is not None and 1 < len(np.unique(groups)) <= cv:
            cv = LeaveOneGroupOut()
        elif groups is not None:
            cv = StratifiedGroupKFold(cv, **shuffled) if labels else GroupKFold(cv)
        elif shuffled:
            cv = (StratifiedKFold if labels else KFold)(cv, **shuffled)
    with warnings.catch_warnings():
        if number:  # said above
            warnings.filterwarnings("ignore", "The least populated class", UserWarning)
        splits = list(check_cv(cv, y, classifier=classifier).split(X, y, groups))
    return [(np.union1d(train, alone), np.setdiff1d(test, alone)) for train, test in splits] if len(alone) else splits


def with_task(X, task):
    """X as kernels take it, with the tasks of its examples, if any."""
    return X if task is None else Tasked(X, task)


def new_task(task, n, known, predictor):
    """`task` (n,) of new data as an array, after a comparison with the tasks `known` from fit."""
    if known is None:
        raise ValueError("task is given, but the model has no task kernels: leave it out.")
    if task is None:
        raise ValueError(
            f"the model has kernels for the tasks {shown(known.tolist()[:10])}: give task=, one per example."
        )
    task = checked(task, n)
    strange = [label for label in dict.fromkeys(task.tolist()) if label not in set(known.tolist())]
    if strange:
        if ALL not in predictor.kernel_list.task_of:
            raise ValueError(f"task has {shown(strange[:10])}, not seen in fit, and no kernel is shared by all tasks.")
        warn(f"task has {shown(strange[:10])}, not seen in fit: these are predicted by the shared kernels only.")
    return task


def check_classes_of_tasks(task, y, weight):
    """A ValueError if a task has examples of one class only."""
    if task is None:
        return
    for label in dict.fromkeys(task.tolist()):
        classes = np.unique(y[(task == label) & (weight > 0)])
        if len(classes) == 1:
            raise ValueError(
                f"task {shown(label)} has one class only ({shown(classes[0])}) among the examples with weight: a "
                "classifier needs at least two classes in each task; leave the task out or join it with another."
            )


def with_slack(bank, regularizer):
    """The bank with the identity as its last kernel, or a ValueError with the reason why not."""
    own = bank.predictor(np.arange(1)).kernel_list
    same = [isinstance(kernel, Identity) for kernel in own.kernels] if own is not None else [False]
    if any(same):
        raise ValueError(
            f"slack=True adds the same kernel as {own.names[same.index(True)]!r}, and their weights could be split in "
            "any way: leave it out, or take slack=False."
        )
    if bank.explicit:
        raise ValueError(
            "slack=True needs kernels computed pair by pair, not from explicit features: take features='never' and "
            "solver='auto', or slack=False."
        )
    if isinstance(regularizer, EmpiricalBayes):
        raise ValueError(
            f"slack=True with regularizer={regularizer!r}: its noise already does what slack does; take slack=False."
        )
    if isinstance(regularizer, TwoStage):
        raise ValueError(
            f"slack=True with regularizer={regularizer!r}, which finds weights before the predictor: the weight of "
            "slack is learned with the predictor; take a regularizer such as LpNorm(p), or slack=False."
        )
    try:
        regularizer.restrict(np.arange(bank.M + 1), bank.M + 1)
    except ValueError as error:
        raise ValueError(
            f"slack=True adds a kernel to the {bank.M} of the model, and regularizer={regularizer!r} has an entry for "
            f"each: add a last entry for slack ({error})."
        ) from error
    return SlackBank(bank)


def read_labels(model, y):
    """(y, whether y is an indicator matrix (n, T) of labels) of a classifier's targets."""
    y = y.toarray() if issparse(y) else to_host(y)[0]
    if as_labels(y).shape[1:] in ((), (1,)):
        y = check_y(model, y, numeric=False)
        check_classification_targets(y)
        return y, False
    y = check_y(model, y, numeric=False, several=True)
    if type_of_target(y) != "multilabel-indicator" or not np.isin(y, (0, 1)).all():
        raise ValueError(
            f"y has shape {y.shape} and other entries than 0 and 1: give several labels per example as an indicator "
            "matrix (MultiLabelBinarizer makes one); for columns of different classes wrap the model in scikit-learn's "
            "MultiOutputClassifier."
        )
    if (y.sum(axis=1) == 1).all():
        warn(
            f"y of shape {y.shape} has one label per example, and is read as labels that may occur together: if the "
            "classes exclude each other, give y.argmax(axis=1)."
        )
    return y.astype(int), True


def check_multilabel(y, weight, class_weight, task):
    """A ValueError for arguments that an indicator matrix y (n, T) does not allow, and for constant labels."""
    for name, value in (("class_weight", class_weight), ("task", task)):
        if value is not None:
            raise ValueError(
                f"{name} is given, but y holds {y.shape[1]} labels that may occur together: leave {name} at None, or "
                "fit a model for each label (MultiOutputClassifier)."
            )
    seen = y[weight > 0]
    constant = np.flatnonzero((seen == seen[0]).all(axis=0))
    if len(constant):
        raise ValueError(
            f"y has the same label for all examples with weight in the columns {constant[:10].tolist()}: drop them."
        )
