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
    for m in np.flatnonzero(W.any(axis=1)):
        k = values(B, degree[m], g[m], c[m])
        k -= shift[m]
        if F.size:
            k *= F[m]
        k *= W[m][:, None]
        out += k


def multiply(B, degree, g, c, A, out):
    """out[i, m, t] += Σ_j k_m(B_ij) A[m, t, j]; A may have one m for all."""
    for m in range(len(g)):
        out[:, m] += values(B, degree[m], g[m], c[m]) @ A[m if len(A) > 1 else 0].T
