"""What a solver may ask of the kernels of one data set: operations, never matrices as such.

The normalised kernel is `scale_m * K_m` (for "spherical" also divided by sqrt(k_ii k_jj)); every method speaks of
normalised kernels, and a kernel left out has scale 0.
"""

from abc import ABC, abstractmethod

import numpy as np


class Bank(ABC):
    """The kernels of one data set: `n` examples, `M` kernels called `names`, of which `usable` (M,) may have weight."""

    n: int
    M: int
    names: list
    dtype: np.dtype
    scale: np.ndarray
    usable: np.ndarray
    indefinite = ""  # the names of kernels that are not positive semidefinite
    unit = 2.0**-53  # of rounding of the kernel values as they were given
    explicit = False  # products of feature vectors, positive semidefinite by their making

    @abstractmethod
    def diagonals(self):
        """k_m(x_i, x_i), (M, n) float64."""

    @abstractmethod
    def combined(self, theta, rows=None, cols=None, dtype=None, shifted=False):
        """Σ_m θ_m K_m[rows, cols], rows and cols sorted; kernels with θ_m = 0 are not touched.

        `shifted` allows a constant to be taken from every entry: harmless where Σ a is fixed, and it keeps the
        float32 digits of nearly constant kernels.
        """

    @abstractmethod
    def products(self, A, support, rows=None, kernels=None):
        """K_m[rows, support] @ A[t] for A (T, |support|), support sorted: (T, |kernels|, |rows|) float64.

        In float64 arithmetic: certificates stand on it.
        """

    def restrict(self, rows, kernels=None):
        """The same bank on a sub-block held in memory, or None where that does not fit or does not pay."""
        return None

    @abstractmethod
    def cross(self, support):
        """What prediction needs: a `Cross` between new data and the support examples."""


class Cross(ABC):
    """Kernels between new data and the support examples: small, picklable, no training matrices."""

    @abstractmethod
    def sizes(self):
        """(number of support examples, number of kernels)."""

    @abstractmethod
    def check_state(self):
        """A ValueError where a file has restored what the methods below cannot work with; see `_state`."""

    @abstractmethod
    def combined(self, X, theta):
        """Σ_m θ_m K_m(X, support), (n_new, n_support)."""

    @abstractmethod
    def decision(self, X, A, theta):
        """Σ_m θ_tm K_m(X, support) @ A[t], (T, n_new), in blocks; theta is (M,) or (T, M)."""

    @abstractmethod
    def parts(self, X, A, theta):
        """Each kernel's share θ_tm K_m(X, support) @ A[t], (T, n_new, M)."""
