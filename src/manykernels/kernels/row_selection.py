"""Rows of arrays, frames, lists and stacks, by position."""

import numpy as np

from .frames import has_ids, listed


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
