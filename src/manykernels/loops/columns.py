"""Products with smooth kernels of a column, by kernels between Chebyshev nodes; see `banks._chebyshev_columns`."""

from collections import namedtuple

import numpy as np
from numba import njit

from . import OPTIONS
from .elementwise import multiply, pair

# the interval middle ± half that holds a column, and how many nodes each kernel has on it
ColumnNodes = namedtuple("ColumnNodes", "middle half sizes")


@njit(**OPTIONS)
def chebyshev(x, T):
    """T[k, i] = T_k(x_i) by T_k = 2x T_{k−1} − T_{k−2}; float64."""
    for i in range(x.size):
        T[0, i] = 1.0
    for k in range(1, T.shape[0]):
        for i in range(x.size):
            T[k, i] = x[i] if k == 1 else 2.0 * x[i] * T[k - 1, i] - T[k - 2, i]


@njit(**OPTIONS)
def features(X, middle, half, node, cores, entry, out):
    """out[t, node[j] + l, i] = Σ_k T_k(x_i) C_jtkl of column j of X; T_l(x_i) where there are no cores.

    C_jt is (p, p) in a row of `cores`, from entry[j] on.
    """
    basis = np.empty(((node[1:] - node[:-1]).max(), X.shape[1]))
    for j in range(len(X)):
        first, p = node[j], node[j + 1] - node[j]
        chebyshev((X[j].astype(np.float64) - middle[j]) / half[j], basis[:p])
        for t in range(len(out)):
            if cores.size:
                C = cores[t, entry[j] : entry[j] + p * p].reshape(p, p)
                out[t, first : first + p] = np.dot(C.T, basis[:p])
            else:
                out[t, first : first + p] = basis[:p]


@njit(**OPTIONS)
def column_products(kind, x, y, nodes, forms, A, factor, at, out):
    """out[t, at[m], i] = Σ_j k_m(x_i, y_j) A[m, t, j], times factor[m, i] where that is not empty; A may have one m.

    `forms` are (degree, g, c); all in one call, which leaves Python to the other threads.
    """
    (middle, half, sizes), (degree, g, c) = nodes, forms
    p, T, last = sizes.max(), A.shape[1], 0
    basis = np.empty((p, y.size))
    chebyshev((y.astype(np.float64) - middle) / half, basis)
    moments = np.dot(A.astype(np.float64).reshape(-1, y.size), basis.T).reshape(A.shape[0], T, p)
    B, transform, coefficients = np.empty((0, 0)), np.empty((0, 0)), np.zeros((sizes.size, T, p))
    for m in range(sizes.size):
        q = sizes[m]
        if q != last:
            last, z = q, np.cos(np.pi * (np.arange(q) + 0.5) / q)
            points = (z * half + middle).reshape(1, q)
            B, transform = np.empty((q, q)), np.empty((q, q))
            pair(kind, points, points, B)
            chebyshev(z, transform)
            transform *= 2.0 / q
            transform[0] /= 2.0
        at_nodes = np.dot(np.ascontiguousarray(moments[m if A.shape[0] > 1 else 0, :, :q]), transform)
        sums = np.zeros((q, 1, T))
        multiply(B, degree[m : m + 1], g[m : m + 1], c[m : m + 1], at_nodes.reshape(1, T, q), sums)
        coefficients[m, :, :q] = np.dot(transform, sums.reshape(q, T)).T
    if x.size != y.size or not np.array_equal(x, y):
        basis = np.empty((p, x.size))
        chebyshev((x.astype(np.float64) - middle) / half, basis)
    found = np.dot(coefficients.reshape(-1, p), basis)
    for m in range(sizes.size):
        for t in range(T):
            for i in range(x.size):
                f = found[m * T + t, i]
                out[t, at[m], i] = f * factor[m, i] if factor.size else f
