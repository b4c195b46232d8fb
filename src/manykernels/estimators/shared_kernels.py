"""Fits on parts of one data set that share its kernels: the folds of a cross-validation, the points of a path.

A fold fits like a plain estimator, with two differences: the plan takes its bank from the fold, and decisions on the
test examples come from the matrices of this bank. Checks, class weights, kernel widths and normalisation use the
training examples alone.
"""

import copy
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import clone

from .. import regularizers
from .._limits import MemoryBudget
from .._validation import parse_bytes
from ..banks.base import Source
from ..banks.choice import choose_bank, choose_device
from ..banks.dense import DenseBank
from ..banks.pairwise import PairwiseBank
from ..banks.subset import SubsetBank
from ..inner.systems import blas_for
from ..kernels.view_data import is_views, n_examples
from ..solution import Solution
from .check_inputs import check_finite, is_precomputed, take_examples, to_host
from .check_targets import with_task
from .covariates import Covariates, level_of
from .metric import learns_metric
from .plan import FitPlan, Solved

MAX_FLOAT64_VALUES = 2**24  # kernel values up to which float64 costs nothing
BYTES_OF_A_SUM = 8 + 4  # of an entry, in float64 and in float32
MIN_SHARED_FLOAT32_TOL = 1e-3  # for smaller gaps float32 matrices, half as large, cost more steps than they save


class SharedKernels:
    """The kernel matrices of all examples, if they fit in memory, computed once for all folds with equal kernels.

    A fold whose kernel parameters differ from those of the last fold computes the matrices again. The folds fit `model`
    at any C and regularizer; `exact` says whether one of these regularizers needs kernel values in float64. With
    `alone` each fold computes its own kernels.
    """

    def __init__(
        self,
        model: Any,
        X: Any,
        task: np.ndarray | None = None,
        covariates: Covariates | None = None,
        exact: bool = False,
        alone: bool = False,
    ) -> None:
        self.model, self.X, self.task, self.covariates = model, X, task, covariates
        self.exact, self.n, self.precomputed = exact, n_examples(X), is_precomputed(model)
        # psd corrects the matrices of the training examples alone, which cannot be shared
        self.here = not alone and model.psd == "warn" and choose_device(model.device, self.n) is None
        self.known: Any = None
        self.origin: Any = None
        self.whole: Any = None
        self.limit = parse_bytes(model.memory_limit)
        self.refused = isinstance(model.kernels, Source)

    def of(self, X, weight):
        """(matrices of all examples or None, the bank that computed them) of the kernels resolved on X."""
        model = self.model
        if self.precomputed:
            if self.whole is None:
                self.whole = DenseBank(self.X, **model._limits(None, self.limit))
            return self.whole, None
        if self.refused:
            return None, None
        kernels = model._kernel_list(X, self.limit, weight)
        same = self.known is not None and model._normalization(kernels) == self.origin.normalize
        if not same or not _same(kernels, self.known):
            self._compute(kernels)
        elif self.known is not kernels:  # the same kernels, with facts of other training examples
            origin = copy.copy(self.origin)
            origin.kernel_list = kernels
            return self.whole, origin
        return self.whole, self.origin

    def has_room_for(self, copies: int, sums: int = 0) -> bool:
        """Whether so many sets of matrices, each with this many sums, fit in memory: each fold may have its own."""
        if self.whole is None:
            return False
        size = (self.whole.M * self.whole.dtype.itemsize + sums * BYTES_OF_A_SUM) * self.whole.n**2
        return copies * size <= MemoryBudget(self.limit).share("matrices of folds")

    def _compute(self, kernels):
        self.known = self.origin = self.whole = None  # frees the last matrices first
        model, limit, entries = self.model, self.limit, kernels.M * self.n**2
        self.refused = 4 * entries > MemoryBudget(limit).share("matrices of folds")
        if self.refused:
            return
        options = model._limits(kernels, limit) | dict(tol=model.tol, exact=self.exact) | model._features()
        options["small"] = self.n if entries <= MAX_FLOAT64_VALUES or model.tol < MIN_SHARED_FLOAT32_TOL else 0
        windows = any(kernel.family == "windows" for kernel in kernels.kernels)
        if windows and options["features"] == "auto" and not options["wanted"]:
            options["features"] = "never"  # many fits take more products than all pairs take time
        bank = choose_bank(kernels, with_task(self.X, self.task), **options)
        self.refused = True
        if isinstance(bank, PairwiseBank):
            self.refused = entries * bank.dtype.itemsize > MemoryBudget(bank.free).share("matrices kept")
        if not self.refused:
            whole = DenseBank.from_scaled(bank.matrices(), bank.names, bank.n_jobs, bank.usable)
            self.known, self.origin, self.whole = kernels, bank, whole


def shared_by_samples(model: Any, X: Any, rows: np.ndarray) -> SharedKernels | None:
    """The computed `SharedKernels` of X for fits of `model` to samples.

    None if the kernels of the sample `rows` are others than those of X, or if the matrices do not fit in memory.
    """
    if is_precomputed(model) or isinstance(model.kernels, Source) or learns_metric(model):
        return None
    twin, limit = clone(model), parse_bytes(model.memory_limit)
    X = twin._check_X(to_host(X)[0], reset=True)
    some = take_examples(X, rows)
    found = SharedKernels(twin, X, exact=regularizers.get(model.regularizer).exact)
    if not found.here or not _same(twin._kernel_list(X, limit, None), twin._kernel_list(some, limit, None)):
        return None
    return None if found.of(some, None)[0] is None else found


