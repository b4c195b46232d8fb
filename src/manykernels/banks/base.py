"""The protocol between solvers and the kernels of one data set: operations on the kernels, not their matrices.

The normalised kernel is `scale_m * K_m` (for "spherical" also divided by sqrt(k_ii k_jj)). All methods use normalised
kernels, and an excluded kernel has scale 0. Examples and kernels are given by their numbers; `rows`, `cols` and
`support` are sorted, and None means all.

The methods `vectors`, `numeric`, `restrict` and `inner` are optional: they return None here.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from .._state import Stored, Tagged
from ..inner.matrix_free import MatrixFreeProblem
from ..losses.base import Loss
from ._blockwise import BlockOperator, warn_blockwise

Index = np.ndarray | None  # positions, (k,); None for all
DType = DTypeLike | None  # None for that of the bank


def every(index: Index, n: int) -> np.ndarray:
    """These numbers, or 0 … n − 1 for None."""
    return np.arange(n) if index is None else np.ascontiguousarray(index, dtype=np.int64)


def each_output(A: np.ndarray, theta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(A (T, n_support), θ (T, M)) of T outputs, float64; θ may be one (M,) for all."""
    A, theta = np.atleast_2d(np.asarray(A, float)), np.asarray(theta, float)
    return A, np.broadcast_to(theta, (len(A), theta.shape[-1]))


