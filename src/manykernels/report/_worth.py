"""The relevance of sources on held-out examples: the units of the verdict, the plan of the fits, and their results."""

import math
from collections.abc import Callable, Iterable
from datetime import date
from itertools import combinations
from numbers import Number
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.stats import rankdata
from sklearn.utils import check_random_state

from ..inspect.fold import Fold
from ..inspect.held_out import measure_rows
from ..inspect.sources import (
    Row,
    entries_of,
    joined_sources,
    kernel_rows,
    read_sources,
    shared_columns,
    size_of,
    together,
)
from ..kernels.frames import is_frame, missing_entries
from ..kernels.view_data import is_views, n_examples
from ..kernels.views import Views, by_name
from ..sequences import Sequences
from ._case import CONFIDENCE, FIT_ENTRIES, MAX_ENTRIES, MAX_SOURCES, Case, Facts

MIN_TRIED = 3  # units, whatever they cost
MAX_SHUFFLED = 200  # units of columns
MAX_SHUFFLED_KERNELS = 1000  # units of kernels, whose parts of the decisions are known: each needs scores alone
REFIT_ENTRIES = 1e7  # the overhead of kernels that are computed anew, as a number of entries
ALIKE = 0.9  # the rank correlation of columns that may replace each other
MAX_COMPARED_ENTRIES = 10**8  # of a table in the search for identical columns
MAX_COMPARED_COLUMNS = 2000  # in the search for columns that are alike
PERMUTATIONS = 5  # of the held-out examples of a fold
PERFECT = 0.995  # of scores that are at most 1
AT_MOST_1 = "accuracy", "balanced_accuracy", "roc_auc", "average_precision", "concordance", "R²", "r2", "D²", "f1"
FULL = 4  # times the limit of work, for the units that "full" leaves out


class Unit(NamedTuple):
    """A `Row` of sources that are left out together: `why` is "" for one, else "columns" or "rest"."""

    name: str
    members: list[str]
    why: str
    wanted: np.ndarray
    columns: tuple[int, ...] | None = None
    kind: str = "source"


def find_units(
    kernel_list: Any,
    rows: list[Row],
    share: np.ndarray,
    same: dict[Any, Any],
    most: int,
    views: dict[Any, str] | None = None,
) -> list[Unit]:
    """The units of the verdict, the heaviest first.

    Sources that share half of the columns of the smaller one, or their values (`same` of columns, `views`), are joined:
    without it, the model still sees these columns. If there are more than `most` units, the lightest become one.
    """
    groups = joined_sources(kernel_list, rows, same, views)
    groups.sort(key=lambda group: -share[group].sum())
    units = [_unit([rows[k] for k in sorted(group, key=lambda k: -_width(rows[k], kernel_list))]) for group in groups]
    if len(units) <= most:
        return units
    kept, left = units[: most - 1], units[most - 1 :]
    members = [name for unit in left for name in unit.members]
    return [*kept, Unit(f"{len(members)} other sources", members, "rest", *together(left)[2:])]


def most_units(folds: int, n: int, M: int, outputs: int) -> int:
    """The number of units that can be left out and tried alone in every fold within the limit."""
    return int(np.clip(MAX_ENTRIES / (folds * outputs * (2 * FIT_ENTRIES + float(n) ** 2 * M)), MIN_TRIED, MAX_SOURCES))


def most_shuffled(permutations: int, n: int, cut: int, d: int) -> int:
    """The number of units of d columns that can be shuffled, if `cut` kernels are computed anew for each of them."""
    return int(
        np.clip(MAX_ENTRIES / (permutations * float(n) ** 2 * max(cut, 1) * (1 + d / 10)), MIN_TRIED, MAX_SHUFFLED)
    )


def most_refits(folds: int, n: int, M: int, outputs: int) -> int:
    """The number of units of columns that can be left out, tried alone and joined in every fold within the limit."""
    one = outputs * FIT_ENTRIES / 2 + float(n) ** 2 * M + REFIT_ENTRIES  # a warm start saves half of a fit
    return int(max(MAX_ENTRIES / (3 * folds * one), MIN_TRIED))


def identical(X: Any) -> dict[Any, Any]:
    """{column: the first with the same values in every row} of a table, by name or position; or views, by name.

    Columns and views that have the same values in all rows are left out.
    """
    parts: dict[Any, Any] = {}
    if is_views(X):
        parts = by_name(X)
    elif is_frame(X) and np.prod(X.shape) <= MAX_COMPARED_ENTRIES:
        parts = {name: np.asarray(X[name]) for name in X.columns}
    elif isinstance(X, np.ndarray) and X.ndim == 2 and X.size <= MAX_COMPARED_ENTRIES:
        parts = dict(enumerate(X.T))
    first: dict[Any, Any] = {}
    same = {}
    for name, part in parts.items():
        values, there = _values_of(part), X.present.get(name) if isinstance(X, Views) else None
        mark = values, None if there is None else there.tobytes()
        if values is not None and first.setdefault(mark, name) != name:
            same[name] = first[mark]
    return same


