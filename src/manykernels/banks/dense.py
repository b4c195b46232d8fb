"""Kernels as a stack of matrices in memory, in either memory order, read in place."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import DTypeLike

from .._callers import warn
from .._limits import MemoryBudget
from .._threads import limit_blas, run_blocks, slices
from ..kernels.normalize import corrected, inverse_root, precision, scales
from ..kernels.stack import KernelStack
from ._stack import (
    FEW_ENTRIES,
    STACK_ROWS,
    RootedStack,
    Stack,
    floor,
    is_indefinite,
    largest_skew,
    not_0,
    spread_out,
    survey_exactly,
)
from .base import Bank, DType, Index, Predictor, every
from .dense_predictor import DensePredictor

MAX_FLOAT64_EXAMPLES = 1000  # examples up to which the normalisation is computed in float64 for matrices of any type
MAX_FLOAT32_DIAGONAL = 1e3  # k(x, x) of normalised kernels above which float32 matrices lose digits


class DenseBank(Bank):
    """The kernels as matrices in memory, read in place.

    Parameters
    ----------
    X : array (n, n, M) or KernelStack
        In any memory order.
    names : list of str, optional
        Default: the names of the stack, or numbers.
    weights : array (n,), optional
        Weights of the examples in the normalisation.
    normalize : {"multiplicative", "spherical", "trace", None}
    memory_limit : float, optional
        Bytes.
    n_jobs : int, optional
        Threads.
    psd : {"warn", "clip", "shift", "error"}
        Treatment of kernels that are not positive semidefinite, see `kernels.normalize`.

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels.banks import DenseBank
    >>> bank = DenseBank(np.stack([np.eye(4), np.ones((4, 4)) + np.eye(4)], axis=2), names=["a", "b"])
    >>> bank.M, bank.n, bank.scale.round(3)
    (2, 4, array([1.333, 1.333]))
    """

    _sum: tuple[bytes, Any] | None = None  # (weights, their `SumBank`)
    removed: list[np.ndarray] = []  # noqa: RUF012  for each kernel the clipped eigenvectors, (n, r)

    def __init__(
        self,
        X: Any,
        *,
        names: list[str] | None = None,
        weights: np.ndarray | None = None,
        normalize: str | None = "multiplicative",
        memory_limit: float | None = None,
        n_jobs: int | None = None,
        psd: str = "warn",
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
        part = X.link() if isinstance(X, KernelStack) and X.is_part() else None
        self.trained = None if part is None else (part[0], part[2])
        own = X.names if isinstance(X, KernelStack) else None
        self.names = list(own or default_names(M)) if names is None else list(names)
        if len(self.names) != M:
            raise ValueError(f"names has {len(self.names)} entries for {M} kernels; give one name per kernel")
        self.normalize = normalize
        if psd != "warn":
            self.stack = stack = self._correct(psd)
        w = np.ones(n) if weights is None else np.asarray(weights, float) / np.max(weights)
        if n > MAX_FLOAT64_EXAMPLES:
            w = w.astype(self.dtype).astype(float)  # the weights in the precision of the products below
        w /= w.sum()
        diagonals = stack.diagonals()
        if not np.isfinite(diagonals).all():
            raise ValueError(f"X holds NaN or infinity in {self._name(~np.isfinite(diagonals).all(1))}; clean it first")
        self._root = inverse_root(diagonals) if normalize == "spherical" else None  # (M, n), 1/√k_m(x, x)
        total = self._survey(w, diagonals)
        self._shift = floor(stack.first_rows(), diagonals)
        self._single_shift = not_0(self._shift, diagonals)
        mean = diagonals @ w if self._root is None else (self._root > 0) @ w
        self.scale, self.usable = scales(mean, mean - total, normalize, precision(self.dtype))
        self.stack = stack if self._root is None else RootedStack(stack, self._root, self._root)
        report_unusable(self.names, self.usable)
        self._diagonals = (diagonals if self._root is None else self._root > 0) * self.scale[:, None]

    @property
    def is_spherical(self) -> bool:
        """Whether every kernel is divided by √(k(x, x) k(y, y))."""
        return self._root is not None

    @classmethod
    def holding(cls, other: Bank, S: np.ndarray) -> Self:
        """A bank on the matrices S (M, n, n) that another bank computed."""
        bank = cls.from_scaled(S, other.names, other.n_jobs, other.usable)
        bank.memory_limit, bank.indefinite, bank.unit = other.memory_limit, other.indefinite, other.unit
        return bank

    @classmethod
    def from_scaled(
        cls,
        S: np.ndarray,
        names: list[str],
        n_jobs: int | None = None,
        usable: np.ndarray | None = None,
        scale: np.ndarray | None = None,
    ) -> Self:
        """A bank on (M, n, n) matrices that are already checked, and normalised by `scale` (M,), or as they are."""
        bank = cls.__new__(cls)
        bank.stack, (bank.M, bank.n) = Stack(S), S.shape[:2]
        bank.dtype, bank.names, bank.n_jobs, bank.memory_limit = S.dtype, list(names), n_jobs, None
        bank.trained, bank.normalize, bank._root = None, None, None
        bank.scale = np.ones(bank.M) if scale is None else scale
        bank.usable = np.ones(bank.M, bool) if usable is None else usable
        diagonals = np.einsum("mii->mi", S).astype(np.float64)
        bank._diagonals, bank._shift = diagonals * bank.scale[:, None], floor(S[:, 0].T, diagonals)
        bank._single_shift = not_0(bank._shift, diagonals)
        return bank

    def _correct(self, psd):
        """The stack of corrected matrices; sets `removed`, which the predictor needs."""
        size = self.M * self.n**2 * self.dtype.itemsize
        limit = MemoryBudget(self.memory_limit).share("corrected matrices")
        if size > limit:
            raise ValueError(
                f"psd={psd!r} needs all {self.M} matrices in memory, {size / 2**20:.0f} MiB of {limit / 2**20:.0f}: "
                "raise memory_limit, or correct the matrices one by one and save them again."
            )
        old = self.stack
        S = np.empty((self.M, self.n, self.n), self.dtype)

        def matrix(m):
            K = old.matrix(m)
            if not np.isfinite(K).all():
                raise ValueError(f"X holds NaN or infinity in {self._name(np.arange(self.M) == m)}; clean it first")
            if np.abs(K - K.T).max() > (3e-4 if K.dtype == np.float32 else 1e-6) * np.abs(K).max():
                raise ValueError(f"X is not symmetric in {self._name(np.arange(self.M) == m)}; use (K + K.T) / 2")
            S[m], U, _ = corrected(0.5 * (K + K.T), psd, self.n * 2 * old.unit, self.names[m])
            return U

        self.removed = run_blocks(matrix, range(self.M), 1 if old.on_disk else self.n_jobs)
        new = Stack(S)
        new.rounding, new.unit = old.rounding, old.unit
        return new

    def _name(self, mask):
        return "kernel " + ", ".join(repr(self.names[m]) for m in np.flatnonzero(mask)[:5])

    def _survey(self, w, diagonals):
        """Σ w_i w_j k_ij of every kernel; checks the entries in the same pass."""
        from ..loops import stack as loops

        S, dtype, top = self.stack.array, self.dtype, w.max()
        n_jobs = 1 if self.stack.on_disk else self.n_jobs  # one matrix in memory at a time
        small = self.n <= MAX_FLOAT64_EXAMPLES
        sums = np.float64 if small else dtype
        v = (w / top).astype(sums)
        if small and self.M * self.n**2 <= FEW_ENTRIES:
            found = np.zeros((self.M, 2))
            run_blocks(lambda m: survey_exactly(self.stack.matrix(m), w, found[m]), range(self.M), n_jobs)
            total, skew = found.T
        elif self.stack.last:
            starts = range(0, self.n, 16)
            totals, skews = np.zeros((len(starts), self.M)), np.zeros((len(starts), self.M), dtype)
            middle = S[0].mean(axis=0, dtype=np.float64).astype(sums)
            run_blocks(
                lambda k: loops.survey_last(S, v, middle, starts[k], min(starts[k] + 16, self.n), totals[k], skews[k]),
                range(len(starts)),
                self.n_jobs,
            )
            total, skew = totals.sum(axis=0) * top**2 + middle, skews.max(axis=0)
        else:
            u = np.where(np.random.default_rng(0).random(self.n) < 0.5, -1, 1).astype(sums)
            middle = self.stack.first_rows().T.mean(axis=1, dtype=np.float64).astype(sums)
            found = np.zeros((self.M, 2))
            run_blocks(lambda m: loops.survey_first(S[m], v, middle[m], u, found[m]), range(self.M), n_jobs)
            total, skew = found[:, 0] * top**2 + middle, found[:, 1]
        size = np.maximum(np.abs(diagonals).max(axis=1), np.abs(total))
        if not np.isfinite(total).all():
            raise ValueError(f"X holds NaN or infinity in {self._name(~np.isfinite(total))}; clean it first")
        most = (3e-4 if dtype == np.float32 else 1e-6) * size
        skewed = skew > most
        for m in np.flatnonzero(skewed) if small and not self.stack.last else ():  # the loop bounds it only from above
            skewed[m] = largest_skew(self.stack.matrix(m)) > most[m]
        if skewed.any():
            raise ValueError(f"X is not symmetric in {self._name(skewed)}; use (K + K.T) / 2")
        with limit_blas(1):
            some = spread_out(self.n)
            corners = (self.stack.corner(m, some) for m in range(self.M))
            indefinite = np.array([is_indefinite(corner, self.stack.rounding) for corner in corners])
        if indefinite.any():
            self.indefinite = self._name(indefinite)
            warn_indefinite(self.indefinite)
        if self._root is None:
            return total
        return np.array([self._root[m] * w @ self.stack.matrix(m) @ (self._root[m] * w) for m in range(self.M)])

    def diagonals(self) -> np.ndarray:
        return self._diagonals

    def combined(
        self, theta: np.ndarray, rows: Index = None, cols: Index = None, dtype: DType = None, shifted: bool = False
    ) -> np.ndarray:
        symmetric = rows is cols or (rows is not None and cols is not None and np.array_equal(rows, cols))
        rows, cols = every(rows, self.n), every(cols, self.n)
        w, dtype = np.asarray(theta) * self.scale, np.dtype(dtype or self.dtype)
        single = self.dtype == dtype == np.float32
        shift = None if not shifted else self._single_shift if single else self._shift
        return self.stack.combined(w, rows, cols, dtype, symmetric, self.n_jobs, shift)

    def products(self, A: np.ndarray, support: np.ndarray, rows: Index = None, kernels: Index = None) -> np.ndarray:
        rows, support = every(rows, self.n), every(support, self.n)
        kernels = every(kernels, self.M)
        P = self.stack.products(A, support, rows, kernels, self._shift, self.n_jobs, symmetric=True)
        P *= self.scale[kernels, None]
        return P

    def restrict(self, rows: np.ndarray, kernels: Index = None) -> Bank | None:
        """A compact copy if it is at most a quarter of what a pass over the stack reads."""
        kernels = every(kernels, self.M)
        read = len(kernels) / self.M if self.stack.last else 1.0  # of (n, n, M), a pass reads all kernels
        if self._root is not None or read * len(rows) ** 2 > 0.25 * self.n**2:
            return None
        size = len(kernels) * len(rows) ** 2 * self.dtype.itemsize
        part = "rows read from files" if self.stack.on_disk else "copied rows"
        if size > MemoryBudget(self.memory_limit).share(part):
            return None
        S, names = self.stack.copied(kernels, rows, self.n_jobs), [self.names[m] for m in kernels]
        return DenseBank.from_scaled(S, names, self.n_jobs, self.usable[kernels], self.scale[kernels])

    def matrices(self, kernels: Index = None, rows: Index = None, dtype: DType = None) -> np.ndarray:
        """The stack itself if it holds exactly the requested matrices."""
        every = (kernels is None or len(kernels) == self.M) and (rows is None or len(rows) == self.n)
        plain = self._root is None and not (self.stack.last or self.stack.on_disk) and (self.scale == 1.0).all()
        if every and plain and self.dtype == np.dtype(self.dtype if dtype is None else dtype):
            return self.stack.array
        return super().matrices(kernels, rows, dtype)

    def summed(self, theta: np.ndarray) -> Bank | None:
        """Keeps the last sum, since one-vs-rest fits and the fits of a path ask for the same one."""
        if self.indefinite or self.stack.on_disk:
            return None
        return SumBank.of(self, theta)

    def held(self, exact: bool = False) -> Bank:
        if not exact or 8 * self.M * self.n**2 > MemoryBudget(self.memory_limit).share("matrices kept"):
            return self
        return DenseBank.holding(self, self.matrices(dtype=np.float64))

    def predictor(self, support: np.ndarray) -> Predictor:
        root = None if self._root is None else self._root[:, support]
        removed = self.removed if any(U.shape[1] for U in self.removed) else None
        predictor = DensePredictor(np.asarray(support), self.n, self.scale, root, self.n_jobs, removed)
        predictor.trained = self.trained
        return predictor


class SumBank(DenseBank):
    """One kernel in memory, Σ_m θ_m K_m of another bank; it keeps the matrix in each precision that was asked for."""

    forms: dict[tuple, np.ndarray]

    @classmethod
    def of(cls, bank: Any, theta: np.ndarray) -> SumBank:
        """The sum for these weights, from `bank._sum` if it was the last one."""
        last = bank._sum  # read once: another thread may replace it
        if last is None or last[0] != theta.tobytes():
            found = cls.from_scaled(bank.combined(theta, dtype=np.float64)[None], ["sum"], bank.n_jobs)
            found.memory_limit, found.unit, found.forms = bank.memory_limit, bank.unit, {}
            last = bank._sum = theta.tobytes(), found
        return last[1]

    def summed(self, theta: np.ndarray) -> Bank | None:
        return self if theta[0] == 1.0 else super().summed(theta)

    def matrix(self, theta: np.ndarray, rows: Index, dtype: DTypeLike, shifted: bool) -> Any:
        if rows is not None:
            return super().matrix(theta, rows, dtype, shifted)
        asked = theta.tobytes(), np.dtype(dtype), shifted
        if asked not in self.forms:
            alone = theta[0] == 1.0 and self.most is None
            self.forms[asked] = self._as(dtype, shifted) if alone else super().matrix(theta, rows, dtype, shifted)
        return self.forms[asked]

    def _as(self, dtype, shifted):
        """A copy, less its shift if `shifted`; in float64 the kernel itself where the shift is small beside it."""
        K, shift = self.stack.array[0], self._shift[0] if shifted else 0.0
        if dtype == K.dtype and 2 * abs(shift) <= self._diagonals.max():
            return K
        out = np.empty(K.shape, dtype)

        def block(part):
            np.subtract(K[part], shift, out=out[part], casting="same_kind")

        run_blocks(block, slices(self.n, 1 + self.n // STACK_ROWS), self.n_jobs)
        return out


def default_names(M):
    return [f"kernel {m}" for m in range(M)]


class NothingVaries(ValueError):
    """The error of kernels none of which has variance on the training data."""


class SomeDoNotVary(UserWarning):
    """Some kernels have no variance on the training data."""


def report_unusable(names, usable):
    """Warns of kernels without variance on the training data; raises `NothingVaries` if no kernel has variance."""
    lost = ", ".join(repr(names[m]) for m in np.flatnonzero(~usable)[:10])
    if not usable.any():
        raise NothingVaries(
            f"no kernel varies on the training data ({lost}); check the kernels and their columns, which are constant "
            "or missing, or their positions, which lie beyond the sequences. Rounding also hides the variance of "
            "columns far from 0: centre them (StandardScaler)"
        )
    if lost:
        warn(
            f"kernels without variance on the training data get weight 0: {lost}. Their columns are constant or "
            "missing, or their positions lie beyond the sequences. Rounding also hides the variance of columns with a "
            "large mean: centre them (StandardScaler)",
            SomeDoNotVary,
        )


def warn_indefinite(names):
    warn(
        f"{names} is not positive semidefinite; the fit ends at a finite point, but the gap certifies only positive "
        'semidefinite kernels. Clip the negative eigenvalues: psd="clip" for precomputed kernels'
    )
