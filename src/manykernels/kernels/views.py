"""Several sources of the same examples in one container that scikit-learn can index and split."""

from collections.abc import Mapping
from copy import copy
from typing import Any, Self

import numpy as np
import scipy.sparse as sp

from .._parts import declared
from .._state import Stored
from .._validation import one_line
from .frames import cut, has_ids, len_, listed
from .ids import check_rows, matched, positions, take, unfit


class Views:
    """Sources of the same examples, by name: arrays, data frames, sparse matrices, lists of strings or objects.

    A row of a Views is an example. `train_test_split`, `cross_val_score` and `GridSearchCV` split a Views like a table;
    they cannot split a dict. A kernel names its view, ``(name, kernel, view)``; without a view it sees the view with
    the kernel's name.

    Parameters
    ----------
    views : dict
        {name: data}, each with a row per example. None is a view that no example has.
    ids : None, "index", str or dict, default=None
        None: row i of every view is the same example. Otherwise rows are matched by id: "index" takes the ids from
        pandas indices, another text from the column of that name in every frame (the data then exclude the column), and
        a dict has {name: ids, "index" or a column} for every view.
    examples : array-like, default=None
        The ids of the examples to keep, in this order, for example ``y.index``. None keeps all ids, in the order of
        their first appearance.

    Attributes
    ----------
    names : list of the names of the views
    ids : array (n,) of the ids, None if rows were not matched
    present : dict {name: mask (n,)}, False for examples that lack the view
    missing : dict {name: ids or positions of the examples that lack it}, for views that some examples lack
    shape : (n examples, n views)

    Notes
    -----
    An example that lacks a view has the kernel value 0 with all others in kernels with missing="zero",
    ``(name, kernel, view, "zero")``; other kernels raise an error.

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels import Views
    >>> X = Views({"rna": np.eye(3), "text": ["a b", "b"]}, ids={"rna": [7, 8, 9], "text": [9, 7]})
    >>> X
    Views(3 examples; rna: ndarray (3, 3); text: list (2,), 1 example lacks it)
    >>> X.missing
    {'text': array([8])}
    >>> X[X.present["text"]]["text"]
    ['b', 'a b']
    """

    def __init__(self, views: Mapping[str, Any], ids: Any = None, examples: Any = None) -> None:
        views = views._data if isinstance(views, Views) else views
        if not isinstance(views, Mapping) or hasattr(views, "shape") or not views:  # the user's object
            raise ValueError(f"views is {type(views).__name__}: give a dict {{name: data}} with at least one view.")
        for name, x in views.items():
            if not isinstance(name, str):
                raise ValueError(f"views has the name {name!r}: give each view a text as its name.")
            wrong = unfit(x)
            if wrong:
                raise ValueError(f"views[{name!r}] is {wrong}")
        if all(x is None for x in views.values()):
            raise ValueError(f"views has nothing in {list(views)}: give {{name: data}}.")
        given = {name: x.tocsr() if sp.issparse(x) else x for name, x in views.items()}
        self._data: dict[str, Any]
        self._present: dict[str, np.ndarray | None]
        self._data, self._present, self._ids, self._n = matched(given, ids, examples)

    def _with(self, data, present):
        views = copy(self)
        views._data, views._present = data, present
        return views

    @property
    def names(self) -> list[str]:
        return list(self._data)

    columns = names  # as a frame has

    @property
    def ids(self) -> np.ndarray | None:
        return self._ids

    @property
    def index(self) -> np.ndarray:
        """The ids, or positions if there are none."""
        return np.arange(self._n) if self._ids is None else self._ids

    @index.setter
    def index(self, ids: Any) -> None:
        if len(ids) != self._n:
            raise ValueError(f"index has {len(ids)} entries for {self._n} examples: give one id per example.")
        self._ids = None if self._ids is None else np.asarray(ids)

    @property
    def present(self) -> dict[str, np.ndarray]:
        return {name: np.ones(self._n, bool) if p is None else p.copy() for name, p in self._present.items()}

    @property
    def missing(self) -> dict[str, np.ndarray]:
        return {name: self.index[~p] for name, p in self._present.items() if p is not None}

    @property
    def shape(self) -> tuple[int, int]:
        return self._n, len(self._data)

    ndim = 2

    def __len__(self) -> int:
        return self._n

    def __contains__(self, name: Any) -> bool:
        return name in self._data

    def __iter__(self):
        return (self[i] for i in range(self._n))

    def __getitem__(self, key: Any) -> Any:
        """The Views of some rows (positions, a slice, a mask) or of some names; for one name, the data of the view.

        The data have rows only for the examples that have the view.
        """
        if isinstance(key, str):
            return self._data[self._known(key)]
        parts = [part for part in (key if isinstance(key, tuple) else (key,)) if part is not Ellipsis]
        names = parts[0] if len(parts) == 1 and isinstance(parts[0], list | np.ndarray) else []
        if len(names) and all(isinstance(name, str) for name in names):
            parts = [slice(None), names]
        if not 1 <= len(parts) <= 2:
            raise IndexError(f"{key!r} is no index of Views: give rows, names, or rows and names.")
        views = self if len(parts) == 1 else self._select(parts[1])
        rows = positions(parts[0], self._n, self._ids)
        return views if rows is None else views._cut(rows)

    def __setitem__(self, name: str, data: Any) -> None:
        """Replaces or adds a view: data with a row per example, or a Views of one view."""
        new = data if isinstance(data, Views) else Views({name: data})
        if new.shape != (self._n, 1) or not isinstance(name, str):
            raise ValueError(f"views[{name!r}] is set to {new!r}: give one view of {self._n} examples.")
        (self._data[name],), (self._present[name],) = new._data.values(), new._present.values()

    def take(self, indices: Any, axis: int = 0) -> Self:
        """The examples at these positions, or, with axis=1, the views."""
        return self[indices] if axis == 0 else self._select(indices)

    @property
    def iloc(self) -> Self:
        """`views.iloc[rows]` and `views.iloc[rows, views]`: the same as `views[...]`, for scikit-learn."""
        return self

    loc = iloc

    def copy(self) -> Self:
        """A new Views of the same data."""
        return self._with(dict(self._data), dict(self._present))

    def to_dict(self) -> dict[str, Any]:
        """{name: data}; a ValueError if examples lack a view, which a dict cannot express."""
        if self.missing:
            lost = "; ".join(f"{name} of {listed(ids.tolist())}" for name, ids in self.missing.items())
            raise ValueError(f"views lacks {lost}: a dict has all rows of all views; keep the examples that have them.")
        return dict(self._data)

    def _known(self, name):
        if name not in self._data:
            raise KeyError(f"there is no view {name!r}; the views are {self.names}")
        return name

    def _select(self, key):
        """The Views of some views, by name or position."""
        keys = np.arange(len(self._data))[key] if isinstance(key, slice) else np.atleast_1d(np.asarray(key))
        if keys.dtype.kind not in "UO":
            keys = np.asarray(self.names, object)[positions(keys, len(self._data))]
        names = [self._known(str(name)) for name in keys]
        return self._with({n: self._data[n] for n in names}, {n: self._present[n] for n in names})

    def _cut(self, rows):
        data, present = {}, {}
        for name, x in self._data.items():
            mask = self._present[name]
            at, some = (rows, None) if mask is None else ((np.cumsum(mask) - 1)[rows[mask[rows]]], mask[rows])
            data[name] = None if x is None else take(x, at)
            present[name] = None if some is None or some.all() else some
        views = self._with(data, present)
        views._ids, views._n = cut(self._ids, rows), len(rows)
        return views

    def with_nothing(self, names: list[str]) -> Self:
        """A Views with additional views that no example has."""
        none = dict.fromkeys(names)
        return self._with(self._data | none, self._present | none)

    def filled(self) -> tuple[dict[str, Any], dict[str, np.ndarray | None]]:
        """({name: data with a row for every example}, {name: mask (n,) or None}).

        An example that lacks the view has the row of any other; the data are None if no example has the view.
        """
        data = {}
        for name, x in self._data.items():
            mask = self._present[name]
            empty = x is None or mask is not None and not mask.any()
            data[name] = None if empty else x if mask is None else take(x, np.maximum(np.cumsum(mask) - 1, 0))
        return data, dict(self._present)

    def __array__(self, dtype=None, copy=None):
        raise ValueError(
            f"{self!r} is no table, so that it cannot be an array: give views[name], or an estimator that takes Views, "
            "such as MKLClassifier([(name, kernel, view), ...]); preprocess a view by (view, transformer, kernel)."
        )

    def __repr__(self):
        n = f"{self._n} example{'s'[: self._n != 1]}"
        return f"Views({n}; {'; '.join(_line(self, name) for name in self._data)})"


