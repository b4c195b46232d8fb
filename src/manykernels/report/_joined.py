"""Units of the verdict: single sources, and groups of sources that share columns."""

from datetime import date
from itertools import combinations
from numbers import Number
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.stats import rankdata

from ..inspect.sources import Row, joined_sources, together
from ..kernels.frames import is_frame, missing_entries, pick
from ..kernels.view_data import is_views
from ..kernels.views import Views
from ..sequences import Sequences
from ._case import FIT_ENTRIES, MAX_ENTRIES, MAX_SOURCES

MIN_TRIED = 3  # units, whatever they cost
MAX_SHUFFLED = 200  # units of columns
MAX_SHUFFLED_KERNELS = 1000  # units of kernels, whose parts of the decisions are known: each needs scores alone
REFIT_ENTRIES = 1e7  # the overhead of kernels that are computed anew, as a number of entries
ALIKE = 0.9  # the rank correlation of columns that may replace each other
MAX_COMPARED_ENTRIES = 10**8  # of a table in the search for identical columns
MAX_COMPARED_COLUMNS = 2000  # in the search for columns that are alike


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
        parts = {name: X[name] for name in (X.names if isinstance(X, Views) else X)}
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
        entries = np.asarray(X[:, k] if not is_frame(X) else pick(X, [k]).to_numpy()[:, 0])
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
    return sum(np.inf if columns is None else len(columns) for columns in kernel_list.needs(row.wanted).values())


def _unit(rows):
    names = [row.name for row in rows]
    if len(names) == 1:
        return Unit(names[0], names, "", *rows[0][2:])
    called = f"{names[0]} and {names[1]}" if len(names) == 2 else f"{names[0]} and {len(names) - 1} that share columns"
    return Unit(called, names, "columns", *together(rows)[2:])
