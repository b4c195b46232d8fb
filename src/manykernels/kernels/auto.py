"""The choice of kernels="auto": kernels chosen from the data, and a sentence that describes them."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from .._offers import OFFERS
from ..sequences import Sequences
from ._median import median_between
from .annotated import NamedMatrix
from .categorical import Categorical
from .frames import check_names, is_frame, to_numbers
from .linear import Linear
from .metric import MetricKernel
from .rbf import RBF
from .spec import KernelSpec
from .table import USED_KINDS, ColumnFacts, choose_for, describe, entries, left_out, of_sequences, scaler, words
from .table import called as some_of
from .view_data import ViewArrays, checked_view, is_numeric, one_by_one

VIEW_KERNELS = "RBF of 3 widths and linear"
MIN_FILLED = 0.1  # of the entries of a view: with fewer other than 0, standardising would blow up rare columns


def auto_kernels(
    X: Any, memory_limit: float | None = None, weights: ArrayLike | None = None, metric: str | None = None
) -> list[KernelSpec]:
    """Kernels chosen from the data: the kernels of an estimator with kernels="auto".

    A table (an array, a frame or a file of the command line) gets these kernels. RBF and Laplacian kernels of three
    widths each see all d columns of numbers, categories and dates together (γ = 0.3, 1 and 3 times 1/2d and 1/d). Each
    column counts as one: numbers are standardised, the indicators of categories, and the days and cycles of dates, have
    a total variance of 1 (`TableScaler`). Missing numbers and dates are replaced by means; an example without any entry
    has the kernel value 0 with all others. Beside them, with a prior of 0.2, an RBF kernel of the median width sees
    each column of numbers (columns called GROUP.x or GROUP:x share one), another the days and cycles of each column of
    dates, and a `Categorical()` each column of categories or truth values. Each column of texts has a tf-idf kernel.
    Beyond 100 columns, or if n²M would exceed 2·10¹⁰ entries (or `memory_limit` as float32 entries), single columns
    have no kernels. If n²d exceeds 2·10¹⁰, there are no Laplacian kernels. Ids, row numbers, columns with one value,
    dates in another form than 2024-03-01, columns with more than 50 different texts that share no words, and nearly
    empty columns get no kernel.

    Sequences get the kernels of `strings.sequence_kernels`: `Sequences`, lists of texts or bytes of DNA, RNA or amino
    acids, and columns of them in a table. Half of the texts have 8 letters or more (proteins that repeat as categories
    do, 20 or more).

    A sparse array, and each of several views, gets RBF kernels of three widths and a linear kernel on its numbers, and
    `Categorical()` or tf-idf on its other columns, but no kernels of single columns of numbers. The numbers are
    standardised, unless they are sparse or more than nine tenths of them are 0, as counts of words are.

    Parameters
    ----------
    X : array, DataFrame or dict of views
        The training data.
    memory_limit : float, optional
        Bytes.
    weights : array (n,), optional
        Weights of the examples in the median distance.
    metric : "learn" or None, default None
        The `metric` of the RBF and Laplacian kernels on all columns together, or on a view.

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
    specs = choose_kernels(X, memory_limit, weights)[0]
    return [
        spec._replace(kernel=spec.kernel.with_metric(metric))
        if isinstance(spec.kernel, MetricKernel) and spec.prior == 1
        else spec
        for spec in specs
    ]


def choose_kernels(
    X: Any, memory_limit: float | None = None, weights: ArrayLike | None = None
) -> tuple[list[KernelSpec], str]:
    """(the kernels of `auto_kernels`, a sentence that lists the kernels and the columns left out)."""
    if is_sequences(X):
        return _for_sequences(X)
    arrays = ViewArrays(X)
    plain = None in arrays.X and not sp.issparse(arrays.X[None])
    if plain:
        table = Table(arrays, None, weights)
        specs, text = choose_for(table.columns, arrays.n, memory_limit)
        if table.of("numbers"):
            table.numbers(table.of("numbers"))  # raises an error that names columns with infinity
        specs, said = [spec._replace(columns=table.where(spec.columns)) for spec in specs], [text]
    else:
        given = arrays.given
        found = [
            _for_sequences(given[view], view) if is_sequences(given[view]) else _few(Table(arrays, view, weights))
            for view in arrays.X
        ]
        specs, said = [spec for part, _ in found for spec in part], [text for _, text in found if text]
    if not specs:
        raise ValueError(
            f'kernels="auto" finds nothing to learn from in X ({"; ".join(said)}): list the kernels, for sequences '
            "a string kernel such as Spectrum(4)."
        )
    return specs, said[0] if plain else f"{len(specs)} kernels: {'; '.join(said)}"


def is_sequences(X: Any) -> bool:
    """Whether X holds one sequence for each example: `Sequences`, or one column of sequences of DNA, RNA or proteins.

    Most entries are texts or bytes of 8 letters or more. A fit names the entries that are none.
    """
    if isinstance(X, Sequences):
        return True
    if isinstance(X, dict | str) or sp.issparse(X) or is_frame(X):
        return False
    if not isinstance(X, list | tuple) and np.ndim(X) != 1 or not len(X):
        return False
    x = one_by_one(X) if isinstance(X, list | tuple) else np.asarray(X)
    return x.dtype.kind in "OSU" and describe([("X", x)])[0].kind == "sequences"


