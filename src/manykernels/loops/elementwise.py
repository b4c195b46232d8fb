"""Elementwise kernels of a base block, fused with their weighted sum or product, and the base blocks BLAS lacks.

A kernel is given by (degree, g, c): degree 0 is 2^(gB + c) with gB + c <= 0, degree d >= 1 is (gB + c)^d.
"""

import math
from collections import namedtuple
from typing import Any

import numpy as np
from numba import njit, types
from numba.extending import overload

from . import INNER, OPTIONS

# The round-to-nearest trick below must not be reassociated; the flags of a helper stay with it when it is inlined.
_EXACT: Any = {"fastmath": {"contract", "nsz", "nnan"}}
_CHUNK = 512

# view v has the rows start[v] to start[v + 1] of X and Y, the cells cells[v] to cells[v + 1] of the tables, and the
# kernels last[v] to last[v + 1]
ViewBounds = namedtuple("ViewBounds", "start cells last")
_TINY = np.float32(1e-36)  # makes 0/0 = 0
_SHIFT32, _SHIFT64 = np.float32(1.5 * 2**23 + 127), 1.5 * 2.0**52 + 1023
_A1, _A2, _A3, _A4, _A5 = (
    np.float32(v)  # minimax for 2^r on |r| <= 1/2, relative error 9e-8
    for v in (0.6931469775988577, 0.2402224208517298, 0.05550733743691056, 0.009671512648919417, 0.0013264727065248835)
)
_ONE, _LOW = np.float32(1), np.float32(-126)
_B1, _B2, _B3, _B4, _B5, _B6, _B7, _B8, _B9, _B10, _B11, _B12 = (
    math.log(2) ** k / math.factorial(k) for k in range(1, 13)
)


def _exp2(t):
    """2^t for t <= 0: t = k + r, |r| <= 1/2, a polynomial in r and k put into the exponent's bits."""
    return 2.0**t  # with NUMBA_DISABLE_JIT=1


@overload(_exp2, jit_options=_EXACT)
def _exp2_by_type(t):
    if t == types.float32:

        def exp2(t):
            t = _LOW if t < _LOW else t
            y = np.float32(t + _SHIFT32)
            r = t - (y - _SHIFT32)
            p = _ONE + r * (_A1 + r * (_A2 + r * (_A3 + r * (_A4 + r * _A5))))
            return p * np.int32(y.view(np.int32) << np.int32(23)).view(np.float32)
    else:

        def exp2(t):
            t = -1022.0 if t < -1022.0 else t
            y = np.float64(t + _SHIFT64)
            r = t - (y - _SHIFT64)
            p = _B6 + r * (_B7 + r * (_B8 + r * (_B9 + r * (_B10 + r * (_B11 + r * _B12)))))
            p = 1.0 + r * (_B1 + r * (_B2 + r * (_B3 + r * (_B4 + r * (_B5 + r * p)))))
            return p * np.int64(y.view(np.int64) << np.int64(52)).view(np.float64)

    return exp2


def _locate(v):
    """(cell, s): the exponent of v with the first five bits of its mantissa, and the rest as a fraction of the cell."""
    raise NotImplementedError


@overload(_locate, jit_options=_EXACT)
def _locate_by_type(v):
    if v == types.float32:

        def locate(v):
            bits = np.float32(v).view(np.int32)
            return bits >> np.int32(18), np.float32(bits & np.int32(0x3FFFF)) * np.float32(2.0**-18)
    else:

        def locate(v):
            bits = np.float64(v).view(np.int64)
            return bits >> 47, np.float64(bits & 0x7FFFFFFFFFFF) * 2.0**-47

    return locate


@njit(**INNER)
def _evaluate(b, degree, g, c, k):
    """k = the kernel at every entry of b."""
    if degree == 0:
        for j in range(b.size):
            k[j] = _exp2(g * b[j] + c)
    else:
        for j in range(b.size):
            k[j] = g * b[j] + c
        for _ in range(degree - 1):
            for j in range(b.size):
                k[j] *= g * b[j] + c


@njit(**OPTIONS)
def combine(B, degree, g, c, shift, W, F, out):
    """out += Σ_m W[m, i] (k_m(B_ij) − shift_m) F[m, j], with F = 1 where F is empty."""
    k = np.empty(_CHUNK, B.dtype)
    for i in range(B.shape[0]):
        for j0 in range(0, B.shape[1], _CHUNK):
            b, o = B[i, j0 : j0 + _CHUNK], out[i, j0 : j0 + _CHUNK]
            for m in range(g.size):
                w = W[m, i]
                if w == 0:
                    continue
                gm, cm, sm = g[m], c[m], shift[m]
                if F.size > 0:
                    f = F[m, j0 : j0 + _CHUNK]
                    _evaluate(b, degree[m], gm, cm, k)
                    for j in range(b.size):
                        o[j] += w * ((k[j] - sm) * f[j])
                elif degree[m] == 0:
                    for j in range(b.size):
                        o[j] += w * (_exp2(gm * b[j] + cm) - sm)
                else:
                    _evaluate(b, degree[m], gm, cm, k)
                    for j in range(b.size):
                        o[j] += w * (k[j] - sm)


