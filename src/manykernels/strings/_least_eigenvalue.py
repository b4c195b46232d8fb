"""The least eigenvalue of the matrix of a kernel of mismatches on given sequences."""

from contextlib import suppress

import numpy as np

from ..kernels.normalize import inverse_root
from .word_table import MAX_WORDS, WindowTable, windows_of

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
