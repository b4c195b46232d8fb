"""Kernel specifications `(name, kernel, columns, missing)` made concrete on one data set, and the views they look at."""

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from ._base import Kernel
from ._wrap import Function, as_kernel, len_


class KernelSpec(NamedTuple):
    """One kernel: its name (None: made from the kernel), the columns or view it sees, and missing="error"|"zero"."""

    name: str | None
    kernel: Any
    columns: Any = None
    missing: str = "error"


class View(NamedTuple):
    """The examples as one set of columns shows them: `present` (n,) is False where a source is missing."""

    X: Any
    present: np.ndarray | None


class KernelList:
    """Resolved kernels `kernels` called `names`; kernel m sees view number `view_of[m]`, cut out by `columns[m]`."""

    @classmethod
    def from_spec(cls, kernels, X, memory_limit=None):
        """Reads what a user may give as `kernels`: a list of specifications, one kernel, or "auto"."""
        if isinstance(kernels, KernelList):
            return kernels
        if isinstance(kernels, str) and kernels == "auto":
            from .grids import auto_kernels

            kernels = auto_kernels(X, memory_limit)
        if isinstance(kernels, Kernel | str | KernelSpec) or not hasattr(kernels, "__iter__"):
            kernels = [kernels]
        specs = [_as_spec(k) for k in kernels]
        if not specs:
            raise ValueError("kernels=[] has no kernel; give at least one, such as RBF(gamma=0.1).")
        return cls(specs, X)

    def __init__(self, specs, X):
        source = _Source(X)
        self.n_features = source.n_features
        self._keys, self.view_of, self.columns = [], np.empty(len(specs), int), []
        numbers, labels = {}, []
        for m, spec in enumerate(specs):
            view, columns, label = source.resolve(spec.columns)
            identity = (view, None if columns is None else columns.tobytes())
            if identity not in numbers:
                numbers[identity] = len(self._keys)
                self._keys.append((view, columns, source.names(view, spec.columns, columns)))
            self.view_of[m] = numbers[identity]
            self.columns.append(columns)
            labels.append(label)
        wrapped = [as_kernel(spec.kernel) for spec in specs]
        self.zero = np.zeros(len(self._keys), bool)  # views whose missing rows give zero kernel rows
        for m, spec in enumerate(specs):
            if spec.missing not in ("error", "zero"):
                raise ValueError(f'missing={spec.missing!r} of kernel {m} must be "error" or "zero".')
        strict = {v for v, s in zip(self.view_of, specs, strict=True) if s.missing == "error"}
        self.zero[[v for v in range(len(self._keys)) if v not in strict]] = True
        self.raw = np.ones(len(self._keys), bool)  # views that only functions and fitted objects see: anything goes
        for v, k in zip(self.view_of, wrapped, strict=True):
            self.raw[v] &= k.base == "gram" or isinstance(k, Function)
        views = self.views(X)
        self.kernels = [k.resolve(views[v].X) for v, k in zip(self.view_of, wrapped, strict=True)]
        self.names = _names(specs, self.kernels, labels)

    @property
    def M(self):
        return len(self.kernels)

    def __len__(self):
        return len(self.kernels)

    def views(self, X, which=None):
        """The distinct views of X, checked: a list of View, None for those whose number is not in `which`."""
        source = _Source(X)
        if source.n_features != self.n_features:
            raise ValueError(
                f"X has {source.n_features} features, but the kernels were specified on {self.n_features}; "
                "give X with the columns it was fitted with."
            )
        wanted = range(len(self._keys)) if which is None else set(which)
        views = [None] * len(self._keys)
        for v in wanted:
            x = source.cut(*self._keys[v])
            views[v] = (
                View(x, None) if self.raw[v] and not _numeric(x) else _check(x, self.zero[v], source.finite, v, self)
            )
        return views


