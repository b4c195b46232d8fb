"""Words of sequences at one position as sorted numbers, and the squares of how often each occurs.

numba's cache checks only this file: touch it when a loop of another file that it calls changes.
"""

import numpy as np
from numba import njit

from . import OPTIONS
from .degree import _letter
from .degree_predictor import _leading


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
