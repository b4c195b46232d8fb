"""Transformers of columns that kernels put before themselves: indicators of categories, and scales of numbers."""

from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator

from .._parts import declared
from .._state import Stored, check
from .frames import check_entries, is_frame, missing_entries, rows_of

_NO_CATEGORY = object()  # a missing entry, which equals no other


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


@declared
class ColumnScales(Stored, BaseEstimator):
    """The transformer x ↦ s∘x of rows of numbers, dense or CSR.

    Parameters
    ----------
    scales : array (d,)
    """

    file_tag = ("transformer/scales", 1)
    saved = {"scales": "f8 d finite"}

    scales: np.ndarray

    @property
    def n_features_in_(self) -> int:
        return len(self.scales)

    def fit(self, X: Any, y: Any = None) -> Self:
        if X.shape[1] != len(self.scales):
            raise ValueError(f"metric has {len(self.scales)} scales for {X.shape[1]} columns: give one for each.")
        return self

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def transform(self, X: Any) -> Any:
        return X.multiply(self.scales).tocsr() if sp.issparse(X) else np.asarray(X, dtype=float) * self.scales

    def get_feature_names_out(self, input_features: Any) -> Any:
        """The names of the columns, which stay."""
        return input_features
