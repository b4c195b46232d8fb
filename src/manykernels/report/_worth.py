"""What sources are worth on held-out examples: which fits are made for that, what they say, and the verdict."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from ..inspect.fold import Fold
from ..inspect.held_out import measure_sources
from ..inspect.relevance_result import spread_of
from ..inspect.sources import Row, read_sources, shared_columns
from ..kernels.view_data import n_examples
from ._case import LIMIT, SOURCES, Case
from ._joined import Unit, find_units, identical_columns, most_alone, most_units

LEVEL = 0.95  # of intervals
ENDS = ("", "_se", "_low", "_high")  # mean, standard error, and the ends of the interval


class Plan(NamedTuple):
    """Which fits are made in every fold."""

    sources: list[Row]  # all
    every: list[Unit]  # what the verdict is about
    full: bool  # whether each single source, of the heaviest, is measured by `inspect.relevance`
    rows: list[Row]  # these sources
    units: list[Unit]  # what is measured beside them
    alone: list[Row]  # sources of joined units that are tried alone
    shared: list[Any]


def make_plan(case: Case, fold: Fold, relevance: str, folds: int, one_pass: float) -> Plan:
    sources = read_sources(case.model, fold, case.sources, False)
    share, outputs = fold.shares([row.wanted for row in sources]), len(fold.every.solutions)
    kernels, same = fold.kernel_list, identical_columns(case.X)
    units = find_units(kernels, sources, share, same, most_units(folds, n_examples(case.X), fold.M, outputs))
    single = {unit.name for unit in units if not unit.why}
    order = sorted(range(len(sources)), key=lambda k: (sources[k].name not in single, -share[k]))
    rows = [sources[k] for k in order[:SOURCES]]
    fits = folds * (2 * len(rows) + 2)
    full = case.y.ndim == 1 and (relevance == "full" or relevance == "auto" and fits * one_pass <= LIMIT)
    inside = {name for unit in units if unit.why == "columns" for name in unit.members}
    alone = [] if full else [sources[k] for k in order if sources[k].name in inside][: most_alone(folds, outputs)]
    joined = [unit for unit in units if unit.why] if full else units
    return Plan(sources, units, full, rows, joined, alone, shared_columns(kernels, rows))


def measure_units(fold: Fold, units: list[Unit], orders: list[np.ndarray]) -> dict[str, np.ndarray]:
    """{measure: (units,)} of one fold: what `inspect.relevance` measures of sources."""
    if not units:
        return {}
    found = measure_sources(fold, units, orders)
    drop, gain = found["all"] - found["without"], found["alone"] - found["alone_permuted"]
    own = {"drop": drop, "permute": found["all"] - found["permuted"], "alone": found["alone"], "gain": gain}
    return own | {"relevance": 0.5 * (drop + gain)}


def measure_alone(fold: Fold, rows: list[Row], orders: list[np.ndarray]) -> dict[str, np.ndarray]:
    """What each source scores by itself, and that above what it scores when its rows change places."""
    if not rows:
        return {}
    decisions = fold.decisions([fold.solve(row.wanted) for row in rows])
    alone = np.array([fold.score(f) for f in decisions])
    return {"alone": alone, "gain": alone - [np.mean([fold.score(f[order]) for order in orders]) for f in decisions]}


def over_folds(rows: list[Any], measured: list[dict[str, np.ndarray]], overlap: float) -> dict[str, dict[str, float]]:
    """{name: {measure, with its _se, _low and _high}} over the folds."""
    if not rows:
        return {}
    spreads = {name: spread_of(np.array([fold[name] for fold in measured]), overlap, LEVEL) for name in measured[0]}
    return {
        row.name: {f"{name}{end}": float(v[k]) for name, spread in spreads.items()
                   for end, v in zip(ENDS, spread, strict=True)}
        for k, row in enumerate(rows)
    }  # fmt: skip


def clear(row: dict[str, Any]) -> bool:
    """Whether a source is clearly worth something: its relevance is above 0 by its interval, and its drop is not below.

    A model that is better without a source may still gain by it alone; that source is not missed.
    """
    return row.get("relevance_low", math.nan) > 0 and row.get("drop", math.nan) >= 0
