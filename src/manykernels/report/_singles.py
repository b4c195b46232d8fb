"""The section of single decisions, each a sum over the sources."""

from typing import Any

import numpy as np

from .. import losses
from ..estimators.check_inputs import take_examples
from ..estimators.covariates import level_of
from ..inspect.displays.base import members_of
from ..kernels.pairs import Pairs
from ..kernels.view_data import is_views, n_examples
from ..kernels.views import Views
from ._case import MAX_PARTS, Case
from ._decisions import MAX_EXAMPLES, Decision, Decisions, choose, decisions_of, ranked
from ._survival import group_names


def single_examples(case: Case, examples: Any, rows: np.ndarray, held: Decisions, ids: Any) -> dict[str, Any]:
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
    elif held.rows:
        places, why = choose(case.kind, np.array(held.values), np.array(held.errors), held.size)
        chosen = rows[np.array(held.rows)[places]]
    else:
        value, error = ranked(case, case.model, _decisions(case, rows), rows)
        places, why = choose(case.kind, value, error, held.size)
        chosen = rows[places]
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
        heavy = np.argsort(-np.abs(one.parts), kind="stable")
        heavy = heavy[one.parts[heavy] != 0]
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
    return found | {int(rows[row]): value for row, value in zip(held.rows, held.values, strict=True)}


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
