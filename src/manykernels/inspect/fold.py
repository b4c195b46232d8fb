"""The fits of one training fold, on kernels that are computed once, and their scores on the held-out examples."""

from __future__ import annotations

import copy
import warnings
from dataclasses import replace
from functools import cached_property, partial
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone, is_classifier

from .._validation import parse_bytes
from ..banks.dense import NothingVaries
from ..estimators.calibration import learn_sigmoids
from ..estimators.check_inputs import is_precomputed, take_examples
from ..estimators.fold_model import FoldModel
from ..estimators.plan import FitPlan, read_examples
from ..inner.systems import blas_for
from ..kernels.auto import auto_kernels
from ..kernels.view_data import n_examples
from .columns import columns_seen, mixed, seeing_only, specs_of, spreads, with_one_value

MAX_ALIGNMENT_ENTRIES = 2**24  # of all kernel matrices that alignments compare
MAX_ALIGNMENT_EXAMPLES = 250
TIE_BREAK = 1e-9  # times the mean target, added to equal outputs of a constant


class FoldFit(NamedTuple):
    """T functions on one choice of kernels: a (T, n), θ (T, M), b (T,), and the largest gap of their fits."""

    a: np.ndarray
    theta: np.ndarray
    b: np.ndarray
    gap: float
    converged: bool
    solutions: list


def plan_fit(model, examples):
    """The plan of a fit of `model` to these examples, with the kernels; nothing is solved."""
    with blas_for(examples.n, model.n_jobs):
        return FitPlan.of(model, examples)


def with_kernels_of(model, X):
    """The model with the kernels that "auto" means for all examples X, so that every fold has the same kernels.

    Parameters such as widths still come from the training examples of each fold.
    """
    if not (isinstance(model.kernels, str) and model.kernels == "auto"):
        return model
    twin = copy.copy(model)
    twin.kernels = auto_kernels(X, parse_bytes(model.memory_limit))
    return twin


