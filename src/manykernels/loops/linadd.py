"""Words of strings as explicit features: clear, add and look-up of linadd, the loops of banks/words/linadd.py.

A channel is one way to read a word from a string, and locates the values of its words: `kind` MAP, at first + word;
SORTED, where binary search finds the word in words[low:high]; HASH, at a random one of 2^(64 − shift) places, with a
random sign. Words with an unknown letter have the code −1 and no place.

Where both strands count, a string has two rows of letters: first the strand that comes first in the alphabet, so that
either strand gives the same bits, then the other. A channel reads both rows (`step` 1), or only the first (`step` 2).
In the second case a word and its reverse complement are one word, and a word that is its own reverse complement has
the sign √2.
"""

from collections import namedtuple

import numpy as np
from numba import njit

from . import INNER, OPTIONS
from .sequences import unpack

MAP, SORTED = range(2)  # HASH is the third
ONE = np.int64(1)  # a plain 1 would be a type of its own, for which loops are compiled again
MAX_CODES = 2**17  # held at a time, so that they fit in the cache with the values of a channel

PackedText = namedtuple("PackedText", "data starts lengths bits")
# the words of [start:stop] that a kernel counts: `channels` (C,) with the `places` and `moves` (C, k) of their letters;
# `opposite` has the complement of each letter, or nothing if one strand counts
# and `power` is that of the counts of words
WordReader = namedtuple("WordReader", "size start stop whole opposite channels places moves words power")
# of some rows: their letters, how many, whether all are known, and the codes of the beginnings of their words
Spelled = namedtuple("Spelled", "letters counts all_known codes")


@njit(**OPTIONS)
def clip(bound, length):
    """The position of a bound of a slice."""
    place = bound + length if bound < 0 else bound
    return 0 if place < 0 else length if place > length else place


@njit(**INNER)
def n_strands(reader):
    """The number of rows of letters of a string."""
    return 2 if len(reader.opposite) > 0 else 1


@njit(**INNER)
def buffers(lengths, rows, reader, most):
    """Memory to spell up to `most` strings at a time, at least one, as fits in the cache."""
    longest, k, strands = 1, reader.places.shape[1], n_strands(reader)
    for r in range(len(rows)):
        longest = lengths[rows[r]] if lengths[rows[r]] > longest else longest
    fitting = MAX_CODES // (k * longest * strands)
    fitting = fitting if fitting < most else most
    most = strands * (fitting if fitting > ONE else ONE)
    letters, codes = np.empty((most, longest), np.uint8), np.empty((most, k, longest), np.int64)
    return Spelled(letters, np.empty(most, np.int64), np.empty(most, np.bool_), codes)


@njit(**OPTIONS)
def read(text, rows, reader, spelled):
    """letters[r, :counts_r] = the part [start:stop] of sequence rows_r; all_known_r if all letters are known.

    Where both strands count, rows 2r and 2r + 1 are those of sequence rows_r.
    """
    (data, starts, lengths, bits), (letters, counts, all_known, _) = text, spelled
    size, start, stop, strands = reader.size, reader.start, reader.stop, n_strands(reader)
    for i in range(len(rows)):
        length, r = lengths[rows[i]], strands * i
        begin, end = clip(start, length), clip(stop, length)
        counts[r] = end - begin if end > begin else 0
        unpack(data, starts[rows[i]], length, bits, letters[r])
        complete = True
        if bits > 2 or size < 4:
            for p in range(length):
                complete &= letters[r, p] < size
        all_known[r] = complete
        if begin > 0:
            for p in range(counts[r]):
                letters[r, p] = letters[r, begin + p]
        if strands == 2:
            counts[r + 1], all_known[r + 1] = counts[r], all_known[r]
            turn(letters[r, : counts[r]], letters[r + 1, : counts[r]], reader.opposite)


@njit(**OPTIONS)
def turn(one, other, opposite):
    """other = the reverse complement of `one`; swapped if it comes first in the alphabet."""
    n, first = len(one), 0
    for p in range(n):
        other[p] = opposite[one[n - 1 - p]]
    while first < n and one[first] == other[first]:
        first += 1
    if first < n and other[first] < one[first]:
        for p in range(n):
            one[p], other[p] = other[p], one[p]


