from __future__ import annotations

from itertools import combinations
from math import comb
from typing import TYPE_CHECKING, Any

from ._words import WordKernel, window
from .base import fits, integer

if TYPE_CHECKING:
    from ..sequences.alphabet import Alphabet


class GappedKmer(WordKernel):
    """The gapped k-mer kernel: common choices of k letters in windows of l letters.

    k(x, y) = Σ_{S, w} #_{S,w}(x) #_{S,w}(y) = Σ_{windows u of x, v of y} C(l − mismatches(u, v), k).

    S are the C(l, k) ways to choose k places of a window of l letters, w the words of k letters, #_{S,w}(x) the number
    of windows of x that have the letters w at the places S. Strings may have any length; the kernel is 0 for strings
    shorter than l. An unknown letter mismatches every letter. Ghandi et al. (2014).

    Parameters
    ----------
    l : int
        Letters of a window.
    k : int
        Letters of a window that are compared.
    start, stop : int, optional
        The part [start:stop] of each string that the kernel sees.
    alphabet : str or Alphabet, default "dna"
        "dna", "rna", "protein", "bytes" or an `Alphabet`; None for the alphabet of given `Sequences`, else DNA.
    unknown : {"error", "ignore"}
        Whether letters outside the alphabet raise an error or match nothing.
    reverse_complement : bool, default False
        Whether the words of x are compared with those of both strands of y, k(x, y) + k(x, rc y): for DNA and RNA of
        which either strand may be given. With start or stop, rc y is the other strand of the part [start:stop].

    Examples
    --------
    >>> from manykernels.strings import GappedKmer
    >>> GappedKmer(3, 2)(["ACGT", "ACCT"])
    array([[6., 2.],
           [2., 6.]])
    """

    file_tag = ("kernel/gapped_kmer", 2)
    former_tags = (("kernel/gapped_kmer", 1),)  # without reverse_complement

    def __init__(
        self,
        l: int,  # noqa: E741 (the paper's name)
        k: int,
        start: int | None = None,
        stop: int | None = None,
        alphabet: str | Alphabet | None = "dna",
        unknown: str = "error",
        reverse_complement: bool = False,
    ) -> None:
        self.l = l
        self.k = k
        super().__init__(start, stop, alphabet, unknown, reverse_complement)

    def check(self, length: int | None) -> None:
        integer(self, "k", 1, integer(self, "l"))
        window(self)

    def n_readings(self, size: int, positive: bool = False) -> int:
        return comb(self.l, self.k)

    def channels(self, size: int) -> list[Any]:
        fits(self, size, self.k, comb(self.l, self.k))
        return [(places, self.l, 1) for places in combinations(range(self.l), self.k)]
