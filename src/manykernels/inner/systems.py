"""The linear systems of the free variables of one block, on the host."""

from __future__ import annotations

import numpy as np
from scipy.linalg import cho_solve, cholesky, solve_triangular
from scipy.sparse.linalg import LinearOperator, cg

from .._central_path import multipliers
from .._threads import limit_blas, n_threads, run_blocks, slices

MAX_SERIAL_ROWS = 1000  # up to which one thread copies a submatrix, and BLAS multiplies a matrix
LARGE_BLOCK_ROWS = 3000  # above, free blocks of a float32 kernel are factored in float32
MAX_FACTORED_VARIABLES = 10000  # above, conjugate gradients replace the Cholesky factor
LONG_PRODUCT_THREADS = 4  # idle threads of BLAS spin, and keep cores from a team


def blas_for(size, n_jobs, length=0):
    """Limits BLAS to the threads for matrices of `size` rows, or of `size` rows and `length` columns."""
    threads = n_threads(n_jobs)
    few = min(threads, LONG_PRODUCT_THREADS) if length > LARGE_BLOCK_ROWS else 1
    return limit_blas(threads if size > LARGE_BLOCK_ROWS else few)


class Free:
    """The KKT system of the free variables: (K_FF + D_F) x + E β = r (, Eᵀx = s), by a Cholesky factor or by CG.

    `equality` is True for E = 1, False without E, or E (|F|, k).
    """

    def __init__(self, K, index, diagonal, equality, n_jobs=1):
        E = self.E = columns(equality, len(index))
        if len(index) > MAX_FACTORED_VARIABLES:
            self._solve = _conjugate_gradients(K, index, diagonal[index], E, n_jobs)
        else:
            self.lower = _factor(K, index, diagonal, E, n_jobs)
            self._solve = lambda r: cho_solve((self.lower, True), r, check_finite=False)
        self.U = None if E is None else self._solve(E)

    def solve(self, r, s=0.0):
        """(x, β)."""
        x = self._solve(r)
        if self.E is None:
            return x, 0.0
        beta = multipliers(self.E, self.U, x, s)
        return x - np.dot(self.U, beta), beta


class Damped(Free):
    """The same for a positive diagonal: S (I + S K S)⁻¹ S, S = D^{−½}, is exact even if D is tiny."""

    def __init__(self, K, index, diagonal, equality, n_jobs=1):
        if len(index) > MAX_FACTORED_VARIABLES:
            super().__init__(K, index, diagonal, equality, n_jobs)
            return
        E, root = columns(equality, len(index)), 1.0 / np.sqrt(diagonal[index])
        self.E = E
        for raised, lift in ((False, 0.0), (E is not None, 0.0), (E is not None, 1e-14)):
            A, spot = cut_out(K, index, np.float64, n_jobs), np.arange(len(index))
            if raised:  # as in `_factor`
                A += max(A.max(), -A.min()) * _squares(E)
            A *= root[:, None]
            A *= root
            A[spot, spot] += 1.0
            A[spot, spot] += lift * float(A[spot, spot].max(initial=0.0))
            try:
                self.lower = cholesky(A.T, lower=True, overwrite_a=True, check_finite=False)
                break
            except np.linalg.LinAlgError:  # which has overwritten A
                if lift:
                    raise
        self._solve = lambda r: (root * cho_solve((self.lower, True), (root * r.T).T, check_finite=False).T).T
        self.U = None if E is None else self._solve(E)


class HalfHessian:
    """Z with ZᵀZ = B P Bᵀ, P the free block of the KKT inverse; B (M, |F|) holds K_m a of the free variables F.

    Above `MAX_FACTORED_VARIABLES` free variables an evenly spread choice replaces all. The curvature is then too
    small, and the step control of the outer loop corrects it.
    """

    def __init__(self, K, free, diagonal, equality, B, n_jobs=1):
        index = np.flatnonzero(free)
        E = columns(equality, len(index))
        if len(index) > MAX_FACTORED_VARIABLES:
            some = np.linspace(0, len(index) - 1, MAX_FACTORED_VARIABLES).astype(int)
            index, B, E = index[some], B[:, some], None if E is None else E[some]
        self.index, self.lower = index, _factor(K, index, diagonal, E, n_jobs, single=len(index) > 400)
        self.Z = solve_triangular(self.lower, B.T.astype(self.lower.dtype), lower=True, check_finite=False)
        if E is not None:
            u = solve_triangular(self.lower, E.astype(self.lower.dtype), lower=True, check_finite=False)
            if u.ndim == 1:
                self.Z -= np.outer(u, (u @ self.Z) / (u @ u))
            else:
                U, s, _ = np.linalg.svd(u, full_matrices=False)
                U = U[:, s > 100 * np.finfo(u.dtype).eps * s.max(initial=0.0)]
                self.Z -= U @ (U.T @ self.Z)

    def response(self, move):
        """The change of the free variables for a small change of the weights, da_F = −P Bᵀ dθ."""
        return -solve_triangular(self.lower, self.Z @ move, lower=True, trans="T", check_finite=False)


