"""Gene sets: files in the GMT format, the genes that data have, and a kernel for each set.

    k_m(x, x') = k(x[genes of set m], x'[genes of set m])

With `Linear`, the default, fits read the columns of the genes themselves: sparse ones stay sparse, and no kernel matrix
is stored, for thousands of sets too.
"""

import gzip
from collections.abc import Iterable, Mapping
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from .._callers import warn
from .._validation import check_integer
from ..kernels.annotated import as_views, is_annotated
from ..kernels.base import Kernel
from ..kernels.frames import check_names, is_frame, listed
from ..kernels.linear import Linear
from ..kernels.spec import KernelSpec
from ..kernels.view_data import is_views
from ..kernels.views import Views, by_name

GROUP_MARK = ": "  # between a database and a set in names of kernels


class MatchedSets(NamedTuple):
    """Gene sets on the columns of data.

    Parameters
    ----------
    sets : dict
        {set: the names of its columns}, for sets with enough genes.
    view : str or None
        The view of these columns, None if the data are one table.
    unmatched : list of str
        The genes of the sets that the data lack.
    respelled : dict
        {gene of a set: column} where upper and lower case differ.
    left_out : dict
        {set: the number of its genes in the data}, for the sets without a kernel.
    missing : bool
        Whether some examples lack the view.

    Examples
    --------
    >>> import numpy as np, pandas as pd
    >>> from manykernels.omics import match_sets
    >>> X = pd.DataFrame(np.eye(3), columns=["Tp53", "Myc", "Actb"])
    >>> match_sets({"a": ["TP53", "MYC", "ABC"], "b": ["Actb"]}, X, min_size=2).left_out
    {'b': 1}
    """

    sets: dict[str, list[str]]
    view: str | None
    unmatched: list[str]
    respelled: dict[str, str]
    left_out: dict[str, int]
    missing: bool = False

    def said(self) -> str:
        """A sentence on sets and genes that found no place; "" if all did."""
        parts = []
        if self.left_out:
            worst = ", ".join(f"{name} ({size})" for name, size in list(self.left_out.items())[:3])
            parts.append(f"{len(self.left_out)} sets have too few or too many genes in X and no kernel: {worst}, …")
        if self.unmatched:
            parts.append(f"X lacks {len(self.unmatched)} genes of the sets: {listed(self.unmatched)}")
        if self.respelled:
            one, other = next(iter(self.respelled.items()))
            parts.append(f"{len(self.respelled)} genes were matched in another case, such as {one!r} to {other!r}")
        return "; ".join(parts)


def read_gmt(
    paths: str | PathLike[str] | Iterable[str | PathLike[str]],
) -> dict[str, Any]:
    """Read gene sets from files in the GMT format: a line is name, description and genes, with tabs between them.

    Parameters
    ----------
    paths : path or list of paths
        Files may be compressed (.gz).

    Returns
    -------
    dict
        {set: genes} of one file; of a list of files {database: {set: genes}}, with the names of the files.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from manykernels.omics import read_gmt
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "hallmark.gmt"
    >>> _ = path.write_text("APOPTOSIS\\tnote\\tCASP3\\tBAX\\n")
    >>> read_gmt(path), read_gmt([path])
    ({'APOPTOSIS': ['CASP3', 'BAX']}, {'hallmark': {'APOPTOSIS': ['CASP3', 'BAX']}})
    """
    if isinstance(paths, str | PathLike):
        return _read(Path(paths))
    files = [Path(path) for path in paths]
    found: dict[str, Any] = {}
    for path in files:
        name = path.name.removesuffix(".gz").removesuffix(".gmt")
        if name in found:
            raise ValueError(f"paths has two files called {name!r}: give them different names.")
        found[name] = _read(path)
    if not found:
        raise ValueError("paths=[] has no file: give the path of a .gmt file.")
    return found


