"""The plan of a fit: the examples, their kernels, and the problems to solve.

    check   model._read(X, y, ...)        →  Examples
    plan    FitPlan.of(model, examples)   →  FitPlan, nothing is solved yet
    solve   plan.solve(...)               →  Solved
    keep    model._keep(plan, solved)     →  the fitted attributes

Fits, searches, paths, relevance and reports use it; `streamed.StreamPlan` is the plan for a source.
"""

from __future__ import annotations

import copy
import sys
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .. import regularizers, solvers
from ..problem import Problem
from ..solution import Solution
from ..solvers import seed_of
from ._diagonal_warning import warn_diagonal
from ._new_data_warning import warn_lengths
from ._slack import with_slack
from ._unit_warning import warn_units
from .check_inputs import is_precomputed, take_examples
from .checkpoint import parts_of
from .progress import show_progress
from .tasks import with_task
from .tensors import to_host

if TYPE_CHECKING:
    from ..losses.base import Loss


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

    @property
    def n(self) -> int:
        return self.Y.shape[1]

    def take(self, rows: np.ndarray) -> Examples:
        """Some of the examples."""
        task = None if self.task is None else self.task[rows]
        parts = dict(Y=self.Y[:, rows], weight=self.weight[rows], c=self.c[rows], task=task)
        return replace(self, X=take_examples(self.X, rows), **parts)

    def uneven_weight(self) -> np.ndarray | None:
        """The sample weights, None if all are equal."""
        return None if (self.weight == self.weight[0]).all() else self.weight

    def labels(self, classes: Sequence[Any] | np.ndarray | None) -> list[str]:
        """The names of the problems in messages: "" for a single one, else the class."""
        return [""] if self.joint or classes is None else [f", class {label!s}" for label in classes]


class Solved(NamedTuple):
    """The solutions of a plan, one for each problem, on the bank of the examples `rows`."""

    bank: Any
    rows: np.ndarray
    solutions: list[Solution]


