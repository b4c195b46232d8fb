"""Kernels given by explicit features, k_m(x, x') = ⟨φ_m(x), φ_m(x')⟩: what the `coordinate` solver asks for.

`Vectors` holds v_m = Σ_i a_i φ_m(x_i), *unscaled*: the weights come in at look-up, so that changing them costs
nothing, and q_m = ‖v_m‖² is kept up to date on the way.
"""

from abc import ABC, abstractmethod

import numpy as np

from ._base import Bank


class Vectors(ABC):
    """v_m = Σ_i a_i φ_m(x_i), zero at first, with `q` (M,) = ‖v_m‖²."""

    q: np.ndarray

    @abstractmethod
    def clear(self):
        """v = 0."""

    @abstractmethod
    def add(self, rows, before, delta):
        """v_m += Σ_r delta_r φ_m(x_r); `before` are the a of those rows until now."""

    @abstractmethod
    def outputs(self, rows, theta, a):
        """Σ_m θ_m ⟨v_m, φ_m(x_r)⟩, (|rows|,) float64; a (|rows|,) are the rows' own coefficients in v."""

    @abstractmethod
    def parts(self, rows, a):
        """⟨v_m, φ_m(x_r)⟩ for every kernel, (|rows|, M)."""


class ExplicitBank(Bank):
    """A bank with explicit features: `sq_norms` (n, M) = ‖φ_m(x_i)‖² and `vectors()`."""

    sq_norms: np.ndarray

    @abstractmethod
    def vectors(self):
        """New `Vectors`, zero."""

    @abstractmethod
    def block(self, rows, theta):
        """Σ_m θ_m K_m[rows, rows]."""

    def diagonals(self):
        return np.asarray(self.sq_norms.T, dtype=np.float64)

    def combined(self, theta, rows=None, cols=None, dtype=None, shifted=False):
        rows = np.arange(self.n) if rows is None else rows
        cols = np.arange(self.n) if cols is None else cols
        both = np.union1d(rows, cols)
        K = self.block(both, theta)
        return K[np.ix_(np.searchsorted(both, rows), np.searchsorted(both, cols))].astype(dtype or np.float64)

    def products(self, A, support, rows=None, kernels=None):
        rows = np.arange(self.n) if rows is None else rows
        kernels = np.arange(self.M) if kernels is None else kernels
        out, own = np.empty((len(A), len(kernels), len(rows))), np.zeros(self.n)
        vectors = self.vectors()
        for t, a in enumerate(A):
            vectors.clear()
            vectors.add(support, np.zeros(len(a)), a)
            own[support] = a
            out[t] = vectors.parts(rows, own[rows])[:, kernels].T
        return out
