"""Kernels of mismatches: their exact weights, the matrix between all words, and the least eigenvalue on sequences.

c(m) is the weight of two words of l letters with m mismatches in the kernels of gkm-SVM, an exact fraction.
A is the number of letters of the alphabet. Ghandi et al. (2014) estimate the counts of words from those of gapped
words: a word adds f(m) to the estimate of a word with m mismatches,

    f(m) = Σ_i w_i C(l − m, k − i) C(m, i) ,
    w_i = (−1)^i C(l − k + i − 1, i) / C(k, i) · S(k − i) / (C(l, k) A^l) ,   S(q) = Σ_{i <= q} C(l, i) (A − 1)^i .

The kernel is the inner product of the estimates. With all of f this is c = f; "truncated" sets f to 0 from its first
value that is not positive on.
"""

from contextlib import suppress
from fractions import Fraction
from functools import lru_cache
from math import comb

import numpy as np

from .._threads import run_blocks, slices
from ..kernels.normalize import inverse_root
from ._words import backwards

FILTERS = ("counts", "full", "truncated")


@lru_cache(maxsize=64)
def mismatch_weights(l, k, d, rule, size):  # noqa: E741 (the paper's name)
    """(c(0) … c(d), the smallest eigenvalue of the matrix c(mismatches) [mismatches <= d] of all words)."""
    if rule == "counts":
        c = [Fraction(comb(l - m, k)) for m in range(d + 1)]
    else:
        f = _estimate(l, k, size)
        end = next((m for m, value in enumerate(f) if value <= 0), l + 1)
        c = f[: d + 1] if rule == "full" else [_product(f[:end], l, m, size) for m in range(d + 1)]
    return tuple(c), min(eigenvalue(c, l, s, size) for s in range(l + 1))


def eigenvalue(c, l, s, size):  # noqa: E741 (the paper's name)
    """The eigenvalue of the matrix c(mismatches) of all words, for characters that depend on s of their letters."""
    return sum(weight * _krawtchouk(l, m, s, size) for m, weight in enumerate(c))


def channel_weights(c, l):  # noqa: E741 (the paper's name)
    """v_0 … v_l with Σ_j v_j C(l − m, j) = c(m), 0 from m = len(c) on: the weight of j common letters."""
    by_matches = [Fraction(0)] * (l + 1 - len(c)) + list(reversed(c))
    return [
        sum(((-1) ** (j - i) * comb(j, i) * by_matches[i] for i in range(j + 1)), Fraction(0)) for j in range(l + 1)
    ]


def _estimate(l, k, size):  # noqa: E741 (the paper's name)
    """f(0) … f(l)."""
    w = []
    for i in range(k + 1):
        ways = Fraction(comb(l - k + i - 1, i), comb(k, i)) if i else Fraction(1)
        spheres = sum(comb(l, q) * (size - 1) ** q for q in range(k - i + 1))
        w.append((-1) ** i * ways * spheres / (comb(l, k) * size**l))
    return [sum(w[i] * comb(l - m, k - i) * comb(m, i) for i in range(min(m, k) + 1)) for m in range(l + 1)]


def _product(f, l, m, size):  # noqa: E741 (the paper's name)
    """Σ_w f(mismatches of u and w) f(mismatches of v and w) over all words w, for u and v with m mismatches.

    w differs from both at t of the other l − m places; of the m places it agrees with v, or with neither, at a places,
    and with neither at r of these.
    """
    total = Fraction(0)
    for t in range(l - m + 1):
        for a in range(m + 1):
            for r in range(a + 1):
                one, other = t + a, t + m - a + r
                if one < len(f) and other < len(f):
                    ways = comb(l - m, t) * (size - 1) ** t * comb(m, a) * comb(a, r) * (size - 2) ** r
                    total += ways * f[one] * f[other]
    return total


def _krawtchouk(l, m, s, size):  # noqa: E741 (the paper's name)
    """The eigenvalue of the matrix [m mismatches] of all words, for characters that depend on s letters."""
    return sum((-1) ** j * (size - 1) ** (m - j) * comb(s, j) * comb(l - s, m - j) for j in range(m + 1))


MAX_WORDS = 2**24  # of l letters: 128 MiB
COLUMNS = 256  # of a table that a thread works on at a time
LANES = 4  # parts of the examples whose windows are counted side by side
MIN_LANE_LETTERS = 2**18  # in a part


