"""Rows of matrices: some of them at some columns, sums of some, and those of a CSR matrix F (data, indices, indptr)."""

import numpy as np
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
    """out[low:high] += Σ_r x_r K[rows[r], low:high], in their precision; eight rows are added before float64."""
    whole = len(rows) - len(rows) % 8
    for first in range(low, high, COLUMNS_PER_BLOCK):
        last = first + COLUMNS_PER_BLOCK if first + COLUMNS_PER_BLOCK < high else high
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


@njit(**OPTIONS)
def gather_rows(held, theta, slots, columns):
    """Σ_m theta_m held[slots_r, m, columns_j], (|slots|, |columns|)."""
    out = np.zeros((len(slots), len(columns)))
    for r in range(len(slots)):
        o = out[r]
        for m in range(len(theta)):
            if theta[m] != 0.0:
                row, w = held[slots[r], m], theta[m]
                for j in range(len(columns)):
                    o[j] += w * row[columns[j]]
    return out


@njit(**OPTIONS)
def multiply_entries(start, column, value, Z, out):
    """out_ij = Σ_p value_p Z[column_p, j], p from start[i] to start[i + 1]; Z (d, cols)."""
    for i in range(out.shape[0]):
        o, p, end = out[i], start[i], start[i + 1]
        o[:] = 0
        while p + 4 <= end:
            z0, z1, z2, z3 = Z[column[p]], Z[column[p + 1]], Z[column[p + 2]], Z[column[p + 3]]
            v0, v1, v2, v3 = value[p], value[p + 1], value[p + 2], value[p + 3]
            for j in range(o.size):
                o[j] += v0 * z0[j] + v1 * z1[j] + v2 * z2[j] + v3 * z3[j]
            p += 4
        while p < end:
            z0, v0 = Z[column[p]], value[p]
            for j in range(o.size):
                o[j] += v0 * z0[j]
            p += 1


@njit(**OPTIONS)
def add_entries(data, indices, indptr, rows, delta, v):
    """v += Σ_r delta_r F[rows_r]."""
    for r in range(len(rows)):
        if delta[r] != 0:
            for e in range(indptr[rows[r]], indptr[rows[r] + 1]):
                v[indices[e]] += delta[r] * data[e]


@njit(**OPTIONS)
def look_up_entries(data, indices, indptr, rows, w, out):
    """out_r = ⟨w, F[rows_r]⟩."""
    for r in range(len(rows)):
        total = 0.0
        for e in range(indptr[rows[r]], indptr[rows[r] + 1]):
            total += data[e] * w[indices[e]]
        out[r] = total


@njit(**OPTIONS)
def to_sphere(data, indices, indptr, kern):
    """Divides each kernel's part of a row by its norm; kern (D,) is ascending and so are a row's indices."""
    for i in range(len(indptr) - 1):
        low = indptr[i]
        while low < indptr[i + 1]:
            high, total = low, 0.0
            while high < indptr[i + 1] and kern[indices[high]] == kern[indices[low]]:
                total += data[high] * data[high]
                high += 1
            if total > 0:
                for e in range(low, high):
                    data[e] /= np.sqrt(total)
            low = high
