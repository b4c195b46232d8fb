"""Kernels that lie in memory as a stack of matrices, in either memory order, used in place."""

from __future__ import annotations

import warnings
from typing import Any, Self

import numpy as np
from numpy.typing import DTypeLike
from scipy.linalg.lapack import dpotrf

from .._state import check_array, check_index, check_integer, check_jobs
from .._threads import limit_blas, run_blocks
from ..kernels.normalize import precision, scales
from ._base import Bank, Predictor
from ._stack import Stack

ROOM = 2**32  # bytes for matrices that are kept, where there is no memory_limit
EXACT = 1000  # examples up to which the normalisation is computed in float64 whatever the matrices are


class DenseBank(Bank):
    """The kernels as matrices in memory, used in place.

    Parameters
    ----------
    X : array (n, n, M) or KernelStack
        In any memory order.
    names : list of str, optional
        Those of the stack, or numbers, unless given.
    weights : array (n,), optional
        Of the examples in the normalisation.
    normalize : {"multiplicative", "spherical", "trace", None}
    memory_limit : float, optional
        Bytes.
    n_jobs : int, optional
        Threads.

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels.banks import DenseBank
    >>> bank = DenseBank(np.stack([np.eye(4), np.ones((4, 4)) + np.eye(4)], axis=2), names=["a", "b"])
    >>> bank.M, bank.n, bank.scale.round(3)
    (2, 4, array([1.333, 1.333]))
    """

    def __init__(
        self,
        X: Any,
        *,
        names: list[str] | None = None,
        weights: np.ndarray | None = None,
        normalize: str | None = "multiplicative",
        memory_limit: float | None = None,
        n_jobs: int | None = None,
    ) -> None:
        stack = Stack.of(X)
        n, n_train, M = stack.shape
        if M == 0:
            raise ValueError("X has no kernels: its last axis is empty; give at least one kernel matrix")
        if n != n_train or n == 0:
            raise ValueError(
                f"X has shape {stack.shape}; to fit, precomputed kernels must be square, (n, n, M) with n ≥ 1"
            )
        self.stack, self.n, self.M, self.n_jobs = stack, n, M, n_jobs
        self.dtype, self.unit = stack.array.dtype, stack.unit
        self.memory_limit = memory_limit
        part = X.link() if hasattr(X, "is_part") and X.is_part() else None
        self.trained = None if part is None else (part[0], part[2])
        self.names = list(names) if names is not None else list(getattr(X, "names", None) or default_names(M))
        if len(self.names) != M:
            raise ValueError(f"names has {len(self.names)} entries for {M} kernels; give one name a kernel")
        self.normalize = normalize
        w = np.ones(n) if weights is None else np.asarray(weights, float) / np.max(weights)
        if n > EXACT:
            w = w.astype(self.dtype).astype(float)  # the very numbers that the blocks are multiplied with
        w /= w.sum()
        diagonals = stack.diagonals()
        if not np.isfinite(diagonals).all():
            raise ValueError(f"X holds NaN or infinity in {self._name(~np.isfinite(diagonals).all(1))}; clean it first")
        self._root = None
        if normalize == "spherical":
            root = np.sqrt(np.maximum(diagonals, 0))
            self._root = np.divide(1.0, root, out=np.zeros_like(root), where=root > 0)
        total = self._survey(w, diagonals)
        self._shift = _floor(stack.first_rows())
        mean = diagonals @ w if self._root is None else (self._root > 0) @ w
        self.scale, self.usable = scales(mean, mean - total, normalize, precision(self.dtype))
        report_unusable(self)
        self._diagonals = diagonals * (1.0 if self._root is None else self._root**2) * self.scale[:, None]

    @classmethod
    def holding(cls, other: Bank, S: np.ndarray) -> Self:
        """The kernels of another bank as the matrices S (M, n, n) that it gave."""
        bank = cls.from_scaled(S, other.names, other.n_jobs, other.usable)
        bank.memory_limit, bank.indefinite, bank.unit = other.memory_limit, other.indefinite, other.unit
        return bank

    @classmethod
    def from_scaled(
        cls, S: np.ndarray, names: list[str], n_jobs: int | None = None, usable: np.ndarray | None = None
    ) -> Self:
        """A bank on (M, n, n) matrices that are normalised already and were checked before."""
        bank = cls.__new__(cls)
        bank.stack, (bank.M, bank.n) = Stack(S), S.shape[:2]
        bank.dtype, bank.names, bank.n_jobs, bank.memory_limit = S.dtype, list(names), n_jobs, None
        bank.trained, bank.normalize, bank._root, bank._shift = None, None, None, _floor(S[:, 0].T)
        bank.scale = np.ones(bank.M)
        bank.usable = np.ones(bank.M, bool) if usable is None else usable
        bank._diagonals = np.einsum("mii->mi", S).astype(np.float64)
        return bank

    def _name(self, mask):
        return "kernel " + ", ".join(repr(self.names[m]) for m in np.flatnonzero(mask)[:5])

    def _survey(self, w, diagonals):
        """Σ w_i w_j k_ij for every kernel, and the checks, in one pass."""
        from ..loops import stack as loops

        S, dtype, top = self.stack.array, self.dtype, w.max()
        n_jobs = 1 if self.stack.on_disk else self.n_jobs  # one matrix in memory at a time
        v = (w / top).astype(dtype)
        if self.n <= EXACT:
            found = np.zeros((self.M, 2))
            run_blocks(lambda m: _survey_exactly(self.stack.matrix(m), w, found[m]), range(self.M), n_jobs)
            total, skew = found.T
        elif self.stack.last:
            starts = range(0, self.n, 16)
            totals, skews = np.zeros((len(starts), self.M)), np.zeros((len(starts), self.M), dtype)
            middle = S[0].mean(axis=0, dtype=np.float64).astype(dtype)
            run_blocks(
                lambda k: loops.survey_last(S, v, middle, starts[k], min(starts[k] + 16, self.n), totals[k], skews[k]),
                range(len(starts)),
                self.n_jobs,
            )
            total, skew = totals.sum(axis=0) * top**2 + middle, skews.max(axis=0)
        else:
            u = np.where(np.random.default_rng(0).random(self.n) < 0.5, -1, 1).astype(dtype)
            middle = self.stack.first_rows().T.mean(axis=1, dtype=np.float64).astype(dtype)
            found = np.zeros((self.M, 2))
            run_blocks(lambda m: loops.survey_first(S[m], v, middle[m], u, found[m]), range(self.M), n_jobs)
            total, skew = found[:, 0] * top**2 + middle, found[:, 1]
        size = np.maximum(np.abs(diagonals).max(axis=1), np.abs(total))
        if not np.isfinite(total).all():
            raise ValueError(f"X holds NaN or infinity in {self._name(~np.isfinite(total))}; clean it first")
        skewed = skew > (3e-4 if dtype == np.float32 else 1e-6) * size
        if skewed.any():
            raise ValueError(f"X is not symmetric in {self._name(skewed)}; use (K + K.T) / 2")
        with limit_blas(1):
            some = _spread_out(self.n)
            corners = (self.stack.corner(m, some) for m in range(self.M))
            indefinite = np.array([_indefinite(corner, self.stack.rounding) for corner in corners])
        if indefinite.any():
            self.indefinite = self._name(indefinite)
            warn_indefinite(self.indefinite)
        if self._root is None:
            return total
        return np.array([self._root[m] * w @ self.stack.matrix(m) @ (self._root[m] * w) for m in range(self.M)])

    def diagonals(self) -> np.ndarray:
        return self._diagonals

    def combined(
        self,
        theta: np.ndarray,
        rows: np.ndarray | None = None,
        cols: np.ndarray | None = None,
        dtype: DTypeLike | None = None,
        shifted: bool = False,
    ) -> np.ndarray:
        symmetric = rows is cols or (rows is not None and cols is not None and np.array_equal(rows, cols))
        rows, cols = _indices(rows, self.n), _indices(cols, self.n)
        w, dtype = np.asarray(theta) * self.scale, np.dtype(dtype or self.dtype)
        if self._root is None:
            shift = self._shift if shifted else None
            return self.stack.combined(w, rows, cols, dtype, symmetric, self.n_jobs, shift)
        total = np.zeros((len(rows), len(cols)), dtype)
        for m in np.flatnonzero(w):
            block = self.stack.matrix(m)[np.ix_(rows, cols)]
            total += (w[m] * block * self._root[m][rows, None] * self._root[m][cols]).astype(dtype)
        return total

    def products(
        self, A: np.ndarray, support: np.ndarray, rows: np.ndarray | None = None, kernels: np.ndarray | None = None
    ) -> np.ndarray:
        rows, support = _indices(rows, self.n), _indices(support, self.n)
        kernels = _indices(kernels, self.M)
        if self._root is None:
            P = self.stack.products(A, support, rows, kernels, self._shift, self.n_jobs)
            P *= self.scale[kernels, None]
            return P
        out = np.empty((len(A), len(kernels), len(rows)))
        for k, m in enumerate(kernels):
            block = self.stack.matrix(m)[np.ix_(rows, support)]
            out[:, k] = (A * self._root[m][support]) @ block.T * (self._root[m][rows] * self.scale[m])
        return out

    def restrict(self, rows: np.ndarray, kernels: np.ndarray | None = None) -> Bank | None:
        """A compact copy: gathers rows of a (M, n, n) stack once, so that later passes read them in order."""
        if self.stack.last or self._root is not None or len(rows) > 0.5 * self.n:
            return None
        kernels = _indices(kernels, self.M)
        size = len(kernels) * len(rows) ** 2 * self.dtype.itemsize
        if self.memory_limit is not None and size > self.memory_limit // (2 if self.stack.on_disk else 1):
            return None
        S = np.empty((len(kernels), len(rows), len(rows)), self.dtype)

        def block(k):
            self.stack.gather(kernels[k], rows, self.scale[kernels[k]], S[k])

        run_blocks(block, range(len(kernels)), self.n_jobs)
        return DenseBank.from_scaled(S, [self.names[m] for m in kernels], self.n_jobs, self.usable[kernels])

    def matrices(
        self, kernels: np.ndarray | None = None, rows: np.ndarray | None = None, dtype: DTypeLike | None = None
    ) -> np.ndarray:
        """Those in memory themselves, where they are as they are wanted."""
        every = (kernels is None or len(kernels) == self.M) and (rows is None or len(rows) == self.n)
        plain = self._root is None and not (self.stack.last or self.stack.on_disk) and (self.scale == 1.0).all()
        if every and plain and self.dtype == np.dtype(self.dtype if dtype is None else dtype):
            return self.stack.array
        return super().matrices(kernels, rows, dtype)

    def held(self, exact: bool = False) -> Bank:
        if not exact or 8 * self.M * self.n**2 > room(self.memory_limit):
            return self
        return DenseBank.holding(self, self.matrices(dtype=np.float64))

    def predictor(self, support: np.ndarray) -> Predictor:
        root = None if self._root is None else self._root[:, support]
        predictor = DensePredictor(np.asarray(support), self.n, self.scale, root, self.n_jobs)
        if self.trained is not None:
            predictor.trained = self.trained
        return predictor


