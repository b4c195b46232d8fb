from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .._validation import check_choice
from ._words import WordKernel, window
from .base import fits, integer

if TYPE_CHECKING:
    from ..sequences.alphabet import Alphabet

POWERS = {"all": 1.0, "sqrt": 0.5, "binary": 0.0}  # of the counts of words


class Spectrum(WordKernel):
    """The spectrum kernel: the inner product of the word counts of two strings.

    k(x, y) = Σ_w #_w(x) #_w(y), w the words of k letters; with counts="sqrt" Σ_w √(#_w(x) #_w(y)).

    Strings may have any length; the kernel is 0 for strings shorter than k. Words with an unknown letter do not count.
    Leslie, Eskin and Noble (2002); Sonnenburg et al. (2006), 3.1.1.

    Parameters
    ----------
    k : int or (int, int)
        Letters of a word; (k1, k2) for the sum over k1 <= k <= k2.
    start, stop : int, optional
        The part [start:stop] of each string that the kernel sees, as in a slice.
    alphabet : str or Alphabet, default "dna"
        "dna", "rna", "protein", "bytes" or an `Alphabet`; None for the alphabet of given `Sequences`, else DNA.
    unknown : {"error", "ambiguous", "ignore"}
        Whether letters outside the alphabet raise an error, do so unless they are for several bases or residues or
        gaps, or match nothing.
    reverse_complement : bool, default False
        Whether the words of x are compared with those of both strands of y, k(x, y) + k(x, rc y): for DNA and RNA of
        which either strand may be given. With start or stop, rc y is the other strand of the part [start:stop].
    counts : {"all", "sqrt", "binary"}
        "sqrt" takes square roots of the counts, "binary" only counts whether a word occurs: a repeat then weighs less
        than as many different words. With `reverse_complement`, #_w is the number of places where w or its reverse
        complement stands, and the sum is over one word of each such pair.

    Examples
    --------
    >>> from manykernels.strings import Spectrum
    >>> Spectrum(2)(["ACAC", "CAC"])
    array([[5., 3.],
           [3., 2.]])
    >>> Spectrum(2, counts="sqrt")(["ACAC", "CAC"]).round(3)
    array([[3.   , 2.414],
           [2.414, 2.   ]])
    """

    file_tag = ("kernel/spectrum", 3)
    former_tags = (("kernel/spectrum", 1), ("kernel/spectrum", 2))  # without reverse_complement; counts

    def __init__(
        self,
        k: int,
        start: int | None = None,
        stop: int | None = None,
        alphabet: str | Alphabet | None = "dna",
        unknown: str = "error",
        reverse_complement: bool = False,
        counts: str = "all",
    ) -> None:
        self.k = k
        self.counts = counts
        super().__init__(start, stop, alphabet, unknown, reverse_complement)

    def _lengths(self):
        if not isinstance(self.k, tuple | list):
            return range(integer(self, "k"), self.k + 1)
        if len(self.k) != 2:
            raise ValueError(f"k={self.k!r} of Spectrum must be a word length or (shortest, longest).")
        low, high = (integer(self, "k", value=value) for value in self.k)
        if low > high:
            raise ValueError(f"k={self.k!r} of Spectrum must be (shortest, longest): give k=({high}, {low}).")
        return range(low, high + 1)

    @property
    def shortest(self) -> int:  # type: ignore[override]  # depends on its parameters
        return self._lengths()[0]

    @property
    def power(self) -> float:  # type: ignore[override]  # depends on its parameters
        """The power of the counts of words."""
        return POWERS[check_choice("counts", self.counts, POWERS, of=self)]

    def check(self, length: int | None) -> None:
        check_choice("counts", self.counts, POWERS, of=self)
        self._lengths()
        window(self)

    def channels(self, size: int) -> list[Any]:
        fits(self, size, self._lengths()[-1], 2)
        return [(range(k), k, 1) for k in self._lengths()]
