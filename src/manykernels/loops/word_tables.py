"""Tables with a value for every word of l letters, and their product with a matrix of the numbers of mismatches.

Word u is the number Σ_i u_i A^{l − 1 − i} of its codes. The reflection Q of R^A that exchanges the first axis and the
direction of (1, …, 1) diagonalises both the identity and the matrix of ones. So Q ⊗ … ⊗ Q, which is its own inverse,
diagonalises every matrix c(mismatches of u and v): the eigenvalue λ_s of a place depends only on the number s of its
digits that are not 0. A product costs 2 l A^l multiplications or so, instead of A^{2l}.
"""

import numpy as np
from numba import njit

from . import OPTIONS

EXACT = OPTIONS | {"fastmath": False}  # sums in the order in which they are written
ONE = np.int64(1)  # a plain 1 would be a type of its own, for which loops are compiled again


@njit(**OPTIONS)
def reflect(values, stride, size):
    """Applies Q along all axes of `values` whose strides are stride, stride · size, …"""
    root = np.sqrt(float(size))
    while stride < len(values):
        for base in range(0, len(values), size * stride):
            for j in range(base, base + stride):
                total = 0.0
                for k in range(size):
                    total += values[j + k * stride]
                total /= root
                change = (total - values[j]) / (root - 1.0)
                values[j] = total
                for k in range(1, size):
                    values[j + k * stride] -= change
        stride *= size


@njit(**OPTIONS)
def reflect_four(values, stride):
    """`reflect` for four letters."""
    while stride < len(values):
        for base in range(0, len(values), 4 * stride):
            a, b = values[base : base + stride], values[base + stride : base + 2 * stride]
            c, d = values[base + 2 * stride : base + 3 * stride], values[base + 3 * stride : base + 4 * stride]
            for j in range(stride):
                total = 0.5 * ((a[j] + b[j]) + (c[j] + d[j]))
                change = total - a[j]
                a[j] = total
                b[j] -= change
                c[j] -= change
                d[j] -= change
        stride *= 4


@njit(**OPTIONS)
def reflect_rows(table, size):
    """Applies Q along the last places of the words, which the columns of `table` number."""
    for r in range(len(table)):
        if size == 4:
            reflect_four(table[r], ONE)
        else:
            reflect(table[r], ONE, size)


@njit(**OPTIONS)
def multiply_columns(table, low, high, size, by_row, by_column, eigenvalues):
    """On columns [low, high): Q along the first places of the words, the eigenvalues, and Q again.

    by_row, by_column: the numbers of digits that are not 0. Columns are copied one by one: as an assignment of slices
    that brings the text of an error, forty functions to compile.
    """
    width = high - low
    part = np.empty(len(table) * width)
    for r in range(len(table)):
        for j in range(width):
            part[r * width + j] = table[r, low + j]
    for turn in range(2):
        if size == 4:
            reflect_four(part, width)
        else:
            reflect(part, width, size)
        if turn == 0:
            for r in range(len(table)):
                for j in range(width):
                    part[r * width + j] *= eigenvalues[by_row[r] + by_column[low + j]]
    for r in range(len(table)):
        for j in range(width):
            table[r, low + j] = part[r * width + j]


@njit(**EXACT)
def add_backwards(values, backwards, n_low):
    """values[u] and values[rc u] = their sum; `backwards` holds rc of the words of at most half the letters.

    rc u = backwards[low] · (number of high parts) + backwards[high], u = high · n_low + low; the first n_low entries
    are for the low parts, the others for the high parts.
    """
    n_high = len(values) // n_low
    for high in range(n_high):
        for low in range(n_low):
            u = high * n_low + low
            other = backwards[low] * n_high + backwards[n_low + high]
            if other >= u:
                total = values[u] + values[other]
                values[u] = total
                values[other] = total


@njit(**OPTIONS)
def add_words(letters, begin, end, weights, rows, coef, l, size, out):  # noqa: E741 (the paper's name)
    """out[u] += coef_r for every window u of sequence rows[r], times its weight, of the letter at which it begins.

    Without `weights` (empty) all are 1.
    """
    top = size ** (l - 1)
    for r in range(len(rows)):
        code, run = np.int64(0), 0
        for p in range(begin[rows[r]], end[rows[r]]):
            letter = np.int64(letters[p])
            run = run + 1 if letter < size else 0
            if run > l:
                code -= top * letters[p - l]
            code = code * size + letter if run > 0 else 0
            if run >= l:
                out[code] += coef[r] * weights[p - l + 1] if len(weights) > 0 else coef[r]


@njit(**EXACT)
def look_up(letters, begin, end, weights, rows, l, size, table, out):  # noqa: E741 (the paper's name)
    """out[r] = Σ table[u] over the windows u of sequence rows[r], times weights as in `add_words`.

    To the last bit the same for the other strand.
    """
    top, most = size ** (l - 1), 0
    for r in rows:
        most = end[r] - begin[r] if end[r] - begin[r] > most else most
    found = np.empty(most)
    for r in range(len(rows)):
        code, run, n = np.int64(0), 0, 0
        for p in range(begin[rows[r]], end[rows[r]]):
            letter = np.int64(letters[p])
            run = run + 1 if letter < size else 0
            if run > l:
                code -= top * letters[p - l]
            code = code * size + letter if run > 0 else 0
            if run >= l:
                found[n] = table[code] * weights[p - l + 1] if len(weights) > 0 else table[code]
                n += 1
        total = 0.0
        for k in range(n // 2):
            total += found[k] + found[n - 1 - k]
        out[r] = total + found[n // 2] if n % 2 else total
