"""Products with kernels on pairs of objects, through the grid of all pairs (Airola and Pahikkala 2018).

    out_i = Σ_j A[l_i, l_j] B[r_i, r_j] v_j   =   (A W Bᵀ)[l_i, r_i] ,   W[l_j, r_j] += v_j

The matrix of n × n pairs is never built. With m_a × m_b objects a product takes m_a m_b (m_a + m_b) multiplications by
BLAS if much of the grid is filled, and n (m_a + m_b) with gathered rows if little of it is filled.
"""

from copy import copy
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array

from .._threads import run_blocks
from ..inner.matrix_free import Operator

MAX_CELLS_PER_PAIR = 8  # up to which BLAS on the whole grid is faster than gathering
NUMBERS_PER_BLOCK = 2**25  # of grids, or of gathered rows
VECTORS_PER_BLOCK = 4  # of one thread
MIN_SINGULAR_SHARE = 1e-15  # relative to the largest: smaller singular values are rounding


class Places(NamedTuple):
    """The positions of pairs on the grid, left and right (n,), and the size of the grid (m_a, m_b)."""

    left: np.ndarray
    right: np.ndarray
    size: tuple[int, int]

    @property
    def n(self):
        return len(self.left)

    @property
    def full(self):
        return self.size[0] * self.size[1] <= MAX_CELLS_PER_PAIR * self.n

    def swap(self):
        return Places(self.right, self.left, self.size[::-1])

    def take(self, rows):
        return self if rows is None else Places(self.left[rows], self.right[rows], self.size)

    def grid(self, V, dtype):
        """W (k, m_a, m_b) of V (k, n); sums over equal pairs."""
        flat, cells = self.left * self.size[1] + self.right, self.size[0] * self.size[1]
        W = np.stack([np.bincount(flat, v, cells) for v in V]).astype(dtype, copy=False)
        return W.reshape(len(V), *self.size)


def add(out, terms, V, rows, cols):
    """out += Σ_r (A_r W B_rᵀ)[rows] for V (k, |cols|): out is (k, |rows|), A_r (rows' × cols' objects)."""
    (ra, rb), (ca, cb) = rows.size, cols.size
    if terms and ca * cb * rb + ra * ca * rb <= ra * ca * cb + ra * cb * rb:
        _add(out, terms, V, rows, cols)
    else:
        _add(out, [(B, A) for A, B in terms], V, rows.swap(), cols.swap())


def each(A, B, pairs, V, rows, cols, n_jobs=1):
    """(A_p W B_qᵀ)[rows] for each (p, q) of `pairs` (M, 2): (k, M, |rows|); A, B are lists of matrices."""
    (ra, rb), (ca, cb), M = rows.size, cols.size, len(pairs)
    p, q = (len(np.unique(pairs[:, side])) for side in (0, 1))
    out = np.zeros((len(V), M, rows.n))
    if q * ca * cb * rb + M * ra * ca * rb <= p * ra * ca * cb + M * ra * cb * rb:
        _each(out, A, B, pairs, V, rows, cols, n_jobs)
    else:
        _each(out, B, A, pairs[:, ::-1], V, rows.swap(), cols.swap(), n_jobs)
    return out


def _add(out, terms, V, rows, cols):
    for part, W in _grids(V, rows, cols, terms[0][0].dtype):
        if isinstance(W, np.ndarray) and rows.full:
            G = 0.0
            for A, B in terms:
                G = G + A @ (W @ B.T)
            out[part] += G[:, rows.left, rows.right]
        else:
            for A, B in terms:
                out[part] += _gather(A, W @ B.T, rows)


def _each(out, A, B, pairs, V, rows, cols, n_jobs):
    for part, W in _grids(V, rows, cols, A[0].dtype):

        def some(q, part=part, W=W):
            T = W @ B[q].T
            for m in np.flatnonzero(pairs[:, 1] == q):
                if T.ndim == 3 and rows.full:
                    out[part, m] = (A[pairs[m, 0]] @ T)[:, rows.left, rows.right]
                else:
                    out[part, m] = _gather(A[pairs[m, 0]], T, rows)

        run_blocks(some, np.unique(pairs[:, 1]), n_jobs)


