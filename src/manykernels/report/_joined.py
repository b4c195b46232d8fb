"""Units of the verdict: single sources, and groups of sources that share columns."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..inspect.sources import Row, joined_sources, together
from ..kernels.frames import is_frame, missing_entries
from ._case import FIT_ENTRIES, MAX_ENTRIES, MAX_SOURCES

MIN_TRIED = 3  # units, and sources of a unit alone, whatever they cost
MAX_COMPARED_ENTRIES = 10**8  # of a table in the search for identical columns


class Unit(NamedTuple):
    """Sources that are left out together: `why` is "" for one, else "columns" or "rest"; the others as in `Row`."""

    name: str
    members: list[str]
    why: str
    wanted: np.ndarray
    columns: tuple[int, ...] | None = None


def find_units(kernel_list: Any, rows: list[Row], share: np.ndarray, same: dict[Any, Any], most: int) -> list[Unit]:
    """The units of the verdict, the heaviest first.

    Sources that share a column, or have the same values (`same`), are joined: without one of them, the model still sees
    its columns. If there are more than `most` units, the lightest become one.
    """
    groups = joined_sources(kernel_list, rows, same)
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


def most_alone(folds: int, outputs: int) -> int:
    """The number of sources that can be tried alone in every fold within half the limit."""
    return int(np.clip(MAX_ENTRIES / 2 / (folds * outputs * FIT_ENTRIES), MIN_TRIED, MAX_SOURCES))


def identical_columns(X: Any) -> dict[Any, Any]:
    """{column: the first column with the same values in every row} of a table, by name or by position."""
    table = is_frame(X) or isinstance(X, np.ndarray) and X.ndim == 2
    if not table or np.prod(X.shape) > MAX_COMPARED_ENTRIES:
        return {}
    first: dict[Any, Any] = {}
    same = {}
    for key in X.columns if is_frame(X) else range(X.shape[1]):
        values = np.asarray(X[key] if is_frame(X) else X[:, key])
        known = ~missing_entries(values)
        if values.dtype.kind in "OUS":
            mark: Any = tuple(str(v) if k else None for v, k in zip(values, known, strict=True))
            constant = len(set(mark)) < 2
        else:
            number = values.astype(float)
            mark, constant = np.where(known, number + 0.0, np.nan).tobytes(), len(np.unique(number)) < 2
        if not constant and first.setdefault(mark, key) != key:
            same[key] = first[mark]
    return same


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