class Bank(Tagged, ABC):
    """The kernels of one data set: `n` examples, `M` kernels called `names`, of which `usable` (M,) may have weight.

    A subclass sets the attributes that have no value here, and defines diagonals, combined, products and predictor.

    Attributes
    ----------
    n, M : int
        Numbers of examples and of kernels.
    names : list of str
        Names of the kernels.
    scale : array (M,)
        The factors of normalisation, 0 for excluded kernels.
    usable : array (M,) of bool
        Whether a kernel may have weight.

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels.banks import Bank, DenseBank
    >>> bank = DenseBank(np.stack([np.eye(3), np.diag([1.0, 2.0, 3.0])], axis=2), normalize=None)
    >>> isinstance(bank, Bank), bank.combined(np.array([0.5, 0.5])).diagonal()
    (True, array([1. , 1.5, 2. ]))
    """

    n: int
    M: int
    names: list[str]
    scale: np.ndarray  # (M,) float64, 0 for excluded kernels
    usable: np.ndarray  # (M,) bool
    scale_error: np.ndarray | None = None  # (M,) relative, three standard errors of scales from a sample; None: exact
    dtype: np.dtype = np.dtype(np.float64)  # type in which the bank holds or computes the kernel values
    unit = 2.0**-53  # unit roundoff of the kernel values that the user gave
    indefinite = ""  # the names of kernels that are not positive semidefinite
    explicit = False  # whether kernels are products of feature vectors, hence positive semidefinite
    device_features: Any = None  # feature vectors on a device, see `_device_features.DeviceRows`
    store = "auto"  # where `vectors` are kept, see `banks.choice`
    even = False  # whether a product costs as much for some examples as for all
    by_words = False  # whether products read words, which takes less time than the pairs of many examples
    n_jobs: int | None = None  # threads, with the meaning that estimators give it
    memory_limit: float | None = None  # bytes for the whole bank, None for no limit
    most: float | None = None  # bytes of the largest combined kernel that `matrix` builds, None for no limit
    in_blocks = False  # whether `matrix` has met a combined kernel above `most`

    @abstractmethod
    def diagonals(self) -> np.ndarray:
        """k_m(x_i, x_i), (M, n) float64."""

    @abstractmethod
    def combined(
        self, theta: np.ndarray, rows: Index = None, cols: Index = None, dtype: DType = None, shifted: bool = False
    ) -> np.ndarray:
        """Σ_m θ_m K_m[rows, cols], (|rows|, |cols|); kernels with θ_m = 0 are not read.

        `shifted` allows the bank to subtract a constant from every entry. The constant has no effect if Σ a is fixed,
        and it keeps the float32 digits of nearly constant kernels.
        """

    @abstractmethod
    def products(self, A: np.ndarray, support: np.ndarray, rows: Index = None, kernels: Index = None) -> np.ndarray:
        """K_m[rows, support] @ A[t] for A (T, |support|): (T, |kernels|, |rows|) float64.

        Sums are float64, because certificates depend on them.
        """

    def outputs(self, theta: np.ndarray, A: np.ndarray, support: np.ndarray, rows: Index = None) -> np.ndarray:
        """Σ_m θ_m K_m[rows, support] @ A[t] for A (T, |support|): (T, |rows|) float64, as exact as `products`."""
        theta = np.asarray(theta, dtype=float)
        used = np.flatnonzero(theta)
        if not len(used):
            return np.zeros((len(A), self.n if rows is None else len(rows)))
        return np.einsum("m,tmi->ti", theta[used], self.products(A, support, rows, used))

    def matrix(self, theta: np.ndarray, rows: Index, dtype: DTypeLike, shifted: bool) -> Any:
        """Σ_m θ_m K_m[rows, rows] in the form that `inner` takes: `combined`, or an `Operator` above `most` bytes."""
        n, dtype = self.n if rows is None else len(rows), np.dtype(dtype or self.dtype)
        if self.most is None or n * n * dtype.itemsize <= self.most:
            return self.combined(theta, rows, rows, dtype, shifted)
        if not self.in_blocks:
            self.in_blocks = True
            warn_blockwise(self, n, n * n * dtype.itemsize)
        return BlockOperator(self, theta, every(rows, n), dtype)

    def block(self, rows: np.ndarray, theta: np.ndarray) -> np.ndarray:
        """Σ_m θ_m K_m[rows, rows], (|rows|, |rows|) float64, for many small sets of rows."""
        return self.combined(theta, rows, rows, dtype=np.float64)

    def matrices(self, kernels: Index = None, rows: Index = None, dtype: DType = None) -> np.ndarray:
        """The separate matrices K_m[rows, rows] of some kernels, (|kernels|, |rows|, |rows|)."""
        kernels = every(kernels, self.M)
        size, dtype = self.n if rows is None else len(rows), self.dtype if dtype is None else dtype
        S = np.empty((len(kernels), size, size), dtype)
        for k, m in enumerate(kernels):
            S[k] = self.combined(np.eye(1, self.M, m)[0], rows, rows, dtype=dtype)
        return S

    def stripes(self, rows: np.ndarray, kernels: np.ndarray, put: Callable[..., None]) -> None:
        """Calls put(k, r0, r1, c0, c1, block), from any thread, with the parts of K_m[rows] of some kernels m."""
        for k, m in enumerate(kernels):
            put(k, 0, len(rows), 0, self.n, self.combined(np.eye(1, self.M, m)[0], rows, None))

    def held(self, exact: bool = False) -> Bank:
        """A bank with the same kernels as matrices in memory if they fit and save time over several fits; else self.

        `exact` asks for float64 matrices. Predictors come from the original bank.
        """
        return self

    def summed(self, theta: np.ndarray) -> Bank | None:
        """A bank of the single kernel Σ_m θ_m K_m, float64 in memory, for fits whose weights are known.

        None if the kernels are not in memory, or not positive semidefinite.
        """
        return None

    def as_one(self, theta: np.ndarray) -> Bank | None:
        """A bank of the single kernel Σ_m θ_m K_m for a fit of one output: with features if this bank has some."""
        return self.summed(theta)

    def cost(self) -> float:
        """Estimated nanoseconds to compute one entry of all kernels (reading M stored entries takes M / 2).

        0 if storing the entries would save nothing.
        """
        return 0.0

    @abstractmethod
    def predictor(self, support: np.ndarray) -> Predictor:
        """The `Predictor` of models whose support vectors are these examples."""

    def vectors(self) -> Any:
        """New `Vectors` v_m = Σ_i a_i φ_m(x_i), all zero, if the kernels have explicit features; see `explicit`."""
        return None

    def numeric(self) -> tuple[Any, np.ndarray, np.ndarray] | None:
        """(F (n, D) dense or CSR, first (M + 1,), scale (M,)) if kernel m is scale_m F Fᵀ of columns first[m] on."""
        return None

    def restrict(self, rows: np.ndarray, kernels: Index = None) -> Bank | None:
        """A bank of these rows and kernels in memory, or None if they do not fit or would not save time."""
        return None

    def inner(self, loss: Loss, y: np.ndarray, c: np.ndarray, intercept: bool) -> Any:
        """The inner problem, at fixed weights, with targets y and costs c, both (n,) or of some rows.

        Banks whose combined kernel is not an array on the host define it; it has the methods and attributes of
        `inner.InnerProblem`. Solvers use `inner.InnerProblem` if it is None.
        """
        if self.most is None or self.n**2 * self.dtype.itemsize <= self.most:
            return None
        return MatrixFreeProblem(loss, y, c, intercept, self.n_jobs)


