"""Adding a few rows of a matrix to a running sum: how the interleaved solver keeps K_m a up to date."""

from numba import njit

from . import OPTIONS


@njit(**OPTIONS)
def _add4(out, s0, s1, s2, s3, w0, w1, w2, w3):
    for j in range(len(out)):
        out[j] += w0 * s0[j] + w1 * s1[j] + w2 * s2[j] + w3 * s3[j]


@njit(**OPTIONS)
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
