"""Products with smooth kernels of a column, by kernels between Chebyshev nodes; see `banks._chebyshev_columns`."""

import numpy as np
from numba import njit

from . import OPTIONS


@njit(**OPTIONS)
def chebyshev(x, middle, half, T):
    """T[k, i] = T_k((x_i − middle) / half) by T_k(z) = 2z T_{k−1}(z) − T_{k−2}(z); float64."""
    for i in range(x.size):
        T[0, i] = 1.0
        if T.shape[0] > 1:
            T[1, i] = (x[i] - middle) / half
    for k in range(2, T.shape[0]):
        for i in range(x.size):
            T[k, i] = 2.0 * T[1, i] * T[k - 1, i] - T[k - 2, i]


@njit(**OPTIONS)
def features(X, middle, half, node, cores, entry, out):
    """out[t, node[j] + l, i] = Σ_k T_k(x_i) C_jtkl of column j of X; T_l(x_i) where there are no cores.

    C_jt is (p, p) in a row of `cores`, from entry[j] on.
    """
    basis = np.empty(((node[1:] - node[:-1]).max(), X.shape[1]))
    for j in range(len(X)):
        first, p = node[j], node[j + 1] - node[j]
        chebyshev(X[j], middle[j], half[j], basis[:p])
        for t in range(len(out)):
            if cores.size:
                C = cores[t, entry[j] : entry[j] + p * p].reshape(p, p)
                out[t, first : first + p] = np.dot(C.T, basis[:p])
            else:
                out[t, first : first + p] = basis[:p]
