"""The loops of `loops.elementwise` in NumPy, for few kernel values: they need no compiler, which takes seconds to load.

Kernels, arguments and results are those of the compiled loops, up to rounding.
"""

import numpy as np


def values(B: np.ndarray, degree: int, g: float, c: float) -> np.ndarray:
    """k(B): 2^(gB + c) for degree 0, else (gB + c)^degree."""
    k = g * B + c
    if degree == 0:
        return np.exp2(k, out=k)
    return k if degree == 1 else k**degree


def combine(B, degree, g, c, shift, W, F, out):
    """out += Σ_m W[m, i] (k_m(B_ij) − shift_m) F[m, j], with F = 1 where F is empty."""
    for m in np.logical_or.reduce(W, axis=1).nonzero()[0]:  # a method runs Python, here for every small tile
        k = values(B, degree[m], g[m], c[m])
        k -= shift[m]
        if F.size:
            k *= F[m]
        k *= W[m][:, None]
        out += k


def tabulate(B, table, delta, first, out):
    """out += f(B), a polynomial on each cell; see `loops.elementwise.tabulate`."""
    kind, shift = (np.int32, 18) if B.dtype == np.float32 else (np.int64, 47)
    bits = (B + delta).view(kind)
    p = table[np.minimum((bits >> shift) - first, len(table) - 1)]
    s = (bits & ((1 << shift) - 1)).astype(B.dtype) * B.dtype.type(2.0**-shift)
    f = p[..., -1].copy()
    for k in range(table.shape[1] - 2, -1, -1):
        f *= s
        f += p[..., k]
    out += f


def multiply(B, degree, g, c, A, out):
    """out[i, m, t] += Σ_j k_m(B_ij) A[m, t, j]; A may have one m for all."""
    for m in range(len(g)):
        out[:, m] += values(B, degree[m], g[m], c[m]) @ A[m if len(A) > 1 else 0].T
