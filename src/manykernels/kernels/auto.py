"""The choice of kernels="auto": kernels chosen from the data, and a sentence that describes them."""

from __future__ import annotations

import copy
from collections.abc import Collection
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from .._callers import OFFERS
from .._packed import Packed
from ._scaled import median_between
from .annotated import NamedMatrix
from .column_kinds import ColumnFacts, categories_of, describe, entries
from .frames import check_names, is_frame
from .metric import MetricKernel
from .spec import KernelSpec
from .table import DATES, choose_for, most_kernels, named_sources, note, of_source
from .table_scaler import TableScaler
from .view_data import ViewArrays, checked_view, is_numeric, one_by_one

SPARSE_FACTORS = 0.125, 1.0, 8.0  # gamma of numbers that stay as they are, in units of 1 / median distance
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
    each column of numbers, another the days and cycles of each column of
    dates, and a `Categorical()` each column of categories or truth values. Each column of texts has a tf-idf kernel.
    Beyond 100 columns, or if n²M would exceed 2·10¹⁰ entries (or `memory_limit` as float32 entries), single columns
    have no kernels. If n²d exceeds 2·10¹⁰, there are no Laplacian kernels. Ids, row numbers, columns with one value,
    dates in another form than 2024-03-01, columns with more than 50 different texts that share no words, and nearly
    empty columns get no kernel.

    Sequences get the kernels of `strings.sequence_kernels`: `Sequences`, lists of texts or bytes of DNA, RNA or amino
    acids, and columns of them in a table. Half of the texts have 8 letters or more (proteins that repeat as categories
    do, 20 or more).

    Named sources stay apart: no kernel sees two of them. Sources are the views of X, the modalities of a MuData, the
    tables of a folder on the command line, and two or more columns called GROUP.x or GROUP:x beside others in a table
    (up to 16 groups); the remaining columns of this table have kernels as a table has. A source gets RBF and Laplacian
    kernels of these three widths on all its numbers, and `Categorical()` or tf-idf on each of its other columns, but no
    kernels of single columns of numbers or of dates. Numbers that are sparse, or more than nine tenths of them 0, as
    counts of words are, are not standardised; they get RBF kernels of γ = 1/8, 1 and 8 times 1 / median ‖x − y‖², and a
    linear kernel. A sparse array has the same kernels. A warning names a source without a kernel.

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
    ['RBF', 'RBF', 'RBF', 'Laplacian', 'Laplacian', 'Laplacian', 'Categorical']
    """
    specs = choose_kernels(X, memory_limit, weights)[0]
    return [
        spec._replace(kernel=spec.kernel.with_metric(metric))
        if isinstance(spec.kernel, MetricKernel) and spec.prior == 1
        else spec
        for spec in specs
    ]


def choose_kernels(
    X: Any, memory_limit: float | None = None, weights: ArrayLike | None = None, sequences: Collection[str] = ()
) -> tuple[list[KernelSpec], str, str]:
    """(the kernels of `auto_kernels`, a sentence that lists them and the columns left out, a `note` to warn with).

    The columns of frames called `sequences` hold sequences, whatever their letters.
    """
    if is_sequences(X):
        return *_for_sequences(X), ""
    arrays, specs, said, columns = ViewArrays(X), [], [], []
    if None in arrays.X and not sp.issparse(arrays.X[None]):
        table = Table(arrays, None, weights, sequences)
        groups = named_sources(table.columns, most_kernels(arrays.n, memory_limit))
        grouped = {k for group in groups.values() for k in group}
        rest = table.part([k for k in range(len(table.columns)) if k not in grouped])
        sources = [table.part(group, stem) for stem, group in groups.items()]
        if rest.columns or not groups:
            own, text = choose_for(rest.columns, arrays.n, memory_limit, bool(groups))
            if numbers := rest.of("numbers"):
                rest.numbers(numbers)  # raises an error that names columns with infinity
            specs, said = rest.placed(own), [text.partition(": ")[2] if groups else text]
            columns += rest.columns
    else:
        sources = [Table(arrays, view, weights, sequences) for view in arrays.X]
    for table in sources:
        given = None if table.view is None else arrays.given[table.view]
        if is_sequences(given):
            own, text = _for_sequences(given, table.view)
        else:
            own, text, facts = _of_source(table, memory_limit)
            columns += facts
        specs, said = specs + own, [*said, text]
    if not specs:
        raise ValueError(
            f'kernels="auto" finds nothing to learn from in X ({"; ".join(said)}): list the kernels, for sequences '
            "a string kernel such as Spectrum(4)."
        )
    return specs, f"{len(specs)} kernels: {'; '.join(said)}" if sources else said[0], note(columns)


def is_sequences(X: Any) -> bool:
    """Whether X holds one sequence for each example: `Sequences`, or one column of sequences of DNA, RNA or proteins.

    Most entries are texts or bytes of 8 letters or more. A fit names the entries that are none.
    """
    if isinstance(X, Packed):
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
    before = "" if view is None else f"{view}, "
    specs = [KernelSpec(before + name, kernel, view) for name, kernel in found]
    text = f"{len(specs)} kernels of {called} sequences: {', '.join(name for name, _ in found)}"
    return specs, text if view is None else f"{view!r}: {text}"


class Table:
    """A view of X, or columns `which` of X itself, with the kinds of its columns; `source` is its name."""

    def __init__(self, arrays, view, weights, sequences):
        self.arrays, self.view, self.source, self.x = arrays, view, view, arrays.X[view]
        self.given = arrays.present.get(view)
        self.weights = None if weights is None else np.asarray(weights, float)
        if self.given is not None:
            self.weights = self.given * (1.0 if self.weights is None else self.weights)
        if is_frame(self.x):
            self.labels = [str(name) for name in check_names(self.x)]
        else:
            d = self.x.shape[1] if len(self.x.shape) == 2 else 1
            self.labels = [view] if view is not None and d == 1 else [f"column {k}" for k in range(d)]
        self.which = list(range(len(self.labels)))
        if sp.issparse(self.x) or isinstance(self.x, NamedMatrix):
            self.columns = [ColumnFacts(name, "numbers") for name in self.labels]
        else:
            x = self.x.reshape(len(self.x), -1) if not is_frame(self.x) else None
            own = entries(self.x) if x is None else zip(self.labels, x.T, strict=True)
            own = ((name, x if self.given is None else x[self.given]) for name, x in own)
            self.columns = describe(own, sequences, categories_of(self.x) if x is None else ())

    def part(self, which, source=None):
        """These columns alone; those of a source lose its name before theirs."""
        part, start = copy.copy(self), 0 if source is None else len(source) + 1
        part.source, part.which = source, which
        part.columns = [self.columns[k]._replace(name=self.columns[k].name[start:]) for k in which]
        return part

    def of(self, *kinds):
        """The positions of the columns of some kinds."""
        return [k for k, column in enumerate(self.columns) if column.kind in kinds]

    def placed(self, specs):
        """Specifications by position with columns by name if there are names; None, or the view, is all columns."""
        named = is_frame(self.x) and all(isinstance(name, str) for name in self.x.columns)
        return [spec._replace(columns=self._where([self.which[k] for k in spec.columns], named)) for spec in specs]

    def _where(self, columns, named):
        every = len(columns) == len(self.labels)
        if named:
            columns = [self.labels[k] for k in columns]
        if self.view is None:
            return None if every else columns
        return self.view if every else (self.view, columns)

    def numbers(self, columns):
        """Columns (n, d) as numbers, dense or sparse."""
        parts, columns = [self.columns[k].part for k in columns], [self.which[k] for k in columns]
        x = self.arrays.cut(self.view, np.asarray(columns))
        if not sp.issparse(x):
            labels = partial(self.arrays.labels, self.view, columns)
            x = x if is_numeric(x) else TableScaler(parts).read(x, labels).astype(float)
            checked_view(x, True, False, labels)  # refuses infinity
        return x


def _of_source(table, memory_limit):
    """(kernels, a phrase, the facts of the columns) of one of several sources."""
    name = "all numbers" if table.source is None else table.source
    numbers, widths = table.of("numbers"), []
    x = table.numbers(numbers) if numbers else None
    commas = any(column.commas for column in table.columns)  # only a transformer reads them
    if (
        numbers
        and not commas
        and (sp.issparse(x) or np.count_nonzero(x) < MIN_FILLED * x.size and not np.isnan(x).any())
    ):
        middle = median_between(x, table.weights)
        widths = [(factor, float(factor / middle)) for factor in SPARSE_FACTORS]
    columns = [c._replace(kind="record", why=DATES) if c.kind == "dates" else c for c in table.columns]
    specs, text = of_source(name, columns, table.arrays.n, memory_limit, widths)
    lacks = "" if table.given is None else ", 0 for examples that lack it"
    facts = [c if c.name == name else c._replace(name=f"{name}: {c.name}") for c in columns]
    before = "" if table.source is None else f"{table.source!r}: "
    return table.placed(specs), f"{before}{text}{lacks}", facts
