"""The plan of a fit: the examples, their kernels, and the problems to solve.

    check   model._read(X, y, ...)        →  Examples
    plan    FitPlan.of(model, examples)   →  FitPlan; C="auto" and a metric are learned here
    solve   plan.solve(...)               →  Solved
    keep    model._keep(plan, solved)     →  the fitted attributes

Fits, searches, paths, relevance and reports use it; `streamed.StreamPlan` is the plan of a source.
"""

from __future__ import annotations

import copy
import sys
import warnings
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone

from .. import regularizers, solvers
from ..kernels.annotated import read_annotated
from ..kernels.view_data import n_examples
from ..losses.base import Loss
from ..problem import Problem, covariate_basis, in_units
from ..regularizers import Fixed, LpNorm
from ..solution import Solution
from ..solvers import seed_of
from .advice import warn_diagonal, warn_of_data, warn_units
from .check_inputs import is_precomputed, take_examples, to_host
from .check_targets import check_costs, with_slack, with_task
from .checkpoint import identify, parts_of
from .choose_c import is_auto, with_chosen_C
from .covariates import Covariates, refuse_covariates, warn_without_events
from .metric import kernels_known, learns_metric, with_learned_metric
from .progress import forecast, show_progress

MAX_PARTS = 2**24  # parts of kernels in decisions, in memory at a time


@dataclass(frozen=True)
class Examples:
    """The checked data of a fit: n examples X and the targets of T outputs.

    Attributes
    ----------
    X : the examples
    Y : array (T, n)
        Targets, ±1 for classes.
    weight : array (n,)
        Sample weights.
    c : array (n,)
        Costs, the factors of the loss.
    loss : Loss
    C : float
        The cost of an example of weight 1.
    intercept : bool
    joint : bool
        Whether the outputs share one θ; else each output has its own problem.
    task : array (n,) or None
    card : str or None
        The device that X lay on before it was copied to the host.
    classes : array or None
        The names of the outputs of a classifier.
    covariates : Covariates or None
        Columns that are adjusted for and not penalised.
    """

    X: Any
    Y: np.ndarray
    weight: np.ndarray
    c: np.ndarray
    loss: Loss
    C: float = 1.0
    intercept: bool = True
    joint: bool = True
    task: np.ndarray | None = None
    card: str | None = None
    classes: Any = None
    covariates: Covariates | None = None

    @property
    def n(self) -> int:
        return len(self.weight)

    def take(self, rows: np.ndarray, X: Any = None) -> Examples:
        """Some of the examples; their X may be given."""
        task = None if self.task is None else self.task[rows]
        parts = dict(Y=self.Y[:, rows], weight=self.weight[rows], c=self.c[rows], task=task)
        parts["covariates"] = None if self.covariates is None else self.covariates.take(rows)
        return replace(self, X=take_examples(self.X, rows) if X is None else X, **parts)

    def at(self, C: float) -> Examples:
        """The same examples with the costs that C means."""
        return replace(self, c=self.c * (C / self.C), C=C)

    def uneven_weight(self) -> np.ndarray | None:
        """The sample weights, None if all are equal."""
        return None if (self.weight == self.weight[0]).all() else self.weight

    def labels(self) -> list[str]:
        """The names of the problems in messages: "" for a single one, else the class."""
        return [""] if self.joint else [f", class {label!s}" for label in self.classes]


class Solved(NamedTuple):
    """The solutions of a plan, one for each problem, on the bank of the examples `rows`."""

    bank: Any
    rows: np.ndarray
    solutions: list[Solution]


