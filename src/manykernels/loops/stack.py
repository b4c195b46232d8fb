"""Passes over a stack of kernel matrices, in both memory orders.

`first`: S is (M, n, n'), each matrix contiguous.  `last`: S is (n, n', M), the kernels of one pair contiguous.
Sums run in the type of their inputs, or of their weights, over short runs and in float64 over runs. `shift` (M,) is
subtracted from the entries of each kernel: it keeps float32 digits where a kernel is nearly constant.
"""

import numpy as np
from numba import njit

from . import INNER, OPTIONS

RUN_LENGTH = 256  # entries
FEW = 16  # one in so many kernels of (n, n, M) are read one by one
Place = np.uint64  # of an entry in a run: a slice counts references, and a signed place may count from the end


@njit(**INNER)
def _add4(o, s0, s1, s2, s3, w, h):
    (w0, w1, w2, w3), (h0, h1, h2, h3) = w, h
    for j in range(len(o)):
        o[j] += w0 * (s0[j] - h0) + w1 * (s1[j] - h1) + w2 * (s2[j] - h2) + w3 * (s3[j] - h3)


@njit(**OPTIONS)
def combine_first(S, kernels, w, shift, rows, cols, triangle, out, line):
    """out[r, j] = Σ_k w_k (S[kernels_k, rows_r, cols_j] − shift_k); with triangle >= 0 only for j >= triangle + r.

    The number of kernels is a multiple of four, cols are sorted: whole runs of columns are summed into `line`, and then
    picked.
    """
    end, dense = cols[-1] + 1, len(cols) == cols[-1] + 1 - cols[0]
    for r in range(len(rows)):
        i, j0 = rows[r], triangle + r if triangle >= 0 else 0
        c0 = cols[j0]
        part = out[r, j0:] if dense else line[c0:end]
        part[:] = 0
        for k in range(0, len(kernels), 4):
            s0, s1, s2, s3 = S[kernels[k], i], S[kernels[k + 1], i], S[kernels[k + 2], i], S[kernels[k + 3], i]
            four, shifts = (w[k], w[k + 1], w[k + 2], w[k + 3]), (shift[k], shift[k + 1], shift[k + 2], shift[k + 3])
            _add4(part, s0[c0:end], s1[c0:end], s2[c0:end], s3[c0:end], four, shifts)
        for j in range(len(cols) if dense else j0, len(cols)):
            out[r, j] = line[cols[j]]


@njit(**OPTIONS)
def combine_picked(S, kernels, w, shift, rows, cols, triangle, out):
    """As `combine_first`, entry by entry, for few columns that are far between and any number of kernels."""
    for r in range(len(rows)):
        j0 = triangle + r if triangle >= 0 else 0
        o, few = out[r, j0:], cols[j0:]
        o[:] = 0
        for k in range(len(kernels)):
            s, wk, h = S[kernels[k], rows[r]], w[k], shift[k]
            for j in range(len(o)):
                o[j] += wk * (s[few[j]] - h)


@njit(**INNER)
def _dot(w, s, h):
    total = w[0] - w[0]
    for m in range(len(w)):
        total += w[m] * (s[m] - h[m])
    return total


@njit(**OPTIONS)
def combine_last(S, kernels, w, shift, rows, cols, triangle, out):
    """As `combine_picked`; if `kernels` is empty, w and shift have an entry for every kernel."""
    C = len(cols)
    for r in range(len(rows)):
        i = rows[r]
        for j in range(triangle + r if triangle >= 0 else 0, C):
            s = S[i, cols[j]]
            if len(kernels) == 0:
                out[r, j] = _dot(w, s, shift)
            else:
                total = w[0] - w[0]
                for k in range(len(kernels)):
                    total += w[k] * (s[kernels[k]] - shift[k])
                out[r, j] = total


@njit(**INNER)
def _product(s, a, h):
    total = 0.0
    for b in range(0, len(a), RUN_LENGTH):
        part = a[0] - a[0]
        for j in range(Place(b), Place(_end(b, len(a)))):
            part += (s[j] - h) * a[j]
        total += part
    return total


@njit(**INNER)
def _end(start, last):
    """The end of a run; numba's min is one more function to compile."""
    return start + RUN_LENGTH if start + RUN_LENGTH < last else last


