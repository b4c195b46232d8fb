"""Rows of whatever holds examples, by position."""

import numpy as np


def positions(key, size):
    """The positions (k,) that a number, a slice, a mask or a list stands for; None for all."""
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


def take(x, rows):
    """The examples of x at these positions, in what they came in."""
    from sklearn.utils import _safe_indexing

    return _safe_indexing(x, rows)
