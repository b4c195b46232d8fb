"""Sources: groups of kernels that read the same data, or columns of one table where kernels share columns.

The kernels of a table may overlap, such as kernels on all columns beside kernels on single ones. A source is then a
smallest set of columns: columns that the same kernels see. Taking it away changes every kernel that sees it.
"""

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.utils.validation import _is_fitted

from ..estimators.check_inputs import take_examples
from ..kernels.annotated import NamedMatrix
from ..kernels.frames import is_frame, is_pandas, missing_entries
from ..kernels.metric import MetricKernel
from ..kernels.spec import KernelSpec, specs_of
from ..kernels.view_data import n_examples

MIN_SHARED = 0.5  # of the columns of the smaller of two joined sources
MAX_KERNEL_ROWS = 50  # with more kernels a table has no rows for single kernels


def columns_seen(kernel_list: Any, d: int) -> list[frozenset[int]]:
    """The positions of the columns that each kernel of a table of d columns sees."""
    return [
        frozenset().union(*columns_seen(plan.join, d)) if (plan := kernel_list.view_plans[v]).join is not None
        else frozenset(range(d) if own is None else own.tolist())
        for v, own in zip(kernel_list.view_of, kernel_list.columns, strict=True)
    ]  # fmt: skip


def column_sources(X: Any, kernel_list: Any, usual: dict[str, np.ndarray]) -> dict[str, tuple[int, ...]]:
    """{name: columns}, the smallest sets of columns that kernels see; {} if no two of the `usual` sources overlap.

    Two columns belong to one set if the same sources see them. A set that a source sees alone has the source's name.
    """
    seen = columns_seen(kernel_list, X.shape[1])
    own = {name: seen[which[0]] for name, which in usual.items()}
    by: dict[frozenset, list[int]] = {}
    for column in range(X.shape[1]):
        by.setdefault(frozenset(name for name, columns in own.items() if column in columns), []).append(column)
    by.pop(frozenset(), None)
    if all(len(names) == 1 for names in by):
        return {}
    called = {columns: name for name, columns in own.items()}
    return {called.get(frozenset(c)) or _label(X, kernel_list.view_plans[0], c): tuple(c) for c in by.values()}


def _label(X, plan, columns):
    """The name of columns that no kernel sees alone."""
    names = [X.columns[k] for k in columns] if is_frame(X) else None
    if names and len(names) == 1:
        return str(names[0])
    return replace(plan, name=None, columns=np.array(columns), column_names=names, join=None).label()


def mixed(X: Any, other: Any, columns: Collection[int]) -> Any:
    """The table X (n, d) with these columns of the table `other`, of the same rows and columns."""
    if isinstance(X, NamedMatrix):
        return NamedMatrix(mixed(X.matrix, other.matrix, columns), X.columns)
    if sp.issparse(X):
        out, where = X.tolil(), list(columns)
        out[:, where] = other.tolil()[:, where]
        return out.tocsr()
    if not is_frame(X):
        out, where = X.copy(), list(columns)
        out[:, where] = other[:, where]
        return out
    if not is_pandas(X):  # polars
        return X.with_columns(*(other.get_columns()[k] for k in columns))
    out = X.copy()
    for k in columns:
        out.isetitem(k, other.iloc[:, k].array)
    return out


def entries_of(X: Any, k: int) -> np.ndarray:
    """The entries (n,) of a column of a table, by its position."""
    return X[:, k] if not is_frame(X) else (X.iloc[:, k] if is_pandas(X) else X.get_columns()[k]).to_numpy()


def with_one_value(X: Any) -> Any:
    """The table X with the first known entry of each column in all its rows."""
    first: dict[int, list[int]] = {}
    for k in range(X.shape[1]):
        first.setdefault(int(np.argmin(missing_entries(entries_of(X, k)))), []).append(k)
    out = X
    for row, columns in first.items():
        out = mixed(out, take_examples(X, np.full(n_examples(X), row)), columns)
    return out