def _for_sequences(X, view=None):
    """(the kernels of sequences, a sentence that lists them)."""
    found = OFFERS["sequence kernels"]()(X)
    alphabet = found[0][1].alphabet
    called = alphabet if isinstance(alphabet, str) else alphabet.name
    before = "" if view is None else f"{view}: "
    specs = [KernelSpec(before + name, kernel, view) for name, kernel in found]
    text = f"{len(specs)} kernels of {called} sequences: {', '.join(name for name, _ in found)}"
    return specs, text if view is None else f"{view!r}: {text}"


class Table:
    """One view of X, or X itself, with the kinds of its columns."""

    def __init__(self, arrays, view, weights):
        self.arrays, self.view, self.x, self.n = arrays, view, arrays.X[view], arrays.n
        self.given = arrays.present.get(view)
        self.weights = None if weights is None else np.asarray(weights, float)
        if self.given is not None:
            self.weights = self.given * (1.0 if self.weights is None else self.weights)
        if is_frame(self.x):
            self.labels = [str(name) for name in check_names(self.x)]
        else:
            self.labels = [f"column {k}" for k in range(self.x.shape[1] if len(self.x.shape) == 2 else 1)]
        if sp.issparse(self.x) or isinstance(self.x, NamedMatrix):
            self.columns = [ColumnFacts(name, "numbers") for name in self.labels]
        else:
            x = self.x.reshape(len(self.x), -1) if not is_frame(self.x) else None
            own = entries(self.x) if x is None else zip(self.labels, x.T, strict=True)
            self.columns = describe((name, x if self.given is None else x[self.given]) for name, x in own)

    def of(self, kind):
        """The positions of the columns of a kind."""
        return [k for k, column in enumerate(self.columns) if column.kind == kind]

    def where(self, columns):
        """The `columns` of a specification, by name if there are names; None, or the view, stands for all columns."""
        every = len(columns) == len(self.labels)
        if is_frame(self.x) and all(isinstance(name, str) for name in self.x.columns):
            columns = [self.labels[k] for k in columns]
        if self.view is None:
            return None if every else columns
        return self.view if every else (self.view, columns)

    def numbers(self, columns):
        """Columns (n, d) as numbers, dense or sparse."""
        x = self.arrays.cut(self.view, np.asarray(columns))
        x = x if sp.issparse(x) or is_numeric(x) else to_numbers(x, lambda: self.labels)
        if not sp.issparse(x):
            checked_view(x, True, False, lambda: self.arrays.labels(self.view, columns))  # refuses infinity
        return x

    def spec(self, kernel, columns, transformer=None, called=None):
        """A specification with missing="zero", since new examples may have missing values."""
        return KernelSpec(called, kernel, self.where(columns), "zero", transformer=transformer)

    def called(self, k):
        """The name of the kernel of one column of a frame: "view, column"."""
        if not is_frame(self.x):
            return None
        return self.labels[k] if self.view is None else f"{self.view}, {self.labels[k]}"

    def scaled(self, columns):
        """A phrase that says how numbers are scaled."""
        gaps = np.isnan(np.asarray(self.numbers(columns), float)).any()
        return "standardised, gaps filled in by means" if gaps else "standardised"

    def mostly_zeros(self, columns):
        """Whether the numbers are sparse, or dense with few entries other than 0, such as counts of words."""
        x = self.numbers(columns)
        return sp.issparse(x) or np.count_nonzero(x) < MIN_FILLED * x.size and not np.isnan(x).any()

    def rbfs(self, columns, n, ratio, scaled=False):
        """RBF kernels of n widths around the median distance, of standardised columns if `scaled`."""
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
    """(kernels, phrase) of one view."""
    numbers = table.of("numbers")
    specs, said = [], []
    if numbers:
        if table.mostly_zeros(numbers):
            kernels, before, how = table.rbfs(numbers, 3, 8.0), None, "as they are"
        else:
            kernels, before, how = table.rbfs(numbers, 3, 8.0, scaled=True), scaler(), table.scaled(numbers)
        specs += [table.spec(kernel, numbers, before) for kernel in (*kernels, Linear())]
        said.append(f"{VIEW_KERNELS} on {_columns(len(numbers))} of numbers, {how}")
    more, text = _others(table)
    lacks = "" if table.given is None else ", 0 for examples that lack it"
    said = [*said, *text]
    return specs + more, f"{table.view!r}: {'; '.join(said)}{lacks}" if said else ""


def _others(table):
    """(kernels, phrases) of the columns of a view that hold no numbers."""
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
    for k in table.of("sequences"):
        own, text = of_sequences(table.columns[k], table.where([k]), table.called(k))
        specs, said = specs + own, [*said, text]
    out = [column for column in table.columns if column.kind not in USED_KINDS]
    if len(out) == len(table.columns):
        raise ValueError(
            f'kernels="auto" has no kernel for the view {table.view!r} ({out[0].why}): list the kernels, for sequences '
            "a string kernel such as Spectrum(3)."
        )
    return specs, [*said, *left_out(table.columns)]


def _columns(d):
    return f"{d} column{'s'[: d != 1]}"
