"""Kernels of a single column are smooth functions of two numbers, which p Chebyshev nodes determine.

k(x, y) = Σ_kl C_kl T_k(x) T_l(y) to the precision of the block, with C from the kernel between the nodes.
"""

from functools import lru_cache

import numpy as np

from ._plain_loops import multiply, values

MAX_FACTOR_RATIO = 2.0  # of the factors of one kernel: errors of a series rise with its square
FEATURES_PER_PRODUCT = 512


def n_nodes(degree, rate, half, double):
    """Chebyshev nodes per kernel on an interval of half-width `half` for errors of 3e-8 (float32) or 1e-13.

    Their number for an exponential is a multiple of four, so that many columns share their matrices.
    """
    root = np.sqrt(np.maximum(rate, 0)) * half
    p = np.where(degree > 0, degree + 1, 4 * np.ceil((11.5 * root + 13 if double else 8 * root + 8) / 4))
    return np.minimum(p, 2**30).astype(int)


def column_bytes(sizes, n_rows, n_cols, T):
    """Bytes of `column_products`."""
    p, vectors = int(sizes.max()), T * sizes.size
    return 8 * (p * (2 * p + n_rows + n_cols + 2 * vectors) + vectors * (n_rows + n_cols))


def column_cost(sizes, n_rows, n_cols, T):
    """Estimated nanoseconds of `column_products`."""
    shared = sizes.max() * (1.5 * (n_rows + n_cols) + 0.3 * T * sizes.size * n_rows)
    return 1e5 + shared + 7.0 * (sizes.astype(float) ** 2).sum()


@lru_cache(maxsize=256)
def _nodes(p):
    """Chebyshev nodes on [−1, 1] and the (p, p) matrix from values there to coefficients of T_0 … T_{p−1}."""
    angle = np.pi * (np.arange(p) + 0.5) / p
    transform = np.cos(np.arange(p)[:, None] * angle) * (2.0 / p)
    transform[0] /= 2
    return np.cos(angle), transform


def smooth_column(group, chosen, left, right):
    """(middle, half-width, nodes of each kernel) if all chosen kernels are smooth functions of one column; or None."""
    interval = None if group.generic[chosen].any() else group.column(left, right)
    if interval is None or not _level(chosen, left, right):
        return None
    double = group.pairs.dtype == np.float64
    return *interval, n_nodes(group.degree[chosen], group.rate[chosen], interval[1], double)


def _level(chosen, *sides):
    """Whether 1/√k(x, x) varies little: the error of a series is relative to its maximum, and factors raise it."""
    factors = [side.factor[chosen] for side in sides if side.factor is not None]
    if not factors:
        return True
    F = np.concatenate(factors, axis=1)
    return bool((F.max(axis=1) <= MAX_FACTOR_RATIO * np.where(F > 0, F, np.inf).min(axis=1)).all())


def _between_nodes(group, middle, half, p):
    """The base (p, p) between p Chebyshev nodes of an interval, and the transform of values to coefficients.

    Both are float64, since kernels near 1 have little variance.
    """
    z, transform = _nodes(p)
    points = z * half + middle
    return (points[:, None] * points if group.pairs.kind == "dot" else (points[:, None] - points) ** 2), transform


def _forms(group, chosen):
    """(degree, g, c) of the chosen kernels in float64."""
    return group.degree[chosen], group.g[chosen].astype(float), group.c[chosen].astype(float)


