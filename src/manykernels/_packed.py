"""Examples in a storage of their own."""

from abc import abstractmethod
from typing import Any, Self

import numpy as np

from ._state import Tagged


class Packed(Tagged):
    """Examples in a storage of their own, which only kernels of their kind read: `Sequences`. They have rows alone."""

    __slots__ = ()
    refusal: str  # of a kernel of numbers

    @abstractmethod
    def compact(self) -> Self:
        """A copy with storage for these examples alone."""

    @abstractmethod
    def sizes(self, known: bool = False) -> np.ndarray:
        """The number of letters of each example, (n,) int64; `known` leaves out those that match nothing."""

    @abstractmethod
    def table(self) -> tuple[np.ndarray, Any] | None:
        """(codes (n, L) int16, alphabet) of examples of one length, else None; unknown letters have the code A."""
