"""What estimators that choose_candidate C and the regularizer by cross-validation have in common."""

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
from .check_inputs import checked_targets, is_precomputed, optional
from .check_targets import check_weight, make_splits
from .fold_model import FoldModel
from .outputs import scored
from .search import LOO, Search, choose_candidate, grid_of_C, is_exact, list_of_regularizers
from .shared_kernels import SharedFold, SharedKernels, views_or

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
        named, own = opened_column(X, groups), dict(covariates=covariates, groups=groups)
        X, labels, _, weight, tasks, _, Z = self._check_data(X, y, sample_weight, task, **own)
        n, groups = len(labels), named
        loo = isinstance(self.cv, str) and self.cv == LOO
        if loo:
            self._check_loo(found, groups)
        every = np.arange(n)
        splits = [(every, every)] if loo else make_splits(self.cv, views_or(X), labels, is_classifier(self), groups)
        kernels = SharedKernels(X, tasks, is_exact(found), self.device, Z)
        search = Search(Cs, found, splits, isinstance(self.Cs, Integral) and self.refit == "best", loo)
        with blas_for(n, self.n_jobs):
            search.run(plain, kernels, labels, weight, check_scoring(plain, self.scoring))
        results = search.results()
        at = choose_candidate(results, self.refit, search.adaptive)
        begin = time.perf_counter()
        with blas_for(n, self.n_jobs):
            start, fold = search.start(at, n), search.folds.get(0) if loo else None
            search.folds.clear()  # frees the others
            best = self._refit(plain, kernels, labels, weight, results["params"][at], start, fold)
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

    def _refit(self, plain, kernels, y, weight, params, start, fold=None):
        """The chosen candidate, fitted on all examples, those of `fold`, from its solution in the last fold."""
        best, every = self._plain(**self._plain_params(**params)), np.arange(kernels.n)
        fold = fold or SharedFold(kernels, every, every[:0], is_precomputed(plain), plain.psd)
        fold.fit(best, y, weight, start, kernels.X)[0].advise(best)
        return best

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
            model = FoldModel(self, lambda X, task=None: self._decide(X, task, covariates))
        y = checked_targets(y, numeric=False) if is_classifier(self) else y
        classes = self.classes_ if is_classifier(self) and not self.multilabel_ else None
        return scored(partial(check_scoring(self, self.scoring), model, X, y, **weight), y, classes)

    def save(self, path: str | PathLike[str], format: str = "manykernels") -> None:  # noqa: A002 (the common name)
        """Write the chosen model to a file that `manykernels.load` reads as a plain estimator, without the scores."""
        check_is_fitted(self)
        self.best_estimator_.save(path, format)
