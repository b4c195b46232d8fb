"""The kernel protocol: scikit-learn's `k(X, Y=None)` and `k.diag(X)`, and what lets a bank share work between kernels.

A kernel with a `base` is an elementwise function of one pairwise quantity B(x, y): "dot" x'y, "sqdist" ‖x−y‖²,
"l1" ‖x−y‖₁, "chi2" Σ(x−y)²/(x+y), "min" Σmin(x, y), "same" (1 for the same training example). All kernels of a base
and a set of columns come from one block of it. A kernel with base None is called.
"""

from __future__ import annotations

from collections.abc import Callable
from numbers import Real
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator

from .._state import Stored, check, check_is
from .._validation import check_number, shown
from ..sequences import Sequences

READS = (
    "views",
    "sequences",
    "objects",
    "numeric",
    "anything",
    "nothing",
)  # what kernels read, the most particular first

MAKERS: list[Callable] = []  # what makes a kernel of something else: `_wrap`, which knows them all, puts its own here


class Kernel(Stored, BaseEstimator):
    """A kernel k(x, y), which adds and multiplies with others.

    Subclasses set `base` and `form`, or `base` and `from_base`, or `__call__`, and `diag` where that is quicker. They
    are used like others, `MKLClassifier([Overlap(), ...]).fit(list_of_sets, y)` below.

    Attributes
    ----------
    reads : str
        The examples it takes. "numeric": rows of numbers, (n, d) arrays or CSR matrices. "objects": any objects,
        graphs, sets or dicts say; it is called with 1-D arrays of them. "sequences": strings, see
        `strings._base.StringKernel`. "anything": numbers or objects, as they come. "nothing": it looks at no example.
        "views": several of them, see `On`.
    family : str or None
        The explicit features it has, with which it can be learned on many examples. None: it is compared pair by
        pair. "features": `features(X)` is φ(X), (n, D), k(x, y) = ⟨φ(x), φ(y)⟩, of rows of numbers. "degree"
        (`degree_table`), "shift" (`shift_table`), "channels" (`channels`): words of strings.

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels.kernels import Kernel
    >>> class Overlap(Kernel):
    ...     reads = "objects"
    ...     def __call__(self, X, Y=None):
    ...         return np.array([[len(x & y) for y in (X if Y is None else Y)] for x in X], dtype=float)
    >>> (Overlap() + Overlap())([{"a", "b"}, {"b"}])
    array([[4., 2.],
           [2., 2.]])
    """

    base: str | None = None
    reads: str = "numeric"
    family: str | None = None
    exempt = False  # from normalisation and from the check for variance
    psd = True  # positive semidefinite for every parameter its constructor accepts
    constant = False  # the same for all pairs, and so a function of every base
    encoding: tuple | None = None  # (alphabet, unknown) of a kernel of strings, which takes Sequences so encoded
    walk: str | None = None  # string kernels of one walk come from one comparison, by their `degree_table`

    def resolve(self, X: Any, weights: np.ndarray | None = None) -> Kernel:
        """The kernel with what depends on the training data X, of these weights (n,), filled in (gamma="scale")."""
        return self

    def learns(self) -> str:
        """What of the training data `resolve` looks at: "" nothing, "moments" means and variances, or all "data"."""
        return "" if type(self).resolve is Kernel.resolve and self.base != "gram" else "data"

    def sizes(self, lengths: np.ndarray) -> np.ndarray | None:
        """What √k(x, x) grows with where x is a sequence of these lengths; None where it does not."""
        return None

    def split(self) -> tuple[Any, Kernel] | None:
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
        from ._pairs import Pairs, same

        kernel = self.resolve(X)
        pairs = Pairs(kernel.base, X, np.float64)
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
        from ._pairs import Pairs

        kernel = self.resolve(X)
        if kernel.base is None:  # it is called
            return np.array([kernel(X[i : i + 1])[0, 0] for i in range(len_(X))], dtype=float)
        own = Pairs(kernel.base, X, np.float64).side(X, np.arange(X.shape[0])).own
        return kernel.from_base(own, own.copy(), own, own)

    def __add__(self, other: Any) -> Sum:
        return Sum(self, _as_operand(other))

    def __radd__(self, other: Any) -> Sum:
        return Sum(_as_operand(other), self)

    def __mul__(self, other: Any) -> Product:
        return Product(self, _as_operand(other))

    def __rmul__(self, other: Any) -> Product:
        return Product(_as_operand(other), self)


class ScaledKernel(Kernel):
    """A kernel with a parameter `gamma`, a number, or what stands for one that comes from the training data.

    None is 1/n_features, "scale" 1/(n_features · variance of X), and, for kernels of a distance, "median" 1/the median
    distance between examples. Columns and examples are those that the kernel sees, by their sample weights; a model
    keeps the number.
    """

    gamma: Any  # a number where the kernel is resolved

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
                    "by StandardScaler say."
                )
            with np.errstate(over="ignore"):
                gamma = 1.0 / np.float64(X.shape[1] * variance) if variance > 0 else 1.0
            if not np.isfinite(gamma):
                raise ValueError(
                    f'gamma="scale" of {type(self).__name__} has no value, the variance of X is {variance:.0e}: '
                    "rescale X, by StandardScaler say."
                )
        elif isinstance(self.gamma, str) and self.gamma == "median" and self.base in ("sqdist", "l1"):
            from ._median import median_between

            gamma = 1.0 / median_between(X, weights, self.base)
        else:
            median = ', "scale" or "median".' if self.base in ("sqdist", "l1") else ' or "scale".'
            raise ValueError(
                f"gamma={shown(self.gamma)} of {type(self).__name__} must be a number, None (1 / number of columns)"
                f"{median}"
            )
        return type(self)(**{**self.get_params(deep=False), "gamma": float(gamma)})


