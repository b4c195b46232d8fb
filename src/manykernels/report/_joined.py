"""What the page's verdict is about: sources, those together that cannot be told apart by leaving one of them out."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from ..inspect.sources import Row, joined_sources
from ..kernels.frames import is_frame, missing_entries
from ..kernels.view_data import is_views
from ._case import FIT, LIMIT, SOURCES

LEAST = 3  # units, and sources of one that are tried alone, whatever they cost
ENTRIES = 10**8  # of a table that is searched for identical columns


class Unit(NamedTuple):
    """Sources that are left out together, of kernels (M,) bool: why is "" for one, "columns" or "rest" for several."""

    name: str
    members: list[str]
    why: str
    wanted: np.ndarray


def find_units(kernel_list: Any, rows: list[Row], share: np.ndarray, same: dict[Any, Any], most: int) -> list[Unit]:
    """The sources as they are judged, the heaviest first.

    Sources that see a column in common are joined: leaving out one of them leaves its columns in the model. Where there
    are more than `most` units the lightest become one.
    """
    groups = joined_sources(kernel_list, rows, same)
    groups.sort(key=lambda group: -share[group].sum())
    units = [_unit([rows[k] for k in sorted(group, key=lambda k: -_width(rows[k], kernel_list))]) for group in groups]
    if len(units) <= most:
        return units
    kept, left = units[: most - 1], units[most - 1 :]
    members = [name for unit in left for name in unit.members]
    rest = Unit(f"{len(members)} other sources", members, "rest", np.any([unit.wanted for unit in left], axis=0))
    return [*kept, rest]


def most_units(folds: int, n: int, M: int, outputs: int) -> int:
    """How many units can be left out and tried alone, in every fold, within the bound."""
    return int(np.clip(LIMIT / (folds * outputs * (2 * FIT + float(n) ** 2 * M)), LEAST, SOURCES))


def most_alone(folds: int, outputs: int) -> int:
    """How many single sources can be tried alone, in every fold, within half the bound."""
    return int(np.clip(LIMIT / 2 / (folds * outputs * FIT), LEAST, SOURCES))


def identical_columns(X: Any) -> dict[Any, Any]:
    """{column: the first one that has the same values in every row}, of a table; by name, else by position."""
    if is_views(X) or sp.issparse(X) or len(getattr(X, "shape", ())) != 2 or np.prod(X.shape) > ENTRIES:
        return {}
    if not (is_frame(X) or isinstance(X, np.ndarray)):
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
    """How many columns a source sees."""
    if kernel_list is None:
        return 0.0
    return sum(np.inf if columns is None else len(columns) for columns in kernel_list.needs(row.wanted).values())


def _unit(rows):
    names = [row.name for row in rows]
    if len(names) == 1:
        return Unit(names[0], names, "", rows[0].wanted)
    called = f"{names[0]} and {names[1]}" if len(names) == 2 else f"{names[0]} and {len(names) - 1} that share columns"
    return Unit(called, names, "columns", np.any([row.wanted for row in rows], axis=0))