@njit(**OPTIONS)
def multiply_first(S, kernels, shift, wide, sums, cols, rows, first, line, out):
    """out[t, k, first + r] = Σ_j (S[kernels_k, rows_r, cols_j] − shift_k) A[t, j] + shift_k sums_t, sums_t = Σ_j A_tj.

    cols are sorted. `wide` is A with zeros for the columns between, and `line` is empty; or `wide` is A, and `line`
    is scratch for the entries at cols, which are far between.
    """
    for r in range(len(rows)):
        i = rows[r]
        for k in range(len(kernels)):
            m, h = kernels[k], shift[k]
            for j in range(len(line)):
                line[j] = S[m, i, cols[j]]
            s = line if len(line) else S[m, i, cols[0] : cols[-1] + 1]
            for t in range(len(wide)):
                out[t, k, first + r] = _product(s, wide[t], h) + h * sums[t]


@njit(**INNER)
def _multiply4(y, s, wide, h, a):
    """y += Σ_k a_k (s_k − h); returns the four (s_k − h)·wide."""
    (s0, s1, s2, s3), (a0, a1, a2, a3) = s, a
    t0, t1, t2, t3 = 0.0, 0.0, 0.0, 0.0
    for j in range(len(y)):
        x0, x1, x2, x3, w = s0[j] - h, s1[j] - h, s2[j] - h, s3[j] - h, wide[j]
        y[j] += a0 * x0 + a1 * x1 + a2 * x2 + a3 * x3
        t0 += x0 * w
        t1 += x1 * w
        t2 += x2 * w
        t3 += x3 * w
    return t0, t1, t2, t3


@njit(**OPTIONS)
def multiply_half(K, h, wide, cols, at, r0, r1, lines, out):
    """out[t] += the part of (K[cols, cols] − h) A[t] by the pairs r0 ≤ r < r1, j ≥ r, and their mirror images.

    K is symmetric, cols are sorted; example r is at place at[r] of `wide` and `out`. Whole runs of columns are read,
    four rows at a time. If cols are far between, `wide` is A, and `lines` (4, |cols|) is scratch for their entries.
    """
    start, end, gather = cols[0], cols[-1] + 1, lines.shape[1] > 0
    for r in range(r0, r1, 4):
        few = r1 - r if r1 - r < 4 else 4
        for p in range(few):
            for q in range(p, few):
                x = K[cols[r + p], cols[r + q]] - h
                for t in range(len(out)):
                    out[t, at[r + p]] += x * wide[t, at[r + q]]
                    if q > p:
                        out[t, at[r + q]] += x * wide[t, at[r + p]]
        for p in range(few if gather else 0):
            row = K[cols[r + p]]
            for j in range(r + few, len(cols)):
                lines[p, j] = row[cols[j]]
        c, p1, p2, p3 = at[r + few - 1] + 1, 1 if few > 1 else 0, 2 if few > 2 else few - 1, few - 1
        if gather:
            s = lines[0, c:], lines[p1, c:], lines[p2, c:], lines[p3, c:]
        else:
            b = start + c
            s = K[cols[r], b:end], K[cols[r + p1], b:end], K[cols[r + p2], b:end], K[cols[r + p3], b:end]
        for t in range(len(out)):
            a0 = wide[t, at[r]]
            a1 = wide[t, at[r + 1]] if few > 1 else 0.0  # of rows that are not there
            a2 = wide[t, at[r + 2]] if few > 2 else 0.0
            a3 = wide[t, at[r + 3]] if few > 3 else 0.0
            found = _multiply4(out[t, c:], s, wide[t, c:], h, (a0, a1, a2, a3))
            for p in range(few):
                out[t, at[r + p]] += found[p]


@njit(**INNER)
def _add4_to(total, s0, s1, s2, s3, shift, a):
    a0, a1, a2, a3 = a
    for m in range(len(total)):
        h = shift[m]
        total[m] += a0 * (s0[m] - h) + a1 * (s1[m] - h) + a2 * (s2[m] - h) + a3 * (s3[m] - h)