class DensePredictor(Predictor):
    """Prediction with precomputed kernels: X is (n_new, n_train, M), of which only the support columns are read.

    `trained` is (number, positions): which square KernelStack the model was fitted on a part of, and on which examples.
    """

    trained: tuple[int, np.ndarray] | None = None

    def __init__(self, support, n_train, scale, root, n_jobs):
        self.support, self.n_train, self.scale, self.root, self.n_jobs = support, n_train, scale, root, n_jobs

    def sizes(self):
        return len(self.support), len(self.scale)

    def to_state(self):
        names = ("support", "n_train", "scale", "root", "n_jobs")  # not `trained`: its number is one of this process
        return {name: getattr(self, name) for name in names}

    def check_state(self) -> None:
        check_integer("n_train", self.n_train, 1, 2**48)
        check_index("support", self.support, self.n_train, ascending=True)
        check_array("scale", self.scale, np.float64, None)
        if self.root is not None:
            check_array("root", self.root, np.float64, len(self.scale), len(self.support))
        check_jobs(self.n_jobs)

    def _open(self, X):
        stack = Stack.of(X)
        if stack.shape[1:] != (self.n_train, len(self.scale)):
            raise ValueError(
                f"X has shape {stack.shape}; this model was fitted on {self.n_train} examples with "
                f"{len(self.scale)} kernels, so X must be (n_new, {self.n_train}, {len(self.scale)})"
            )
        if self.root is None:
            return stack, None
        diagonals = getattr(X, "test_diagonals", None)
        if diagonals is None:
            raise ValueError(
                "normalize='spherical' needs k(x, x) of the new examples: pass KernelStack(S, test_diagonals=D), "
                f"D of shape ({len(self.scale)}, n_new), a slice of a square KernelStack, which knows them, or use "
                "normalize='multiplicative'"
            )
        d = np.sqrt(np.maximum(np.asarray(diagonals, float), 0))
        return stack, np.divide(1.0, d, out=np.zeros_like(d), where=d > 0)

    def combined(self, X, theta):
        stack, root = self._open(X)
        rows, w = np.arange(stack.shape[0]), np.asarray(theta) * self.scale
        if root is None:
            return stack.combined(w, rows, self.support, np.float64, n_jobs=self.n_jobs)
        total = np.zeros((stack.shape[0], len(self.support)))
        for m in np.flatnonzero(w):
            total += w[m] * stack.matrix(m)[:, self.support] * root[m][:, None] * self.root[m]
        return total

    def decision(self, X, A, theta):
        theta = np.broadcast_to(np.atleast_2d(theta), (len(A), len(self.scale)))
        return np.einsum("tnm->tn", self.parts(X, A, theta)) if len(A) > 1 else self._single(X, A, theta)

    def _single(self, X, A, theta):
        return np.asarray(A) @ self.combined(X, theta[0]).T

    def parts(self, X, A, theta):
        stack, root = self._open(X)
        theta = np.broadcast_to(np.atleast_2d(theta), (len(A), len(self.scale)))
        kernels, rows = np.flatnonzero(theta.any(axis=0)), np.arange(stack.shape[0])
        out = np.zeros((len(A), stack.shape[0], len(self.scale)))
        A = np.ascontiguousarray(A, dtype=np.float64)
        if root is None:
            P = stack.products(A, self.support, rows, kernels, np.zeros(len(self.scale)), self.n_jobs)
        else:
            P = np.empty((len(A), len(kernels), stack.shape[0]))
            for k, m in enumerate(kernels):
                P[:, k] = (A * self.root[m]) @ stack.matrix(m)[:, self.support].T.astype(np.float64) * root[m]
        out[:, :, kernels] = (P * (theta * self.scale)[:, kernels, None]).transpose(0, 2, 1)
        return out

    def gram(self, X, Y=None, theta=None):
        """Σ_m θ_m K_m of the stack given: precomputed kernels know no other examples."""
        if Y is not None:
            raise ValueError("Y must be None with precomputed kernels: give the stack between the two sets as X")
        if self.root is not None:
            raise ValueError(
                "combined_kernel of precomputed kernels is not available with normalize='spherical': divide the "
                "matrices by sqrt(k_ii k_jj) yourself and use normalize=None"
            )
        stack = Stack.of(X)
        rows, cols = np.arange(stack.shape[0]), np.arange(stack.shape[1])
        return stack.combined(np.asarray(theta) * self.scale, rows, cols, stack.array.dtype, n_jobs=self.n_jobs)


