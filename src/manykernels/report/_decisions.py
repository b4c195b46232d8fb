"""Decisions of single examples, most of them held out: which are worth a look, and what they are sums of."""

from __future__ import annotations

import copy
from typing import Any, NamedTuple

import numpy as np

from ..inspect.displays.decision_display import one_output
from ..inspect.fold import Fold
from ..inspect.sources import Row
from ._case import EXAMPLES, Case

MOST = 24  # examples that are shown


class Decision(NamedTuple):
    """The decision of an example: its parts (sources,), the intercept, the label that it leads to, what it is for."""

    parts: np.ndarray
    intercept: float
    prediction: str | None
    label: str


class Decisions:
    """Decisions of some examples by models that had not seen them, collected fold by fold; `wanted` None: by rank."""

    def __init__(self, case: Case, wanted: np.ndarray | None, size: int) -> None:
        self.case, self.wanted, self.size = case, wanted, min(size, MOST)
        self.names: list[str] = []
        self.rows: list[int] = []  # that were held out, in the order of these two
        self.values: list[float] = []
        self.errors: list[float] = []
        self.known: dict[int, Decision] = {}

    @property
    def possible(self) -> bool:
        """Whether the model has one decision for an example."""
        case = self.case
        several = case.kind == "regression" or getattr(case.model, "multilabel_", False)
        return self.size > 0 and not (case.outputs > 1 and several) and not hasattr(case.model, "tasks_")

    def take(self, fold: Fold, decision: np.ndarray, test: np.ndarray, sources: list[Row]) -> None:
        """Keep what may be shown of the decisions (n_test, T) of a fold; an example held out twice counts once."""
        if not self.possible:
            return
        seen = set(self.rows)
        new = np.array([k for k, row in enumerate(test) if int(row) not in seen], int)
        if not len(new):
            return
        value, error = ranked(self.case, getattr(fold.model, "classes_", None), decision[new], test[new])
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
        twin = copy.copy(fold.model)
        twin.intercept_ = fold.every.b
        (parts, intercept), labels, label = one_output(twin, every if every.shape[1] > 1 else every[:, 0], None)
        for k, row in enumerate(test[new[shown]].tolist()):
            own = np.array([parts[k, source.wanted].sum() for source in sources])
            self.known[row] = Decision(own, float(intercept[k]), labels[k] or None, label)


def ranked(case: Case, classes: np.ndarray | None, decision: np.ndarray, rows: np.ndarray) -> tuple:
    """What examples are ranked by, (k,) each: the decision, of classes how far it is on the right side; the error."""
    if case.kind == "classification":
        margin = _margins(classes, decision, case.y[rows])
        return margin, margin
    first = decision[:, 0]
    return first, first - case.y[rows] if case.kind == "regression" else first


def orders(kind: str, value: np.ndarray, error: np.ndarray) -> list[tuple[str, np.ndarray]]:
    """[(why they are shown, examples in that order)]."""
    if kind == "regression":
        return [
            ("the largest overestimate", np.argsort(-error)),
            ("the largest underestimate", np.argsort(error)),
            ("the highest prediction", np.argsort(-value)),
            ("the lowest prediction", np.argsort(value)),
            ("among the most exact", np.argsort(np.abs(error))),
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
    """Which examples are shown, and why: some mistaken, close and clear ones by turns."""
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
    """How many examples are to be shown."""
    return EXAMPLES if examples is None else int(examples) if isinstance(examples, int | np.integer) else MOST


def _margins(classes, decision, y):
    """How far each example is on the right side of its border; of a class that a fold lacks, on no side at all."""
    code = np.searchsorted(classes, y)
    known = (code < len(classes)) & (classes[np.minimum(code, len(classes) - 1)] == y)
    if decision.shape[1] == 1:
        own = np.where(code == 1, 1.0, -1.0) * decision[:, 0]
        return np.where(known, own, -np.abs(decision[:, 0]))
    every, code = np.arange(len(y)), np.minimum(code, len(classes) - 1)
    others = decision.copy()
    others[every, code] = -np.inf
    return np.where(known, decision[every, code] - others.max(axis=1), -np.ptp(decision, axis=1))
