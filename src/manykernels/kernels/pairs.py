"""Pairs of objects as training data, and cross-validation by the objects that training and test pairs share."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sized
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .._parts import Part
from .._validation import check_choice, check_integer
from ..sequences import Sequences
from .frames import check_masks
from .ids import check_rows
from .stack import KernelStack
from .view_data import is_views, n_examples

SETTINGS = ("pair", "left", "right", "both")


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
        check_masks("index", index)
        self.index = np.asarray(index)
        if self.index.ndim != 2 or self.index.shape[1] != 2 or self.index.dtype.kind not in "iu":
            raise ValueError(
                f"index has shape {self.index.shape} and type {self.index.dtype}: give (n, 2) integers, the numbers of "
                "the left and of the right object of each pair."
            )
        self.index = self.index.astype(np.int64)
        self.left, self.right = _table("left", left), _table("right", right)
        for name, table, numbers in zip(("left", "right"), (self.left, self.right), self.index.T, strict=True):
            size = n_examples(table)
            if numbers.size and (numbers.min() < 0 or numbers.max() >= size):
                wrong = numbers.min() if numbers.min() < 0 else numbers.max()
                raise ValueError(f"index names the object {wrong}, but {name} has {size}: they are 0 … {size - 1}.")

    @classmethod
    def grid(cls, left: Any, right: Any) -> Pairs:
        """All pairs of the two tables, in the order of `Y.ravel()` for targets Y (left, right)."""
        sizes = n_examples(_table("left", left)), n_examples(_table("right", right))
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
        sizes = f"{n_examples(self.left)} × {n_examples(self.right)}"
        return f"Pairs({len(self)} pairs of {sizes} objects)"


def _table(name, table):
    """The user's table of a side, checked; lists of numbers as an array."""
    shaped = hasattr(table, "shape")  # the user's array of any library
    if table is None or isinstance(table, str) or not isinstance(table, Sized) and not shaped:
        raise ValueError(f"{name} is {type(table).__name__}: give a table with a row per object, or their kernels.")
    if isinstance(table, dict) and is_views(table):
        check_rows(table, "give each a row per object", f'Views({name}, ids="index")')
    if shaped or isinstance(table, dict):
        return table
    try:
        array = np.asarray(table)
    except ValueError:  # ragged: objects
        return table
    return array if array.dtype.kind in "biuf" else table


def by_table(side: str, views: Mapping[Any, Any]) -> dict[str, Any]:
    """Values {view: value} of a side by the names of its tables, such as "left['A']"; "left" for a view None."""
    return {side if view is None else f"{side}[{view!r}]": value for view, value in views.items()}


def take(table: Any, numbers: np.ndarray) -> Any:
    """The rows of these objects."""
    from sklearn.utils import _safe_indexing

    if isinstance(table, dict) and is_views(table):
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


class PairSplit(Part):
    """Folds of pairs for scikit-learn's `cv=`, in one of the four settings of prediction for pairs.

    Parameters
    ----------
    setting : "pair", "left", "right" or "both"
        What is new in the test pairs. "pair": only the pair; its objects occur in training. "left", "right": the object
        of that side, which no training pair has. "both": both objects. Scores usually fall in this order. Test a model
        in the setting of its later use (Pahikkala et al. 2015).
    n_splits : at least 2
        The number of folds, of pairs or of objects. Setting "both" has n_splits² folds, each fold of left objects with
        each fold of right objects; training excludes pairs that share only one object with the test pairs.
    random_state : None (the same as 0) or an integer, the seed of the folds

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels.pairs import PairSplit
    >>> index = np.indices((6, 4)).reshape(2, -1).T
    >>> train, test = next(PairSplit("both", n_splits=2).split(index))
    >>> len(train), len(test), set(index[train, 0]) & set(index[test, 0])
    (6, 6, set())
    """

    def __init__(self, setting: str = "pair", n_splits: int = 5, random_state: int | None = None) -> None:
        self.setting, self.n_splits, self.random_state = setting, n_splits, random_state
        check_choice("setting", setting, SETTINGS)
        check_integer("n_splits", n_splits)
        if n_splits < 2:
            raise ValueError(f"n_splits={n_splits} leaves nothing to train on or to test: give 2 or more.")

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """The number of folds."""
        return self.n_splits**2 if self.setting == "both" else self.n_splits

    def split(self, X: Any, y: Any = None, groups: Any = None) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """(train, test) numbers of pairs for each fold; X is `Pairs` or an index (n, 2), and groups are refused."""
        if groups is not None:
            raise ValueError("groups is not allowed: PairSplit groups pairs by their objects.")
        index = X.index if isinstance(X, Pairs) else np.asarray(X)
        if index.ndim != 2 or index.shape[1] != 2:
            raise ValueError(f"X has shape {index.shape}: give Pairs, or the (n, 2) numbers of their objects.")
        rng = np.random.default_rng(0 if self.random_state is None else self.random_state)
        if self.setting == "both":
            left, right = (self._folds(side, rng, "objects") for side in index.T)
            masks = (
                ((left != k) & (right != j), (left == k) & (right == j))
                for k in range(self.n_splits) for j in range(self.n_splits)
            )  # fmt: skip
        else:
            alone = self.setting == "pair"
            numbers = np.arange(len(index)) if alone else index[:, SETTINGS.index(self.setting) - 1]
            fold = self._folds(numbers, rng, "pairs" if alone else f"{self.setting} objects")
            masks = ((fold != k, fold == k) for k in range(self.n_splits))
        for train, test in masks:
            if not (train.any() and test.any()):
                raise ValueError(
                    f"a fold of setting={self.setting!r} has {train.sum()} pairs to train on and {test.sum()} to test: "
                    "lower n_splits."
                )
            yield np.flatnonzero(train), np.flatnonzero(test)

    def _folds(self, numbers, rng, what):
        """The fold of each pair, by the number of its object."""
        objects, place = np.unique(numbers, return_inverse=True)
        if len(objects) < self.n_splits:
            raise ValueError(f"n_splits={self.n_splits} is more than the {len(objects)} {what} there are: lower it.")
        return rng.permutation(np.arange(len(objects)) % self.n_splits)[place]
