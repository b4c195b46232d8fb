"""Columns of numbers, categories and dates as numbers in which each column counts the same."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator

from .._parts import declared
from .._state import Stored, check, check_integer, check_value
from .._validation import shown
from .column_encoders import Indicators
from .frames import are_missing_texts, missing_entries, rows_of, to_numbers

KINDS = ("numbers", "columns", "categories", "dates", "decimal commas")
DAYS_OF_CYCLES = {"year": 365.2425, "week": 7.0, "day": 1.0}
ZONE = "zone"  # beside the cycles: the training times had one
_DATE = re.compile(r"(b')?\s*\d{4}-\d")
_ZONE = re.compile(r":\d\d.*(Z|[+-]\d\d(:?\d\d)?)\W*$")
EPSILON = float(np.finfo(float).eps)
MIN_CYCLES = 1.5  # in the training dates, for a cycle that is used


@declared
class TableScaler(Stored, BaseEstimator):
    """Each part of the columns is turned into numbers z, centred, and scaled to a total variance of 1.

        φ_part(x) = (z(x) − mean z) / √(Σ_j var z_j)

    A part ("numbers", w) is w columns of numbers, and ("decimal commas", 1) a column of texts such as "0,31".
    ("columns", w) are w columns of numbers that have a variance of 1 each.
    ("categories", 1) is a column whose z are the indicators of its categories. ("dates", 1) is a column whose z are the
    days and, where the training dates span more than one and a half of them, sine and cosine of the year, the week and
    (if there are times) the day. A missing number or date is replaced by the mean; a missing or new category has no
    indicator.

    Parameters
    ----------
    parts : list of (kind, number of columns)

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels.kernels.table_scaler import TableScaler
    >>> X = np.array([[1.0, "a"], [3.0, "b"], [None, "a"], [2.0, None]], dtype=object)
    >>> TableScaler([("numbers", 1), ("categories", 1)]).fit_transform(X).round(2)
    array([[-1.22,  0.76, -0.38],
           [ 1.22, -0.76,  1.13],
           [ 0.  ,  0.76, -0.38],
           [ 0.  , -0.76, -0.38]])
    """

    file_tag = ("transformer/table", 1)
    saved = {
        "parts": "any", "learned as learned_": "?list P any", "mean as mean_": "?list P any",
        "factor as factor_": "?list P any",
    }  # fmt: skip

    parts: Sequence[tuple[str, int]]

    def fit(self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None) -> TableScaler:
        x = rows_of(X.toarray() if sp.issparse(X) else X)
        w = np.ones(len(x)) if sample_weight is None else np.asarray(sample_weight, float)
        self.n_features_in_ = x.shape[1]
        self.learned_, self.mean_, self.factor_ = [], [], []
        for kind, columns in self._cut(x):
            self.learned_.append(_learn(kind, columns))
            z = _encode(kind, columns, self.learned_[-1])
            known = ~np.isnan(z)
            mass = np.maximum(w @ known, np.finfo(float).tiny)
            mean = w @ np.where(known, z, 0.0) / mass
            variance = w @ np.where(known, z - mean, 0.0) ** 2 / mass
            variance[variance <= (len(x) * EPSILON * mean) ** 2] = 0.0  # rounding alone
            variance = variance if kind == "columns" else variance.sum()
            factor = 1.0 / np.sqrt(np.where(variance > 0, variance, 1.0))
            self.mean_.append(mean)
            self.factor_.append(factor if kind == "columns" else float(factor))
        return self

    def transform(self, X: Any) -> np.ndarray:
        x = rows_of(X.toarray() if sp.issparse(X) else X)
        if x.shape[1] != self.n_features_in_:
            raise ValueError(f"X has {x.shape[1]} columns, but TableScaler saw {self.n_features_in_} in fit.")
        found = []
        for (kind, columns), *fitted in zip(self._cut(x), self.learned_, self.mean_, self.factor_, strict=True):
            learned, mean, factor = fitted
            z = (_encode(kind, columns, learned) - mean) * factor
            found.append(np.where(np.isnan(z), 0.0, z))
        return np.concatenate(found, axis=1)

    def fit_transform(self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None) -> np.ndarray:
        return self.fit(X, y, sample_weight).transform(X)

    def read(self, x: np.ndarray, labels: Callable[[], Sequence[Any]]) -> np.ndarray:
        """Columns x (n, d) with texts of numbers as numbers; texts such as NA or ? are missing numbers and dates.

        An entry that is neither is a ValueError that names the column, one of `labels()`.
        """
        kinds = [kind for kind, width in self.parts for _ in range(width)]
        if x.dtype.kind not in "OSU" and "dates" not in kinds:
            return x
        clock = x.dtype.kind == "M"
        x = x if clock else x.astype(object)
        learned = vars(self).get("learned_", [None] * len(self.parts))
        known = [one for one, (_, width) in zip(learned, self.parts, strict=True) for _ in range(width)]
        for column, kind, label, one in zip(x.T, kinds, labels(), known, strict=True):
            if kind == "dates":
                if not clock:
                    column[np.isnan(days(column, label))] = None
                if len(_zones(column) | (set() if one is None else {ZONE in one})) > 1:
                    raise ValueError(
                        f"X has times of a zone and times without one in column {label!r}, or one kind in fit and the "
                        "other now: give all of one kind."
                    )
            elif not clock and kind != "categories":
                column[:] = to_numbers(column, lambda label=label: [label], "," if kind == "decimal commas" else ".")
        return x

    def owners(self) -> list[int]:
        """The number of the column that each of the numbers φ(x) is made of."""
        found: list[int] = []
        for (_, width), mean in zip(self.parts, self.mean_, strict=True):
            first = found[-1] + 1 if found else 0
            found += range(first, first + width) if len(mean) == width else [first] * len(mean)
        return found

    def get_feature_names_out(self, input_features: Any) -> np.ndarray:
        """The name of the column that each of the numbers is made of."""
        return np.asarray(input_features, object)[self.owners()]

    def _cut(self, x):
        """[(kind, the columns of x)] of the parts."""
        widths = [width for _, width in self.parts]
        if sum(widths) != x.shape[1]:
            raise ValueError(f"parts={self.parts!r} have {sum(widths)} columns, X has {x.shape[1]}.")
        cuts = np.split(x, np.cumsum(widths)[:-1], axis=1)
        return [(kind, columns) for (kind, _), columns in zip(self.parts, cuts, strict=True)]

    def __sklearn_clone__(self) -> TableScaler:
        return TableScaler(self.parts)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

    def check_state(self) -> None:
        self.parts = [(kind, width) for kind, width in self.parts]
        for kind, width in self.parts:
            check_integer(f"columns of {kind}", width, 1, 2**24 if kind in ("numbers", "columns") else 1)
            check(kind in KINDS, f"there is no kind {kind!r:.80} of columns")
        if "learned_" not in vars(self):
            return
        self.n_features_in_ = sum(width for _, width in self.parts)
        fitted = zip(self.parts, self.learned_, self.mean_, self.factor_, strict=True)
        for (kind, width), learned, mean, factor in fitted:
            wanted = {"categories": Indicators, "dates": list}.get(kind, type(None))
            check(isinstance(learned, wanted), f"the {kind} of a part have another state")
            check(kind != "dates" or set(learned) <= {*DAYS_OF_CYCLES, ZONE}, f"there are cycles {learned!r:.80}")
            encoded = learned.width if kind == "categories" else width
            encoded = 1 + 2 * len(_cycles(learned)) if kind == "dates" else encoded
            check_value("mean", mean, "f8 encoded", {"encoded": encoded})
            check_value("factor", factor, "f8 width" if kind == "columns" else "number", {"width": width})


def days(column: np.ndarray, name: Any = "") -> np.ndarray:
    """Days since 1970 (n,) of times, and of texts such as 2024-03-01 12:30; NaN where missing.

    Other entries, numbers among them, are a ValueError. Times of a zone are turned into UTC.
    """
    if column.dtype.kind != "M":
        found = np.full(len(column), "NaT", "datetime64[us]")
        with warnings.catch_warnings(action="ignore", category=UserWarning):  # NumPy's, of zones
            for k in np.flatnonzero(~(missing_entries(column) | are_missing_texts(column))):
                with suppress(ValueError):
                    found[k] = column[k] if _DATE.match(str(column[k])) else "NaT"
                if np.isnat(found[k]):
                    raise ValueError(
                        f"X has {shown(column[k])} in column {name!r}, which is no date: give dates, or texts such as "
                        "2024-03-01."
                    )
        column = found
    return np.where(np.isnat(column), np.nan, column.astype("datetime64[us]").astype(float) / 86_400e6)


def _zones(column):
    """Whether times (n,), or texts of times, have a zone: {True}, {False}, both, or nothing if all are missing."""
    known = column[~missing_entries(column)]
    return {column.dtype.kind != "M" and _ZONE.search(str(time)) is not None for time in known}


def _cycles(learned):
    return [name for name in learned if name != ZONE]


def _learn(kind, columns):
    """What the numbers of a part need to know: the categories, or the names of the cycles, and `ZONE`."""
    if kind == "categories":
        found = Indicators().fit(columns.astype(object))
        found.categories_ = [sorted(categories, key=str) for categories in found.categories_]
        return found
    if kind != "dates":
        return None
    found = days(columns[:, 0])
    found = found[~np.isnan(found)]
    span = np.ptp(found) if len(found) else 0.0
    cycles = [name for name, length in DAYS_OF_CYCLES.items() if span > MIN_CYCLES * length]
    cycles = [name for name in cycles if name != "day" or (found % 1 > 0).any()]
    return cycles + [ZONE] * (True in _zones(columns[:, 0]))


def _encode(kind, columns, learned):
    """The numbers z (n, width) of a part, NaN where numbers or dates are missing."""
    if kind == "categories":
        return learned.transform(columns.astype(object)).toarray()
    if kind != "dates":
        return to_numbers(columns, lambda: list(range(columns.shape[1])))
    when = days(columns[:, 0])
    angles = [2 * np.pi / DAYS_OF_CYCLES[name] * when for name in _cycles(learned)]
    return np.column_stack([when, *(wave(angle) for angle in angles for wave in (np.sin, np.cos))])
