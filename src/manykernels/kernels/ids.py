"""Rows by the ids of the examples or by position: sources that are matched, labels of matrices, and selections."""

from collections.abc import Mapping, Sized
from itertools import pairwise
from typing import Any

import numpy as np

from .._callers import warn
from .frames import check_masks, has_ids, is_frame, is_pandas, len_, listed


def unfit(x):
    """What is wrong with the data that a user gives as a view, and the cure; None if nothing is wrong."""
    if hasattr(x, "collect") and not hasattr(x, "shape"):  # a LazyFrame of polars
        return f"a {type(x).__name__}, not yet computed: give it with .collect()."
    # the user's object
    if isinstance(x, str | bytes) or x is not None and not isinstance(x, Sized) and not hasattr(x, "shape"):
        return f"a {type(x).__name__}: give an array, a frame or a list with a row per example."
    if isinstance(x, Mapping | set) or hasattr(x, "present"):  # Views
        return f"a {type(x).__name__}, whose rows have no order: give an array, a frame or a list."
    no_axis = getattr(x, "shape", None) == ()  # the user's array of any library
    return "a number: give an array with a row per example." if no_axis else None


def matched(views, ids, examples):
    """({name: data}, {name: mask or None}, ids or None, n), the rows of each view in the order of the examples."""
    if ids is None:
        if examples is not None:
            raise ValueError('examples are ids, but ids=None: give ids="index", the name of a column or a dict.')
        check_rows(views, "give ids= to match their rows", 'ids="index"')
        n = next(len_(x) for x in views.values() if x is not None)
        return dict(views), {name: np.zeros(n, bool) if x is None else None for name, x in views.items()}, None, n
    views, ids = _read(views, ids)
    _warn_of_strangers(ids)
    order = _examples(ids, examples)
    number = {label: i for i, label in enumerate(order.tolist())}
    data, present = {}, {}
    for name, x in views.items():
        at = np.full(len(order), -1)
        for row, label in enumerate(ids[name]):
            if label in number:
                at[number[label]] = row
        mask = at >= 0
        if examples is not None or not np.array_equal(at[mask], np.arange(len(ids[name]))):
            x = None if x is None else take(x, at[mask])
        data[name], present[name] = x, None if mask.all() else mask
    if examples is not None:
        lost = ~np.any([np.ones(len(order), bool) if p is None else p for p in present.values()], axis=0)
        if lost.any():
            raise ValueError(f"examples has {listed(order[lost].tolist())}, which no view has: leave these ids out.")
    return data, present, order, len(order)


def _warn_of_strangers(ids):
    """A UserWarning if two views have no id in common, for example numbers and texts."""
    labelled = [(name, labels) for name, labels in ids.items() if labels]
    for (name, labels), (other, others) in pairwise(labelled):
        if not set(labels) & set(others):
            warn(
                f"The views {name!r} and {other!r} have no id in common ({labels[0]!r}, … and {others[0]!r}, …): no "
                "example has both. Do the ids have the same type?"
            )


def check_rows(views, match, by_index):
    """A ValueError if views have different numbers of rows, or indices of pandas that differ; it names the cures."""
    sizes = {name: len_(x) for name, x in views.items() if x is not None}
    if len(set(sizes.values())) > 1:
        raise ValueError(f"The views have different numbers of examples, {sizes}: {match}.")
    first, indexed = None, [(name, x.index) for name, x in views.items() if is_pandas(x)]
    for name, index in indexed:
        first = first or (name, index)
        if not index.equals(first[1]):
            raise ValueError(
                f"The views {first[0]!r} and {name!r} have the same number of rows but different indices: give "
                f"{by_index} to match rows by index, or reset_index(drop=True) to match rows by position."
            )


def _read(views, ids):
    """The views without columns of ids, and {name: list of ids}."""
    if isinstance(ids, str):
        ids = {name: ids for name, x in views.items() if x is not None}
    if not isinstance(ids, dict):
        raise ValueError(f'ids is a {type(ids).__name__}: give None, "index", the name of a column, or a dict.')
    strange, lost = [n for n in ids if n not in views], [n for n in views if n not in ids and views[n] is not None]
    if strange or lost:
        raise ValueError(f"ids is for {list(ids)}, but the views are {list(views)}: give ids for each of them.")
    found, labels = dict(views), {}
    for name, x in views.items():
        if x is None:
            labels[name] = []
        elif isinstance(ids[name], str):
            found[name], labels[name] = _own(name, x, ids[name])
        else:
            labels[name] = _list(f"ids[{name!r}]", ids[name])
        _check(name, labels[name], 0 if x is None else len_(x))
    return found, labels


def _own(name, x, key):
    """(a view without its column of ids, the ids)."""
    if key == "index" and is_pandas(x):
        return x, _list(key, x.index)
    if not is_frame(x) or key not in list(x.columns):
        cure = "the columns are " + str(list(x.columns)[:10]) if is_frame(x) else f"it is a {type(x).__name__}"
        raise ValueError(f"ids={key!r} is not found in the view {name!r}: {cure}; give {{{name!r}: its ids}}.")
    return (x.drop(columns=key) if is_pandas(x) else x.drop(key)), _list(key, x[key])


