"""Position-dependent k-mers as explicit features: the loops of banks/words/degree.py.

Feature (l, k, w) is 1 if the word w of k letters starts at position l. The value of a word of up to `direct` letters is
in `table[l]`, at the number of the word. A longer word has a node if at least two examples share it; `ids` holds the
numbers of the nodes of each example, position by position, `depth[i, l]` of them at l. A word of one example only needs
no value.
"""

from collections import namedtuple

import numpy as np
from numba import njit

from . import INNER, OPTIONS
from .sequences import unpack

ROWS_PER_TILE = 2**16  # the values of one position then stay in the cache

# packed sequences of one length: a letter has `bits` of `data`, and is unknown from `size` on
AlignedText = namedtuple("AlignedText", "data starts bits length size")
WordValues = namedtuple("WordValues", "direct table nodes depth begin ids")


@njit(**OPTIONS)
def letters(data, starts, bits, position, out):
    """The code of each sequence at one position."""
    for i in range(len(starts)):
        out[i] = _letter(data, starts[i], bits, position)


@njit(**OPTIONS)
def prefixes(data, starts, bits, position, k, size, group):
    """The number of the word of k letters at that position, −1 if it has an unknown letter."""
    word = np.empty(len(starts), np.uint8)
    for i in range(len(starts)):
        group[i] = 0
    for j in range(k):
        letters(data, starts, bits, position + j, word)
        for i in range(len(starts)):
            group[i] = group[i] * size + word[i] if group[i] >= 0 and word[i] < size else -1


@njit(**OPTIONS)
def refine(group, letter, size, count, number):
    """Refines groups of equal words by one letter, −1 if an example is alone; returns the number of groups.

    `count` zeros and `number` −1, of length groups · size, are scratch.
    """
    for i in range(len(group)):
        g = group[i]
        if g >= 0:
            g = g * size + letter[i] if letter[i] < size else -1
            group[i] = g
            if g >= 0:
                count[g] += 1
    groups = 0
    for i in range(len(group)):
        g = group[i]
        if g >= 0:
            if count[g] < 2:
                group[i] = -1
            else:
                if number[g] < 0:
                    number[g] = groups
                    groups += 1
                group[i] = number[g]
    return groups


@njit(**OPTIONS)
def deepen(group, first, depth):
    """Counts one more node for each example in a group; returns their numbers, from `first` on."""
    n = 0
    for i in range(len(group)):
        n += group[i] >= 0
    numbers, at = np.empty(n, np.uint32), 0
    for i in range(len(group)):
        if group[i] >= 0:
            depth[i] += 1
            numbers[at] = first + group[i]
            at += 1
    return numbers


@njit(**OPTIONS)
def place(numbers, first, level, depth, fill, ids):
    """Appends the nodes of one level, numbered from `first`, to the list of each example."""
    at = 0
    for i in range(len(depth)):
        if depth[i] > level:
            ids[fill[i] + level] = first + numbers[at]
            at += 1


@njit(**OPTIONS)
def sizes(text, direct, coef, kern, depth, norms, alone):
    """‖φ_m(x_i)‖², and the part of it from words that no other example has; both (n, M)."""
    data, starts, bits, length, size = text
    code, d = np.empty(length, np.uint8), coef.shape[1]
    whole, own = np.empty(norms.shape[1]), np.empty(norms.shape[1])
    for i in range(len(starts)):
        whole[:], own[:] = 0.0, 0.0
        unpack(data, starts[i], length, bits, code)
        for at in range(length):
            for k in range(min(d, length - at)):
                if code[at + k] >= size:
                    break
                whole[kern[at, k]] += coef[at, k]
                if k >= direct + depth[i, at]:
                    own[kern[at, k]] += coef[at, k]
        norms[i], alone[i] = whole, own


@njit(**INNER)
def _letter(data, start, bits, position):
    bit = position * bits
    return (data[start + (bit >> 3)] >> (bit & 7)) & ((1 << bits) - 1)


@njit(**OPTIONS)
def tile(data, starts, bits, low, high, rows, codes):
    """codes[:, r] = the letters of row r at positions low ≤ l < high."""
    for r in range(len(rows)):
        start = starts[rows[r]]
        for at in range(low, high):
            codes[at - low, r] = _letter(data, start, bits, at)


@njit(**INNER)
def _cursors(depth, begin, rows, low):
    """Where the nodes of each row at position `low` begin."""
    cursor = begin[rows]
    for r in range(len(rows)):
        before, deep = 0, depth[rows[r]]
        for at in range(low):
            before += deep[at]
        cursor[r] += before
    return cursor


@njit(**OPTIONS)
def look_up(text, rows, values, weight, low, high, out):
    """Σ weight[l, k] · value of the word of k + 1 letters at low ≤ l < high, per row; skips words of one example."""
    (data, starts, bits, length, size), (direct, table, nodes, depth, begin, ids) = text, values
    end = min(length, high + direct)
    codes = np.empty((end - low, min(len(rows), ROWS_PER_TILE)), np.uint8)
    for first in range(0, len(rows), ROWS_PER_TILE):
        part = rows[first : first + ROWS_PER_TILE]
        tile(data, starts, bits, low, end, part, codes)
        cursor, total = _cursors(depth, begin, part, low), out[first : first + ROWS_PER_TILE]
        total[:] = 0.0
        for at in range(low, high):
            for r in range(len(part)):
                value, word, offset, count = 0.0, 0, 0, size
                for k in range(min(direct, length - at)):
                    c = codes[at - low + k, r]
                    if c >= size:
                        break
                    word = word * size + c
                    value += weight[at, k] * table[at, offset + word]
                    offset += count
                    count *= size
                for k in range(direct, direct + depth[part[r], at]):
                    value += weight[at, k] * nodes[ids[cursor[r]]]
                    cursor[r] += 1
                total[r] += value


