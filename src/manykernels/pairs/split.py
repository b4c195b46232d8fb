"""Cross-validation for pairs, by the objects that training and test pairs share."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from .._parts import Part
from .._validation import check_choice, check_integer
from ..kernels.pairs import Pairs

SETTINGS = ("pair", "left", "right", "both")


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
        if self.setting == "pair":
            fold = self._folds(np.arange(len(index)), rng, "pairs")
            masks = ((fold != k, fold == k) for k in range(self.n_splits))
        elif self.setting == "both":
            left, right = (self._folds(side, rng, "objects") for side in index.T)
            masks = (
                ((left != k) & (right != j), (left == k) & (right == j))
                for k in range(self.n_splits) for j in range(self.n_splits)
            )  # fmt: skip
        else:
            fold = self._folds(index[:, SETTINGS.index(self.setting) - 1], rng, f"{self.setting} objects")
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
