"""Common words of two strings at the same place, by bits.

Equal-length sequences are bit planes, planes (p + 1, W) uint64 of each: bit l of plane b is bit b of the code at
position l, and the last plane marks the letters that may match. One word of bits then compares 64 positions, and
words of k letters that two sequences share are the k-th row of m, m & m>>1, m & m>>1 & m>>2, …
"""

import numpy as np
from numba import njit, types
from numba.extending import intrinsic

from . import INNER, OPTIONS

_CHUNK = 256  # columns worked on at a time
_ONE, _TOP, _NONE = np.uint64(1), np.uint64(63), np.uint64(0)
_SINGLE = np.int64(1)  # a plain 1 would be a type of its own, for which loops are compiled again


@intrinsic
def _ones(typing_context, word):
    """The number of bits set in a uint64."""

    def generate(context, builder, signature, args):
        return builder.ctpop(args[0])

    return types.uint64(types.uint64), generate


@intrinsic
def _leading(typing_context, word):
    """The number of zeros above the highest bit set in a uint64, 64 for 0."""

    def generate(context, builder, signature, args):
        return builder.ctlz(args[0], context.get_constant(types.boolean, False))

    return types.uint64(types.uint64), generate


@njit(**OPTIONS)
def bit_planes(codes, size, planes):
    """planes (n, p + 1, W) = bits of codes (n, L), zero at first; codes from `size` on match nothing."""
    last = planes.shape[1] - 1
    for i in range(codes.shape[0]):
        for p in range(codes.shape[1]):
            code = codes[i, p]
            if code < size:
                bit = _ONE << np.uint64(p & 63)
                planes[i, last, p >> 6] |= bit
                for b in range(last):
                    if (code >> b) & 1:
                        planes[i, b, p >> 6] |= bit


@njit(**OPTIONS)
def shift_planes(planes, shift, out):
    """out (p + 1, W, m): position l holds what position l + shift held."""
    W = planes.shape[1]
    words, bits = shift // 64, shift % 64  # floor division: bits >= 0 for negative shifts too
    up, down = np.uint64(bits), np.uint64(64 - bits)
    for b in range(planes.shape[0]):
        for w in range(W):
            for j in range(planes.shape[2]):
                value = _NONE
                if 0 <= w + words < W:
                    value |= planes[b, w + words, j] >> up
                if bits > 0 and 0 <= w + words + 1 < W:
                    value |= planes[b, w + words + 1, j] << down
                out[b, w, j] = value


@njit(**INNER)
def _width(rest):
    return _CHUNK if _CHUNK < rest else rest  # numba's min is a function that is compiled, and so are its other ones


@njit(**INNER)
def _matches(x, Y, j0, width, match):
    """match[w, j] = the positions at which x (p + 1, W) and column j0 + j of Y (p + 1, W, m) have the same letter."""
    last = x.shape[0] - 1
    for w in range(x.shape[1]):
        row, known, y = match[w], x[last, w], Y[last, w, j0 : j0 + width]
        for j in range(width):
            row[j] = known & y[j]
        for b in range(last):
            bits, y = x[b, w], Y[b, w, j0 : j0 + width]
            for j in range(width):
                row[j] &= ~(bits ^ y[j])


@njit(**INNER)
def _count(match, width, count):
    """count[j] = bits of column j; whether there are any."""
    found = _NONE
    for j in range(width):
        count[j] = _ones(match[0, j])
    for w in range(1, match.shape[0]):
        row = match[w]
        for j in range(width):
            count[j] += _ones(row[j])
    for j in range(width):
        found |= count[j]
    return found != _NONE


@njit(**INNER)
def _lengthen(match, width):
    """From words of k letters to words of k + 1: match &= match >> 1."""
    last = match.shape[0] - 1
    for w in range(last):
        row, above = match[w], match[w + 1]
        for j in range(width):
            row[j] &= (row[j] >> _ONE) | (above[j] << _TOP)
    row = match[last]
    for j in range(width):
        row[j] &= row[j] >> _ONE


@njit(**OPTIONS)
def add_degrees(X, Y, weights, constant, out):
    """out[t, i, j] += constant_t + Σ_k weights[t, k−1] · (common words of k letters at the same place).

    X (n, p + 1, W), Y (p + 1, W, m), weights (T, d), out (T, n, m).
    """
    T, d = weights.shape
    match = np.empty((X.shape[2], _CHUNK), np.uint64)
    count, total = np.empty(_CHUNK, np.uint64), np.empty((T, _CHUNK))
    for i in range(X.shape[0]):
        for j0 in range(0, Y.shape[2], _CHUNK):
            width = _width(Y.shape[2] - j0)
            _matches(X[i], Y, j0, width, match)
            for t in range(T):
                total[t, :width] = constant[t]
            for k in range(d):
                if not _count(match, width, count):
                    break
                for t in range(T):
                    w, sums = weights[t, k], total[t]
                    if w != 0:
                        for j in range(width):
                            sums[j] += w * count[j]
                if k + 1 < d:
                    _lengthen(match, width)
            for t in range(T):
                o, sums = out[t, i, j0 : j0 + width], total[t]
                for j in range(width):
                    o[j] += sums[j]


