"""Kernels computed on the fly: a base block once per set of columns, mapped to all its kernels tile by tile.

Nothing of size M·n² is ever held. Tiles are cut before threads are counted and sums are ordered, so a result does not
depend on the number of threads.
"""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import DTypeLike
from scipy.sparse import csr_array, issparse

from .._state import check, check_integer, check_is, check_list
from .._threads import n_threads, run_blocks
from ..kernels._base import len_
from ..kernels._list import KernelList
from ..kernels._pairs import Side
from ..kernels._views import n_examples
from ..kernels.normalize import check_choice, precision, scales
from ..kernels.tasks import split
from ._base import Bank, Predictor
from ._groups import Group, arrays_of, data_of, nbytes, share
from ._tiles import BUFFERS, SMALLEST, tile_shape
from ._walks import WalkTiles, make_groups
from .dense import DenseBank, report_unusable, warn_indefinite


class PairwiseBank(Bank):
    """The kernels of `kernel_list` on X, computed on the fly within `memory_limit` bytes, in float32 or float64."""

    whole = True

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
    ) -> None:
        check_choice(normalize)
        self.kernel_list, self.normalize, self.dtype, self.n_jobs = kernel_list, normalize, np.dtype(dtype), n_jobs
        self.names, self.M, self.memory_limit = list(kernel_list.names), kernel_list.M, memory_limit
        views = kernel_list.views(X)
        self.n = len_(views[0].X)
        self.groups = make_groups(kernel_list, views, self.dtype)
        index = np.arange(self.n)
        self.sides = share(self.groups, [group.side(views[group.view], index, normalize) for group in self.groups])
        self.free = self._room()  # half of it is for tiles, the other half for `restrict`
        self._keep()
        budget = None if self.free is None else self.free // 2 + self._least()
        exempt = np.array([kernel.exempt for kernel in kernel_list.kernels])
        self.tiles = WalkTiles(self.groups, self.dtype, np.ones(self.M), np.ones(self.M), n_jobs, budget)
        self._diagonals = np.empty((self.M, self.n))
        for group, side in zip(self.groups, self.sides, strict=True):
            diagonals = group.diagonals(side)
            self._diagonals[group.members] = diagonals if side.factor is None else diagonals * side.factor**2.0
        self._set_scale(weights, exempt)

    def _room(self):
        """Bytes that memory_limit leaves beside the data, M × n sums and a tile per thread; None without a limit."""
        if self.memory_limit is None:
            return None
        held = nbytes(array for side in self.sides for array in arrays_of(side))
        held += 16 * self.M * self.n + self._least()
        thin = [nbytes(data_of(side)) for side in self.sides if issparse(side.x)]
        held += (1 + n_threads(self.n_jobs)) * max(thin, default=0)  # squares and transposes
        parts = {id(data): data.nbytes for side in self.sides for data in data_of(side)}  # copied, or a base block kept
        need = held + sum(min(size, self.n**2 * self.dtype.itemsize) for size in parts.values())
        if self.memory_limit < need:
            raise ValueError(
                f"memory_limit={self.memory_limit} bytes is too small for one block of kernels: {self.n} examples × "
                f"{self.M} kernels need at least {need} bytes ({need / 2**20:.1f} MiB)."
            )
        return self.memory_limit - held

    def _least(self):
        """Bytes of the smallest tiles, one for each thread."""
        return BUFFERS * SMALLEST * self.dtype.itemsize * n_threads(self.n_jobs)

    def _keep(self):
        """Keeps base blocks of wide views and kernels of strings or objects while they fit a quarter of the room.

        (2 GiB where there is no limit.) A block that is smaller than its data is kept wherever it fits.
        """
        free = 2**33 if self.free is None else self.free
        room = free // 4
        rows, _ = tile_shape(self.n, self.n, self.dtype.itemsize)
        kept = {}  # kernels of several tasks share a block
        for group, side in zip(self.groups, self.sides, strict=True):
            dear = group.pairs.kind is None and group.kernels[0].reads in ("sequences", "objects")
            key = group.view, group.pairs.kind, id(group.kernels[0]) if dear else None
            if (type(side) is Side or dear) and key in kept:
                side.cache = kept[key]
            size = self.n**2 * self.dtype.itemsize
            wide = dear or type(side) is Side and (issparse(side.x) or np.shape(side.x)[:1] > (8,))
            if not wide or side.cache is not None or size > max(room, min(free, nbytes(data_of(side)))):
                continue
            room, free = room - size, free - size
            cache = np.empty((self.n, self.n), self.dtype)

            def work(r0, group=group, side=side, cache=cache):
                a, b = side.take(slice(r0, r0 + rows)), side.take(slice(r0, None))
                B = np.empty((a.own.size, b.own.size), self.dtype)
                group.pairs.block(a, b, B, (np.arange(len(B)), np.arange(len(B))))
                cache[r0 : r0 + rows, r0:] = B
                cache[r0 + rows :, r0 : r0 + rows] = B[:, rows:].T

            run_blocks(work, range(0, self.n, rows), self.n_jobs)
            side.cache = kept[key] = cache
        self.free = None if self.free is None else free

    def _set_scale(self, weights, exempt):
        """The normalisation, from one pass over half of every kernel."""
        w = np.ones(self.n) if weights is None else np.asarray(weights, float)
        if w.shape != (self.n,) or not (w >= 0).all() or not w.sum() > 0:
            raise ValueError(f"weights must be {self.n} non-negative numbers with a positive sum.")
        w = (w / w.max()).astype(self.dtype).astype(float)  # the very numbers that the blocks are multiplied with
        suspects = set(np.flatnonzero((self._diagonals < 0).any(axis=1)))

        def check(*block):
            suspects.update(block[0].indefinite(*block[1:]))

        every = np.arange(self.M)
        sums = self.tiles.products(self.sides, self.sides, w[None], self.n, every, halved=True, check=check)[0]
        diagonal, means = self._diagonals @ w / w.sum(), sums @ w / w.sum() ** 2
        bad = ~np.isfinite(diagonal + means)
        if bad.any():
            raise ValueError(
                f"Kernels {', '.join(self._called(bad))} are not finite on X; rescale the columns they see."
            )
        scale, usable = scales(diagonal, diagonal - means, self.normalize, precision(self.dtype))
        self.scale, self.usable = np.where(exempt, 1.0, scale), usable | exempt
        if suspects:
            self.indefinite = "kernel " + ", ".join(self._called(np.isin(every, list(suspects))))
            warn_indefinite(self.indefinite)
        report_unusable(self)
        self.tiles.scale, self.tiles.mean = self.scale, means
        self._diagonals *= self.scale[:, None]

    def _called(self, mask):
        """The first names of some kernels, for messages."""
        return [repr(self.names[m]) for m in np.flatnonzero(mask)[:10]]

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
        theta = np.asarray(theta, float)
        symmetric = rows is cols or (rows is not None and cols is not None and np.array_equal(rows, cols))
        active = self.tiles.active(theta * self.scale != 0)
        left = _take(self.sides, rows, active)
        right = left if symmetric else _take(self.sides, cols, active)
        n_rows, n_cols = (self.n if r is None else len(r) for r in (rows, cols))
        out = np.empty((n_rows, n_cols), self.dtype if dtype is None else dtype)
        self.tiles.weighted(left, right, theta[None], n_rows, n_cols, _writer(out[None], symmetric), symmetric, shifted)
        return out

    def products(
        self, A: np.ndarray, support: np.ndarray, rows: np.ndarray | None = None, kernels: np.ndarray | None = None
    ) -> np.ndarray:
        kernels = np.arange(self.M) if kernels is None else np.asarray(kernels)
        active = self.tiles.active(np.isin(np.arange(self.M), kernels))
        left, right = _take(self.sides, rows, active), _take(self.sides, support, active)
        n_rows = self.n if rows is None else len(rows)
        return self.tiles.products(left, right, np.atleast_2d(np.asarray(A, float)), n_rows, kernels)

    def outputs(
        self, theta: np.ndarray, A: np.ndarray, support: np.ndarray, rows: np.ndarray | None = None
    ) -> np.ndarray:
        """Kernels are added up first where that is exact, in float64."""
        if self.dtype != np.float64:
            return super().outputs(theta, A, support, rows)
        theta, A = np.asarray(theta, float), np.atleast_2d(np.asarray(A, float))
        active = self.tiles.active(theta * self.scale != 0)
        left, right = _take(self.sides, rows, active), _take(self.sides, support, active)
        return _decide(self.tiles, left, right, A, theta[None], self.n if rows is None else len(rows))

    def cost(self) -> float:
        return sum(group.cost() for group in self.groups)

    def restrict(self, rows: np.ndarray, kernels: np.ndarray | None = None) -> Bank | None:
        """The sub-block, as matrices in memory where they fit and are quicker to read than to compute."""
        kernels = np.arange(self.M) if kernels is None else np.asarray(kernels)
        rows = np.arange(self.n) if rows is None else np.asarray(rows)
        size, limit = kernels.size * rows.size**2 * self.dtype.itemsize, 2**32
        if self.free is not None:
            limit = self.free // 2 - self._copied(rows, kernels)
            if limit < 0:
                return None
        part = self._part(rows, kernels, None if self.free is None else limit)
        if size > limit or part.cost() < 0.5 * kernels.size:
            return part
        S = np.empty((kernels.size, rows.size, rows.size), self.dtype)
        one = np.eye(kernels.size)
        for group in part.groups:
            for first in range(0, group.members.size, 16):
                layers = np.sort(group.members)[first : first + 16]
                write = _writer(S, True, layers)
                part.tiles.weighted(part.sides, part.sides, one[layers], rows.size, rows.size, write, True)
        return DenseBank.from_scaled(S, part.names, self.n_jobs, part.usable)

    def _copied(self, rows, kernels):
        """Bytes that the bank on these rows and kernels has of its own."""
        sides = [self.sides[i] for i, _, _ in self.tiles.active(np.isin(np.arange(self.M), kernels))]
        cached = nbytes(side.cache for side in sides if side.cache is not None)
        other = nbytes(array for side in sides if side.cache is None for array in data_of(side))
        share = rows.size / self.n
        return int(share * other + share**2 * cached) + 16 * kernels.size * rows.size

    def _part(self, rows, kernels, free=None):
        """The bank on some rows and kernels, with the scales of this one, its base blocks kept where they fit."""
        part, index = copy.copy(self), np.arange(rows.size)
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
                cut[key] = side.cache = cut[key] if key in cut else side.cache[np.ix_(rows, rows)]
            if group.pairs.kind == "gram":
                side.x = side.x[:, rows]
            part.groups.append(group.subset(chosen, where[group.members[chosen]]))
            part.sides.append(replace(side, index=index))
        part.whole, mean, part.free = False, self.tiles.mean[kernels], free
        part._keep()
        part.tiles = WalkTiles(part.groups, self.dtype, part.scale, mean, self.n_jobs, self.tiles.budget)
        return part

    def predictor(self, support: np.ndarray) -> Predictor:
        if not self.whole:
            raise ValueError("This is a part of a bank, made by restrict; ask the whole bank for its predictor.")
        return PairwisePredictor(self, np.asarray(support))


