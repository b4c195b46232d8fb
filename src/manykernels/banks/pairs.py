"""Kernels on pairs of objects, products of one kernel per side, without the matrix between all pairs.

    k_pq((a, b), (a', b')) = k_p(a, a') k_q(b, b')

The bank holds the kernels between the objects of each side. The products with every kernel, the exact normalisation and
the combined kernel, an `Operator`, use the grid of objects, see `_vec_trick`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from .._limits import MemoryBudget
from ..inner.matrix_free import MatrixFreeProblem
from ..kernels.normalize import check_normalize, precision, scales
from ..losses.base import Loss
from ._vec_trick import PairOperator, Places, add, combine, dense, each
from .base import Bank, DType, Index, Predictor
from .dense import report_unusable, warn_indefinite
from .pair_predictor import PairPredictor

MAX_DENSE_PAIRS = 2000  # pairs up to which the combined kernel is built


class PairBank(Bank):
    """The kernels `pairs[m]` = (p, q) of the matrices A_p, B_q between objects, on the pairs at `places`.

    `A` and `B` are lists of symmetric (m_a, m_a) and (m_b, m_b) matrices, already divided by √(k_ii k_jj) if normalize
    is "spherical"; `sides` is the pair of `PairSide` that the predictor needs.
    """

    dense, even = MAX_DENSE_PAIRS, True

    def __init__(
        self,
        A: list[np.ndarray],
        B: list[np.ndarray],
        pairs: np.ndarray,
        places: Places,
        names: list[str],
        *,
        weights: np.ndarray | None = None,
        normalize: str | None = "multiplicative",
        memory_limit: float | None = None,
        n_jobs: int | None = None,
        sides: tuple | None = None,
        indefinite: list[str] | None = None,
    ) -> None:
        check_normalize(normalize)
        self.A, self.B, self.pairs, self.places, self.names = A, B, pairs, places, list(names)
        self.n, self.M, self.n_jobs, self.memory_limit = places.n, len(pairs), n_jobs, memory_limit
        self.sides, self.normalize = sides, normalize
        self._sizes = [np.maximum([np.abs(np.diagonal(K)).mean() for K in side], 1e-300) for side in (A, B)]
        w = np.ones(self.n) if weights is None else np.asarray(weights, float)
        w = w / w.sum()
        self.scale, self.usable = np.ones(self.M), np.ones(self.M, bool)
        left, right = (
            np.array([np.diagonal(K)[place] for K in side]) for side, place in ((A, places.left), (B, places.right))
        )
        diagonals = left[pairs[:, 0]] * right[pairs[:, 1]]
        means = np.array([P @ w for P in self.products(w[None], np.arange(self.n))[0]])
        mean = diagonals @ w
        scale, usable = scales(mean, mean - means, normalize, precision(self.dtype))
        self.scale, self.usable = scale, usable
        self._diagonals = diagonals * self.scale[:, None]
        if indefinite:
            self.indefinite = "kernel " + ", ".join(map(repr, indefinite[:10]))
            warn_indefinite(self.indefinite)
        report_unusable(self.names, self.usable)

    def diagonals(self) -> np.ndarray:
        return self._diagonals

    def _terms(self, theta):
        """The combined kernel as few Kronecker products."""
        return combine(np.asarray(theta, float) * self.scale, self.pairs, self.A, self.B, self._sizes)

    def combined(
        self, theta: np.ndarray, rows: Index = None, cols: Index = None, dtype: DType = None, shifted: bool = False
    ) -> np.ndarray:
        left, right, dtype = self.places.take(rows), self.places.take(cols), np.dtype(dtype or self.dtype)
        size = float(left.n) * right.n * dtype.itemsize
        limit = MemoryBudget(self.memory_limit).share("one matrix of pairs")
        if size > limit:
            raise ValueError(
                f"the kernel between {left.n} × {right.n} pairs takes {size / 2**30:.1f} GiB, above "
                f"{'memory_limit' if self.memory_limit else 'the limit of a matrix'} ({limit / 2**30:.1f} GiB): use a "
                "solver that does not build it, solver='newton', 'analytic' or 'level', or fewer pairs."
            )
        return dense(self._terms(theta), left, right, np.empty((left.n, right.n), dtype))

    def matrix(self, theta: np.ndarray, rows: Index, dtype: DTypeLike, shifted: bool) -> Any:
        """An `Operator` above `dense` pairs."""
        places = self.places.take(rows)
        if places.n <= self.dense:
            return self.combined(theta, rows, rows, dtype, shifted)
        return PairOperator(self._terms(theta), places, dtype or self.dtype, self.n_jobs)

    def inner(self, loss: Loss, y: np.ndarray, c: np.ndarray, intercept: bool) -> Any:
        return MatrixFreeProblem(loss, y, c, intercept, self.n_jobs)

    def products(self, A: np.ndarray, support: np.ndarray, rows: Index = None, kernels: Index = None) -> np.ndarray:
        kernels = np.arange(self.M) if kernels is None else np.asarray(kernels)
        V = np.atleast_2d(np.asarray(A, float))
        places = self.places.take(rows), self.places.take(support)
        P = each(self.A, self.B, self.pairs[kernels], V, *places, self.n_jobs)
        P *= self.scale[kernels, None]
        return P

    def outputs(self, theta: np.ndarray, A: np.ndarray, support: np.ndarray, rows: Index = None) -> np.ndarray:
        """Sums the kernels first, into few Kronecker products."""
        left, right = self.places.take(rows), self.places.take(support)
        out, terms = np.zeros((len(A), left.n)), self._terms(theta)
        if terms:
            add(out, terms, np.asarray(A, float), left, right)
        return out

    def restrict(self, rows: np.ndarray, kernels: Index = None) -> Bank | None:
        """The bank of these pairs and of the objects that they have."""
        kernels = np.arange(self.M) if kernels is None else np.asarray(kernels)
        (left, at_left), (right, at_right) = (np.unique(side[rows], return_inverse=True) for side in self.places[:2])
        small = object.__new__(PairBank)
        vars(small).update(vars(self))
        small.A, small.B = ([K[np.ix_(keep, keep)] for K in side] for side, keep in ((self.A, left), (self.B, right)))
        small.places, small.pairs = Places(at_left, at_right, (len(left), len(right))), self.pairs[kernels]
        small.n, small.M, small.names = len(rows), len(kernels), [self.names[m] for m in kernels]
        small.scale, small.usable = self.scale[kernels], self.usable[kernels]
        small._diagonals, small.sides = self._diagonals[np.ix_(kernels, rows)], None
        return small

    def predictor(self, support: np.ndarray) -> Predictor:
        if self.sides is None:
            raise ValueError("a part of a bank of pairs has no objects to predict with: take the whole bank.")
        return PairPredictor(self.sides, self.places.take(np.asarray(support)), self.pairs, self.scale, self._sizes)