class SharedFold:
    """The training examples `train` and the test examples `test` of the data set, and the bank of the former."""

    def __init__(self, kernels: SharedKernels, train: np.ndarray, test: np.ndarray) -> None:
        self.kernels, self.train, self.test = kernels, np.sort(train), np.asarray(test)
        self.once = kernels.here and len(np.unique(train)) == len(train)
        self.task = None if kernels.task is None else kernels.task[self.test]
        self.covariates = None if kernels.covariates is None else kernels.covariates.take(self.test)
        self.bank: Any = None
        self.shared = False
        self.prepared: dict[int, Any] = {}  # of a search: {regularizer: (model, its ScoredFits)}
        if not kernels.precomputed:
            self.X_train, self.X_test = take_examples(kernels.X, self.train), take_examples(kernels.X, self.test)
            return
        X, n = kernels.X, len(self.train)
        same = n == kernels.n and np.array_equal(self.train, self.test)
        self.X_test = X if same else X[np.ix_(self.test, self.train)]
        if self.once:  # the bank reads the matrices in place
            self.X_train = np.broadcast_to(np.zeros((), X.dtype), (n, n, X.shape[2]))
        else:
            self.X_train = X[np.ix_(self.train, self.train)]

    def bank_for(self, model, X, weight, rows, plain):
        """The bank of the training examples X, `rows` of `train`; `plain(exact)` makes one that is not shared."""
        if self.bank is None:
            whole, origin = self.kernels.of(X, weight) if self.once else (None, None)
            self.shared = whole is not None
            if self.shared:
                kind = model._normalization(None) if origin is None else origin.normalize
                self.bank = SubsetBank(whole, self.train[rows], origin=origin, weights=weight, normalize=kind)
            else:
                self.bank = plain(self.kernels.exact)
        return self.bank

    def fit(
        self, model: Any, y: Any, weight: Any = None, warm: Sequence[Solution] = (), X: Any = None
    ) -> tuple[FitPlan, Solved]:
        """Fits `model` to the targets y and weights of the training examples; the plan and the solutions.

        X are the training examples, by default `X_train`.
        """
        plan = self.plan(model, y, weight, X)
        solved = plan.solve(warm)
        model._keep(plan, solved)
        return plan, solved

    def plan(self, model: Any, y: Any, weight: Any = None, X: Any = None) -> FitPlan:
        """The plan of `fit`."""
        task = None if self.kernels.task is None else self.kernels.task[self.train]
        known = self.kernels.covariates
        own = {} if known is None else {"covariates": known.take(self.train)}
        examples = model._read(self.X_train if X is None else X, y, weight, task, **own)
        return FitPlan.of(model, examples, partial(self.bank_for, model))

    def scored(self, model: Any, plan: FitPlan) -> Any:
        """The fitted model with decisions on the test examples from the matrices that the folds share."""

        def decide(X, task=None, covariates=None):
            covariates = self.covariates if X is self.X_test else covariates
            if X is not self.X_test or not self.shared:
                task = self.task if task is None and X is self.X_test else task
                return model._decide(X, task, covariates, tell=False)  # rare categories may be new in a fold
            support = np.searchsorted(plan.rows, model.support_)
            with blas_for(len(support), model.n_jobs):
                known = self.test, model.dual_coef_, support, model.kernel_weights_
                level = level_of(model, covariates, len(self.test))
                return check_finite(lambda: self.bank.decision(*known).T + level)

        return with_decisions(model, decide)

    def left_out(self, model: Any, plan: FitPlan, decisions: np.ndarray) -> Any:
        """The fitted model with decisions (T, n) on its examples by the fits without them; no other data have these.

        Examples of weight 0 are in no fit.
        """
        f = decisions.T
        if len(plan.rows) < self.kernels.n:
            f = np.array(self.scored(model, plan)._decide(self.X_test))
            f[plan.rows] = decisions.T

        def decide(X, task=None, covariates=None):
            if X is self.X_test:
                return f
            raise ValueError(
                'cv="loo" has decisions on the training examples alone, and scoring asks for others: give a scorer of '
                "predictions or decisions on all of X, or a number of folds as cv."
            )

        return with_decisions(model, decide)


def with_params(model: Any, **params: Any) -> Any:
    """A copy of `model` with these parameters, without checkpoint and warm start."""
    return type(model)(**model.get_params(deep=False) | dict(warm_start=False, checkpoint=None) | params)


def _same(a, b):
    """Whether two lists hold equal kernels on equal columns; parts that cannot be compared differ."""
    if any(plan.has_fitted_parts for plan in a.view_plans):  # transformers are fitted in every fold
        return False
    if a.names != b.names or not np.array_equal(a.view_of, b.view_of) or list(a.task_of) != list(b.task_of):
        return False
    if [plan.name for plan in a.view_plans] != [plan.name for plan in b.view_plans] or not _alike(a.tasks, b.tasks):
        return False
    return all(map(_alike, a.columns, b.columns)) and all(map(_alike, a.kernels, b.kernels))


def _alike(a, b):
    if a is b:
        return True
    if type(a) is not type(b):
        return False
    if isinstance(a, np.ndarray):
        return a.dtype != object and np.array_equal(a, b)
    if isinstance(a, int | float | str):
        return a == b
    if hasattr(a, "get_params") and hasattr(a, "__dict__"):  # a kernel, or an object of scikit-learn in it
        return vars(a).keys() == vars(b).keys() and all(_alike(vars(a)[k], vars(b)[k]) for k in vars(a))
    return False


def views_or(X):
    """X as splitters take it; views become a column of zeros."""
    return np.zeros((n_examples(X), 1)) if is_views(X) else X


def with_decisions(model: Any, decide: Callable[..., Any]) -> Any:
    """A copy of the model whose predictions and scores come from the decisions decide(X, task, covariates), (n, T)."""
    twin = copy.copy(model)
    twin._decide = decide
    return twin
