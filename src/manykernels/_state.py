"""Checks of values that were read from a file: compiled loops use them as indices without a check.

A class that can be saved has `to_state()`, `from_state(state)` (see `Stored`) and a `file_tag`. Any error of
`from_state` means that the file is damaged. It must refuse every index, offset, shape or type that a loop does not
check.
"""

from numbers import Integral, Real
from typing import Any, Self

import numpy as np

from ._tags import Tagged


class Stored(Tagged):
    """An object that files hold as its parameters."""

    def to_state(self) -> dict[str, Any]:
        """A dictionary of numbers, texts, arrays, lists of them and other parts; `from_state` reverses it."""
        return self.get_params(deep=False)  # type: ignore[attr-defined]  # the subclass defines it

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Self:
        """The checked object from the result of `to_state`; a ValueError or TypeError if it is damaged."""
        found = cls(**state)
        found.check_state()
        return found

    def check_state(self) -> None:
        """Raises a ValueError if a parameter from a file has a type that the constructor does not take."""
        for name, value in self.to_state().items():
            check_plain(name, value, (Stored,))


def check(holds, what):
    """A ValueError that says `what` unless it holds."""
    if not holds:
        raise ValueError(what)


def check_is(name, value, kinds):
    """`value` if it is one of these kinds, else a ValueError."""
    if not isinstance(value, kinds) or isinstance(value, bool) and kinds is not bool:
        raise ValueError(f"{name} is of type {type(value).__name__}")
    return value


def check_integer(name, value, low, high):
    """`value` if it is an integer with low <= value <= high, else a ValueError."""
    check_is(name, value, Integral)
    if not low <= value <= high:
        raise ValueError(f"{name} = {value} is not within {low} … {high}")
    return int(value)


def check_list(name, value, kinds, size):
    """`value` if it is a list of `size` items of these kinds, else a ValueError."""
    check_is(name, value, list)
    if len(value) != size:
        raise ValueError(f"{name} has {len(value)} entries where {size} are wanted")
    for item in value:
        check_is(f"an entry of {name}", item, kinds)
    return value


def check_array(name, value, dtype, *shape):
    """An array of exactly this dtype and shape, where None stands for any length; else a ValueError."""
    if type(value) is not np.ndarray or value.dtype != dtype:
        kind = getattr(value, "dtype", type(value).__name__)  # anything from a file
        raise ValueError(f"{name} is {kind}, not an array of {np.dtype(dtype)}")
    known = [here if wanted is None else wanted for here, wanted in zip(value.shape, shape, strict=False)]
    if value.ndim != len(shape) or value.shape != tuple(known):
        raise ValueError(f"{name} has shape {value.shape} where {shape} is wanted")


def check_index(name, value, high, *shape, low=0, ascending=False, dtype=np.int64):
    """An array of integers low <= i < high, `ascending` ones without repetition; else a ValueError."""
    check_array(name, value, dtype, *(shape or (None,)))
    if value.size and (value.min() < low or value.max() >= high):
        wrong = value.min() if value.min() < low else value.max()
        raise ValueError(f"{name} has the entry {wrong}, which is not within {low} … {high - 1}")
    if ascending and (value[1:] <= value[:-1]).any():
        raise ValueError(f"{name} is not ascending")


def check_offsets(name, value, n, end):
    """n + 1 integers that ascend from 0 to `end`, each more than the one before; else a ValueError."""
    check_index(name, value, end + 1, n + 1, ascending=True)
    if value[0] != 0 or value[-1] != end:
        raise ValueError(f"{name} goes from {value[0]} to {value[-1]}, not from 0 to {end}")


def check_csr(name, value, *shape):
    """A CSR matrix of float64 of that shape, where None stands for any length; else a ValueError."""
    check(getattr(value, "format", None) == "csr", f"{name} is not a CSR matrix")  # a matrix of scipy
    check_array(f"{name}.data", value.data, np.float64, None)
    check(
        all(wanted in (None, here) for here, wanted in zip(value.shape, shape, strict=True)),
        f"{name} has shape {value.shape} where {shape} is wanted",
    )


def check_sparse(data, indices, indptr, rows, columns):
    """The parts of a CSR matrix of that shape; scipy's own check trusts the last entry of indptr."""
    check(type(data) is np.ndarray and data.ndim == 1 and data.dtype.kind in "fiub", "data are no numbers")
    dtype = np.int32 if getattr(indices, "dtype", None) == np.int32 else np.int64  # anything from a file
    check_index("indices", indices, check_integer("columns", columns, 0, 2**48), len(data), dtype=dtype)
    dtype = np.int32 if getattr(indptr, "dtype", None) == np.int32 else np.int64  # anything from a file
    check_index("indptr", indptr, len(data) + 1, check_integer("rows", rows, 0, 2**48) + 1, dtype=dtype)
    check(indptr[0] == 0 and (indptr[1:] >= indptr[:-1]).all(), "indptr does not ascend from 0")


def check_same(name, value, wanted):
    """An array that equals `wanted`, computed from other parts, dtype included; else a ValueError."""
    wanted = np.asarray(wanted)
    check_array(name, value, wanted.dtype, *wanted.shape)
    check(np.array_equal(value, wanted), f"{name} does not follow from the parts it is made of")


def check_jobs(value):
    """n_jobs as an estimator takes it."""
    check(value is None or check_integer("n_jobs", value, -(2**10), 2**10) != 0, "n_jobs is 0")


def check_plain(name, value, also=()):
    """A parameter: a number, a text, None, an array of numbers, one of the types `also`, or a list or dict of them."""
    if isinstance(value, (list, tuple)):
        for item in value:
            check_plain(name, item, also)
    elif isinstance(value, dict):
        for key, item in value.items():
            check_plain(name, key)
            check_plain(name, item, also)
    elif isinstance(value, np.ndarray):
        check(value.dtype.kind in "biufUS", f"{name} is an array of {value.dtype}")
    elif value is not None and not isinstance(value, (bool, Real, str, slice, np.generic, *also)):
        raise ValueError(f"{name} is of type {type(value).__name__}")


def check_records(name, value):
    """A history: a list of {text: a number or a text}."""
    for record in check_is(name, value, list):
        for key, item in check_is(name, record, dict).items():
            check_is(name, key, str)
            check(item is None or isinstance(item, (Real, str, np.generic)), f"{name} has {key} = {item!r}")