def _values_of(part):
    """The values of a column or a view as a key; None if they are not compared."""
    if isinstance(part, Sequences | list | tuple) and len(part) and isinstance(part[0], str):
        return tuple(part)
    if sp.issparse(part) and part.nnz <= MAX_COMPARED_ENTRIES:
        known = part.tocsr().sorted_indices()
        return part.shape, known.indices.tobytes(), known.indptr.tobytes(), known.data.astype(float).tobytes()
    if not is_frame(part) and not isinstance(part, np.ndarray) or np.prod(part.shape) > MAX_COMPARED_ENTRIES:
        return None
    values = np.asarray(part)
    if values.shape != part.shape:  # a matrix with names, which no array holds
        return None
    if values.dtype.kind not in "biuf":
        items, lost = values.ravel().tolist(), missing_entries(values).ravel().tolist()
        known = tuple(None if gap else item for item, gap in zip(items, lost, strict=True))
        plain = all(item is None or isinstance(item, str | bytes | Number | date) for item in known)
        return (part.shape, known) if plain and len(set(known)) > 1 else None
    number = values.astype(float) + 0.0  # -0.0 is 0.0
    bits = np.where(np.isnan(number), np.nan, number).view(np.int64)
    return None if (bits == bits[:1]).all() else (part.shape, bits.tobytes())


def alike_columns(X: Any) -> dict[int, int]:
    """{column: the column most like it}, by position, of a table, if their values are correlated or recoded.

    Numbers are alike if their rank correlation is `ALIKE` or more, or −`ALIKE` or less; texts that repeat are alike if
    each value of one goes with one value of the other.
    """
    d, n = X.shape[1], len(X)
    if n * d > MAX_COMPARED_ENTRIES or d > MAX_COMPARED_COLUMNS:
        return {}
    ranks, texts = np.zeros((n, d)), {}
    for k in range(d):
        entries = np.asarray(entries_of(X, k))
        lost = missing_entries(entries)
        if entries.dtype.kind in "OUSMm":
            texts[k] = np.unique(np.where(lost, "", entries.astype(str)), return_inverse=True)[1]
        elif (~lost).any():
            known = np.where(lost, np.median(entries[~lost]), entries).astype(float)
            ranks[:, k] = rankdata(known)
    ranks -= ranks.mean(axis=0)
    size = np.linalg.norm(ranks, axis=0)
    near = np.abs(ranks.T @ ranks) / np.maximum(np.outer(size, size), 1e-300)
    for j, k in combinations(texts, 2):
        values, both = len(np.unique(texts[j])), len(np.unique(texts[j] * n + texts[k]))
        near[j, k] = near[k, j] = 1 < values <= n / 2 and values == both == len(np.unique(texts[k]))
    np.fill_diagonal(near, 0.0)
    return {k: int(near[k].argmax()) for k in range(d) if near[k].max(initial=0.0) >= ALIKE}


def _width(row, kernel_list):
    """The number of columns that a source sees."""
    if kernel_list is None or row.columns is not None:
        return len(row.columns or ())
    return size_of(kernel_list.needs(row.wanted))


def _unit(rows):
    names = [row.name for row in rows]
    if len(names) == 1:
        return Unit(names[0], names, "", *rows[0][2:])
    called = f"{names[0]} and {names[1]}" if len(names) == 2 else f"{names[0]} and {len(names) - 1} that share columns"
    return Unit(called, names, "columns", *together(rows)[2:])


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


def measure_units(case: Case, plan: Plan, fold: Callable, kept: dict[int, Fold], sizes: Iterable[int]) -> Facts:
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


def worth_of(row: Facts, measure: str) -> tuple[float, float, float]:
    """The key that sorts rows of sources, the most relevant first."""
    return -row.get(measure, -math.inf), -row.get("permute", -math.inf), -row["share"]


def ranked(found: Facts) -> list[Facts]:
    """The rows of the page: the first units of several sources, and sources, the most relevant first."""
    joined = [unit for unit in found["units"] if unit["why"]][:MAX_SOURCES]
    return sorted([*joined, *found["rows"]], key=lambda row: worth_of(row, found["measure"]))


def certain(found: Facts) -> set[str]:
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


def standing(row: Facts) -> str:
    """What the intervals say of a relevant source: "needed" by the model, telling "alone", or neither by itself ""."""
    return "needed" if row.get("drop_low", math.nan) > 0 else "alone" if row.get("gain_low", math.nan) > 0 else ""


def harmful(row: Facts) -> bool:
    """Whether the model is better without the source: clearly, or on average without a source that tells something."""
    low = row.get("relevance_low", math.nan)
    return row.get("drop_high", math.nan) < 0 or row.get("drop", math.nan) < 0 < low


def clear(row: Facts, measure: str = "relevance") -> bool:
    """Whether the interval of the measure lies above 0, and the drop is not negative; `certain` has the verdict.

    The second condition excludes sources that predict alone, but without which the model is better.
    """
    return row.get(f"{measure}_low", math.nan) > 0 and (measure == "permute" or row.get("drop", math.nan) >= 0)
