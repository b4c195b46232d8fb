"""The combined kernel of a bank that exceeds the memory limit: multiplied block by block, never built."""

from typing import Any

import numpy as np

from .._callers import warn
from ..inner.matrix_free import Operator


class BlockOperator(Operator):
    """Σ_m θ_m K_m between the examples `rows` of a bank; every product computes the blocks again."""

    def __init__(self, bank, theta, rows, dtype):
        self.bank, self.theta, self.rows = bank, np.asarray(theta, float), rows
        self.shape, self.dtype = (len(rows), len(rows)), np.dtype(dtype)
        self.direct = int(np.sqrt((bank.most or 0.0) / 8))

    def multiply(self, V):
        some = np.flatnonzero(V.any(axis=0))
        if not len(some):
            return np.zeros(V.shape)
        each = [self.bank.outputs(self.theta, v[None, some], self.rows[some], self.rows)[0] for v in V]
        return np.array(each)

    def diagonal(self):
        return self.theta @ self.bank.diagonals()[:, self.rows]

    def take(self, index):
        return type(self)(self.bank, self.theta, self.rows[index], self.dtype)

    def low_rank(self, rank):
        """K_S,:ᵀ K_SS^{−½} for evenly spread examples S (Nyström)."""
        rank = min(rank, int((self.bank.most or 0.0) / (8 * len(self))), len(self) // 4)
        if rank < 1:
            return None
        some = np.linspace(0, len(self) - 1, rank).astype(int)
        C = self.bank.combined(self.theta, self.rows, self.rows[some], dtype=np.float64)
        values, vectors = np.linalg.eigh(C[some])
        keep = values > 1e-6 * values[-1]
        return C @ (vectors[:, keep] / np.sqrt(values[keep]))

    def array(self):
        return self.bank.combined(self.theta, self.rows, self.rows, dtype=np.float64)


class ProductOperator(BlockOperator):
    """The same for a bank whose products with all examples are quicker than small blocks of pairs."""

    def __init__(self, bank, theta, rows, dtype):
        super().__init__(bank, theta, rows, dtype)
        self.direct = 0

    def low_rank(self, rank):
        return None


def warn_blockwise(bank: Any, n: int, size: int) -> None:
    """Warns that the fit will be slow, and names the memory_limit that holds the combined kernel of n examples."""
    enough = np.ceil(((bank.memory_limit or 2 * bank.most) + 2 * (size - bank.most)) / 1e6)
    warn(
        f"the combined kernel of {n:,} examples takes {size / 1e6:,.0f} MB, but memory_limit leaves "
        f"{bank.most / 1e6:,.0f} MB for it. The fit computes it block by block in every product, and may take "
        f'many times longer; memory_limit="{enough:.0f}MB" holds it.'
    )
