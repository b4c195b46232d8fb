"""Columns of one table as sources, where kernels share columns: tables without a column, and kernels that see the rest.

The kernels of a table may overlap, such as kernels on all columns beside kernels on single ones. A source is then a
smallest set of columns: columns that the same kernels see. Taking it away changes every kernel that sees it.
"""

from collections.abc import Collection, Sequence
from dataclasses import replace
from numbers import Real
from typing import Any

import numpy as np
from sklearn.base import clone

from ..estimators.check_inputs import take_examples
from ..kernels.frames import is_frame, is_pandas, missing_entries
from ..kernels.metric import MetricKernel
from ..kernels.spec import KernelSpec, as_spec
from ..kernels.view_data import n_examples


def is_table(X: Any) -> bool:
    """Whether X is one table whose columns can be exchanged: a frame, or a dense array (n, d)."""
    return is_frame(X) or isinstance(X, np.ndarray) and X.ndim == 2


def specs_of(kernels: Any) -> list[KernelSpec]:
    """The specifications of the `kernels` of an estimator, [] if it has no list of them."""
    return [as_spec(one) for one in kernels] if isinstance(kernels, list | tuple) else []


def columns_seen(kernel_list: Any, d: int) -> list[frozenset[int]]:
    """The positions of the columns that each kernel of a table of d columns sees."""
    return [
        _across(plan.join, d) if (plan := kernel_list.view_plans[v]).join is not None
        else frozenset(range(d) if own is None else own.tolist())
        for v, own in zip(kernel_list.view_of, kernel_list.columns, strict=True)
    ]  # fmt: skip


def _across(kernel_list, d):
    return frozenset().union(*columns_seen(kernel_list, d))


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


def with_one_value(X: Any) -> Any:
    """The table X with the first known entry of each column in all its rows."""
    first: dict[int, list[int]] = {}
    for k in range(X.shape[1]):
        entries = X[:, k] if not is_frame(X) else (X.iloc[:, k] if is_pandas(X) else X.get_columns()[k]).to_numpy()
        first.setdefault(int(np.argmin(missing_entries(entries))), []).append(k)
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
