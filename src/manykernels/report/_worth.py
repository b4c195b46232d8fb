"""The relevance of sources on held-out examples: the plan of the fits, their results, and the verdict."""

import math
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils import check_random_state

from ..inspect.fold import Fold
from ..inspect.held_out import measure_rows
from ..inspect.sources import Row, kernel_rows, read_sources, shared_columns
from ..kernels.frames import is_frame
from ..kernels.view_data import is_views, n_examples
from ._case import CONFIDENCE, MAX_SOURCES, Case
from ._joined import (
    MAX_SHUFFLED_KERNELS,
    Unit,
    alike_columns,
    find_units,
    identical,
    most_refits,
    most_shuffled,
    most_units,
)

PERMUTATIONS = 5  # of the held-out examples of a fold
PERFECT = 0.995  # of scores that are at most 1
AT_MOST_1 = "accuracy", "balanced_accuracy", "roc_auc", "average_precision", "concordance", "R²", "r2", "D²", "f1"
FULL = 4  # times the limit of work, for the units that "full" leaves out


class Plan(NamedTuple):
    """What is measured in every fold."""

    sources: list[Row]  # all sources of kernels, whose parts add up to a decision
    units: list[Unit]  # of the verdict
    rows: list[Any]  # the units, and as the kind "kernel" sources of joined units
    refits: int | None  # the number of units that are left out and tried alone; None for all rows
    shared: list[Any]


def make_plan(case: Case, fold: Fold, relevance: str, folds: int) -> Plan:
    """Many sources, or columns, are shuffled, and some left out; few sources of kernels are all left out."""
    sources, full = read_sources(case.model, fold, case.sources, False), relevance == "full"
    share, n = fold.shares([row.wanted for row in sources]), n_examples(case.X)
    work = folds, n, fold.M, len(fold.every.solutions)
    columns, same = sources[0].columns is not None, identical(case.X)
    same, views = ({}, same) if is_views(case.X) else (same, {})
    few = not columns and len(sources) <= MAX_SOURCES  # others are, say, hundreds of gene sets
    most = most_units(*work) if few else MAX_SHUFFLED_KERNELS
    if columns:
        if is_frame(case.X):
            place = {name: k for k, name in enumerate(case.X.columns)}
            same = {place[one]: place[first] for one, first in same.items()}
        cut = max(int(fold.split(row.columns)[1].sum()) for row in sources)
        most = most_shuffled(PERMUTATIONS, n, cut, case.X.shape[1])
    units = find_units(fold.kernel_list, sources, share, same, most, views)
    rows: list[Any] = [*units]
    refits = 0 if relevance == "fast" else most_refits(*work) * (FULL if full else 1)
    if few:
        inside = {name for unit in units if unit.why == "columns" or unit.why and full for name in unit.members}
        heaviest = [sources[k]._replace(kind="kernel") for k in np.argsort(-share, kind="stable")]
        rows += [row for row in heaviest if row.name in inside][: None if full else most]
    shared = shared_columns(fold, sources) if columns or few else []
    every = kernel_rows(case.model, fold, case.sources)
    return Plan(every, units, rows, None if few else refits, shared)


def measure_units(
    case: Case, plan: Plan, fold: Callable, kept: dict[int, Fold], sizes: Iterable[int]
) -> dict[str, Any]:
    """Facts on the units, by the folds fold(k) with so many held-out examples, of which some are `kept`.

    `alike` maps a unit to a column with nearly the same values: shuffling one of both says little.
    """
    rng, tick = check_random_state(case.seed), lambda a, b: case.tick("relevance", a, b)
    orders = [[rng.permutation(size) for _ in range(PERMUTATIONS)] for size in sizes]  # as `inspect.relevance`
    result = measure_rows(plan.rows, fold, kept, orders, plan.refits, CONFIDENCE, n_jobs=case.n_jobs, callback=tick)
    own = ("name", "kind", "weight")
    table = {row["name"]: {k: v for k, v in row.items() if v == v and k not in own} for row in result.table()}
    single = {row.columns[0]: row.name for row in plan.rows if row.columns is not None and len(row.columns) == 1}
    near, d = (alike_columns(case.X), case.X.shape[1]) if single else ({}, 0)
    names = list(case.X.columns) if is_frame(case.X) else [f"column {k}" for k in range(d)]
    method, measure = ("fast", "permute") if plan.refits == 0 else ("full", "relevance")
    return {
        "units": plan.units,
        "shared": [one._asdict() for one in plan.shared],
        "table": table,
        "groups": [group._asdict() for group in result.groups],
        "refitted": None if plan.refits is None else int(result.refitted.sum()),
        "alike": {name: str(names[near[k]]) for k, name in single.items() if k in near},
        "each": dict(zip(result.names, result.differences(measure).T, strict=True)),
        "method": method,
        "measure": measure,
    }


def worth_of(row: dict[str, Any], measure: str) -> tuple[float, float, float]:
    """The key that sorts rows of sources, the most relevant first."""
    return -row.get(measure, -math.inf), -row.get("permute", -math.inf), -row["share"]


def ranked(found: dict[str, Any]) -> list[dict[str, Any]]:
    """The rows of the page: the first units of several sources, and sources, the most relevant first."""
    joined = [unit for unit in found["units"] if unit["why"]][:MAX_SOURCES]
    return sorted([*joined, *found["rows"]], key=lambda row: worth_of(row, found["measure"]))


def certain(found: dict[str, Any]) -> set[str]:
    """The names of units and sources that are clearly relevant: the one rule of the verdict, the words and the dots.

    None does if the examples do not settle whether the model is better than a guess, and a source that is judged
    together with others does only if they all together do.
    """
    measure = found["measure"]
    units = {unit["name"] for unit in found["units"] if clear(unit, measure)}
    rows = [row for row in found["rows"] if clear(row, measure)]
    own = {row["name"] for row in rows if row.get("joined") is None or row["joined"] in units}
    return units | own if found["settled"] else set()


def nearly_perfect(scoring: str, alone: float) -> bool:
    """Whether this score of a source alone makes one ask whether the source contains the target."""
    return alone >= PERFECT and scoring.startswith(AT_MOST_1)


def standing(row: dict[str, Any]) -> str:
    """What the intervals say of a relevant source: "needed" by the model, telling "alone", or neither by itself ""."""
    return "needed" if row.get("drop_low", math.nan) > 0 else "alone" if row.get("gain_low", math.nan) > 0 else ""


def harmful(row: dict[str, Any]) -> bool:
    """Whether the model is better without the source: clearly, or on average without a source that tells something."""
    low = row.get("relevance_low", math.nan)
    return row.get("drop_high", math.nan) < 0 or row.get("drop", math.nan) < 0 < low


def clear(row: dict[str, Any], measure: str = "relevance") -> bool:
    """Whether the interval of the measure lies above 0, and the drop is not negative; `certain` has the verdict.

    The second condition excludes sources that predict alone, but without which the model is better.
    """
    return row.get(f"{measure}_low", math.nan) > 0 and (measure == "permute" or row.get("drop", math.nan) >= 0)