def _list(name, ids):
    check_masks(name, ids)
    return ids.to_list() if hasattr(ids, "to_list") else np.asarray(ids).tolist()  # a column of a user's frame


def _check(name, ids, n):
    if len(ids) != n:
        raise ValueError(f"ids[{name!r}] has {len(ids)} entries for {n} rows: give one id per row.")
    bad = [i for i in ids if i is None or i != i]
    if bad:
        raise ValueError(f"ids[{name!r}] has the missing value {bad[0]!r}: give every row an id, or drop the row.")
    try:
        twice = len(set(ids)) < len(ids)
    except TypeError as error:
        raise ValueError(f"ids[{name!r}] has entries that are no ids ({error}): give numbers or texts.") from error
    if twice:
        seen: set = set()
        again = next(i for i in ids if i in seen or seen.add(i))
        raise ValueError(f"ids[{name!r}] has {again!r} more than once: give each example one row.")


def _examples(ids, examples):
    if examples is None:
        every = list(dict.fromkeys(i for labels in ids.values() for i in labels))
    else:
        every = _list("examples", examples)
        _check("examples", every, len(every))
    if not every:
        raise ValueError("no example has an id: give rows and their ids.")
    kinds = {type(i) for i in every}
    if len(kinds) == 1 and kinds <= {int, str, float}:
        return np.array(every)
    order = np.empty(len(every), object)
    order[:] = every
    return order


def labels_of(matrices: list[Any], names: list[Any] | None) -> tuple[np.ndarray | None, np.ndarray | None]:
    """(ids of the rows, ids of the columns), (n,) and (n_train,), or None where no matrix has labels.

    A ValueError if the labels of two matrices differ.
    """
    return _ids(matrices, names, "rows"), _ids(matrices, names, "columns")


def _ids(matrices, names, axis):
    first, ids = "", None
    for m, K in enumerate(matrices):
        labels = _labels(K, axis)
        called = f"matrices[{m}]" + ("" if names is None or m >= len(names) else f" ({names[m]!r})")
        if ids is None:
            first, ids = called, labels
        elif labels is not None and labels != ids:
            strange = [label for label in labels if label not in set(ids)]
            if strange or len(labels) != len(ids):
                raise ValueError(
                    f"{called} has other {axis} than {first}, {listed(strange)}: give matrices between the same "
                    "examples, or K.to_numpy() to match them by position"
                )
            raise ValueError(
                f"{called} has the {axis} of {first} in another order: give K.loc[ids, ids] of each matrix K, with one "
                "list of ids (new examples: K.loc[new_ids, ids])"
            )
    if ids is None:
        return None
    found = np.empty(len(ids), object)
    found[:] = ids
    return found


def _labels(K, axis):
    """The labels of an axis as a list; None if there are none, or if pandas has only numbered it."""
    if not (is_frame(K) and is_pandas(K)):
        return None
    index = K.index if axis == "rows" else K.columns
    numbered = type(index).__name__ == "RangeIndex" and index.start == 0 and index.step == 1
    return None if numbered else index.tolist()


def positions(key, size, ids=None):
    """The positions (k,) of a number, a slice, a mask or a list; None for all.

    A mask of pandas, whose index has ids, is matched with the `ids` (size,) of the rows, as pandas matches it.
    """
    if ids is not None and has_ids(key) and key.dtype.kind == "b":
        mask = dict(zip(key.index.tolist(), key.tolist(), strict=True))
        if lost := [label for label in ids.tolist() if label not in mask]:
            raise ValueError(
                f"the mask has no entry for {listed(lost)}: give a mask whose index has the ids of these rows, or "
                "mask.to_numpy() to select by position."
            )
        key = [mask[label] for label in ids.tolist()]
    check_masks("the index", key)
    if key is None or isinstance(key, slice) and key == slice(None):
        return None
    if isinstance(key, slice):
        return np.arange(size)[key]
    key = np.atleast_1d(np.asarray(key)).ravel()  # np.ix_ gives (k, 1) and (1, k)
    if key.dtype == bool:
        if len(key) != size:
            raise IndexError(f"a mask of {len(key)} entries does not fit an axis of {size}.")
        return np.flatnonzero(key)
    if key.dtype.kind not in "iu" and key.size:
        raise IndexError(f"{key.tolist()[:5]} are no positions: give integers, a slice or a mask.")
    outside = key[(key < -size) | (key >= size)]
    if outside.size:
        raise IndexError(f"index {outside[0]} is out of bounds for an axis of {size}.")
    return key.astype(int) % max(size, 1)


def axes(index):
    """(rows, columns, kernels) of an index of a stack, None for an axis that is not cut."""
    parts = list(index) if isinstance(index, tuple) else [index]
    dots = [k for k, part in enumerate(parts) if part is Ellipsis]
    if len(dots) > 1 or len(parts) - len(dots) > 3 or any(part is None for part in parts):
        raise IndexError(f"{index!r} is no index of a KernelStack: give rows, columns and kernels at most.")
    if dots:
        parts[dots[0] : dots[0] + 1] = [None] * (3 - len(parts) + 1)
    return parts + [None] * (3 - len(parts))


def take(x, rows):
    """The examples of x at these positions, in the type of x."""
    from sklearn.utils import _safe_indexing

    return _safe_indexing(x, rows)
