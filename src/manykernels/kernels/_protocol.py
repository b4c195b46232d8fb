"""The kernel protocol: scikit-learn's `k(X, Y=None)` and `k.diag(X)`, and what lets a bank share work between kernels.

A kernel with a `base` is an elementwise function of one pairwise quantity B(x, y): "dot" x'y, "sqdist" ‖x−y‖²,
"l1" ‖x−y‖₁, "chi2" Σ(x−y)²/(x+y), "min" Σmin(x, y), "same" (1 for the same training example). All kernels of a base
and a set of columns come from one block of it. A kernel with base None is called.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from .._state import Stored
from .pair_blocks import PairBase, same

READS = (
    "views",
    "sequences",
    "objects",
    "numeric",
    "anything",
    "nothing",
)  # what kernels read, the most particular first


class BaseKernel(Stored, BaseEstimator):
    """What banks ask of a kernel; `Kernel` adds the operators."""

    base: str | None = None
    reads: str = "numeric"
    family: str | None = None
    exempt = False  # from normalisation and from the check for variance
    psd = True  # positive semidefinite for every parameter its constructor accepts
    constant = False  # the same for all pairs, and so a function of every base
    encoding: tuple | None = None  # (alphabet, unknown) of a kernel of strings, which takes Sequences so encoded
    walk: str | None = None  # string kernels of one walk come from one comparison, by their `degree_table`

    def resolve(self, X: Any, weights: np.ndarray | None = None) -> BaseKernel:
        """The kernel with what depends on the training data X, of these weights (n,), filled in (gamma="scale")."""
        return self

    def learns(self) -> str:
        """What of the training data `resolve` looks at: "" nothing, "moments" means and variances, or all "data"."""
        return "" if type(self).resolve is BaseKernel.resolve and self.base != "gram" else "data"

    def sizes(self, lengths: np.ndarray) -> np.ndarray | None:
        """What √k(x, x) grows with where x is a sequence of these lengths; None where it does not."""
        return None

    def split(self) -> tuple[Any, BaseKernel] | None:
        """(transformer, kernel) where it is a kernel of what a transformer makes of X, fitted on the training data."""
        return None

    def form(self) -> tuple[float, float, float] | None:
        """(degree, g, c) where k = exp(gB + c) (degree 0) or (gB + c)^degree; None where k has another form."""
        return None

    def from_base(
        self, B: np.ndarray, out: np.ndarray, sx: np.ndarray | None = None, sy: np.ndarray | None = None
    ) -> np.ndarray:
        """Writes k into `out`, which may be B; sx, sy are B(x, x) and B(y, y), shaped to broadcast with B."""
        degree, g, c = self.form()  # type: ignore[misc]  # a kernel without a form has its own from_base
        np.multiply(B, g, out=out)
        out += np.asarray(c, out.dtype)
        return np.exp(out, out=out) if degree == 0 else np.power(out, degree, out=out)

    def __call__(self, X: Any, Y: Any = None) -> np.ndarray:
        """k(x_i, y_j), (n, m); Y = None means X."""
        kernel = self.resolve(X)
        pairs = PairBase(kernel.base, X, np.float64)
        left = pairs.side(X, np.arange(X.shape[0]) if Y is None else None)
        right = left if Y is None else pairs.side(Y)
        B = np.empty((left.own.size, right.own.size))
        pairs.block(left, right, B, same(left.index, right.index))
        return kernel.from_base(B, B, left.own[:, None], right.own)

    def between(self, X: Any, Y: Any) -> np.ndarray:
        """k(X, Y) for a bank, which has threads of its own."""
        return self(X, Y)

    def diag(self, X: Any) -> np.ndarray:
        """k(x_i, x_i), (n,)."""
        kernel = self.resolve(X)
        if kernel.base is None:  # it is called
            return np.array([kernel(X[i : i + 1])[0, 0] for i in range(len_(X))], dtype=float)
        own = PairBase(kernel.base, X, np.float64).side(X, np.arange(X.shape[0])).own
        return kernel.from_base(own, own.copy(), own, own)


def len_(X: Any) -> int:
    """The number of examples of an array, a sparse matrix or a list."""
    return X.shape[0] if hasattr(X, "shape") else len(X)  # a user's X
