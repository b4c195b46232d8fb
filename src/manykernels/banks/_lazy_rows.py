"""The matrix F (n, D) of the features of kernels of low rank, whose rows are computed when they are needed."""

import numpy as np

from .._threads import limit_blas, run_blocks
from ..kernels.pair_blocks import span
from ._feature_rows import blocks
from .explicit import len_of

ROWS_PER_THREAD = 512  # at a time


class LazyRows:
    """F (n, D) with the methods of `_feature_rows.DenseRows`; each block is computed when it is needed.

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
