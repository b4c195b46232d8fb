"""Products with smooth kernels of one column, by way of the kernels between Chebyshev nodes; see `banks._columns`."""

import numpy as np
from numba import njit

from . import OPTIONS
from .elementwise import multiply, pair


@njit(**OPTIONS)
def chebyshev(x, T):
    """T[k, i] = T_k(x_i) by T_k = 2x T_{k−1} − T_{k−2}; float64."""
    for i in range(x.size):
        T[0, i] = 1.0
    for k in range(1, T.shape[0]):
        for i in range(x.size):
            T[k, i] = x[i] if k == 1 else 2.0 * x[i] * T[k - 1, i] - T[k - 2, i]


@njit(**OPTIONS)
def column_products(kind, x, y, middle, half, z, transform, degree, g, c, A, factor, at, out):
    """out[t, at[m], i] = Σ_j k_m(x_i, y_j) A[m, t, j], times factor[m, i] where that is not empty; A may have one m.

    z are the nodes and `transform` leads from values there to coefficients; all in one call, which leaves Python to
    the other threads.
    """
    p, kernels, T = z.size, degree.size, A.shape[1]
    B, points = np.empty((p, p)), (z * half + middle).reshape(1, p)
    pair(kind, points, points, B)
    basis = np.empty((p, y.size))
    chebyshev((y.astype(np.float64) - middle) / half, basis)
    vectors = A.astype(np.float64).reshape(-1, y.size)
    at_nodes = np.dot(np.dot(vectors, basis.T), transform).reshape(A.shape[0], T, p)
    sums = np.zeros((p, kernels, T))
    multiply(B, degree, g, c, at_nodes, sums)
    coefficients = np.dot(transform, sums.reshape(p, -1))
    if x.size != y.size or not np.array_equal(x, y):
        basis = np.empty((p, x.size))
        chebyshev((x.astype(np.float64) - middle) / half, basis)
    found = np.dot(basis.T, coefficients)
    for m in range(kernels):
        for t in range(T):
            for i in range(x.size):
                f = found[i, m * T + t]
                out[t, at[m], i] = f * factor[m, i] if factor.size else f
