"""Probabilities from decisions: a sigmoid for each output, learned from decisions on held-out examples."""

import warnings

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit
from sklearn.base import clone
from sklearn.utils.metaestimators import _safe_split

from ..kernels.annotated import read_annotated
from .check_inputs import optional
from .check_targets import make_splits
from .outputs import read_labels
from .shared_kernels import views_or

FOLDS = 5


def learn_sigmoids(model, X, y, examples):
    """(slope, offset) of each output, (T, 2): P = 1 / (1 + e^{−(slope f + offset)}), Platt 1999.

    f are decisions of models fitted without the example's fold. X and y are as the user gave them, and `examples` are
    read from them.
    """
    X, y = read_annotated(X, y)
    Y, weight, task, covariates = examples.Y, examples.weight, examples.task, examples.covariates
    plain = clone(model).set_params(calibrate=None, checkpoint=None, verbose=False, warm_start=False)
    plain.set_params(C=optional(model, "C_", model.C))  # C="auto" is chosen once, on all examples
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the fit has warned already
        X, y = views_or(X), read_labels(plain, y)[0]
    splits = make_splits(FOLDS, X, y, not model.multilabel_, seed=0)
    if not splits or not model.multilabel_ and np.unique(y, return_counts=True)[1].min() < 2:
        raise ValueError(
            f"calibrate={model.calibrate!r} needs at least two examples of every class, to hold some out: give more, "
            "or calibrate=None."
        )
    decisions, seen = np.zeros(Y.shape), np.zeros(Y.shape[1], bool)
    for train, test in splits:
        part, labels = _safe_split(plain, X, y, train)
        new = _safe_split(plain, X, None, test, train)[0]
        of = {"sample_weight": weight[train]} | ({} if task is None else {"task": task[train]})
        at = {} if task is None else {"task": task[test]}
        if covariates is not None:
            of["covariates"], at["covariates"] = covariates.take(train), covariates.take(test)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the fit to all examples has warned already
            found = clone(plain).fit(part, labels, **of).decision_function(new, **at)
        decisions[:, test], seen[test] = found.reshape(len(test), -1).T, True
    decisions += np.reshape(optional(model, "intercept_shift_", 0.0), (-1, 1))  # the folds have a given C, and no shift
    used = seen & (weight > 0)
    return np.array([fit_sigmoid(f[used], t[used], weight[used]) for f, t in zip(decisions, Y, strict=True)])


def fit_sigmoid(f, t, weight):
    """(slope, offset) that minimise Σ_i w_i loss(y_i, slope f_i + offset), the logistic loss.

    Targets are Platt's, a little away from 0 and 1, t (n,) of ±1; f (n,) are decisions. The slope is ≥ 0: a larger
    decision does not make a class less likely.
    """
    positive = t > 0
    many, few = weight[positive].sum(), weight[~positive].sum()
    target = np.where(positive, (many + 1) / (many + 2), 1 / (few + 2))
    size = np.std(f) or 1.0

    def loss(ab):
        z = ab[0] * f / size + ab[1]
        g = weight * (expit(z) - target)
        return weight @ (np.logaddexp(0, z) - target * z), np.array([g @ f / size, g.sum()])

    start = np.array([1.0, np.log((many + 1) / (few + 1))])
    slope, offset = minimize(loss, start, jac=True, method="L-BFGS-B", bounds=[(0, None), (None, None)]).x
    return slope / size, offset
