"""The scores of a grid of C and regularizers on the folds of a splitter, and the choice of a candidate."""

import time
from collections.abc import Callable
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from itertools import chain
from numbers import Integral, Real
from typing import Any

import numpy as np

from .. import regularizers
from .._threads import n_threads, run_blocks
from .._validation import check_number
from .choose_c import FIRST, ScoredFits, apart, distance
from .plan import Solved
from .progress import show_count
from .shared_kernels import SharedFold, SharedKernels, with_params

LOO = "loo"  # cv for leave-one-out decisions instead of folds
COARSE = 3  # an adaptive search begins with every third C
C_EXPONENTS = -2, 2  # of 10, for the least and the greatest C of a grid


def grid_of_C(Cs: Any) -> np.ndarray:
    """The given values of C, (K,), or as many log-spaced values from 0.01 to 100."""
    if isinstance(Cs, Integral) and not isinstance(Cs, bool):
        if Cs < 2:
            raise ValueError(f"Cs={Cs} is not allowed: give their number, at least 2, or a list, [{Cs}].")
        return np.logspace(*C_EXPONENTS, int(Cs))
    if isinstance(Cs, Real | str) or not np.iterable(Cs) or not len(values := list(Cs)):
        raise ValueError(f"Cs={Cs!r} is not allowed: give their number, such as 10, or a list, such as [0.1, 1, 10].")
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
    """The scores of (C, regularizer) in every fold, in arrays (K, R, folds); NaN for those not run.

    An `adaptive` search runs some of the candidates, as `finer` says; each round scores its candidates in all folds, by
    `ScoredFits`. `loo` scores leave-one-out decisions: the one fold has all examples for training and for test.
    """

    def __init__(
        self, kernels: SharedKernels, y: Any, weight: Any, Cs: np.ndarray, found: list[Any], splits: list[Any],
        adaptive: bool = False, loo: bool = False,
    ) -> None:  # fmt: skip
        self.kernels, self.y, self.weight = kernels, y, weight
        self.Cs, self.regularizers, self.splits, self.adaptive, self.loo = Cs, found, splits, adaptive, loo
        self.ran = np.zeros((len(Cs), len(found)), bool)
        shape = *self.ran.shape, len(splits)
        self.scores, self.gaps, self.fit_time, self.score_time, self.steps = (np.full(shape, np.nan) for _ in range(5))
        self.folds: dict[int, SharedFold] = {}  # those that have room
        self.found: dict[tuple[int, int], tuple[int, list[Any]]] = {}  # of (fold, regularizer), see `_start`

    def run(self, scorer: Callable) -> None:
        """Fits and scores the candidates with the other parameters of the kernels' model."""
        model, folds, count = self.kernels.model, self.folds, len(self.splits)
        total = None if self.adaptive else self.scores.size
        threads, group = min(n_threads(model.n_jobs), count), {}
        with show_count("cross-validation", total, model.verbose) if model.verbose else nullcontext() as self.tick:
            while (todo := self._next()).any():
                for k, split in enumerate(self.splits):
                    group[k] = folds.get(k) or SharedFold(self.kernels, *split)
                    with self._named(k):
                        for r in np.flatnonzero(todo.any(axis=0)):
                            self._prepare(k, r, group[k])
                    beside = threads if self.kernels.has_room_for(threads, len(self.regularizers)) else 1
                    if len(group) < beside and k < count - 1:
                        continue
                    self._solve(group, todo, scorer)
                    if self.loo or self.adaptive and self.kernels.has_room_for(count, len(self.regularizers)):
                        folds |= group
                    group = {}
                self.ran |= todo

    def anchors(self) -> np.ndarray:
        """The C at which an adaptive search learns θ: of every third C the greatest up to 1, and the smaller ones."""
        C = self.Cs[coarse(len(self.Cs))] if self.adaptive else self.Cs[:0]
        return C[C <= max(FIRST, C.min(initial=np.inf))]

    def _next(self):
        """The candidates of the next round, (K, R)."""
        return finer(self.scores.mean(axis=2), self.ran) if self.adaptive else ~self.ran

    def _solve(self, group, todo, scorer):
        """Solves the candidates in a group of folds, in threads side by side; then scores them."""

        def solve(job):
            (j, r, k), begin = job, time.perf_counter()
            with self._named(k):
                group[k].prepared[r][1].at(float(self.Cs[j]))
            self.fit_time[job] = time.perf_counter() - begin
            if self.tick is not None:
                self.tick()

        # from the greatest C down, where warm starts save most; paths along C do not share anything
        jobs = [
            [(j, r, k) for r in np.flatnonzero(todo[j]) for k in group] for j in np.argsort(-self.Cs, kind="stable")
        ]
        for beside in jobs:
            run_blocks(solve, beside, self.kernels.model.n_jobs)
        for job in chain(*jobs):
            self._score(job, group[job[2]], scorer)

    def _score(self, job, fold, scorer):
        """Scores one solved candidate (j, r) in fold k."""
        begin, C = time.perf_counter(), float(self.Cs[job[0]])
        model, fits = fold.prepared[job[1]]
        plan = fits.plan_at(C)
        model.set_params(C=C)._keep(plan, Solved(plan.bank, plan.rows, fits.at(C)))
        scored = fold.left_out(model, plan, fits.decisions(C)) if self.loo else fold.scored(model, plan)
        self.scores[job] = scorer(scored, fold.X_test, self.y[fold.test])
        self.score_time[job] = time.perf_counter() - begin
        self.gaps[job], self.steps[job] = model.duality_gap_, model.n_iter_

    @contextmanager
    def _named(self, k):
        """Names fold k in errors."""
        try:
            yield
        except ValueError as error:
            raise ValueError(f"{'the model' if self.loo else f'fold {k} of cv'} cannot be fitted: {error}") from error

    def _prepare(self, k, r, fold):
        """Gives the fold the model with regularizer r and its `ScoredFits`, unless it has them."""
        if r in fold.prepared:
            return
        twin = with_params(self.kernels.model, regularizer=self.regularizers[r], verbose=False, C=float(self.Cs[0]))
        plan = fold.plan(twin, self.y[fold.train], self.weight[fold.train])
        _, known = self.found.get((k, r), (0, None))
        fits = ScoredFits(plan, self.anchors(), shared=True, loo=self.loo, known=known)
        if self.adaptive or k == len(self.splits) - 1:
            self.found[k, r] = fits.count, fits.known
        fold.prepared[r] = twin, fits

    def results(self) -> dict[str, Any]:
        """`cv_results_`, with the keys of GridSearchCV, whose candidates vary the regularizer fastest, and the gaps."""
        found: dict[str, Any] = {}
        for name, values in (("fit_time", self.fit_time), ("score_time", self.score_time)):
            found |= {f"mean_{name}": values.mean(axis=2).ravel(), f"std_{name}": values.std(axis=2).ravel()}
        candidates = [{"C": float(C), "regularizer": value} for C in self.Cs for value in self.regularizers]
        parts = np.empty(len(candidates), dtype=object)
        parts[:] = self.regularizers * len(self.Cs)
        found |= {"param_C": np.repeat(self.Cs, len(self.regularizers)), "param_regularizer": parts}
        splits = [LOO] if self.loo else [f"split{k}" for k in range(len(self.splits))]
        scores, gaps = (part.reshape(len(candidates), -1) for part in (self.scores, self.gaps))
        found |= {"params": candidates} | {f"{name}_test_score": scores[:, k] for k, name in enumerate(splits)}
        mean = scores.mean(axis=1)
        low = np.where(np.isnan(mean), -np.inf, mean)
        rank = np.array([1 + np.sum(low > value) for value in low], dtype=np.int32)
        found |= {"mean_test_score": mean, "std_test_score": scores.std(axis=1), "rank_test_score": rank}
        found |= {f"{name}_duality_gap": gaps[:, k] for k, name in enumerate(splits)}
        return found | {"max_duality_gap": gaps.max(axis=1), "mean_n_iter": self.steps.mean(axis=2).ravel()}

    def refit(self, at: int) -> Any:
        """Candidate number `at`, fitted on all examples from its solution in the last fold."""
        (j, r), every = divmod(at, len(self.regularizers)), np.arange(self.kernels.n)
        start, fold = self._start(j, r), self.folds.get(0) if self.loo else None
        self.folds.clear()  # frees the others
        best = with_params(self.kernels.model, C=float(self.Cs[j]), regularizer=self.regularizers[r])
        fold = fold or SharedFold(self.kernels, every, every[:0])
        fold.fit(best, self.y, self.weight, start, self.kernels.X)[0].advise(best)
        return best

    def _start(self, j, r):
        """The solutions of candidate (j, r) in the last fold as a start on all examples."""
        k, C = len(self.splits) - 1, float(self.Cs[j])
        count, known = self.found.get((k, r), (0, []))
        train = np.sort(self.splits[k][0])
        if len(np.unique(train)) < len(train) or not all(C in one for one in known):
            return []
        solutions = apart([one[C] for one in known], count)
        starts = []
        for solution in solutions:
            a = np.zeros((len(solution.a), self.kernels.n))
            if solution.a.shape[1] != len(train):  # some have weight 0
                return []
            a[:, train] = solution.a
            starts.append(replace(solution, a=a, dual_a=None))
        return starts


