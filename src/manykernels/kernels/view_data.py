"""The data of kernels: sets of columns of an array, a CSR matrix or a DataFrame, or views of a dict."""

from numbers import Real
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from .._packed import Packed
from .._validation import shown
from .frames import (
    called,
    check_masks,
    check_names,
    cut,
    is_frame,
    is_pandas,
    len_,
    missing_entries,
    pick,
    to_numbers,
    unknown_names,
    values,
)
from .views import Views

READS = ("views", "sequences", "objects", "numeric", "anything", "nothing")  # what kernels read, most specific first


class View(NamedTuple):
    """One set of columns of the examples: `present` (n,) is False for examples that lack it.

    `task` (n,) is the number of each example's task, −1 for a task that was not in the training data.
    """

    X: Any
    present: np.ndarray | None
    task: np.ndarray | None = None

    def of(self, rows):
        """The view of these examples alone."""
        return View(self.X[rows], *(cut(known, rows) for known in self[1:]))


class ViewArrays:
    """X as arrays by view name: {None: array} for an array, a CSR matrix or a DataFrame, else the dict's entries.

    A view that all examples lack may be None if `n_features` has its width. Lists in the views `objects` hold one
    object of any type per example. `present` has a mask for each view of a Views that some examples lack; their rows
    hold the data of any other example.
    """

    def __init__(self, X, n_features=None, objects=()):
        self.present, n, self._places = {}, None, {}
        if isinstance(X, Views):
            n = len(X)
            X, self.present = X.filled()
        if isinstance(X, dict):
            if not X:
                raise ValueError("X={} has no view; give {name: array}.")
            self.given = X
            opaque = X if None in objects and len(X) == 1 else objects
            for name, x in X.items():
                check_masks(f"X[{name!r}]", x)
            self.X = {name: None if x is None else _as_view(x, name in opaque) for name, x in X.items()}
            sizes = {name: len_(x) for name, x in self.X.items() if x is not None}
            if len(set(sizes.values())) != 1 and (sizes or n is None):
                raise ValueError(f"The views of X have different numbers of examples, or none: {sizes}.")
            self.n = next(iter(sizes.values()), n)
            self.n_features = {name: self._features(name, n_features) for name in X}
            self.finite = False
        else:
            check_masks("X", X)
            self.given = {None: X}
            x = _as_columns(X, None in objects)
            self.X, self.n, self.n_features = {None: x}, len_(x), _width(x)
            self.finite = is_numeric(x) and bool(np.isfinite(total(x)))

    def _features(self, name, n_features):
        if self.X[name] is not None:
            return _width(self.X[name])
        if not isinstance(n_features, dict) or name not in n_features:
            raise ValueError(f"X[{name!r}] is None: give an array, or leave the view out.")
        return n_features[name]

    def resolve(self, columns, name=None):
        """(view name, column indices or None for all, label) of a `columns` specification of the kernel `name`."""
        view, rest = None, columns
        if None not in self.X:
            columns = name if columns is None and name in self.X else columns
            view, rest = columns if isinstance(columns, tuple) and len(columns) == 2 else (columns, None)
            if not isinstance(view, str) or view not in self.X:
                if len(self.X) > 1 or view is not None:
                    which = f"columns={shown(columns)}" if columns is not None or name is None else repr(name)
                    raise ValueError(f"{which} names no view of X; its views are {list(self.X)}.")
                view = next(iter(self.X))
        X = self.X[view]
        prefix = "" if view is None else str(view)
        if callable(rest):
            rest = rest(X)
        if rest is None:
            return view, None, prefix or "all"
        indices = _column_indices(rest, X, lambda: self._place(view))
        if indices.size == 0:
            raise ValueError(f"columns={shown(columns)} selects no column.")
        return view, indices, f"{prefix}:{_label(rest, indices)}" if prefix else _label(rest, indices)

    def _place(self, view):
        """{name: position} of the columns of a view; pandas is slow to find names, and each kernel has some."""
        if view not in self._places:
            self._places[view] = {name: k for k, name in enumerate(self.X[view].columns)}
        return self._places[view]

    def names(self, view, indices):
        """The names of the columns if X has names; new data are selected by them."""
        frame = self.X[view]
        return None if indices is None or not is_frame(frame) else [frame.columns[i] for i in indices]

    def labels(self, view, columns=None, names=None):
        """The names of the columns of a view in messages, or their positions."""
        keys = self.keys(view, columns, names)
        return keys if view is None else [f"{view}: {key}" for key in keys]

    def keys(self, view, columns=None, names=None):
        """The names of the columns of a view, or their positions if X has no names."""
        if columns is None:
            columns = range(self.n_features if view is None else self.n_features[view])
        return list(names or self.names(view, columns) or np.asarray(columns).tolist())

    def cut(self, view, columns=None, names=None):
        """The columns of a view, by name if `names` are given and X has names; None if the view is None."""
        if view not in self.X:
            raise ValueError(f"X lacks the view {view!r}; it has {list(self.X)}.")
        x = self.X[view]
        if x is None:
            return None
        if is_frame(x):
            if names is not None:
                here = self._place(view)
                lost = [name for name in names if name not in here]
                if lost:
                    raise ValueError(f"X lacks columns: {unknown_names(lost, list(x.columns))}")
                one = x[names[0]] if len(names) == 1 and is_pandas(x) else None
                if one is not None and isinstance(one.dtype, np.dtype) and one.dtype.kind in "biuf":
                    return one.to_numpy()[:, None]  # of pandas, faster than a frame of one column
                columns = [here[name] for name in names]
            return values(x if columns is None else pick(x, columns))
        if isinstance(self.given[view], list | tuple) and x.dtype == object and isinstance(x[0], str | bytes):
            x = np.array(x.tolist())
        return x if columns is None else x[:, columns]

    def numbers(self, view, columns=None):
        """The columns of a view as numbers, missing ones NaN."""
        x = self.cut(view, columns)
        return x if is_numeric(x) else to_numbers(x, lambda: self.labels(view, columns))

    def column(self, view, columns=None, names=None):
        """The data of string kernels: a view as it was given, or one column of it."""
        if view not in self.given:
            raise ValueError(f"X lacks the view {view!r}; it has {list(self.given)}.")
        return self.given[view] if columns is None and names is None else self.cut(view, columns, names)


