from typing import Any

import numpy as np
import scipy.sparse as sp

from .base import Kernel


class Cosine(Kernel):
    """The cosine of the angle between two examples.

    k(x, y) = x'y / (‖x‖ ‖y‖), 0 if x or y is 0.

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels.kernels import Cosine
    >>> Cosine()(np.array([[3.0, 4.0], [1.0, 0.0]])).round(3)
    array([[1. , 0.6],
           [0.6, 1. ]])
    """

    file_tag = ("kernel/cosine", 1)
    base = "dot"
    family = "features"

    def from_base(self, B: np.ndarray, out: np.ndarray, sx: Any, sy: Any) -> np.ndarray:
        norms = np.sqrt(sx) * np.sqrt(sy)
        zero = norms <= 0
        np.divide(B, norms, out=out, where=~zero)
        out[zero] = 0
        return out

    def features(self, X: Any) -> Any:
        """x / ‖x‖, (n, d)."""
        X = X.astype(float)
        largest = np.ravel(abs(X).max(axis=1).toarray() if sp.issparse(X) else np.abs(X).max(axis=1, initial=0.0))
        X = _divided(X, largest)  # squares of small numbers would underflow
        squares = X.multiply(X).sum(axis=1) if sp.issparse(X) else np.einsum("ij,ij->i", X, X)
        return _divided(X, np.sqrt(np.ravel(squares)))


def _divided(X, by):
    """The rows of X divided by `by`, unchanged if that is 0."""
    factor = np.divide(1.0, by, out=np.ones_like(by), where=by > np.finfo(float).tiny)[:, None]
    return X.multiply(factor).tocsr() if sp.issparse(X) else X * factor