class SmoothColumns:
    """Single columns with smooth kernels: T sums of them are products of Chebyshev features, by BLAS.

    One loop computes the features of many columns, since a call per column would block the other threads in Python.
    """

    def __init__(self):
        self.columns = []

    @staticmethod
    def size(p, T, left, right):
        """Bytes of a column of p nodes."""
        return 8 * T * p**2 + left.x.nbytes + right.x.nbytes

    @staticmethod
    def buffers(T, rows, cols, itemsize):
        """Bytes of the features of one thread in a tile, for columns with up to 64 nodes."""
        return FEATURES_PER_PRODUCT * (itemsize * (T * rows + cols) + 8 * (2 * rows + cols))

    def append(self, group, chosen, left, right, weights, shift, middle, half, p):
        """Adds a column: its sides, and Σ_m weights_tm (k_m(x, y) − shift_m) of the chosen kernels by p nodes."""
        C = _core(group, chosen, weights, shift, middle, half, p)
        self.columns.append((left.x[0], right.x[0], middle, half, p, C.reshape(len(weights), -1)))

    def ready(self):
        """Puts the columns side by side."""
        left, right, middle, half, sizes, cores = zip(*self.columns, strict=True)
        self.left, self.right = np.stack(left), np.stack(right)
        self.middle, self.half, self.cores = np.array(middle), np.array(half), np.concatenate(cores, axis=1)
        self.node, self.entry = np.cumsum([0, *sizes]), np.cumsum([0, *(p**2 for p in sizes)])
        self.parts, first = [], 0
        for k in range(1, len(sizes) + 1):
            if k == len(sizes) or self.node[k + 1] - self.node[first] > max(FEATURES_PER_PRODUCT, sizes[first]):
                self.parts.append((first, k))
                first = k
        self.columns = []

    def add(self, total, rows, cols):
        """Adds all columns to a tile (T, rows, cols)."""
        from ..loops.elementwise import features

        T, width = len(total), max(self.node[high] - self.node[low] for low, high in self.parts)
        A = np.empty((T, width, total.shape[1]), total.dtype)
        E, B = (np.empty((width, n)) for n in total.shape[1:])  # in float64, as the columns: one compiled loop
        for low, high in self.parts:
            node, sizes = self.node[low : high + 1] - self.node[low], np.diff(self.node[low : high + 1])
            span, filled = (self.middle[low:high], self.half[low:high], node), node[-1]
            features(np.array(self.left[low:high, rows], float, order="C"), *span, E)
            features(np.array(self.right[low:high, cols], float, order="C"), *span, B)
            for p in np.unique(sizes):  # few: the columns with p nodes are multiplied at once
                at = np.flatnonzero(sizes == p)
                lines, entries = (x[at][:, None] + np.arange(y) for x, y in ((node, p), (self.entry[low:high], p * p)))
                cores = self.cores[:, entries].reshape(T, at.size, p, p)
                A[:, lines] = cores.swapaxes(2, 3) @ E[lines]
            right = B[:filled].astype(total.dtype, copy=False)
            for sums, a in zip(total, A, strict=True):
                sums += a[:filled].T @ right


def _core(group, chosen, weights, shift, middle, half, p):
    """C_t (T, p, p) with Σ_m weights_tm (k_m(x, y) − shift_m) = Σ_kl C_tkl T_k(x) T_l(y)."""
    B, transform = _between_nodes(group, middle, half, p)
    sums = np.zeros((len(weights), p, p))
    for m, form in enumerate(zip(*_forms(group, chosen), strict=True)):
        sums += weights[:, m, None, None] * (values(B, *form) - shift[m])
    return transform @ sums @ transform.T


def _chebyshev(x, middle, half, p):
    """T_k((x_i − middle) / half) for k < p, (p, n) float64."""
    T = np.ones((p, x.size))
    T[1:2] = (x.astype(float) - middle) / half
    for k in range(2, p):
        T[k] = 2.0 * T[1] * T[k - 1] - T[k - 2]
    return T


def column_products(group, left, right, chosen, vectors, middle, half, sizes, at, out):
    """Writes the products with smooth kernels of one column to out (T, kernels, n), kernel m of the chosen at at[m]."""
    p, (_, T, n) = int(sizes.max()), vectors.shape
    basis = _chebyshev(right.x[0], middle, half, p)
    moments = (vectors.reshape(-1, n).astype(float) @ basis.T).reshape(-1, T, p)
    nodes, coefficients = p >> np.log2(p / sizes).astype(int), np.zeros((p, sizes.size, T))
    for q in np.unique(nodes):  # few numbers of nodes: p, p/2, …
        mine = np.flatnonzero(nodes == q)
        B, transform = _between_nodes(group, middle, half, int(q))
        part, own = np.zeros((q, mine.size, T)), moments[mine] if len(moments) > 1 else moments
        multiply(B, *_forms(group, chosen[mine]), (own.reshape(-1, p)[:, :q] @ transform).reshape(-1, T, q), part)
        coefficients[:q, mine] = (transform @ part.reshape(q, -1)).reshape(part.shape)
    if left.x is not right.x:
        basis = _chebyshev(left.x[0], middle, half, p)
    found = (coefficients.reshape(p, -1).T @ basis).reshape(sizes.size, T, -1)
    found *= 1.0 if left.factor is None else left.factor[chosen][:, None]
    out[:, at] = found.transpose(1, 0, 2)
