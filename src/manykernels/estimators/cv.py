"""Estimators that choose C and the regularizer by cross-validation."""

from __future__ import annotations

from dataclasses import field
from typing import Any

from .._parts import declared_by_keyword
from .check_inputs import optional
from .classifier import MKLClassifier
from .cross_validated import CrossValidated
from .regressor import MKLRegressor
from .search import list_of_regularizers
from .survival import MKLSurvival


@declared_by_keyword
class MKLClassifierCV(CrossValidated, MKLClassifier):
    """`MKLClassifier` with C and the regularizer chosen by cross-validation.

    Kernels are computed once for all folds if their matrices fit in `memory_limit` (4 GiB by default). Each fit starts
    from the solution at the nearest C and has its own duality gap. Every fold normalises the kernels and finds the
    parameters that depend on data (gamma="scale", "auto", transformers) from its training examples alone. With a list
    of Cs, scores and choice are those of GridSearchCV over `MKLClassifier`, up to `tol`.

    Parameters
    ----------
    kernels : "auto", "precomputed", or a list of kernels, as in `MKLClassifier`
    Cs : int or list of float, default 10
        A list of values, all of which are run, or the number of values, log-spaced from 0.01 to 100. Of a number of
        values with refit="best", some are run: with every regularizer every third one, from the greatest down until
        the mean score falls, then, with the two best regularizers, those beside the best one. These fits only choose:
        if the regularizer bounds the kernel weights, a fold learns them at the third values up to 1 alone, once for all
        classes, and the other fits keep the weights of the nearest of these. They end at a gap of 0.01, or `tol` if it
        is greater, which at kept weights is that of the predictor. Of equal scores the C nearest to 1 is chosen. The
        last fit, on all data, learns its own weights, one-vs-rest for each class, and ends at `tol`.
    regularizer : a regularizer of `MKLClassifier` or a list of them, default (1, 2, inf)
        Such as `[1, 4/3, 2]` or `[ElasticNet(v) for v in (0.1, 0.5, 0.9)]`.
    cv : None for 5 folds, a number of folds, a splitter of scikit-learn, a list of (train, test), or "loo"
        Folds are stratified if it is None or a number. "loo" fits all examples once per candidate and scores the
        decisions on each example without it, to first order and at the same kernel weights, as `C="auto"` does: some
        five times as quick as folds. The weights have seen the example, so that the scores are a little too good.
    scoring : None for `score` of `MKLClassifier` (accuracy), the name of a scorer, or a function (model, X, y)
        Scores ignore sample weights, as in GridSearchCV. With cv="loo" a scorer may use predictions, probabilities and
        decisions on all of X.
    refit : "best", "1se" or a function, default "best"
        The candidate to fit on all data: the one of the best mean score; the least C, with the same regularizer, whose
        mean score is within one standard error of the best; or the index that the function returns for `cv_results_`.
    loss, normalize, slack, solver, psd, features, approximation, rank, tol, max_iter, fit_intercept, class_weight, \
    multi_class, memory_limit, device, n_jobs, random_state, verbose : as in `MKLClassifier`
        `n_jobs` threads solve the candidates of several folds side by side if the matrices of these folds fit in
        `memory_limit`; results do not depend on it. On a device each fold has its own kernels.

    Attributes
    ----------
    C_, regularizer_, best_params_ : the chosen values
    best_score_ : its mean score over the folds, which is optimistic, since it decided the choice; for an honest score
        pass this estimator to `cross_val_score` (nested cross-validation)
    searched_ : the number of candidates that were run, which the saved model keeps
    best_index_ : its place in `cv_results_`
    cv_results_ : a dict of arrays, as of GridSearchCV: `params`, `param_C`, `param_regularizer`,
        `split0_test_score`, …, `mean_test_score`, `std_test_score`, `rank_test_score`, `mean_fit_time`, …, and for each
        candidate `split0_duality_gap`, …, `max_duality_gap`, `mean_n_iter`; NaN for candidates that were not run, whose
        rank is the last; with cv="loo" `loo_test_score` and `loo_duality_gap` in place of those of splits
    best_estimator_ : the chosen model as an `MKLClassifier`
    Cs_, n_splits_, refit_time_ : the values of C, the number of folds, seconds of the last fit

    All attributes of `MKLClassifier` describe the chosen model, fitted on all data.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.preprocessing import scale
    >>> from manykernels import MKLClassifierCV
    >>> from manykernels.kernels import RBF
    >>> X, y = load_wine(return_X_y=True)
    >>> model = MKLClassifierCV([RBF(gamma=g) for g in (0.01, 0.1, 1)], Cs=[0.1, 1, 10], regularizer=[1, 2])
    >>> model.fit(scale(X), y).best_params_["C"] in (0.1, 1, 10)
    True
    >>> model.cv_results_["mean_test_score"].shape
    (6,)
    """

    _plain = MKLClassifier
    calibrate: Any = field(default=None, init=False)  # no parameter of a search: scores of folds need decisions only

    def _candidates(self):
        """The regularizers that a fit may have: the chosen one, or before a fit all of them."""
        found = optional(self, "regularizer_")
        return list_of_regularizers(self.regularizer) if found is None else [found]