class PairwisePredictor(Predictor):
    """The kernels between new data and the support examples of a PairwiseBank.

    In float64, so that an example's prediction does not depend on the batch it comes in.
    """

    def __init__(self, bank, support):
        self.kernel_list, self.normalize, self.n_support = bank.kernel_list, bank.normalize, support.size
        groups, self.sides = [group.double() for group in bank.groups], []
        for side, group in zip(bank.sides, groups, strict=True):
            side = replace(side, cache=None).take(support)
            if group.pairs.kind == "gram":
                side.x = None
            elif hasattr(side.x, "compact"):  # sequences share their storage with all others
                side.x = side.x.compact()
            self.sides.append(side.double(group.pairs.kind))
        self.sides = share(groups, self.sides)
        self.tiles = WalkTiles(
            groups, np.dtype(np.float64), bank.scale, bank.tiles.mean, bank.n_jobs, bank.tiles.budget
        )

    @property
    def scale(self):
        return self.tiles.scale

    def sizes(self):
        return self.n_support, self.tiles.scale.size

    def check_state(self) -> None:
        kernels, tiles = check_is("kernel_list", self.kernel_list, KernelList), check_is("tiles", self.tiles, WalkTiles)
        check_choice(self.normalize)
        check_integer("n_support", self.n_support, 0, 2**48)
        check(tiles.scale.size == kernels.M, f"scale has {tiles.scale.size} entries for {kernels.M} kernels")
        check_list("groups", tiles.groups, Group, len(tiles.groups))
        check_list("sides", self.sides, Side, len(tiles.groups))
        n_tasks = 1 if kernels.tasks is None else len(kernels.tasks)
        for group, side in zip(tiles.groups, self.sides, strict=True):
            view = check_integer("view", group.view, 0, kernels.n_views - 1)
            for kernel, m in zip(group.kernels, group.members, strict=True):
                check(kernel is kernels.kernels[m], "a group has other kernels than the list")
                check(kernels.view_of[m] == view, "a group sees another view than its kernels")
                check(kernels.task_of[m] == group.task and group.n_tasks == n_tasks, "a group is of another task")
            group.check_side(side, self.n_support, kernels.widths[view])

    def _new(self, X, wanted, index=None):
        """The sides of new data for the groups with a wanted kernel, and their number of examples."""
        active = self.tiles.active(wanted)
        views = self.kernel_list.views(X, {group.view for _, group, _ in active})
        sides = [None] * len(self.tiles.groups)
        for i, group, _ in active:
            if group.pairs.kind == "gram" and (self.normalize == "spherical" or index is not None):
                raise ValueError(f"{group.kernels[0].transformer!r} gives no kernel between two new examples.")
            sides[i] = self._side(i, group, views[group.view], index)
        return sides, n_examples(split(X)[0])

    def _side(self, i, group, view, index):
        """The side of new data for group i, sparse or dense as the support is."""
        own = self.sides[i]
        if view.X is None:  # what no example has is 0 whatever stands in its place
            if group.pairs.kind == "gram" or not self.n_support:
                raise ValueError(f"X lacks all examples of {group.kernels[0]!r}: give some.")
            factor = np.zeros((group.members.size, view.present.size))
            return replace(own.take(np.zeros(view.present.size, int)), index=index, factor=factor, task=view.task)
        if issparse(own.x) and not issparse(view.X):
            view = view._replace(X=csr_array(view.X))
        elif issparse(view.X) and isinstance(own.x, np.ndarray):
            view = view._replace(X=view.X.toarray())
        return group.side(view, index, self.normalize)

    def combined(self, X, theta):
        theta = np.asarray(theta, float)
        left, n = self._new(X, theta * self.tiles.scale != 0)
        return self._gram(left, self.sides, theta, n, self.n_support)

    def gram(self, X, Y=None, theta=None):
        theta = np.asarray(theta, float)
        wanted = theta * self.tiles.scale != 0
        left, n = self._new(X, wanted, np.arange(n_examples(split(X)[0])) if Y is None else None)
        right, m = (left, n) if Y is None else self._new(Y, wanted)
        if any(group.pairs.kind == "gram" for _, group, _ in self.tiles.active(wanted)):
            raise ValueError("An object with fit_transform has no kernel between two new data sets.")
        return self._gram(left, right, theta, n, m)

    def _gram(self, left, right, theta, n, m):
        out = np.empty((n, m), self.tiles.dtype)
        self.tiles.weighted(left, right, theta[None], n, m, _writer(out[None]))
        return out

    def decision(self, X, A, theta):
        A, theta = np.atleast_2d(np.asarray(A, float)), np.atleast_2d(np.asarray(theta, float))
        left, n = self._new(X, (theta * self.tiles.scale != 0).any(axis=0))
        return _decide(self.tiles, left, self.sides, A, theta, n)

    def parts(self, X, A, theta):
        A = np.atleast_2d(np.asarray(A, float))
        theta = np.broadcast_to(np.atleast_2d(np.asarray(theta, float)), (len(A), self.tiles.scale.size))
        wanted = (theta * self.tiles.scale != 0).any(axis=0)
        left, n = self._new(X, wanted)
        kernels = np.flatnonzero(wanted)
        result = np.zeros((len(A), n, theta.shape[1]))
        result[:, :, kernels] = self.tiles.products(left, self.sides, A, n, kernels).transpose(0, 2, 1)
        return result * theta[:, None, :]

    def support_data(self):
        """The examples of each group of kernels, (columns, n) where they are numbers."""
        return [side.x for side in self.sides]

    def support_codes(self):
        return self.tiles.groups[0].codes(self.sides[0])

    def row_factors(self):
        if all(side.factor is None for side in self.sides):
            return None
        factors = np.ones((self.tiles.scale.size, self.n_support))
        for group, side in zip(self.tiles.groups, self.sides, strict=True):
            factors[group.members] = 1.0 if side.factor is None else side.factor
        return factors

    def coefficients(self, A, theta):
        for group, side in zip(self.tiles.groups, self.sides, strict=True):
            for k, m in enumerate(group.members):
                a = A if side.factor is None else A * side.factor[k]
                w = (side.x.T @ a.T).T if issparse(side.x) else a @ side.x.T
                yield m, w * (theta[:, m] * self.tiles.scale[m])[:, None]