@njit(**OPTIONS)
def look_up_each(text, rows, values, coef, kern, out):
    """The same for each kernel, (|rows|, M); `out` must be zero."""
    (data, starts, bits, length, size), (direct, table, nodes, depth, begin, ids) = text, values
    code = np.empty(length, np.uint8)
    for r in range(len(rows)):
        i = rows[r]
        unpack(data, starts[i], length, bits, code)
        p = begin[i]
        for at in range(length):
            word, offset, count = 0, 0, size
            for k in range(min(direct, length - at)):
                c = code[at + k]
                if c >= size:
                    break
                word = word * size + c
                out[r, kern[at, k]] += coef[at, k] * table[at, offset + word]
                offset += count
                count *= size
            for k in range(direct, direct + depth[i, at]):
                out[r, kern[at, k]] += coef[at, k] * nodes[ids[p]]
                p += 1


@njit(**OPTIONS)
def add(text, rows, delta, values, coef, kern, low, high, q):
    """Adds delta_r φ(x_r) to the values at positions low ≤ l < high, and updates q_m = Σ coef value²."""
    (data, starts, bits, length, size), (direct, table, nodes, depth, begin, ids) = text, values
    end = min(length, high + direct)
    codes = np.empty((end - low, min(len(rows), ROWS_PER_TILE)), np.uint8)
    for first in range(0, len(rows), ROWS_PER_TILE):
        part = rows[first : first + ROWS_PER_TILE]
        tile(data, starts, bits, low, end, part, codes)
        cursor = _cursors(depth, begin, part, low)
        for at in range(low, high):
            for r in range(len(part)):
                step, word, offset, count = delta[first + r], 0, 0, size
                for k in range(min(direct, length - at)):
                    c = codes[at - low + k, r]
                    if c >= size:
                        break
                    word = word * size + c
                    value = table[at, offset + word]
                    q[kern[at, k]] += coef[at, k] * step * (2.0 * value + step)
                    table[at, offset + word] = value + step
                    offset += count
                    count *= size
                for k in range(direct, direct + depth[part[r], at]):
                    value = nodes[ids[cursor[r]]]
                    q[kern[at, k]] += coef[at, k] * step * (2.0 * value + step)
                    nodes[ids[cursor[r]]] = value + step
                    cursor[r] += 1


@njit(**INNER)
def _begin(text, direct, rows, at, word, bad):
    """The words of up to `direct` letters at a position, and the last place up to their end with an unknown letter."""
    data, starts, bits, length, size = text
    for r in range(len(rows)):
        word[r], bad[r] = 0, -1
        for k in range(min(direct, length - at)):
            c = _letter(data, starts[rows[r]], bits, at + k)
            if c >= size:
                bad[r], c = at + k, 0
            word[r] = word[r] * size + c


@njit(**INNER)
def _next(data, start, bits, length, size, direct, at, word, bad, high):
    """(word, bad) of one row at `at` + 1, from those at `at`; high = size^(letters at `at` − 1)."""
    c = _letter(data, start, bits, at)
    word -= high * (0 if c >= size else c)
    if at + direct < length:
        c = _letter(data, start, bits, at + direct)
        if c >= size:
            bad, c = at + direct, 0
        word = word * size + c
    return word, bad


@njit(**OPTIONS)
def sum_all(text, rows, a, first, values, coef, kern, low, high, q):
    """`add` to values that are zero, in float64: words of `direct` letters are summed, shorter ones from their sums.

    The nodes of position l are first[l] … first[l + 1] − 1.
    """
    (data, starts, bits, length, size), (direct, table, nodes, depth, begin, ids) = text, values
    cursor, word, bad = _cursors(depth, begin, rows, low), np.empty(len(rows), np.int64), np.empty(len(rows), np.int64)
    sums = np.empty(table.shape[1])
    _begin(text, direct, rows, low, word, bad)
    for at in range(low, high):
        letters = min(direct, length - at)
        long = np.zeros(first[at + 1] - first[at])
        offset, count = 0, size
        for _ in range(letters - 1):
            offset += count
            count *= size
        sums[: offset + count] = 0.0
        for r in range(len(rows)):
            i = rows[r]
            if bad[r] < at:
                sums[offset + word[r]] += a[r]
            for k in range(direct, direct + depth[i, at]):
                node = ids[cursor[r]] - first[at]
                q[kern[at, k]] += coef[at, k] * a[r] * (2.0 * long[node] + a[r])
                long[node] += a[r]
                cursor[r] += 1
        nodes[first[at] : first[at + 1]] = long
        top = count // size
        for _ in range(letters - 1):
            below, count = offset, count // size
            offset -= count
            for w in range(count):
                for c in range(size):
                    sums[offset + w] += sums[below + w * size + c]
        for r in range(len(rows)):
            if bad[r] >= at:
                w, offset, width = 0, 0, size
                for k in range(letters):
                    c = _letter(data, starts[rows[r]], bits, at + k)
                    if c >= size:
                        break
                    w = w * size + c
                    sums[offset + w] += a[r]
                    offset += width
                    width *= size
            word[r], bad[r] = _next(data, starts[rows[r]], bits, length, size, direct, at, word[r], bad[r], top)
        offset, count = 0, size
        for k in range(letters):
            for w in range(offset, offset + count):
                q[kern[at, k]] += coef[at, k] * sums[w] * sums[w]
                table[at, w] = sums[w]
            offset += count
            count *= size
