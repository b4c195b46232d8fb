"""Kernels on words at any place: occurrences of words, compared through a table of words or pair by pair.

Kernels Σ_{windows u of x, v of y} c(mismatches of u and v) are compared pair by pair by bits: see loops/word_pairs.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..sequences.packed import slice_bound
from .base import MAX_IN_FILE, StringKernel, fits, integer

if TYPE_CHECKING:
    from ..sequences.packed import Sequences

MAX_WINDOW = 15  # letters of a window whose mismatches have four bits
FEW_WINDOWS = 4  # of a sequence that are compared letter by letter with each other
WORDS_PER_PAIR = 2  # words that are counted in the time in which one pair of windows is compared


def by_bits(kernel: WordKernel, *sets: Sequences) -> tuple[int, np.ndarray] | None:
    """(l, c(0) … c(d)) if `sums_of_pairs` can compute the kernel on these sequences, else None."""
    found = kernel.mismatches(sets[0].alphabet.size)
    if found is None or found[0] > MAX_WINDOW:
        return None
    if not kernel.whole and any(X.n_unknown().any() for X in sets):
        return None
    if kernel.window_weights(1) is not None:
        return found
    letters = float(np.mean(sets[0].lengths)) if len(sets[0]) else 0.0
    words = sum(sets[0].alphabet.size ** len(places) for places, _, _ in kernel.channels(sets[0].alphabet.size))
    return None if words <= WORDS_PER_PAIR * letters**2 else found


def own_sums(kernel: WordKernel, windows: tuple[int, np.ndarray], X: Sequences) -> np.ndarray:
    """k(x_i, x_i), (n,), for the `windows` that `by_bits` returns."""
    from ..loops.word_pairs import few_windows

    (l, c), (letters, begin, end) = windows, kernel.windows(X)  # noqa: E741 (the paper's name)
    if np.max(end - begin, initial=0) >= l + FEW_WINDOWS or kernel.window_weights(1) is not None:
        return sums_of_pairs(kernel, windows, X, None)[:, 0]
    out, opposite = np.empty(len(X)), X.alphabet.opposite() if kernel.reverse_complement else np.empty(0, np.uint8)
    few_windows(letters, begin, end, l, X.alphabet.size, c, opposite, out)
    return out


def sums_of_pairs(kernel: WordKernel, windows: tuple[int, np.ndarray], X: Sequences, Y: Sequences | None) -> np.ndarray:
    """k(x_i, y_j), (n, m), or without Y k(x_i, x_i), (n, 1), for the `windows` that `by_bits` returns."""
    from ..loops.word_pairs import entries_of, pair_sums

    (l, c), both = windows, kernel.reverse_complement  # noqa: E741 (the paper's name)
    left, right = kernel.windows(X), kernel.windows(X if Y is None else Y, both)
    size, planes = X.alphabet.size, max(1, (X.alphabet.size - 1).bit_length()) + 1
    counts = np.maximum(left[2] - left[1] - l + 1, 0)
    width = min(63, 64 - l + 1)
    if counts.max(initial=0):  # chunks of equal size
        width = -(-int(counts.max()) // -(-int(counts.max()) // width))

    def entries(side, numbers, lead, step):
        first = np.append(0, np.cumsum(numbers))
        out = np.zeros((planes, first[-1]), np.uint64)
        entries_of(*side, l, size, lead, step, first, out)
        return out, first

    x, x_first = entries(left, -(-counts // width), 0, width)
    lengths = right[2] - right[1]
    y, y_first = entries(right, np.where(lengths >= l, lengths - l + width, 0), width - 1, 1)
    out, weights = np.empty((len(X), 1 if Y is None else len(Y))), (np.empty((0, 64)), np.empty(0))
    if kernel.window_weights(1) is not None:
        own = _entry_weights(kernel, left, l, x_first, 0, width, 64, False)
        other = _entry_weights(kernel, right, l, y_first, width - 1, 1, 1, both)
        weights = own, np.append(other, np.zeros(64))
    y_first = y_first[:: 1 + both].copy()
    table = np.empty((5, np.max(np.diff(y_first), initial=0)), np.uint64)
    pair_sums((x, x_first, weights[0]), (y, y_first, weights[1]), l, width, c, Y is None, table, out)
    return out


def _entry_weights(kernel, windows, l, first, lead, step, width, both):  # noqa: E741 (the paper's name)
    """ω of the windows at the first `width` places of every entry, (entries, width), 0 if there is none."""
    at = np.append(kernel.weights_at(windows, l, both), 0.0)
    sequence = np.repeat(np.arange(len(first) - 1), np.diff(first))
    place = (np.arange(first[-1]) - first[sequence]) * step - lead
    place = place[:, None] + np.arange(width)
    inside = (place >= 0) & (place < (windows[2] - windows[1])[sequence, None])
    return at[np.where(inside, windows[1][sequence, None] + place, -1)]


class Reading(NamedTuple):
    """One way to read a word from a window of `span` letters: the codes at `places`, each plus its `moves` (mod A).

    Readings with the same `table` number count the same words. Where both strands count, a reading of `step` 1 is of
    both strands; one of `step` 2 is of a single strand, and takes a word and its reverse complement for one word.
    """

    places: Any
    moves: Any
    span: int
    weight: float
    table: int
    step: int = 1


class WordKernel(StringKernel):
    """k(x, y) = Σ_c weight_c #{(p, q) : the letters at the places of c in window p of x and in window q of y agree}.

    Subclasses define the channels c by `channels(A)`: (places within a window, its length, weight). If `whole`, a
    window with an unknown letter anywhere does not count; otherwise only unknown letters at the places matter.

    With `reverse_complement` the windows of y are those of both strands: k(x, y) + k(x, rc y), rc y the reverse
    complement of the part of y that the kernel sees. The mirror image of a channel must be a channel of the same
    weight; then this is ½ ⟨φ(x) + φ(rc x), φ(y) + φ(rc y)⟩.

    If windows have weights ω by their place (`window_weights`), a pair (p, q) counts ω_p ω_q times, and a window of rc
    y has the weight of the window of y at the same letters. The banks of words do not know weights: a kernel that
    has some must have `family = None`.
    """

    family = "channels"
    whole = False
    power = 1.0  # of the counts of words; another power needs a single strand's channels to be their mirror images

    def channels(self, size: int) -> list[Any]:
        raise NotImplementedError

    def mismatches(self, size: int) -> tuple[int, np.ndarray] | None:
        """(l, c(0) … c(d)) if k(x, y) = Σ_{windows u of x, v of y} c(mismatches of u and v), 0 above d; else None."""
        return None

    def readings(self, size: int, positive: bool = False) -> list[Any]:
        """Readings with Σ_table ⟨φ, φ⟩ = k, φ the counts of words; if `positive`, all weights are positive."""
        channels = enumerate(self.channels(size))
        found = [Reading(tuple(places), (0,) * len(places), span, weight, c) for c, (places, span, weight) in channels]
        if not self.reverse_complement:
            return found
        backwards = [tuple(one.span - 1 - place for place in reversed(one.places)) for one in found]
        found = [
            one._replace(step=1 + (one.places == b)) for one, b in zip(found, backwards, strict=True) if one.places <= b
        ]
        return sorted(found, key=lambda one: -one.step)  # the order within a step stays: neighbours share first letters

    def window_weights(self, n_windows: int) -> np.ndarray | None:
        """The weights ω (n_windows,) of the windows of a sequence, by their place; None if all are 1."""
        return None

    def n_readings(self, size: int, positive: bool = False) -> int:
        """An upper bound of the number of readings, computed fast: see `check_readings`."""
        return MAX_IN_FILE

    def check_readings(self, letters: int) -> None:
        """A ValueError if words of so many letters have no number, or if a window is read in too many ways.

        Each way costs as much as all words of a `Spectrum`.
        """
        alphabet = self.encoding[0]
        fits(self, 2 if alphabet is None else alphabet.size, letters)
        if (ways := self.n_readings(2)) > MAX_IN_FILE:
            raise ValueError(
                f"{self!r} reads every window in {ways:,} ways, more than {MAX_IN_FILE:,}: give shorter words, or "
                "words of which fewer letters may differ."
            )

    def windows(self, X: Sequences, both: bool = False) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(letters, begin, end): the codes of all sequences, and the bounds of the part [start:stop] of each.

        If `both`, the bounds of the part and of its reverse complement, which follows it.
        """
        letters, lengths = X.letters(), X.lengths.astype(np.int64)
        offsets = np.cumsum(lengths) - lengths
        start, stop = self._part(lengths)
        begin, end = offsets + start, offsets + stop
        if not both:
            return letters, begin, end
        sizes = end - begin
        first = 2 * (np.cumsum(sizes) - sizes)
        at = np.arange(sizes.sum()) - np.repeat(first // 2, sizes)
        part, out = letters[np.repeat(begin, sizes) + at], np.empty(2 * len(at), np.uint8)
        out[np.repeat(first, sizes) + at] = part
        out[np.repeat(first + 2 * sizes - 1, sizes) - at] = X.alphabet.opposite()[part]
        return out, np.stack([first, first + sizes], 1).ravel(), np.stack([first + sizes, first + 2 * sizes], 1).ravel()

    def bounds(self, windows: tuple[np.ndarray, np.ndarray, np.ndarray], both: bool) -> tuple[np.ndarray, np.ndarray]:
        """The begin and end of each sequence in `windows`, with its strands."""
        return (windows[1][::2].copy(), windows[2][1::2].copy()) if both else windows[1:]

    def codes(
        self, windows: tuple[np.ndarray, np.ndarray, np.ndarray], places: Sequence[int], span: int, size: int
    ) -> np.ndarray:
        """The code of the word at each letter of `windows`, −1 if there is none."""
        from ..loops.words import word_codes

        letters, begin, end = windows
        codes = np.empty(letters.size, np.int64)
        word_codes(letters, begin, end, np.array(places, np.int64), span, size, self.whole, codes)
        return codes

    def weights_at(self, windows, span, both):
        """ω of the window of `span` letters at each letter of `windows`, 0 if there is none."""
        letters, begin, end = windows
        numbers = np.maximum(end - begin - span + 1, 0)
        known = {n: self.window_weights(n) for n in np.unique(numbers).tolist()}
        out = np.zeros(letters.size)
        for i, (first, n) in enumerate(zip(begin.tolist(), numbers.tolist(), strict=True)):
            out[first : first + n] = known[n][::-1] if both and i % 2 else known[n]  # type: ignore[index]  # has weights
        return out

    def _weighted_counts(self, X, both):
        """Yields Σ ω of the windows with each word, CSR (n, A^places), for each channel; nothing if ω = 1."""
        if self.window_weights(1) is None:
            return
        size, windows, at = X.alphabet.size, self.windows(X, both), dict[int, np.ndarray]()
        for places, span, _ in self.channels(size):
            if span not in at:
                at[span] = self.weights_at(windows, span, both)
            codes = self.codes(windows, places, span, size)
            bounds = self.bounds(windows, both)
            yield rows_of(bounds, codes[:, None], at[span][:, None], size ** len(places))

    def sizes(self, lengths: np.ndarray) -> np.ndarray | None:
        """The number of letters of the part [start:stop], with which the number of words grows."""
        start, stop = self._part(np.asarray(lengths, np.int64))
        return stop - start

    def _part(self, lengths):
        """The bounds of [start:stop] in sequences of these lengths."""
        start, stop = (slice_bound(bound, lengths) for bound in (self.start or 0, self.stop))
        return start, np.maximum(start, stop)

    def block(self, X: Sequences, Y: Sequences) -> np.ndarray:
        from ..loops.words import add_words, count_words

        if self.power != 1:
            return products(self.features(X), self.features(Y))
        compared = by_bits(self, X, Y)
        if compared is not None:
            return sums_of_pairs(self, compared, X, Y)
        size, out = X.alphabet.size, np.zeros((len(X), len(Y)))
        left, right = self.windows(X), self.windows(Y, self.reverse_complement)
        sides = [self.bounds(left, False), self.bounds(right, self.reverse_complement)]
        letters = (left[2] - left[1]).mean()
        fewer = len(X) < len(Y)  # the table is made of the words of the smaller side
        table = left if fewer else right
        bits = int(np.clip((table[2] - table[1]).sum(), 16, 2**20)).bit_length()
        channels, count = self.channels(size), np.zeros_like(out)
        weighted = zip(self._weighted_counts(X, False), self._weighted_counts(Y, self.reverse_complement), strict=True)
        for c, (places, span, weight) in enumerate(channels):
            n_words, sums = size ** len(places), next(weighted, None)
            x, y = (self.codes(w, places, span, size) if sums is None else None for w in (left, right))
            if sums is not None:
                count += products(*sums)
            elif n_words <= min(max(256, 2 * letters), 2**14):  # words occur so often that counting is faster
                F, G = (np.zeros((len(side[0]), n_words)) for side in sides)
                count_words(x, *sides[0], F)
                count_words(y, *sides[1], G)
                count += F @ G.T
            else:
                need = (n_words - 1).bit_length()
                if fewer:
                    turned = np.zeros((len(Y), len(X)))
                    add_words(y, *sides[1], x, *sides[0], min(bits, need), need <= bits, turned)
                    count += turned.T
                else:
                    add_words(x, *sides[0], y, *sides[1], min(bits, need), need <= bits, count)
            if (
                c + 1 == len(channels) or channels[c + 1][2] != weight
            ):  # integers first: the order of words has no effect
                out += weight * count
                count[:] = 0
        return out

    def own(self, X: Sequences) -> np.ndarray:
        from ..loops.words import own_words

        if self.power != 1:
            return self.features(X).power(2).sum(axis=1)
        compared = by_bits(self, X)
        if compared is not None:
            return own_sums(self, compared, X)
        both, out = self.reverse_complement, np.zeros(len(X))
        if self.window_weights(1) is not None:
            counts = zip(self._weighted_counts(X, both), self.channels(X.alphabet.size), strict=True)
            return sum((weight * (F * F).sum(axis=1) for F, (_, _, weight) in counts), out) / (1 + both)
        windows = self.windows(X, both)
        for places, span, weight in self.channels(X.alphabet.size):
            codes = self.codes(windows, places, span, X.alphabet.size)
            n_words, found = X.alphabet.size ** len(places), np.zeros(len(X))
            if n_words > 2**16:  # the words that occur are numbered
                words, codes = np.unique(codes, return_inverse=True)
                codes, n_words = codes - np.count_nonzero(words < 0), len(words)
            own_words(codes, *self.bounds(windows, both), np.zeros(n_words, np.int64), found)
            out += weight * found
        return out / (1 + both)

    def features(self, X: Any) -> Any:
        """The counts of words, with features(x)'features(y) = k(x, y): CSR (n, channels · A^k).

        Weighted windows count as often as they weigh.

        Word w (a number in base A) of channel c is column (number of words of the channels before c) + w. With
        `reverse_complement` a word and its reverse complement share the column of the smaller number, and of a channel
        and its mirror image only one has columns.
        """
        X, both = self.encode(X), self.reverse_complement
        size, windows = X.alphabet.size, self.windows(X, both)
        first, found, factors = 0, [], []
        for reading in self.readings(size):
            codes = self.codes(windows, reading.places, reading.span, size)
            codes, factor = (
                self._merged(codes, reading, windows, X.alphabet) if reading.step == 2 else (codes, codes >= 0)
            )
            if self.window_weights(1) is not None:
                factor = factor * self.weights_at(windows, reading.span, both)
            found.append(np.where(codes >= 0, codes + first, -1))
            factors.append(factor)
            first += size ** len(reading.places)
        F = rows_of(self.bounds(windows, both), np.stack(found, axis=1), np.stack(factors, axis=1), first)
        F.data **= self.power
        return F

    def _merged(self, codes, reading, windows, alphabet):
        """The smaller number of each word and its reverse complement, −1 on second strands; a factor of its counts.

        The factor is √2 for a word that is its own reverse complement, so that features(x)'features(y) = k(x, y) +
        k(x, rc y); powers of counts have no such sum, and the factor 1.
        """
        for begin, end in zip(windows[1][1::2], windows[2][1::2], strict=True):
            codes[begin:end] = -1
        other = backwards(codes, len(reading.places), alphabet)
        twice = np.sqrt(2.0) if self.power == 1 else 1.0
        return np.minimum(codes, other), np.where(codes == other, twice, 1.0)


def backwards(codes, k, alphabet):
    """The numbers of the reverse complements of words of k letters; −1 stays."""
    rest, out, opposite = codes, np.zeros_like(codes), alphabet.opposite().astype(np.int64)
    for _ in range(k):
        rest, letter = np.divmod(rest, alphabet.size)
        out = out * alphabet.size + opposite[letter]
    return np.where(codes < 0, -1, out)


def rows_of(bounds, words, factors, n_columns):
    """The CSR matrix (n, n_columns) of words (letters, per letter), −1 for none: Σ of the factors of equal words.

    bounds: the first and the last letter of each row.
    """
    import scipy.sparse as sp

    here = words >= 0
    before = np.append(0, np.cumsum(here.sum(axis=1)))
    ends = np.append(0, np.cumsum(before[bounds[1]] - before[bounds[0]]))
    F = sp.csr_array((factors[here].astype(float), words[here], ends), shape=(len(bounds[0]), n_columns))
    F.sum_duplicates()
    return F


def products(F, G):
    """F G' of two CSR matrices as an array; of many columns only those with an entry take time and memory."""
    import scipy.sparse as sp

    if F.shape[1] > F.nnz + G.nnz:
        words, at = np.unique(np.concatenate([F.indices, G.indices]), return_inverse=True)
        F, G = (
            sp.csr_array((H.data, own, H.indptr), shape=(H.shape[0], len(words)))
            for H, own in zip((F, G), np.split(at, [F.nnz]), strict=True)
        )
    return (G @ F.T).toarray().T if F.nnz < G.nnz else (F @ G.T).toarray()  # the smaller matrix is transposed


def window(kernel):
    """A ValueError if start or stop is neither an integer nor None, or if no letter is between them."""
    for name, value in (("start", kernel.start), ("stop", kernel.stop)):
        if value is not None:
            integer(kernel, name, low=-(2**62), value=value)
    if not range(2**62)[kernel.start : kernel.stop]:  # whatever the lengths
        raise ValueError(
            f"start={kernel.start} of {type(kernel).__name__} is not below stop={kernel.stop}, so that it sees no "
            "letter: give a larger stop, or stop=None for the end."
        )