@njit(**INNER)
def spell(rows, reader, c, spelled):
    """codes[r, j, p] = the first j letters of the word at window p of each row as a number, all j but the last.

    A word has the letters at `places`, each moved on by `moves`; the first `prefix` are as in the channel before.
    """
    (letters, counts, all_known, codes), size, whole = spelled, reader.size, reader.whole
    channel, places, moves = reader.channels[c], reader.places[c], reader.moves[c]
    prefix = channel.prefix if c > 0 else 0
    for r in range(0, rows, channel.step):
        n = counts[r] - channel.span + 1
        if prefix == 0:
            for p in range(n):
                codes[r, 0, p] = 0
            if whole and not all_known[r]:
                for p in range(n):
                    for j in range(channel.span):
                        if letters[r, p + j] >= size:
                            codes[r, 0, p] = -1
        for j in range(prefix, channel.depth - 1):
            at, move = places[j], moves[j]
            if all_known[r] and move == 0:
                for p in range(n):
                    codes[r, j + 1, p] = codes[r, j, p] * size + letters[r, p + at]
            else:
                for p in range(n):
                    codes[r, j + 1, p] = longer(codes[r, j, p], letters[r, p + at], move, size)


@njit(**INNER)
def longer(code, letter, move, size):
    """The word with one more letter, −1 if the letter is unknown."""
    if code < 0 or letter >= size:
        return np.int64(-1)
    letter = np.int64(letter) + move
    return code * size + (letter - size if letter >= size else letter)


@njit(**INNER)
def seek(code, channel, words):
    """(place, sign) of a word, sign 0 if it has no place."""
    if code < 0:
        return np.int64(0), 0.0
    if channel.kind == MAP:
        return channel.first + code, 1.0
    if channel.kind == SORTED:
        low, high = channel.low, channel.high
        while low < high:
            middle = (low + high) >> 1
            if words[middle] < code:
                low = middle + 1
            else:
                high = middle
        if low < channel.high and words[low] == code:
            return channel.first + low - channel.low, 1.0
        return np.int64(0), 0.0
    z = np.uint64(code) + channel.salt  # the finaliser of splitmix64 (Steele, Lea and Flood 2014)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    z = z ^ (z >> np.uint64(31))
    return channel.first + np.int64(z >> channel.shift), 1.0 - 2.0 * np.float64(z & np.uint64(1))


@njit(**INNER)
def find(r, n, reader, c, spelled, place, sign):
    """Place and sign of the n words of row r, whose first letters have been spelled.

    With a power of counts other than 1, the signs of all occurrences of a word sum to this power of their number.
    """
    letters, codes, size, words = spelled.letters, spelled.codes, reader.size, reader.words
    channel, places, moves = reader.channels[c], reader.places[c], reader.moves[c]
    last = channel.depth - 1
    every = reader.power == 1.0
    if spelled.all_known[r] and channel.kind == MAP and last >= 0 and moves[last] == 0 and channel.step == 1 and every:
        at, first = places[last], channel.first
        for p in range(n):
            place[p], sign[p] = first + codes[r, last, p] * size + letters[r, p + at], 1.0
        return
    for p in range(n):
        code = (
            codes[r, 0, p] if last < 0 else longer(codes[r, last, p], letters[r, p + places[last]], moves[last], size)
        )
        place[p], sign[p] = code, 1.0
        if channel.step == 1 or code < 0:
            continue
        other = np.int64(0)
        for j in range(last, -1, -1):
            letter = letters[r, p + places[j]] + moves[j]
            other = other * size + reader.opposite[letter - size if letter >= size else letter]
        if code == other and every:
            sign[p] = np.sqrt(2.0)
        place[p] = code if code < other else other
    if not every:
        damp(place, sign, n, reader.power)
    for p in range(n):
        place[p], own = seek(place[p], channel, words)
        sign[p] *= own