class Fold:
    """A model fitted to the examples `train` and scored on `test`; masks `wanted` (M,) select kernels."""

    start = None  # the `FoldFit` that fits begin with, if not `every`

    def __init__(self, model, X, y, weight, train, test, score, every=None):
        model = with_kernels_of(model, X)
        cut = (lambda rows: X[np.ix_(rows, train)]) if is_precomputed(model) else lambda rows: take_examples(X, rows)
        self.X, self.y = cut(test), None if y is None else y[test]
        self.weight, self.scorer = None if weight is None else weight[test], score
        own = None if weight is None else weight[train]
        self.model = clone(model).set_params(checkpoint=None, verbose=False, warm_start=False)
        given = cut(train), None if y is None else y[train]
        self.n_train, self.n_test, self.given = len(train), n_examples(self.X), (*given, own)
        examples = self._compute(*self.given)
        if is_classifier(model) and model.calibrate is not None:
            self.model.calibration_ = learn_sigmoids(self.model, *given, examples)
        self.every = every
        if every is None:
            self.every = self.solve(np.ones(self.M, bool))

    def _compute(self, X, y, weight):
        """The kernels of the model on its training examples, which are returned as the plan has them."""
        examples = read_examples(self.model, X, y, weight)
        self.plan = plan_fit(self.model, examples)
        bank = self.plan.bank
        with blas_for(self.n_train, self.model.n_jobs):
            self.bank = bank.restrict(np.arange(bank.n)) or bank  # matrices in memory, if worth it
        self.M = self.plan.predictor().sizes()[1]  # a kernel beyond is slack, in every fit
        self.names, self.usable = list(bank.names)[: self.M], bank.usable[: self.M]
        return examples

    @property
    def kernel_list(self):
        """The kernels and their columns; None if they are precomputed."""
        return self.plan.predictor().kernel_list

    def solve(self, wanted):
        """The `FoldFit` of these kernels, started from that of all kernels; the constant b if no kernel varies."""
        usable, every = self.usable & wanted, self.every
        if every is not None and not every.theta[:, usable != self.usable].any():
            return every  # without kernels of weight 0 the optimum is the same
        if not usable.any():
            return self._nothing()
        bank = copy.copy(self.bank)
        bank.usable = np.append(usable, bank.usable[self.M :])
        start = self.start if every is None else every
        warm = [None] * len(self.plan.labels) if start is None else [_without(s, bank.usable) for s in start.solutions]
        return self._machine([self._solve(k, bank, start) for k, start in enumerate(warm)])

    def seeing(self, columns, alone):
        """The fold whose kernels see these columns of a table `alone`, or only the others; see `seeing_only`.

        Kernels that see nothing any more are left out, unless the regularizer has a number for each kernel.
        """
        X, *targets = self.given
        one, same = self._one
        less, new = (mixed(one, X, columns), mixed(same, self.X, columns)) if alone else (
            mixed(X, one, columns), mixed(self.X, same, columns))  # fmt: skip
        kept = set(columns) if alone else set(range(X.shape[1])).difference(columns)
        seen = columns_seen(self.kernel_list, X.shape[1])
        by_kernel = any(np.ndim(value) or callable(value) for value in self.plan.regularizer.get_params().values())
        which = [m for m, own in enumerate(seen) if by_kernel or own & kept or not own and not alone]
        specs = seeing_only(specs_of(self.model.kernels), self.kernel_list, less, kept, self._spread)
        twin = copy.copy(self)
        vars(twin).pop("_X_read", None)  # read anew
        twin.X, twin.model, twin.every, twin.start = new, copy.copy(self.model), None, self._starting(which)
        twin.model.kernels = [specs[m] for m in which]
        if not which:
            raise NothingVaries("no kernel is left.")
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "kernels without variance", UserWarning)  # known here
            twin._compute(less, *targets)
        return twin

    @cached_property
    def _one(self):
        """The training and the held-out table with one value in each column."""
        one = with_one_value(self.given[0])
        return one, take_examples(one, np.zeros(self.n_test, int))

    @cached_property
    def _spread(self):
        return spreads(specs_of(self.model.kernels), self.kernel_list, self.given[0], range(self.M))

    def _starting(self, which):
        """The fit of all kernels as a start for the kernels `which`."""
        own = np.append(which, np.arange(self.M, self.bank.M)).astype(int)
        found = [replace(s, theta=s.theta[own]) for s in self.every.solutions]
        return self.every._replace(solutions=found) if found else None

    def refits(self, rows, alone=False):
        """[(FoldFit, decisions (n_test, T), the row's `flat` if alone)] without each row of a table, or with it alone.

        Rows of kernels share the kernels of the fold. Rows of columns change every kernel that sees the columns.
        """
        masks = [row.wanted if alone else ~row.wanted for row in rows if row.columns is None]
        machines = [self.solve(mask) for mask in masks]
        decisions = self.decisions(machines) if machines else ()
        flats = (self.flat(mask, self._some) if alone else None for mask in masks)
        plain = zip(machines, decisions, flats, strict=True)
        return [next(plain) if row.columns is None else self._refit(row, alone) for row in rows]

    def _refit(self, row, alone):
        if not (alone or self.every.theta[:, self.touched(row)].any()):
            return self.every, self.decisions([self.every])[0], None
        try:
            twin = self.seeing(row.columns, alone)
        except NothingVaries:  # what is left has one value on these training examples
            machine = self._nothing()
            return machine, self.decisions([machine])[0], self.flat(np.zeros(self.M, bool), self._some)
        every = np.ones(twin.M, bool)
        machine = twin.solve(every)
        return machine, twin.decisions([machine])[0], twin.flat(every, self._some) if alone else None

    def touched(self, row):
        """The mask (M,) of the kernels that see a column of the row."""
        seen = columns_seen(self.kernel_list, self.X.shape[1])
        return np.array([bool(columns & set(row.columns)) for columns in seen])

    def _solve(self, k, bank, warm):
        with blas_for(self.n_train, self.model.n_jobs):
            found = self.plan.solve_part(k, bank, warm)
        if found.interrupted:
            raise KeyboardInterrupt
        return found

    def _machine(self, solutions):
        a = np.concatenate([s.a for s in solutions])
        theta = np.concatenate([np.tile(s.theta[: self.M], (len(s.a), 1)) for s in solutions])
        b = np.concatenate([np.atleast_1d(s.b) for s in solutions]).astype(float)
        measures = [s.gap if s.stationarity is None else s.stationarity for s in solutions]
        return FoldFit(a, theta, b, max(measures), all(s.converged for s in solutions), solutions)

    def _nothing(self):
        """The best constant, with ties between outputs broken in favour of the largest class.

        The hinge loss gives −1 to every class with less than half of the examples.
        """
        examples = self.plan.examples
        Y = examples.Y
        b = np.zeros(len(Y))
        if examples.intercept and not examples.loss.total:
            zero = np.zeros(Y.shape[1])
            b = np.array([examples.loss.intercept(y, zero, examples.c) for y in Y], dtype=float)
        if len(Y) > 1:
            b += TIE_BREAK * (Y @ examples.c) / examples.c.sum()
        return FoldFit(np.zeros_like(Y), np.zeros((len(Y), self.M)), b, 0.0, True, [])

    def decisions(self, machines):
        """Σ_m f_m + b of each machine at the held-out examples, (n_test, T); machines share the kernel values."""
        T = len(machines[0].b)
        a, theta, b = (np.concatenate([m[part] for m in machines]) for part in range(3))
        with blas_for(self.n_train, self.model.n_jobs):
            f = self.plan.decide(a, theta, b, self._X_read)
        return f.reshape(len(machines), T, -1).swapaxes(1, 2)

    def permuted(self, rows, draws):
        """The scores of all kernels with the data of one row of a table permuted, (rows, draws).

        f is a sum over kernels: the parts of a row's kernels are permuted by `draws` (d, n_test). Columns are permuted
        before the kernels that see them are computed.
        """
        every = self.every
        if not every.a.any():
            return np.full((len(rows), len(draws)), self.score(np.tile(every.b, (self.n_test, 1))))
        parts = self.parts(every)
        decision = (parts.sum(axis=2) + every.b[:, None]).T
        same, found = self.score(decision), []
        for row in rows:
            wanted = row.wanted if row.columns is None else self.touched(row)
            if not every.theta[:, wanted].any():
                found.append([same] * len(draws))
                continue
            own = parts[:, :, wanted].sum(axis=2).T
            moved = [own[order] for order in draws] if row.columns is None else self._moved(row, wanted, draws)
            found.append([self.score(decision - own + part) for part in moved])
        return np.array(found)

    def _moved(self, row, wanted, draws):
        """The part of the kernels `wanted` with the columns of the row in each order, (draws, n_test, T)."""
        again, every = np.tile(np.arange(self.n_test), len(draws)), self.every
        X = mixed(*(take_examples(self.X, rows) for rows in (again, np.concatenate(draws))), row.columns)
        with blas_for(self.n_train, self.model.n_jobs):
            f = self.plan.decide(every.a, every.theta * wanted, np.zeros_like(every.b), self.plan.read(self.model, X))
        return f.T.reshape(len(draws), self.n_test, -1)

    def parts(self, machine):
        """The part of each kernel in the decisions of a machine at the held-out examples, (T, n_test, M)."""
        with blas_for(self.n_train, self.model.n_jobs):
            return self.plan.decision_parts(machine.a, machine.theta, self._X_read)

    @cached_property
    def _X_read(self):
        """The held-out examples as the kernels take them."""
        return self.plan.read(self.model, self.X)

    def deciding(self, decision, fitted=False):
        """A model with these decisions (n_test, T) on the held-out examples; `fitted` if they are those of all kernels.

        The posterior of empirical Bayes needs the fit; other probabilities need only the decisions.
        """
        bayesian = fitted and self.plan.regularizer.bayesian
        if bayesian and not self.every.solutions:
            raise ValueError("no kernel varies on the training examples of a fold: take fewer folds, or other kernels.")
        model = self.plan.fitted(self.model, self.every.solutions) if bayesian else self.model
        return FoldModel(model, partial(_same_length, decision))

    def score(self, decision):
        """The score of these decisions (n_test, T)."""
        extra = {} if self.weight is None else {"sample_weight": self.weight}
        value = float(self.scorer(self.deciding(decision), self.X, self.y, **extra))
        if not np.isfinite(value):
            raise ValueError(
                f"scoring gave {value} on a fold of {self.n_test} examples: take fewer folds, or another scoring."
            )
        return value

    def shares(self, sources):
        """The share of the weights of each source, (sources,), averaged over the classes."""
        theta = self.every.theta.mean(axis=0)
        total = theta.sum() or 1.0
        return np.array([theta[wanted].sum() / total for wanted in sources])

    def alignments(self, flats):
        """Centred alignments (of each of the kernels `flats` with the targets, between them)."""
        K, Y = np.array(flats), self.plan.examples.Y[:, self._some]
        Y = Y - Y.mean(axis=1, keepdims=True)
        target = _normal(_off(Y.T @ Y))
        return K @ target, K @ K.T

    @cached_property
    def _some(self):
        """Evenly spread training examples, which alignments compare."""
        n = self.bank.n
        size = int(min(n, MAX_ALIGNMENT_EXAMPLES, max(np.sqrt(MAX_ALIGNMENT_ENTRIES / (2 * self.M)), 50)))
        return np.unique(np.linspace(0, n - 1, size).astype(int))

    def flat(self, wanted, rows):
        """The sum of the kernels in the mask (M,) on some examples, centred, without the diagonal, of norm 1, flat.

        All kernels have their diagonals in common.
        """
        theta = np.zeros(self.bank.M)
        theta[: self.M] = self.usable & wanted
        if not theta.any():
            return np.zeros(len(rows) ** 2)
        with blas_for(self.n_train, self.model.n_jobs):
            K = self.bank.combined(theta, rows, rows, dtype=np.float64)
        return _normal(_off(K - K.mean(axis=0) - K.mean(axis=1, keepdims=True) + K.mean()))


def _off(K):
    np.fill_diagonal(K, 0.0)
    return K.ravel()


def _normal(v):
    size = np.linalg.norm(v)
    return v / size if size > 0 else v


def _without(solution, usable):
    """A warm start for the usable kernels alone: their weights, scaled to the sum of all weights."""
    theta = np.where(usable, solution.theta, 0.0)
    total = theta.sum()
    return replace(solution, theta=theta / total * solution.theta.sum() if total > 0 else theta)


def _same_length(decision, X: Any, task=None):
    if n_examples(X) != len(decision):
        raise ValueError(
            f"scoring predicts {n_examples(X)} examples, but {len(decision)} are held out: give a scorer that predicts "
            "its own X."
        )
    return decision
