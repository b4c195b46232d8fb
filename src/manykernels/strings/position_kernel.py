"""Kernels on words at the same place of sequences of equal length."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..banks import degree_walks
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
