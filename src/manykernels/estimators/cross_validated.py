"""What estimators that choose C and the regularizer by cross-validation have in common."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import field
from functools import partial
from numbers import Integral
from os import PathLike
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import is_classifier
from sklearn.utils.validation import check_is_fitted

from .. import regularizers
from .._parts import declared_by_keyword
from ..inner.systems import blas_for
from ..kernels.annotated import obs_columns, opened_column
from ..kernels.rows import check_beside
from .base import MKLBase
from .check_inputs import checked_targets, optional
from .check_targets import check_weight, make_splits
from .classifier import MKLClassifier
from .outputs import scored
from .regressor import MKLRegressor
from .search import LOO, Search, choose_candidate, grid_of_C, is_exact, list_of_regularizers
from .shared_kernels import SharedKernels, views_or, with_decisions

SEARCH_PARAMETERS = ("Cs", "cv", "scoring", "refit")  # that the plain estimators do not have


@declared_by_keyword
class CrossValidated(MKLBase):
    """fit, score and save of an estimator that chooses C and the regularizer; it precedes the plain class."""

    Cs: int | ArrayLike = 10
    regularizer: Any = (1, 2, np.inf)
    cv: Any = None
    scoring: str | Callable | None = None
    refit: str | Callable = "best"
    C: Any = field(init=False)
    warm_start: bool = field(init=False)
    checkpoint: Any = field(init=False)
    _plain = MKLBase

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: ArrayLike | None = None,
        task: ArrayLike | None = None,
        groups: ArrayLike | None = None,
        covariates: Any = None,
    ) -> Self:
        """Score all candidates on the folds of `cv`, which keep `groups` (n,) whole, and fit the best on all data.

        `covariates` (n, q) are adjusted for and not penalised, as in the plain estimator.
        """
        from sklearn.metrics import check_scoring

        Cs, found = grid_of_C(self.Cs), list_of_regularizers(self.regularizer)
        if not callable(self.refit) and (not isinstance(self.refit, str) or self.refit not in ("best", "1se")):
            raise ValueError(f'refit={self.refit!r} is not allowed: give "best", "1se" or a function of cv_results_.')
        plain = self._plain(**self._plain_params(C=float(Cs[0]), regularizer=found[0]))
        plain._check_params()
        opened = opened_column(X, groups)
        given = self._check_data(X, y, sample_weight, task, covariates, groups=groups)
        loo = isinstance(self.cv, str) and self.cv == LOO
        if loo:
            self._check_loo(found, opened)
            splits = [(np.arange(given.n), np.arange(given.n))]
        else:
            splits = make_splits(self.cv, views_or(given.X), given.Y, is_classifier(self), opened)
        kernels = SharedKernels(plain, given.X, given.task, given.covariates, is_exact(found))
        adaptive = isinstance(self.Cs, Integral) and self.refit == "best"
        search = Search(kernels, given.Y, given.weight, Cs, found, splits, adaptive, loo)
        with blas_for(given.n, self.n_jobs):
            search.run(check_scoring(plain, self.scoring))
            results = search.results()
            at, begin = choose_candidate(results, self.refit, search.adaptive), time.perf_counter()
            best = search.refit(at)
        self.__dict__.update({k: v for k, v in vars(best).items() if k not in best.get_params(deep=False)})
        self.refit_time_ = time.perf_counter() - begin
        self.Cs_, self.n_splits_, self.cv_results_, self.best_index_ = Cs, len(splits), results, at
        self.searched_ = int(search.ran.sum())  # a report of the chosen model needs it
        self.best_params_ = dict(results["params"][at])
        self.best_score_ = float(results["mean_test_score"][at])
        self.C_, self.regularizer_ = self.best_params_["C"], self.best_params_["regularizer"]
        return self

    def _check_loo(self, found, groups):
        """A ValueError if leave-one-out scores cannot do what is asked for."""
        if self.refit == "1se":
            raise ValueError('refit="1se" needs the scores of folds, and cv="loo" has none: give refit="best" or cv=5.')
        if groups is not None:
            raise ValueError(
                'cv="loo" leaves out single examples and cannot keep groups whole: give cv=5, or no groups.'
            )
        for value in found:
            if regularizers.get(value).bayesian:
                raise ValueError(f'cv="loo" with regularizer={value!r}: its scores need folds, cv=5.')

    def _plain_params(self, **params):
        search = (*SEARCH_PARAMETERS, "regularizer")
        return {k: v for k, v in self.get_params(deep=False).items() if k not in search} | params

    @property
    def best_estimator_(self) -> Any:
        """The chosen model as a plain estimator, fitted on all data; it shares the arrays of this model."""
        if optional(self, "C_") is None:
            raise AttributeError(f"{type(self).__name__} has no best_estimator_ before fit.")
        best = self._plain(**self._plain_params(C=self.C_, regularizer=self.regularizer_))
        chosen = ("Cs_", "n_splits_", "cv_results_", "best_index_", "best_params_", "best_score_", "C_", "regularizer_")
        own = {k: v for k, v in vars(self).items() if k not in (*self.get_params(deep=False), *chosen, "refit_time_")}
        best.__dict__.update(own)
        return best

    def compress(self, tol: float = 1e-3, X: Any = None, task: ArrayLike | None = None) -> Any:
        """`compress` of the chosen model: a plain estimator."""
        return self.best_estimator_.compress(tol, X, task)

    def path(self, *args: Any, **options: Any) -> Any:
        """`path` of the plain estimator, by default over the Cs and regularizers of this one."""
        plain = self._plain(**self._plain_params(regularizer=list_of_regularizers(self.regularizer)[0]))
        return plain.path(*args, **dict(Cs=self.Cs, regularizer=self.regularizer) | options)

    def score(
        self,
        X: Any,
        y: Any,
        sample_weight: ArrayLike | None = None,
        task: ArrayLike | None = None,
        covariates: Any = None,
    ) -> float:
        """The score by `scoring`, or that of the plain estimator if `scoring` is None."""
        if self.scoring is None:
            plain: Any = super()
            return plain.score(X, y, sample_weight=sample_weight, task=task, covariates=covariates)
        if task is not None:
            raise ValueError(
                f"task has no effect with scoring={self.scoring!r}, which does not pass it on: leave out task."
            )
        from sklearn.metrics import check_scoring

        check_beside(X, dict(covariates=covariates), y=y, sample_weight=sample_weight)
        weight = {} if sample_weight is None else {"sample_weight": check_weight(sample_weight, len(y))}
        model: Any = self
        covariates = obs_columns(X, covariates)
        if covariates is not None:  # scorers do not pass them on
            model = with_decisions(self, lambda X, *_: self._decide(X, None, covariates))
        y = checked_targets(y, numeric=False) if is_classifier(self) else y
        classes = self.classes_ if is_classifier(self) and not self.multilabel_ else None
        return scored(partial(check_scoring(self, self.scoring), model, X, y, **weight), y, classes)

    def save(self, path: str | PathLike[str], format: str = "manykernels") -> None:  # noqa: A002 (the common name)
        """Write the chosen model to a file that `manykernels.load` reads as a plain estimator, without the scores."""
        check_is_fitted(self)
        self.best_estimator_.save(path, format)


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