class Source(Stored, ABC):
    """Kernels with their own kind of bank; an estimator accepts a source as `kernels`.

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels import MKLClassifier
    >>> from manykernels.banks import DenseBank, Source
    >>> class Products(Source):
    ...     def bank(self, X, **options):
    ...         return DenseBank((X @ X.T)[:, :, None], **options)
    >>> MKLClassifier(Products(), C=1.0).fit(np.arange(4.0)[:, None], [0, 0, 1, 1]).kernel_names_
    ['kernel 0']
    """

    @abstractmethod
    def bank(
        self,
        X: Any,
        *,
        weights: np.ndarray | None = None,
        normalize: str | None = "multiplicative",
        memory_limit: float | None = None,
        n_jobs: int | None = None,
    ) -> Bank:
        """The `Bank` of these kernels on X, normalised with the weights (n,) of the examples; None means equal."""


class Predictor(Stored, ABC):
    """The kernels between new data and the support examples; a model keeps it instead of the training matrices.

    It can be pickled. It can be saved if it declares `saved`, or defines `to_state`, which returns the arguments of
    the constructor or of `from_state`. `theta` is (M,) or (T, M); `A` (T, n_support) holds the coefficients of T
    outputs.

    Attributes
    ----------
    scale : array (M,)
        The factors of normalisation of the bank.
    kernel_list : KernelList or None
        Reads new data; None if new data are kernel values.

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels.banks import DenseBank
    >>> bank = DenseBank(np.eye(3)[:, :, None], normalize=None)
    >>> predictor = bank.predictor(np.array([0, 2]))
    >>> predictor.sizes(), predictor.decision(np.eye(3)[:, :, None], np.array([[1.0, -1.0]]), np.ones(1))
    ((2, 1), array([[ 1.,  0., -1.]]))
    """

    scale: np.ndarray  # (M,), as in the bank
    kernel_list: Any = None  # reads new data; None if new data are kernel values
    pair_sides: tuple[Any, ...] = ()  # the left and the right one of a model of pairs
    trained: tuple[int, np.ndarray] | None = None  # only for precomputed kernels, see `dense.DensePredictor`
    hashed = False  # whether different words may share a value, so that decisions are no sums over words
    by_features = False  # whether decisions need each support example only once, not for each new example
    once = False  # whether it is asked once, so that preparations for many calls do not pay
    skips = False  # whether views of kernels without weight are not read, and may be missing

    def needs(self) -> dict[Any, Any]:
        """{view of X, or table of pairs: names or positions of the columns that kernels read, None for all}."""
        kernels = self.kernel_list
        return {} if kernels is None else kernels.needs(np.ones(kernels.M, bool))

    def widths(self) -> dict[Any, Any]:
        """{view of X, or table of pairs: the number of its columns, None for matrices}; {} if X is one table."""
        known = None if self.kernel_list is None else self.kernel_list.n_features
        return known if isinstance(known, dict) else {}

    def news(self, X: Any, used: np.ndarray, growing: bool) -> list[Any]:
        """Values of X that no training example had, for the kernels in the mask `used` (M,): see `KernelList.news`."""
        return [] if self.kernel_list is None else self.kernel_list.news(X, used, growing)

    @abstractmethod
    def sizes(self) -> tuple[int, int]:
        """(number of support examples, number of kernels)."""

    def to_state(self) -> dict[str, Any]:
        if "saved" in vars(type(self)):
            return super().to_state()
        raise ValueError(f"{type(self).__name__} cannot be saved without pickle: define to_state, or pickle the model.")

    def check_state(self) -> None:
        """Raises a ValueError if the methods below cannot use the state read from a file; see `_state`."""

    @abstractmethod
    def decision(self, X: Any, A: np.ndarray, theta: np.ndarray) -> np.ndarray:
        """Σ_m θ_tm K_m(X, support) @ A[t], (T, n_new), in blocks."""

    def prepared(self, A: np.ndarray, theta: np.ndarray, limit: int) -> Callable[[Any], np.ndarray]:
        """`decision` as a function of X alone, to be called for many blocks; it keeps at most `limit` bytes."""
        return lambda X: self.decision(X, A, theta)

    @abstractmethod
    def parts(self, X: Any, A: np.ndarray, theta: np.ndarray) -> np.ndarray:
        """The term of each kernel, θ_tm K_m(X, support) @ A[t], (T, n_new, M)."""

    @abstractmethod
    def combined(self, X: Any, theta: np.ndarray) -> np.ndarray:
        """Σ_m θ_m K_m(X, support), (n_new, n_support); theta is (M,)."""

    @abstractmethod
    def gram(self, X: Any, Y: Any = None, theta: np.ndarray | None = None) -> np.ndarray:
        """Σ_m θ_m K_m(X, Y) of two sets of new data, (n_X, n_Y); Y = None means X."""

    def diagonal(self, X: Any, theta: np.ndarray) -> np.ndarray | None:
        """Σ_m θ_m k_m(x, x) of new data, (n_new,); None if it is unknown."""
        return None

    def support_gram(self, theta: np.ndarray) -> np.ndarray | None:
        """Σ_m θ_m K_m(support, support), (n_support, n_support); None if the support examples are not kept."""
        return None

    def support_data(self) -> Any:
        """The support examples in the form in which they are kept; None for precomputed kernels."""
        return None

    def expansion(self, m: int, A: np.ndarray) -> tuple[Any, Any, np.ndarray] | None:
        """(kernel, Z, B) with scale_m K_m(x, support) @ A[t] = Σ_i B_ti kernel(x, z_i), x as kernel m sees it.

        For "spherical", the values still have to be divided by √k_m(x, x). None if no such examples Z are kept.
        """
        return None

    def support_sequences(self, m: int) -> Any:
        """The support examples that kernel m reads, if they are kept and `Sequences`, else None."""
        return None

    def support_codes(self) -> tuple[np.ndarray, Any] | None:
        """(codes (n, L) int16, alphabet) if the support examples are sequences of one length, else None.

        The code of an unknown letter is the size of the alphabet.
        """
        found = self.support_sequences(0)
        return None if found is None else found.table()

    def row_factors(self) -> np.ndarray | None:
        """(M, n_support): factors of the kernels for each support example, besides `scale`; None if all are 1."""
        return None

    def coefficients(self, A: np.ndarray, theta: np.ndarray) -> list[tuple[int, np.ndarray]] | None:
        """(m, θ_tm Σ_i A_ti x_i (T, columns)) of every kernel m if all kernels are Linear, else None."""
        return None