@declared_by_keyword
class MKLRegressorCV(CrossValidated, MKLRegressor):
    """`MKLRegressor` with C and the regularizer chosen by cross-validation.

    Folds share kernels as in `MKLClassifierCV`. The squared loss, the default, does not depend on the unit of y; C of
    the other losses does: scale y, or give Cs that suit its unit.

    Parameters
    ----------
    kernels : "auto", "precomputed", or a list of kernels, as in `MKLRegressor`
    Cs : int or list of float, default 10
        A list of values, all of which are run, or the number of values, log-spaced from 0.01 to 100, of which some are
        run, as in `MKLClassifierCV`.
    regularizer : a regularizer of `MKLRegressor` or a list of them, default (1, 2, inf)
    cv : None for 5 shuffled folds, a number of folds in the order of rows, a splitter of scikit-learn, a list of \
    (train, test), or "loo"
        "loo" is as in `MKLClassifierCV`; for the squared loss its decisions are exact at the weights of the fit.
    scoring : None for `score` of `MKLRegressor`, the name of a scorer, or a function (model, X, y)
    refit : "best", "1se" or a function, default "best"
        The candidate to fit on all data: the one of the best mean score; the least C, with the same regularizer, whose
        mean score is within one standard error of the best; or the index that the function returns for `cv_results_`.
    loss, epsilon, q, normalize, slack, solver, psd, features, approximation, rank, tol, max_iter, fit_intercept, \
    memory_limit, device, n_jobs, random_state, verbose : as in `MKLRegressor`
        `n_jobs` threads solve the candidates of several folds side by side if the matrices of these folds fit in
        `memory_limit`; results do not depend on it. On a device each fold has its own kernels.

    Attributes
    ----------
    C_, regularizer_, best_params_ : the chosen values
    best_score_ : its mean score over the folds, which is optimistic, since it decided the choice
    searched_ : the number of candidates that were run, which the saved model keeps
    best_index_ : its place in `cv_results_`
    cv_results_ : a dict of arrays, as of `MKLClassifierCV`
    best_estimator_ : the chosen model as an `MKLRegressor`
    Cs_, n_splits_, refit_time_ : the values of C, the number of folds, seconds of the last fit

    All attributes of `MKLRegressor` describe the chosen model, fitted on all data.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from manykernels import MKLRegressorCV
    >>> from manykernels.kernels import RBF, Linear
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = MKLRegressorCV([RBF(gamma=30), Linear()], Cs=[0.1, 1], regularizer=[1, 2], cv=3)
    >>> model.fit(X[:150], y[:150]).kernel_weights_.shape
    (2,)
    """

    _plain = MKLRegressor


@declared_by_keyword
class MKLSurvivalCV(CrossValidated, MKLSurvival):  # type: ignore[misc]  # strata are part of y
    """`MKLSurvival` with C and the regularizer chosen by cross-validation.

    Folds share kernels as in `MKLClassifierCV`, and each has its share of the events. Strata are a third field or
    column of y.

    Parameters
    ----------
    kernels : "auto", "precomputed", or a list of kernels, as in `MKLSurvival`
    Cs : int or list of float, default 10
        A list of values, all of which are run, or the number of values, log-spaced from 0.01 to 100, of which some are
        run, as in `MKLClassifierCV`.
    regularizer : a regularizer of `MKLSurvival` or a list of them, default (1, 2, inf)
    cv : None for 5 shuffled folds, a number of folds, a splitter of scikit-learn, a list of (train, test), or "loo"
    scoring : None for `score` of `MKLSurvival`, the concordance, or a function (model, X, y)
    refit : "best", "1se" or a function, default "best"
        As in `MKLClassifierCV`.
    loss, ties, epsilon, normalize, slack, solver, psd, features, approximation, rank, tol, max_iter, memory_limit, \
    device, n_jobs, random_state, verbose : as in `MKLSurvival`

    Attributes
    ----------
    C_, regularizer_, best_params_ : the chosen values
    best_score_ : its mean score over the folds, which is optimistic, since it decided the choice
    searched_ : the number of candidates that were run, which the saved model keeps
    best_index_ : its place in `cv_results_`
    cv_results_ : a dict of arrays, as of `MKLClassifierCV`
    best_estimator_ : the chosen model as an `MKLSurvival`
    Cs_, n_splits_, refit_time_ : the values of C, the number of folds, seconds of the last fit

    All attributes of `MKLSurvival` describe the chosen model, fitted on all data.

    Examples
    --------
    >>> from manykernels import MKLSurvivalCV
    >>> from manykernels.datasets import make_survival
    >>> from manykernels.kernels import RBF
    >>> X, y = make_survival(100, seed=0)
    >>> kernels = [(source, RBF("scale"), source) for source in X]
    >>> model = MKLSurvivalCV(kernels, Cs=[0.1, 1], regularizer=[1, 2], cv=3).fit(X, y)
    >>> model.kernel_weights_.shape
    (3,)
    """

    _plain = MKLSurvival
