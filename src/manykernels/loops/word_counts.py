"""Words of sequences at one position as sorted numbers, and the squares of how often each occurs."""

import numpy as np
from numba import njit

from . import OPTIONS


@njit(**OPTIONS)
def word_keys(codes, count, d, bits, out):
    """out[l, i] = the d letters of sequence i from position l < count on, the first in the highest bits."""
    n, width = codes.shape
    top = np.uint64(bits * (d - 1))
    for i in range(n):
        key = np.uint64(0)
        for j in range(width - 1, -1, -1):
            key = (key >> np.uint64(bits)) | (np.uint64(codes[i, j]) << top)
            if j < count:
                out[j, i] = key


@njit(**OPTIONS)
def word_squares(keys, w, d, most, bits, unknown, squares):
    """squares[k − 1] = Σ over words of k letters of (Σ_i w_i [x_i has it])², from sorted keys, for k <= most.

    A word with the letter `unknown` is like no other.
    """
    run, mask = np.zeros(most), np.uint64((1 << bits) - 1)
    squares[:] = 0.0
    for i in range(len(keys)):
        differs = keys[i] ^ keys[i - 1] if i else ~np.uint64(0)
        common = 0
        while common < most and not (differs >> np.uint64(bits * (d - 1 - common))) & mask:
            common += 1
        if i == 0:
            common = 0
        for k in range(common, most):
            squares[k] += run[k] * run[k]
            run[k] = 0.0
        for k in range(most):
            if (keys[i] >> np.uint64(bits * (d - 1 - k))) & mask == np.uint64(unknown):
                break
            run[k] += w[i]
    for k in range(most):
        squares[k] += run[k] * run[k]