def check_dict(views):
    """A ValueError if the views of a dict have different numbers of rows, or indices of pandas that differ."""
    cure = by_index = 'Views(X, ids="index", examples=y.index)'
    if not all(x is None or has_ids(x) for x in views.values()):
        cure = "each a row per example, or Views(X, ids=...) to match their rows"
    check_rows(views, f"give {cure}", by_index)


def _line(views, name):
    x, mask = views._data[name], views._present[name]
    shape = () if x is None else tuple(getattr(x, "shape", (len_(x),)))  # the user's list has none
    what = "nothing" if x is None else f"{type(x).__name__} {shape}"
    lost = 0 if mask is None else int((~mask).sum())
    return f"{one_line(name)}: {what}" + (f", {lost} example{'s lack' if lost > 1 else ' lacks'} it" if lost else "")


def by_name(X: Any) -> dict[Any, Any]:
    """{name: part} of `Views` or of a dict of views."""
    return {name: X[name] for name in (X.names if isinstance(X, Views) else X)}


@declared
class JoinedViews(Stored):
    """Several views of the same examples, sliced by rows together."""

    file_tag = ("kernel/bundle", 1)
    saved = {"parts as views": "list _ any"}  # `check_rows` checks each

    views: list[Any]

    @property
    def shape(self) -> tuple[int]:
        return (len_(self.views[0]),)

    @property
    def nbytes(self) -> int:
        return sum(getattr(view, "nbytes", 8 * len_(view)) for view in self.views)  # SciPy's CSR matrices have none

    def __len__(self) -> int:
        return len_(self.views[0])

    def __getitem__(self, rows: Any) -> Self:
        return type(self)([view[rows] for view in self.views])
