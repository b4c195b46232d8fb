"""What a stack of matrices is checked and measured by, matrix by matrix."""

import numpy as np
from scipy.linalg.lapack import dpotrf

LEAST_SHIFT = 1e-30  # in sums in float32, relative to the diagonal


def survey_exactly(K, w, out):
    """out = (Σ w_i w_j k_ij, largest |k_ij − k_ji|) in float64."""
    K = K.astype(np.float64)
    out[:] = w @ K @ w, largest_skew(K)


def largest_skew(K):
    """The largest |k_ij − k_ji|."""
    return np.abs(K - K.T).max()


def floor(rows, diagonals):
    """The constant to subtract from each kernel: the entry nearest to 0 of some rows (·, M) and the diagonals (M, n).

    It keeps the digits of nearly constant kernels; 0 if entries have both signs. It is at most √(k_ii k_jj), which
    bounds |k_ij|, so that its rounding is not larger than that of k_ij may be.
    """
    some = np.concatenate([np.asarray(rows, dtype=np.float64), diagonals.T])
    return np.maximum(some.min(axis=0), 0.0) + np.minimum(some.max(axis=0), 0.0)


def not_0(shift, diagonals):
    """The shift for sums in float32: what it leaves of entries near 0 is no subnormal number.

    Some processors multiply such numbers a hundred times slower.
    """
    least = LEAST_SHIFT * np.abs(diagonals).max(axis=1)
    return np.where(np.abs(shift) < least, least, shift)


def spread_out(n, size=64):
    return np.unique(np.linspace(0, n - 1, min(size, n)).astype(int))


def is_indefinite(K, rounding):
    """Whether a small principal submatrix K has a clearly negative eigenvalue."""
    block = np.array(K, dtype=np.float64)
    block.flat[:: len(block) + 1] += rounding * np.abs(np.diagonal(block)).max() + 1e-300
    return dpotrf(block, lower=1)[1] != 0
