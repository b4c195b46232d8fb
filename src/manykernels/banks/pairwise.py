"""Kernels computed on the fly: one base block per set of columns, from which all its kernels follow, tile by tile.

No array has M·n² entries. The tiles and the order of sums do not depend on the number of threads, nor do results.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import DTypeLike
from scipy.sparse import issparse

from .._limits import SHARES, MemoryBudget
from .._threads import n_threads, run_blocks
from .._validation import parse_bytes, shown
from ..inner.systems import cut_out
from ..kernels.frames import len_
from ..kernels.normalize import Scaled, check_normalize, kind_of, precision
from ..kernels.pair_blocks import BlockSide, few, width
from ._kernel_groups import arrays_of, check_called, data_of, make_groups, merge_equal_sides, nbytes
from ._sampled_means import MIN_EXAMPLES, sampled_means
from ._tiled_sums import MIN_TILE_ENTRIES, TILES_PER_THREAD, Tiles, plain_parts, tile_shape
from .base import Bank, DType, Index, Predictor, every
from .dense import MAX_FLOAT32_DIAGONAL, DenseBank, report_unusable, warn_indefinite
from .pairwise_predictor import PairwisePredictor, decide, take, writer

if TYPE_CHECKING:
    from ..kernels.kernel_list import KernelList

MAX_EXACT_EXAMPLES = 10_000  # up to which the scales come from all pairs
MAX_SCALE_ERROR = 1e-3  # of a scale from a sample, three standard errors; relative
MAX_LOOSE_ERROR = 0.1  # of a variance that sets no scale
KERNELS_PER_PASS = 16  # computed from one block of their base
PLAIN_KERNELS_PER_PASS = 64  # computed by NumPy, of any bases
MIN_MATRIX_BYTES = 2**23  # of a combined kernel that is built under any limit: 1,000 examples in float64


class PairwiseBank(Bank):
    """The kernels of a list on X, computed on the fly.

    Parameters
    ----------
    kernel_list : KernelList
    X : data
        In a form that the list reads.
    weights : array (n,), optional
        Weights of the examples in the normalisation.
    normalize : {"multiplicative", "exact", "spherical", "trace", None} or Scaled
        "multiplicative" takes the mean entry of a float32 kernel from a sample of its rows, above `MAX_EXACT_EXAMPLES`
        examples and where its error is at most `MAX_SCALE_ERROR`; `scale_error` has the errors. "exact" takes all rows.
    memory_limit : float, optional
        Bytes for the whole bank.
    dtype : {float32, float64}
        Type of the kernel values.
    n_jobs : int, default 1
        Threads.
    keep : callable, optional
        `keep(name, n, dtype)` returns an (n, n) array that outlives the process, NaN where nothing was computed yet.
        Kernels of strings or objects keep their values there.

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels.banks import PairwiseBank
    >>> from manykernels.kernels import RBF, KernelList, Linear
    >>> X = np.arange(4.0)[:, None]
    >>> bank = PairwiseBank(KernelList.from_spec([Linear(), RBF(gamma=1.0)], X), X, normalize=None)
    >>> bank.combined(np.array([1.0, 0.0]))[1]
    array([0., 1., 2., 3.], dtype=float32)
    """

    whole = True
    _all: np.ndarray | None = None  # `matrices()` (M, n, n), if the normalisation has computed them

    def __init__(
        self,
        kernel_list: KernelList,
        X: Any,
        *,
        weights: np.ndarray | None = None,
        normalize: str | None = "multiplicative",
        memory_limit: float | None = None,
        dtype: DTypeLike = np.float32,
        n_jobs: int | None = 1,
        keep: Callable[[str, int, np.dtype], np.ndarray] | None = None,
    ) -> None:
        check_normalize(normalize)
        self.kernel_list, self.normalize, self.n_jobs = kernel_list, kind_of(normalize), n_jobs
        self.dtype, self.sampled = np.dtype(dtype), normalize != "exact"
        self.names, self.M, self.memory_limit = list(kernel_list.names), kernel_list.M, memory_limit
        views = kernel_list.views(X)
        self.n = len_(views[0].X)
        self.groups = make_groups(kernel_list, views, self.dtype)
        index = np.arange(self.n)
        self.sides = self._make_sides(views, index)
        for group, side in zip(self.groups, self.sides, strict=True):
            if group.pairs.kind is None:
                check_called(group.kernels[0], side, views[group.view].present)
        self.free = self._free_bytes()  # half of it is for tiles, the other half for `restrict`
        self._keep(keep)
        tiles = None if self.free is None else MemoryBudget(self.free).share("tiles")
        self.most = None if tiles is None else max(MIN_MATRIX_BYTES, tiles)
        budget = None if tiles is None else tiles + self._least()
        self.tiles = self._make_tiles(budget)
        self._diagonals = np.empty((self.M, self.n))
        for group, side in zip(self.groups, self.sides, strict=True):
            diagonals = group.diagonals(side)
            self._diagonals[group.members] = diagonals if side.factor is None else diagonals * side.factor * side.factor
        if isinstance(normalize, Scaled):
            self._take_scale(normalize.scale, normalize.usable, normalize.mean)
        else:
            self._set_scale(weights)

    def _make_sides(self, views, index):
        sides = [group.side(views[group.view], index, self.normalize, n_jobs=self.n_jobs) for group in self.groups]
        return merge_equal_sides(self.groups, sides)

    def _make_tiles(self, budget):
        return Tiles(self.groups, self.dtype, np.ones(self.M), np.ones(self.M), self.n_jobs, budget)

    def _free_bytes(self):
        """Bytes that memory_limit leaves besides the data, M × n sums and a tile per thread; None without a limit.

        Fewer threads than n_jobs, at least one, get a tile where the limit does not hold more.
        """
        if self.memory_limit is None:
            return None
        held = nbytes(array for side in self.sides for array in arrays_of(side))
        thin = max((nbytes(data_of(side)) for side in self.sides if issparse(side.x)), default=0)
        held += 16 * self.M * self.n + thin  # squares; each thread has transposes
        parts = {id(data): data.nbytes for side in self.sides for data in data_of(side)}  # or its base block
        blocks = sum(min(size, self.n**2 * self.dtype.itemsize) for size in parts.values())
        threads, each = n_threads(self.n_jobs), thin + self._least() // n_threads(self.n_jobs)
        self.n_jobs = max(1, min(threads, int((self.memory_limit - held - blocks) / 2 // each)))
        held += self.n_jobs * each
        need = held + blocks
        if self.memory_limit < need:
            limit = parse_bytes(self.memory_limit)
            need *= limit.share
            raise ValueError(
                f"memory_limit={shown(limit.given)} is too small for one block of kernels: {self.n} examples × "
                f"{self.M} kernels need at least {need} bytes ({need / 2**20:.1f} MiB)."
            )
        return self.memory_limit - held

    def _least(self):
        """Bytes of the smallest tiles, one for each thread."""
        return TILES_PER_THREAD * MIN_TILE_ENTRIES * self.dtype.itemsize * n_threads(self.n_jobs)

    def _keep(self, keep=None):
        """Keeps base blocks of wide views and kernels of strings, objects, functions, in a quarter of the free memory.

        Without a limit this is 2 GiB. A block that is smaller than its data is kept whenever it fits.
        """
        free = SHARES["tiles"].unlimited if self.free is None else self.free
        limit = MemoryBudget(self.free).share("base blocks")
        kept = {}  # kernels of several tasks share a block
        for group, side in zip(self.groups, self.sides, strict=True):
            dear = group.pairs.kind is None and group.kernels[0].reads in ("views", "sequences", "objects", "anything")
            key = group.view, group.pairs.kind, id(group.kernels[0]) if dear else None
            if (type(side) is BlockSide or dear) and key in kept:
                side.cache = kept[key]
            size = self.n**2 * self.dtype.itemsize
            wide = dear or type(side) is BlockSide and (issparse(side.x) or np.shape(side.x)[:1] > (8,))
            if not wide or side.cache is not None or size > max(limit, min(free, nbytes(data_of(side)))):
                continue
            limit, free = limit - size, free - size
            lasting = dear and keep is not None
            cache = keep(f"pairs{len(kept)}", self.n, self.dtype) if lasting else np.empty((self.n, self.n), self.dtype)
            plain = few(self.n, self.n, width(side.x))
            parts = plain_parts(plain and not dear, 16, self.n**2 * width(side.x))
            rows, _ = tile_shape(self.n, self.n, self.dtype.itemsize, parts=parts)

            def work(r0, group=group, side=side, cache=cache, plain=plain, lasting=lasting, rows=rows):
                parts = cache[r0 : r0 + rows, r0:], cache[r0 + rows :, r0 : r0 + rows].T
                if lasting and not any(np.isnan(part).any() for part in parts):
                    return
                a, b = side.take(slice(r0, r0 + rows)), side.take(slice(r0, None))
                B = np.empty((a.own.size, b.own.size), self.dtype)
                group.pairs.block(a, b, B, (np.arange(len(B)), np.arange(len(B))), plain)
                parts[0][:], parts[1][:] = B, B[:, rows:]

            run_blocks(work, range(0, self.n, rows), self.n_jobs)
            side.cache = kept[key] = cache
        self.free = None if self.free is None else free

    def _set_scale(self, weights):
        """The normalisation, from some rows of every kernel, or from one pass over half of it."""
        w = np.ones(self.n) if weights is None else np.asarray(weights, float)
        if w.shape != (self.n,) or not (w >= 0).all() or not w.sum() > 0:
            raise ValueError(f"weights must be {self.n} non-negative numbers with a positive sum.")
        w = (w / w.max()).astype(self.dtype).astype(float)  # the weights in the precision of the products below
        suspects = set(np.flatnonzero((self._diagonals < 0).any(axis=1)))

        def check(*block):
            suspects.update(block[0].indefinite(*block[1:]))

        diagonal = self._diagonals @ w / w.sum()
        S = self.matrices() if self._kept_at_once() else None
        means = self._means(w, diagonal, check) if S is None else S @ w @ w / w.sum() ** 2
        bad = ~np.isfinite(diagonal + means)
        if bad.any():
            raise ValueError(
                f"Kernels {', '.join(self._called(bad))} are not finite on X; rescale the columns that they see."
            )
        moments = diagonal, diagonal - means
        scale, usable = self.kernel_list.scales(*moments, self.normalize, precision(self.dtype))
        if suspects:
            self.indefinite = "kernel " + ", ".join(self._called(np.isin(np.arange(self.M), list(suspects))))
            warn_indefinite(self.indefinite)
        self._take_scale(scale, usable, means)
        if S is not None:
            S *= scale[:, None, None]
            self._all = S
        report_unusable(self.names, self.usable)

    def _means(self, w, diagonal, check):
        """The mean entry of each kernel, (M,): from a sample where its error is small, else from all pairs.

        Other normalisations than "multiplicative" need it only for rounding, and to see whether a kernel varies.
        """
        means, errors = np.empty(self.M), np.full(self.M, np.inf)
        loose = self.normalize != "multiplicative"
        allowed = loose or self.sampled and self.dtype == np.float32
        if allowed and self.n > (MIN_EXAMPLES if loose else MAX_EXACT_EXAMPLES):
            certain = np.flatnonzero([kernel.psd for kernel in self.kernel_list.kernels])  # `check` sees all pairs
            if certain.size:
                means[certain], errors[certain] = sampled_means(self, w, diagonal[certain], certain)
        left = np.flatnonzero(~(errors <= (MAX_LOOSE_ERROR if loose else MAX_SCALE_ERROR)))
        if left.size:
            means[left], errors[left] = self._sums(w, check, left) @ w / w.sum() ** 2, 0.0
        if not loose and errors.any():
            self.scale_error = errors
        return means

    def _kept_at_once(self):
        """Whether the matrices are few and will be kept: then they also give the sums for the scales."""
        kept = self.dtype == np.float64 and few(self.n, self.n, self.M) and self.cost() >= 0.5 * self.M
        certain = all(kernel.psd for kernel in self.kernel_list.kernels)
        return kept and certain and 10 * self.M * self.n**2 <= MemoryBudget(self.free).share("matrices kept")

    def _take_scale(self, scale, usable, means):
        self.scale, self.usable = scale, usable
        self.tiles.scale, self.tiles.mean = scale, means
        self._diagonals *= scale[:, None]

    def _sums(self, w, check, kernels):
        """A vector for each of the kernels, (|kernels|, n), whose product with w is wᵀK_m w.

        It calls check(group, kernels, block, sides) for every block.
        """
        return self.tiles.products(self.sides, self.sides, w[None], self.n, kernels, halved=True, check=check)[0]

    def _called(self, mask):
        """The first names of some kernels, for messages."""
        return [repr(self.names[m]) for m in np.flatnonzero(mask)[:10]]

    def diagonals(self) -> np.ndarray:
        return self._diagonals

    def combined(
        self, theta: np.ndarray, rows: Index = None, cols: Index = None, dtype: DType = None, shifted: bool = False
    ) -> np.ndarray:
        theta = np.asarray(theta, float)
        symmetric = rows is cols or (rows is not None and cols is not None and np.array_equal(rows, cols))
        active = self.tiles.active(theta * self.scale != 0)
        left = take(self.sides, rows, active)
        right = left if symmetric else take(self.sides, cols, active)
        n_rows, n_cols = (self.n if r is None else len(r) for r in (rows, cols))
        out = np.empty((n_rows, n_cols), self.dtype if dtype is None else dtype)
        self.tiles.weighted(left, right, theta[None], n_rows, n_cols, writer(out[None], symmetric), symmetric, shifted)
        return out

    def products(self, A: np.ndarray, support: np.ndarray, rows: Index = None, kernels: Index = None) -> np.ndarray:
        kernels = every(kernels, self.M)
        active = self.tiles.active(np.isin(np.arange(self.M), kernels))
        left, right = take(self.sides, rows, active), take(self.sides, support, active)
        n_rows = self.n if rows is None else len(rows)
        return self.tiles.products(left, right, np.atleast_2d(np.asarray(A, float)), n_rows, kernels)

    def outputs(self, theta: np.ndarray, A: np.ndarray, support: np.ndarray, rows: Index = None) -> np.ndarray:
        """Sums the kernels first if the bank is float64, where this is exact."""
        if self.dtype != np.float64:
            return super().outputs(theta, A, support, rows)
        theta, A = np.asarray(theta, float), np.atleast_2d(np.asarray(A, float))
        active = self.tiles.active(theta * self.scale != 0)
        left, right = take(self.sides, rows, active), take(self.sides, support, active)
        return decide(self.tiles, left, right, A, theta[None], self.n if rows is None else len(rows))

    def cost(self) -> float:
        return sum(group.cost() for group in self.groups)

    def restrict(self, rows: np.ndarray, kernels: Index = None) -> Bank | None:
        """The part of the bank, as matrices in memory if they fit and are faster to read than to compute."""
        kernels = every(kernels, self.M)
        rows = every(rows, self.n)
        size, limit = kernels.size * rows.size**2 * self.dtype.itemsize, MemoryBudget(self.free).share("matrices kept")
        if self.free is not None:
            limit -= self._copied(rows, kernels)
            if limit < 0:
                return None
        part = self._part(rows, kernels, None if self.free is None else limit)
        if size > limit or part.cost() < 0.5 * kernels.size:
            return part
        small = DenseBank.from_scaled(part.matrices(), part.names, self.n_jobs, part.usable)
        small.most, small.in_blocks = self.most, self.in_blocks
        return small

    def matrices(self, kernels: Index = None, rows: Index = None, dtype: DType = None) -> np.ndarray:
        """Computes up to `KERNELS_PER_PASS` kernels of one base from each of its blocks."""
        kernels = every(kernels, self.M)
        if self._all is not None and rows is None and kernels.size == self.M:
            return self._all if dtype is None else self._all.astype(dtype, copy=False)
        n = self.n if rows is None else len(rows)
        S = np.empty((kernels.size, n, n), self.dtype if dtype is None else dtype)
        self._separate(rows, rows, kernels, lambda layers: writer(S, True, layers))
        return S

    def stripes(self, rows: np.ndarray, kernels: np.ndarray, put: Callable[..., None]) -> None:
        def emit(layers):
            def put_all(r0, r1, c0, c1, blocks):
                for k, block in zip(layers, blocks, strict=True):
                    put(k, r0, r1, c0, c1, block)

            return put_all

        self._separate(rows, None, kernels, emit)

    def _separate(self, rows, cols, kernels, emit):
        """Calls emit(their numbers) for some kernels at a time, of one base unless few, and that with each tile."""
        active, symmetric = self.tiles.active(np.isin(np.arange(self.M), kernels)), rows is cols
        left = take(self.sides, rows, active)
        right = left if symmetric else take(self.sides, cols, active)
        n_rows, n_cols = (self.n if r is None else len(r) for r in (rows, cols))
        where = np.full(self.M, -1)
        where[kernels] = np.arange(kernels.size)
        own, step = [group.members[where[group.members] >= 0] for group in self.groups], KERNELS_PER_PASS
        if few(n_rows, n_cols, kernels.size):
            own, step = [np.concatenate(own)], PLAIN_KERNELS_PER_PASS
        for members in own:
            for first in range(0, members.size, step):
                layers = members[first : first + step]
                one = (np.arange(self.M) == layers[:, None]).astype(float)
                self.tiles.weighted(left, right, one, n_rows, n_cols, emit(where[layers]), symmetric)

    def held(self, exact: bool = False) -> Bank:
        """Matrices if float32 has enough digits and they are faster to read than to compute."""
        size = self.M * self.n**2 * self.dtype.itemsize
        coarse = self.dtype == np.float32 and self._diagonals.max() > MAX_FLOAT32_DIAGONAL
        dear = exact or self._all is not None or self.cost() >= 0.5 * self.M
        if coarse or not dear or 1.25 * size > MemoryBudget(self.free).share("matrices kept"):
            return self
        return DenseBank.holding(self, self.matrices())

    def _copied(self, rows, kernels):
        """Bytes that a bank on these rows and kernels would copy."""
        sides = [self.sides[i] for i, _, _ in self.tiles.active(np.isin(np.arange(self.M), kernels))]
        cached = nbytes(side.cache for side in sides if side.cache is not None)
        other = nbytes(array for side in sides if side.cache is None for array in data_of(side))
        part = rows.size / self.n
        return int(part * other + part**2 * cached) + 16 * kernels.size * rows.size

    def _part(self, rows, kernels, free=None):
        """The bank on some rows and kernels with the same scales; it keeps the base blocks that fit."""
        part, index = copy.copy(self), np.arange(rows.size)
        if rows.size < self.n or kernels.size < self.M:
            part._all = None
        part.n, part.M, part.names = rows.size, kernels.size, [self.names[m] for m in kernels]
        part.scale, part.usable = self.scale[kernels], self.usable[kernels]
        part._diagonals = self._diagonals[np.ix_(kernels, rows)]
        where = np.full(self.M, -1)
        where[kernels] = np.arange(kernels.size)
        part.groups, part.sides, cut = [], [], {}
        for i, group, chosen in self.tiles.active(where >= 0):
            side = self.sides[i].take(rows)
            if side.factor is not None:
                side.factor = side.factor[chosen]
            if side.cache is not None:
                key = id(self.sides[i].cache)
                cut[key] = side.cache = cut[key] if key in cut else cut_out(side.cache, rows, self.dtype, self.n_jobs)
            if group.pairs.kind == "gram":
                side.x = side.x[:, rows]
            part.groups.append(group.subset(chosen, where[group.members[chosen]]))
            side.index = index
            part.sides.append(side)
        part.whole, mean, part.free = False, self.tiles.mean[kernels], free
        part._keep()
        part.tiles = Tiles(part.groups, self.dtype, part.scale, mean, self.n_jobs, self.tiles.budget)
        return part

    def predictor(self, support: np.ndarray) -> Predictor:
        if not self.whole:
            raise ValueError("This bank is a part, made by restrict; call predictor of the whole bank.")
        return PairwisePredictor(self, np.asarray(support))
