"""Kernels on words at any place: occurrences of words, compared through a table of words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..sequences.packed import slice_bound
from .base import MAX_IN_FILE, StringKernel, integer

if TYPE_CHECKING:
    from ..sequences.packed import Sequences


class Reading(NamedTuple):
    """One way to read a word from a window of `span` letters: the codes at `places`, each plus its `moves` (mod A).

    Readings with the same `table` number count the same words.
    """

    places: Any
    moves: Any
    span: int
    weight: float
    table: int


class WordKernel(StringKernel):
    """k(x, y) = Σ_c weight_c #{(p, q) : the letters at the places of c in window p of x and in window q of y agree}.

    Subclasses define the channels c by `channels(A)`: (places within a window, its length, weight). If `whole`, a
    window with an unknown letter anywhere does not count; otherwise only unknown letters at the places matter.
    """

    family = "channels"
    whole = False

    def channels(self, size: int) -> list[Any]:
        raise NotImplementedError

    def readings(self, size: int, positive: bool = False) -> list[Any]:
        """Readings with Σ_table ⟨φ, φ⟩ = k, φ the counts of words; if `positive`, all weights are positive."""
        channels = enumerate(self.channels(size))
        return [Reading(places, (0,) * len(places), span, weight, c) for c, (places, span, weight) in channels]

    def n_readings(self, size: int, positive: bool = False) -> int:
        """An upper bound of the number of readings, computed fast, for a kernel that was read from a file."""
        return MAX_IN_FILE

    def check_state(self) -> None:
        super().check_state()
        if self.n_readings(2) > MAX_IN_FILE:
            raise ValueError(f"{self!r} has too many ways to choose places")

    def windows(self, X: Sequences) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(letters, begin, end): the codes of all sequences, and the bounds of the part [start:stop] of each."""
        from ..loops.sequences import unpack_flat

        letters = np.empty(int(X.lengths.sum(dtype=np.int64)), np.uint8)
        unpack_flat(X.data, X.starts, X.lengths, X.bits, letters)
        lengths = X.lengths.astype(np.int64)
        offsets = np.cumsum(lengths) - lengths
        start, stop = (slice_bound(bound, lengths) for bound in (self.start or 0, self.stop))
        return letters, offsets + start, offsets + np.maximum(start, stop)

    def codes(
        self, windows: tuple[np.ndarray, np.ndarray, np.ndarray], places: Sequence[int], span: int, size: int
    ) -> np.ndarray:
        """The code of the word at each letter of `windows`, −1 if there is none."""
        from ..loops.words import word_codes

        letters, begin, end = windows
        codes = np.empty(letters.size, np.int64)
        word_codes(letters, begin, end, np.array(places, np.int64), span, size, self.whole, codes)
        return codes

    def sizes(self, lengths: np.ndarray) -> np.ndarray | None:
        """The number of letters of the part [start:stop], with which the number of words grows."""
        lengths = np.asarray(lengths, np.int64)
        start, stop = (slice_bound(bound, lengths) for bound in (self.start or 0, self.stop))
        return np.maximum(stop - start, 0)

    def block(self, X: Sequences, Y: Sequences) -> np.ndarray:
        from ..loops.words import add_words, count_words

        size, out = X.alphabet.size, np.zeros((len(X), len(Y)))
        left, right = self.windows(X), self.windows(Y)
        sides = [(w[1], w[2]) for w in (left, right)]
        letters = (left[2] - left[1]).mean()
        bits = int(np.clip((right[2] - right[1]).sum(), 16, 2**20)).bit_length()
        for places, span, weight in self.channels(size):
            x, y = (self.codes(w, places, span, size) for w in (left, right))
            n_words = size ** len(places)
            if n_words <= min(max(256, 2 * letters), 2**14):  # words occur so often that counting is faster
                F, G = (np.zeros((len(w[1]), n_words)) for w in (left, right))
                count_words(x, *sides[0], F)
                count_words(y, *sides[1], G)
                out += weight * (F @ G.T)
            else:
                need = (n_words - 1).bit_length()
                add_words(x, *sides[0], y, *sides[1], min(bits, need), need <= bits, float(weight), out)
        return out

    def own(self, X: Sequences) -> np.ndarray:
        from ..loops.words import own_words

        out, windows = np.zeros(len(X)), self.windows(X)
        for places, span, weight in self.channels(X.alphabet.size):
            codes = self.codes(windows, places, span, X.alphabet.size)
            n_words = X.alphabet.size ** len(places)
            count = np.zeros(n_words if n_words <= 2**16 else 0, np.int64)
            own_words(codes, windows[1], windows[2], float(weight), count, out)
        return out

    def features(self, X: Any) -> Any:
        """The counts of words, with features(x)'features(y) = k(x, y): CSR (n, channels · A^k).

        Word w (a number in base A) of channel c is column (number of words of the channels before c) + w.
        """
        X = self.encode(X)
        size, windows = X.alphabet.size, self.windows(X)
        first, found = 0, []
        for places, span, _ in self.channels(size):
            codes = self.codes(windows, places, span, size)
            found.append(np.where(codes >= 0, codes + first, -1))
            first += size ** len(places)
        return self._rows(X, np.stack(found, axis=1), first)

    def _rows(self, X, words, n_columns):
        """The CSR matrix of words (letters, per letter) of the sequences X."""
        import scipy.sparse as sp

        from ..loops.words import sorted_counts

        each = words.shape[1]
        lengths = X.lengths.astype(np.int64) * each
        end = np.cumsum(lengths)
        found, columns = np.empty(len(X), np.int64), np.empty(words.size, np.int64)
        values = np.empty(words.size)
        sorted_counts(words.ravel(), end - lengths, end, found, columns, values)
        ends = np.concatenate([[0], np.cumsum(found)])
        at = np.arange(ends[-1]) + np.repeat(end - lengths - ends[:-1], found)
        return sp.csr_array((values[at], columns[at], ends), shape=(len(X), n_columns))


def window(kernel):
    """A ValueError if start or stop is neither an integer nor None."""
    for name, value in (("start", kernel.start), ("stop", kernel.stop)):
        if value is not None:
            integer(kernel, name, low=-(2**62), value=value)
