"""The relevance of sources on held-out examples: the plan of the fits, their results, and the verdict."""

import math
from typing import Any, NamedTuple

import numpy as np

from ..inspect.fold import Fold
from ..inspect.held_out import measure_rows, refitted, shuffled
from ..inspect.relevance_result import spread_of
from ..inspect.sources import Row, kernel_rows, read_sources, shared_columns
from ..kernels.frames import is_frame
from ..kernels.view_data import n_examples
from ._case import CONFIDENCE, MAX_ENTRIES, MAX_SOURCES, Case
from ._joined import (
    MAX_SHUFFLED_KERNELS,
    Unit,
    alike_columns,
    find_units,
    identical_columns,
    identical_views,
    most_alone,
    most_refits,
    most_shuffled,
    most_units,
)

SUFFIXES = ("", "_se", "_low", "_high")  # mean, standard error, and the ends of the interval
PERMUTATIONS = 5  # of the held-out examples of a fold
PERFECT = 0.995  # of scores that are at most 1
AT_MOST_1 = "accuracy", "balanced_accuracy", "roc_auc", "average_precision", "concordance", "R²", "r2", "D²", "f1"
FULL = 4  # times the limit of work, for the columns that "full" leaves out


class Plan(NamedTuple):
    """The fits of every fold."""

    sources: list[Row]  # all sources of kernels, whose parts add up to a decision
    refits: int | None  # the number of units that are left out if they are columns; None if they are kernels
    every: list[Unit]  # the units of the verdict
    full: bool  # whether `inspect.relevance` measures each source of `rows`
    rows: list[Row]  # the heaviest sources
    units: list[Unit]  # units that need separate fits
    alone: list[Row]  # sources of joined units, each tried alone
    shared: list[Any]


def make_plan(case: Case, fold: Fold, relevance: str, folds: int, one_pass: float) -> Plan:
    every, sources = kernel_rows(case.model, fold, case.sources), read_sources(case.model, fold, case.sources, False)
    share, outputs = fold.shares([row.wanted for row in sources]), len(fold.every.solutions)
    kernels, same, views = fold.kernel_list, identical_columns(case.X), identical_views(case.X)
    n = n_examples(case.X)
    if sources[0].columns is not None:
        if is_frame(case.X):
            place = {name: k for k, name in enumerate(case.X.columns)}
            same = {place[one]: place[first] for one, first in same.items()}
        cut, d = max(int(fold.split(row.columns)[1].sum()) for row in sources), case.X.shape[1]
        units = find_units(kernels, sources, share, same, most_shuffled(PERMUTATIONS, n, cut, d), views)
        many = (FULL if relevance == "full" else 1) * most_refits(folds, n, fold.M, outputs)
        return Plan(
            every, 0 if relevance == "fast" else many, units, False, sources, [], [], shared_columns(fold, sources)
        )
    if len(sources) > MAX_SOURCES:  # such as gene sets: all are shuffled, the most relevant are left out
        units = find_units(kernels, sources, share, same, MAX_SHUFFLED_KERNELS, views)
        many = 0 if relevance == "fast" else most_refits(folds, n, fold.M, outputs)
        return Plan(every, many, units, False, sources, [], [], [])
    units = find_units(kernels, sources, share, same, most_units(folds, n, fold.M, outputs), views)
    single = {unit.name for unit in units if not unit.why}
    order = sorted(range(len(sources)), key=lambda k: (sources[k].name not in single, -share[k]))
    rows = [sources[k] for k in order[:MAX_SOURCES]]
    fits = folds * (2 * len(rows) + 2)
    full = case.y.ndim == 1 and (relevance == "full" or relevance == "auto" and fits * one_pass <= MAX_ENTRIES)
    inside = {name for unit in units if unit.why == "columns" for name in unit.members}
    alone = [] if full else [sources[k] for k in order if sources[k].name in inside][: most_alone(folds, outputs)]
    joined = [unit for unit in units if unit.why] if full else units
    return Plan(every, None, units, full, rows, joined, alone, shared_columns(fold, rows))


def measure_units(fold: Fold, units: list[Unit], orders: list[np.ndarray]) -> dict[str, np.ndarray]:
    """{measure: (units,)} of one fold, with the measures of `inspect.relevance`."""
    if not units:
        return {}
    found = shuffled(fold, units, orders) | refitted(fold, units, np.arange(len(units)), orders)
    drop, gain = found["all"] - found["without"], found["alone"] - found["alone_permuted"]
    own = {"drop": drop, "permute": found["all"] - found["permuted"], "alone": found["alone"], "gain": gain}
    return own | {"relevance": 0.5 * (drop + gain)}


def measure_columns(case: Case, plan: Plan, fold: Any, kept: dict[int, Fold], orders: list[Any]) -> dict[str, Any]:
    """Facts on units of columns: all are shuffled, `plan.refits` are left out and tried alone in the folds fold(k).

    `alike` maps a unit to a column with nearly the same values: shuffling one of both says little.
    """
    rows = [Row(unit.name, "source", unit.wanted, unit.columns) for unit in plan.every]
    tick = lambda a, b: case.tick("relevance", a, b)  # noqa: E731
    result = measure_rows(rows, fold, kept, orders, plan.refits, CONFIDENCE, n_jobs=case.n_jobs, callback=tick)
    table = {row["name"]: {key: v for key, v in row.items() if v == v} for row in result.table()}
    single = {row.columns[0]: row.name for row in rows if row.columns is not None and len(row.columns) == 1}
    near, d = (alike_columns(case.X), case.X.shape[1]) if single else ({}, 0)
    names = list(case.X.columns) if is_frame(case.X) else [f"column {k}" for k in range(d)]
    return {
        "together": table,
        "table": table,
        "groups": [group._asdict() for group in result.groups],
        "refitted": int(result.refitted.sum()),
        "alike": {name: str(names[near[k]]) for k, name in single.items() if k in near},
        "each": dict(zip(result.names, result.differences("relevance" if plan.refits else "permute").T, strict=True)),
        "method": "full" if plan.refits else "fast",
        "measure": "relevance" if plan.refits else "permute",
    }


def measure_alone(fold: Fold, rows: list[Row], orders: list[np.ndarray]) -> dict[str, np.ndarray]:
    """The score of each source alone, and its gain over the score with permuted rows."""
    if not rows:
        return {}
    found = [(machine, f) for machine, f, _ in fold.refits(rows, alone=True)]
    alone = np.array([fold.score(f) for _, f in found])
    permuted = [np.mean([fold.score(fold.moved(machine, f, order)) for order in orders]) for machine, f in found]
    return {"alone": alone, "gain": alone - permuted}


def over_folds(rows: list[Any], measured: list[dict[str, np.ndarray]], overlap: float) -> dict[str, dict[str, float]]:
    """{name: {measure, with its _se, _low and _high}} over the folds."""
    if not rows:
        return {}
    spreads = {key: spread_of(np.array([fold[key] for fold in measured]), overlap, CONFIDENCE) for key in measured[0]}
    return {
        row.name: {f"{name}{end}": float(v[k]) for name, spread in spreads.items()
                   for end, v in zip(SUFFIXES, spread, strict=True)}
        for k, row in enumerate(rows)
    }  # fmt: skip


def worth_of(row: dict[str, Any], measure: str) -> tuple[float, float, float]:
    """The key that sorts rows of sources, the most relevant first."""
    return -row.get(measure, -math.inf), -row.get("permute", -math.inf), -row["share"]


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
