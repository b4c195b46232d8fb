"""The kernels of a single column are smooth functions of two numbers: p Chebyshev nodes stand for all examples.

k(x, y) = Σ_kl C_kl T_k(x) T_l(y) to the precision of the block, with C from the kernel between the nodes.
"""

from functools import lru_cache

import numpy as np

from ..kernels._pairs import _KINDS


def n_nodes(degree, rate, half, double):
    """Chebyshev nodes per kernel on an interval of half-width `half` for errors of 3e-8 (float32) or 1e-13."""
    root = np.sqrt(np.maximum(rate, 0)) * half
    p = np.where(degree > 0, degree + 1, np.ceil(11.5 * root + 13 if double else 8 * root + 8))
    return np.minimum(p, 2**30).astype(int)


def column_bytes(sizes, n_rows, n_cols, T):
    """Bytes of `column_products`."""
    p, vectors = int(sizes.max()), T * sizes.size
    return 8 * (p * (2 * p + n_rows + n_cols + 2 * vectors) + vectors * (n_rows + n_cols))


def column_cost(sizes, n_rows, n_cols, T):
    """Nanoseconds, roughly, of `column_products`."""
    shared = sizes.max() * (1.5 * (n_rows + n_cols) + 0.3 * T * sizes.size * n_rows)
    return 1e5 + shared + 7.0 * (sizes.astype(float) ** 2).sum()


@lru_cache(maxsize=64)
def _nodes(p):
    """Chebyshev nodes on [−1, 1] and the (p, p) matrix from values there to coefficients of T_0 … T_{p−1}."""
    angle = np.pi * (np.arange(p) + 0.5) / p
    transform = np.cos(np.arange(p)[:, None] * angle) * (2.0 / p)
    transform[0] /= 2
    return np.cos(angle), transform


def smooth_column(group, chosen, left, right):
    """(middle, half-width, nodes of each) where all chosen kernels are smooth functions of one column, else None."""
    interval = None if group.generic[chosen].any() else group.column(left, right)
    if interval is None:
        return None
    double = group.pairs.dtype == np.float64
    return *interval, n_nodes(group.degree[chosen], group.rate[chosen], interval[1], double)


def _at_nodes(group, middle, half, p):
    """The base between p Chebyshev nodes of an interval, and the transform from values there to coefficients.

    In float64: kernels near 1 have little variance.
    """
    from ..loops.elementwise import pair

    z, transform = _nodes(p)
    points = np.ascontiguousarray((z * half + middle)[None])
    B = np.empty((p, p))
    pair(_KINDS[group.pairs.kind], points, points, B)
    return B, transform


def core(group, chosen, weights, shift, middle, half, p):
    """C_t (T, p, p) with Σ_m weights_tm (k_m(x, y) − shift_m) = Σ_kl C_tkl T_k(x) T_l(y)."""
    from ..loops.elementwise import combine

    B, transform = _at_nodes(group, middle, half, p)
    values = np.zeros((len(weights), p, p))
    g, c, none = group.g[chosen].astype(float), group.c[chosen].astype(float), np.empty((0, 0))
    for total, w in zip(values, weights, strict=True):
        W = np.ascontiguousarray(np.broadcast_to(w[:, None], (w.size, p)))
        combine(B, group.degree[chosen], g, c, shift, W, none, total)
    return transform @ values @ transform.T


def add_columns(total, columns, left, right, rows, cols):
    """Adds the smooth kernels of single columns to a tile (T, rows, cols): products of Chebyshev features, by BLAS."""
    width = max(512, max(p for _, _, _, p, _ in columns))
    A = np.empty((*total.shape[:2], width), total.dtype)
    B = np.empty((width, total.shape[2]), total.dtype)
    filled = 0
    for i, middle, half, p, C in columns:
        if filled + p > width:
            total += A[:, :, :filled] @ B[:filled]
            filled = 0
        A[:, :, filled : filled + p] = _features(left[i].x[0, rows], middle, half, p).T @ C
        B[filled : filled + p] = _features(right[i].x[0, cols], middle, half, p)
        filled += p
    total += A[:, :, :filled] @ B[:filled]


def _features(x, middle, half, p):
    """T_k((x − middle) / half), (p, n)."""
    from ..loops.columns import chebyshev

    T = np.empty((p, x.size))
    chebyshev((x - middle) / half, T)
    return T


def column_products(group, left, right, chosen, vectors, middle, half, sizes, at, out):
    """Writes the products with smooth kernels of one column to out (T, kernels, n), kernel m of the chosen at at[m]."""
    from ..loops import columns as loops

    factor = np.empty((0, 0), group.pairs.dtype) if left.factor is None else left.factor[chosen]
    forms = group.degree[chosen], group.g[chosen].astype(float), group.c[chosen].astype(float)
    ends = left.x[0], right.x[0], middle, half
    loops.column_products(_KINDS[group.pairs.kind], *ends, sizes, *forms, vectors, factor, at, out)
