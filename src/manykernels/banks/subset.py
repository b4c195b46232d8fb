"""Some examples of kernels in memory, normalised for these examples: the folds of a cross-validation."""

import copy
from typing import Any

import numpy as np

from ..kernels.normalize import precision, scales
from .base import Bank, each_output
from .dense import DenseBank, DensePredictor, SumBank, report_unusable
from .pairwise import PairwiseBank


class SubsetBank(Bank):
    """The examples `index` (ascending) of a `DenseBank`, its matrices read in place and normalised for these examples.

    `origin` is the bank that computed the matrices and makes the predictor; None for precomputed kernels.
    `weights` (n,) are the weights of the examples of the subset.
    """

    def __init__(
        self,
        whole: DenseBank,
        index: np.ndarray,
        *,
        origin: PairwiseBank | None = None,
        weights: np.ndarray | None = None,
        normalize: str | None = "multiplicative",
    ) -> None:
        self._sum: tuple[bytes, Any] | None = None
        self.index, self.origin, self.normalize = np.asarray(index), origin, normalize
        self.n, self.M, self.names = len(self.index), whole.M, whole.names
        self.dtype, self.unit = whole.dtype, whole.unit
        self.indefinite = whole.indefinite if origin is None else origin.indefinite
        self.n_jobs, self.memory_limit = whole.n_jobs, whole.memory_limit
        diagonals = whole.diagonals()[:, self.index]
        w = np.ones(self.n) if weights is None else np.asarray(weights, float)
        w = w / w.sum()
        total = whole.products(w[None], self.index, self.index)[0] @ w
        mean = diagonals @ w
        found = scales if origin is None else origin.kernel_list.scales
        factor, usable = found(mean, mean - total, normalize, precision(self.dtype))
        if normalize not in ("multiplicative", "trace"):  # the matrices of `whole` have their priors already
            factor = np.where(usable, 1.0, 0.0)
        self.usable = usable & whole.usable
        self.whole = copy.copy(whole)
        self.whole.scale = whole.scale * factor
        self.scale = self.whole.scale if origin is None else origin.scale * factor
        self._diagonals = diagonals * factor[:, None]
        report_unusable(self.names, self.usable)

    def diagonals(self):
        return self._diagonals

    def _at(self, rows):
        return self.index if rows is None else self.index[rows]

    def combined(self, theta, rows=None, cols=None, dtype=None, shifted=False):
        return self.whole.combined(theta, self._at(rows), self._at(cols), dtype, shifted)

    def summed(self, theta):
        return None if self.indefinite else SumBank.of(self, theta)

    def products(self, A, support, rows=None, kernels=None):
        return self.whole.products(A, self._at(support), self._at(rows), kernels)

    def restrict(self, rows, kernels=None):
        return self.whole.restrict(self._at(rows), kernels)

    def decision(self, others, A, support, theta):
        """Σ_m θ_tm K_m @ A[t], (T, |others|), of examples of the whole; theta is (M,) or (T, M)."""
        (A, theta), support = each_output(A, theta), self._at(support)
        if not len(support):
            return np.zeros((len(A), len(others)))
        if (theta == theta[0]).all():
            return A @ self.whole.combined(theta[0], others, support, np.float64).T
        used = np.flatnonzero(theta.any(axis=0))
        return np.einsum("tm,tmi->ti", theta[:, used], self.whole.products(A, support, others, used))

    def predictor(self, support):
        at = self._at(np.asarray(support))
        if self.origin is None:
            root = None if self.whole._root is None else self.whole._root[:, at]
            predictor = DensePredictor(np.asarray(support), self.n, self.scale, root, self.n_jobs)
            if self.whole.trained is not None:
                number, examples = self.whole.trained
                predictor.trained = number, examples[self.index]
            return predictor
        bank: Any = copy.copy(self.origin)
        bank.scale = self.scale
        return bank.predictor(at)
