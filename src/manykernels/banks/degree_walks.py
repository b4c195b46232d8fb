"""Position-dependent string kernels: two strings are compared once for all kernels of a list.

k_m(x, y) = Σ_{l,k} coef_m[l, k−1] [x[l:l+k] = y[l:l+k]]. A weighted sum of such kernels has the weighted sum of their
tables, and a product K_m a is coef_m times Σ_j a_j [x[l:l+k] = y_j[l:l+k]]: both cost one walk per pair for any M.
"""

from types import SimpleNamespace

import numpy as np
import scipy.sparse as sp

from .._state import check, check_integer, check_is, check_value
from ..kernels.tasks import SAME
from ..sequences import Alphabet
from ..strings.base import check_alike, check_length
from ..strings.planes import across, letters, planes
from ._kernel_groups import KernelGroup, Rows

_SUM_ENTRIES = 2**19  # of the sums by position of one thread
_STACK_ENTRIES = 2**22  # of the separate kernels of one thread


class Walk:
    """Sides of bit planes, for strings with the length and alphabet of X."""

    kind = "walk"

    def __init__(self, X, dtype):
        self.dtype, self.length, self.alphabet = np.dtype(dtype), X.length, X.alphabet

    def side(self, X, index=None, n_jobs=1):
        check_alike(X.alphabet, self.alphabet)
        check_length(X, self.length)
        return Rows(planes(X), np.zeros(len(X), self.dtype), None, index)

    def block(self, left, right, out, hits=None, plain=False):
        """Nothing: there is no base block, and `pieces` computes the kernels."""
        return out


class WalkGroup(KernelGroup):
    """Kernels with a `degree_table`; `placed` says that coefficients may depend on the position.

    coef is a CSR matrix (M, L·d) if they do, else (M, d).
    """

    max_entries = _STACK_ENTRIES
    placed = False

    def __init__(self, view, kernels, members, X, dtype, task, n_tasks, coef=None):
        self.view, self.members, self.task, self.n_tasks = view, np.array(members), task, n_tasks
        self.kernels = [kernels[m] for m in members]
        self.pairs = Walk(X, dtype)
        self.depth = min(max(kernel.words[-1] for kernel in self.kernels), X.length)
        self.coef = self._tables(X.length) if coef is None else coef
        vars(self).update(self._read_forms(dtype) | {"generic": np.ones(len(members), bool)})

    def _tables(self, length):
        tables = [kernel.degree_table(length)[:, : self.depth] for kernel in self.kernels]
        tables = [np.pad(table, ((0, 0), (0, self.depth - table.shape[1]))) for table in tables]
        if self.placed:
            return sp.vstack([sp.csr_array(table.reshape(1, -1)) for table in tables], format="csr")
        return np.stack([table[0] for table in tables])

    def to_state(self):
        return {"length": self.pairs.length, "alphabet": self.pairs.alphabet, "coef": self.coef}

    @classmethod
    def from_state(cls, view, kernels, members, task, n_tasks, state):
        length = check_integer("length", state["length"], 1, 2**31 - 1)
        alphabet, coef = check_is("alphabet", state["alphabet"], Alphabet), state["coef"]
        X = SimpleNamespace(length=length, alphabet=alphabet)
        group = cls(view, kernels, members, X, np.float64, task, n_tasks, coef)
        sizes = {"m": len(members), "words": length * group.depth, "depth": group.depth}
        check_value("coef", coef, "csr m words" if group.placed else "f8 m depth", sizes)
        return group

    def _check_side(self, side, n, width, reads):
        """Checks that no bit is set after the last letter, since the loops would read beyond their tables."""
        check(width is None, "a side has strings, but its kernels read numbers")
        length, bits = self.pairs.length, max(1, (self.pairs.alphabet.size - 1).bit_length())
        check_value("x", side.x, "u8 n planes words", {"n": n, "planes": bits + 1, "words": -(-length // 64)})
        check(length % 64 == 0 or not (side.x[:, :, -1] >> np.uint64(length % 64)).any(), "x has more letters than fit")

    def subset(self, chosen, members):
        part = super().subset(chosen, members)
        part.coef = self.coef[chosen]
        return part

    def fused(self, left, right):
        """Whether the rows of all its kernels have the factor 1."""
        return left.factor is None and right.factor is None and self.task != SAME

    def codes(self, side):
        return letters(side.x, self.pairs.length, self.pairs.alphabet.size), self.pairs.alphabet

    def diagonals(self, side):
        from ..loops.strings import own_sums

        own = np.zeros((side.own.size, self.pairs.length if self.placed else 1, self.depth))
        own_sums(side.x, own)
        diagonals = self.coef @ own.reshape(len(own), -1).T
        return diagonals if self.task != SAME else diagonals * (self.n_tasks * (side.task >= 0))

    def cost(self, chosen=slice(None), sums=1):
        """Half of the nanoseconds of a walk: matrices have to be written first, which takes as long as reading them."""
        if self.placed:
            return 300.0 + 0.5 * self.exponential[chosen].size
        return 0.5 * -(-self.pairs.length // 64) * (4.0 + 0.3 * self.depth)

    def add(self, left, right, weights, constant, out):
        """out[t] (rows, cols) += constant_t + Σ_m weights[t, m] k_m between two sides."""
        from ..loops.strings import add_degrees, add_positions

        table = weights @ self.coef
        if self.placed:
            runs = np.cumsum(table.reshape(len(table), -1, self.depth), axis=2)
            add_positions(left.x, across(right.x), np.ascontiguousarray(runs.transpose(1, 2, 0)), constant, out)
        else:
            add_degrees(left.x, across(right.x), table, constant, out)

    def products(self, left, right, A):
        """K_m A[t] between two sides, (rows, M, T) float64."""
        from ..loops.strings import sum_degrees, sum_positions

        T, rows, columns = len(A), left.own.size, across(right.x)
        if not self.placed:
            H = np.zeros((rows, T, self.depth))
            sum_degrees(left.x, columns, A, H)
            return np.einsum("itk,mk->imt", H, self.coef)
        sums, size = np.empty((rows, self.members.size, T)), self.pairs.length * self.depth * T
        step = max(1, _SUM_ENTRIES // size)
        for r in range(0, rows, step):
            part = left.x[r : r + step]
            H = np.zeros((len(part), self.pairs.length, self.depth, T))
            sum_positions(part, columns, A, H)
            H = np.cumsum(H[:, :, ::-1], axis=2)[:, :, ::-1]  # words of k letters: runs of k and more
            flat = H.reshape(len(part), -1, T).transpose(1, 0, 2).reshape(-1, len(part) * T)
            sums[r : r + step] = (self.coef @ flat).reshape(-1, len(part), T).transpose(1, 0, 2)
        return sums

    def pieces(self, B, left, right, chosen):
        """One block per kernel, some at a time, for kernels whose rows have different factors."""
        step = max(1, min(chosen.size, self.max_entries // max(B.size, 1)))
        for first in range(0, chosen.size, step):
            ms = chosen[first : first + step]
            blocks = np.zeros((ms.size, *B.shape), B.dtype)
            self.subset(ms, self.members[ms]).add(left, right, np.eye(ms.size), np.zeros(ms.size), blocks)
            if self.task == SAME:
                equal = (left.task[:, None] == right.task) & (right.task >= 0)
                blocks *= (self.n_tasks * equal).astype(B.dtype)
            for m, block in zip(ms, blocks, strict=True):
                yield block, np.array([m])


class PlacedWalkGroup(WalkGroup):
    """Kernels whose coefficients depend on the position."""

    placed = True
