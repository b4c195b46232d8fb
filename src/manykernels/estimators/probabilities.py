"""Probabilities of classes, from calibrated decisions or a Gaussian posterior, and the variance of that posterior."""

import warnings

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit

from .. import regularizers
from ..inner.systems import blas_for
from .check_inputs import optional
from .check_targets import make_splits
from .shared_kernels import SharedFold, SharedKernels, with_params

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
