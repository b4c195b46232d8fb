"""Expectations of sums over positional words, for inspect/oligomers.py.

s(x) = Σ_i a_i Σ_{l,k} weight[l, k−1] [x_i[l:l+k] = x[l:l+k]]. The letters of X are a chain: forward[b, c] is the
probability of c after b, backward[b, c] that of c before b, both (A + 1, A + 1) with zeros for the unknown letter A.
"""

import numpy as np
from numba import njit

from . import OPTIONS


@njit(**OPTIONS)
def ends(codes, a, weight, forward, backward, last, first):
    """Expected sums of the words that end at t, given the letter there, and of the words that start at t.

    codes (n, L); last and first are (L, A), zero at first.
    """
    n, L = codes.shape
    size, d = last.shape[1], weight.shape[1]
    for i in range(n):
        for t in range(L):
            c = codes[i, t]
            if c >= size:
                continue
            chance, total = 1.0, 0.0
            for low in range(t, max(t - d, -1), -1):
                if low < t:
                    chance *= backward[codes[i, low + 1], codes[i, low]]
                total += weight[low, t - low] * chance
            last[t, c] += a[i] * total
            chance, total = 1.0, 0.0
            for high in range(t, min(t + d, L)):
                if high > t:
                    chance *= forward[codes[i, high - 1], codes[i, high]]
                total += weight[t, high - t] * chance
            first[t, c] += a[i] * total


@njit(**OPTIONS)
def windows(codes, a, weight, forward, backward, p, k, size, table, offsets):
    """Sums of the words that meet the window [p, p + k), by their part inside it.

    A word with the part v = x_i[p+s : p+e] inside adds a_i · weight · P(its letters outside | v) to
    table[offsets[s, e−1] + number of v]; `table` is zero at first.
    """
    n, L = codes.shape
    d = weight.shape[1]
    before, after = np.empty(d + 1), np.empty(d + 1)  # P of the letters up to s before, e after the window
    for i in range(n):
        x = codes[i]
        left = 0
        before[0] = 1.0
        while left < min(d - 1, p) and x[p] < size:
            chance = before[left] * backward[x[p - left], x[p - left - 1]]
            if chance == 0.0:
                break
            left += 1
            before[left] = chance
        right, end = 0, p + k
        after[0] = 1.0
        while right < min(d - 1, L - end) and x[end - 1] < size:
            chance = after[right] * forward[x[end + right - 1], x[end + right]]
            if chance == 0.0:
                break
            right += 1
            after[right] = chance
        for s in range(k):
            number = 0
            for e in range(s, k):
                if x[p + e] >= size:
                    break
                number = number * size + x[p + e]
                total = 0.0
                for u in range(left + 1 if s == 0 else 1):
                    start = p + s - u
                    inner = 0.0
                    for v in range(right + 1 if e == k - 1 else 1):
                        if e - s + u + v >= d:
                            break
                        inner += weight[start, e - s + u + v] * after[v]
                    total += inner * before[u]
                table[offsets[s, e] + number] += a[i] * total
