"""Words of new sequences met with those of the support, position by position: loops of banks/degree_predictor.py."""

import numpy as np
from numba import njit

from . import OPTIONS


@njit(**OPTIONS)
def gather(codes, at, direct, size, a, table, first, order):
    """One position of the support: Σ a of every word of up to `direct` letters, and the examples by their word.

    codes (n, L). table (words,), zero at first. Those with word w are order[first[w] : first[w + 1]].
    """
    n, L = codes.shape
    words = np.empty(n, np.int64)
    first[:] = 0
    for i in range(n):
        word, offset, count = 0, 0, size
        for k in range(min(direct, L - at)):
            c = codes[i, at + k]
            if c >= size:
                word = -1
                break
            word = word * size + c
            table[offset + word] += a[i]
            offset += count
            count *= size
        words[i] = word if at + direct <= L else -1
        if words[i] >= 0:
            first[words[i] + 1] += 1
    for w in range(len(first) - 1):
        first[w + 1] += first[w]
    for i in range(n - 1, -1, -1):
        if words[i] >= 0:
            first[words[i] + 1] -= 1
            order[first[words[i] + 1]] = i
    for w in range(len(first) - 1):  # they ended at their own beginning
        first[w] = first[w + 1]
    total = 0
    for i in range(n):
        total += words[i] >= 0
    first[-1] = total


@njit(**OPTIONS)
def meet(codes, new, at, direct, size, a, table, first, order, coef, kern, out):
    """Adds Σ_k coef[k] Σ_i a_i [the words of k + 1 letters at that position agree] to out[:, kern[k]]."""
    L, d = new.shape[1], len(coef)
    for j in range(len(new)):
        word, offset, count, known = 0, 0, size, True
        for k in range(min(direct, L - at)):
            c = new[j, at + k]
            if c >= size:
                known = False
                break
            word = word * size + c
            out[j, kern[k]] += coef[k] * table[offset + word]
            offset += count
            count *= size
        if not known or at + direct >= L:
            continue
        for place in range(first[word], first[word + 1]):
            i = order[place]
            for k in range(direct, min(d, L - at)):
                c = new[j, at + k]
                if c >= size or codes[i, at + k] != c:
                    break
                out[j, kern[k]] += coef[k] * a[i]