def finer(mean: np.ndarray, ran: np.ndarray) -> np.ndarray:
    """The candidates to run next, a mask (K, R), at the mean scores (K, R) of those that ran; C ascends.

    First every third C with every regularizer, from the greatest down until the score falls; then, with the two best
    regularizers, the C beside the best one of each, until both have run.
    """
    todo, first = np.zeros(mean.shape, bool), coarse(len(mean))
    if not ran.any():
        todo[first[:2]] = True
        return todo
    for above, here, below in zip(first, first[1:], first[2:], strict=False):
        todo[below] = ran[here] & ~ran[below] & (mean[here] >= mean[above])
    if not todo.any():
        known = np.where(ran & ~np.isnan(mean), mean, -np.inf)
        for r in np.argsort(-known.max(axis=0), kind="stable")[:2]:
            j = int(middle(np.flatnonzero(known[:, r] == known[:, r].max()), len(mean)))
            todo[max(j - 1, 0) : j + 2, r] = True
    return todo & ~ran


def coarse(K: int) -> np.ndarray:
    """Every third of K values of C, the indices from the greatest down."""
    count = max(1, (K + 1) // COARSE)
    return np.arange((K - COARSE * (count - 1) - 1) // 2, K, COARSE)[::-1]


def middle(tied: np.ndarray, K: int) -> int:
    """Of some indices below K the one nearest to the middle, which is C = 1 in a grid of an adaptive search."""
    return int(tied[np.argmin(np.abs(2 * tied - (K - 1)))])


def choose_candidate(results: dict[str, Any], refit: Any, adaptive: bool = False) -> int:
    """The index of the candidate of best mean score, of the least C within a standard error of it, or of `refit`.

    Of equal scores an adaptive search takes the C nearest to 1, where θ is known best, others take the least one.
    """
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
        tied = np.flatnonzero(results["rank_test_score"] == 1)
        return int(min(tied, key=lambda at: distance(results["param_C"][at]))) if adaptive else best
    scores = np.array([results[key][best] for key in results if key.startswith("split") and key.endswith("test_score")])
    error = scores.std(ddof=1) / np.sqrt(len(scores)) if len(scores) > 1 else 0.0
    own = [p["regularizer"] is results["params"][best]["regularizer"] for p in results["params"]]
    able = np.flatnonzero(np.array(own) & (mean >= mean[best] - error))
    return int(able[np.argmin(results["param_C"][able])])
