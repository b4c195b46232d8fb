"""What a solver may ask of the kernels of one data set: operations, never matrices as such.

The normalised kernel is `scale_m * K_m` (for "spherical" also divided by sqrt(k_ii k_jj)); every method speaks of
normalised kernels, and a kernel left out has scale 0. Examples and kernels are named by their numbers; `rows`, `cols`
and `support` are sorted, None stands for all.

What a bank need not be able to do is a method as well. It returns None here, and who asks then goes another way:
`vectors`, `restrict`, `inner`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import DTypeLike

from .._state import Stored
from .._tags import Tagged
from ..inner.matrix_free import MatrixFreeProblem
from ._blockwise import BlockOperator, warn_blockwise

if TYPE_CHECKING:
    from ..losses.base import Loss


class Bank(Tagged, ABC):
    """The kernels of one data set: `n` examples, `M` kernels called `names`, of which `usable` (M,) may have weight.

    A new bank sets the attributes without a value here and defines diagonals, combined, products and predictor.

    Attributes
    ----------
    n, M : int
        Examples and kernels.
    names : list of str
        Of the kernels.
    scale : array (M,)
        The factors of normalisation, 0 for kernels that are left out.
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
    scale: np.ndarray  # (M,) float64, 0 for kernels that are left out
    usable: np.ndarray  # (M,) bool
    dtype: np.dtype = np.dtype(np.float64)  # of the kernel values as the bank holds or computes them
    unit = 2.0**-53  # of rounding of the kernel values as they were given
    indefinite = ""  # the names of kernels that are not positive semidefinite
    explicit = False  # products of feature vectors, positive semidefinite by their making
    prefers: tuple[str, ...] = ()  # solvers that "auto" asks before others
    store = "auto"  # where `vectors` are kept, see `banks.choice`
    even = False  # a product costs as much for some examples as for all
    n_jobs: int | None = None  # threads, as estimators take them
    memory_limit: float | None = None  # bytes that were given for the whole bank, None for as many as it likes
    most: float | None = None  # bytes of the largest combined kernel that `matrix` builds, None for any
    in_blocks = False  # whether a combined kernel above `most` was asked for

    @abstractmethod
    def diagonals(self) -> np.ndarray:
        """k_m(x_i, x_i), (M, n) float64."""

    @abstractmethod
    def combined(
        self,
        theta: np.ndarray,
        rows: np.ndarray | None = None,
        cols: np.ndarray | None = None,
        dtype: DTypeLike | None = None,
        shifted: bool = False,
    ) -> np.ndarray:
        """Σ_m θ_m K_m[rows, cols], (|rows|, |cols|); kernels with θ_m = 0 are not touched.

        `shifted` allows a constant to be taken from every entry: harmless where Σ a is fixed, and it keeps the
        float32 digits of nearly constant kernels.
        """

    @abstractmethod
    def products(
        self, A: np.ndarray, support: np.ndarray, rows: np.ndarray | None = None, kernels: np.ndarray | None = None
    ) -> np.ndarray:
        """K_m[rows, support] @ A[t] for A (T, |support|): (T, |kernels|, |rows|) float64.

        In float64 arithmetic: certificates stand on it.
        """

    def outputs(
        self, theta: np.ndarray, A: np.ndarray, support: np.ndarray, rows: np.ndarray | None = None
    ) -> np.ndarray:
        """Σ_m θ_m K_m[rows, support] @ A[t] for A (T, |support|): (T, |rows|) float64, as exact as `products`."""
        theta = np.asarray(theta, dtype=float)
        used = np.flatnonzero(theta)
        if not len(used):
            return np.zeros((len(A), self.n if rows is None else len(rows)))
        return np.einsum("m,tmi->ti", theta[used], self.products(A, support, rows, used))

    def matrix(self, theta: np.ndarray, rows: np.ndarray | None, dtype: DTypeLike, shifted: bool) -> Any:
        """Σ_m θ_m K_m[rows, rows] as its `inner` takes it: `combined`, above `most` bytes an `Operator`."""
        n, dtype = self.n if rows is None else len(rows), np.dtype(dtype or self.dtype)
        if self.most is None or n * n * dtype.itemsize <= self.most:
            return self.combined(theta, rows, rows, dtype, shifted)
        if not self.in_blocks:
            self.in_blocks = True
            warn_blockwise(self, n, n * n * dtype.itemsize)
        return BlockOperator(self, theta, np.arange(n) if rows is None else np.asarray(rows), dtype)

    def block(self, rows: np.ndarray, theta: np.ndarray) -> np.ndarray:
        """Σ_m θ_m K_m[rows, rows], (|rows|, |rows|) float64, for many small sets of rows."""
        return self.combined(theta, rows, rows, dtype=np.float64)

    def matrices(
        self, kernels: np.ndarray | None = None, rows: np.ndarray | None = None, dtype: DTypeLike | None = None
    ) -> np.ndarray:
        """K_m[rows, rows] of each of some kernels, (|kernels|, |rows|, |rows|): for those who need them all at hand."""
        kernels = np.arange(self.M) if kernels is None else np.asarray(kernels)
        size, dtype = self.n if rows is None else len(rows), self.dtype if dtype is None else dtype
        S = np.empty((len(kernels), size, size), dtype)
        for k, m in enumerate(kernels):
            S[k] = self.combined(np.eye(1, self.M, m)[0], rows, rows, dtype=dtype)
        return S

    def held(self, exact: bool = False) -> Bank:
        """The bank of the same kernels as matrices in memory, where they fit and several problems gain by it; or self.

        `exact` says that float64 matrices are wanted, as `matrices` gives them. Predictors are this bank's affair.
        """
        return self

    def cost(self) -> float:
        """Nanoseconds, roughly, to compute an entry of all kernels anew (to read M stored ones takes M / 2).

        0 where nothing is gained by keeping them.
        """
        return 0.0

    @abstractmethod
    def predictor(self, support: np.ndarray) -> Predictor:
        """The `Predictor` of models whose support these examples are."""

    def vectors(self) -> Any:
        """New `Vectors` v_m = Σ_i a_i φ_m(x_i), zero, where the kernels have explicit features; see `explicit`."""
        return None

    def numeric(self) -> tuple[Any, np.ndarray, np.ndarray] | None:
        """(F (n, D) dense or CSR, first (M + 1,), scale (M,)) where kernel m is scale_m F Fᵀ of columns first[m] on."""
        return None

    def restrict(self, rows: np.ndarray, kernels: np.ndarray | None = None) -> Bank | None:
        """The bank of these rows and kernels held in memory, or None where that does not fit or does not pay."""
        return None

    def inner(self, loss: Loss, y: np.ndarray, c: np.ndarray, intercept: bool) -> Any:
        """The solver of the problem at fixed weights with targets y and costs c, (n,) or those of some rows.

        For banks whose combined kernel lies elsewhere, on a device say. It has the methods and attributes of
        `inner.InnerProblem`, which solvers take where this is None.
        """
        if self.most is None or self.n**2 * self.dtype.itemsize <= self.most:
            return None
        return MatrixFreeProblem(loss, y, c, intercept, self.n_jobs)


