"""The transformer that rescales columns, which kernels with a `metric` leave to their view."""

from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator

from .._declared import declared
from .._state import Stored


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
