"""Decisions of single examples by models that did not see them: which ones to show, and their parts."""

import copy
from typing import Any, NamedTuple

import numpy as np

from .. import losses
from ..inspect.displays.decision_display import one_output, with_covariates
from ..inspect.fold import Fold
from ..inspect.sources import Row
from ._case import DEFAULT_EXAMPLES, Case
from ._survival import risk_ranks

MAX_EXAMPLES = 24  # on the page


class Decision(NamedTuple):
    """A decision: its parts (sources,), the intercept, the predicted label, a name, and the part of the covariates.

    The covariates count from their mean, which the intercept holds.
    """

    parts: np.ndarray
    intercept: float
    prediction: str | None
    label: str
    covariates: float | None = None


class Decisions:
    """Collects held-out decisions fold by fold: of the rows `wanted`, or if None of the most telling rows."""

    def __init__(self, case: Case, wanted: np.ndarray | None, size: int) -> None:
        self.case, self.wanted, self.size = case, wanted, min(size, MAX_EXAMPLES)
        self.names: list[str] = []
        self.rows: list[int] = []  # held-out rows, in the order of values and errors
        self.values: list[float] = []
        self.errors: list[float] = []
        self.known: dict[int, Decision] = {}

    @property
    def possible(self) -> bool:
        """Whether the model has one decision for an example."""
        case = self.case
        several = case.kind == "regression" or case.kind == "classification" and case.model.multilabel_
        return self.size > 0 and not (case.outputs > 1 and several) and not case.several_tasks

    def take(self, fold: Fold, decision: np.ndarray, test: np.ndarray, sources: list[Row]) -> None:
        """Keep the decisions (n_test, T) of a fold that the page may show; an example held out twice counts once."""
        if not self.possible:
            return
        seen = set(self.rows)
        new = np.array([k for k, row in enumerate(test) if int(row) not in seen], int)
        if not len(new):
            return
        value, error = ranked(self.case, fold.model, decision[new], test[new])
        if self.wanted is None:
            lists = [order[: 2 * self.size] for _, order in orders(self.case.kind, value, error)]
            shown = np.unique(np.concatenate(lists))
        else:
            shown = np.flatnonzero(np.isin(test[new], self.wanted))
        self.rows += test[new].tolist()
        self.values += value.tolist()
        self.errors += error.tolist()
        self.names = [row.name for row in sources]
        if not len(shown):
            return
        every = fold.parts(fold.every)[:, new[shown]].swapaxes(0, 1)  # (shown, T, M)
        twin, level, base = copy.copy(fold.model), fold.every.b, fold.base()
        twin.intercept_ = base
        members = [np.flatnonzero(source.wanted) for source in sources]
        own = every if every.shape[1] > 1 else every[:, 0]
        made = decisions_of(twin, own, members, base, None if level.ndim == 1 else level[:, new[shown]].T - base)
        self.known |= dict(zip(test[new[shown]].tolist(), made, strict=True))


def decisions_of(
    model: Any, parts: np.ndarray, members: list[np.ndarray], base: np.ndarray, covariates: np.ndarray | None
) -> list[Decision]:
    """The decisions of parts (n, M) or (n, T, M), grouped by `members`, with `base` (T,) and `covariates` (n, T)."""
    own = parts if covariates is None else with_covariates(parts, covariates)
    (chosen, intercept), labels, label = one_output(model, own, None, base)
    grouped = np.stack([chosen[:, which].sum(axis=1) for which in members], axis=1)
    last = [None] * len(chosen) if covariates is None else chosen[:, -1].tolist()
    return [Decision(grouped[k], float(intercept[k]), labels[k] or None, label, last[k]) for k in range(len(chosen))]


def ranked(case: Case, model: Any, decision: np.ndarray, rows: np.ndarray) -> tuple:
    """(value, error) for the ranking of examples, (k,) each: margins for classes, else decisions and their errors.

    Risks become ranks: folds have different models, whose risks cannot be compared.
    """
    if case.kind == "classification":
        margin = _margins(model.classes_, decision, case.y[rows])
        return margin, margin
    first = decision[:, 0]
    if case.kind == "survival":
        rank = risk_ranks(first if losses.get(model.loss).coupled else -first)
        return rank, rank
    return first, losses.get(model.loss).mean(first) - case.y[rows] if case.kind == "regression" else first


def orders(kind: str, value: np.ndarray, error: np.ndarray) -> list[tuple[str, np.ndarray]]:
    """[(reason to show an example, examples in this order)]."""
    if kind == "regression":
        return [
            ("the largest overestimate", np.argsort(-error)),
            ("the largest underestimate", np.argsort(error)),
            ("the highest prediction", np.argsort(-value)),
            ("the lowest prediction", np.argsort(value)),
            ("among the most exact", np.argsort(np.abs(error))),
        ]
    if kind == "survival":
        return [
            ("among the highest risks", np.argsort(-value)),
            ("among the lowest risks", np.argsort(value)),
            ("in the middle", np.argsort(np.abs(value - np.median(value)))),
        ]
    if kind == "one-class":
        return [
            ("the farthest outside", np.argsort(value)),
            ("near the border", np.argsort(np.abs(value))),
            ("among the most typical", np.argsort(-value)),
        ]
    wrong = np.argsort(value)
    return [
        ("among the most mistaken", wrong[value[wrong] < 0]),
        ("a close call", np.argsort(np.abs(value))),
        ("among the clearest", np.argsort(-value)),
    ]


def choose(kind: str, value: np.ndarray, error: np.ndarray, size: int) -> tuple[np.ndarray, list[str]]:
    """(examples to show, reasons): mistaken, close and clear examples in turn."""
    lists, n = orders(kind, value, error), len(value)
    found: dict[int, str] = {}
    for turn in range(n):
        for why, order in lists:
            free = [int(row) for row in order[: turn + 1 + len(found)] if int(row) not in found]
            if free and len(found) < min(size, n):
                found[free[0]] = why
        if len(found) >= min(size, n):
            break
    order_of = {why: k for k, (why, _) in enumerate(lists)}
    chosen = sorted(found, key=lambda row: order_of[found[row]])
    return np.array(chosen, int), [found[row] for row in chosen]


def size_of(examples: Any) -> int:
    """The number of examples to show."""
    if isinstance(examples, int | np.integer):
        return int(examples)
    return DEFAULT_EXAMPLES if examples is None else MAX_EXAMPLES


def _margins(classes, decision, y):
    """The margin of each example, positive if it is classified correctly; negative if the fold lacks its class."""
    code = np.searchsorted(classes, y)
    known = (code < len(classes)) & (classes[np.minimum(code, len(classes) - 1)] == y)
    if decision.shape[1] == 1:
        own = np.where(code == 1, 1.0, -1.0) * decision[:, 0]
        return np.where(known, own, -np.abs(decision[:, 0]))
    every, code = np.arange(len(y)), np.minimum(code, len(classes) - 1)
    others = decision.copy()
    others[every, code] = -np.inf
    return np.where(known, decision[every, code] - others.max(axis=1), -np.ptp(decision, axis=1))
