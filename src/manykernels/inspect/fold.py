"""The fits of one training fold, on kernels that are computed once, and their scores on the held-out examples."""

import copy
import warnings
from dataclasses import replace
from functools import cached_property, partial
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import issparse
from sklearn.base import clone, is_classifier

from .._validation import parse_bytes
from ..banks.dense import DenseBank, NothingVaries, SomeDoNotVary
from ..estimators.check_inputs import as_mixed, is_precomputed, take_examples
from ..estimators.outputs import learn_sigmoids
from ..estimators.plan import FitPlan, read_examples
from ..estimators.shared_kernels import with_decisions
from ..inner.systems import blas_for
from ..kernels.auto import auto_kernels
from ..kernels.normalize import centred_matrix
from ..kernels.spec import specs_of
from ..kernels.view_data import n_examples
from ._adjustment import Adjustment, untied, without_kernels
from .sources import columns_seen, mixed, seeing_only, spreads, with_one_value
from .tables import evenly

MAX_ALIGNMENT_ENTRIES = 2**24  # of all kernel matrices that alignments compare
MAX_ALIGNMENT_EXAMPLES = 250
MAX_MOVED_ENTRIES = 2**22  # of tables with permuted columns
TIE_BREAK = 1e-9  # times the mean target, added to equal outputs of a constant


