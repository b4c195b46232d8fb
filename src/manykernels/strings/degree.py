"""Kernels on words at the same place of sequences of equal length, or at places near each other."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..banks import degree_walks
from ..sequences.alphabet import Alphabet
from ..sequences.packed import Sequences
from ._words import rows_of
from .base import StringKernel, fits, integer, positions
from .planes import across, planes


def known_runs(X, depth):
    """The number of known letters from each position on, at most `depth`: (n, L)."""
    known = X.codes() < X.alphabet.size
    runs = np.zeros((len(X), X.length + 1), np.int64)
    for p in range(X.length - 1, -1, -1):
        runs[:, p] = np.minimum(runs[:, p + 1] + 1, depth) * known[:, p]
    return runs[:, :-1]


def strands(kernel, X):
    """[X], or X and its reverse complement for a kernel of both strands."""
    return [X, X.reverse_complement()] if kernel.reverse_complement else [X]


class PositionKernel(StringKernel):
    """k(x, y) = Σ_{l,k} coef[l, k−1] [x[l:l+k] = y[l:l+k]] for equal lengths, with coef from `degree_table`.

    Kernels of both strands have no explicit features: a word and its reverse complement begin at different places.
    """

    equal_lengths = True
    longest = "k"  # the parameter with the letters of the longest words

    @property
    def family(self) -> str | None:  # type: ignore[override]  # depends on its parameters
        return None if self.reverse_complement else "degree"

    @property
    def group(self) -> type | None:  # type: ignore[override]  # depends on its parameters
        groups = degree_walks.WalkGroup, degree_walks.PlacedWalkGroup
        return None if self.reverse_complement else groups[int(self._in_part())]

    def _in_part(self):
        return self.start is not None or self.stop is not None

    def check(self, length: int | None) -> None:
        integer(self, self.longest)
        positions(self, length)
        if self.reverse_complement and self._in_part():
            raise ValueError(
                f"reverse_complement=True of {type(self).__name__} has no meaning with start={self.start!r} and "
                f"stop={self.stop!r}, since the other strand has its words at other places: leave both out, and cut "
                "the part out of the sequences, Sequences.encode(X).window(start, stop)."
            )

    @property
    def words(self) -> Sequence[int]:
        """The lengths of the words that count, a range."""
        raise NotImplementedError

    def by_length(self) -> np.ndarray:
        """The weights of words of 1 … d letters, (d,)."""
        raise NotImplementedError

    def degree_table(self, L: int) -> np.ndarray:
        """coef (L, d), d letters of the longest words: coef[l, k−1] weighs words of k letters that start at l."""
        self.check(L)
        start, stop = positions(self, L)
        weights, place = self.by_length(), np.arange(L)[:, None]
        return weights * ((start <= place) & (place < stop) & (place < L - np.arange(len(weights))))

    def block(self, X: Sequences, Y: Sequences) -> np.ndarray:
        from ..loops.strings import add_degrees, add_positions

        coef, out, left = self.degree_table(X.length), np.zeros((1, len(X), len(Y))), planes(X)
        if self._in_part():
            add_positions(left, across(planes(Y)), np.cumsum(coef, axis=1)[:, :, None], np.zeros(1), out)
            return out[0]
        for strand in strands(self, Y):
            found = np.zeros_like(out)
            add_degrees(left, across(planes(strand)), coef[:1], np.zeros(1), found)
            out += found
        return out[0]

    def own(self, X: Sequences) -> np.ndarray:
        from ..loops.strings import own_degrees

        coef = self.degree_table(X.length)
        if not self.reverse_complement:
            runs = np.pad(np.cumsum(coef, axis=1), ((0, 0), (1, 0)))
            return runs[np.arange(X.length), known_runs(X, self.words[-1])].sum(axis=1)
        out = np.zeros((2, len(X)))  # of each strand first, so that either strand gives the same sum
        for strand, found in zip(strands(self, X), out, strict=True):
            own_degrees(planes(X), across(planes(strand)), coef[0], found)
        return out.sum(axis=0)

    def features(self, X: Any) -> Any:
        """φ(X) with φ(x)'φ(y) = k(x, y), CSR: the word w of k letters at l is √coef[l, k−1] in column l A^k + w.

        L A^j columns for each shorter length j of `words` come before.
        """
        X = refuse_strands(self).encode(X)
        coef = np.sqrt(self.degree_table(X.length))
        return placed_features(self, X, self.words, lambda k: coef[:, k - 1 : k])


def refuse_strands(kernel):
    """The kernel; a ValueError if it is of both strands."""
    if kernel.reverse_complement:
        raise ValueError(
            f"{kernel!r} has no explicit features, since words at places of both strands are not words of one place: "
            "take Spectrum or GappedKmer, or reverse_complement=False."
        )
    return kernel


def placed_features(kernel, X, words, mix):
    """CSR features of words at their places: the word w of k letters at l is mix(k)[l, s] in column (l − s) A^k + w.

    mix(k) is (L, shifts); columns of shorter words come first, L A^k for each length k of `words`.
    """
    from ..loops.words import word_codes

    L, size = X.length, X.alphabet.size
    fits(kernel, size, words[-1], 2 * L)
    letters, begin = X.codes().ravel(), np.arange(len(X)) * L
    first, columns, values = 0, [], []
    for k in words:
        codes = np.empty(letters.size, np.int64)
        word_codes(letters, begin, begin + L, np.arange(k), k, size, False, codes)
        codes = codes.reshape(-1, L)
        for s, value in enumerate(mix(k).T):
            here = (codes >= 0) & (value != 0)
            columns.append(np.where(here, first + (np.arange(L) - s) * size**k + codes, -1))
            values.append(np.broadcast_to(value, here.shape))
        first += L * size**k
    words_at, factors = (np.stack(parts, axis=-1).reshape(letters.size, -1) for parts in (columns, values))
    return rows_of((begin, begin + L), words_at, factors, first)


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

    @property
    def words(self) -> Sequence[int]:
        return range(self.k, self.k + 1)

    def by_length(self) -> np.ndarray:
        return np.eye(self.k)[-1]


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
    longest = "d"

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

    @property
    def words(self) -> Sequence[int]:
        return range(1, self.d + 1)

    def by_length(self) -> np.ndarray:
        return degree_weights(self.d)


def degree_weights(d):
    """β_k = 2 (d − k + 1) / (d (d + 1)) for k = 1 … d; they sum to 1."""
    return 2.0 * (d - np.arange(d)) / (d * (d + 1))


class WeightedDegreeShift(StringKernel):
    """The weighted degree kernel with words up to `shift` positions apart.

    k(x, y) = Σ_{k=1..d} β_k Σ_l Σ_{s=0..shift} δ_s ([x[l+s:l+s+k] = y[l:l+k]] + [x[l:l+k] = y[l+s:l+s+k]]),
    β_k = 2 (d − k + 1) / (d (d + 1)),  δ_s = 1 / (2 (s + 1)).

    Strings have one length. A word with an unknown letter matches nothing. With shift=0 it is WeightedDegree. The
    kernel is positive semidefinite for every `shift`, since 1/2 + Σ_s cos(sω) / (s + 1) is never negative (Rogosinski
    and Szegő 1928). Rätsch, Sonnenburg and Schölkopf (2005).

    Parameters
    ----------
    d : int
        Letters of the longest words.
    shift : int
        The largest distance, in positions, of two words.
    start, stop : int, optional
        The part [start:stop] of each string that the kernel sees; words lie within it.
    alphabet : str or Alphabet, default "dna"
        "dna", "rna", "protein", "bytes" or an `Alphabet`; None for the alphabet of given `Sequences`, else DNA.
    unknown : {"error", "ambiguous", "ignore"}
        Whether letters outside the alphabet raise an error, do so unless they are for several bases or residues or
        gaps, or match nothing.
    reverse_complement : bool, default False
        Whether x is compared with both strands of y, k(x, y) + k(x, rc y): for windows of DNA or RNA around a
        centre, of which either strand may be given. Compared pair by pair only. With start or stop, rc y is the other
        strand of the part [start:stop].

    Examples
    --------
    >>> from manykernels.strings import WeightedDegreeShift
    >>> WeightedDegreeShift(2, shift=1)(["ACGT", "CGTA"]).round(3)
    array([[3.667, 0.667],
           [0.667, 3.667]])
    """

    file_tag = ("kernel/weighted_degree_shift", 2)
    former_tags = (("kernel/weighted_degree_shift", 1),)  # without reverse_complement
    equal_lengths = True

    def __init__(
        self,
        d: int,
        shift: int,
        start: int | None = None,
        stop: int | None = None,
        alphabet: str | Alphabet | None = "dna",
        unknown: str = "error",
        reverse_complement: bool = False,
    ) -> None:
        self.d = d
        self.shift = shift
        super().__init__(start, stop, alphabet, unknown, reverse_complement)

    @property
    def family(self) -> str | None:  # type: ignore[override]  # depends on its parameters
        return None if self.reverse_complement else "shift"

    def check(self, length: int | None) -> None:
        integer(self, "d")
        integer(self, "shift", 0)
        positions(self, length)

    def _weights(self, length):
        """(s, weights (1, d)) for each shift s = 0 … S with a letter left to compare."""
        for s in range(min(self.shift, length - 1) + 1):
            yield s, degree_weights(self.d)[None] * (0.5 / (s + 1) if s else 1.0)

    def shift_table(self, L: int) -> np.ndarray:
        """coef (S + 1, L, d): [s, l, k−1] weighs a word of k letters at l in one string and l + s in the other."""
        self.check(L)
        start, stop = positions(self, L)
        place, k = np.arange(L)[:, None], np.arange(1, self.d + 1)
        return np.array([w * ((start <= place) & (place + s + k <= stop)) for s, w in self._weights(stop - start)])

    def _window(self, X):
        return X if self.start is None and self.stop is None else X.window(self.start, self.stop)

    def block(self, X: Sequences, Y: Sequences) -> np.ndarray:
        from ..loops.strings import add_degrees, shift_planes

        X, Y = self._window(X), self._window(Y)
        left, total = planes(X), np.zeros((len(X), len(Y)))
        for strand in strands(self, Y):
            right, out = across(planes(strand)), np.zeros((1, len(X), len(Y)))
            moved = np.empty_like(right)
            for s, weights in self._weights(X.length):
                both = np.zeros_like(out)  # the two directions first, so that (x, y) and (y, x) give the same sum
                for shift in {s, -s}:
                    shift_planes(right, shift, moved)
                    add_degrees(left, moved, weights, np.zeros(1), both)
                out += both
            total += out[0]
        return total

    def own(self, X: Sequences) -> np.ndarray:
        from ..loops.strings import own_degrees, shift_planes

        X = self._window(X)
        left, out = planes(X), np.zeros(len(X))
        for strand in strands(self, X):
            right = across(planes(strand))
            moved = np.empty_like(right)
            for s, weights in self._weights(X.length):
                shifts = [s] if strand is X else {s, -s}  # with itself both directions are alike
                both = np.zeros((len(shifts), len(X)))
                for shift, found in zip(shifts, both, strict=True):
                    shift_planes(right, shift, moved)
                    own_degrees(left, moved, weights[0] * (2 if s and strand is X else 1), found)
                out += both.sum(axis=0)
        return out

    def features(self, X: Any) -> Any:
        """φ(X) with φ(x)'φ(y) = k(x, y), CSR (n, L (A + … + A^d)): the word w of k letters at l counts in the columns
        of places l − shift … l, by the Cholesky factor of the matrix of weights between places."""
        from scipy.linalg import cholesky_banded

        X = self._window(refuse_strands(self).encode(X))
        L = X.length
        near = min(self.shift, L - 1)
        weights = np.array([w[0] for _, w in self._weights(L)])  # (near + 1, d)

        def mix(k):
            """√β_k R[l, l − s] for s = 0 … near, with R R' the weights between the places of words of k letters."""
            table, n = np.zeros((L, near + 1)), L - k + 1
            if n > 0:
                band = np.repeat(weights[:n, k - 1 : k], n, axis=1)
                R = cholesky_banded(band, lower=True)  # R[s, j] is the entry (j + s, j)
                for s in range(len(R)):
                    table[s:n, s] = R[s, : n - s]
            return table

        return placed_features(self, X, range(1, self.d + 1), mix)