class WindowTable:
    """The windows of one kernel in some sequences, and the product with its matrix C (1 + R)."""

    def __init__(self, kernel, alphabet, windows):
        self.kernel, self.windows, self.both = kernel, windows, kernel.reverse_complement
        self.size, (self.l, c) = alphabet.size, kernel.mismatches(alphabet.size)
        found = [eigenvalue(c, self.l, s, self.size) for s in range(self.l + 1)]
        self.eigenvalues = np.array(found, dtype=float)
        low = self.l // 2
        self.shape = self.size ** (self.l - low), self.size**low
        self.digits = [(np.indices((self.size,) * k) != 0).sum(0).ravel() for k in (self.l - low, low)]  # not 0
        if self.both:
            numbers = [backwards(np.arange(self.size**k), k, alphabet) for k in (low, self.l - low)]
            self.backwards = np.concatenate(numbers)

    def count(self, rows, coef, out, n_jobs):
        """out += Σ_r coef_r p(x_r)."""
        from ..loops.word_tables import add_words

        letters = int(np.sum(self.windows[2][rows] - self.windows[1][rows]))
        lanes = slices(len(rows), min(LANES, max(1, letters // MIN_LANE_LETTERS)))

        def lane(part):
            own = out if len(lanes) == 1 else np.zeros_like(out)
            add_words(*self.windows, rows[part], coef[part], self.l, self.size, own)
            return own

        found = run_blocks(lane, lanes, n_jobs)
        if len(lanes) > 1:
            for own in found:
                out += own

    def multiply(self, v, n_jobs):
        """C (1 + R) v, (A^l,)."""
        from ..loops.word_tables import add_backwards, multiply_columns, reflect_rows

        out = v.copy()
        if (self.eigenvalues == self.eigenvalues[0]).all():  # equal words only
            out *= self.eigenvalues[0]
        else:
            table = out.reshape(self.shape)
            rows, columns = (slices(k, -(-k // COLUMNS)) for k in self.shape)
            run_blocks(lambda part: reflect_rows(table[part], self.size), rows, n_jobs)
            run_blocks(
                lambda part: multiply_columns(table, part.start, part.stop, self.size, *self.digits, self.eigenvalues),
                columns,
                n_jobs,
            )
            run_blocks(lambda part: reflect_rows(table[part], self.size), rows, n_jobs)
        if self.both:
            add_backwards(out, self.backwards, self.shape[1])
        return out

    def look_up(self, table, rows, windows=None):
        """Σ_{windows u of x_r} table_u, (|rows|,); `windows` of other sequences."""
        from ..loops.word_tables import look_up

        out = np.empty(len(rows))
        look_up(*(self.windows if windows is None else windows), rows, self.l, self.size, table, out)
        return out


def is_weighted(kernel):
    return kernel.window_weights(1) is not None


def windows_of(kernel, X):
    """(letters, begin, end, weights): the windows of a kernel in X, and the weight of that at each letter, if any."""
    windows = kernel.windows(X)
    return *windows, kernel.weights_at(windows, kernel.shortest, False) if is_weighted(kernel) else np.empty(0)


LEAST = 1e-3  # eigenvalue of a matrix with k(x, x) = 1 that counts as positive
PAIRS = 1500  # sequences up to which all pairs are compared; above, tables of words are multiplied with
BASES = 40, 250  # vectors of Lanczos' method: the larger basis if the smaller one does not do
PRECISION = 0.1  # of the eigenvalue, relative


class Indefinite(ValueError):
    """A kernel is not positive semidefinite on the training sequences."""


def least_eigenvalue(kernel, X):
    """The least eigenvalue of k(x, y) / √(k(x, x) k(y, y)) on the different sequences of X that have a word.

    Of up to `PAIRS` sequences it is exact. Of more, Lanczos' method gives it to `PRECISION`, and −inf if it does not
    converge, as near 0, or if the words are too many for a table. A kernel with gamma is positive semidefinite if the
    kernel under it is.
    """
    from scipy.sparse.linalg import ArpackError, LinearOperator, eigsh

    kernel = type(kernel)(**kernel.get_params() | {"gamma": None})
    X = X[_different(kernel, X)]
    own = kernel.own(X)
    X, root = X[own > 0], inverse_root(own[own > 0])
    n, size = len(X), X.alphabet.size
    if n <= PAIRS:
        return float(np.linalg.eigvalsh(root * kernel(X) * root[:, None])[0]) if n else np.inf
    if size**kernel.l > MAX_WORDS:
        return -np.inf
    table, rows = WindowTable(kernel, X.alphabet, windows_of(kernel, X)), np.arange(n)

    def product(a):
        words = np.zeros(np.prod(table.shape))
        table.count(rows, np.ravel(a) * root, words, None)
        return root * table.look_up(table.multiply(words, None), rows)

    matrix, start = LinearOperator((n, n), matvec=product, dtype=float), np.random.default_rng(0).normal(size=n)
    for basis in BASES:
        with suppress(ArpackError):
            return float(eigsh(matrix, 1, which="SA", v0=start, ncv=min(n, basis), maxiter=1, tol=PRECISION)[0][0])
    return -np.inf


def _different(kernel, X):
    """The first row of each sequence; a sequence and its other strand are one if the kernel reads both."""
    X = X.window(kernel.start, kernel.stop)
    texts = list(X)
    if kernel.reverse_complement:
        texts = list(map(min, texts, X.reverse_complement()))
    return np.unique(texts, return_index=True)[1]
