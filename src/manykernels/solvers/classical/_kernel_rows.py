"""Rows of all kernels, for a solver that changes a few variables at a time and keeps K_m a for every kernel."""

import numpy as np

from ..._limits import MemoryBudget
from ..._threads import run_blocks, slices
from ...banks.dense import DenseBank

ENTRIES_PER_BLOCK = 2**20
ROWS_PER_STEP = 512  # computed at a time: some kernels prepare all examples each time


def rows_of(bank, kernels):
    """The rows of the kernels: from matrices in memory, from a cache if they are slow to compute, else computed."""
    if isinstance(bank, DenseBank):
        return MatrixRows(bank, kernels)
    if bank.cost() < 0.5 * bank.M:
        return ComputedRows(bank, kernels)
    limit = MemoryBudget(bank.memory_limit).share("matrices kept")
    if len(kernels) * bank.n**2 * bank.dtype.itemsize <= limit:
        small = bank.restrict(np.arange(bank.n), kernels)
        if isinstance(small, DenseBank):
            return MatrixRows(small, np.arange(len(kernels)))
    return CachedRows(bank, kernels, limit)


class MatrixRows:
    """Rows of kernels that lie in memory as matrices."""

    exact = True  # the same numbers as in the bank
    slots: int | None = None  # rows that a cache can hold

    def __init__(self, bank, kernels):
        self.bank, self.kernels = bank, kernels

    def block(self, theta, working, dtype, shifted):
        """Σ_m θ_m K_m between the examples `working`, sorted; up to a constant if `shifted`."""
        weights = np.zeros(self.bank.M)
        weights[self.kernels] = theta
        return self.bank.combined(weights, working, working, dtype=dtype, shifted=shifted)

    def add(self, g, index, change):
        """g_m += K_m[:, index] @ change for every kernel; g is (M', n)."""
        bank = self.bank
        if bank.stack.last or bank.is_spherical:
            g += bank.products(change[None], index, None, self.kernels)[0]
            return
        from ...loops.rows import add_rows

        share = max(1, ENTRIES_PER_BLOCK // max(1, len(index) * bank.n))

        def some(first):
            for k in range(first, min(first + share, len(g))):
                m = self.kernels[k]
                add_rows(bank.stack.array[m], index, bank.scale[m] * change, 0, bank.n, g[k])

        run_blocks(some, range(0, len(g), share), bank.n_jobs)


class ComputedRows(MatrixRows):
    """Rows that are as quick to compute as to read."""

    def add(self, g, index, change):
        if len(index):
            g += self.bank.products(change[None], index, None, self.kernels)[0]


class CachedRows(ComputedRows):
    """Rows computed on first use and kept within the memory limit; the least recently used are dropped."""

    exact = False

    def __init__(self, bank, kernels, limit):
        super().__init__(bank, kernels)
        self.slots = int(min(limit // (len(kernels) * bank.n * bank.dtype.itemsize), bank.n))
        self.held = np.empty((self.slots, len(kernels) * bank.n), bank.dtype)
        self.slot, self.owner = np.full(bank.n, -1), np.full(self.slots, -1)
        self.used, self.clock = np.zeros(self.slots, np.int64), 0

    def block(self, theta, working, dtype, shifted):
        """From the rows held; the others are computed between `working` alone, since not all of them will change."""
        from ...loops.rows import gather_rows

        slots, K = self.slot[working], np.empty((len(working), len(working)))
        known, missing = np.flatnonzero(slots >= 0), np.flatnonzero(slots < 0)
        held = self.held.reshape(self.slots, len(self.kernels), self.bank.n)

        def some(part):
            K[known[part]] = gather_rows(held, theta, slots[known[part]], working)

        run_blocks(some, slices(len(known), 1 + len(known) // 64), self.bank.n_jobs)
        if len(missing):
            weights = np.zeros(self.bank.M)
            weights[self.kernels] = theta
            K[missing] = self.bank.combined(weights, working[missing], working, dtype=np.float64)
            K[:, missing] = K[missing].T
        if shifted:
            K -= K.mean()
        return K.astype(dtype, copy=False)

    def add(self, g, index, change):
        from ...loops.rows import add_rows

        step = min(ROWS_PER_STEP, self.slots)
        if step < 2:
            super().add(g, index, change)
            return
        order = np.argsort(self.slot[index] < 0, kind="stable")  # cached rows first, before they are dropped
        flat, width = g.reshape(-1), 2**14
        for first in range(0, len(index), step):
            part = order[first : first + step]
            slots = self._fetch(index[part])

            def columns(start, slots=slots, part=part):
                add_rows(self.held, slots, change[part], start, min(start + width, g.size), flat)

            run_blocks(columns, range(0, g.size, width), self.bank.n_jobs)

    def _fetch(self, index):
        """The slots of these rows, in their order."""
        self.clock += 1
        missing = np.sort(index[self.slot[index] < 0])
        self.used[self.slot[index[self.slot[index] >= 0]]] = self.clock
        if len(missing):
            oldest = np.argsort(self.used, kind="stable")[: len(missing)]
            gone = self.owner[oldest]
            self.slot[gone[gone >= 0]] = -1
            held = self.held.reshape(self.slots, len(self.kernels), self.bank.n)

            def put(k, r0, r1, c0, c1, block):
                held[oldest[r0:r1], k, c0:c1] = block

            self.bank.stripes(missing, self.kernels, put)
            self.slot[missing], self.owner[oldest], self.used[oldest] = oldest, missing, self.clock
        return self.slot[index]
