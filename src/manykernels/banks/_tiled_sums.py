"""Weighted sums and products of kernels between two lists of sides, tile by tile in parallel."""

from typing import Any, NamedTuple

import numpy as np

from .._threads import n_threads, run_blocks
from ..kernels.pair_blocks import few, same
from . import _plain_loops
from ._chebyshev_columns import SmoothColumns, column_bytes, column_cost, column_products, smooth_column
from ._exponential_table import cells, table_bytes, tables
from ._narrow_views import NarrowViews

TILES_PER_THREAD = 5  # held at a time
MIN_TILE_ENTRIES = 16 * 64
MIN_SQUARE_COLUMNS = 1024
MIN_PLAIN_TABLE = 4  # exponentials that take NumPy longer than a table
MAX_KEPT_TABLES = 64
MIN_PLAIN_TILE = 2**22  # kernel values of a tile in NumPy, which takes microseconds for a call
MIN_PRODUCT_COST = 2e5  # nanoseconds of the products of one group by rows


def tile_shape(n_rows, n_cols, itemsize, threads=1, budget=None, parts=16, square=False):
    """(rows, cols) of a tile of at most 2¹⁸ entries, fewer if `TILES_PER_THREAD` of them exceed the budget.

    The rows are cut into at least `parts` parts, unless the parts would have fewer than 16 rows. `square` tiles cut the
    columns instead: a kernel that is called reads the examples of both sides again for every tile.
    """
    entries = 2**18
    if budget is not None:
        entries = int(np.clip(budget // (TILES_PER_THREAD * itemsize * threads), MIN_TILE_ENTRIES, entries))
    if square:
        rows = max(1, min(n_rows, int(np.sqrt(entries))))
        return rows, max(1, min(n_cols, entries // rows, max(MIN_SQUARE_COLUMNS, -(-n_cols // parts))))
    rows = max(1, min(n_rows, 256, int(np.sqrt(entries / 4)), max(16, -(-n_rows // parts))))
    return rows, max(1, min(n_cols, entries // rows))


class RowProducts(NamedTuple):
    """The plan for products of the chosen kernels of a group: exponentials by a table, the others directly."""

    side: int  # the number of the group
    group: Any
    chosen: np.ndarray
    vectors: np.ndarray
    exponentials: np.ndarray
    direct: np.ndarray
    table: Any  # (cells, delta, first), or None


class Tiles:
    """Sums and products over `groups`; kernel m has a factor scale[m] and a mean[m]. Sides have an entry per group."""

    kept: dict | None = None  # tables of sums that are not shifted, for later calls; NumPy then reads them too

    def __init__(self, groups, dtype, scale, mean, n_jobs, budget):
        self.groups, self.dtype, self.scale, self.mean = groups, dtype, scale, mean
        self.n_jobs, self.budget = n_jobs, budget
        self.called = any(group.pairs.kind is None for group in groups)
        self.fusing = [group for group in groups if group.max_entries is not None]
        for group in self.fusing if budget is not None else ():
            most = budget // (2 * self.dtype.itemsize * n_threads(n_jobs))
            group.max_entries = min(type(group).max_entries, most)
        self.group_of = np.empty(len(scale), int)  # the number of the group of each kernel
        for i, group in enumerate(groups):
            self.group_of[group.members] = i

    def shape(self, n_rows, n_cols, layers=1, parts=16):
        layers = 2 * layers if self.fusing else layers  # half is for the groups that sum their kernels at once
        budget = None if self.budget is None else self.budget // layers
        return tile_shape(n_rows, n_cols, self.dtype.itemsize, n_threads(self.n_jobs), budget, parts, self.called)

    def active(self, wanted):
        """(number, group, positions of its wanted kernels) of the groups with a wanted kernel."""
        groups = ((i, self.groups[i]) for i in np.unique(self.group_of[wanted]).tolist())
        return [(i, group, wanted[group.members].nonzero()[0]) for i, group in groups]

    def weighted(self, left, right, theta, n_rows, n_cols, emit, symmetric=False, shifted=False):
        """Calls emit(r0, r1, c0, c1, blocks (T, rows, cols)) with Σ_m θ_tm K_m for every tile; theta (T, M).

        `shifted` subtracts the mean of each kernel, which keeps the float32 digits of the differences.
        """
        theta, fused = self._fused(left, right, theta, shifted) if self.fusing else (theta, ())
        weights, none = theta * self.scale, np.empty((0, 0), self.dtype)
        used = np.count_nonzero(weights)
        plain = few(n_rows, n_cols, used)
        loops = _loops(plain)
        parts = plain_parts(plain, 32 if symmetric else 16, n_rows * n_cols * used)  # the last are small
        rb, cb = self.shape(n_rows, n_cols, len(theta), parts)
        ones = np.ones((1, rb))
        plans, many = self._plan(left, right, weights, shifted, rb, cb, min(n_rows, n_cols), plain)

        def work(tile):
            r0, r1, c0, c1 = tile
            total = np.zeros((len(theta), r1 - r0, c1 - c0), self.dtype)
            B = np.empty(total.shape[1:], self.dtype)
            hits = None
            for i, group, chosen, shift, sums in plans:
                a, b = left[i].take(slice(r0, r1)), right[i].take(slice(c0, c1))
                hits = same(a.index, b.index) if hits is None else hits
                group.pairs.block(a, b, B, hits, plain)
                for t, table in enumerate(sums):
                    loops.tabulate(B, *table, total[t])
                for block, ms in group.pieces(B, a, b, chosen):
                    F = none if b.factor is None else b.factor[ms]
                    rows = ones[:, : r1 - r0] if a.factor is None else a.factor[ms]
                    own = weights[:, group.members[ms], None]
                    for t in np.logical_or.reduce(own, axis=(1, 2)).nonzero()[0]:
                        W = (own[t] * rows).astype(self.dtype)
                        loops.combine(block, group.degree[ms], group.g[ms], group.c[ms], shift[ms], W, F, total[t])
            for views in many:
                views.add(total, slice(r0, r1), slice(c0, c1))
            for i, group, W, constant in fused:
                group.add(left[i].take(slice(r0, r1)), right[i].take(slice(c0, c1)), W, constant, total)
            emit(r0, r1, c0, c1, total)

        tiles = []
        for r0 in range(0, n_rows, rb):
            for c0 in range(r0 if symmetric else 0, n_cols, cb):
                tiles.append((r0, min(r0 + rb, n_rows), c0, min(c0 + cb, n_cols)))
        run_blocks(_quiet(work), tiles, self.n_jobs)

    def _fused(self, left, right, theta, shifted):
        """(theta without the groups that sum their kernels at once, [(number, group, weights, constants)] of these)."""
        weights, rest, found = theta * self.scale, theta, []
        for i, group, chosen in self.active((weights != 0).any(axis=0)):
            if group.fused(left[i], right[i]):
                ms = group.members[chosen]
                W = np.ascontiguousarray(weights[:, ms])
                constant = -(W @ self.mean[ms]) if shifted else np.zeros(len(W))
                found.append((i, group.subset(chosen, ms), W, constant))
                rest = np.where(np.isin(np.arange(theta.shape[1]), group.members), 0.0, rest)
        return rest, found

    def _plan(self, left, right, weights, shifted, rb, cb, n, by_form):
        """(plans, many) for the sums of each group, in tiles of rb rows and cb columns; n is the smaller side.

        `by_form` asks for no tables or series, which need the compiled loops.

        A plan is (number, group, kernels by form, shifts, tables of the other kernels, one per sum); `many` are groups
        that are summed together: `SmoothColumns` and `NarrowViews`.
        """
        T, nowhere, threads = len(weights), np.zeros_like(self.mean), n_threads(self.n_jobs)
        used = threads * SmoothColumns.buffers(T, rb, cb, self.dtype.itemsize)
        plans, many = [], {}
        for i, group, chosen in self.active((weights != 0).any(axis=0)):
            a, b = left[i], right[i]
            plain = a.factor is None and b.factor is None
            quick = plain and not by_form
            smooth = smooth_column(group, chosen, a, b) if quick else None
            p = int(smooth[2].max()) if smooth else n
            shift = (self.mean if shifted and plain else nowhere)[group.members]
            if 3 * p < n and 0.06 * p * T < group.cost(chosen, T):
                size = SmoothColumns.size(p, T, a, b)
                if self._fits(used + size):
                    used += size
                    sums = weights[:, group.members[chosen]], shift[chosen]
                    many.setdefault("smooth", SmoothColumns()).append(group, chosen, a, b, *sums, *smooth[:2], p)
                    continue
            top, exponentials, direct, table = group.top(a, b), chosen[:0], chosen, None
            if plain and by_form and self.kept is not None:
                many_exponentials = group.tabular and group.exponential[chosen].sum() >= MIN_PLAIN_TABLE
                ones = group.exponential[chosen] & many_exponentials
                exponentials, direct = chosen[ones], chosen[~ones]
            elif quick:
                exponentials, direct = self._exponentials(group, chosen, a, b, top, 2.5 * T, used, threads)
            if exponentials.size:
                table = self._mixed(group, exponentials, weights, shift, top)
                used += 2 * table[0].nbytes
            shift = shift.astype(self.dtype)
            if quick and NarrowViews.takes(group, chosen, a, b):
                used += a.x.nbytes + b.x.nbytes
                forms = group.degree[direct], group.g[direct], group.c[direct], shift[direct]
                views = many.setdefault(group.pairs.kind, NarrowViews(group.pairs.kind))
                views.append(a, b, table, forms, weights[:, group.members[direct]])
            else:
                plans.append((i, group, direct, shift, [(t, *table[1:]) for t in table[0]] if table else []))
        for views in many.values():
            views.ready()
        return plans, many.values()

    def _mixed(self, group, exponentials, weights, shift, top):
        """(tables (T, cells, terms) of weighted sums of exponentials minus their shifts, delta, first)."""
        w, rate = weights[:, group.members[exponentials]], group.rate[exponentials]
        key = None if self.kept is None else (rate.tobytes(), cells(rate, top)[1], w.tobytes())
        if key is not None and key in self.kept:
            return self.kept[key]
        table, *cell = tables(rate, top, self.dtype)
        mix = (w @ table.reshape(len(table), -1)).reshape(len(w), *table.shape[1:])
        mix[:, :, 0] -= (w @ shift[exponentials])[:, None]
        found = mix.astype(self.dtype), *cell
        if key is not None and len(self.kept) < MAX_KEPT_TABLES:
            self.kept[key] = found
        return found

    def products(self, left, right, A, n_rows, kernels, halved=False, check=None):
        """K_m A[t] for `kernels`, (T, |kernels|, n_rows) float64.

        `halved`: left is right, and the caller needs only aᵀK_m a, so that blocks below the diagonal are skipped and
        blocks above count twice. `check(group, kernels, block, a, b)` is called for kernels that may be indefinite.
        """
        where = np.full(self.scale.size, -1)
        where[kernels] = np.arange(len(kernels))
        result = np.zeros((len(A), len(kernels), n_rows))
        plain = few(n_rows, A.shape[1], len(kernels))
        plans, columns = self._plan_products(left, right, A, n_rows, where >= 0, halved, check, plain)
        parts = plain_parts(plain, max(1, min(16, 64 // max(len(plans), 1))), n_rows * A.shape[1])
        rb, cb = self.shape(n_rows, A.shape[1], parts=parts)
        blocks, most = [], self._sums() // max(len(A), 1)
        for plan in plans:  # one group per block: calls of compiled code are slow
            step = max(16, min(rb, most // plan.table[0][0].size)) if plan.table else rb
            blocks += [(plan, r, min(r + step, n_rows)) for r in range(0, n_rows, step)]

        def rows(block):
            plan, r0, r1 = block
            a, b = left[plan.side].take(slice(r0, r1)), right[plan.side]
            sums = self._block_products(plan, a, b, cb, (r0, r1) if halved else None, check, plain)
            result[:, where[plan.group.members[plan.chosen]], r0:r1] = sums.transpose(2, 1, 0)

        def column(plan):
            i, group, chosen, vectors, *interval = plan
            at = where[group.members[chosen]]
            column_products(group, left[i], right[i], chosen, vectors, *interval, at, result)

        run_blocks(_quiet(rows), blocks, self.n_jobs)
        run_blocks(_quiet(column), columns, self.n_jobs)
        result *= self.scale[kernels][:, None]
        return result

    def _plan_products(self, left, right, A, n_rows, wanted, halved, check, plain):
        """(plans for `_block_products`, plans for `column_products`); `plain` asks for products by form alone."""
        (T, n_cols), threads, used = A.shape, n_threads(self.n_jobs), 0
        size = n_rows, n_cols, T
        plans, columns, shared = [], [], np.ascontiguousarray(A, self.dtype)[None]
        for i, group, chosen in self.active(wanted):
            a, b = left[i], right[i]
            vectors = shared if b.factor is None else np.ascontiguousarray(shared * b.factor[chosen][:, None])
            if plain:
                plans.append(RowProducts(i, group, chosen, vectors, chosen[:0], chosen, None))
                continue
            unsure = check and not all(group.kernels[m].psd for m in chosen)
            smooth, cost = None if unsure else smooth_column(group, chosen, a, b), np.inf
            if smooth and self._fits(threads * column_bytes(smooth[2], *size)):
                column, cost = (i, group, chosen, vectors, *smooth), column_cost(smooth[2], *size)
            by_rows = MIN_PRODUCT_COST + (1.0 + min(6.0 * T, 1.2 * chosen.size)) * n_rows * n_cols / 2  # a lower bound
            if cost < by_rows:
                columns.append(column)
                continue
            top, table = group.top(a, b), None
            exponentials, direct = self._exponentials(group, chosen, a, b, top, 6.0 * T, used, threads)
            if cost < _row_cost(group, chosen, exponentials, top, *size, halved):
                columns.append(column)
                continue
            if exponentials.size:
                table = tables(group.rate[exponentials], top, self.dtype)
                used += table[0].nbytes
            plans.append(RowProducts(i, group, chosen, vectors, exponentials, direct, table))
        return plans, columns

    def _fits(self, size):
        """Whether `size` bytes are within the budget."""
        return self.budget is None or size <= self.budget

    def _sums(self):
        """Entries of the sums by table cell that one thread may hold."""
        return 2**20 if self.budget is None else min(2**20, self.budget // (16 * n_threads(self.n_jobs)))

    def _exponentials(self, group, chosen, left, right, top, cost, spent, threads):
        """(exponentials to take from a table, other kernels): all or no exponentials, as is faster or more precise.

        In float32 a table costs `cost` ns an entry, an exponential 1.2. Tables of other groups take `spent` bytes.
        """
        ones = group.exponential[chosen]
        exponentials, no_table = chosen[ones], (chosen[:0], chosen)
        if not group.tabular or exponentials.size == 0:
            return no_table
        rate = group.rate[exponentials]
        size = 32 * cells(rate, top)[1]
        saved = 1.2 * exponentials.size - cost if self.dtype == np.float32 else 3.0 * exponentials.size - 2 * cost
        quicker = left.own.size * right.own.size * saved > 50.0 * size * exponentials.size
        coarse = self.mean[group.members[exponentials]].max() > 0.9
        if self.budget is not None:  # 16 rows of sums in each thread
            quicker &= self._fits(2 * (spent + table_bytes(rate, top, self.dtype, 16 * threads)))
            coarse &= self.dtype == np.float32
        return (exponentials, chosen[~ones]) if quicker or coarse else no_table

    def _block_products(self, plan, a, right, cb, halved, check, plain):
        """(rows, chosen, T) sums for the rows of one side `a`."""
        loops = _loops(plain)
        _, group, chosen, vectors, exponentials, direct, table = plan
        if group.fused(a, right):
            part, A = group.subset(chosen, group.members[chosen]), vectors[0].astype(np.float64)
            first = halved[0] if halved else 0
            if halved:
                A[:, halved[1] :] *= 2
            return part.products(a, right.take(slice(first, None)), np.ascontiguousarray(A[:, first:]))
        n_rows, n_cols, T = a.own.size, right.own.size, vectors.shape[1]
        sums = np.zeros((n_rows, chosen.size, T))
        if table is not None:
            H = np.zeros((n_rows, T, *table[0].shape[1:]))
        for c0 in range(halved[0] if halved else 0, n_cols, cb):
            c1 = min(c0 + cb, n_cols)
            b = right.take(slice(c0, c1))
            B = group.pairs.block(a, b, np.empty((n_rows, c1 - c0), self.dtype), same(a.index, b.index), plain)
            v = vectors[:, :, c0:c1]
            if halved:
                v = v * np.where(np.arange(c0, c1) < halved[1], 1, 2).astype(self.dtype)
            if table is not None:  # the factors belong to the view: all exponentials share them
                shared = v[np.searchsorted(chosen, exponentials[0]) if len(v) > 1 else 0]
                loops.scatter(B, np.ascontiguousarray(shared), *table[1:], H)
            for piece, ms in group.pieces(B, a, b, direct):
                if check is not None:
                    check(group, ms, piece, a, b)
                at = np.searchsorted(chosen, ms)
                part = np.zeros((n_rows, ms.size, T))
                mine = np.ascontiguousarray(v if len(v) == 1 else v[at])
                loops.multiply(piece, group.degree[ms], group.g[ms], group.c[ms], mine, part)
                sums[:, at] += part
        if table is not None:
            part = H.reshape(n_rows * T, -1) @ table[0].reshape(exponentials.size, -1).T
            sums[:, np.searchsorted(chosen, exponentials)] = part.reshape(n_rows, T, -1).transpose(0, 2, 1)
        return sums if a.factor is None else sums * a.factor[chosen].T[:, :, None]


def _loops(plain):
    """The loops in NumPy, or the compiled ones."""
    if plain:
        return _plain_loops
    from ..loops import elementwise

    return elementwise


def plain_parts(plain, parts, values):
    """Fewer parts of these kernel values for NumPy."""
    return min(parts, 8, 1 + values // MIN_PLAIN_TILE) if plain else parts


def _row_cost(group, chosen, exponentials, top, n_rows, n_cols, T, halved):
    """Estimated nanoseconds of `_block_products` for all rows, with these exponentials from a table."""
    double = group.pairs.dtype == np.float64
    cost, entry = MIN_PRODUCT_COST, 1.0 + (5.0 if double else 1.2) * (chosen.size - exponentials.size)
    if exponentials.size:
        entry += (11.0 if double else 6.0) * T
        cost += 0.03 * n_rows * T * table_bytes(group.rate[exponentials], top, group.pairs.dtype)
    return cost + entry * n_rows * n_cols / (2 if halved else 1)


def _quiet(work):
    """`work` without NumPy's warnings of overflow: the caller checks that the result is finite."""

    def quiet(block):
        with np.errstate(over="ignore", invalid="ignore"):
            return work(block)

    return quiet