def seeing_only(
    specs: Sequence[KernelSpec], kernel_list: Any, less: Any, kept: Collection[int], spread: np.ndarray
) -> list[KernelSpec]:
    """The specifications of kernels that see only the columns `kept`: the others hold one value in the table `less`.

    A kernel of plain columns reads fewer of them; a transformer stays, and makes of a column with one value what it
    may. A number gamma becomes gamma · V/V′ with the sums V (`spread`, (M,)) and V′ of the variances of the kernel's
    columns before and after, so that examples are as far apart as before: on standardised columns d/d′.
    """
    seen, found = columns_seen(kernel_list, less.shape[1]), list(specs)
    named = is_frame(less) and all(isinstance(name, str) for name in less.columns)
    cut = [m for m, columns in enumerate(seen) if columns.intersection(kept) and not columns.issubset(kept)]
    for m in cut:
        if specs[m].transformer is None and kernel_list.view_plans[kernel_list.view_of[m]].join is None:
            left = sorted(seen[m].intersection(kept))
            found[m] = specs[m]._replace(columns=[less.columns[k] for k in left] if named else left)
            kernel = specs[m].kernel
            if isinstance(kernel, MetricKernel) and kernel.metric is not None and not kernel.to_learn:
                own = kernel_list.columns[m] if kernel_list.columns[m] is not None else np.arange(less.shape[1])
                scales = dict(zip(own.tolist(), np.asarray(kernel.metric, float), strict=True))
                found[m] = found[m]._replace(kernel=kernel.with_metric([scales[k] for k in left]))
    fixed = [m for m in cut if np.isfinite(spread[m])]
    for m, after in zip(fixed, spreads(specs, kernel_list, less, fixed)[fixed], strict=True):
        if after > 0:
            kernel = clone(found[m].kernel).set_params(gamma=float(specs[m].kernel.gamma * spread[m] / after))
            found[m] = found[m]._replace(kernel=kernel)
    return found


def spreads(specs: Sequence[KernelSpec], kernel_list: Any, X: Any, which: Collection[int]) -> np.ndarray:
    """The sums of the variances of the columns that kernels are given, (M,); NaN unless in `which` and gamma a number.

    X passes through the transformers of the list.
    """
    from sklearn.preprocessing import StandardScaler

    found = np.full(len(specs), np.nan)
    # a user's kernel may have no gamma
    own = [m for m in which if isinstance(getattr(specs[m].kernel, "gamma", None), Real)]
    views = kernel_list.views(X, np.unique(kernel_list.view_of[own])) if own else []
    for v in {int(kernel_list.view_of[m]) for m in own}:
        x = views[v].X if views[v].present is None else views[v].X[views[v].present]
        found[[m for m in own if kernel_list.view_of[m] == v]] = StandardScaler(with_mean=False).fit(x).var_.sum()
    return found


class Row(NamedTuple):
    """A row of a table: its name, its kind, "source" or "kernel", and the mask (M,) of its kernels.

    A source may be `columns` (their positions) of a table instead: every kernel that sees one of them takes part, and
    the mask holds the kernels that see no others.
    """

    name: str
    kind: str
    wanted: np.ndarray
    columns: tuple[int, ...] | None = None


def together(rows: list[Row]) -> Row:
    """Rows of kernels, or rows of columns, as one."""
    columns = None if rows[0].columns is None else tuple(sorted({k for row in rows for k in row.columns or ()}))
    return Row("", "source", np.any([row.wanted for row in rows], axis=0), columns)


def read_sources(model: Any, fold: Any, sources: dict[str, Any] | None, kernels: bool | None) -> list[Row]:
    """The rows of a table: the sources, then the kernels that are not a source by themselves."""
    rows, names = kernel_rows(model, fold, sources), _names(model, fold)
    if sources is None:
        rows = column_rows(fold, {row.name: np.flatnonzero(row.wanted) for row in rows}) or rows
    if kernels or kernels is None and fold.M <= MAX_KERNEL_ROWS:
        single = {int(np.argmax(row.wanted)) for row in rows if row.columns is None and row.wanted.sum() == 1}
        taken = {row.name for row in rows}
        for m in sorted(set(range(fold.M)) - single):
            name = names[m] if names[m] not in taken else f"kernel {names[m]}"
            rows.append(Row(name, "kernel", np.arange(fold.M) == m))
    return rows


def kernel_rows(model: Any, fold: Any, sources: dict[str, Any] | None) -> list[Row]:
    """A row for each source of kernels, given or by default."""
    names = _names(model, fold)
    usual = default_sources(fold.kernel_list, names)
    chosen = usual if sources is None else given_sources(sources, names, usual)
    return [Row(name, "source", np.isin(np.arange(fold.M), which)) for name, which in chosen.items()]


