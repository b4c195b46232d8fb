"""Pairs of windows of two sequences by their number of mismatches, 64 pairs at a time.

A sequence is a row of entries. Entry e of plane b holds bit b of the codes at the 64 places from q(e) on, and the last
plane marks the places at which a whole window of l <= 15 letters begins. An entry of x and one of y compare their
windows at 0, 1, … `width` − 1: the OR of the differences of the planes marks the mismatches, and their sums over l
neighbours are added up for all 64 places at once, the bits of a sum in four words (sums of 1, 2, 4 and 8 neighbours,
of which those are added that make up l).
"""

import numpy as np
from numba import njit

from . import INNER, OPTIONS
from .strings import _ones

_ONE, _NONE, _ALL = np.uint64(1), np.uint64(0), np.uint64(2**64 - 1)
_TWO, _FOUR = np.uint64(2), np.uint64(4)


@njit(**OPTIONS)
def entries_of(letters, begin, end, l, size, lead, step, first, out):  # noqa: E741 (the paper's name)
    """out (p + 1, first[n]): the entries first[i], first[i] + 1, … of sequence i begin at −lead, step − lead, …"""
    p = out.shape[0] - 1
    words = np.empty(p + 1, np.uint64)
    for i in range(len(begin)):
        n, run = end[i] - begin[i], 0  # known letters from place `at` on
        for b in range(p + 1):
            words[b] = _NONE
        for at in range(n - 1 + l, -lead - 1, -1):
            run = run + 1 if 0 <= at < n and letters[begin[i] + at] < size else 0
            for b in range(p):
                bit = np.uint64((letters[begin[i] + at] >> b) & 1) if run > 0 else _NONE
                words[b] = (words[b] << _ONE) | bit
            words[p] = (words[p] << _ONE) | np.uint64(run >= l)
            if (at + lead) % step == 0:
                e = first[i] + (at + lead) // step
                if e < first[i + 1]:
                    for b in range(p + 1):  # as one assignment it brings the text of an error, 40 functions
                        out[b, e] = words[b]


