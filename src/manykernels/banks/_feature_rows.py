"""Feature matrices F (n, D) with the operations on rows that a bank needs: dense with BLAS, CSR with loops,
or computed when they are needed.

The blocks of rows do not depend on the number of threads, and neither do the results.
"""

from typing import Any

import numpy as np
import scipy.sparse as sp

from .._parts import declared
from .._threads import limit_blas, run_blocks
from ..kernels.pair_blocks import span
from .explicit import len_of

MAX_CSR_DENSITY = 0.2  # share of nonzero entries up to which CSR is faster
FEATURE_ROWS = 1024  # of a block
ROWS_PER_THREAD = 512  # of features that are computed, at a time


def as_rows(parts, first, spherical, sparse=None):
    """Parts (n, ·) side by side as `DenseRows` or `SparseRows`; kernel m has the columns first[m] : first[m + 1].

    With `spherical`, the part of each kernel in a row has norm 1 or 0. `sparse` None chooses by the number of entries.
    """
    n = parts[0].shape[0]
    if sparse is None:
        entries = sum(part.nnz if sp.issparse(part) else np.count_nonzero(part) for part in parts)
        sparse = entries <= MAX_CSR_DENSITY * n * first[-1]
    rows = (SparseRows if sparse else DenseRows).of(parts)
    return rows.on_sphere(first) if spherical else rows


@declared
class DenseRows:
    """F (n, D) float64, C-contiguous."""

    sparse = False

    F: Any

    @classmethod
    def of(cls, parts):
        parts = [part.toarray() if sp.issparse(part) else part for part in parts]
        return cls(np.ascontiguousarray(parts[0] if len(parts) == 1 else np.hstack(parts), dtype=np.float64))

    def on_sphere(self, first):
        norms = np.sqrt(np.add.reduceat(self.F * self.F, first[:-1], axis=1))
        norms[norms == 0] = 1.0
        return DenseRows(self.F / np.repeat(norms, np.diff(first), axis=1))

    def take(self, rows):
        return DenseRows(self.F[rows])

    def squares(self, w, mean=None):
        """Σ_i w_i (F_ij − mean_j)², (D,), for Σ w = 1; mean None means 0."""
        if mean is None:
            return np.einsum("i,ij,ij->j", w, self.F, self.F)
        parts = ((w[block], self.F[block] - mean) for block in blocks(len(self.F)))
        return sum(np.einsum("i,ij,ij->j", part, G, G) for part, G in parts)

    def add(self, rows, delta, n_jobs):
        """Σ_r delta_r F[rows_r], (D,)."""
        with limit_blas(1):
            return sum(run_blocks(lambda block: delta[block] @ self.F[span(rows[block])], blocks(len(rows)), n_jobs))

    def look_up(self, rows, w, n_jobs):
        """⟨w, F[rows_r]⟩, (|rows|,)."""
        with limit_blas(1):
            found = run_blocks(lambda block: self.F[span(rows[block])] @ w, blocks(len(rows)), n_jobs)
        return np.concatenate(found)

    def parts(self, rows, v, first):
        """Σ_j v_j F_rj over the columns of each kernel, (|rows|, M)."""
        return np.concatenate([
            np.add.reduceat(self.F[span(rows[block])] * v, first[:-1], axis=1) for block in blocks(len(rows))
        ])  # fmt: skip

    def own(self, first):
        """Σ_j F_rj² over the columns of each kernel, (n, M)."""
        return np.add.reduceat(self.F * self.F, first[:-1], axis=1)

    def gram(self, rows, w, n_jobs):
        """F[rows] diag(w) F[rows]ᵀ for w >= 0, (|rows|, |rows|)."""
        used = np.flatnonzero(w)
        G = self.F[rows] if len(used) == len(w) else self.F[np.ix_(rows, used)]
        return _square(G * np.sqrt(w[used]), n_jobs)

    def between(self, other, w, n_jobs):
        """F diag(w) F'ᵀ with the rows of another matrix, (n, n')."""
        with limit_blas(1):
            found = run_blocks(lambda block: (self.F[block] * w) @ other.F.T, blocks(len(self.F)), n_jobs)
        return np.concatenate(found)


