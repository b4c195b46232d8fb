"""Decisions of single examples by models that did not see them: which ones to show, and their parts."""

import copy
from typing import Any, NamedTuple

import numpy as np

from .. import losses
from ..estimators.check_inputs import take_examples
from ..estimators.covariates import level_of
from ..inspect.displays.base import grouped, members_of
from ..inspect.displays.decision_display import one_output, with_covariates
from ..inspect.fold import Fold
from ..inspect.sources import Row
from ..inspect.tables import heaviest
from ..kernels.pairs import Pairs
from ..kernels.view_data import is_views, n_examples
from ..kernels.views import Views
from ._case import DEFAULT_EXAMPLES, MAX_PARTS, Case, Facts
from ._rates import group_names, risk_ranks

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
    """Collects held-out decisions fold by fold; the page shows at most `size` of them."""

    def __init__(self, case: Case, size: int) -> None:
        self.case, self.size = case, min(size, MAX_EXAMPLES)
        self.names: list[str] = []
        self.values: list[float] = []  # in the order of the rows of `known`
        self.errors: list[float] = []
        self.known: dict[int, Decision] = {}  # by held-out row

    @property
    def possible(self) -> bool:
        """Whether the model has one decision for an example."""
        case = self.case
        several = case.kind == "regression" or case.kind == "classification" and case.model.multilabel_
        return self.size > 0 and not (case.outputs > 1 and several) and not case.several_tasks

    def take(self, fold: Fold, decision: np.ndarray, test: np.ndarray, sources: list[Row]) -> None:
        """Keep the decisions (n_test, T) of a fold; an example held out twice counts once."""
        new = np.array([k for k, row in enumerate(test) if int(row) not in self.known], int)
        if not self.possible or not len(new):
            return
        value, error = ranked(self.case, fold.model, decision[new], test[new])
        self.values += value.tolist()
        self.errors += error.tolist()
        self.names = [row.name for row in sources]
        every = fold.parts(fold.every)[:, new].swapaxes(0, 1)  # (new, T, M)
        twin, level, base = copy.copy(fold.model), fold.every.b, fold.base()
        twin.intercept_ = base
        members = [np.flatnonzero(source.wanted) for source in sources]
        own = every if every.shape[1] > 1 else every[:, 0]
        made = decisions_of(twin, own, members, base, None if level.ndim == 1 else level[:, new].T - base)
        self.known |= dict(zip(test[new].tolist(), made, strict=True))


def decisions_of(
    model: Any, parts: np.ndarray, members: list[np.ndarray], base: np.ndarray, covariates: np.ndarray | None
) -> list[Decision]:
    """The decisions of parts (n, M) or (n, T, M), grouped by `members`, with `base` (T,) and `covariates` (n, T)."""
    own = parts if covariates is None else with_covariates(parts, covariates)
    (chosen, intercept), labels, label = one_output(model, own, None, base)
    split = grouped(chosen, members)
    last = [None] * len(chosen) if covariates is None else chosen[:, -1].tolist()
    return [Decision(split[k], float(intercept[k]), labels[k] or None, label, last[k]) for k in range(len(chosen))]


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
    keys: dict[str, dict[str, np.ndarray]] = {
        "regression": {
            "the largest overestimate": -error,
            "the largest underestimate": error,
            "the highest prediction": -value,
            "the lowest prediction": value,
            "among the most exact": np.abs(error),
        },
        "survival": {
            "among the highest risks": -value,
            "among the lowest risks": value,
            "in the middle": np.abs(value - np.median(value)),
        },
        "one-class": {
            "the farthest outside": value,
            "near the border": np.abs(value),
            "among the most typical": -value,
        },
        "classification": {
            "among the most mistaken": value,
            "a close call": np.abs(value),
            "among the clearest": -value,
        },
    }
    found = [(why, np.argsort(key)) for why, key in keys[kind].items()]
    if kind == "classification":  # margins are negative if the example is mistaken
        found[0] = found[0][0], found[0][1][: np.count_nonzero(value < 0)]
    return found


def choose(kind: str, value: np.ndarray, error: np.ndarray, size: int) -> tuple[np.ndarray, list[str]]:
    """(examples to show, reasons): mistaken, close and clear examples in turn."""
    lists = orders(kind, value, error)
    left = [iter(order.tolist()) for _, order in lists]
    found: dict[int, int] = {}  # {example: its reason}
    while len(found) < min(size, len(value)):
        for k, queue in enumerate(left):
            row = next((row for row in queue if row not in found), None)
            if row is not None and len(found) < size:
                found[row] = k
    chosen = sorted(found, key=found.__getitem__)
    return np.array(chosen, int), [lists[found[row]][0] for row in chosen]


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