@dataclass(frozen=True)
class FitPlan:
    """The problems of one fit on kernels that are in memory or computed on the fly.

    Attributes
    ----------
    examples : Examples
        The examples with weight: weight 0 means removal, for widths and scales too.
    rows : array
        Their indices among all examples.
    bank : Bank
        Their kernels.
    regularizer : Regularizer
    seed : int
    checkpoints : list
        The `CheckpointSlot` of each problem, or None.
    labels : list of str
        The name of each problem in messages.
    options : dict
        `solver`, `tol` and `max_iter`.
    verbose : bool
    """

    examples: Examples
    rows: np.ndarray
    bank: Any
    regularizer: Any
    seed: int
    checkpoints: list[Any]
    labels: list[str]
    options: dict[str, Any]
    verbose: bool = False

    @classmethod
    def of(cls, model: Any, examples: Examples, make_bank: Callable | None = None) -> FitPlan:
        """The plan of `model` for these examples; `make_bank(X, weight, rows, plain)` may return an existing bank."""
        regularizer, seed = regularizers.get(model.regularizer), seed_of(model.random_state)
        precomputed, rows = is_precomputed(model), np.arange(examples.n)
        if examples.task is not None and precomputed:
            raise ValueError('task has no effect with kernels="precomputed": build the kernels by multi_task_stack.')
        if not precomputed and not examples.weight.all():
            rows = np.flatnonzero(examples.weight)
            examples = examples.take(rows)
        labels = examples.labels(vars(model).get("classes_"))
        known_by = examples.X, examples.Y, examples.weight, examples.task
        checkpoints = parts_of(model, len(labels), seed, *known_by)
        X, weight = with_task(examples.X, examples.task), examples.uneven_weight()

        def plain(exact: bool = regularizer.exact) -> Any:
            return model._make_bank(X, weight, exact, examples.card)

        bank = plain() if make_bank is None else make_bank(X, weight, rows, plain)
        if model.slack:
            bank = with_slack(bank, regularizer)
        options = dict(solver=model.solver, tol=model.tol, max_iter=model.max_iter)
        return cls(examples, rows, bank, regularizer, seed, checkpoints, labels, options, model.verbose)

    @property
    def parts(self) -> list[np.ndarray]:
        """The targets of each problem, (T, n) if the outputs share θ, else (1, n)."""
        return [self.examples.Y] if self.examples.joint else [y[None] for y in self.examples.Y]

    def problem(self, k: int, bank: Any = None) -> Problem:
        """Problem number k, on the kernels of `bank` if given."""
        examples, y, bank = self.examples, self.parts[k], self.bank if bank is None else bank
        costs = np.tile(examples.c, (len(y), 1))
        regularizer, costs = self.regularizer.bind(bank, y, costs, examples.loss, examples.intercept, examples.C)
        return Problem(bank, y, examples.loss, regularizer, costs, intercept=examples.intercept)

    def solve_part(self, k: int, bank: Any = None, warm: Solution | None = None, callback: Any = None) -> Solution:
        """The solution of problem number k, on the kernels of `bank`, started from `warm`."""
        own = dict(random_state=self.seed, checkpoint=self.checkpoints[k], fits=len(self.labels))
        return solvers.solve(self.problem(k, bank), warm=warm, callback=callback, **own, **self.options)

    def solve(self, warm: Sequence[Solution] = ()) -> Solved:
        """Solves the problems one after another, from the solutions `warm`, until one is interrupted."""
        # one-vs-rest fits read the kernels many times
        held = self.bank if self.examples.joint else self.bank.held(self.regularizer.exact)
        kernels = self.bank.predictor(np.arange(1)).kernel_list if self.verbose else None
        if kernels is not None and kernels.chosen:
            print(kernels.chosen, file=sys.stderr)
        solutions: list[Solution] = []
        for k, label in enumerate(self.labels):
            title = f"{self.bank.M} kernels{label}"
            with show_progress(title, self.options["tol"]) if self.verbose else nullcontext() as callback:
                solutions.append(self.solve_part(k, held, warm[k] if k < len(warm) else None, callback))
            if solutions[-1].interrupted:
                break
        return Solved(self.bank, self.rows, solutions)

    def model_deciding(self, model: Any, known: Callable, solutions: Sequence[Solution] = ()) -> Any:
        """A copy of the model whose decisions are known(X, task); with `solutions` it has their fitted attributes."""
        twin = copy.copy(model)
        if solutions:
            twin._store(self.bank, self.rows, solutions, self.examples.joint, self.support_weight())
        twin._known = known
        return twin

    def as_model_reads(self, model: Any, X: Any, names: list[str]) -> Any:
        """New examples X as the model reads them; an unfitted model gets the kernels of the bank first."""
        if "predictor_" not in vars(model):
            model.predictor_, model.kernel_names_ = self.bank.predictor(np.arange(1)), names
        return model._new_X(X)

    def support_weight(self) -> np.ndarray | None:
        """The costs (n,) that define the support of an empirical Bayes model; None for other models."""
        return self.problem(0).c[0] if self.regularizer.bayesian else None

    def parts_of_decisions(self, X: Any, support: np.ndarray, a: np.ndarray, theta: np.ndarray) -> np.ndarray:
        """θ_m Σ_i a_i k_m(x_i, x) of T functions with this support at new examples X, (T, n_X, M)."""
        return self.bank.predictor(support).parts(X, a[:, support], theta)

    def advise(self, model: Any) -> None:
        """Warns of parameters and kernels of the fitted model that are probably unintended."""
        examples = self.examples
        warn_lengths(model)
        warn_units(examples.loss, examples.Y, examples.c, examples.C)
        warn_diagonal(model, self.bank)


def bank_of(model: Any, X: Any) -> Any:
    """The bank of the model's kernels on X as the user gives it, with equal sample weights."""
    model._check_params()
    host, card = to_host(X)
    return model._make_bank(model._check_X(host, reset=True), None, card=card)


def decisions_of(model: Any, X: Any) -> np.ndarray:
    """Σ_m f_m(x) + b of a fitted model, (n, T), also if T = 1."""
    return model._decide(X)


def read_examples(model: Any, X: Any, y: Any, weight: np.ndarray | None) -> Examples:
    """X, y and the weights as `fit` of the model checks and reads them."""
    return model._read(X, y, weight)
