"""Pairs of objects: the numbers of the two objects of each pair, and a table of objects for each side."""

from __future__ import annotations

from collections.abc import Sized
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from ..sequences import Sequences
from .base import len_
from .stack import KernelStack


class Pairs:
    """n pairs of objects: the X of an estimator with `Pairwise` kernels, which scikit-learn splits by pairs.

    Parameters
    ----------
    index : (n, 2) integers
        The numbers of the left and of the right object of each pair.
    left, right : tables
        The data of a side, with a row per object: an array, a CSR matrix, a frame, a list of strings or objects, or a
        dict of views. For kernels "precomputed", matrices between all objects of the side: an (m, m, M) array or a
        `KernelStack`. Row i of a table is the same object in fit and in predict; new objects are appended.

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels.pairs import Pairs
    >>> X = Pairs([(0, 0), (0, 1), (2, 1)], left=np.eye(3), right=np.ones((2, 4)))
    >>> X.shape, X[1:].index.tolist()
    ((3, 2), [[0, 1], [2, 1]])
    """

    ndim = 2

    def __init__(self, index: ArrayLike, left: Any, right: Any) -> None:
        self.index = np.asarray(index)
        if self.index.ndim != 2 or self.index.shape[1] != 2 or self.index.dtype.kind not in "iu":
            raise ValueError(
                f"index has shape {self.index.shape} and type {self.index.dtype}: give (n, 2) integers, the numbers of "
                "the left and of the right object of each pair."
            )
        self.index = self.index.astype(np.int64)
        self.left, self.right = _table("left", left), _table("right", right)
        for name, table, numbers in zip(("left", "right"), (self.left, self.right), self.index.T, strict=True):
            size = count(table)
            if numbers.size and (numbers.min() < 0 or numbers.max() >= size):
                wrong = numbers.min() if numbers.min() < 0 else numbers.max()
                raise ValueError(f"index names the object {wrong}, but {name} has {size}: they are 0 … {size - 1}.")

    @classmethod
    def grid(cls, left: Any, right: Any) -> Pairs:
        """All pairs of the two tables, in the order of `Y.ravel()` for targets Y (left, right)."""
        sizes = count(_table("left", left)), count(_table("right", right))
        return cls(np.indices(sizes).reshape(2, -1).T, left, right)

    @property
    def shape(self) -> tuple[int, int]:
        return self.index.shape[0], 2

    @property
    def dtype(self) -> np.dtype:
        return self.index.dtype

    def __len__(self) -> int:
        return len(self.index)

    def __getitem__(self, key: Any) -> Pairs:
        rows = key[0] if isinstance(key, tuple) and len(key) == 2 and key[1] in (Ellipsis, slice(None)) else key
        rows = [rows] if isinstance(rows, int | np.integer) else rows
        part = object.__new__(Pairs)
        part.index, part.left, part.right = self.index[rows], self.left, self.right
        if part.index.ndim != 2:
            raise IndexError(f"{key!r} is no index of Pairs: give the numbers of pairs, a slice or a mask.")
        return part

    def __repr__(self) -> str:
        return f"Pairs({len(self)} pairs of {count(self.left)} × {count(self.right)} objects)"


def _table(name, table):
    """The user's table of a side, checked; lists of numbers as an array."""
    shaped = hasattr(table, "shape")  # the user's array of any library
    if table is None or isinstance(table, str) or not isinstance(table, Sized) and not shaped:
        raise ValueError(f"{name} is {type(table).__name__}: give a table with a row per object, or their kernels.")
    if shaped or isinstance(table, dict):
        return table
    try:
        array = np.asarray(table)
    except ValueError:  # ragged: objects
        return table
    return array if array.dtype.kind in "biuf" else table


def count(table: Any) -> int:
    """The number of objects of a table."""
    if isinstance(table, dict) and not sp.issparse(table):
        table = next(iter(table.values()))
    return len_(table)


def take(table: Any, numbers: np.ndarray) -> Any:
    """The rows of these objects."""
    from sklearn.utils import _safe_indexing

    if isinstance(table, dict) and not sp.issparse(table):
        return {name: take(view, numbers) for name, view in table.items()}
    return table[numbers] if isinstance(table, Sequences) else _safe_indexing(table, numbers)


def matrices(table: Any, what: str) -> np.ndarray:
    """A table of precomputed kernels as an array (M, m, m), without a copy if possible; or a ValueError."""
    stack = table.matrices if isinstance(table, KernelStack) else np.moveaxis(np.asarray(table), -1, 0)
    if stack.ndim != 3 or stack.shape[1] != stack.shape[2]:
        raise ValueError(
            f"{what} has shape {np.shape(table)}, but precomputed kernels are matrices between all objects of the "
            "side, new ones included: give (m, m, M) or KernelStack(matrices)."
        )
    return stack
