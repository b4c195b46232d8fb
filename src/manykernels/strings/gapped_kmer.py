from __future__ import annotations

from itertools import combinations
from math import comb
from typing import TYPE_CHECKING, Any

from ._base import fits, integer
from ._words import WordKernel, window

if TYPE_CHECKING:
    from ..sequences.alphabet import Alphabet


class GappedKmer(WordKernel):
    """k(x, y) = Σ_{S, w} #_{S,w}(x) #_{S,w}(y) = Σ_{windows u of x, v of y} C(l − mismatches(u, v), k).

    S are the C(l, k) ways to choose k places of a window of l letters, w the words of k letters, #_{S,w}(x) the number
    of windows of x that have the letters w at the places S. Strings of any length, 0 where they are shorter than l; an
    unknown letter is a mismatch with every letter. start, stop: the part [start:stop] of each string that is looked
    at. Ghandi et al. (2014).
    """

    def __init__(
        self,
        l: int,  # noqa: E741 (the paper's name)
        k: int,
        start: int | None = None,
        stop: int | None = None,
        alphabet: str | Alphabet | None = "dna",
        unknown: str = "error",
    ) -> None:
        self.l = l
        self.k = k
        self.start = start
        self.stop = stop
        self.alphabet = alphabet
        self.unknown = unknown

    def check(self, length: int | None) -> None:
        integer(self, "k", 1, integer(self, "l"))
        window(self)

    def n_readings(self, size: int, positive: bool = False) -> int:
        return comb(self.l, self.k)

    def channels(self, size: int) -> list[Any]:
        fits(self, size, self.k, comb(self.l, self.k))
        return [(places, self.l, 1) for places in combinations(range(self.l), self.k)]
