"""Kernels on words at the same place, or at places near each other."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..sequences.alphabet import Alphabet
from ..sequences.packed import Sequences
from .base import StringKernel, integer, positions
from .planes import across, planes
from .position_kernel import PositionKernel, placed_features, refuse_strands, strands


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
