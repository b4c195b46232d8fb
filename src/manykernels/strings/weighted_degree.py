from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from .base import integer, positions
from .planes import PositionKernel

if TYPE_CHECKING:
    from ..sequences.alphabet import Alphabet


class WeightedDegree(PositionKernel):
    """The weighted degree kernel: common words of up to d letters at the same place.

    k(x, y) = Σ_{k=1..d} β_k #{l : start <= l < stop, x[l:l+k] = y[l:l+k]},  β_k = 2 (d − k + 1) / (d (d + 1)).

    Strings of one length L. A word with an unknown letter matches nothing. Sonnenburg et al. (2006), eq. 14.

    Parameters
    ----------
    d : int
        Letters of the longest words.
    start, stop : int, optional
        The range of places where words may start, 0 and L by default; a word may end behind `stop`, so that kernels on
        disjoint ranges add up to the kernel on all places.
    alphabet : str or Alphabet, default "dna"
        "dna", "rna", "protein", "bytes" or an `Alphabet`; None for the alphabet of given `Sequences`, else DNA.
    unknown : {"error", "ambiguous", "ignore"}
        Whether letters outside the alphabet raise an error, do so unless they are for several bases or residues or
        gaps, or match nothing.
    reverse_complement : bool, default False
        Whether x is compared with both strands of y, k(x, y) + k(x, rc y): for windows of DNA or RNA around a
        centre, of which either strand may be given. Compared pair by pair only. Not with start or stop.

    Examples
    --------
    >>> from manykernels.strings import WeightedDegree
    >>> WeightedDegree(2)(["ACGT", "ACGA"]).round(3)
    array([[3.667, 2.667],
           [2.667, 3.667]])
    """

    file_tag = ("kernel/weighted_degree", 2)
    former_tags = (("kernel/weighted_degree", 1),)  # without reverse_complement

    def __init__(
        self,
        d: int,
        start: int | None = None,
        stop: int | None = None,
        alphabet: str | Alphabet | None = "dna",
        unknown: str = "error",
        reverse_complement: bool = False,
    ) -> None:
        self.d = d
        super().__init__(start, stop, alphabet, unknown, reverse_complement)

    def check(self, length: int | None) -> None:
        integer(self, "d")
        super().check(length)

    @property
    def words(self) -> Sequence[int]:
        return range(1, self.d + 1)

    def degree_table(self, L: int) -> np.ndarray:
        """coef (L, d): β_k if a word of k letters starts within [start, stop)."""
        self.check(L)
        start, stop = positions(self, L)
        place, k = np.arange(L)[:, None], np.arange(1, self.d + 1)
        return degree_weights(self.d) * ((start <= place) & (place < stop) & (place <= L - k))


def degree_weights(d):
    """β_k = 2 (d − k + 1) / (d (d + 1)) for k = 1 … d; they sum to 1."""
    return 2.0 * (d - np.arange(d)) / (d * (d + 1))