@dataclass(frozen=True)
class FitPlan:
    """The problems of one fit, their kernels, and how they are solved.

    Attributes
    ----------
    examples : Examples
        The examples with weight: weight 0 means removal, for widths and scales too.
    regularizer : Regularizer
    solver, tol, max_iter, verbose : as in the estimators
    seed : int
    labels : list of str
        The name of each problem in messages.
    checkpoints : list
        The `CheckpointSlot` of each problem, or None.
    rows : array or None
        The indices of the examples of the plan among all examples; None for a stream.
    bank : Bank
        Their kernels, in memory or computed on the fly; for a stream `ActiveKernels`, which makes banks.
    start : list of Solution
        Where the problems begin if the plan has chosen C on all examples, else empty.
    C_scores, shift : dict or None; array (T,) or 0.0
        If the plan has chosen C: the candidates and their scores, and what intercepts gain (`choose_c.shift_of`).
    metric : dict or None
        The metric of the columns of each source, if the plan has learned one, see `metric.Rounds.table`.
    thin : bool
        Whether fits at p = 1 take the last step; those that are only scored do not.
    tries : int
        The number of values of C at which a choice of C solves the plan: these fits share the work that one may take.
    """

    examples: Examples
    regularizer: Any
    solver: Any
    tol: float
    max_iter: int
    verbose: bool
    seed: int
    labels: list[str]
    checkpoints: list[Any]
    rows: Any
    bank: Any
    start: Sequence[Solution] = field(default=(), kw_only=True)
    C_scores: dict[str, np.ndarray] | None = field(default=None, kw_only=True)
    shift: Any = field(default=0.0, kw_only=True)
    metric: dict[str, dict[str, Any]] | None = field(default=None, kw_only=True)
    thin: bool = field(default=True, kw_only=True)
    tries: int = field(default=1, kw_only=True)

    @classmethod
    def of(cls, model: Any, examples: Examples, make_bank: Callable | None = None) -> FitPlan:
        """The plan of `model` for these examples; `make_bank(X, weight, rows, plain)` may return an existing bank."""
        if not isinstance(model.kernels, str) and learns_metric(model):
            return with_learned_metric(model, examples, cls.of)
        regularizer = regularizers.get(model.regularizer)
        if examples.covariates is not None:
            refuse_covariates(regularizer)
        precomputed, rows = is_precomputed(model), np.arange(examples.n)
        if examples.task is not None and precomputed:
            raise ValueError('task has no effect with kernels="precomputed": build the kernels by multi_task_stack.')
        if not precomputed and not examples.weight.all():
            rows = np.flatnonzero(examples.weight)
            examples = examples.take(rows)
        settings = cls.settings(model, examples, examples.X)
        X, weight = with_task(examples.X, examples.task), examples.uneven_weight()

        def plain(exact: bool = regularizer.exact) -> Any:
            smooth = examples.loss.smooth and not is_auto(model.C)
            slot = settings["checkpoints"][0]
            more = dict(before=partial(forecast, model, examples), keep=slot and slot.file.matrix)
            return model._make_bank(X, weight, exact, examples.card, smooth, **more)

        bank = plain() if make_bank is None else make_bank(X, weight, rows, plain)
        plan = cls(**settings, rows=rows, bank=with_slack(bank, regularizer) if model.slack else bank)
        return with_chosen_C(model, plan) if is_auto(model.C) else plan

    @staticmethod
    def settings(model: Any, examples: Examples, X: Any) -> dict[str, Any]:
        """The fields before `rows`; X is what a checkpoint knows the examples by."""
        check_costs(examples.c)
        seed, labels = seed_of(model.random_state), examples.labels()
        slots: list[Any] = [None] * len(labels)
        if model.checkpoint is not None:
            data = X, examples.Y, examples.weight, examples.task, examples.covariates
            slots = parts_of(model, len(labels), seed, *data)
        return dict(
            examples=examples, regularizer=regularizers.get(model.regularizer), solver=model.solver, tol=model.tol,
            max_iter=model.max_iter, verbose=model.verbose, seed=seed, labels=labels, checkpoints=slots,
        )  # fmt: skip

    def solve(self, warm: Sequence[Solution] = ()) -> Solved:
        """Solves the problems one after another, from `start` or `warm`, until one is interrupted."""
        if self.chosen() and self.checkpoints[0] is not None:
            self.checkpoints[0].file.choose(identify({"C": self.examples.C}, metric=self.metric))
        (title, bank), found, warm = self._begin(), [], self.start or warm
        for k, label in enumerate(self.labels):
            with show_progress(title + label, self.tol, self.verbose) if self.verbose else nullcontext() as callback:
                found.append(self.solve_part(k, bank, warm[k] if k < len(warm) else None, callback))
            if found[-1].interrupted:
                break
        return self._together(found)

    def part(self, model: Any, rows: np.ndarray) -> FitPlan:
        """The plan of some of the examples at C = 1, without checkpoints."""
        if len(rows) == self.examples.n:
            return self
        X, twin = self.examples.X, copy.copy(model)
        some = self.examples.take(rows, X[np.ix_(rows, rows)] if is_precomputed(model) else take_examples(X, rows))
        twin.C, twin.verbose, twin.checkpoint = some.C, False, None
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the plan of all examples has warned already
            return replace(FitPlan.of(twin, some), verbose=self.verbose)

    def problem(self, k: int, bank: Any = None) -> Problem:
        """Problem number k, of all outputs if they share θ, else of output k; on the kernels of `bank` if given."""
        examples, bank = self.examples, self.bank if bank is None else bank
        y = examples.Y if examples.joint else examples.Y[k : k + 1]
        costs = np.tile(examples.c, (len(y), 1))
        regularizer, costs = self.regularizer.bind(bank, y, costs, examples.loss, examples.intercept, examples.C)
        Z = None if examples.covariates is None else examples.covariates.Z
        return Problem(bank, y, examples.loss, regularizer, costs, examples.intercept, Z)

    def solve_part(self, k: int, bank: Any = None, warm: Solution | None = None, callback: Any = None) -> Any:
        """The solution of problem number k, on the kernels of `bank`, started from `warm`."""
        problem = self.problem(k, bank)
        theta = self._known_weights(problem, k)
        summed = None if theta is None else self._summed(problem, theta)
        if summed is None:
            return self.solve_problem(k, problem, warm, callback)
        warm = None if warm is None else replace(warm, theta=np.ones(1))
        return replace(replace(self, thin=False).solve_problem(k, summed, warm, callback), theta=theta)

    def solve_problem(self, k: int, problem: Problem, warm: Solution | None = None, callback: Any = None) -> Solution:
        """The solution of `problem`, which is number k, as it is."""
        fits, slot = self.tries * len(self.labels), self.checkpoints[k]
        own = dict(random_state=self.seed, checkpoint=slot, fits=fits, thin=self.thin)
        return solvers.solve(problem, self.solver, self.tol, self.max_iter, warm, callback, **own)

    def _summed(self, problem, theta):
        """The problem whose single kernel is Σ_m θ_m K_m, with weight 1; None if the bank cannot sum its kernels."""
        bank = problem.bank.as_one(theta) if len(problem.Y) == 1 else problem.bank.summed(theta)
        if bank is None:
            return None
        regularizer = LpNorm(1) if bank.explicit else Fixed(np.ones(1))  # the same for one kernel
        Z = None if self.examples.covariates is None else self.examples.covariates.Z
        return Problem(bank, problem.Y, problem.loss, regularizer, problem.c, problem.intercept, Z)

    def _known_weights(self, problem, k):
        """The weights (M,) if "auto" need not learn them, see `_summed`; else None."""
        if self.solver != "auto" or self.checkpoints[k] is not None:
            return None
        known, theta = problem.regularizer.only(len(problem.kernels)), np.zeros(self.bank.M)
        theta[problem.kernels] = 0.0 if known is None else known
        return None if known is None else theta

    def _begin(self) -> tuple[str, Any]:
        """(the title of the progress, the bank of all problems)."""
        # one-vs-rest fits read the kernels many times
        held = self.bank if self.examples.joint else self.bank.held(self.regularizer.exact)
        kernels = self.predictor().kernel_list if self.verbose else None
        if kernels is not None and kernels.chosen:
            print(kernels.chosen, file=sys.stderr)
        return f"{self.bank.M} kernels", held

    def _together(self, found: list[Any]) -> Solved:
        return Solved(self.bank, self.rows, found)

    def predictor(self) -> Any:
        """A predictor with one example, which knows the kernels and how they read new data."""
        return self.bank.predictor(np.arange(1))

    def read(self, model: Any, X: Any) -> Any:
        """New examples X as the kernels of this plan of `model` take them, before there is a fit."""
        twin = copy.copy(model)  # the checks of new data ask a model for its predictor and the names of its kernels
        twin.predictor_ = self.predictor()
        twin.kernel_names_ = list(self.bank.names)[: twin.predictor_.sizes()[1]]
        return twin._new_X(X)

    def decide(self, a: np.ndarray, theta: np.ndarray, b: np.ndarray, X: Any) -> np.ndarray:
        """Σ_m θ_m Σ_i a_i k_m(x_i, x) + b of T functions at examples X, as `read` gives them, (T, n_X).

        Each function has its a (n,) and θ (M,); they share the kernel values. b is (T,), or (T, n_X) with covariates.
        """
        support, n = np.flatnonzero(a.any(axis=0)), n_examples(X)
        f, step = np.zeros((len(a), n)), max(1, MAX_PARTS // (n * theta.shape[1]))
        for first in range(0, len(a) if len(support) else 0, step):
            some = slice(first, first + step)
            f[some] = self._predictor_once(support).parts(X, a[some][:, support], theta[some]).sum(axis=2)
        return f + b.reshape(len(b), -1)

    def decision_parts(self, a: np.ndarray, theta: np.ndarray, X: Any) -> np.ndarray:
        """θ_m Σ_i a_i k_m(x_i, x): the part of each kernel in `decide`, (T, n_X, M)."""
        support = np.flatnonzero(a.any(axis=0))
        if not len(support):
            return np.zeros((len(a), n_examples(X), theta.shape[1]))
        return self._predictor_once(support).parts(X, a[:, support], theta)

    def _predictor_once(self, support):
        """The predictor of these examples, for one call."""
        predictor = self.bank.predictor(support)
        predictor.once = True
        return predictor

    def fitted(self, model: Any, solutions: list[Solution]) -> Any:
        """A copy of the model with the fitted attributes of these solutions."""
        twin = copy.copy(model)
        twin._store(self, Solved(self.bank, self.rows, solutions))
        return twin

    def coefficients(self, solutions: Sequence[Solution]) -> tuple[np.ndarray, np.ndarray | None]:
        """(intercepts (T,), coefficients of the covariates (T, q) or None) of the solutions of all problems."""
        b, covariates = np.concatenate([np.atleast_1d(s.b) for s in solutions]).astype(float), self.examples.covariates
        if covariates is None:
            return b + self.shift, None
        intercept, centred = self.examples.intercept, self.examples.loss.coupled
        b, w = in_units(b, covariate_basis(covariates.Z, intercept, centred)[1], intercept or centred)
        return b + self.shift, w

    def chosen(self) -> dict[str, Any]:
        """The fitted attributes about what the plan has chosen."""
        found = {} if self.C_scores is None else {"C_": self.examples.C, "C_scores_": self.C_scores}
        found |= {"intercept_shift_": self.shift} if np.any(self.shift) else {}
        return found if self.metric is None else found | {"metric_": self.metric}

    def advise(self, model: Any) -> None:
        """Warns of parameters and kernels of the fitted model that are probably unintended."""
        warn_of_data(model)
        examples = self.examples
        warn_units(examples.loss, examples.Y, examples.c, examples.C)
        if examples.covariates is not None and examples.loss.coupled and not examples.loss.attained:
            warn_without_events(examples.covariates, ~np.signbit(examples.Y[0]))
        if self.rows is not None:
            warn_diagonal(model, self.bank)


def bank_of(model: Any, X: Any) -> Any:
    """The bank of the model's kernels on X as the user gives it, with equal sample weights.

    A metric is that which the model has learned; the model itself does not change.
    """
    twin = clone(model)
    twin._check_params()
    twin.kernels = kernels_known(model)
    host, card = to_host(read_annotated(X)[0])
    return twin._make_bank(twin._check_X(host, reset=True), None, card=card)


def read_examples(
    model: Any, X: Any, y: Any, weight: np.ndarray | None, covariates: Covariates | None = None
) -> Examples:
    """X, y, the weights and covariates as `fit` of the model checks and reads them."""
    own = {} if covariates is None else {"covariates": covariates}
    return model._read(X, y, weight, **own)
