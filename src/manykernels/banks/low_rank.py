"""Kernels of low rank, `RandomFeatures` and `Nystroem`, whose features are computed in blocks or kept in float32.

    k_m(x, x') = Σ_j φ_j(x) φ_j(x'),   j over the features of kernel m

The matrix F (n, D) of a `FeatureBank` is kept in float64 if it is small. A large one never exists as a whole in
float64: if F in float32 fits in memory, it is kept; else each use computes it again from the data and the seeds, one
block of examples at a time.
"""

import numpy as np

from .._memory import MemoryBudget
from .._state import check, check_array, check_is, check_list, check_offsets
from .._threads import limit_blas, run_blocks
from ..kernels.nystroem import Nystroem
from ..kernels.pair_blocks import span
from ..kernels.view_data import View
from ._feature_rows import blocks
from ._kernel_groups import check_rows
from .explicit import ExplicitBank, ExplicitPredictor, len_of
from .features import FeatureBank

MAX_FLOAT64_ENTRIES = 2**24  # of F: up to them F is kept in float64
ROWS_PER_THREAD = 512  # at a time


class LowRankBank(FeatureBank):
    """`phi` holds F as `LazyRows`; kernel m has the columns first[m] : first[m + 1]."""

    file_tag = ("bank/low_rank", 1)

    @classmethod
    def from_list(
        cls, kernels, X, *, weights=None, normalize="multiplicative", memory_limit=None, n_jobs=1, single=False
    ):
        """The bank of a `KernelList`; None if a kernel is not of low rank. `single` asks for float32 features."""
        if not all(kernel.family == "low_rank" for kernel in kernels.kernels):
            return None
        bank = cls()
        bank.kernels, bank.names, bank.M = kernels, list(kernels.names), kernels.M
        bank.n_jobs, bank.memory_limit, bank.spherical = n_jobs, memory_limit, normalize == "spherical"
        bank.dtype = np.dtype(np.float32 if single else np.float64)
        views = kernels.views(X)
        bank.n, bank.first = len_of(views), _offsets(kernels, views)
        bank.phi = bank._lazy(views)
        limit, few = MemoryBudget(memory_limit).share("features kept"), bank.entries() <= MAX_FLOAT64_ENTRIES
        if (single or few) and bank.dtype.itemsize * bank.entries() <= limit:
            bank.phi.keep(n_jobs)
        bank.normalise(weights, normalize)
        return bank

    def _lazy(self, views):
        return LazyRows(self.kernels, views, self.first, self.dtype, self.spherical)

    def features(self, views):
        return self._lazy(views)

    def moments(self, w):
        """In one pass over the features, which are centred at the mean of the first block."""
        with limit_blas(1):
            middle = self.phi.rows(np.arange(min(self.n, ROWS_PER_THREAD))).mean(axis=0, dtype=np.float64)

            def part(rows):
                F, v = self.phi.rows(np.arange(rows.start, rows.stop)), w[rows]
                square = np.einsum("i,ij,ij->j", v, F, F, dtype=np.float64)
                F = F - middle.astype(F.dtype)
                return square, v @ F, np.einsum("i,ij,ij->j", v, F, F, dtype=np.float64)

            square, mean, spread = _sum(part, blocks(self.n, ROWS_PER_THREAD), self.n_jobs)
        return self.sums(square), np.maximum(self.sums(spread - mean**2), 0.0)

    def variance_precision(self):
        return 1e-6 if self.dtype == np.float32 else 1e-12

    def owners(self):
        return np.repeat(np.arange(self.M), np.diff(self.first))

    def dense(self, rows):
        return self.phi.block(rows, self.n_jobs)

    def data(self):
        return [view.X for view in self.phi.views]

    def entries(self):
        return self.n * int(self.first[-1])

    def numeric(self):
        F = self.phi.kept
        return None if F is None or F.dtype != np.float64 else (F, self.first, self.scale)

    def coefficients(self, vectors, theta):
        return None  # features are not columns of X

    def expansion(self, m, A):
        """Of `Nystroem`, whose features are sums over the landmarks."""
        kernel = self.kernels.kernels[m]
        if not isinstance(kernel, Nystroem):
            return None
        v = np.array([self.vectors_of(a).v[self.first[m] : self.first[m + 1]] for a in A]) * self.scale[m]
        return kernel.kernel, kernel.landmarks_, v @ kernel.projection_.T

    def predictor(self, support):
        return LowRankPredictor(self.take(support))

    def to_state(self):
        views = [{"X": view.X, "present": view.present} for view in self.phi.views]
        state = ExplicitBank.to_state(self)
        return state | {"seen": views, "first": self.first, "spherical": self.spherical, "dtype": self.dtype.name}

    @classmethod
    def from_state(cls, state):
        bank = cls._restored(state)
        kernels, seen = bank.kernels, check_list("seen", state["seen"], dict, bank.kernels.n_views)
        check(state["dtype"] in ("float32", "float64"), f"dtype is {state['dtype']!r}")
        bank.dtype, bank.spherical = np.dtype(state["dtype"]), check_is("spherical", state["spherical"], bool)
        views = [View(view["X"], view["present"]) for view in seen]
        bank.n = len_of(views)
        for view, reads, width in zip(views, kernels.reads, kernels.widths, strict=True):
            check_rows(view.X, bank.n, width, reads)
            if view.present is not None:
                check_array("present", view.present, bool, bank.n)
        check_offsets("first", state["first"], bank.M, int(state["first"][-1]))
        bank.first = state["first"]
        for kernel in kernels.kernels:
            check(kernel.family == "low_rank", f"{kernel!r} is not of low rank")
        check(np.array_equal(bank.first, _offsets(kernels, views)), "first does not fit the kernels")
        bank.phi = bank._lazy(views)
        return bank


class LazyRows:
    """F (n, D) with the methods of `_feature_rows.DenseRows`; each block is computed when it is needed.

    Sums within a block have the dtype of the features, sums over blocks are float64.
    """

    sparse = False

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


class LowRankPredictor(ExplicitPredictor):
    """Predictions from v, which is summed once and kept for later calls."""

    file_tag = ("predictor/low_rank", 1)

    def __init__(self, bank):
        super().__init__(bank)
        self._summed = []

    def vectors(self, a):
        for before, vectors in self._summed:
            if before is a or np.array_equal(before, a):
                return vectors
        vectors = super().vectors(a)
        self._summed = [*self._summed[-31:], (np.array(a), vectors)]
        return vectors

    def __getstate__(self):
        return {"bank": self.bank, "_summed": []}


def _offsets(kernels, views):
    """Where the features of each kernel begin, (M + 1,)."""
    one = [kernel.features(views[v].X[:1]).shape[1] for kernel, v in zip(kernels.kernels, kernels.view_of, strict=True)]
    return np.concatenate([[0], np.cumsum(one)])


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