def _grids(V, rows, cols, dtype):
    """(slice, W): W (·, m_a, m_b) for several rows of V at a time, or sparse for one row if few cells are filled."""
    if cols.full:
        step = max(1, NUMBERS_PER_BLOCK // max(cols.size[0] * cols.size[1], rows.size[0] * rows.size[1]))
        for i in range(0, len(V), step):
            yield slice(i, i + step), cols.grid(V[i : i + step], dtype)
        return
    for i, v in enumerate(V):
        yield slice(i, i + 1), csr_array((v.astype(dtype), (cols.left, cols.right)), shape=cols.size)


def _gather(A, T, rows):
    """(A T)[rows] where T is (·, objects, rows' objects): (·, |rows|), from the rows of A that occur."""
    T = T[None] if T.ndim == 2 else T
    out, step = np.empty((len(T), rows.n)), max(1, NUMBERS_PER_BLOCK // (4 * max(A.shape[1], 1)))
    for i in range(0, rows.n, step):
        left, right = rows.left[i : i + step], rows.right[i : i + step]
        for k, t in enumerate(T):
            out[k, i : i + step] = np.einsum("ij,ij->i", A[left], t.T[right])
    return out


def factored(weights, A, B):
    """The few (A_r, B_r) with Σ_r A_r ⊗ B_r = Σ_pq weights_pq A_p ⊗ B_q, the largest first: by the SVD of `weights`.

    `A` and `B` are lists of matrices of about one size.
    """
    p, q = np.flatnonzero(weights.any(axis=1)), np.flatnonzero(weights.any(axis=0))
    if not len(p):
        return []
    U, s, Vt = np.linalg.svd(weights[np.ix_(p, q)], full_matrices=False)
    U = U * s
    return [(_mixed(U[:, r], A, p), _mixed(Vt[r], B, q)) for r in np.flatnonzero(s > MIN_SINGULAR_SHARE * s[0])]


def _mixed(weights, matrices, which):
    return sum(weight * matrices[i] for weight, i in zip(weights, which, strict=True))


def combine(weights, pairs, A, B, sizes):
    """Σ_m weights_m A_p ⊗ B_q over `pairs` (M, 2) as few products; `sizes` are the scales of A and B."""
    (p, q), table = pairs.T, np.zeros((len(A), len(B)))
    np.add.at(table, (p, q), weights * sizes[0][p] * sizes[1][q])
    return factored(
        table, *([K / size for K, size in zip(*part, strict=True)] for part in zip((A, B), sizes, strict=True))
    )


def dense(terms, rows, cols, out):
    """Σ_r A_r[l_i, l_j] B_r[r_i, r_j] of two sets of pairs, written into out (|rows|, |cols|)."""
    step = max(1, NUMBERS_PER_BLOCK // (4 * max(cols.n, 1)))
    for i in range(0, rows.n, step):
        some = rows.take(slice(i, i + step))
        block = np.zeros((some.n, cols.n))
        for A, B in terms:
            block += A[some.left][:, cols.left] * B[some.right][:, cols.right]
        out[i : i + step] = block
    return out


class PairOperator(Operator):
    """Σ_m θ_m K_m on the pairs at `places`, as a sum of few Kronecker products."""

    def __init__(self, terms, places, dtype, n_jobs=1):
        self.dtype, self.places, self.n_jobs = np.dtype(dtype), places, n_jobs
        self.terms = [tuple(np.ascontiguousarray(part, dtype=dtype) for part in term) for term in terms]
        self.shape = (places.n, places.n)

    def multiply(self, V):
        V, out = np.asarray(V, float), np.zeros((len(V), self.places.n))
        if len(V) == 1 and len(self.terms) > 1:
            parts = np.zeros((len(self.terms), *out.shape))

            def one(r):
                add(parts[r], self.terms[r : r + 1], V, self.places, self.places)

            run_blocks(one, range(len(parts)), self.n_jobs)
            return parts.sum(axis=0)

        def some(i):
            add(out[i : i + VECTORS_PER_BLOCK], self.terms, V[i : i + VECTORS_PER_BLOCK], self.places, self.places)

        if self.terms:
            run_blocks(some, range(0, len(V), VECTORS_PER_BLOCK), self.n_jobs)
        return out

    def diagonal(self):
        parts = (np.diagonal(A)[self.places.left] * np.diagonal(B)[self.places.right] for A, B in self.terms)
        return sum(parts, np.zeros(self.places.n)).astype(float)

    def take(self, index):
        part = copy(self)
        part.places = self.places.take(index)
        part.shape = (part.places.n, part.places.n)
        return part

    def array(self):
        return dense(self.terms, self.places, self.places, np.empty(self.shape))