def single_examples(case: Case, examples: Any, rows: np.ndarray, held: Decisions, ids: Any) -> Facts:
    """Single decisions as sums over sources: held-out decisions if there are any, else those of the fitted model.

    `case` holds all examples. `rows` are the sampled ones, and `held` indexes into `rows`.
    """
    if isinstance(examples, int | np.integer) and examples == 0:
        return {"why": "The report was asked for no examples (examples=0)."}
    if case.several_tasks:
        return {"why": "The model has several tasks, and the page does not know the task of an example."}
    if not held.possible:
        return {"why": f"The model has {case.outputs} outputs; decision_parts returns the parts of each output."}
    known = {int(rows[row]): one for row, one in held.known.items()}
    if is_list(examples):
        chosen = check_examples(examples, n_examples(case.X))[:MAX_EXAMPLES]
        why = ["chosen by you"] * len(chosen)
    else:
        of, value, error = np.array(list(known), int), np.array(held.values), np.array(held.errors)
        if not held.known:
            of, (value, error) = rows, ranked(case, case.model, _decisions(case, rows), rows)
        places, why = choose(case.kind, value, error, held.size)
        chosen = of[places]
    names, members = members_of(case.model, "source", case.sources)
    fitted = np.array([row for row in chosen if int(row) not in known], int)
    known |= dict(zip(fitted.tolist(), _fitted(case, fitted, members), strict=True)) if len(fitted) else {}
    rank = _risk_ranks(case, rows, held, len(fitted) > 0) if case.kind == "survival" else {}
    groups, relative = group_names(len(rows)), case.kind == "survival" and losses.get(case.model.loss).coupled
    shown, expected = [], losses.get(case.model.loss).mean if case.kind == "regression" else None
    for row, reason in zip(chosen.tolist(), why, strict=True):
        one, out = known[row], row not in fitted
        rest = (0.0 if relative else one.intercept) + (one.covariates or 0.0)
        total = float(one.parts.sum() + rest)
        mean = total if expected is None else float(expected(np.array(total)))
        told = one.prediction if mean == total else f"{mean:.4g}"
        called = held.names if out else names
        heavy = heaviest(np.abs(one.parts))
        rest = heavy[MAX_PARTS:]
        shown.append(
            {
                "row": row,
                "id": None if ids is None else str(ids[row]),
                "why": reason,
                "held_out": out,
                "prediction": told,
                "true": None if case.y is None else _plain(case.y[row]),
                "parts": [{"name": called[m], "value": float(one.parts[m])} for m in heavy[:MAX_PARTS]],
                "others": {"count": len(rest), "value": float(one.parts[rest].sum())},
                "covariates": one.covariates,
                "intercept": None if relative else one.intercept,
                "sum": total,
            }
        )
        if row in rank:
            shown[-1]["risk"] = {"above": rank[row], "group": groups[int(rank[row] * len(groups))]}
    label = known[int(chosen[0])].label
    linked = expected is not None and any(row["prediction"] for row in shown)
    if case.kind == "survival":
        label = "risk, known up to a constant," if relative else "logarithm of a time"
    return {"label": "logarithm of an expected count" if linked else label, "rows": shown}


def _fitted(case: Case, rows: np.ndarray, members: list[np.ndarray]) -> list[Decision]:
    """The decisions of the fitted model on these rows."""
    model, parts = case.model, case.model.decision_parts(take_examples(case.X, rows))
    if case.covariates is None:
        return decisions_of(model, parts, members, model.intercept_, None)
    own = case.covariates.Z @ model.covariate_coef_.T
    mean = own.mean(axis=0)
    return decisions_of(model, parts, members, model.intercept_ + mean, own[rows] - mean)


def _decisions(case: Case, rows: np.ndarray) -> np.ndarray:
    """The decisions (n, T) of the fitted model on these rows."""
    known = None if case.covariates is None else case.covariates.take(rows)
    parts = case.model.decision_parts(take_examples(case.X, rows))
    return parts.sum(axis=-1).reshape(len(rows), -1) + level_of(case.model, known, len(rows))


def _risk_ranks(case: Case, rows: np.ndarray, held: Decisions, fitted: bool) -> dict[int, float]:
    """{row: the share of examples with a lower risk}, within the fold of the row, or by the fitted model among all."""
    found: dict[int, float] = {}
    if fitted:
        every = np.arange(n_examples(case.X))
        found = dict(enumerate(ranked(case, case.model, _decisions(case, every), every)[0].tolist()))
    return found | {int(rows[row]): value for row, value in zip(held.known, held.values, strict=True)}


def check_examples(examples: Any, n: int) -> np.ndarray:
    """The requested rows (k,), checked."""
    wanted = np.atleast_1d(np.asarray(examples))
    rows = wanted.ndim == 1 and wanted.dtype.kind in "iu" and len(wanted)
    if not rows or not ((wanted >= 0) & (wanted < n)).all():
        raise ValueError(f"examples={examples!r}: give a number of examples, or rows of X from 0 to {n - 1}.")
    return wanted


def is_list(examples: Any) -> bool:
    """Whether `examples` lists rows instead of giving their number."""
    return not (examples is None or isinstance(examples, int | np.integer))


def ids_of(X: Any) -> Any:
    """The names of the examples (n,), or None if they are only numbered; a pair has the names of both sides."""
    if isinstance(X, Pairs):
        sides = [ids_of(table) for table in (X.left, X.right)]
        return [" × ".join(str(k if side is None else side[k]) for side, k in zip(sides, pair, strict=True))
                for pair in X.index.tolist()]  # fmt: skip
    if is_views(X) and not isinstance(X, Views):
        each = [found for table in X.values() if (found := ids_of(table)) is not None]
        return each[0] if each and all(np.array_equal(each[0], other) for other in each) else None
    index = getattr(X, "index", None)  # of a frame of pandas, or of a list
    if index is None or callable(index):
        return None
    found = np.asarray(index)
    named = getattr(index, "name", None) is not None  # pandas' index
    return found if named or not np.array_equal(found, np.arange(len(found))) else None


def _plain(value: Any) -> Any:
    if isinstance(value, np.void):  # an event and a time
        return f"{'event' if value[0] else 'censored'} at {value[1]:g}"
    return value.item() if isinstance(value, np.generic) else value
