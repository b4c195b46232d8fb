"""The kernel protocol: scikit-learn's `k(X, Y=None)` and `k.diag(X)`, and the attributes by which kernels share work.

A kernel with a `base` is an elementwise function of one pairwise quantity B(x, y): "dot" x'y, "sqdist" ‖x−y‖²,
"l1" ‖x−y‖₁, "chi2" Σ(x−y)²/(x+y), "min" Σmin(x, y), "same" (1 for the same training example). A bank computes one block
B for all kernels with the same base and columns. It calls a kernel whose base is None.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator

from .._state import Stored
from .frames import check_entries, len_
from .pair_blocks import PairBase, check_block, few, same, width


class BaseKernel(Stored, BaseEstimator):
    """The attributes and methods of a kernel that banks use; `Kernel` adds the operators."""

    base: str | None = None
    reads: str = "numeric"
    family: str | None = None
    exempt = False  # from normalisation and from the check for variance
    psd = True  # positive semidefinite for every parameter that the constructor accepts
    plain = False  # it is B itself
    constant = False  # the same value for all pairs, hence a function of every base
    encoding: Any = None  # its method `read` makes of texts the `Packed` examples that the kernel takes
    shortest = 0  # letters of its shortest word: it is 0 for a sequence with fewer letters
    group: Any = None  # the class whose objects compare several such kernels at once; None: the group of a base

    def resolve(self, X: Any, weights: np.ndarray | None = None) -> BaseKernel:
        """The kernel with the parameters that depend on the training data X with weights (n,), e.g. gamma="scale"."""
        return self

    def told(self) -> dict[str, Any]:
        """The parameters that its name shows."""
        return self.get_params(deep=False)

    def learns(self) -> str:
        """What `resolve` uses of the training data: "" nothing, "moments" means and variances, "data" everything.

        The default is "data" for a class with its own `resolve`; return "" if it only checks parameters.
        """
        return "" if type(self).resolve is BaseKernel.resolve and self.base != "gram" else "data"

    def sizes(self, lengths: np.ndarray) -> np.ndarray | None:
        """A size for each sequence length, with which √k(x, x) grows; None if it does not grow with the length."""
        return None

    def split(self) -> tuple[Any, BaseKernel] | None:
        """(transformer, kernel) if k is the kernel of the transformed X; the transformer is fitted on training data."""
        return None

    def form(self) -> tuple[float, float, float] | None:
        """(degree, g, c) if k = exp(gB + c) (degree 0) or (gB + c)^degree; None if k has another form.

        Compiled loops compute the degrees 0, 1, 2, …; for another degree banks call `from_base`.
        """
        return (1, 1.0, 0.0) if self.plain else None

    def from_base(self, B: np.ndarray, out: np.ndarray, sx: Any, sy: Any) -> np.ndarray:
        """Writes k into `out`, which may be B; sx, sy are B(x, x) and B(y, y), shaped to broadcast with B."""
        form = self.form()
        if form is None:
            raise NotImplementedError(f"{type(self).__name__} has base={self.base!r}: it must define form or from_base")
        degree, g, c = form
        np.multiply(B, g, out=out)
        out += np.asarray(c, out.dtype)
        return np.exp(out, out=out) if degree == 0 else np.power(out, degree, out=out)

    def features(self, X: Any) -> Any:
        """φ(x), (n, D), an array or CSR, of a kernel with `family` = "features"."""
        raise NotImplementedError(f"{type(self).__name__} must define features(X), an array (n, D)")

    def __call__(self, X: Any, Y: Any = None) -> np.ndarray:
        """k(x_i, y_j), (n, m); Y = None means X."""
        check_entries("X", X)
        check_entries("Y", Y)
        kernel = self.resolve(X)
        if kernel.base is None and kernel.family in ("features", "low_rank"):
            F = kernel.features(X)
            K = F @ (F if Y is None else kernel.features(Y)).T
            return K.toarray() if sp.issparse(K) else K
        if kernel.base is None:
            raise NotImplementedError(
                f"{type(self).__name__} must define __call__(X, Y=None), an array (len(X), len(Y)); "
                "help(manykernels.kernels.Kernel) lists other ways"
            )
        pairs = PairBase(kernel.base, X, np.float64)
        left = pairs.side(X, np.arange(X.shape[0]) if Y is None else None)
        right = left if Y is None else pairs.side(Y)
        B = np.empty((left.own.size, right.own.size))
        pairs.block(left, right, B, same(left.index, right.index), few(len(B), B.shape[1], width(left.x)))
        return kernel.from_base(B, B, left.own[:, None], right.own)

    def between(self, X: Any, Y: Any) -> np.ndarray:
        """k(X, Y) on the calling thread: banks run their own threads."""
        return self(X, Y)

    def diag(self, X: Any) -> np.ndarray:
        """k(x_i, x_i), (n,)."""
        kernel = self.resolve(X)
        if kernel.base is None:
            return np.array(
                [check_block(kernel, kernel(X[i : i + 1]), (1, 1))[0, 0] for i in range(len_(X))], dtype=float
            )
        own = PairBase(kernel.base, X, np.float64).side(X, np.arange(X.shape[0])).own
        return kernel.from_base(own, own.copy(), own, own)


class Behind(BaseKernel):
    """A kernel whose `split` says what it is: a transformer, fitted on X, and a kernel of its output."""

    def __call__(self, X: Any, Y: Any = None) -> np.ndarray:
        before, kernel = self.split()  # type: ignore[misc]  # never None here
        before.fit(X)
        return kernel(before.transform(X), None if Y is None else before.transform(Y))

    def diag(self, X: Any) -> np.ndarray:
        before, kernel = self.split()  # type: ignore[misc]  # never None here
        return kernel.diag(before.fit(X).transform(X))
