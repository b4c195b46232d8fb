"""What kernels="auto" stands for: kernels chosen from the data, and a sentence that says which."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from ._frames import check_names, is_frame, missing_entries, pick, to_numbers, values
from ._median import median_between
from ._views import Source, checked_view, is_numeric
from .categorical import Categorical
from .features import Features
from .grids import rbf_grid
from .linear import Linear
from .polynomial import Polynomial
from .rbf import RBF
from .spec import KernelSpec

MOST = 2000  # kernels
ENTRIES = 2e9  # kernel values
CATEGORIES = 50  # that a column has at most, and half as many as examples
FEW = "RBF of 3 widths and linear"  # of a view, and of a column


def auto_kernels(X: Any, memory_limit: float | None = None, weights: ArrayLike | None = None) -> list[KernelSpec]:
    """Kernels chosen from the data: what an estimator takes for kernels="auto".

    An array of numbers, or a frame of numbers without gaps: RBF kernels of seven widths around the median distance,
    linear and polynomial ones on all columns as they are; on each column RBF kernels of three widths and a linear one,
    while the kernels stay within 2,000 and within n²M of 2·10⁹ entries (and of `memory_limit` float32 entries where
    that is less), on evenly spaced columns where not all fit.

    Another frame: the same, the numbers standardised and gaps filled in by means where all columns are seen, an example
    that lacks a column like no other where that column alone is; `Categorical()` on each column of categories, tf-idf
    on each of texts. Times, columns with one value and those of more than 50 categories are left out.

    Several views: RBF kernels of three widths and a linear one on each, its numbers standardised (sparse ones as they
    are), `Categorical()` or tf-idf on columns of the other kinds, and none on single columns of numbers.

    Parameters
    ----------
    X : array, DataFrame or dict of views
        The training data.
    memory_limit : float, optional
        Bytes.
    weights : array (n,), optional
        Of the examples in the median distance.

    Returns
    -------
    list of KernelSpec

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels.kernels import auto_kernels
    >>> len(auto_kernels(np.arange(12.0).reshape(6, 2)))
    18
    >>> views = {"rna": np.arange(60.0).reshape(6, 10), "sex": ["f", "m"] * 3}
    >>> [type(spec.kernel).__name__ for spec in auto_kernels(views)]
    ['RBF', 'RBF', 'RBF', 'Linear', 'Categorical']
    """
    return choose_kernels(X, memory_limit, weights)[0]


def choose_kernels(
    X: Any, memory_limit: float | None = None, weights: ArrayLike | None = None
) -> tuple[list[KernelSpec], str]:
    """(the kernels of `auto_kernels`, a sentence that says what they are and what was left out)."""
    if hasattr(X, "alphabet"):
        raise ValueError(
            'kernels="auto" is for tables, and X holds sequences: list their kernels, [Spectrum(3), Spectrum(6)] for '
            "words anywhere, or degree_kernels(10) for words at a place where lengths are equal (manykernels.strings)."
        )
    source = Source(X)
    most = int(np.clip(ENTRIES / max(source.n, 1) ** 2, 0, MOST))
    if memory_limit is not None:
        most = min(most, int(memory_limit // (4 * max(source.n, 1) ** 2)))
    if None not in source.X:
        found = [_few(Table(source, view, weights)) for view in source.X]
        specs, said = [spec for part, _ in found for spec in part], [text for _, text in found if text]
    else:
        table = Table(source, None, weights)
        specs, text = _mixed(table, most) if is_frame(table.x) else _many(X, table, most, weights)
        said = [text]
    if not specs:
        raise ValueError(f'kernels="auto" finds nothing to learn from in X ({"; ".join(said)}): list the kernels.')
    return specs, f"{len(specs)} kernels: {'; '.join(said)}"


class Kinds(NamedTuple):
    """The columns of a table by what they hold, positions, and {position: why} of those that are left out."""

    numbers: list[int]
    categories: list[int]
    texts: list[int]
    out: dict[int, str]


class Table:
    """One view of X, or X itself, and what kernels on its columns need to know."""

    def __init__(self, source, view, weights):
        self.source, self.view, self.x, self.n = source, view, source.X[view], source.n
        self.given = source.present.get(view)
        self.weights = None if weights is None else np.asarray(weights, float)
        if self.given is not None:
            self.weights = self.given * (1.0 if self.weights is None else self.weights)
        if is_frame(self.x):
            self.labels = [str(name) for name in check_names(self.x)]
        else:
            self.labels = [str(k) for k in range(self.x.shape[1] if len(self.x.shape) == 2 else 1)]
        self.numeric = is_numeric(self.x)
        self.kinds = self._sort()

    def _sort(self):
        if self.numeric or sp.issparse(self.x):
            return Kinds(list(range(len(self.labels))), [], [], {})
        found = Kinds([], [], [], {})
        for k in range(len(self.labels)):
            column = self.column(k)
            where = _kind(column, self.n)
            if isinstance(where, str):
                found.out[k] = where
            else:
                found[where].append(k)
        return found

    def plain(self):
        """Whether an array of numbers without gaps could hold the same: then kernels are those of that array."""
        return len(self.kinds.numbers) == len(self.labels) and not missing_entries(values(self.x)).any()

    def column(self, k):
        """Column k, (n,), of the examples that have the view."""
        x = values(pick(self.x, [k]))[:, 0] if is_frame(self.x) else self.x if len(self.x.shape) == 1 else self.x[:, k]
        return x if self.given is None else x[self.given]

    def where(self, columns):
        """`columns` of a specification, names where there are some; all of them are None, or the view."""
        every = len(columns) == len(self.labels)
        if is_frame(self.x) and all(isinstance(name, str) for name in self.x.columns):
            columns = [self.labels[k] for k in columns]
        if self.view is None:
            return None if every else columns
        return self.view if every else (self.view, columns)

    def numbers(self, columns):
        """Columns (n, d) as numbers; sparse ones as they are."""
        x = self.source.cut(self.view, np.asarray(columns))
        x = x if sp.issparse(x) or is_numeric(x) else to_numbers(x, lambda: self.labels)
        if not sp.issparse(x):
            checked_view(x, True, False, lambda: self.source.labels(self.view, columns))  # names what is infinite
        return x

    def spec(self, kernel, columns, transformer=None, called=None):
        """A specification that takes gaps: new examples may have some where these have none."""
        return KernelSpec(called, kernel, self.where(columns), "zero", transformer=transformer)

    def called(self, k):
        """The name of the one kernel of a column of a frame: that of the column, behind its view."""
        if not is_frame(self.x):
            return None
        return self.labels[k] if self.view is None else f"{self.view}, {self.labels[k]}"

    def scaled(self, columns):
        """How numbers are scaled, in words."""
        gaps = np.isnan(np.asarray(self.numbers(columns), float)).any()
        return "standardised, gaps filled in by means" if gaps else "standardised"

    def rbfs(self, columns, n, ratio, scaled=False):
        """RBF kernels of n widths around the median distance, [(kernel)], of standardised columns where `scaled`."""
        x = self.numbers(columns)
        if scaled:
            x = np.asarray(x, float)
            keep = np.ones(len(x), bool) if self.weights is None else self.weights > 0
            with np.errstate(invalid="ignore"):
                mean, spread = np.nanmean(x[keep], axis=0), np.nanstd(x[keep], axis=0)
            x = np.where(np.isnan(x), 0.0, (x - mean) / np.where(spread > 0, spread, 1.0))
        middle = median_between(x, self.weights)
        return [RBF(float(gamma)) for gamma in ratio ** (np.arange(n) - (n - 1) / 2) / middle]

    def names(self, columns):
        some = ", ".join(repr(self.labels[k]) for k in columns[:5])
        return some + (f" and {len(columns) - 5} more" if len(columns) > 5 else "")


def _kind(column, n):
    """The number in `Kinds` of what a column holds, or why it is left out."""
    if column.dtype.kind in "mM":
        return "times"
    if column.dtype.kind == "c":
        return "complex numbers"
    known = column[~missing_entries(column)]
    if not len(known):
        return "nothing in it"
    texts = [isinstance(value, str | bytes) for value in known] if known.dtype.kind in "OUS" else [False]
    if not any(texts):
        try:
            different = len(np.unique(known.astype(float)))
        except (TypeError, ValueError):
            return "objects"
        return 0 if different > 1 else "one value only"
    different = len(set(map(str, known)))
    if different < 2:
        return "one value only"
    if different <= min(CATEGORIES, n / 2):
        return 1
    spaced = np.mean([" " in str(value).strip() for value in known])
    return 2 if spaced > 0.5 else f"{different} different texts"


def _many(X, table, most, weights):
    """Kernels of an array of numbers, on all columns and on each."""
    d = len(table.labels)
    specs = rbf_grid(X, n=7, ratio=4.0, weights=weights)
    specs += [KernelSpec(None, kernel) for kernel in (Linear(), Polynomial(2), Polynomial(3))]
    text = f"RBF of 7 widths, linear, polynomials of degree 2 and 3 on {'all' if d > 1 else 'the'} {_columns(d)}"
    some = _spread(range(d), (most - len(specs)) // 4) if d > 1 else []
    for column in some:
        specs += rbf_grid(X, columns=[column], n=3, ratio=8.0, weights=weights) + [KernelSpec(None, Linear(), [column])]
    return specs, text + _on_each(some, d)


def _mixed(table, most):
    """Kernels of a frame."""
    numbers, categories, texts, _ = table.kinds
    specs, said = [], []
    if numbers:
        scaled = not table.plain()
        scaler, how = (_scaler(), table.scaled(numbers)) if scaled else (_filled(), "as they are")
        kernels = [*table.rbfs(numbers, 7, 4.0, scaled=scaled), Linear(), Polynomial(2), Polynomial(3)]
        specs += [table.spec(kernel, numbers, scaler) for kernel in kernels]
        text = f"RBF of 7 widths, linear, polynomials of degree 2 and 3 on {_columns(len(numbers))} of numbers, {how}"
        some = _spread(numbers, (most - len(specs) - len(categories)) // 4) if len(numbers) > 1 else []
        for column in some:
            specs += [table.spec(kernel, [column]) for kernel in (*table.rbfs([column], 3, 8.0), Linear())]
        said.append(text + _on_each(some, len(numbers)))
    more, text = _others(table)
    return specs + more, "; ".join([*said, *text])


def _few(table):
    """Some kernels of a view."""
    numbers = table.kinds.numbers
    specs, said = [], []
    if numbers:
        if sp.issparse(table.x):
            kernels, scaler, how = table.rbfs(numbers, 3, 8.0), None, "as they are"
        else:
            kernels, scaler, how = table.rbfs(numbers, 3, 8.0, scaled=True), _scaler(), table.scaled(numbers)
        specs += [table.spec(kernel, numbers, scaler) for kernel in (*kernels, Linear())]
        said.append(f"{FEW} on {_columns(len(numbers))} of numbers, {how}")
    more, text = _others(table)
    lacks = "" if table.given is None else ", 0 for examples that lack it"
    said = [*said, *text]
    return specs + more, f"{table.view!r}: {'; '.join(said)}{lacks}" if said else ""


def _others(table):
    """(kernels, phrases) of the columns that are no numbers."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    _, categories, texts, out = table.kinds
    specs, said = [], []
    for columns, make, what in (
        (categories, Categorical, "Categorical on"),
        (texts, lambda: Features(TfidfVectorizer()), "tf-idf of the words in"),
    ):
        specs += [table.spec(make(), [k], called=table.called(k)) for k in columns]
        if columns:
            said.append(f"{what} {table.names(columns)}" if len(table.labels) > 1 else what.rpartition(" ")[0])
    if out and not (table.kinds.numbers or specs) and table.view is not None:
        raise ValueError(
            f'kernels="auto" has no kernel for the view {table.view!r} ({next(iter(out.values()))}): list the kernels, '
            "of sequences strings.Spectrum(3), say."
        )
    for why in dict.fromkeys(out.values()):
        said.append(f"left out {table.names([k for k in out if out[k] == why])} ({why})")
    return specs, said


def _filled():
    """New examples may have gaps where these have none."""
    from sklearn.impute import SimpleImputer

    return SimpleImputer(keep_empty_features=True)


def _scaler():
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    return make_pipeline(_filled(), StandardScaler())


def _spread(columns, fit):
    """So many of the columns, evenly spaced, all where they fit."""
    if fit < 1:
        return []
    at = np.unique(np.linspace(0, len(columns) - 1, min(len(columns), fit)).astype(int))
    return [int(columns[k]) for k in at]


def _on_each(some, d):
    if not some:
        return ""
    return f"; {FEW} on " + ("each of them" if len(some) == d else f"each of {len(some)} of them, evenly spaced")


def _columns(d):
    return f"{d} column{'s'[: d != 1]}"
