"""Words of new sequences met with those of the support, position by position: loops of banks/degree_predictor.py."""

import numpy as np
from numba import njit

from . import OPTIONS


@njit(**OPTIONS)
def _tail(codes, start, held, size, bits):
    """The letters from `start` on as one number, `held` of them; behind the end there are unknown ones."""
    key = np.uint64(0)
    for k in range(start, start + held):
        key = (key << np.uint64(bits)) | np.uint64(codes[k] if k < len(codes) else size)
    return key


@njit(**OPTIONS)
def gather(codes, at, direct, size, bits, held, a, table, first, order, tails, sums):
    """One position of the support: Σ a of every word of up to `direct` letters, and the examples by their word.

    codes (n, L). table (words,), zero at first. Those with word w are order[first[w] : first[w + 1]]; there `sums` has
    their a and `tails` their next letters, `held` of them, the first in the highest bits.
    """
    n, L = codes.shape
    words, after = np.empty(n, np.int64), np.empty(n, np.uint64)
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
            after[i] = _tail(codes[i], at + direct, held, size, bits)
    for w in range(len(first) - 1):
        first[w + 1] += first[w]
    for i in range(n - 1, -1, -1):
        if words[i] >= 0:
            first[words[i] + 1] -= 1
            place = first[words[i] + 1]
            order[place], tails[place], sums[place] = i, after[i], a[i]
    for w in range(len(first) - 1):  # they ended at their own beginning
        first[w] = first[w + 1]
    total = 0
    for i in range(n):
        total += words[i] >= 0
    first[-1] = total


@njit(**OPTIONS)
def meet(codes, new, at, direct, size, bits, held, a, table, first, order, tails, sums, coef, kern, out):
    """Adds Σ_k coef[k] Σ_i a_i [the words of k + 1 letters at that position agree] to out[:, kern[k]]."""
    L, d, mask = new.shape[1], len(coef), np.uint64((1 << bits) - 1)
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
        if first[word] == first[word + 1]:
            continue
        key, most = _tail(new[j], at + direct, held, size, bits), 0
        while most < held and at + direct + most < L and direct + most < d and new[j, at + direct + most] < size:
            most += 1
        for place in range(first[word], first[word + 1]):
            differs, same = key ^ tails[place], 0
            while same < most and not (differs >> np.uint64(bits * (held - 1 - same))) & mask:
                out[j, kern[direct + same]] += coef[direct + same] * sums[place]
                same += 1
            if same < held:
                continue
            i = order[place]
            for k in range(direct + held, min(d, L - at)):  # what one number does not hold
                c = new[j, at + k]
                if c >= size or codes[i, at + k] != c:
                    break
                out[j, kern[k]] += coef[k] * a[i]
