"""Look-up of the words of new sequences in the support, position by position: banks/words/degree_predictor.py.

At a position the support is sorted by the words that begin there. One table holds the sums of all words of up to
`direct` letters. For each word of `direct` letters its examples are sorted by their next letters, with running sums of
a, so that binary search finds the examples that share k letters with a new word. `shape` is (direct, held, size, bits),
`support` (table, first, order, tails, sums) of one position, `words` (word, tail, stop) of new sequences there; plain
tuples are faster than named ones in short calls. Helpers of `add_matches` take no arrays: counting references would
cost more than the walk.

`word_keys` and `word_squares` sort the words of sequences at one position, and square how often each occurs. numba's
cache checks only this file: touch it when `degree._letter` changes.
"""

import numpy as np
from numba import njit

from . import OPTIONS
from .degree import _letter
from .strings import _leading

MAX_SCANNED_PLACES = 6  # up to which a linear scan replaces binary search


@njit(**OPTIONS)
def begin(codes, at, direct, held, size, bits, word, tail, stop):
    """Words of new sequences at a position, from codes (L, n): `direct` letters as a number, the next `held` packed.

    stop[j] is the position of the next unknown letter, L where there is none.
    """
    L, n = codes.shape
    for j in range(n):
        word[j], tail[j], stop[j] = 0, 0, at
    for k in range(at, min(at + direct, L)):
        for j in range(n):
            word[j] = word[j] * size + (codes[k, j] if codes[k, j] < size else 0)
    for k in range(at + direct, at + direct + held):
        for j in range(n):
            tail[j] = (tail[j] << np.uint64(bits)) | np.uint64(codes[k, j] if k < L and codes[k, j] < size else 0)
    for j in range(n):
        while stop[j] < L and codes[stop[j], j] < size:
            stop[j] += 1


@njit(**OPTIONS)
def move(codes, at, direct, held, size, bits, word, tail, stop):
    """Moves the words from `at` to `at` + 1; near the end they have fewer than `direct` letters."""
    L, n = codes.shape
    step, mask = np.uint64(bits), ~np.uint64(0) >> np.uint64(64 - max(held, 1) * bits)
    high = size ** (min(direct, L - at) - 1)
    for j in range(n):
        word[j] -= high * (codes[at, j] if codes[at, j] < size else 0)
    if at + direct < L:
        for j in range(n):
            c = codes[at + direct, j]
            word[j] = word[j] * size + (c if c < size else 0)
    after = at + direct + held
    if held > 0:
        for j in range(n):
            c = codes[after, j] if after < L else size
            tail[j] = ((tail[j] << step) & mask) | np.uint64(c if c < size else 0)
    for j in range(n):
        if stop[j] == at:
            stop[j] += 1
            while stop[j] < L and codes[stop[j], j] < size:
                stop[j] += 1


