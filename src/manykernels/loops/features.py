"""Rows of a CSR matrix F (data, indices, indptr) as features: sums of rows, look-up, and products of rows."""

import numpy as np
from numba import njit

from . import OPTIONS


@njit(**OPTIONS)
def add(data, indices, indptr, rows, delta, v):
    """v += Σ_r delta_r F[rows_r]."""
    for r in range(len(rows)):
        if delta[r] != 0:
            for e in range(indptr[rows[r]], indptr[rows[r] + 1]):
                v[indices[e]] += delta[r] * data[e]


@njit(**OPTIONS)
def look_up(data, indices, indptr, rows, w, out):
    """out_r = ⟨w, F[rows_r]⟩."""
    for r in range(len(rows)):
        total = 0.0
        for e in range(indptr[rows[r]], indptr[rows[r] + 1]):
            total += data[e] * w[indices[e]]
        out[r] = total


@njit(**OPTIONS)
def gather(data, indices, indptr, rows, w, often, first):
    """The entries √w_c F[rows_r, c] with w_c > 0 by columns: (owner r, value), those of column c from first[c] on.

    Owners ascend within a column; `first` is (D + 2,) and 0 before. Columns with more than `often` entries come as a
    dense matrix G (|rows|, ·) instead.
    """
    for r in range(len(rows)):
        for e in range(indptr[rows[r]], indptr[rows[r] + 1]):
            if w[indices[e]] > 0:
                first[indices[e] + 2] += 1
    place, wide = np.full(len(w), -1, np.int32), 0
    for c in range(len(w)):
        if first[c + 2] > often:
            place[c] = wide
            wide += 1
            first[c + 2] = 0
        first[c + 2] += first[c + 1]
    owner, value = np.empty(first[-1], np.int32), np.empty(first[-1])
    G = np.zeros((len(rows), wide))
    for r in range(len(rows)):
        for e in range(indptr[rows[r]], indptr[rows[r] + 1]):
            c = indices[e]
            if w[c] > 0:
                x = np.sqrt(w[c]) * data[e]
                if place[c] >= 0:
                    G[r, place[c]] = x
                else:
                    at = first[c + 1]
                    owner[at], value[at] = r, x
                    first[c + 1] = at + 1
    return owner, value, G


@njit(**OPTIONS)
def add_products(first, owner, value, start, stop, K):
    """K[i, j] += Σ_c value_ci value_cj for start <= i < stop and j <= i, with the columns that `gather` found."""
    for c in range(len(first) - 1):
        for p in range(first[c], first[c + 1]):
            i = owner[p]
            if i >= stop:
                break
            if i >= start:
                for q in range(first[c], p + 1):
                    K[i, owner[q]] += value[p] * value[q]


@njit(**OPTIONS)
def mirror(K):
    """Copies the lower triangle of K to the upper."""
    for i in range(len(K)):
        for j in range(i):
            K[j, i] = K[i, j]


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
