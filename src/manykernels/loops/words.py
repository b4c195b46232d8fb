"""Common words of two strings at any place, by a table of words: letters in, counts and products of counts out."""

import numpy as np
from numba import njit

from . import INNER, OPTIONS


@njit(**OPTIONS)
def word_codes(letters, begin, end, places, span, size, whole, codes):
    """codes[p] = the letters at p + places as a number of base `size`, for every window of `span` letters; else −1.

    Sequence i is letters[begin_i : end_i]; a letter from `size` on is unknown, and a window with one among its places
    (`whole`: anywhere) has no code.
    """
    codes[:] = -1
    for i in range(len(begin)):
        for p in range(begin[i], end[i] - span + 1):
            code = np.int64(0)
            for q in range(len(places)):
                letter = np.int64(letters[p + places[q]])
                if letter >= size:
                    code = -1
                    break
                code = code * size + letter
            if whole and code >= 0:
                for q in range(span):
                    if letters[p + q] >= size:
                        code = -1
                        break
            codes[p] = code


@njit(**OPTIONS)
def count_words(codes, begin, end, out):
    """out[i, code] += 1 for every word of sequence i."""
    for i in range(len(begin)):
        for p in range(begin[i], end[i]):
            if codes[p] >= 0:
                out[i, codes[p]] += 1


@njit(**INNER)
def _bucket(code, bits, direct):
    if direct:
        return code
    return np.int64((np.uint64(code) * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(64 - bits))


@njit(**OPTIONS)
def add_words(x, x_begin, x_end, y, y_begin, y_end, bits, direct, out):
    """out[i, j] += Σ_w (occurrences of w in i) (occurrences of w in j), for words x and y by their codes.

    The words of all j lie in 2^bits buckets; a word of i is compared with those of its bucket, so nothing is lost.
    `direct`: there are no more words than buckets, and each has its own.
    """
    first = np.zeros((1 << bits) + 1, np.int64)
    for j in range(len(y_begin)):
        for p in range(y_begin[j], y_end[j]):
            if y[p] >= 0:
                first[_bucket(y[p], bits, direct) + 1] += 1
    for b in range(1 << bits):
        first[b + 1] += first[b]
    fill, code = first[:-1].copy(), np.empty(first[-1], np.int64)
    owner, times = np.empty(first[-1], np.int32), np.empty(first[-1], np.int32)
    for j in range(len(y_begin)):
        for p in range(y_begin[j], y_end[j]):
            if y[p] >= 0:
                b = _bucket(y[p], bits, direct)
                e = fill[b] - 1
                while e >= first[b] and owner[e] == j and code[e] != y[p]:
                    e -= 1
                if e >= first[b] and owner[e] == j:
                    times[e] += 1
                else:
                    e = fill[b]
                    code[e], owner[e], times[e] = y[p], j, 1
                    fill[b] = e + 1
    for i in range(len(x_begin)):
        row = out[i]
        for p in range(x_begin[i], x_end[i]):
            if x[p] >= 0:
                b = _bucket(x[p], bits, direct)
                if direct:
                    for e in range(first[b], fill[b]):
                        row[owner[e]] += times[e]
                else:
                    for e in range(first[b], fill[b]):
                        if code[e] == x[p]:
                            row[owner[e]] += times[e]


@njit(**OPTIONS)
def own_words(codes, begin, end, count, out):
    """out[i] += Σ_w (occurrences of w in i)²; `count` has a 0 for every word."""
    for i in range(len(begin)):
        for p in range(begin[i], end[i]):
            if codes[p] >= 0:
                count[codes[p]] += 1
                out[i] += 2 * count[codes[p]] - 1
        for p in range(begin[i], end[i]):
            if codes[p] >= 0:
                count[codes[p]] = 0


@njit(**OPTIONS)
def neighbours(letters, codes, begin, end, span, size, where, change, powers, near):
    """near[p, v] = the code of the word at p with the letters at where[v] moved on by change[v], −1 without a word."""
    for i in range(len(begin)):
        for p in range(begin[i], end[i]):
            for v in range(where.shape[0]):
                code = codes[p]
                if code >= 0:
                    for q in range(where.shape[1]):
                        if where[v, q] >= 0:
                            old = np.int64(letters[p + where[v, q]])
                            code += ((old + change[v, q]) % size - old) * powers[where[v, q]]
                near[p, v] = code
