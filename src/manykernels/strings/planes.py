"""Equal-length sequences as bit planes."""

import numpy as np


def planes(X):
    """The bit planes of Sequences of one length, (n, p + 1, W) uint64."""
    from ..loops.strings import bit_planes

    size, length = X.alphabet.size, X.length
    bits = max(1, (size - 1).bit_length())
    out = np.zeros((len(X), bits + 1, -(-length // 64)), np.uint64)
    bit_planes(X.codes(), size, out)
    return out


def letters(planes, L, unknown):
    """The codes (n, L) int16 of bit planes; unknown letters have the code `unknown`."""
    bits = np.unpackbits(np.ascontiguousarray(planes).astype("<u8").view(np.uint8), axis=2, bitorder="little")
    codes = np.zeros((len(bits), L), np.int16)
    for b in range(bits.shape[1] - 1):
        codes |= bits[:, b, :L].astype(np.int16) << b
    return np.where(bits[:, -1, :L] > 0, codes, np.int16(unknown))


def across(planes):
    """Planes (n, p + 1, W) as the columns of a block, (p + 1, W, n)."""
    return np.ascontiguousarray(planes.transpose(1, 2, 0))