def total(x):
    """The sum of all entries; if it is not finite, an entry may be NaN or infinite, or the sum may overflow."""
    with np.errstate(over="ignore", invalid="ignore"):
        return x.data.sum() if sp.issparse(x) else np.sum(x)


def _as_columns(X, objects):
    """X with .shape: sparse matrices as CSR, lists as arrays; frames, arrays and sequences unchanged."""
    if sp.issparse(X):
        return X.tocsr()
    if isinstance(X, Packed):
        return X
    if is_frame(X):
        check_names(X)
        return X
    if hasattr(X, "shape"):  # the user's array of any library
        return X if isinstance(X, np.ndarray) else np.asarray(X)
    if objects:
        return one_by_one(X)
    if len(X) and isinstance(X[0], str | bytes):  # `cut` makes NumPy's strings, all as long as the longest
        return np.fromiter(X, object, len(X))
    try:
        return np.asarray(X)
    except ValueError:  # a list of graphs or the like, of different sizes
        return one_by_one(X)


def _as_view(X, objects):
    """The same; one number per example is one column (n, 1), unless kernels see objects."""
    x = _as_columns(X, objects)
    return x[:, None] if not objects and isinstance(x, np.ndarray) and x.ndim == 1 and _are_numbers(x) else x


def _are_numbers(x):
    if x.dtype != object:
        return is_numeric(x)
    known = x[~missing_entries(x)]
    return len(known) > 0 and all(isinstance(item, Real) for item in known)


def one_by_one(X):
    """A list as an array (n,) of objects; np.asarray would also convert lists and graphs inside it."""
    items = np.empty(len(X), object)
    for i, item in enumerate(X):
        items[i] = item
    return items


def _width(X):
    return X.shape[1] if len(X.shape) == 2 else 1


def n_examples(X):
    """The number of examples of an array, a list, a frame or a dict of views."""
    if is_views(X) and not isinstance(X, Views):
        X = next((x for x in X.values() if x is not None), ())
    return len_(X)


def is_views(X):
    """Whether X is a Views or a dict of views."""
    return isinstance(X, Views) or isinstance(X, dict) and not sp.issparse(X)  # scipy's DOK matrices are dicts


def is_numeric(x):
    return hasattr(x, "dtype") and getattr(x.dtype, "kind", "O") in "fiub"  # the user's array of any library