def _take(sides, rows, active):
    """The sides of some examples (None: all), None for groups that are not active."""
    taken = [None] * len(sides)
    for i, _, _ in active:
        taken[i] = sides[i] if rows is None else sides[i].take(np.asarray(rows))
    return taken


def _decide(tiles, left, right, A, theta, n_rows):
    """Σ_m θ_tm K_m @ A[t] between two lists of sides, (T, n_rows); theta is (1, M) or (T, M)."""
    n_cols = A.shape[1]
    _, width = tiles.shape(n_rows, n_cols, len(theta))
    parts = np.zeros((-(-n_cols // width), len(A), n_rows))

    def emit(r0, r1, c0, c1, blocks):
        for t, a in enumerate(A):
            parts[c0 // width, t, r0:r1] = blocks[t if len(blocks) > 1 else 0] @ a[c0:c1]

    tiles.weighted(left, right, theta, n_rows, n_cols, emit)
    return parts.sum(axis=0)


def _writer(out, symmetric=False, layers=None):
    """An `emit` that puts tiles into out (layers, rows, cols), mirrored where symmetric."""

    def emit(r0, r1, c0, c1, blocks):
        for layer, block in zip(range(len(out)) if layers is None else layers, blocks, strict=True):
            out[layer, r0:r1, c0:c1] = block
            if symmetric and c1 > r1:
                c = max(c0, r1)
                out[layer, c:c1, r0:r1] = block[:, c - c0 :].T

    return emit
