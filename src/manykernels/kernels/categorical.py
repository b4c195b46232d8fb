from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator

from .._parts import declared
from .._state import Stored, check
from ._protocol import Behind
from .base import Kernel
from .frames import check_entries, is_frame, missing_entries, rows_of
from .linear import Linear


@declared
class Categorical(Behind, Kernel):
    """k(x, y) = Σ_j [x_j = y_j] / d: the share of d columns in which two examples have the same category.

    Categories are texts, numbers or truth values in an array, a list or a frame. They are compared as in Python: 1
    equals 1.0, but not "1". The explicit features are indicators of the categories in the training data, so that a new
    category equals no other.

    Parameters
    ----------
    match_missing : bool, default=False
        Whether missing entries (None, NaN, NA) are a category. If False, a missing entry equals no entry, not even
        another missing one.

    Examples
    --------
    >>> from manykernels.kernels import Categorical
    >>> Categorical()([["a", 1], ["b", 1]], [["a", 2], ["b", None], ["b", 1]])
    array([[0.5, 0. , 0.5],
           [0. , 0.5, 1. ]])
    """

    file_tag = ("kernel/categorical", 1)
    saved = {"match_missing": "flag"}
    reads = "anything"
    family = "features"

    match_missing: bool = False

    def split(self) -> tuple[Any, Kernel]:
        return Indicators(self.match_missing), Linear()


@declared
class Indicators(Stored, BaseEstimator):
    """φ(x) = [x_j is category c] / √d for every column j and category c of the training data, CSR (n, D)."""

    file_tag = ("transformer/indicators", 1)
    saved = {"match_missing": "flag", "categories as categories_": "?list _ list _ plain"}

    match_missing: bool = False

    def fit(self, X: Any, y: Any = None) -> Self:
        if not isinstance(self.match_missing, bool):
            raise ValueError(f"match_missing={self.match_missing!r} of Categorical must be True or False.")
        self.categories_ = []
        for column in self._columns(X):
            try:
                self.categories_.append([c for c in dict.fromkeys(column) if c is not _NO_CATEGORY])
            except TypeError as error:
                raise ValueError(f"X has entries that are no categories ({error}): give texts or numbers.") from error
        return self

    def transform(self, X: Any) -> sp.csr_array:
        columns = self._columns(X)
        if len(columns) != len(self.categories_):
            raise ValueError(f"X has {len(columns)} columns, but Categorical saw {len(self.categories_)} in fit.")
        d, first, rows, at = len(columns), 0, [], []
        for column, categories in zip(columns, self.categories_, strict=True):
            place = {category: first + k for k, category in enumerate(categories)}
            found = np.array([place.get(c, -1) for c in column], int)
            rows.append(np.flatnonzero(found >= 0))
            at.append(found[rows[-1]])
            first += len(categories)
        places = np.concatenate(rows), np.concatenate(at)
        return sp.csr_array((np.full(len(places[0]), d**-0.5), places), shape=(len(columns[0]), self.width))

    @property
    def width(self) -> int:
        """The number of indicators."""
        return max(sum(map(len, self.categories_)), 1)

    def get_feature_names_out(self, input_features: Any) -> np.ndarray:
        """The name of the column of each indicator."""
        names = np.repeat(np.asarray(input_features, object), [len(categories) for categories in self.categories_])
        return names if len(names) else np.asarray(input_features, object)[:1]

    def _columns(self, X):
        """The entries of each column; missing ones are None (a category) or _NO_CATEGORY."""
        if sp.issparse(X):
            raise ValueError("Categorical needs dense data, X is sparse; pass X.toarray().")
        x = rows_of(X.to_numpy() if hasattr(X, "to_numpy") and not is_frame(X) else X)  # a column of a user's frame
        if x.ndim != 2 or x.shape[1] == 0:
            raise ValueError(f"X of shape {x.shape} must have two dimensions: a row of categories per example.")
        check_entries("X", x)
        missing, columns = missing_entries(x), []
        for j in range(x.shape[1]):
            column = x[:, j].tolist()
            for i in np.flatnonzero(missing[:, j]):
                column[i] = None if self.match_missing else _NO_CATEGORY
            columns.append([c.item() if isinstance(c, np.generic) else c for c in column])
        return columns

    def check_state(self) -> None:
        for column in vars(self).get("categories_", [[]]):
            check(len(set(column)) == len(column), "categories has one twice")
        check(vars(self).get("categories_") != [], "categories has no column")


_NO_CATEGORY = object()  # a missing entry, which equals no other