@njit(**OPTIONS)
def own_degrees(X, Y, weights, out):
    """out[i] += Σ_k weights[k−1] · (common words of k letters of X[i] and Y[:, :, i] at the same place)."""
    match, count = np.empty((X.shape[2], 1), np.uint64), np.empty(1, np.uint64)
    for i in range(X.shape[0]):
        _matches(X[i], Y, i, _SINGLE, match)
        for k in range(len(weights)):
            if not _count(match, _SINGLE, count):
                break
            out[i] += weights[k] * count[0]
            _lengthen(match, _SINGLE)


@njit(**OPTIONS)
def sum_degrees(X, Y, A, H):
    """H[i, t, k−1] += Σ_j A[t, j] · (common words of k letters of i and j at the same place); A (T, m), H float64."""
    d = H.shape[2]
    match, count = np.empty((X.shape[2], _CHUNK), np.uint64), np.empty(_CHUNK, np.uint64)
    for i in range(X.shape[0]):
        for j0 in range(0, Y.shape[2], _CHUNK):
            width = _width(Y.shape[2] - j0)
            _matches(X[i], Y, j0, width, match)
            for k in range(d):
                if not _count(match, width, count):
                    break
                for t in range(A.shape[0]):
                    a, total = A[t, j0 : j0 + width], 0.0
                    for j in range(width):
                        total += a[j] * count[j]
                    H[i, t, k] += total
                if k + 1 < d:
                    _lengthen(match, width)


@njit(**OPTIONS)
def add_positions(X, Y, runs, constant, out):
    """out[t, i, j] += constant_t + Σ_l runs[l, r_l − 1, t], r_l >= 1 the length of the common word at l, at most d.

    runs (L, d, T): the weight of all words of up to r letters at l.
    """
    d, T = runs.shape[1:]
    match, total = np.empty((X.shape[2], _CHUNK), np.uint64), np.empty(T)
    for i in range(X.shape[0]):
        for j0 in range(0, Y.shape[2], _CHUNK):
            width = _width(Y.shape[2] - j0)
            _matches(X[i], Y, j0, width, match)
            for j in range(width):
                total[:] = constant
                before, run = -1, 0
                for w in range(X.shape[2] - 1, -1, -1):
                    word = match[w, j]
                    while word != _NONE:
                        bit = 63 - np.int64(_leading(word))
                        word ^= _ONE << np.uint64(bit)
                        p = bit + (w << 6)
                        run = (run + 1 if run < d else d) if p + 1 == before else 1
                        before = p
                        for t in range(T):
                            total[t] += runs[p, run - 1, t]
                for t in range(T):
                    out[t, i, j0 + j] += total[t]


@njit(**OPTIONS)
def sum_positions(X, Y, A, H):
    """H[i, l, r_l − 1, t] += A[t, j] for every j, r_l >= 1 the length of the common word of i and j at l, at most d."""
    d, T = H.shape[2:]
    match = np.empty((X.shape[2], _CHUNK), np.uint64)
    for i in range(X.shape[0]):
        for j0 in range(0, Y.shape[2], _CHUNK):
            width = _width(Y.shape[2] - j0)
            _matches(X[i], Y, j0, width, match)
            for j in range(width):
                before, run = -1, 0
                for w in range(X.shape[2] - 1, -1, -1):
                    word = match[w, j]
                    while word != _NONE:
                        bit = 63 - np.int64(_leading(word))
                        word ^= _ONE << np.uint64(bit)
                        p = bit + (w << 6)
                        run = (run + 1 if run < d else d) if p + 1 == before else 1
                        before = p
                        for t in range(T):
                            H[i, p, run - 1, t] += A[t, j0 + j]


@njit(**OPTIONS)
def own_sums(X, H):
    """H[i, l, k−1] = 1 where a word of k known letters starts at l, summed over l where H (n, L or 1, d) has one."""
    last = X.shape[1] - 1
    for i in range(X.shape[0]):
        run = 0
        for p in range((X.shape[2] << 6) - 1, -1, -1):
            run = run + 1 if (X[i, last, p >> 6] >> np.uint64(p & 63)) & _ONE else 0
            for k in range(run if run < H.shape[2] else H.shape[2]):
                H[i, p if H.shape[1] > 1 else 0, k] += 1.0