@njit(**OPTIONS)
def multiply(B, degree, g, c, A, out):
    """out[i, m, t] += Σ_j k_m(B_ij) A[m, t, j] in float64, chunks of j in the type of B; A may have one m for all."""
    k = np.empty(_CHUNK, B.dtype)
    for i in range(B.shape[0]):
        for j0 in range(0, B.shape[1], _CHUNK):
            b = B[i, j0 : j0 + _CHUNK]
            for m in range(g.size):
                _evaluate(b, degree[m], g[m], c[m], k)
                for t in range(A.shape[1]):
                    a = A[m if A.shape[0] > 1 else 0, t, j0 : j0 + _CHUNK]
                    total = B.dtype.type(0)
                    for j in range(b.size):
                        total += k[j] * a[j]
                    out[i, m, t] += total


@njit(**OPTIONS)
def tabulate(B, table, delta, first, out):
    """out += f(B), a polynomial on each cell; cells split every octave of B + delta into 32; table (cells, 4 | 8)."""
    last = table.shape[0] - 1
    for i in range(B.shape[0]):
        for j in range(B.shape[1]):
            cell, s = _locate(B[i, j] + delta)
            p = table[cell - first if cell - first < last else last]
            f = p[0] + s * (p[1] + s * (p[2] + s * p[3]))
            if table.shape[1] == 8:
                s2 = s * s
                f += s2 * s2 * (p[4] + s * (p[5] + s * (p[6] + s * p[7])))
            out[i, j] += f


@njit(**OPTIONS)
def add_views(kind, X, Y, bounds, tables, delta, first, forms, W, out):
    """`pair`, `tabulate` and `combine`, line by line, of many views; `forms` are (degree, g, c, shift)."""
    (start, cells, last), (degree, g, c, shift) = bounds, forms
    B, none = np.empty((1, Y.shape[1]), Y.dtype), np.empty((0, 0), Y.dtype)
    for v in range(delta.size):
        x, y, table = X[start[v] : start[v + 1]], Y[start[v] : start[v + 1]], tables[cells[v] : cells[v + 1]]
        low, high = last[v], last[v + 1]
        for i in range(out.shape[0]):
            o = out[i : i + 1]
            pair(kind, x, i, y, B)
            if table.shape[0]:
                tabulate(B, table, delta[v], first[v], o)
            if high > low:
                combine(B, degree[low:high], g[low:high], c[low:high], shift[low:high], W[low:high], none, o)


@njit(**OPTIONS)
def scatter(B, A, delta, first, H):
    """The transpose of `tabulate`: H[i, t, cell, p] += Σ_j A[t, j] s_ij^p, so that K_m A[t] = H[:, t] · table_m."""
    last = H.shape[2] - 1
    for i in range(B.shape[0]):
        for t in range(A.shape[0]):
            for j in range(B.shape[1]):
                cell, s = _locate(B[i, j] + delta)
                h = H[i, t, cell - first if cell - first < last else last]
                a, x = np.float64(A[t, j]), np.float64(s)
                x2 = x * x
                h[0] += a
                h[1] += a * x
                h[2] += a * x2
                h[3] += a * x * x2
                if H.shape[3] == 8:
                    a *= x2 * x2
                    h[4] += a
                    h[5] += a * x
                    h[6] += a * x2
                    h[7] += a * x * x2


@njit(**OPTIONS)
def pair(kind, X, first, Y, out):
    """out_ij = Σ_k of xy, (x−y)², |x−y|, (x−y)²/(x+y), min(x, y) for kind 0..4; X (d, rows), Y (d, cols).

    Row i of `out` belongs to row first + i of X. The arrays are C-ordered: another order would be compiled again.
    """
    for i in range(out.shape[0]):
        o = out[i]
        o[:] = 0
        for k in range(X.shape[0]):
            x, y = X[k, first + i], Y[k]
            if kind == 0:
                for j in range(o.size):
                    o[j] += x * y[j]
            elif kind == 1:
                for j in range(o.size):
                    o[j] += (x - y[j]) * (x - y[j])
            elif kind == 2:
                for j in range(o.size):
                    o[j] += abs(x - y[j])
            elif kind == 3:
                for j in range(o.size):
                    o[j] += (x - y[j]) * (x - y[j]) / (x + y[j] + _TINY)
            else:
                for j in range(o.size):
                    o[j] += x if x < y[j] else y[j]


@njit(**OPTIONS)
def features(X, middle, half, node, out):
    """out[node[j] + k] = T_k((X_j − middle_j) / half_j) by T_k(z) = 2z T_{k−1}(z) − T_{k−2}(z)."""
    for j in range(len(X)):
        x, first, last = X[j], node[j], node[j + 1]
        for i in range(len(x)):
            out[first, i] = 1.0
            if last > first + 1:
                out[first + 1, i] = (x[i] - middle[j]) / half[j]
        for k in range(first + 2, last):
            new, one, previous, before = out[k], out[first + 1], out[k - 1], out[k - 2]
            for i in range(len(x)):
                new[i] = 2.0 * one[i] * previous[i] - before[i]
