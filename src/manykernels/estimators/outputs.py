"""Targets: values, classes, several labels; and whether several outputs share their weights."""

import warnings

import numpy as np
from scipy.sparse import issparse
from scipy.special import expit, ndtr
from sklearn.utils.multiclass import check_classification_targets, type_of_target

from .. import losses, regularizers
from .._callers import caller_level
from .._state import check, check_integer
from ..kernels.frames import listed
from .check_inputs import as_labels, check_y, optional, to_host

MIN_CLASS_SIZE = 30  # below it "auto" shares the weights
EQUAL = 1e-9  # times the largest decision of an example: decisions that differ by less are equal


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
        warnings.warn(
            f"y of shape {y.shape} has one label per example, and is read as labels that may occur together: if the "
            "classes exclude each other, give y.argmax(axis=1).",
            UserWarning,
            stacklevel=caller_level(),
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


def n_outputs(model):
    """The number of outputs of a model from a file."""
    classes = optional(model, "classes_")
    if classes is None:
        return check_integer("n_outputs_", optional(model, "n_outputs_", 1), 1, 2**48)
    check(np.ndim(classes) == 1 and len(classes) > 1, "classes_ is no list of classes")
    return len(classes) if model.multilabel_ or len(classes) > 2 else 1


def scored(compute, y, classes):
    """compute(), a score for the targets y; it names those that are not among the `classes` of fit, if not None."""
    labels, known = as_labels(y).ravel().tolist(), set(() if classes is None else classes.tolist())
    strange = [label for label in labels if label not in known] if known else []
    said = (
        f"y has {listed([*dict.fromkeys(strange)])}, which fit never saw, in {len(strange)} of {len(labels)} examples"
    )
    try:
        found = compute()
    except (TypeError, ValueError) as error:
        if not strange:
            raise
        raise ValueError(f"{said}, and this score needs the classes of fit: leave out these examples.") from error
    if strange:
        warnings.warn(f"{said}: they count as wrong.", UserWarning, stacklevel=caller_level())
    return found


def check_probabilities(model):
    """An AttributeError unless the loss, the regularizer or `calibrate` gives the model probabilities."""
    bayesian = all(regularizers.get(found).bayesian for found in model._candidates())
    if model.calibrate is not None or losses.get(model.loss).probabilistic or bayesian:
        return
    calibrated = "calibrate" in model.get_params(deep=False)
    raise AttributeError(
        'predict_proba and predict_log_proba need loss="logistic" or regularizer=EmpiricalBayes(...), not '
        f"loss={model.loss!r}: for other losses "
        + ("" if calibrated else "fit MKLClassifier with the chosen C_ and regularizer_ and ")
        + 'give calibrate="sigmoid", or scikit-learn\'s CalibratedClassifierCV(model), which learn probabilities from '
        "decisions."
    )


def probabilities(decision, variance, exclusive):
    """P(y = 1) of each output (n, T): 1 / (1 + e^{−f}), or P(f + ε > 0) if f + ε has a variance (n, 1) or (n, T).

    Those of `exclusive` classes are scaled to sum to 1; a single output belongs to the second class.
    """
    P = expit(decision) if variance is None else ndtr(decision / np.sqrt(np.maximum(variance, 1e-300)))
    if not exclusive:
        return P
    P = np.hstack([1 - P, P]) if P.shape[1] == 1 else np.maximum(P, 1e-300)
    return P / P.sum(axis=1, keepdims=True)


def choose_multi_class(Y, weight, regularizer):
    """("ovr" or "shared", the reason in words) that multi_class="auto" means, for Y (T, n) of ±1 and weights (n,).

    "shared" with EmpiricalBayes, where each vector of weights costs n³ operations a step, and if a class, or a label or
    its absence, has fewer than `MIN_CLASS_SIZE` examples, too few to learn weights from; else "ovr". Measured accuracy
    of shared minus one-vs-rest at p = 1 and C = 0.1, 1, 10: digits with 10 examples a class +0.058, +0.007, +0.010;
    with 45 +0.002, 0.000, 0.000; mfeat with 40 −0.011, +0.003, +0.003; wine and iris with 25 and more within 0.007.
    docs/outputs.md has the table.
    """
    if len(Y) == 1:
        return "shared", "two classes have one vector of weights"
    if regularizers.get(regularizer).bayesian:
        return "shared", f"EmpiricalBayes would cost {len(Y)} times as much with weights for each of {len(Y)} outputs"
    used = Y[:, weight > 0]
    fewest = int(np.minimum((used > 0).sum(axis=1), (used < 0).sum(axis=1)).min())
    if fewest < MIN_CLASS_SIZE:
        few = "1 example" if fewest == 1 else f"{fewest} examples"
        return "shared", f"the smallest class has {few}, fewer than {MIN_CLASS_SIZE}: too few for weights of its own"
    return "ovr", f"every class has {fewest} examples or more, at least {MIN_CLASS_SIZE}: enough for weights of its own"


def largest(decision: np.ndarray) -> np.ndarray:
    """The position (n,) of the largest decision of (n, T) in each row; of equal ones the first, and rounding is equal.

    The hinge loss gives −1 to every class where none has half of the examples, as in some categories.
    """
    least = decision.max(axis=1, keepdims=True) - EQUAL * np.abs(decision).max(axis=1, keepdims=True)
    return (decision >= least).argmax(axis=1)