@declared
class SparseRows:
    """F (n, D) as CSR with ascending indices, float64."""

    sparse = True

    F: Any

    @classmethod
    def of(cls, parts):
        parts = [sp.csr_array(part, dtype=np.float64) for part in parts]
        F = parts[0] if len(parts) == 1 else sp.csr_array(sp.hstack(parts, format="csr"))
        if not F.has_canonical_format:
            F = F.copy()
            F.sum_duplicates()
        return cls(F)

    @property
    def arrays(self):
        return self.F.data, self.F.indices, self.F.indptr

    def on_sphere(self, first):
        from ..loops.rows import to_sphere

        F = self.F.copy()
        to_sphere(F.data, F.indices, F.indptr, np.repeat(np.arange(len(first) - 1), np.diff(first)))
        return SparseRows(F)

    def take(self, rows):
        return SparseRows(self.F[rows])

    def squares(self, w, mean=None):
        n, D = self.F.shape
        each, columns = np.repeat(w, np.diff(self.F.indptr)), self.F.indices
        if mean is None:
            return np.bincount(columns, self.F.data**2 * each, minlength=D)
        inside = np.bincount(columns, (self.F.data - mean[columns]) ** 2 * each, minlength=D)
        full = np.bincount(columns, minlength=D) == n
        zeros = np.where(full, 0.0, 1.0 - np.bincount(columns, each, minlength=D))  # weight of the zeros
        return inside + np.maximum(zeros, 0.0) * mean**2

    def add(self, rows, delta, n_jobs):
        from ..loops.rows import add_entries

        def block(part):
            v = np.zeros(self.F.shape[1])
            add_entries(*self.arrays, rows[part], delta[part], v)
            return v

        return sum(run_blocks(block, blocks(len(rows), max(FEATURE_ROWS, len(rows) // 4 + 1)), n_jobs))

    def look_up(self, rows, w, n_jobs):
        from ..loops.rows import look_up_entries

        out = np.empty(len(rows))
        run_blocks(lambda block: look_up_entries(*self.arrays, rows[block], w, out[block]), blocks(len(rows)), n_jobs)
        return out

    def parts(self, rows, v, first):
        F = self.F[rows]
        return _sums(F, F.data * v[F.indices], first)

    def own(self, first):
        return _sums(self.F, self.F.data**2, first)

    def gram(self, rows, w, n_jobs):
        F, K = self.F[rows], np.empty((len(rows), len(rows)))
        F.data *= np.sqrt(w[F.indices])
        columns = F.T.tocsr()

        def block(part):
            K[part] = (F[part] @ columns).toarray()

        run_blocks(block, blocks(len(rows), FEATURE_ROWS // 4), n_jobs)
        return K

    def between(self, other, w, n_jobs):
        weighted = self.F.copy()
        weighted.data *= w[weighted.indices]
        return (weighted @ other.F.T).toarray()


class LazyRows:
    """F (n, D) with the methods of `DenseRows`; each block is computed when it is needed.

    Sums within a block have the dtype of the features, sums over blocks are float64.
    """

    sparse = False
    on_device = False

    def __init__(self, kernels, views, first, dtype, spherical):
        self.kernels, self.views, self.first, self.dtype, self.spherical = kernels, views, first, dtype, spherical
        self.n, self.kept, self._last = len_of(views), None, (None, None)

    def rows(self, rows):
        """F[rows], (|rows|, D); the last block is kept, since solvers use it several times."""
        if self.kept is not None:
            return self.kept[span(rows)]
        last, F = self._last
        if last is rows:
            return F
        F = np.empty((len(rows), self.first[-1]), self.dtype)
        self._fill(F, rows)
        self._last = (rows, F) if len(rows) <= ROWS_PER_THREAD else (None, None)
        return F

    def _fill(self, F, rows):
        """Computes the features of these examples into F."""
        if not len(rows):
            return
        at, seen = span(rows), {}
        places = zip(self.kernels.kernels, self.kernels.view_of, self.first[:-1], self.first[1:], strict=True)
        for kernel, v, low, high in places:
            if v not in seen:
                seen[v] = _cast(self.views[v].X[at], self.dtype)
            part = F[:, low:high]
            part[...] = kernel.features(seen[v], self.dtype)
            if self.spherical:
                norms = np.sqrt(np.einsum("ij,ij->i", part, part))[:, None]
                np.divide(part, norms, out=part, where=norms > 0)
            if self.views[v].present is not None:
                part[~self.views[v].present[at]] = 0.0

    def block(self, rows, n_jobs):
        """F[rows] by several threads."""
        if self.kept is not None or len(rows) <= ROWS_PER_THREAD:
            return self.rows(rows)
        F = np.empty((len(rows), self.first[-1]), self.dtype)
        run_blocks(lambda block: self._fill(F[block], rows[block]), blocks(len(rows), ROWS_PER_THREAD), n_jobs)
        return F

    def keep(self, n_jobs):
        """Computes F once and keeps it."""
        self.kept = self.block(np.arange(self.n), n_jobs)

    def take(self, rows):
        views = [view.of(rows) for view in self.views]
        return LazyRows(self.kernels, views, self.first, self.dtype, self.spherical)

    def _parts(self, rows):
        """The rows in blocks; a single block is the same object, which `rows` recognises."""
        return [rows] if len(rows) <= ROWS_PER_THREAD else [rows[block] for block in blocks(len(rows), ROWS_PER_THREAD)]

    def moments(self, w, n_jobs):
        """Σ w F², Σ w (F − m) and Σ w (F − m)² over the examples, (D,) each; m is the mean of the first block."""
        with limit_blas(1):
            middle = self.rows(np.arange(min(self.n, ROWS_PER_THREAD))).mean(axis=0, dtype=np.float64)

            def part(rows):
                F, v = self.rows(np.arange(rows.start, rows.stop)), w[rows]
                square = np.einsum("i,ij,ij->j", v, F, F, dtype=np.float64)
                F = F - middle.astype(F.dtype)
                return square, v @ F, np.einsum("i,ij,ij->j", v, F, F, dtype=np.float64)

            return _sum(part, blocks(self.n, ROWS_PER_THREAD), n_jobs)

    def add(self, rows, delta, n_jobs):
        """Σ_r delta_r F[rows_r], (D,)."""
        delta, parts = np.asarray(delta).astype(self.dtype), self._parts(rows)
        starts = np.cumsum([0, *map(len, parts)])

        def part(k):
            return (delta[starts[k] : starts[k + 1]] @ self.rows(parts[k])).astype(np.float64)

        with limit_blas(1):
            return _sum(lambda k: (part(k),), range(len(parts)), n_jobs)[0]

    def look_up(self, rows, w, n_jobs):
        """⟨w, F[rows_r]⟩, (|rows|,)."""
        w = w.astype(self.dtype)
        with limit_blas(1):
            found = run_blocks(lambda part: self.rows(part) @ w, self._parts(rows), n_jobs)
        return np.concatenate(found).astype(np.float64)

    def parts(self, rows, v, first):
        """Σ_j v_j F_rj over the columns of each kernel, (|rows|, M)."""
        return np.concatenate([
            np.add.reduceat(self.rows(part) * v, first[:-1], axis=1) for part in self._parts(rows)
        ])  # fmt: skip

    def own(self, first):
        """Σ_j F_rj² over the columns of each kernel, (n, M)."""
        found = []
        for part in self._parts(np.arange(self.n)):
            F = self.rows(part).astype(np.float64)
            found.append(np.add.reduceat(F * F, first[:-1], axis=1))
        return np.concatenate(found)

    def gram(self, rows, w, n_jobs):
        """F[rows] diag(w) F[rows]ᵀ for w >= 0, (|rows|, |rows|)."""
        used = np.flatnonzero(w)
        G = self.block(rows, n_jobs)
        G = G * np.sqrt(w).astype(G.dtype) if len(used) == len(w) else G[:, used] * np.sqrt(w[used]).astype(G.dtype)
        with limit_blas(1 if len(rows) <= ROWS_PER_THREAD else n_jobs):
            return (G @ G.T).astype(np.float64)

    def between(self, other, w, n_jobs):
        """F diag(w) F'ᵀ with the rows of another matrix, (n, n')."""
        out = np.empty((self.n, other.n))
        for left in self._parts(np.arange(self.n)):
            F = self.rows(left).astype(np.float64) * w
            for right in self._parts(np.arange(other.n)):
                out[left[0] : left[-1] + 1, right[0] : right[-1] + 1] = F @ other.rows(right).T
        return out


def _square(G, n_jobs):
    """G Gᵀ, (n, n)."""
    with limit_blas(1):
        if len(G) <= FEATURE_ROWS:
            return G @ G.T
        return np.concatenate(run_blocks(lambda block: G[block] @ G.T, blocks(len(G)), n_jobs))


def _sums(F, values, first):
    """Sums of `values`, entries of the CSR matrix F, over the columns of each kernel, (n, M)."""
    kern, n, M = np.repeat(np.arange(len(first) - 1), np.diff(first)), F.shape[0], len(first) - 1
    at = np.repeat(np.arange(n), np.diff(F.indptr)) * M + kern[F.indices]
    return np.bincount(at, values, minlength=n * M).reshape(n, M)


def blocks(n, size=FEATURE_ROWS):
    """Slices of `size` numbers that cover range(n), at least one."""
    return [slice(low, min(low + size, n)) for low in range(0, max(n, 1), size)]


def _cast(x, dtype):
    # x may be a user's list
    return x.astype(dtype, copy=False) if getattr(x, "dtype", np.dtype(object)).kind == "f" else x


def _sum(fn, parts, n_jobs, ahead=32):
    """The sums of the arrays that fn returns for each part, in order; at most `ahead` results wait to be added."""
    parts, total = list(parts), None
    for start in range(0, len(parts), ahead):
        for found in run_blocks(fn, parts[start : start + ahead], n_jobs):
            total = list(found) if total is None else [t + f for t, f in zip(total, found, strict=True)]
    return total