@njit(**OPTIONS)
def multiply_last(S, kernels, shift, A, sums, cols, rows, out):
    """As `multiply_first`; shift has an entry for every kernel, `kernels` picks what is written."""
    (T, C), total = A.shape, np.empty(S.shape[2])
    alone = FEW * len(kernels) * T <= len(total)
    for r in range(len(rows)):
        i = rows[r]
        for t in range(T if alone else 0):
            for k in range(len(kernels)):
                m, h, some = kernels[k], shift[kernels[k]], 0.0
                for j in range(C):
                    some += A[t, j] * (S[i, cols[j], m] - h)
                out[t, k, r] = some + h * sums[t]
        for t in range(0 if alone else T):
            total[:] = 0.0
            for j in range(0, C, 4):  # the last column again, with weight 0, where C is no multiple of 4
                j1, j2, j3 = min(j + 1, C - 1), min(j + 2, C - 1), min(j + 3, C - 1)
                a1 = A[t, j1] if j1 > j else 0.0
                a2 = A[t, j2] if j2 > j1 else 0.0
                a3 = A[t, j3] if j3 > j2 else 0.0
                four = A[t, j], a1, a2, a3
                _add4_to(total, S[i, cols[j]], S[i, cols[j1]], S[i, cols[j2]], S[i, cols[j3]], shift, four)
            for k in range(len(kernels)):
                out[t, k, r] = total[kernels[k]] + shift[kernels[k]] * sums[t]


@njit(**INNER)
def _probe(row, w, middle, u, ui, back):
    """((row − middle)·w, (row − middle)·u), and back += u_i (row − middle)."""
    weighted, forth = 0.0, 0.0
    for b in range(0, len(row), RUN_LENGTH):
        p, q = w[0] - w[0], w[0] - w[0]
        for j in range(Place(b), Place(_end(b, len(row)))):
            x = row[j] - middle
            p += w[j] * x
            q += u[j] * x
            back[j] += ui * x
        weighted += p
        forth += q
    return weighted, forth


@njit(**OPTIONS)
def survey_first(K, w, middle, u, out):
    """One pass over a matrix: out = (Σ w_i w_j (k_ij − middle), largest |K u − Kᵀu|) for signs u: shows asymmetry.

    What is taken from the entries keeps the digits of nearly constant kernels, and entries near 0 from being subnormal
    numbers, which some processors multiply a hundred times slower.
    """
    n = len(K)
    some, back, forth = np.zeros(n, dtype=u.dtype), np.zeros(n), np.empty(n)
    total, skew = 0.0, 0.0
    for i in range(n):
        weighted, forth[i] = _probe(K[i], w, middle, u, u[i], some)
        total += w[i] * weighted
        if i % 32 == 31 or i == n - 1:  # longer sums would lose digits in float32
            for j in range(n):
                back[j] += some[j]
                some[j] = 0
    for i in range(n):
        d = abs(forth[i] - back[i])
        if not d <= skew:
            skew = d
    out[0], out[1] = total, skew


@njit(**INNER)
def _pairs(part, skew, u, v, x, y, middle, wu, wx):
    """Two entries u, v and their mirror images x, y: two at a time, since the loop waits for memory."""
    for m in range(len(part)):
        c = middle[m]
        left, right, top, bottom = u[m] - c, v[m] - c, x[m] - c, y[m] - c
        part[m] += wu * (left + right) + wx * (top + bottom)
        d, e = abs(left - right), abs(top - bottom)
        d = d if d > e else e
        skew[m] = d if d > skew[m] else skew[m]


@njit(**OPTIONS)
def survey_last(S, w, middle, i0, i1, total, skew):
    """Σ w_i w_j (k_ij − middle) and the largest |k_ij − k_ji| of all kernels over the pairs i0 ≤ i < i1, j ≥ i."""
    n, M, step = len(S), S.shape[2], 16
    part, none = np.empty(M, dtype=w.dtype), w.dtype.type(0)
    for j0 in range(i0, n, step):
        for i in range(i0, i1):
            part[:] = 0
            for j in range(max(j0, i + 1), min(j0 + step, n), 2):
                k = min(j + 1, min(j0 + step, n) - 1)  # the last entry again, with weight 0
                wk = w[k] if k > j else none
                _pairs(part, skew, S[i, j], S[j, i], S[i, k], S[k, i], middle, w[j], wk)
            for m in range(M):
                total[m] += w[i] * part[m]
    for i in range(i0, i1):
        for m in range(M):
            total[m] += w[i] * w[i] * (S[i, i, m] - middle[m])


@njit(**OPTIONS)
def gather_last(S, kernels, rows, cols, out):
    """out[k, r, j] = S[rows_r, cols_j, kernels_k]."""
    for r in range(len(rows)):
        for j in range(len(cols)):
            s = S[rows[r], cols[j]]
            for k in range(len(kernels)):
                out[k, r, j] = s[kernels[k]]
