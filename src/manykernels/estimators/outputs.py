"""The outputs of models: classes, probabilities from calibrated decisions or a Gaussian posterior, and scores."""

import warnings
from collections.abc import Callable
from functools import update_wrapper, wraps
from types import MethodType
from typing import Any

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit, ndtr

from .. import losses, regularizers
from .._callers import warn
from .._state import check, check_integer
from ..inner.systems import blas_for
from ..kernels.frames import listed
from .check_inputs import as_labels, optional
from .check_targets import make_splits
from .shared_kernels import SharedFold, SharedKernels, with_params

MIN_CLASS_SIZE = 30  # below it "auto" shares the weights
EQUAL = 1e-9  # times the largest decision of an example: decisions that differ by less are equal


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
        warn(f"{said}: they count as wrong.")
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


FOLDS = 5


def learn_sigmoids(model, examples):
    """(slope, offset) of each output, (T, 2): P = 1 / (1 + e^{−(slope f + offset)}), Platt 1999.

    f are decisions of models fitted without the example's fold; `examples` are those of the fitted model.
    """
    Y, weight, n = examples.Y, examples.weight, examples.n
    plain = with_params(model, calibrate=None, verbose=False, C=optional(model, "C_", model.C))  # chosen once
    y = (
        (Y.T > 0).astype(int)
        if model.multilabel_
        else model.classes_[Y.argmax(axis=0) if Y[1:].size else (Y[0] > 0) * 1]
    )
    splits = make_splits(FOLDS, np.zeros((n, 1)), y, not model.multilabel_, seed=0)
    if not splits or not model.multilabel_ and np.unique(y, return_counts=True)[1].min() < 2:
        raise ValueError(
            f"calibrate={model.calibrate!r} needs at least two examples of every class, to hold some out: give more, "
            "or calibrate=None."
        )
    decisions, seen = np.zeros(Y.shape), np.zeros(n, bool)
    exact = regularizers.get(model.regularizer).exact
    kernels = SharedKernels(plain, examples.X, examples.task, examples.covariates, exact, alone=True)
    with warnings.catch_warnings(), blas_for(n, plain.n_jobs):
        warnings.simplefilter("ignore")  # the fit to all examples has warned already
        for train, test in splits:
            fold, twin = SharedFold(kernels, train, test), with_params(plain)
            plan, _ = fold.fit(twin, y[fold.train], weight[fold.train])
            decisions[:, test], seen[test] = fold.scored(twin, plan)._decide(fold.X_test).T, True
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


def posterior_variance(model, X):
    """var(x) of each vector of weights, (n_new, 1) or one-vs-rest (n_new, T), of X as `_new_X` gives it."""
    thetas, noises = np.atleast_2d(model.kernel_weights_), np.atleast_1d(model.noise_)
    with blas_for(len(model.support_), model.n_jobs):
        return np.stack([_variance(model, X, *part) for part in zip(thetas, noises, strict=True)], axis=1)


def _variance(model, X, theta, noise):
    from scipy.linalg import LinAlgError, cholesky, solve_triangular

    predictor = model.predictor_
    K = predictor.support_gram(theta)
    if K is None:
        raise ValueError(
            "the posterior variance needs k(x, x) of new examples and the kernels between all training examples, but "
            f"a model of kernels={model.kernels!r} does not keep them: give members of manykernels.kernels, and X as "
            "their data."
        )
    own, K_new = predictor.diagonal(X, theta), predictor.combined(X, theta)
    K[np.diag_indices(len(K))] += noise / model.support_weight_
    try:
        L = cholesky(K, lower=True, overwrite_a=True, check_finite=False)
    except LinAlgError as error:
        raise ValueError(
            f"σ²I + Σ θ_m K_m is not positive definite at noise_={noise:g}: fit with EmpiricalBayes(noise=...) larger."
        ) from error
    half = solve_triangular(L, K_new.T, lower=True, overwrite_b=True, check_finite=False)
    return np.maximum(own - np.einsum("ij,ij->j", half, half), 0.0)


class Available:
    """A method of models for which `check(model)` does not raise; its error becomes the AttributeError."""

    def __init__(self, method: Callable, check: Callable) -> None:
        self.method, self.check = method, check
        update_wrapper(self, method)  # type: ignore[arg-type]  # it replaces the function

    def __get__(self, model: Any, owner: type | None = None) -> Any:
        if model is not None:
            self._check(model)
            return MethodType(self.method, model)

        @wraps(self.method)
        def of_class(model, *args, **options):
            self._check(model)
            return self.method(model, *args, **options)

        return of_class

    def _check(self, model):
        try:
            self.check(model)
        except AttributeError:
            raise
        except Exception as error:  # a parameter is wrong
            raise AttributeError(f"{self.method.__name__} is not available: {error}") from error


def available_if(check: Callable) -> Callable:
    """A decorator of methods: `check(model)` raises an AttributeError if the model does not have the method.

    scikit-learn's `available_if` hides the message of this error in `__cause__`.
    """
    return lambda method: Available(method, check)