@njit(**OPTIONS)
def pair_sums(x, y, l, width, c, own, table, out):  # noqa: E741 (the paper's name)
    """out[i, j] = Σ_h c_h #{windows u of x_i, v of y_j with h mismatches}; with `own` only j = i, in out[i, 0].

    x and y: (entries, first entry of each sequence, weights). If there are weights, a pair counts ω_u ω_v times: those
    of x, (entries, 64), belong to the windows that begin at the places of an entry, those of y, (entries + 64,), to the
    first of them. `table` (5, entries of the longest sequence of y) is scratch.
    """
    (X, x_first, x_weights), (Y, y_first, y_weights) = x, y
    p, groups = X.shape[0] - 1, (len(c) + 3) // 4
    keep = (_ONE << np.uint64(width)) - _ONE
    found = np.empty((groups, 4))  # exact, since weights are integers
    for i in range(len(x_first) - 1):
        for j in range(i if own else 0, i + 1 if own else len(y_first) - 1):
            found[:] = 0.0
            low, n = y_first[j], y_first[j + 1] - y_first[j]
            for e in range(x_first[i], x_first[i + 1]):
                valid = X[p, e] & keep
                if valid:
                    _mismatches(X[:, e], Y[:, low : low + n], table[0])
                    _sums(table, Y[p, low : low + n], valid, l)
                    if len(y_weights) > 0:
                        _weigh(table, n, x_weights[e], y_weights[low:], found)
                    else:
                        for g in range(groups):
                            _count(table, n, g, found[g])
            total = 0.0
            for h in range(len(c)):
                total += c[h] * found[h // 4, h % 4]
            out[i, 0 if own else j] = total


@njit(**INNER)
def _mismatches(x, Y, out):
    """out[q] = the places at which x and entry q of Y differ."""
    first, bits = Y[0], x[0]
    for q in range(len(first)):
        out[q] = bits ^ first[q]
    for b in range(1, len(x) - 1):
        other, bits = Y[b], x[b]
        for q in range(len(other)):
            out[q] |= bits ^ other[q]


@njit(**INNER)
def _sums(table, whole, valid, l):  # noqa: E741 (the paper's name)
    """table[0] marks mismatches; table[0 … 3] become the bits of their sums over l places, table[4] valid places."""
    T0, T1, T2, T3, T4 = table[0], table[1], table[2], table[3], table[4]
    m1, m2 = _ALL if l & 1 else _NONE, _ALL if l & 2 else _NONE
    m4, m8 = _ALL if l & 4 else _NONE, _ALL if l & 8 else _NONE
    o2, o4, o8 = np.uint64(l & 1), np.uint64(l & 3), np.uint64(l & 7)
    for q in range(len(whole)):
        a = T0[q]
        s0 = a >> _ONE
        b0, b1 = a ^ s0, a & s0  # sums of two places
        s0, s1 = b0 >> _TWO, b1 >> _TWO
        carry, half = b0 & s0, b1 ^ s1
        c0, c1, c2 = b0 ^ s0, half ^ carry, (b1 & s1) | (half & carry)  # of four
        s0, s1, s2 = c0 >> _FOUR, c1 >> _FOUR, c2 >> _FOUR
        carry, half, other = c0 & s0, c1 ^ s1, c2 ^ s2
        d0, d1, carry = c0 ^ s0, half ^ carry, (c1 & s1) | (half & carry)
        d2, d3 = other ^ carry, (c2 & s2) | (other & carry)  # of eight
        r0 = a & m1
        s0, s1 = (b0 >> o2) & m2, (b1 >> o2) & m2
        carry = r0 & s0
        r0, r1, r2 = r0 ^ s0, s1 ^ carry, s1 & carry
        s0, s1, s2 = (c0 >> o4) & m4, (c1 >> o4) & m4, (c2 >> o4) & m4
        carry, half, other = r0 & s0, r1 ^ s1, r2 ^ s2
        r0, r1, carry = r0 ^ s0, half ^ carry, (r1 & s1) | (half & carry)
        r2, r3 = other ^ carry, (r2 & s2) | (other & carry)
        s0, s1, s2, s3 = (d0 >> o8) & m8, (d1 >> o8) & m8, (d2 >> o8) & m8, (d3 >> o8) & m8
        carry, half, other = r0 & s0, r1 ^ s1, r2 ^ s2
        r0, r1, carry = r0 ^ s0, half ^ carry, (r1 & s1) | (half & carry)
        r2, r3 = other ^ carry, r3 ^ s3 ^ ((r2 & s2) | (other & carry))
        T0[q], T1[q], T2[q], T3[q], T4[q] = r0, r1, r2, r3, whole[q] & valid


@njit(**INNER)
def _count(table, n, group, found):
    """found[h] += the number of valid places with 4 · group + h mismatches, h < 4."""
    T0, T1, T2, T3, T4 = table[0], table[1], table[2], table[3], table[4]
    f2, f3 = _NONE if group & 1 else _ALL, _NONE if group & 2 else _ALL
    n0, n1, n2, n3 = _NONE, _NONE, _NONE, _NONE
    for q in range(n):
        here = T4[q] & (T2[q] ^ f2) & (T3[q] ^ f3)
        odd, two = here & T0[q], here & T1[q]
        n0, n1, n2, n3 = n0 + _ones(here), n1 + _ones(odd), n2 + _ones(two), n3 + _ones(odd & two)
    found[0] += float(n0 + n3 - n1 - n2)
    found[1] += float(n1 - n3)
    found[2] += float(n2 - n3)
    found[3] += float(n3)


@njit(**INNER)
def _weigh(table, n, x_weights, y_weights, found):
    """found[h // 4, h % 4] += ω_u ω_v for every valid place with h mismatches; few places have so few."""
    T0, T1, T2, T3, T4 = table[0], table[1], table[2], table[3], table[4]
    f2, f3 = _ALL if len(found) == 1 else _NONE, _ALL if len(found) <= 2 else _NONE
    for q in range(n):
        here = T4[q] & ~(T2[q] & f2) & ~(T3[q] & f3)
        while here:
            lowest = here & (~here + _ONE)
            t = _ones(lowest - _ONE)
            group = (T2[q] >> t & _ONE) + _TWO * (T3[q] >> t & _ONE)
            if group < len(found):
                found[group, (T0[q] >> t & _ONE) + _TWO * (T1[q] >> t & _ONE)] += x_weights[t] * y_weights[q + t]
            here ^= lowest


@njit(**OPTIONS)
def few_windows(letters, begin, end, l, size, c, opposite, out):  # noqa: E741 (the paper's name)
    """out_i = Σ c(mismatches) over pairs of windows of sequence i, letter by letter; `opposite` for both strands.

    A window with an unknown letter does not count.
    """
    for i in range(len(begin)):
        out[i] = 0.0
        for p in range(begin[i], end[i] - l + 1):
            if np.any(letters[p : p + l] >= size):
                continue
            for q in range(begin[i], end[i] - l + 1):
                far = mirrored = 0
                for j in range(l):
                    far += letters[p + j] != letters[q + j]
                    if len(opposite) > 0:
                        mirrored += letters[p + j] != opposite[letters[q + l - 1 - j]]
                if np.any(letters[q : q + l] >= size):
                    continue
                out[i] += c[far] if far < len(c) else 0.0
                if len(opposite) > 0 and mirrored < len(c):
                    out[i] += c[mirrored]