class FoldFit(NamedTuple):
    """T functions on one choice of kernels: a (T, n), θ (T, M), b, and the largest gap of their fits.

    b is (T,), or with covariates zᵀw + b at the held-out examples, (T, n_test).
    """

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

    def __init__(self, model, X, y, weight, train, test, score, every=None, covariates=None):
        model = with_kernels_of(model, X)
        cut = (lambda rows: X[np.ix_(rows, train)]) if is_precomputed(model) else lambda rows: take_examples(X, rows)
        self.X, self.scorer = cut(test), score
        self.y, own_y = (None, None) if y is None else (y[test], y[train])
        self.weight, own_weight = (None, None) if weight is None else (weight[test], weight[train])
        if weight is not None and not np.any(self.weight):
            raise ValueError("sample_weight is 0 for every held-out example of a fold: take fewer folds, or leave out "
                             "the examples without weight.")  # fmt: skip
        self.model = clone(model).set_params(checkpoint=None, verbose=False, warm_start=False)
        self.adjustment = Adjustment(None if covariates is None else covariates.Z[test])
        self.n_train, self.n_test = len(train), n_examples(self.X)
        self.given = cut(train), own_y, own_weight, None if covariates is None else covariates.take(train)
        examples = read_examples(self.model, *self.given)
        if isinstance(self.X, list | tuple) and getattr(examples.X, "ndim", 1) == 2:  # a table as a list of rows
            self.X = np.asarray(as_mixed(self.X))
        self.plan = plan_fit(self.model, examples)
        if is_classifier(model) and model.calibrate is not None:
            self.model.calibration_ = learn_sigmoids(self.model, examples)
        bank = self.plan.bank
        with blas_for(self.n_train, model.n_jobs):
            self.bank = bank.restrict(np.arange(bank.n)) or bank  # matrices in memory, if worth it
        self.M = self.plan.predictor().sizes()[1]  # a kernel beyond is slack, in every fit
        self.names, self.usable = list(bank.names)[: self.M], bank.usable[: self.M]
        self.every = every  # the fit of all kernels, which `solve` starts from
        self.every = every or self.solve(np.ones(self.M, bool))

    @cached_property
    def kernel_list(self):
        """The kernels and their columns, before a metric is learned; None if they are precomputed."""
        kernels = self.plan.predictor().kernel_list
        return kernels if kernels is None or kernels.unscaled is None else kernels.unscaled

    def kernel_bytes(self):
        """The memory of the kernels: of numeric features if the bank has them, else of matrices."""
        held = self.bank.numeric()
        if held is None:
            return 8.0 * self.M * self.n_train**2
        return 16.0 * (held[0].nnz if issparse(held[0]) else held[0].size)  # with the examples themselves

    def solve(self, wanted, bank=None):
        """The `FoldFit` of these kernels of the fold, or of a `bank` in which some see other columns.

        It starts from the fit of all kernels; it is the constant b if no kernel varies, or none has a given weight.
        """
        own, every = self.bank if bank is None else bank, self.every
        usable = own.usable[: self.M] & wanted
        if bank is None and every is not None and not every.theta[:, usable != self.usable].any():
            return every  # without kernels of weight 0 the optimum is the same
        known = self.plan.regularizer.only(own.M)
        if not usable.any() or known is not None and not known[: self.M][usable].any():
            return self._nothing()
        bank = copy.copy(own)
        bank.usable = np.append(usable, own.usable[self.M :])
        warm = [None] * len(self.plan.labels) if every is None else [_without(s, bank.usable) for s in every.solutions]
        return self._machine([self._solve(k, bank, start) for k, start in enumerate(warm)])

    def refits(self, rows, alone=False):
        """[(FoldFit, decisions (n_test, T), the row's `flat` if alone)] without each row of a table, or with it alone.

        Rows of kernels share the kernels of the fold. Of a row of columns, only the kernels that see these columns and
        others are computed anew.
        """
        found = [self._refit(row, alone) for row in rows]
        if not found:
            return []
        shared = self.decisions([machine._replace(theta=machine.theta * ~cut) for machine, cut, _, _ in found])
        return [(one[0], f + one[2], one[3]) for one, f in zip(found, shared, strict=True)]

    def _refit(self, row, alone):
        """(FoldFit, the mask (M,) of kernels computed anew, their part in the decisions, the row's `flat`)."""
        wanted, none = row.wanted if alone else ~row.wanted, np.zeros(self.M, bool)
        if row.columns is None:
            return self.solve(wanted), none, 0.0, self.flat(wanted) if alone else None
        wanted, cut = self.split(row.columns, alone)
        if not (alone or self.every.theta[:, cut | ~wanted].any()):
            return self.every, none, 0.0, None
        bank, plan, which = self._seeing(row.columns, alone, wanted, cut)
        machine = self.solve(wanted, bank)
        flat = self.flat(wanted, bank) if alone else None
        if plan is None or not machine.solutions:
            return machine, none, 0.0, flat
        f = self.decide(plan, machine.a, machine.theta[:, which], self._only(self.X, self._one[1], row.columns, alone))
        return machine, np.isin(np.arange(self.M), which), f, flat

    def split(self, columns, alone=False):
        """Masks (M,) of the kernels that stay if these columns are left out or `alone`, and of those that see less."""
        seen = columns_seen(self.kernel_list, self.X.shape[1])
        own = [(s & set(columns), s - set(columns)) if alone else (s - set(columns), s & set(columns)) for s in seen]
        stays = np.array([bool(kept) or not (alone or lost) for kept, lost in own])
        return stays, np.array([bool(kept and lost) for kept, lost in own])

    def _seeing(self, columns, alone, wanted, cut):
        """(bank, plan, which): of the bank's M kernels, `which` have a plan of their own, where they see less.

        These are the kernels `cut` if the others are matrices in memory, else all. C is that of the fold.
        """
        X, *targets = self.given
        held = isinstance(self.bank, DenseBank)
        which = np.flatnonzero(cut) if held else np.arange(self.M)
        bank, model = copy.copy(self.bank), copy.copy(self.model)
        less = self._only(X, self._one[0], columns, alone)
        kept = set(columns) if alone else set(range(X.shape[1])).difference(columns)
        specs = seeing_only(specs_of(model.kernels), self.kernel_list, less, kept, self._spread)
        model.kernels, model.C, model.slack = [specs[m] for m in which], self.plan.examples.C, model.slack and not held
        try:
            with warnings.catch_warnings(action="ignore", category=SomeDoNotVary):  # known here
                plan = plan_fit(model, read_examples(model, less, *targets)) if len(which) else None
        except NothingVaries:  # what is left has one value on these training examples
            plan = None
        if plan is not None and not held:
            return plan.bank, plan, which
        if plan is not None:
            old, keep = bank.matrices(), np.append(wanted & ~cut, np.ones(bank.M - self.M, bool))
            S = np.zeros(old.shape, old.dtype)  # a matrix that is not written takes no time
            for m in np.flatnonzero(keep):
                S[m] = old[m]
            S[which] = plan.bank.matrices(dtype=S.dtype)
            bank = DenseBank.holding(bank, S)
        bank.usable = bank.usable.copy()
        bank.usable[which] = False if plan is None else plan.bank.usable
        return bank, plan, which

    def _only(self, X, one, columns, alone):
        """The table X with these columns `alone`, or without them: the others are as in `one`."""
        return mixed(one, X, columns) if alone else mixed(X, one, columns)

    @cached_property
    def _one(self):
        """The training and the held-out table with one value in each column."""
        one = with_one_value(self.given[0])
        return one, take_examples(one, np.zeros(self.n_test, int))

    @cached_property
    def _spread(self):
        return spreads(specs_of(self.model.kernels), self.kernel_list, self.given[0], range(self.M))

    def _solve(self, k, bank, warm):
        with self._blas():
            found = self.plan.solve_part(k, bank, warm)
        if found.interrupted:
            raise KeyboardInterrupt
        return found

    def _blas(self):
        """The threads of BLAS for work on the training examples."""
        return blas_for(self.n_train, self.model.n_jobs)

    def _machine(self, solutions):
        a = np.concatenate([s.a for s in solutions])
        theta = np.concatenate([np.tile(s.theta[: self.M], (len(s.a), 1)) for s in solutions])
        b = self.adjustment.level(*self.plan.coefficients(solutions))
        measures = [s.gap if s.stationarity is None else s.stationarity for s in solutions]
        return FoldFit(a, theta, b, max(measures), all(s.converged for s in solutions), solutions)

    def base(self):
        """zᵀw + b of the fit of all kernels at the mean covariates of the training examples, (T,); b without them."""
        if self.adjustment.Z is None:
            return self.every.b
        found, examples = self.every.solutions, self.plan.examples
        b, w = self.plan.coefficients(found) if found else without_kernels(examples)
        return b + w @ examples.covariates.Z.mean(axis=0)

    def _nothing(self):
        """The best constant, or the covariates alone; ties between outputs are broken in favour of the largest class.

        The hinge loss gives −1 to every class with less than half of the examples.
        """
        examples = self.plan.examples
        Y, (b, w) = examples.Y, without_kernels(examples)
        if len(Y) > 1:
            b = b + TIE_BREAK * (Y @ examples.c) / examples.c.sum()
        return FoldFit(np.zeros_like(Y), np.zeros((len(Y), self.M)), self.adjustment.level(b, w), 0.0, True, [])

    def decisions(self, machines):
        """Σ_m f_m + b of each machine at the held-out examples, (n_test, T); machines share the kernel values."""
        T = len(machines[0].b)
        a, theta, b = (np.concatenate([m[part] for m in machines]) for part in range(3))
        with self._blas():
            f = self.plan.decide(a, theta, b, self._X_read)
        return f.reshape(len(machines), T, -1).swapaxes(1, 2)

    @cached_property
    def ends(self):
        """The decisions of all kernels and of none, (2, n_test, T)."""
        return self.decisions([self.every, self.solve(np.zeros(self.M, bool))])

    def permuted(self, rows, draws):
        """The scores of all kernels with the data of one row of a table permuted, (rows, draws).

        f is a sum over kernels: the parts of a row's kernels are permuted by `draws` (d, n_test). Kernels that see the
        row's columns and others are computed anew, at the permuted columns.
        """
        every, parts = self.every, self.parts(self.every)
        decision, moves, found = self.ends[0], [self.moves(row) for row in rows], []
        same = self.score(decision)
        again, order = np.tile(np.arange(self.n_test), len(draws)), np.concatenate(draws)
        made = self.recomputed(rows, [anew & every.theta.any(axis=0) for _, anew in moves], again, order)
        for k, (own, anew) in enumerate(moves):
            if not every.theta[:, own | anew].any():
                found.append([same] * len(draws))
                continue
            before, seen = (self.adjustment.rest(parts[:, :, mask].sum(axis=2).T) for mask in (own, anew))
            after = self.adjustment.rest(made[k]) if k in made else np.zeros((len(draws), 1, 1))
            rest = decision - before - seen
            found.append([self.score(rest + before[o] + f) for o, f in zip(draws, after, strict=True)])
        return np.array(found)

    def moves(self, row):
        """Masks (M,) of the kernels whose parts are permuted with a row, and of those that are computed anew."""
        if row.columns is None:
            return row.wanted, row.wanted & False
        stays, cut = self.split(row.columns)
        return ~stays, cut

    def recomputed(self, rows, cuts, again, order):
        """{k: (draws, n_test, T)}: the part of the kernels cuts[k] with the columns of rows[k] in each order.

        `again` has the held-out examples once for each draw, `order` as the draws permute them.
        """
        every, found = self.every, {}
        alike: dict[bytes, list[int]] = {}
        for k, cut in enumerate(cuts):
            if cut.any():
                alike.setdefault(cut.tobytes(), []).append(k)
        for same in alike.values():
            many = max(1, MAX_MOVED_ENTRIES // (len(order) * self.X.shape[1]))
            for some in (same[first : first + many] for first in range(0, len(same), many)):
                X = take_examples(self.X, np.tile(again, len(some)))
                for at, k in enumerate(some):
                    block = np.arange(len(X)) // len(order) == at
                    here = np.where(block, np.tile(order, len(some)), np.tile(again, len(some)))
                    X = mixed(X, take_examples(self.X, here), rows[k].columns)
                f = self.decide(self.plan, every.a, every.theta * cuts[some[0]], X)
                found |= dict(zip(some, f.reshape(len(some), -1, self.n_test, f.shape[1]), strict=True))
        return found

    def decide(self, plan, a, theta, X):
        """Σ_m f_m at the examples X, (n, T), for the kernels of a plan."""
        with self._blas():
            return plan.decide(a, theta, np.zeros(len(a)), plan.read(self.model, X)).T

    def parts(self, machine):
        """The part of each kernel in the decisions of a machine at the held-out examples, (T, n_test, M)."""
        with self._blas():
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
        return with_decisions(model, partial(_same_length, decision))

    def score(self, decision):
        """The score of these decisions (n_test, T)."""
        decision = np.asarray(decision)
        if is_classifier(self.model):
            examples, exclusive = self.plan.examples, decision.shape[1] > 1 and np.ndim(self.y) == 1
            decision = untied(decision, (examples.Y @ examples.c) / examples.c.sum() if exclusive else 0.0)
        extra = {} if self.weight is None else {"sample_weight": self.weight}
        value = float(self.scorer(self.deciding(decision), self.X, self.y, **extra))
        if not np.isfinite(value):
            said = f"scoring gave {value} on a fold of {self.n_test} examples"
            raise ValueError(f"{said}: take fewer folds, or another scoring.")
        return value

    def shares(self, sources):
        """The share of the weights of each source, (sources,), averaged over the classes."""
        theta = self.every.theta.mean(axis=0)
        total = theta.sum() or 1.0
        return np.array([theta[wanted].sum() / total for wanted in sources])

    def alignments(self, flats):
        """Centred alignments (of each of the kernels `flats` with the targets, between them)."""
        K, examples = np.reshape(flats, (len(flats), len(self._some) ** 2)), self.plan.examples
        Y = np.array([examples.loss.alignment_target(y) for y in examples.Y])[:, self._some]
        Y = Y - Y.mean(axis=1, keepdims=True)
        target = _direction(Y.T @ Y)
        return K @ target, K @ K.T

    @cached_property
    def _some(self):
        """Evenly spread training examples, which alignments compare."""
        n = self.bank.n
        return evenly(n, int(min(MAX_ALIGNMENT_EXAMPLES, max(np.sqrt(MAX_ALIGNMENT_ENTRIES / (2 * self.M)), 50))))

    def flat(self, wanted, bank=None):
        """The sum of the kernels in the mask (M,) on some examples, centred, without the diagonal, of norm 1, flat.

        All kernels have their diagonals in common.
        """
        bank, rows = self.bank if bank is None else bank, self._some
        theta = np.zeros(bank.M)
        theta[: self.M] = bank.usable[: self.M] & wanted
        if not theta.any():
            return np.zeros(len(rows) ** 2)
        with self._blas():
            K = bank.combined(theta, rows, rows, dtype=np.float64)
        return _direction(centred_matrix(K))


def _direction(K):
    """The entries beside the diagonal of K, which becomes 0, as a vector of length 1, or 0."""
    np.fill_diagonal(K, 0.0)
    size = np.linalg.norm(K)
    return K.ravel() / size if size > 0 else K.ravel()


def _without(solution, usable):
    """A warm start for the usable kernels alone: their weights, scaled to the sum of all weights."""
    theta = np.where(usable, solution.theta, 0.0)
    total = theta.sum()
    return replace(solution, theta=theta / total * solution.theta.sum() if total > 0 else theta)


def _same_length(decision, X: Any, task=None, covariates=None):
    if n_examples(X) != len(decision):
        raise ValueError(
            f"scoring predicts {n_examples(X)} examples, but {len(decision)} are held out: give a scorer that predicts "
            "its own X."
        )
    return decision
