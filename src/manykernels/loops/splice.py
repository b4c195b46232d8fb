"""Drawing splice sites: every example has a random stream of its own, so that no result depends on blocks or threads.

The stream of example i is SplitMix64 started at a hash of (seed, i); a 64-bit draw serves four letters.
"""

import numpy as np
from numba import njit

from . import INNER, OPTIONS

GOLD = np.uint64(0x9E3779B97F4A7C15)
M1, M2 = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
S16, S27, S30, S31 = np.uint64(16), np.uint64(27), np.uint64(30), np.uint64(31)
LOW, ONE = np.uint64(0xFFFF), np.uint64(1)


@njit(**INNER)
def _mix(z):
    z = (z ^ (z >> S30)) * M1
    z = (z ^ (z >> S27)) * M2
    return z ^ (z >> S31)


@njit(**INNER)
def _permuted(i, n, half, seed):
    """Image of i under a permutation of 0 … n−1: four Feistel rounds on 2·half bits, repeated until inside."""
    mask = (ONE << half) - ONE
    while True:
        left, right = i >> half, i & mask
        for r in range(4):
            left, right = right, left ^ (_mix(right + seed + np.uint64(r + 1) * GOLD) & mask)
        i = (left << half) | right
        if i < n:
            return i


@njit(**OPTIONS)
def draw(seed, first, n, n_positive, weights, plans, tables, start, data, y):
    """Examples first, first + 1, … of n, packed to 2 bits a letter into the rows of data; y becomes ±1.

    Exactly n_positive of all n are positive. weights (2, Z): cumulated shares (of 65536) of the plans for decoys and
    for sites; plans (Z, L): which table a position draws from; tables (K, 16, 3): cumulated probabilities of A, C, G
    after each pair of letters; start (16,): cumulated shares of the pair before the first position.
    """
    half, seed, total = np.uint64(1), np.uint64(seed), np.uint64(n)
    while (ONE << (half + half)) < total:
        half += ONE
    L = plans.shape[1]
    for row in range(len(y)):
        i = np.uint64(first + row)
        positive = 1 if _permuted(i, total, half, seed) < np.uint64(n_positive) else 0
        y[row] = 2 * positive - 1
        stream = _mix(seed ^ _mix((i + ONE) * GOLD))
        bits = _mix(stream)
        z = np.searchsorted(weights[positive], np.int64(bits & LOW), side="right")
        context = np.searchsorted(start, np.int64((bits >> S16) & LOW), side="right")
        for at in range(0, L, 4):
            stream += GOLD
            bits = _mix(stream)
            byte = 0
            for s in range(min(4, L - at)):
                u = np.int64(bits & LOW)
                bits >>= S16
                t = tables[plans[z, at + s], context]
                code = np.int64(u >= t[0]) + np.int64(u >= t[1]) + np.int64(u >= t[2])
                context = ((context & 3) << 2) | code
                byte |= code << (2 * s)
            data[row, at >> 2] = byte
