import copy
from numbers import Real
from typing import Any

import numpy as np
import scipy.sparse as sp

from .._validation import check_number, shown
from ._median import median_between
from .base import Kernel


class ScaledKernel(Kernel):
    """A kernel with a parameter `gamma`: a number, or a rule that computes it from the weighted training examples.

    None is 1/n_features, "scale" 1/(n_features · variance of X), and, for kernels of a distance, "median" 1/the median
    distance between examples, all of the columns that the kernel sees. `resolve` puts in the number.
    """

    gamma: Any  # a number after `resolve`

    def check_state(self) -> None:
        super().check_state()
        if self.gamma is not None and self.gamma not in ("scale", "median"):
            self.resolve(None)

    def learns(self) -> str:
        return {"scale": "moments", "median": "data"}.get(self.gamma, "") if isinstance(self.gamma, str) else ""

    def resolve(self, X: Any, weights: np.ndarray | None = None) -> Kernel:
        if isinstance(self.gamma, Real) and not isinstance(self.gamma, bool):
            check_number("gamma", self.gamma, of=self)
            return self
        if self.gamma is None:
            gamma = 1.0 / max(X.shape[1], 1)
        elif isinstance(self.gamma, str) and self.gamma == "scale":
            with np.errstate(over="ignore", invalid="ignore"):
                variance = _variance(X, weights)
            if not np.isfinite(X.shape[1] * variance):
                raise ValueError(
                    f'gamma="scale" of {type(self).__name__} has no value, the variance of X is too large: rescale X, '
                    "for example with StandardScaler()."
                )
            with np.errstate(over="ignore"):
                gamma = 1.0 / np.float64(X.shape[1] * variance) if variance > 0 else 1.0
            if not np.isfinite(gamma):
                raise ValueError(
                    f'gamma="scale" of {type(self).__name__} has no value, the variance of X is {variance:.0e}: '
                    "rescale X, for example with StandardScaler()."
                )
        elif isinstance(self.gamma, str) and self.gamma == "median" and self.base in ("sqdist", "l1"):
            gamma = 1.0 / median_between(X, weights, self.base)
        else:
            median = ', "scale" or "median".' if self.base in ("sqdist", "l1") else ' or "scale".'
            raise ValueError(
                f"gamma={shown(self.gamma)} of {type(self).__name__} must be a number, None (1 / number of columns)"
                f"{median}"
            )
        found = copy.copy(self)
        found.gamma = float(gamma)
        return found


def _variance(X, weights):
    """The variance of the entries of X (n, d) with weighted examples; 0 if all are equal, without any rounding."""
    X = X.astype(float) if sp.issparse(X) else X  # a copy, since `min` sorts the entries of an unsorted one in place
    if 0 not in X.shape and X.min() == X.max():
        return 0.0
    if weights is None and not sp.issparse(X):
        return np.var(X, dtype=float)
    w = np.ones(X.shape[0]) if weights is None else weights
    w = w / (w.sum() * X.shape[1])
    if sp.issparse(X):  # by distances from the mean: a difference of mean squares loses digits far from 0
        X = sp.csr_array(X)
        X.sum_duplicates()
        mean = w @ X.sum(axis=1)
        squares = sp.csr_array(((X.data - mean) ** 2, X.indices, X.indptr), shape=X.shape).sum(axis=1)
        return w @ (squares + (X.shape[1] - np.diff(X.indptr)) * mean**2)
    return w @ np.sum((X - w @ np.sum(X, axis=1, dtype=float)) ** 2, axis=1, dtype=float)
