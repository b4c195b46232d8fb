"""Kernels Σ_{windows u of x, v of y} c(mismatches of u and v) of pairs of sequences, by bits: see loops/word_pairs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from ..sequences.packed import Sequences
    from ._words import WordKernel

MAX_WINDOW = 15  # letters of a window whose mismatches have four bits
FEW_WINDOWS = 4  # of a sequence that are compared letter by letter with each other
WORDS_PER_PAIR = 2  # words that are counted in the time in which one pair of windows is compared


def by_bits(kernel: WordKernel, *sets: Sequences) -> tuple[int, np.ndarray] | None:
    """(l, c(0) … c(d)) if `sums_of_pairs` can compute the kernel on these sequences, else None."""
    found = kernel.mismatches(sets[0].alphabet.size)
    if found is None or found[0] > MAX_WINDOW:
        return None
    if not kernel.whole and any(X.bits > 2 and (X.letters() >= X.alphabet.size).any() for X in sets):
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
        first = np.concatenate([[0], np.cumsum(numbers)])
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
    pair_sums((x, x_first, weights[0]), (y, y_first[:: 1 + both].copy(), weights[1]), l, width, c, Y is None, out)
    return out


def _entry_weights(kernel, windows, l, first, lead, step, width, both):  # noqa: E741 (the paper's name)
    """ω of the windows at the first `width` places of every entry, (entries, width), 0 if there is none."""
    at = np.append(kernel.weights_at(windows, l, both), 0.0)
    sequence = np.repeat(np.arange(len(first) - 1), np.diff(first))
    place = (np.arange(first[-1]) - first[sequence]) * step - lead
    place = place[:, None] + np.arange(width)
    inside = (place >= 0) & (place < (windows[2] - windows[1])[sequence, None])
    return at[np.where(inside, windows[1][sequence, None] + place, -1)]