def _read(path):
    open_ = gzip.open if path.suffix == ".gz" else open
    found: dict[str, list[str]] = {}
    with open_(path, "rt", encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            if not line.strip():
                continue
            name, *rest = line.rstrip("\r\n").split("\t")
            if len(rest) < 2:
                raise ValueError(f"{path}, line {number}, has no gene: a line is name, description, genes, with tabs.")
            if name in found:
                raise ValueError(f"{path}, line {number}, has the set {name!r} again: give each set one line.")
            found[name] = list(dict.fromkeys(gene.strip() for gene in rest[1:] if gene.strip()))
    if not found:
        raise ValueError(f"{path} has no gene set: give a file in the GMT format.")
    return found


def match_sets(
    gene_sets: Mapping[str, Any], X: Any, *, min_size: int = 5, max_size: int | None = None, view: str | None = None
) -> MatchedSets:
    """The columns of X that the genes of each set are, by name; upper and lower case need not agree.

    Parameters
    ----------
    gene_sets : dict
        {set: genes}, or {database: {set: genes}}, as `read_gmt` returns them.
    X : frame, AnnData, MuData or Views
        With the names of the genes as names of columns.
    min_size, max_size : int
        Sets with fewer, or more, genes in X are left out; None for no limit.
    view : str, optional
        The view or modality that holds the genes; None: the one whose columns match most genes.

    Returns
    -------
    MatchedSets

    Examples
    --------
    >>> import numpy as np, pandas as pd
    >>> from manykernels.omics import match_sets
    >>> X = pd.DataFrame(np.eye(3), columns=["Tp53", "Myc", "Actb"])
    >>> match_sets({"a": ["TP53", "MYC"]}, X, min_size=1).sets
    {'a': ['Tp53', 'Myc']}
    """
    check_integer("min_size", min_size)
    if max_size is not None:
        check_integer("max_size", max_size, min_size)
    sets = _flat(gene_sets)
    tables, missing = _tables(X)
    genes = dict.fromkeys(gene for own in sets.values() for gene in own)
    if view is not None and view not in tables:
        raise ValueError(f"view={view!r} is not in X: its views with names of columns are {list(tables)}.")
    places = {name: _places(columns) for name, columns in tables.items() if view in (None, name)}
    name = max(places, key=lambda one: sum(_find(gene, *places[one]) is not None for gene in genes))
    found = {gene: _find(gene, *places[name]) for gene in genes}
    columns = {label: list(dict.fromkeys(found[g] for g in own if found[g] is not None)) for label, own in sets.items()}
    unmatched = [gene for gene, column in found.items() if column is None]
    if len(unmatched) == len(genes):
        raise ValueError(
            f"no gene of the sets is a column of X: the sets have {listed(list(genes)[:3])}, X has "
            f"{listed(tables[name][:3])}; give both in the same names, such as symbols."
        )
    fit = {label: min_size <= len(own) <= (np.inf if max_size is None else max_size) for label, own in columns.items()}
    kept = {label: own for label, own in columns.items() if fit[label]}
    left_out = {label: len(own) for label, own in columns.items() if not fit[label]}
    if not kept:
        most = f"and at most {max_size} " if max_size is not None else ""
        raise ValueError(
            f"no set has at least {min_size} {most}genes in X: the sizes are {min(left_out.values())} to "
            f"{max(left_out.values())}; change min_size or max_size, or give sets of other genes."
        )
    respelled = {gene: column for gene, column in found.items() if column is not None and column != gene}
    return MatchedSets(kept, name, unmatched, respelled, left_out, missing.get(name, False))


def set_kernels(
    gene_sets: Mapping[str, Any], X: Any, kernel: Kernel | None = None, *, min_size: int = 5,
    max_size: int | None = None, view: str | None = None, transformer: Any = None,
) -> list[KernelSpec]:  # fmt: skip
    """One kernel for each gene set, on the columns of its genes; sets may overlap.

    A warning names the sets without a kernel, and the genes that X lacks if these are more than half. For kernels other
    than `Linear`, thousands of examples and many sets, ``RandomFeatures(RBF("median"), rank=…)`` needs no kernel
    matrices either.

    Parameters
    ----------
    gene_sets : dict
        {set: genes}, or {database: {set: genes}}, as `read_gmt` returns them; kernels are then called
        "database: set", and `databases` finds the databases again.
    X : frame, AnnData, MuData or Views
        The data, for the names of their genes alone.
    kernel : Kernel, optional
        The kernel of each set; None for `Linear()`.
    min_size, max_size : int
        Sets with fewer, or more, genes in X are left out.
    view : str, optional
        The view or modality that holds the genes; None: the one whose columns match most genes.
    transformer : optional
        A transformer before each kernel, such as StandardScaler(), fitted on the genes of the set.

    Returns
    -------
    list of KernelSpec

    Examples
    --------
    >>> import numpy as np, pandas as pd
    >>> from manykernels import MKLClassifier
    >>> from manykernels.omics import set_kernels
    >>> X = pd.DataFrame(np.random.default_rng(0).normal(size=(60, 4)), columns=["A", "B", "C", "D"])
    >>> kernels = set_kernels({"first": ["A", "B"], "second": ["B", "C", "D"]}, X, min_size=2)
    >>> model = MKLClassifier(kernels, regularizer=1).fit(X, X["A"] + X["B"] > 0)
    >>> model.kernel_names_[model.kernel_weights_.argmax()]
    'first'
    """
    found = match_sets(gene_sets, X, min_size=min_size, max_size=max_size, view=view)
    if found.left_out or 2 * len(found.unmatched) > len({g for own in _flat(gene_sets).values() for g in own}):
        warn(found.said())
    kernel, missing = Linear() if kernel is None else kernel, "zero" if found.missing else "error"
    return [
        KernelSpec(name, kernel, own if found.view is None else (found.view, own), missing, transformer=transformer)
        for name, own in found.sets.items()
    ]


def databases(kernels: Iterable[KernelSpec]) -> list[str]:
    """The database of each kernel of `set_kernels`, for ``regularizer=GroupNorm(databases(kernels))``.

    Parameters
    ----------
    kernels : list of KernelSpec
        Of `set_kernels`; other kernels form groups by themselves.

    Returns
    -------
    list of str

    Examples
    --------
    >>> import numpy as np, pandas as pd
    >>> from manykernels.omics import databases, set_kernels
    >>> X = pd.DataFrame(np.eye(3), columns=["A", "B", "C"])
    >>> kernels = set_kernels({"go": {"x": ["A", "B"]}, "kegg": {"y": ["C"], "z": ["A"]}}, X, min_size=1)
    >>> databases(kernels)
    ['go', 'kegg', 'kegg']
    """
    return [str(spec.name).partition(GROUP_MARK)[0] for spec in kernels]


def _flat(gene_sets):
    """{name: genes}, with names "database: set" if sets are given by database."""
    if not isinstance(gene_sets, Mapping):
        raise ValueError(f"gene_sets is a {type(gene_sets).__name__}: give {{name: genes}}, such as read_gmt returns.")
    if not gene_sets:
        raise ValueError("gene_sets is empty: give {name: genes}, such as read_gmt returns.")
    found: dict[str, list[str]] = {}
    for name, own in gene_sets.items():
        if isinstance(own, Mapping):
            found |= {f"{name}{GROUP_MARK}{label}": list(genes) for label, genes in own.items()}
        elif isinstance(own, str):
            raise ValueError(f"gene_sets[{name!r}] is the text {own!r}: give a list of genes.")
        else:
            found[str(name)] = list(own)
    for name, own in found.items():
        strange = [gene for gene in own if not isinstance(gene, str)]
        if strange:
            raise ValueError(f"gene_sets[{name!r}] has {strange[0]!r}, which is no name of a gene: give texts.")
    return found


def _tables(X):
    """({view: names of its columns}, {view: whether examples lack it}) of the parts of X with named columns."""
    X = as_views(X) if is_annotated(X) else X
    if is_frame(X):
        return {None: [str(name) for name in check_names(X)]}, {}
    if not is_views(X):
        raise ValueError(f"X is a {type(X).__name__} without names of columns: give a DataFrame, an AnnData or Views.")
    parts = by_name(X)
    found = {name: [str(column) for column in check_names(x)] for name, x in parts.items() if is_frame(x)}
    if not found:
        raise ValueError(f"no view of X has names of columns ({list(parts)}): give frames, or an AnnData.")
    return found, {name: name in X.missing for name in found} if isinstance(X, Views) else {}


def _places(columns):
    """({column}, {column in upper case: column}), the latter of columns that only case tells apart from no other."""
    upper: dict[str, Any] = {}
    for column in columns:
        upper[column.upper()] = None if column.upper() in upper else column
    return set(columns), upper


def _find(gene, columns, upper):
    return gene if gene in columns else upper.get(gene.upper())