class _Source:
    """X as arrays by view name: {None: array} for an array, a CSR matrix or a DataFrame, else the dict's entries."""

    def __init__(self, X):
        if isinstance(X, dict):
            if not X:
                raise ValueError("X={} has no view; give {name: array}.")
            self.X = {name: _as_columns(x) for name, x in X.items()}
            sizes = {name: len_(x) for name, x in self.X.items()}
            if len(set(sizes.values())) > 1:
                raise ValueError(f"The views of X have different numbers of examples: {sizes}.")
            self.n_features = {name: _width(x) for name, x in self.X.items()}
            self.finite = False
        else:
            self.X = {None: _as_columns(X)}
            self.n_features = _width(self.X[None])
            x = self.X[None]
            self.finite = _numeric(x) and bool(np.isfinite(x.data.sum() if sp.issparse(x) else np.sum(x)))

    def resolve(self, columns):
        """(view name, column indices or None for all, label) of a `columns` specification."""
        view, rest = None, columns
        if None not in self.X:
            view, rest = columns if isinstance(columns, tuple) and len(columns) == 2 else (columns, None)
            if not isinstance(view, str) or view not in self.X:
                if len(self.X) > 1 or view is not None:
                    raise ValueError(f"columns={columns!r} names no view of X; its views are {list(self.X)}.")
                view = next(iter(self.X))
        X = self.X[view]
        prefix = "" if view is None else str(view)
        if callable(rest):
            rest = rest(X)
        if rest is None:
            return view, None, prefix or "all"
        indices = _column_indices(rest, X)
        if indices.size == 0:
            raise ValueError(f"columns={columns!r} selects no column.")
        return view, indices, f"{prefix}:{_label(rest, indices)}" if prefix else _label(rest, indices)

    def names(self, view, columns, indices):
        """The columns' names where X has names, to select new data by."""
        frame = self.X[view]
        return None if indices is None or not hasattr(frame, "columns") else [frame.columns[i] for i in indices]

    def cut(self, view, columns, names):
        if view not in self.X:
            raise ValueError(f"X lacks the view {view!r}; it has {list(self.X)}.")
        x = self.X[view]
        if hasattr(x, "columns"):
            if names is not None:
                lost = [c for c in names if c not in x.columns]
                if lost:
                    raise ValueError(f"X lacks the columns {lost}.")
                x = x[names]
            x = x.to_numpy()
            return x.astype(float) if x.dtype == object and _castable(x) else x
        return x if columns is None else x[:, columns]


def _as_spec(spec):
    if isinstance(spec, KernelSpec):
        return spec
    if isinstance(spec, tuple):
        if not 2 <= len(spec) <= 4 or not (spec[0] is None or isinstance(spec[0], str)):
            raise ValueError(
                f"{spec!r} is not (name, kernel), (name, kernel, columns) or (name, kernel, columns, missing)."
            )
        return KernelSpec(*spec)
    return KernelSpec(None, spec)


def _as_columns(X):
    """X with .shape: sparse as CSR, all-numeric frames, arrays and lists as they are."""
    if sp.issparse(X):
        return X.tocsr()
    if hasattr(X, "columns") and hasattr(X, "to_numpy"):
        return X
    if hasattr(X, "shape"):
        return X if isinstance(X, np.ndarray) else np.asarray(X)
    try:
        return np.asarray(X)
    except ValueError:  # a list of graphs or the like, of different sizes
        items = np.empty(len(X), object)
        items[:] = X
        return items


def _width(X):
    return X.shape[1] if X.ndim == 2 else 1


def _numeric(x):
    return hasattr(x, "dtype") and getattr(x.dtype, "kind", "O") in "fiub"


def _castable(x):
    try:
        x.astype(float)
    except (TypeError, ValueError):
        return False
    return True


