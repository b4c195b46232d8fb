"""Two objects compared attribute by attribute, as deep as they go: what a file forgets or mixes up shows here."""

import types
from enum import Enum

import numpy as np
import scipy.sparse as sp

# attributes that only serve a fit, or that a process finds anew: those of the training examples, and caches
FORGOTTEN = {
    "priors",
    "chosen",
    "unscaled",
    "root",
    "index",
    "indefinite",
    "trained",
    "_word_sums",
    "_lines",
    "norms",
    "active",
}
_PLAIN = (str, bytes, int, type(None), types.FunctionType, type, Enum, range, slice)


def differences(one, other, where=""):
    """(path, value, value) wherever two objects differ, in type, dtype, shape, order, or in a bit of an array."""
    if type(one) is not type(other):
        yield where, type(one).__name__, type(other).__name__
    elif isinstance(one, _PLAIN) or isinstance(one, float | np.generic):
        if one is not other and one != other and not (one != one and other != other):
            yield where, one, other
    elif isinstance(one, np.ndarray):
        yield from _arrays(one, other, where)
    elif sp.issparse(one):
        if one.shape != other.shape or one.dtype != other.dtype or (one != other).nnz:
            yield where, one, other
    elif isinstance(one, dict):
        yield from _dicts(one, other, where)
    elif isinstance(one, list | tuple):
        if len(one) != len(other):
            yield where, len(one), len(other)
        for k, (a, b) in enumerate(zip(one, other, strict=False)):
            yield from differences(a, b, f"{where}[{k}]")
    elif isinstance(one, set | frozenset):
        if one != other:
            yield where, one, other
    elif hasattr(one, "__dict__"):
        yield from _dicts(_attributes(one), _attributes(other), where)


def _attributes(thing):
    """Its attributes by name; of scikit-learn's objects the public ones."""
    theirs = type(thing).__module__.startswith("sklearn.")
    own = {name: value for name, value in sorted(vars(thing).items()) if not (theirs and name.startswith("_"))}
    return {name: dict(sorted(value.items())) if name == "vocabulary_" else value for name, value in own.items()}


def _arrays(one, other, where):
    if one.dtype != other.dtype or one.shape != other.shape:
        yield where, (one.dtype, one.shape), (other.dtype, other.shape)
    elif one.dtype == object:
        yield from differences(one.ravel().tolist(), other.ravel().tolist(), where)
    elif one.tobytes() != other.tobytes():
        yield where, one, other


def _dicts(one, other, where):
    here, there = ([key for key in keys if key not in FORGOTTEN] for keys in (one, other))
    if here != there:
        yield where, here, there
        return
    for key in here:
        yield from differences(one[key], other[key], f"{where}.{key}")