def _names(model, fold):
    return list(model.kernel_names_) if _is_fitted(model) and len(model.kernel_names_) == fold.M else fold.names


def column_rows(fold: Any, usual: dict[str, np.ndarray]) -> list[Row]:
    """A row for each source of columns, if X is one table in which sources of kernels share columns, else []."""
    kernels, X = fold.kernel_list, fold.X
    table = is_frame(X) or isinstance(X, np.ndarray) and X.ndim == 2  # whose columns can be exchanged
    if not table or kernels is None or kernels.tasks is not None or len(specs_of(fold.model.kernels)) != fold.M:
        return []
    seen = columns_seen(kernels, X.shape[1])
    found = column_sources(X, kernels, usual).items()
    return [Row(name, "source", np.array([s and s <= set(own) for s in seen], bool), own) for name, own in found]


def default_sources(kernel_list: Any, names: list[str]) -> dict[str, np.ndarray]:
    """{name: indices of kernels}: the kernels of a view, of the same columns of a table, or each precomputed kernel.

    A kernel called "SOURCE, …" belongs to SOURCE if several kernels of the same columns are called so.
    If all kernels see one view, such as gene sets of one matrix, the kernels of its same columns are a source.
    Kernels across views or columns are separate sources; a source of one kernel has the name of the kernel.
    """
    if kernel_list is None:
        return {name: np.array([m]) for m, name in enumerate(names)}
    views = [str(view) for view in kernel_list.n_features] if isinstance(kernel_list.n_features, dict) else []
    found: dict[Any, list[int]] = {}
    labels = [kernel_list.seen(m) for m in range(kernel_list.M)]
    columns = [None if own is None else own.tobytes() for own in kernel_list.columns]
    one = len(set(labels)) == 1 and labels[0] in views and len(set(columns)) > 1 and kernel_list.chosen is None
    for m in range(kernel_list.M):
        found.setdefault(columns[m] if one else labels[m], []).append(m)
    chosen: dict[str, np.ndarray] = {}
    for label, which in found.items():
        single = len(which) == 1 and label not in views
        name = names[which[0]] if single else _stem([names[m] for m in which]) or (None if one else label)
        name = names[which[0]] if name in chosen or name is None else name
        chosen[str(name)] = np.array(which)
    for name in list(chosen):  # the categories of a table of a folder belong to its numbers
        source = name.rpartition(", ")[0]
        if name not in views and len(chosen.get(source, ())) > 1:
            chosen[source] = np.sort(np.concatenate([chosen[source], chosen.pop(name)]))
    return chosen


def _stem(names):
    """The common stem of kernels called "STEM, …", or ""."""
    stems = {name.rpartition(", ")[0] for name in names}
    return stems.pop() if len(stems) == 1 else ""


class Shared(NamedTuple):
    """A source, and other sources, none larger, that read some of its columns; `taken` if columns are the sources."""

    name: str
    others: list[str]
    taken: bool = False

    def said(self, show: Callable[[str], str] = str) -> str:
        """A sentence, with names formatted by `show`."""
        end = "a source is taken away from it too" if self.taken else (
            "leaving out one source does not take its columns away")  # fmt: skip
        return f"{show(self.name)} also sees the columns of {listed(self.others, show)}: {end}"


def listed(names: list[str], show: Callable[[str], str] = str) -> str:
    """The first three names, and how many more there are."""
    some = [show(name) for name in names[:3]] + [f"{len(names) - 3} more"] * (len(names) > 3)
    return " and ".join([", ".join(some[:-1]), some[-1]] if len(some) > 1 else some)


def overlapping_sources(fold: Any, rows: list[Row]) -> list[list[str]]:
    """The names of the sources of kernels that `joined_sources` groups; [] where columns are the sources."""
    own = [row for row in rows if row.kind == "source" and row.columns is None]
    groups = joined_sources(fold.kernel_list, own, {}) if own else []
    return [[own[k].name for k in group] for group in groups if len(group) > 1]


