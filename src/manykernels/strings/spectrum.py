"""Kernels on words of neighbouring letters: equal ones, or such that differ in a few letters."""

from itertools import combinations, product
from math import comb
from typing import Any

import numpy as np

from .._validation import check_choice
from ..sequences.alphabet import Alphabet
from ._words import Reading, WordKernel, backwards, rows_of, window
from .base import fits, integer

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


class Mismatch(WordKernel):
    """The mismatch kernel: words that differ in a few letters.

    k(x, y) = Σ_w φ_w(x) φ_w(y), φ_w(x) the number of words of k letters of x with at most m letters unlike w.

    Two words at Hamming distance h have I(h) words within m of both, so k(x, y) = Σ_{u in x, v in y} I(h(u, v)), and
    I(h) = Σ_j c_j C(k − h, j), k − 2m <= j <= k: a weighted sum of gapped kernels, exact in integers. Strings may have
    any length; the kernel is 0 for strings shorter than k. Words with an unknown letter do not count. Leslie et al.
    (2004).

    Parameters
    ----------
    k : int
        Letters of a word.
    m : int, default 1
        Letters that may differ.
    start, stop : int, optional
        The part [start:stop] of each string that the kernel sees.
    alphabet : str or Alphabet, default "dna"
        "dna", "rna", "protein", "bytes" or an `Alphabet`; None for the alphabet of given `Sequences`, else DNA.
    unknown : {"error", "ambiguous", "ignore"}
        Whether letters outside the alphabet raise an error, do so unless they are for several bases or residues or
        gaps, or match nothing.
    reverse_complement : bool, default False
        Whether the words of x are compared with those of both strands of y, k(x, y) + k(x, rc y): for DNA and RNA of
        which either strand may be given. With start or stop, rc y is the other strand of the part [start:stop].

    Examples
    --------
    >>> from manykernels.strings import Mismatch
    >>> Mismatch(3, m=1)(["ACGT", "ACCT"])
    array([[20., 10.],
           [10., 24.]])
    """

    file_tag = ("kernel/mismatch", 2)
    former_tags = (("kernel/mismatch", 1),)  # without reverse_complement
    family = "windows"
    whole = True

    def __init__(
        self,
        k: int,
        m: int = 1,
        start: int | None = None,
        stop: int | None = None,
        alphabet: str | Alphabet | None = "dna",
        unknown: str = "error",
        reverse_complement: bool = False,
    ) -> None:
        self.k = k
        self.m = m
        super().__init__(start, stop, alphabet, unknown, reverse_complement)

    @property
    def shortest(self) -> int:  # type: ignore[override]  # depends on its parameters
        return self.k

    def check(self, length: int | None) -> None:
        integer(self, "m", 0, integer(self, "k"))
        self.check_readings(self.k)
        window(self)

    def n_readings(self, size: int, positive: bool = False) -> int:
        if positive:  # more than 17 changed letters give too many readings anyway
            return sum(comb(self.k, far) * (size - 1) ** far for far in range(min(self.m, 17) + 1))
        return sum(comb(self.k, j) for j in range(max(0, self.k - 2 * min(self.m, 9)), self.k + 1))

    def channels(self, size: int) -> list[Any]:
        fits(self, size, self.k)
        common = [self._common(self.k - same, size) for same in range(self.k + 1)]  # by the number of equal letters
        found = []
        for j in range(self.k + 1):
            weight = sum((-1) ** (j - same) * comb(j, same) * common[same] for same in range(j + 1))
            if weight:
                found += [(places, self.k, weight) for places in combinations(range(self.k), j)]
        return found

    def mismatches(self, size: int) -> tuple[int, np.ndarray]:
        return self.k, np.array([float(self._common(h, size)) for h in range(min(2 * self.m, self.k) + 1)])

    def _common(self, h, size):
        """I(h): the number of words within m of two words that differ in h places.

        At the h places a word agrees with the first word i times, with the second j times, and with neither at the
        others; elsewhere it differs from both at e places.
        """
        total = 0
        for e in range(min(self.m, self.k - h) + 1):
            for i in range(h + 1):
                for j in range(h - i + 1):
                    if max(h - i, h - j) + e <= self.m:
                        ways = comb(h, i) * comb(h - i, j) * (size - 2) ** (h - i - j)
                        total += ways * comb(self.k - h, e) * (size - 1) ** e
        return total

    def readings(self, size: int, positive: bool = False) -> list[Any]:
        if not positive:
            return super().readings(size)
        fits(self, size, self.k)
        found = []
        for changes in self._changes(size):
            moves = np.zeros(self.k, np.int64)
            moves[[place for place, _ in changes]] = [change for _, change in changes]
            found.append(Reading(range(self.k), tuple(moves.tolist()), self.k, 1, 0, 1 + self.reverse_complement))
        return sorted(found, key=lambda reading: reading.moves)

    def _changes(self, size):
        """The ways to change at most m letters of a word: lists of (place, number added to the code mod A)."""
        return [
            list(zip(places, change, strict=True))
            for far in range(self.m + 1)
            for places in combinations(range(self.k), far)
            for change in product(range(1, size), repeat=far)
        ]

    def features(self, X: Any) -> Any:
        """φ_w(X): CSR (n, A^k), with word w in column w, a number in base A.

        With `reverse_complement` a word and its reverse complement share the column of the smaller number.
        """
        from ..loops.words import neighbours

        X = self.encode(X)
        size, windows = X.alphabet.size, self.windows(X)
        fits(self, size, self.k)
        patterns: Any = [changes + [(-1, 0)] * (self.m - len(changes)) for changes in self._changes(size)]
        patterns = np.array(patterns, np.int64).reshape(len(patterns), self.m, 2)
        codes = self.codes(windows, range(self.k), self.k, size)
        near = np.full((codes.size, len(patterns)), -1)
        powers = np.array([size**p for p in range(self.k - 1, -1, -1)], np.int64)
        where, change = (np.ascontiguousarray(patterns[:, :, c]) for c in (0, 1))
        neighbours(*windows[:1], codes, *windows[1:], self.k, size, where, change, powers, near)
        factors = near >= 0
        if self.reverse_complement:
            other = backwards(near, self.k, X.alphabet)
            near, factors = np.minimum(near, other), np.where(near == other, np.sqrt(2.0), 1.0)
        return rows_of(windows[1:], near, factors, size**self.k)
