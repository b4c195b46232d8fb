"""Two short cuts that are exact to the block's precision.

Exponentials of one base are functions of one number d, so all of them together are one table look-up; and the kernels
of a single column are smooth functions of two numbers, so products with them go through some Chebyshev nodes.
"""

from functools import lru_cache

import numpy as np

LOG2E = 1.4426950408889634
_PER_OCTAVE = 32


def cells(rate, top):
    """(delta, octaves) of a table for exp(−rate d), 0 <= d <= top: cells split each octave of d + delta into 32."""
    delta = 2.0 ** np.ceil(np.log2(1.0 / rate.max()))
    end = min(100.0 / rate.min(), top) + delta
    return delta, max(int(np.ceil(np.log2(end / delta) + 1e-6)), 1)


def cubics(rate, top=np.inf):
    """Hermite cubics of exp(−rate_m d) on those cells, 0 beyond: ((M, cells + 1, 4), delta, first), error about 1e-8."""
    delta, octaves = cells(rate, top)
    edges = (delta * 2.0 ** np.arange(octaves)[:, None] * (1 + np.arange(_PER_OCTAVE) / _PER_OCTAVE)).ravel()
    edges = np.append(edges, delta * 2.0**octaves)
    f = np.exp(-rate[:, None] * (edges - delta))
    slope, h = -rate[:, None] * f, np.diff(edges)
    rise, left, right = np.diff(f), slope[:, :-1] * h, slope[:, 1:] * h
    table = np.zeros((rate.size, edges.size, 4))
    for p, values in enumerate((f[:, :-1], left, 3 * rise - 2 * left - right, left + right - 2 * rise)):
        table[:, :-1, p] = values
    return table, np.float32(delta), int(np.float32(delta).view(np.int32) >> 18)


def n_nodes(degree, rate, half, double):
    """Chebyshev nodes per kernel on an interval of half-width `half` for errors of 3e-8 (float32) or 1e-13."""
    root = np.sqrt(np.maximum(rate, 0)) * half
    return np.where(degree > 0, degree + 1, np.ceil(11.5 * root + 13 if double else 8 * root + 8)).astype(int)


@lru_cache(maxsize=64)
def nodes(p):
    """Chebyshev nodes on [−1, 1] and the (p, p) matrix from values there to coefficients of T_0 … T_{p−1}."""
    angle = np.pi * (np.arange(p) + 0.5) / p
    transform = np.cos(np.arange(p)[:, None] * angle) * (2.0 / p)
    transform[0] /= 2
    return np.cos(angle), transform
