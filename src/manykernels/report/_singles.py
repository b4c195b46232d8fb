"""Single decisions as sums over sources, and which examples are worth a look."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..estimators._base import _take
from ..inspect.displays._base import members_of
from ..inspect.displays.decision_display import _one_output
from ._case import EXAMPLES, PARTS, Case

MOST = 24  # examples that are shown


def single_examples(case: Case, examples: Any, rows: np.ndarray) -> dict[str, Any]:
    """Single decisions of the model as sums over sources."""
    if isinstance(examples, int | np.integer) and examples == 0:
        return {"why": "No examples were asked for (examples=0)."}
    if hasattr(case.model, "tasks_"):
        return {"why": "The model has several tasks, and decisions need to know them."}
    if case.outputs > 1 and (case.kind == "regression" or getattr(case.model, "multilabel_", False)):
        return {"why": f"The model has {case.outputs} outputs; decision_parts splits each of them."}
    if case.model._is_precomputed() and len(rows) < case.model.n_features_in_:
        return {"why": "Of matrices all examples are needed, and some of them were drawn: raise max_examples."}
    chosen, why = _choose(case, examples, rows)
    parts = case.model.decision_parts(_take(case.X, chosen))
    (parts, intercept), labels, label = _one_output(case.model, parts, None)
    names, members = members_of(case.model, "source", case.sources)
    grouped = np.stack([parts[:, which].sum(axis=1) for which in members], axis=1)
    ids = _ids(case.X)
    shown = []
    for k, row in enumerate(chosen):
        heavy = np.argsort(-np.abs(grouped[k]), kind="stable")
        heavy = heavy[grouped[k][heavy] != 0]
        rest = heavy[PARTS:]
        shown.append(
            {
                "row": int(rows[row]),
                "id": None if ids is None else str(ids[row]),
                "why": why[k],
                "prediction": labels[k] or None,
                "true": None if case.y is None else _plain(case.y[row]),
                "parts": [{"name": names[m], "value": float(grouped[k, m])} for m in heavy[:PARTS]],
                "others": {"count": len(rest), "value": float(grouped[k][rest].sum())},
                "intercept": float(intercept[k]),
                "sum": float(grouped[k].sum() + intercept[k]),
            }
        )
    return {"label": label, "rows": shown}


def check_examples(examples: Any, n: int) -> np.ndarray:
    """Rows that were asked for, (k,), or a ValueError."""
    wanted = np.atleast_1d(np.asarray(examples))
    rows = wanted.ndim == 1 and wanted.dtype.kind in "iu" and len(wanted)
    if not rows or not ((wanted >= 0) & (wanted < n)).all():
        raise ValueError(f"examples={examples!r}: give a number of examples, or rows of X from 0 to {n - 1}.")
    return wanted


def is_list(examples: Any) -> bool:
    """Whether rows are asked for, and not how many."""
    return not (examples is None or isinstance(examples, int | np.integer))


def _choose(case: Case, examples: Any, rows: np.ndarray) -> tuple[np.ndarray, list[str]]:
    """Which rows of the sample are shown, and why: those asked for, or some clear, close and mistaken ones."""
    n = len(rows)
    if is_list(examples):
        wanted = check_examples(examples, n)
        return wanted[:MOST], ["chosen by you"] * len(wanted[:MOST])
    size = EXAMPLES if examples is None else min(int(examples), MOST)
    decision = case.model._decide(case.X)
    if case.kind == "regression":
        error = decision[:, 0] - case.y
        lists = [
            ("the largest overestimate", np.argsort(-error)),
            ("the largest underestimate", np.argsort(error)),
            ("the highest prediction", np.argsort(-decision[:, 0])),
            ("the lowest prediction", np.argsort(decision[:, 0])),
            ("among the most exact", np.argsort(np.abs(error))),
        ]
    elif case.kind == "one-class":
        lists = [
            ("the farthest outside", np.argsort(decision[:, 0])),
            ("near the border", np.argsort(np.abs(decision[:, 0]))),
            ("among the most typical", np.argsort(-decision[:, 0])),
        ]
    else:
        margin = _margins(case, decision)
        wrong = np.argsort(margin)
        lists = [
            ("among the most mistaken", wrong[margin[wrong] < 0]),
            ("a close call", np.argsort(np.abs(margin))),
            ("among the clearest", np.argsort(-margin)),
        ]
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
    return np.array(chosen), [found[row] for row in chosen]


def _margins(case: Case, decision: np.ndarray) -> np.ndarray:
    """How far each example is on the right side of its border."""
    classes = case.model.classes_
    code = np.searchsorted(classes, case.y)
    if decision.shape[1] == 1:
        return np.where(code == 1, 1.0, -1.0) * decision[:, 0]
    every = np.arange(len(code))
    others = decision.copy()
    others[every, code] = -np.inf
    return decision[every, code] - others.max(axis=1)


def _ids(X: Any) -> Any:
    """The names of the examples, where the data have some beyond their numbers."""
    index = getattr(X, "index", None)
    if index is None or callable(index):
        return None
    found = np.asarray(index)
    return None if found.dtype.kind in "iu" and getattr(index, "name", None) is None else found


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value