def _variance(X, weights):
    """The variance of the entries of X (n, d), of examples of these weights."""
    if weights is None and not sp.issparse(X):
        return np.var(X, dtype=float)
    w = np.ones(X.shape[0]) if weights is None else weights
    w = w / (w.sum() * X.shape[1])
    if sp.issparse(X):
        X = X.astype(float)
        return w @ np.ravel(X.multiply(X).sum(axis=1)) - (w @ np.ravel(X.sum(axis=1))) ** 2
    return w @ np.sum((X - w @ np.sum(X, axis=1, dtype=float)) ** 2, axis=1, dtype=float)


def len_(X: Any) -> int:
    """The number of examples of an array, a sparse matrix or a list."""
    return X.shape[0] if hasattr(X, "shape") else len(X)  # a user's X


def _as_operand(other):
    """A number, a function or a kernel of others as a Kernel."""
    return other if isinstance(other, Kernel) else MAKERS[0](other)


class _Pair(Kernel):
    """Two kernels k1, k2 as one; elementwise in the base where both share it, else called on the fly."""

    def __init__(self, k1: Kernel, k2: Kernel) -> None:
        self.k1 = k1
        self.k2 = k2

    def check_state(self) -> None:
        for kernel in (check_is("k1", self.k1, Kernel), check_is("k2", self.k2, Kernel)):
            check(kernel.reads in (self.reads, "anything", "nothing"), "k1 and k2 differ in what they see")

    @property
    def base(self) -> str | None:  # type: ignore[override]  # depends on k1 and k2
        bases = {k.base for k in (self.k1, self.k2) if not k.constant}
        return bases.pop() if len(bases) == 1 else None

    @property
    def reads(self) -> str:  # type: ignore[override]  # depends on k1 and k2
        """What the two of them read that is the more particular."""
        return min(self.k1.reads, self.k2.reads, key=READS.index)

    @property
    def encoding(self) -> tuple | None:  # type: ignore[override]  # depends on k1 and k2
        encodings = {k.encoding for k in (self.k1, self.k2)} - {None}
        if len(encodings) > 1:
            raise ValueError(
                f"{self.k1!r} and {self.k2!r} read strings with another alphabet or unknown=: make them equal."
            )
        return encodings.pop() if encodings else None

    @property
    def exempt(self) -> bool:  # type: ignore[override]  # depends on k1 and k2
        return self.k1.exempt and self.k2.exempt

    @property
    def psd(self) -> bool:  # type: ignore[override]  # depends on k1 and k2
        return self.k1.psd and self.k2.psd

    def _read(self, X):
        """X as both kernels take it."""
        if self.encoding is None or X is None:
            return X
        return Sequences.encode(X, *self.encoding)

    def sizes(self, lengths: np.ndarray) -> np.ndarray | None:
        found = (k.sizes(lengths) for k in (self.k1, self.k2))
        return next((sizes for sizes in found if sizes is not None), None)

    def learns(self) -> str:
        found = {k.learns() for k in (self.k1, self.k2)}
        return next((what for what in ("data", "moments") if what in found), "")

    def resolve(self, X: Any, weights: np.ndarray | None = None) -> Kernel:
        for k in (self.k1, self.k2):
            if k.reads not in (self.reads, "anything", "nothing"):
                raise ValueError(
                    f"{self.k1!r} reads {self.k1.reads}, but {self.k2!r} reads {self.k2.reads}: give them to the list "
                    "as two kernels, each with its columns or view."
                )
        X = self._read(X)
        return type(self)(*(k.resolve(X) if weights is None else k.resolve(X, weights) for k in (self.k1, self.k2)))

    def from_base(
        self, B: np.ndarray, out: np.ndarray, sx: np.ndarray | None = None, sy: np.ndarray | None = None
    ) -> np.ndarray:
        first = self.k1.from_base(B, np.empty_like(out), sx, sy)
        return self.join(first, self.k2.from_base(B, out, sx, sy), out=out)

    def __call__(self, X: Any, Y: Any = None) -> np.ndarray:
        X, Y = self._read(X), self._read(Y)
        return self.join(self.k1(X, Y), self.k2(X, Y))

    def between(self, X: Any, Y: Any) -> np.ndarray:
        return self.join(self.k1.between(X, Y), self.k2.between(X, Y))

    def diag(self, X: Any) -> np.ndarray:
        X = self._read(X)
        return self.join(self.k1.diag(X), self.k2.diag(X))


class Sum(_Pair):
    """The sum of two kernels, `k1 + k2`.

    k1(x, y) + k2(x, y).

    Parameters
    ----------
    k1, k2 : Kernel
        Two that read the same: numbers, objects or sequences.

    Examples
    --------
    >>> from manykernels.kernels import RBF, Linear
    >>> Linear() + RBF(gamma=0.5)
    Sum(k1=Linear(), k2=RBF(gamma=0.5))
    """

    file_tag = ("kernel/sum", 1)
    join = staticmethod(np.add)


class Product(_Pair):
    """The product of two kernels, `k1 * k2`.

    k1(x, y) · k2(x, y).

    Parameters
    ----------
    k1, k2 : Kernel
        Two that read the same: numbers, objects or sequences.

    Examples
    --------
    >>> from manykernels.kernels import RBF, Linear
    >>> Linear() * RBF(gamma=0.5)
    Product(k1=Linear(), k2=RBF(gamma=0.5))
    """

    file_tag = ("kernel/product", 1)
    join = staticmethod(np.multiply)