def _column_indices(columns, X):
    """Positions of `columns`, which may be names, positions, a slice of either or a mask."""
    names = list(X.columns) if hasattr(X, "columns") else None
    d = _width(X)
    if isinstance(columns, slice):
        if isinstance(columns.start, str) or isinstance(columns.stop, str):
            start = None if columns.start is None else int(_column_indices(columns.start, X)[0])
            stop = None if columns.stop is None else int(_column_indices(columns.stop, X)[0]) + 1
            columns = slice(start, stop, columns.step)
        return np.arange(d)[columns]
    keys = np.atleast_1d(np.asarray(columns))
    if keys.dtype.kind in "UO" and all(isinstance(k, str) for k in keys):
        if names is None:
            raise ValueError(f"columns={columns!r} are names, but X has none; give positions or a DataFrame.")
        unknown = [k for k in keys if k not in names]
        if unknown:
            raise ValueError(f"columns={unknown!r} are not among the columns of X: {names}.")
        return np.array([names.index(k) for k in keys], int)
    if keys.dtype.kind == "b":
        if keys.size != d:
            raise ValueError(f"columns is a mask of {keys.size} entries, but X has {d} columns.")
        return np.flatnonzero(keys)
    if keys.dtype.kind not in "iu" and keys.size:
        raise ValueError(f"columns={columns!r} must be names, positions, a slice, a mask, a function or None.")
    if keys.size and not (-d <= keys.min() and keys.max() < d):
        raise ValueError(f"columns={columns!r} are out of range: X has {d} columns.")
    return keys.astype(int) % max(d, 1)


def _label(columns, indices):
    if isinstance(columns, str):
        return columns
    if isinstance(columns, slice):
        return ":".join("" if v is None else str(v) for v in (columns.start, columns.stop))
    if indices.size <= 4:
        return ",".join(str(c) for c in np.atleast_1d(np.asarray(columns))) if indices.size else "none"
    return f"{indices.size} columns"


def _names(specs, kernels, labels):
    given = [spec.name for spec in specs if spec.name is not None]
    twice = sorted({name for name in given if given.count(name) > 1}) if len(set(given)) < len(given) else []
    if twice:
        raise ValueError(f"Kernel names must differ, but {twice} occur more than once.")
    taken, count, names = set(given), {}, []
    for spec, kernel, label in zip(specs, kernels, labels, strict=True):
        name = spec.name
        if name is None:
            stem = name = f"{describe(kernel)}[{label}]"
            while name in taken:
                count[stem] = count.get(stem, 1) + 1
                name = f"{stem} #{count[stem]}"
            taken.add(name)
        names.append(name)
    return names


def describe(kernel):
    """A short name such as rbf(gamma=0.1)."""
    params = kernel.get_params(deep=False)
    text = ", ".join(
        f"{key}={value:.6g}"
        if isinstance(value, float)
        else f"{key}={describe(value)}"
        if isinstance(value, Kernel)
        else f"{key}={getattr(value, '__name__', None) or value}"
        for key, value in params.items()
    )
    return type(kernel).__name__.lower() + (f"({text})" if text else "")


def _check(x, zero, finite, v, kernels):
    """The view with missing rows put to 0, or a ValueError."""
    if not _numeric(x):
        try:
            x = x.astype(float)
        except (TypeError, ValueError) as error:
            raise ValueError(f"X is not numeric in the columns of a kernel: {error}") from error
    if x.ndim != 2:
        raise ValueError(f"X of shape {x.shape} must have two dimensions; reshape one column with X.reshape(-1, 1).")
    if x.shape[0] == 0 or x.shape[1] == 0:
        raise ValueError(f"X of shape {x.shape} has no examples or no features.")
    if finite:
        return View(x, None)
    data = x.data if sp.issparse(x) else x
    bad = ~np.isfinite(data)
    if not bad.any():
        return View(x, None)
    if np.isinf(data).any():
        raise ValueError("X contains infinity; replace it or leave those columns out.")
    if not zero:
        names = [m for m in np.flatnonzero(kernels.view_of == v)]
        raise ValueError(
            f"X contains NaN in the columns of kernel {names[0]}; fill it in, or give the kernel as "
            '(name, kernel, columns, "zero") for examples that lack this source.'
        )
    if sp.issparse(x):
        raise ValueError('missing="zero" needs dense data, X is sparse and contains NaN; pass X.toarray().')
    present = ~bad.any(axis=1)
    return View(np.where(present[:, None], x, 0.0), present)
