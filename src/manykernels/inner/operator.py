"""A combined kernel that is only multiplied with, and never built."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np


class Operator(ABC):
    """A combined kernel that is too large to be built: symmetric, `shape` (n, n), of numbers in `dtype`."""

    shape: tuple[int, int]
    dtype: np.dtype
    direct = 2**31  # examples up to which callers may use `array`

    def __len__(self) -> int:
        return self.shape[0]

    @abstractmethod
    def multiply(self, V: np.ndarray) -> np.ndarray:
        """K v for each row of V (k, n): (k, n) float64."""

    @abstractmethod
    def diagonal(self) -> np.ndarray:
        """k_ii (n,)."""

    @abstractmethod
    def take(self, index: np.ndarray) -> Operator:
        """The block of these examples."""

    @abstractmethod
    def array(self) -> np.ndarray:
        """The matrix itself, (n, n) float64, for small blocks."""

    def low_rank(self, rank: int) -> np.ndarray | None:
        """U (n, rank or less) with UUᵀ near the matrix, for preconditioning; or None."""
        return None
