"""What kernels="auto" stands for: kernels chosen from the data, and a sentence that says which."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from ..sequences import Sequences
from ._median import median_between
from .categorical import Categorical
from .frames import check_names, is_frame, to_numbers
from .linear import Linear
from .rbf import RBF
from .spec import KernelSpec
from .table import USED, ColumnFacts, choose_for, describe, entries, left_out, scaler, words
from .table import called as some_of
from .view_data import ViewArrays, checked_view, is_numeric

FEW = "RBF of 3 widths and linear"  # of a view


def auto_kernels(X: Any, memory_limit: float | None = None, weights: ArrayLike | None = None) -> list[KernelSpec]:
    """Kernels chosen from the data: what an estimator takes for kernels="auto".

    A table, as an array, a frame or a file of the command line: RBF and Laplacian kernels of three widths each on all
    numbers, which are standardised, gaps filled in by means; an example that lacks them all is like no other. An RBF
    kernel of the median width on each column of numbers, on columns called GROUP.x or GROUP:x together.
    `Categorical()` on each column of categories and of truth values, tf-idf on each of texts. More than 100 columns
    have no kernel each, fewer where n²M would be more than 2·10¹⁰ entries (or `memory_limit` float32 entries), and
    there are no Laplacian kernels where n²d is more than 2·10¹⁰. Dates, ids, numbers of rows, columns with one value,
    with more than 50 different texts that share no words, or nearly empty ones are left out.

    A sparse array, and each of several views: RBF kernels of three widths and a linear one on its numbers,
    standardised (sparse ones as they are), `Categorical()` or tf-idf on columns of the other kinds, and none on single
    columns of numbers.

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
    8
    >>> views = {"rna": np.arange(60.0).reshape(6, 10), "sex": ["f", "m"] * 3}
    >>> [type(spec.kernel).__name__ for spec in auto_kernels(views)]
    ['RBF', 'RBF', 'RBF', 'Linear', 'Categorical']
    """
    return choose_kernels(X, memory_limit, weights)[0]


def choose_kernels(
    X: Any, memory_limit: float | None = None, weights: ArrayLike | None = None
) -> tuple[list[KernelSpec], str]:
    """(the kernels of `auto_kernels`, a sentence that says what they are and what was left out)."""
    if isinstance(X, Sequences):
        raise ValueError(
            'kernels="auto" is for tables, and X holds sequences: list their kernels, [Spectrum(3), Spectrum(6)] for '
            "words anywhere, or degree_kernels(10) for words at a place where lengths are equal (manykernels.strings)."
        )
    source = ViewArrays(X)
    plain = None in source.X and not sp.issparse(source.X[None])
    if plain:
        table = Table(source, None, weights)
        specs, text = choose_for(table.columns, source.n, memory_limit)
        if table.of("numbers"):
            table.numbers(table.of("numbers"))  # names what is infinite
        specs, said = [spec._replace(columns=table.where(spec.columns)) for spec in specs], [text]
    else:
        found = [_few(Table(source, view, weights)) for view in source.X]
        specs, said = [spec for part, _ in found for spec in part], [text for _, text in found if text]
    if not specs:
        raise ValueError(
            f'kernels="auto" finds nothing to learn from in X ({"; ".join(said)}): list the kernels, of sequences '
            "one of strings, Spectrum(4) say."
        )
    return specs, said[0] if plain else f"{len(specs)} kernels: {'; '.join(said)}"


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
            self.labels = [f"column {k}" for k in range(self.x.shape[1] if len(self.x.shape) == 2 else 1)]
        if sp.issparse(self.x):
            self.columns = [ColumnFacts(name, "numbers") for name in self.labels]
        else:
            x = self.x.reshape(len(self.x), -1) if not is_frame(self.x) else None
            own = entries(self.x) if x is None else zip(self.labels, x.T, strict=True)
            self.columns = describe((name, x if self.given is None else x[self.given]) for name, x in own)

    def of(self, kind):
        """The columns of a kind, positions."""
        return [k for k, column in enumerate(self.columns) if column.kind == kind]

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


def _few(table):
    """Some kernels of a view."""
    numbers = table.of("numbers")
    specs, said = [], []
    if numbers:
        if sp.issparse(table.x):
            kernels, before, how = table.rbfs(numbers, 3, 8.0), None, "as they are"
        else:
            kernels, before, how = table.rbfs(numbers, 3, 8.0, scaled=True), scaler(), table.scaled(numbers)
        specs += [table.spec(kernel, numbers, before) for kernel in (*kernels, Linear())]
        said.append(f"{FEW} on {_columns(len(numbers))} of numbers, {how}")
    more, text = _others(table)
    lacks = "" if table.given is None else ", 0 for examples that lack it"
    said = [*said, *text]
    return specs + more, f"{table.view!r}: {'; '.join(said)}{lacks}" if said else ""


def _others(table):
    """(kernels, phrases) of the columns of a view that are no numbers."""
    specs, said = [], []
    for kind, make, what in (
        ("categories", Categorical, "Categorical on"),
        ("texts", words, "tf-idf of the words in"),
    ):
        columns = table.of(kind)
        specs += [table.spec(make(), [k], called=table.called(k)) for k in columns]
        if columns:
            names = some_of(table.columns, columns)
            said.append(f"{what} {names}" if len(table.labels) > 1 else what.rpartition(" ")[0])
    out = [column for column in table.columns if column.kind not in USED]
    if len(out) == len(table.columns):
        raise ValueError(
            f'kernels="auto" has no kernel for the view {table.view!r} ({out[0].why}): list the kernels, of sequences '
            "strings.Spectrum(3), say."
        )
    return specs, [*said, *left_out(table.columns)]


def _columns(d):
    return f"{d} column{'s'[: d != 1]}"