def shared_columns(fold: Any, rows: list[Row]) -> list[Shared]:
    """The sources that read columns of others, except sources that share kernels, which the user asked for.

    Where columns are the sources, these are the kernels of several of them.
    """
    kernel_list, sources = fold.kernel_list, [row for row in rows if row.kind == "source"]
    if kernel_list is None:
        return []
    if sources and sources[0].columns is not None:
        seen = columns_seen(kernel_list, fold.X.shape[1])
        usual = default_sources(kernel_list, fold.names).items()
        spans = {
            name: [row.name for row in sources if seen[which[0]] & set(row.columns or ())] for name, which in usual
        }
        return [Shared(name, others, True) for name, others in spans.items() if len(others) > 1]
    needs = [kernel_list.needs(row.wanted) for row in sources]
    by_size = sorted(range(len(sources)), key=lambda k: -size_of(needs[k]))
    found = []
    for at, k in enumerate(by_size):
        near = [j for j in by_size[at + 1 :] if _meet(needs[k], needs[j])]
        others = sorted(j for j in near if not (sources[j].wanted & sources[k].wanted).any())
        if others:
            found.append(Shared(sources[k].name, [sources[j].name for j in others]))
    return found


def joined_sources(
    kernel_list: Any, rows: list[Row], same: dict[Any, Any], views: dict[Any, str] | None = None
) -> list[list[int]]:
    """The indices of the rows, grouped if they read columns in common, directly or through other rows.

    Two rows are joined if they share at least half of the columns of the smaller one: without it, the model still sees
    most of what it saw. `same` maps a column to the first column with the same values, by position if columns are the
    sources, and `views` a view to the first such view. Sources that share kernels were asked for by the user, and are
    not grouped.
    """
    from scipy.sparse.csgraph import connected_components

    if kernel_list is None or len(rows) < 2 or np.sum([row.wanted for row in rows], axis=0).max() > 1:
        return [[k] for k in range(len(rows))]
    needs = [kernel_list.needs(row.wanted) if row.columns is None else {None: set(row.columns)} for row in rows]
    first: dict[Any, Any] = views or {}
    read = [[(first.get(view, view), columns) for view, columns in need.items()] for need in needs]
    whole = {view for need in read for view, columns in need if columns is None}
    seen = [
        {(view, c) for view, own in need for c in ([None] if view in whole else [same.get(c, c) for c in own or ()])}
        for need in read
    ]
    place = {one: c for c, one in enumerate(set().union(*seen))}
    at, ends = [place[one] for own in seen for one in own], np.cumsum([0, *map(len, seen)])
    sees = sp.csr_array((np.ones(len(at)), np.array(at, int), ends), (len(rows), len(place)))
    common = (sees @ sees.T).toarray()
    size = np.diagonal(common)
    near = (common > 0) & (common >= MIN_SHARED * np.minimum.outer(size, size))
    label = connected_components(near)[1]
    return [np.flatnonzero(label == group).tolist() for group in range(label.max() + 1)]


def size_of(needs: dict[Any, Any]) -> float:
    """The number of columns that {view: columns, None for all} holds."""
    return sum(np.inf if columns is None else len(columns) for columns in needs.values())


def _meet(one, other):
    """Whether two {view: columns, None for all} have a column in common."""
    return any(one[v] is None or other[v] is None or one[v] & other[v] for v in one.keys() & other.keys())


def given_sources(sources, names, usual):
    """{name: indices} of the user's sources, given by names or indices of kernels or names of default sources."""
    if not isinstance(sources, dict) or not sources:
        raise ValueError(f"sources={sources!r}: give {{name: kernels}}, with the names or numbers of the kernels.")
    return {str(name): _numbers(name, which, names, usual) for name, which in sources.items()}


def _numbers(source, which, names, usual):
    single = isinstance(which, str | Integral)
    found: list[int] = []
    for key in [which] if single else list(which):
        if isinstance(key, Integral) and not isinstance(key, bool) and -len(names) <= int(key) < len(names):
            found.append(int(key) % len(names))
        elif isinstance(key, str) and key in names:
            found.append(names.index(key))
        elif isinstance(key, str) and key in usual:
            found += usual[key].tolist()
        else:
            more = f" and {len(names) - 10} more" if len(names) > 10 else ""
            raise ValueError(
                f"sources[{source!r}] has {key!r}, which is no kernel: the kernels are {names[:10]}{more}, numbered "
                f"from 0 to {len(names) - 1}."
            )
    if not found:
        raise ValueError(f"sources[{source!r}] has no kernel: give one, or leave out the source.")
    return np.unique(found)