@njit(**INNER)
def damp(code, sign, n, power):
    """sign_p *= (occurrences of code_p among the n codes)^(power − 1); codes below 0 are none."""
    size = 16
    while size < 2 * n:
        size *= 2
    key, times, at = np.full(size, -1), np.zeros(size), np.empty(n, np.int64)
    for p in range(n):
        if code[p] >= 0:
            slot = (code[p] ^ (code[p] >> 16)) & (size - 1)
            while key[slot] >= 0 and key[slot] != code[p]:
                slot = (slot + 1) & (size - 1)
            key[slot], at[p] = code[p], slot
            times[slot] += 1.0
    for p in range(n):
        if code[p] >= 0:
            often = times[at[p]]
            sign[p] *= 1.0 if often == 1.0 else often ** (power - 1.0)


@njit(**OPTIONS)
def visit(text, rows, reader, values, delta, out):
    """Words at any place. With delta (|rows|,): adds delta_r to the values of the words of each row, and the growth of
    weight_c ‖values of c‖² to out_c. With delta empty, look-up: out_r += Σ_c weight_c Σ values of the words of row r.

    Channels outside, rows inside, so that the values of a channel stay in cache.
    """
    size, channels, places, moves = reader.size, reader.channels, reader.places, reader.moves
    spelled, strands = buffers(text.lengths, rows, reader, len(rows)), n_strands(reader)
    letters, counts, all_known, codes = spelled
    place, sign, most = np.empty(letters.shape[1], np.int64), np.empty(letters.shape[1]), len(letters) // strands
    for low in range(0, len(rows), most):
        some = rows[low : low + most]
        read(text, some, reader, spelled)
        for c in range(len(channels)):
            channel = channels[c]
            spell(strands * len(some), reader, c, spelled)
            last, weight, first = channel.depth - 1, channel.weight, channel.first
            plain = channel.kind == MAP and last >= 0 and moves[c, last] == 0 and channel.step == 1
            plain &= reader.power == 1.0
            at = places[c, last]
            for r in range(0, strands * len(some), channel.step):
                i = low + r // strands
                n = counts[r] - channel.span + 1 if counts[r] >= channel.span else 0
                if plain and all_known[r]:
                    total = 0.0
                    if len(delta) > 0:
                        step = delta[i]
                        for p in range(n):
                            where = np.uint64(first + codes[r, last, p] * size + letters[r, p + at])
                            value = values[where]
                            total += value
                            values[where] = value + step
                        out[c] += weight * step * (2.0 * total + n * step)
                    else:
                        for p in range(n):
                            total += values[np.uint64(first + codes[r, last, p] * size + letters[r, p + at])]
                        out[i] += weight * total
                    continue
                find(r, n, reader, c, spelled, place, sign)
                if len(delta) > 0:
                    out[c] += weight * add_at(place, sign, n, delta[i], values)
                else:
                    for p in range(n):
                        out[i] += weight * sign[p] * values[place[p]]


@njit(**INNER)
def add_at(place, sign, n, step, values):
    """values[place] += sign · step for n words; returns the growth of Σ values²."""
    growth = 0.0
    for p in range(n):
        if sign[p] != 0.0:
            move, value = sign[p] * step, values[place[p]]
            growth += move * (2.0 * value + move)
            values[place[p]] = value + move
    return growth


@njit(**OPTIONS)
def places_of(text, rows, reader, begin, place, sign):
    """Place and sign of every word of each row, from begin_r on; the words of channel c before those of c + 1."""
    channels, spelled, strands = reader.channels, buffers(text.lengths, rows, reader, ONE), n_strands(reader)
    for r in range(len(rows)):
        read(text, rows[r : r + 1], reader, spelled)
        at = begin[r]
        for c in range(len(channels)):
            spell(strands, reader, c, spelled)
            n = spelled.counts[0] - channels[c].span + 1 if spelled.counts[0] >= channels[c].span else 0
            for s in range(0, strands, channels[c].step):
                find(s, n, reader, c, spelled, place[at:], sign[at:])
                at += n