def _column_indices(columns, X, places):
    """The positions of `columns`: names, positions, a slice of either or a mask; places() is {name: position}."""
    d = _width(X)
    if isinstance(columns, slice):
        ends = [columns.start, columns.stop]
        if any(isinstance(end, str) for end in ends):
            first, last = (None if end is None else int(_column_indices(end, X, places)[0]) for end in ends)
            columns = slice(first, None if last is None else last + 1, columns.step)
        return np.arange(d)[columns]
    keys = np.atleast_1d(np.asarray(columns))
    if keys.dtype.kind in "UO" and all(isinstance(k, str) for k in keys):
        if not is_frame(X):
            raise ValueError(f"columns={shown(columns)} are names, but X has none; give positions or a DataFrame.")
        place = places()
        unknown = sorted(set(keys.tolist()) - place.keys())
        if unknown:
            raise ValueError(unknown_names(unknown, list(place)))
        return np.array([place[k] for k in keys.tolist()], int)
    if keys.dtype.kind == "b":
        if keys.size != d:
            raise ValueError(f"columns is a mask of {keys.size} entries, but X has {d} columns.")
        return np.flatnonzero(keys)
    if keys.dtype.kind not in "iu" and keys.size:
        raise ValueError(f"columns={shown(columns)} must be names, positions, a slice, a mask, a function or None.")
    if keys.size and not (-d <= keys.min() and keys.max() < d):
        raise ValueError(f"columns={shown(columns)} are out of range: X has {d} columns.")
    return keys.astype(int) % max(d, 1)


def _label(columns, indices):
    if isinstance(columns, str):
        return columns
    if isinstance(columns, slice):
        ends = (columns.start, columns.stop, columns.step)
        return ":".join("" if v is None else str(v) for v in ends[: 2 if columns.step is None else 3])
    if indices.size <= 4:
        return ",".join(str(c) for c in np.atleast_1d(np.asarray(columns)))
    return f"{indices.size} columns"


def string_view(x, encoding, zero):
    """The view as Sequences; with missing="zero", examples without a string (None, NaN, "", spaces) are absent."""
    if zero and not isinstance(x, Packed):
        items = np.asarray(x, object)
        items = items[:, 0] if items.ndim == 2 and items.shape[1] == 1 else items
        if items.ndim == 1:
            present = ~(missing_entries(items) | blank_entries(items))
            if not present.all():
                items = _filled(items, present)
                return View(None if items is None else encoding.read(items, checked=True), present)
    return View(encoding.read(x, checked=True), None)


def blank_entries(items):
    """The mask of the texts and bytes in an array that hold nothing but white space."""
    return np.frompyfunc(lambda item: isinstance(item, str | bytes) and not item.strip(), 1, 1)(items).astype(bool)


def object_view(x, zero):
    """The view as objects, (n,) if there is one column; with missing="zero", None and NaN are absent."""
    if len(x.shape) == 2 and x.shape[1] == 1 and not is_numeric(x):
        x = x[:, 0]
    if not zero or len(x.shape) != 1:
        return View(x, None)
    present = np.array([not (item is None or isinstance(item, float) and item != item) for item in x])
    if present.all():
        return View(x, None)
    return View(_filled(x, present), present)


def _filled(x, present):
    """The objects, one of them in place of the absent ones, whose kernel rows are set to 0; None if all are absent."""
    if not present.any():
        return None
    x, some = x.copy(), x[np.argmax(present)]
    for i in np.flatnonzero(~present):
        x[i] = some
    return x


def checked_view(x, zero, finite, labels):
    """The view with missing rows set to 0, or a ValueError that names columns by `labels()`."""
    if isinstance(x, Packed):
        raise ValueError(x.refusal)
    if len(x.shape) > 2:
        raise ValueError(
            f"X of shape {x.shape} must have two dimensions: give X.reshape(len(X), -1), a row of numbers per example; "
            'kernel matrices (n, n, M) are for kernels="precomputed".'
        )
    if not is_numeric(x):
        x = to_numbers(x, labels, "." if zero else None)
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
    infinite = np.isinf(data)
    if infinite.any():
        where = _where(x, infinite, labels)
        raise ValueError(
            f"X contains infinity{where}; replace it or leave those columns out. Numbers beyond 1.8e308 are infinite."
        )
    if not zero:
        raise ValueError(
            f"X contains NaN{_where(x, bad, labels)}, which a kernel sees; fill it in, or give the kernel as "
            '(name, kernel, columns, "zero") for examples that lack this source.'
        )
    if sp.issparse(x):
        raise ValueError('missing="zero" needs dense data, X is sparse and contains NaN; pass X.toarray().')
    present = ~bad.any(axis=1)
    return View(np.where(present[:, None], x, 0.0), present)


def _where(x, bad, labels):
    """A phrase that names the columns of the entries `bad`."""
    columns = np.unique(x.indices[bad]) if sp.issparse(x) else np.flatnonzero(bad.any(axis=0))
    names = labels()
    return f" in {called([names[j] for j in columns])}"