def symmetric_root(square):
    """Z with ZᵀZ = `square`, (M, M) and positive semidefinite up to rounding."""
    value, vector = np.linalg.eigh(0.5 * (square + square.T))
    return np.sqrt(np.maximum(value, 0.0))[:, None] * vector.T


def columns(equality, size):
    """E of the constraints Eᵀx = s: ones (size,) for True, None for False, or the array (size, k) itself."""
    if isinstance(equality, np.ndarray):
        return equality
    return np.ones(size) if equality else None


def _squares(E):
    """EEᵀ; 1 for a constant E."""
    return 1.0 if E.ndim == 1 else E @ E.T


def _factor(K, index, diagonal, E, n_jobs, single=False):
    """The lower Cholesky factor of K_FF + D_F plus a small multiple of I; float32 if K is and the block is large."""
    single = K.dtype == np.float32 and (single or len(index) > LARGE_BLOCK_ROWS)
    A = cut_out(K, index, np.float32 if single else np.float64, n_jobs)
    parts, spot = slices(len(A), 1 + len(A) // 500), np.arange(len(A))
    size = max(1e-300, *run_blocks(lambda part: float(max(A[part].max(), -A[part].min())), parts, n_jobs))
    floor = raised = (1e-5 if single else 1e-6 if K.dtype == np.float32 else 1e-11) * size
    lift, equality = 0.0 if E is None else size, E is not None  # Eᵀx is fixed: multiples of EEᵀ have no effect, and
    more = 1.0 if E is None else _squares(E)  # make up for the shift
    for attempt in range(8):
        if attempt:  # the failed factor has overwritten A
            A = cut_out(K, index, A.dtype, n_jobs)
        A[spot, spot] += diagonal[index]
        if lift:
            raise_all(A, lift, more, parts, n_jobs)
        A[spot, spot] += raised
        try:
            return cholesky(A.T, lower=True, overwrite_a=True, check_finite=False)
        except np.linalg.LinAlgError:
            if equality and attempt < 3:
                lift += size * 10**attempt
            else:
                floor *= 30
            raised += floor
    raise np.linalg.LinAlgError("the free block is far from positive definite")


def raise_all(A, lift, more, parts, n_jobs):
    """A += lift · more, in place; more is 1 or a matrix."""

    def add(part):
        A[part] += A.dtype.type(lift) if np.ndim(more) == 0 else (lift * more[part]).astype(A.dtype)

    run_blocks(add, parts, n_jobs)


def cut_out(K, rows, dtype, n_jobs):
    """K[rows][:, rows], in parallel."""
    if len(rows) <= MAX_SERIAL_ROWS:
        return K[rows[:, None], rows].astype(dtype)
    from ..loops.rows import gather

    out = np.empty((len(rows), len(rows)), dtype)
    run_blocks(lambda part: gather(K, rows[part], rows, out[part]), slices(len(rows), 1 + len(rows) // 200), n_jobs)
    return out


def _conjugate_gradients(K, index, d, E, n_jobs):
    own = K[index, index].astype(np.float64)
    level = 0.0 if E is None else 2 * float(np.abs(own).max())  # as in `_factor`
    columns = np.zeros((len(index), 1)) if E is None else E.reshape(len(index), -1)
    root = 1.0 / np.sqrt(d + own + level * np.sum(columns**2, axis=1))

    def multiply(v):
        full = np.zeros(len(K))
        full[index] = root * v
        added = level * (columns @ (columns.T @ full[index]))
        return root * (matvec(K, full, n_jobs)[index] + d * root * v + added)

    operator = LinearOperator((len(index), len(index)), multiply, dtype=np.float64)

    def solve(r):
        if r.ndim == 2:
            return np.column_stack([solve(column) for column in r.T])
        with limit_blas(1):  # its products use threads already
            return root * cg(operator, root * r, rtol=1e-10, maxiter=2000)[0]

    return solve


def matvec(K, v, n_jobs=1):
    """K v for symmetric K, from the rows of the support of v, with float64 sums over float32 blocks."""
    support = v.nonzero()[0]
    whole = len(v) <= MAX_SERIAL_ROWS or 2 * len(support) > len(v) and len(v) <= LARGE_BLOCK_ROWS
    if K.dtype == np.float64 and whole:
        return v @ K
    from ..loops.rows import add_rows

    out, x, parts = np.zeros(len(K)), v[support].astype(K.dtype), slices(len(K), 1 + len(K) // 500)
    run_blocks(lambda part: add_rows(K, support, x, part.start, part.stop, out), parts, n_jobs)
    return out