def room(memory_limit):
    """Bytes that may go into matrices that are kept for all of a fit."""
    return ROOM if memory_limit is None else memory_limit // 2


def default_names(M):
    return [f"kernel {m}" for m in range(M)]


def report_unusable(bank):
    """Warns of kernels without variance on the training data; an error where none remains."""
    names = ", ".join(repr(bank.names[m]) for m in np.flatnonzero(~bank.usable)[:10])
    if not bank.usable.any():
        raise ValueError(
            f"no kernel varies on the training data ({names}); check the kernels and their columns, and centre columns "
            "far from 0 (StandardScaler), where rounding hides what varies"
        )
    if names:
        warnings.warn(
            f"kernels without variance on the training data get weight 0: {names}. Where columns do vary, rounding "
            "hides it beside a large mean: centre them (StandardScaler)",
            UserWarning,
            stacklevel=4,
        )


def warn_indefinite(names):
    warnings.warn(
        f"{names} is not positive semidefinite; the fit stays finite, but the gap certifies only the kernels that are. "
        "Clip its negative eigenvalues for a convex problem",
        UserWarning,
        stacklevel=4,
    )


def _survey_exactly(K, w, out):
    """out = (Σ w_i w_j k_ij, largest |k_ij − k_ji|) in float64."""
    K = K.astype(np.float64)
    out[:] = w @ K @ w, np.abs(K - K.T).max()


def _floor(rows):
    """What may be taken from all entries of each kernel without loss of digits, from some rows (·, M): the least one.

    It keeps the digits of nearly constant kernels; 0 where entries have both signs.
    """
    rows = np.asarray(rows, dtype=np.float64)
    return np.maximum(rows.min(axis=0), 0.0) + np.minimum(rows.max(axis=0), 0.0)


def _indices(index, n):
    return np.arange(n) if index is None else np.ascontiguousarray(index, dtype=np.int64)


def _spread_out(n, size=64):
    return np.unique(np.linspace(0, n - 1, min(size, n)).astype(int))


def _indefinite(K, rounding):
    """Whether a small principal submatrix K has a clearly negative eigenvalue."""
    block = np.array(K, dtype=np.float64)
    block.flat[:: len(block) + 1] += rounding * np.abs(np.diagonal(block)).max() + 1e-300
    return dpotrf(block, lower=1)[1] != 0
