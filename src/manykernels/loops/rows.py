"""Rows of a matrix: some of them at some columns, and the sum of some."""

from numba import njit

from . import OPTIONS

COLUMNS_PER_BLOCK = 1024  # whose sums stay in the cache


@njit(**OPTIONS)
def gather(K, rows, columns, out):
    """out = K[rows][:, columns]."""
    for i in range(len(rows)):
        row, to = K[rows[i]], out[i]
        for j in range(len(columns)):
            to[j] = row[columns[j]]


@njit(**OPTIONS)
def add_rows(K, rows, x, low, high, out):
    """out[low:high] += Σ_r x_r K[rows[r], low:high], x in the precision of K; eight rows are added before float64."""
    whole = len(rows) - len(rows) % 8
    for first in range(low, high, COLUMNS_PER_BLOCK):
        last = min(first + COLUMNS_PER_BLOCK, high)
        to = out[first:last]
        for r in range(0, whole, 8):
            k0, k1, k2, k3 = (K[rows[r], first:last], K[rows[r + 1], first:last], K[rows[r + 2], first:last],
                              K[rows[r + 3], first:last])  # fmt: skip
            k4, k5, k6, k7 = (K[rows[r + 4], first:last], K[rows[r + 5], first:last], K[rows[r + 6], first:last],
                              K[rows[r + 7], first:last])  # fmt: skip
            x0, x1, x2, x3, x4, x5, x6, x7 = x[r], x[r + 1], x[r + 2], x[r + 3], x[r + 4], x[r + 5], x[r + 6], x[r + 7]
            for j in range(len(to)):
                four = (x0 * k0[j] + x1 * k1[j]) + (x2 * k2[j] + x3 * k3[j])
                to[j] += four + ((x4 * k4[j] + x5 * k5[j]) + (x6 * k6[j] + x7 * k7[j]))
        for r in range(whole, len(rows)):
            row, scale = K[rows[r], first:last], x[r]
            for j in range(len(to)):
                to[j] += scale * row[j]