@njit(**OPTIONS)
def gather(codes, at, shape, a, support):
    """One position of the support, codes (n, L): Σ a of every word of up to `direct` letters, and its examples.

    table (words,) must be zero. The examples with word w have the places first[w] … first[w + 1] − 1, sorted by their
    next `held` letters, `tails`, the first in the highest bits; `sums` are running sums of a within a word, `order` the
    numbers of the examples, unless it is empty. Returns the number of places.
    """
    (direct, held, size, bits), (table, first, order, tails, sums), (n, L) = shape, support, codes.shape
    words, number = np.empty(n, np.int64), np.empty(n, np.int64)
    first[:] = 0
    offset, count = 0, size
    for _ in range(direct - 1):
        offset += count
        count *= size
    last, top = offset, count
    for i in range(n):
        word, offset, count, whole = 0, 0, size, True
        for k in range(direct):
            c = codes[i, at + k]
            if c >= size:
                whole = False
                break
            word = word * size + c
            if k + 1 < direct:
                offset += count
                count *= size
        words[i] = -1
        if whole:
            table[last + word] += a[i]
            if at + direct < L and held > 0:
                words[i] = word
                first[word + 1] += 1
        elif k > 0:  # the longest word before the unknown letter
            table[offset - count // size + word] += a[i]
    offset, count = last, top
    for _ in range(direct - 1):  # shorter words from longer ones
        below, count = offset, count // size
        offset -= count
        for w in range(count):
            for c in range(size):
                table[offset + w] += table[below + w * size + c]
    for w in range(top):
        first[w + 1] += first[w]
    total = np.int64(first[top])
    for i in range(n - 1, -1, -1):
        if words[i] >= 0:
            first[words[i] + 1] -= 1
            place, key = first[words[i] + 1], np.uint64(0)
            for k in range(at + direct, at + direct + held):
                key = (key << np.uint64(bits)) | np.uint64(codes[i, k] if k < L else 0)
            number[place], tails[place] = i, key
    for w in range(top):  # they ended at their own beginning
        first[w] = first[w + 1]
    first[top] = total
    for w in range(top):
        low, high = np.int64(first[w]), np.int64(first[w + 1])
        if high - low > 32:
            by = np.argsort(tails[low:high])
            number[low:high] = number[low:high][by]
            tails[low:high] = tails[low:high][by]
        else:
            for p in range(low + 1, high):
                key, i, q = tails[p], number[p], p
                while q > low and tails[q - 1] > key:
                    tails[q], number[q] = tails[q - 1], number[q - 1]
                    q -= 1
                tails[q], number[q] = key, i
        run = 0.0
        for p in range(low, high):
            run += a[number[p]]
            sums[p] = run
            if len(order) > 0:
                order[p] = number[p]
    return total


@njit(**OPTIONS)
def fold(direct, size, coef, table):
    """Turns Σ a of each word into the sum over the word and all its prefixes."""
    for w in range(size):
        table[w] *= coef[0]
    above, offset, count = 0, size, size * size
    for k in range(1, direct):
        for w in range(count):
            table[offset + w] = table[above + w // size] + coef[k] * table[offset + w]
        above, offset, count = offset, offset + count, count * size


@njit(**OPTIONS)
def add_matches(codes, a, new, at, shape, support, words, coef, kern, out):
    """Adds Σ_k coef[k] Σ_i a_i [the words of k + 1 letters at that position agree] to out[:, kern[k]].

    `words` of the new sequences (L, n) are those of `begin`. Where out has one column the table is that of `fold`.
    """
    (direct, held, size, bits), (table, first, order, tails, sums), (word, tail, stop) = shape, support, words
    (L, n), folded = new.shape, out.shape[1] == 1
    d, last, width = min(len(coef), L - at), 0, size
    for _ in range(direct - 1):
        last += width
        width *= size
    runs = np.zeros(held + 1)  # of coef behind the first `direct` letters
    for k in range(min(held, d - direct)):
        runs[k + 1] = runs[k] + coef[direct + k]
    equal = np.empty(65, np.int64)  # letters, by the zeros above the first bit that differs
    for zeros in range(65):
        equal[zeros] = min(max(zeros - (64 - held * bits), 0) // bits, held)
    for j in range(n):
        letters = min(stop[j] - at, d)
        if letters < direct or not folded:
            short, offset, count = word[j], last, width
            for k in range(direct - 1, -1, -1):
                if k < letters:
                    if folded:
                        out[j, 0] += table[offset + short]
                        break
                    out[j, kern[k]] += coef[k] * table[offset + short]
                count //= size
                offset -= count
                short //= size
            if letters < direct:
                continue
        else:
            out[j, 0] += table[last + word[j]]
        if letters <= direct or held == 0:
            continue
        low, high = np.int64(first[word[j]]), np.int64(first[word[j] + 1])
        if low == high:
            continue
        before, key, most, k = low, tail[j], letters - direct, 0
        while high - low > MAX_SCANNED_PLACES and k < min(most, held):
            shift = np.uint64(bits * (held - 1 - k))
            own = key >> shift
            if tails[low] >> shift != own:  # to the first of those that share one letter more
                end = high
                while low < end:
                    middle = (low + end) >> 1
                    if tails[middle] >> shift < own:
                        low = middle + 1
                    else:
                        end = middle
                if low == high or tails[low] >> shift != own:
                    low = high
                    break
            if tails[high - 1] >> shift != own:
                start = low
                while start < high:
                    middle = (start + high) >> 1
                    if tails[middle] >> shift > own:
                        high = middle
                    else:
                        start = middle + 1
            both = sums[high - 1] - (sums[low - 1] if low > before else 0.0)
            out[j, kern[direct + k]] += coef[direct + k] * both
            k += 1
        for place in range(low, high):
            same = min(equal[_leading(key ^ tails[place])], most)
            if same == k < held:
                continue
            own_a = sums[place] - (sums[place - 1] if place > before else 0.0)
            if folded:
                out[j, 0] += own_a * (runs[same] - runs[k])
            else:
                for e in range(k, same):
                    out[j, kern[direct + e]] += coef[direct + e] * own_a
            if same == held and len(order) > 0:
                i = order[place]
                for e in range(direct + held, letters):  # what one number does not hold
                    if codes[i, at + e] != new[at + e, j]:
                        break
                    out[j, kern[e]] += coef[e] * a[i]


@njit(**OPTIONS)
def word_keys(data, starts, packed, length, low, d, bits, out):
    """out[l, i] = the d letters of sequence i from position low + l on, the first in the highest bits.

    Sequences are packed, `packed` bits a letter; a word ends at their `length`.
    """
    count, n = out.shape
    top, high = np.uint64(bits * (d - 1)), min(length, low + count + d - 1)
    for i in range(n):
        key = np.uint64(0)
        for at in range(high - 1, low - 1, -1):
            key = (key >> np.uint64(bits)) | (np.uint64(_letter(data, starts[i], packed, at)) << top)
            if at - low < count:
                out[at - low, i] = key


@njit(**OPTIONS)
def word_squares(keys, w, d, most, bits, unknown, squares):
    """squares[k − 1] = Σ over words of k letters of (Σ_i w_i [x_i has it])², from sorted keys, for k <= most.

    A word with the letter `unknown` equals no other word. w is empty if all weights are 1. A word longer than the
    prefix that an example shares with its neighbours is unique. Shorter equal words form runs: begun[k] is the total
    weight before the run of words of k + 1 letters.
    """
    n, mask = len(keys), np.uint64((1 << bits) - 1)
    total, begun, own = 0.0, np.empty(most), np.zeros(most + 1)
    shared, before, weight = 0, 0, 0.0
    squares[:] = 0.0
    for i in range(n + 1):
        common, letters = 0, 0
        if i < n:
            while letters < most and (keys[i] >> np.uint64(bits * (d - 1 - letters))) & mask != np.uint64(unknown):
                letters += 1
            if i > 0:
                zeros = np.int64(_leading(keys[i] ^ keys[i - 1])) - (64 - bits * d)
                common = min(zeros // bits, letters)
        if i > 0:
            deepest = max(shared, common)
            own[deepest] += weight * weight
            own[before] -= weight * weight
            for k in range(common, shared):
                squares[k] += (total - begun[k]) ** 2
            for k in range(shared, common):
                begun[k] = total - weight
            shared = common
        if i < n:
            before, weight = letters, w[i] if len(w) > 0 else 1.0
            total += weight
    run = 0.0
    for k in range(most):
        run += own[k]
        squares[k] += run
