from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from .base import integer, positions
from .planes import PositionKernel

if TYPE_CHECKING:
    from ..sequences.alphabet import Alphabet


class Degree(PositionKernel):
    """The number of common words of k letters at the same place.

    k(x, y) = #{l : start <= l < stop, x[l:l+k] = y[l:l+k]}.

    Strings of one length L. A word with an unknown letter matches nothing.
    One summand of the weighted degree kernel (Sonnenburg et al. 2006, eq. 14).

    Parameters
    ----------
    k : int
        Letters of a word.
    start, stop : int, optional
        The range of places where words may start, 0 and L by default; a word may end behind `stop`.
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
    >>> from manykernels.strings import Degree
    >>> Degree(2)(["ACGT", "ACGA"])
    array([[3., 2.],
           [2., 3.]])
    """

    file_tag = ("kernel/degree", 2)
    former_tags = (("kernel/degree", 1),)  # without reverse_complement

    def __init__(
        self,
        k: int,
        start: int | None = None,
        stop: int | None = None,
        alphabet: str | Alphabet | None = "dna",
        unknown: str = "error",
        reverse_complement: bool = False,
    ) -> None:
        self.k = k
        super().__init__(start, stop, alphabet, unknown, reverse_complement)

    def check(self, length: int | None) -> None:
        integer(self, "k")
        super().check(length)

    @property
    def words(self) -> Sequence[int]:
        return range(self.k, self.k + 1)

    def degree_table(self, L: int) -> np.ndarray:
        """coef (L, k): 1 in the last column where a word of k letters starts within [start, stop)."""
        self.check(L)
        coef = np.zeros((L, self.k))
        start, stop = positions(self, L)
        coef[start : max(0, min(stop, L - self.k + 1)), self.k - 1] = 1.0
        return coef
