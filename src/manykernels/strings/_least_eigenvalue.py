"""The least eigenvalue of the matrix of a kernel of mismatches on given sequences."""

import numpy as np

from ..kernels.normalize import inverse_root
from .word_table import MAX_WORDS, WindowTable, windows_of

LEAST = 1e-3  # eigenvalue of a matrix with k(x, x) = 1 that counts as positive
PAIRS = 1500  # sequences up to which all pairs are compared; above, tables of words are multiplied with
FEWEST, STEPS = 40, 300  # steps of Lanczos' method, at least and at most
PRECISION = 0.1  # of the eigenvalue, relative


class Indefinite(ValueError):
    """A kernel is not positive semidefinite on the training sequences."""


def least_eigenvalue(kernel, X):
    """The least eigenvalue of k(x, y) / √(k(x, x) k(y, y)) on the different sequences of X that have a word.

    Of up to `PAIRS` sequences it is exact. Of more, Lanczos' method gives it to `PRECISION`, an upper bound if it is
    not above `LEAST`, and −inf if it does not converge or if the words are too many for a table. A kernel with gamma is
    positive semidefinite if the kernel under it is.
    """
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

    return _lanczos(product, n)


def _lanczos(product, n):
    """The least Ritz value, once it has converged, or is not above `LEAST`: nor is the least eigenvalue then."""
    from scipy.linalg import eigh_tridiagonal

    w, basis = np.random.default_rng(0).normal(size=n), np.empty((min(n, STEPS), n))
    alpha, beta = np.empty(len(basis)), np.empty(len(basis))
    for k in range(len(basis)):
        basis[k] = w / np.linalg.norm(w)
        w = product(basis[k])
        alpha[k] = w @ basis[k]
        for _ in range(2):
            w -= basis[: k + 1].T @ (basis[: k + 1] @ w)
        beta[k] = np.linalg.norm(w)
        value, vector = eigh_tridiagonal(alpha[: k + 1], beta[:k], select="i", select_range=(0, 0))
        near = k >= FEWEST and beta[k] * abs(vector[-1, 0]) <= PRECISION * value[0]
        if value[0] <= LEAST or near or k + 1 == n:
            return float(value[0])
    return -np.inf


def _different(kernel, X):
    """The first row of each sequence; a sequence and its other strand are one if the kernel reads both."""
    X = X.window(kernel.start, kernel.stop)
    texts = list(X)
    if kernel.reverse_complement:
        texts = list(map(min, texts, X.reverse_complement()))
    return np.unique(texts, return_index=True)[1]
