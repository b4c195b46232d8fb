"""Rows of kernels for the interleaved solver: sums of some rows, which keep K_m a up to date, and blocks of them."""

import numpy as np
from numba import njit

from . import INNER, OPTIONS


@njit(**INNER)
def _add4(out, s0, s1, s2, s3, w0, w1, w2, w3):
    for j in range(len(out)):
        out[j] += w0 * s0[j] + w1 * s1[j] + w2 * s2[j] + w3 * s3[j]


@njit(**INNER)
def _add1(out, s, w):
    for j in range(len(out)):
        out[j] += w * s[j]


@njit(**OPTIONS)
def add_rows(K, rows, weights, start, stop, out):
    """out[start:stop] += Σ_k weights_k K[rows_k, start:stop], in float64 whatever K is."""
    o, k, count = out[start:stop], 0, len(rows)
    while k < count:
        if k + 4 <= count:
            _add4(
                o, K[rows[k], start:stop], K[rows[k + 1], start:stop],
                K[rows[k + 2], start:stop], K[rows[k + 3], start:stop],
                weights[k], weights[k + 1], weights[k + 2], weights[k + 3],
            )  # fmt: skip
            k += 4
        else:
            _add1(o, K[rows[k], start:stop], weights[k])
            k += 1


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
