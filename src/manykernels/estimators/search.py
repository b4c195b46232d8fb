"""The scores of a grid of C and regularizers on the folds of a splitter, and the choice of a candidate."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace
from numbers import Integral, Real
from typing import Any

import numpy as np

from .. import regularizers
from .._validation import check_number
from .check_inputs import is_precomputed
from .progress import show_count
from .shared_kernels import SharedFold, SharedKernels, with_params

C_EXPONENTS = -2, 2  # of 10, for the least and the greatest C of a grid


def grid_of_C(Cs: Any) -> np.ndarray:
    """The given values of C, (K,), or as many log-spaced values from 0.01 to 100."""
    if isinstance(Cs, Integral) and not isinstance(Cs, bool):
        if Cs < 2:
            raise ValueError(f"Cs={Cs} is not allowed: give how many values, at least 2, or a list of them, [{Cs}].")
        return np.logspace(*C_EXPONENTS, int(Cs))
    if isinstance(Cs, Real | str) or not np.iterable(Cs) or not len(values := list(Cs)):
        raise ValueError(f"Cs={Cs!r} is not allowed: give how many, such as 10, or a list, such as [0.1, 1, 10].")
    for C in values:
        check_number("C in Cs", C)
    if len(set(values)) < len(values):
        raise ValueError(f"Cs={values} has a value twice: give different ones.")
    return np.array(values, dtype=float)


def list_of_regularizers(regularizer: Any) -> list[Any]:
    """The regularizers to choose from, as a list."""
    several = isinstance(regularizer, list | tuple | np.ndarray)
    found = list(regularizer) if several else [regularizer]
    if not found:
        raise ValueError("regularizer is an empty list: give at least one, such as [1, 2].")
    found = [value.item() if isinstance(value, np.generic) else value for value in found]
    for value in found:
        regularizers.get(value)
    return found


def is_exact(found: list[Any]) -> bool:
    """Whether one of the regularizers needs kernel values in float64."""
    return any(regularizers.get(value).exact for value in found)


class Search:
    """The scores of every (regularizer, C) in every fold, in arrays (n_candidates, n_splits).

    Candidates are in the order of GridSearchCV: the regularizer varies fastest.
    """

    def __init__(self, Cs: np.ndarray, found: list[Any], splits: list[Any]) -> None:
        self.Cs, self.regularizers, self.splits = Cs, found, splits
        shape = len(Cs) * len(found), len(splits)
        self.scores, self.gaps, self.fit_time, self.score_time = (np.full(shape, np.nan) for _ in range(4))
        self.steps = np.zeros(shape, int)
        self.last: dict[int, tuple[np.ndarray, list[Any]]] = {}  # training examples and solutions of the last fold

    @property
    def candidates(self) -> list[dict[str, Any]]:
        return [{"C": float(C), "regularizer": value} for C in self.Cs for value in self.regularizers]

    def run(self, model: Any, kernels: SharedKernels, y: Any, weight: Any, scorer: Callable) -> None:
        """Fits and scores all candidates with the other parameters of `model`."""
        with show_count("cross-validation", self.scores.size) if model.verbose else nullcontext() as self.tick:
            for k, (train, test) in enumerate(self.splits):
                fold = SharedFold(kernels, train, test, is_precomputed(model), model.psd)
                for r, value in enumerate(self.regularizers):
                    self._path(k, r, with_params(model, regularizer=value, verbose=False), fold, y, weight, scorer)

    def _path(self, k, r, model, fold, y, weight, scorer):
        """One regularizer in one fold, from the greatest C down, where warm starts save most."""
        train, test, own, solutions = fold.train, fold.test, weight[fold.train], []
        for j in np.argsort(-self.Cs, kind="stable"):
            at = j * len(self.regularizers) + r
            begin = time.perf_counter()
            try:
                plan, (*_, solutions) = fold.fit(model.set_params(C=float(self.Cs[j])), y[train], own, solutions)
            except ValueError as error:
                raise ValueError(f"fold {k} of cv cannot be fitted: {error}") from error
            fitted = time.perf_counter()
            self.scores[at, k] = scorer(fold.scored(model, plan), fold.X_test, y[test])
            self.fit_time[at, k], self.score_time[at, k] = fitted - begin, time.perf_counter() - fitted
            self.gaps[at, k], self.steps[at, k] = model.duality_gap_, model.n_iter_
            self.last[at] = train, solutions
            if self.tick is not None:
                self.tick()

    def results(self) -> dict[str, Any]:
        """`cv_results_`, with the keys of GridSearchCV and the duality gaps."""
        found: dict[str, Any] = {}
        for name, values in (("fit_time", self.fit_time), ("score_time", self.score_time)):
            found |= {f"mean_{name}": values.mean(axis=1), f"std_{name}": values.std(axis=1)}
        candidates = self.candidates
        parts = np.empty(len(candidates), dtype=object)
        parts[:] = [c["regularizer"] for c in candidates]
        found |= {"param_C": np.array([c["C"] for c in candidates]), "param_regularizer": parts, "params": candidates}
        found |= {f"split{k}_test_score": s for k, s in enumerate(self.scores.T)}
        mean = self.scores.mean(axis=1)
        low = np.where(np.isnan(mean), -np.inf, mean)
        rank = np.array([1 + np.sum(low > value) for value in low], dtype=np.int32)
        found |= {"mean_test_score": mean, "std_test_score": self.scores.std(axis=1), "rank_test_score": rank}
        found |= {f"split{k}_duality_gap": g for k, g in enumerate(self.gaps.T)}
        return found | {"max_duality_gap": self.gaps.max(axis=1), "mean_n_iter": self.steps.mean(axis=1)}

    def start(self, at: int, n: int) -> list[Any]:
        """The solutions of a candidate in the last fold as a start on all n examples."""
        train, solutions = self.last[at]
        if len(np.unique(train)) < len(train):
            return []
        starts = []
        for solution in solutions:
            a = np.zeros((len(solution.a), n))
            if solution.a.shape[1] != len(train):  # some have weight 0
                return []
            a[:, train] = solution.a
            starts.append(replace(solution, a=a, dual_a=None))
        return starts


def choose(results: dict[str, Any], refit: Any) -> int:
    """The index of the candidate of best mean score, of the least C within a standard error of it, or of `refit`."""
    mean = results["mean_test_score"]
    if callable(refit):
        at: Any = refit(results)
        if not (isinstance(at, int | np.integer) and 0 <= at < len(mean)):
            raise ValueError(f"refit returned {at!r}: it must return the number of a candidate, 0 to {len(mean) - 1}.")
        return int(at)
    if not np.isfinite(mean).any():
        raise ValueError("scoring is not finite for any candidate: check the scorer and the folds of cv.")
    best = int(np.argmin(results["rank_test_score"]))
    if refit == "best":
        return best
    scores = np.array([results[key][best] for key in results if key.startswith("split") and key.endswith("test_score")])
    error = scores.std(ddof=1) / np.sqrt(len(scores)) if len(scores) > 1 else 0.0
    own = [p["regularizer"] is results["params"][best]["regularizer"] for p in results["params"]]
    able = np.flatnonzero(np.array(own) & (mean >= mean[best] - error))
    return int(able[np.argmin(results["param_C"][able])])