class Source(Stored, ABC):
    """Kernels that bring a bank of their own, on a device say: what an estimator takes as `kernels`.

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels import MKLClassifier
    >>> from manykernels.banks import DenseBank, Source
    >>> class Products(Source):
    ...     def bank(self, X, **options):
    ...         return DenseBank((X @ X.T)[:, :, None], **options)
    >>> MKLClassifier(Products()).fit(np.arange(4.0)[:, None], [0, 0, 1, 1]).kernel_names_
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
        """The `Bank` of these kernels on X, normalised with the weights (n,) of the examples; None for all equal."""


class Predictor(Stored, ABC):
    """The kernels between new data and the support examples: what a model keeps, small and without training matrices.

    It can be pickled, and stands in a file where it has a `to_state`: the arguments of its constructor, or what its
    `from_state` takes. `theta` is (M,) or (T, M), `A` (T, n_support) the coefficients of T outputs.

    Attributes
    ----------
    scale : array (M,)
        That of the bank.
    kernel_list : KernelList or None
        Reads new data; None where these are kernel values themselves.

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels.banks import DenseBank
    >>> bank = DenseBank(np.eye(3)[:, :, None], normalize=None)
    >>> predictor = bank.predictor(np.array([0, 2]))
    >>> predictor.sizes(), predictor.decision(np.eye(3)[:, :, None], np.array([[1.0, -1.0]]), np.ones(1))
    ((2, 1), array([[ 1.,  0., -1.]]))
    """

    scale: np.ndarray  # (M,), that of the bank
    kernel_list: Any = None  # the KernelList that reads new data; None where these are kernel values themselves
    trained: tuple[int, np.ndarray] | None = None  # of precomputed kernels, see `dense.DensePredictor`
    hashed = False  # words of sequences share their places: decisions are no sums over words
    skips = False  # what no kernel with weight sees is not read, and need not be given

    def news(self, X: Any, used: np.ndarray, growing: bool) -> list[Any]:
        """What X has and no training example had, for the kernels in the mask `used` (M,): see `KernelList.news`."""
        return [] if self.kernel_list is None else self.kernel_list.news(X, used, growing)

    @abstractmethod
    def sizes(self) -> tuple[int, int]:
        """(number of support examples, number of kernels)."""

    def to_state(self) -> dict[str, Any]:
        raise ValueError(
            f"{type(self).__name__} cannot be saved without pickle: give it a to_state, or pickle the model."
        )

    def check_state(self) -> None:
        """A ValueError where a file has restored what the methods below cannot work with; see `_state`."""

    @abstractmethod
    def decision(self, X: Any, A: np.ndarray, theta: np.ndarray) -> np.ndarray:
        """Σ_m θ_tm K_m(X, support) @ A[t], (T, n_new), in blocks."""

    def prepared(self, A: np.ndarray, theta: np.ndarray, room: int) -> Callable[[Any], np.ndarray]:
        """`decision` as a function of X alone, for block after block; it keeps at most `room` bytes for that."""
        return lambda X: self.decision(X, A, theta)

    @abstractmethod
    def parts(self, X: Any, A: np.ndarray, theta: np.ndarray) -> np.ndarray:
        """Each kernel's share θ_tm K_m(X, support) @ A[t], (T, n_new, M)."""

    @abstractmethod
    def combined(self, X: Any, theta: np.ndarray) -> np.ndarray:
        """Σ_m θ_m K_m(X, support), (n_new, n_support); theta is (M,)."""

    @abstractmethod
    def gram(self, X: Any, Y: Any = None, theta: np.ndarray | None = None) -> np.ndarray:
        """Σ_m θ_m K_m(X, Y) of two sets of new data, (n_X, n_Y); Y = None means X."""

    def diagonal(self, X: Any, theta: np.ndarray) -> np.ndarray | None:
        """Σ_m θ_m k_m(x, x) of new data, (n_new,); None where it is not known."""
        return None

    def support_gram(self, theta: np.ndarray) -> np.ndarray | None:
        """Σ_m θ_m K_m(support, support), (n_support, n_support); None where the support examples are not kept."""
        return None

    def support_data(self) -> Any:
        """The support examples as they are kept; None where there are none, for precomputed kernels."""
        return None

    def support_codes(self) -> tuple[np.ndarray, Any] | None:
        """(codes (n, L) int16, alphabet) of a support that is sequences of one length, else None.

        Unknown letters have the code A, the size of the alphabet.
        """
        return None

    def row_factors(self) -> np.ndarray | None:
        """(M, n_support): what kernels are multiplied by for each support example beside their scale; None for 1."""
        return None

    def coefficients(self, A: np.ndarray, theta: np.ndarray) -> list[tuple[int, np.ndarray]] | None:
        """(m, θ_tm Σ_i A_ti x_i (T, columns)) of every kernel, for models whose kernels are all Linear; else None."""
        return None
