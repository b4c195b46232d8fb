"""A bank with the identity as an additional kernel: a learned slack, which results report as such."""

import numpy as np

from ..kernels.pair_blocks import same
from .base import Bank, every


class SlackBank(Bank):
    """The kernels of `bank`, and last the identity, k(x, y) = 1 where x and y are the same training example, else 0.

    It adds θ a_i to the output of training example i only: the squared slack of the 2-norm soft margin, ½ Σ ξ_i² / θ.
    Predictors are those of `bank`.
    """

    def __init__(self, bank: Bank) -> None:
        self.bank, self.n, self.M = bank, bank.n, bank.M + 1
        self.names = [*bank.names, "slack"]
        self.scale, self.usable = np.append(bank.scale, 1.0), np.append(bank.usable, True)
        self.scale_error = None if bank.scale_error is None else np.append(bank.scale_error, 0.0)
        self.dtype, self.unit, self.indefinite = bank.dtype, bank.unit, bank.indefinite
        self.n_jobs, self.memory_limit, self.most = bank.n_jobs, bank.memory_limit, bank.most

    def diagonals(self):
        return np.vstack([self.bank.diagonals(), np.ones(self.n)])

    def combined(self, theta, rows=None, cols=None, dtype=None, shifted=False):
        theta = np.asarray(theta, dtype=float)
        height, width = (every(index, self.n) for index in (rows, cols))
        if theta[:-1].any():
            K = self.bank.combined(theta[:-1], rows, cols, dtype, shifted)
        else:
            K = np.zeros((len(height), len(width)), dtype or self.dtype)
        if theta[-1]:
            K[same(height, width)] += K.dtype.type(theta[-1])
        return K

    def products(self, A, support, rows=None, kernels=None):
        A = np.atleast_2d(np.asarray(A, dtype=float))
        kernels = every(kernels, self.M)
        height = every(rows, self.n)
        out, inner = np.zeros((len(A), len(kernels), len(height))), kernels < self.M - 1
        if inner.any():
            out[:, inner] = self.bank.products(A, support, rows, kernels[inner])
        i, j = same(height, np.asarray(support))
        for k in np.flatnonzero(~inner):
            out[:, k, i] = A[:, j]
        return out

    def restrict(self, rows, kernels=None):
        kernels = every(kernels, self.M)
        own = kernels[kernels < self.M - 1]
        small = self.bank.restrict(rows, own) if len(own) else None
        return small if small is None or len(own) == len(kernels) else SlackBank(small)

    def cost(self):
        return self.bank.cost()

    def predictor(self, support):
        return self.bank.predictor(support)
