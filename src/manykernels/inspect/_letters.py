"""What every letter of sequences does to the parts f_m(x) = r(x) Σ_i a_i r(x_i) k_m(x_i, x) of a model, per letter.

r is 1, or k(x, x)^−½ if the kernels are normalised to k(x, x) = 1. Kernels Σ c(mismatches of windows u of x and v of
x_i) have a value for every word, W = C Σ_i a_i r(x_i) p(x_i) (banks/words/tables.py): a substitution changes the l
windows that cover it. Values lie one sequence after another, (letters of all sequences, A).
"""

from typing import NamedTuple

import numpy as np
from sklearn.base import clone

from .._threads import n_threads, run_blocks, slices
from ..kernels.normalize import inverse_root
from ..strings import GappedKmer, Mismatch, Spectrum
from ..strings.word_table import MAX_WORDS, WindowTable, windows_of


class Radial(NamedTuple):
    """The matrix c(mismatches of u and v) of words of l letters, as `WindowTable` takes it."""

    l: int  # noqa: E741 (the paper's name)
    c: np.ndarray
    reverse_complement: bool

    def mismatches(self, size):
        return self.l, self.c


class WordValues:
    """One kernel Σ_{windows} c(mismatches) between new sequences X and the support.

    Parameters
    ----------
    kernel : Spectrum, Mismatch or GappedKmer
    support : Sequences
    coef : array (n_support,)
        With the weight, the scale and the factors of the kernel.
    spherical : bool
        Whether k(x, x) is normalised to 1.
    """

    def __init__(self, kernel, support, coef, spherical, n_jobs):
        self.gamma = kernel.gamma if isinstance(kernel, GappedKmer) else None
        self.kernel = kernel if self.gamma is None else clone(kernel).set_params(gamma=None)
        self.support, self.coef, self.spherical, self.n_jobs = support, coef, spherical, n_jobs
        self.alphabet, size = support.alphabet, support.alphabet.size
        windows, both = windows_of(self.kernel, support), kernel.reverse_complement
        self.tables = [WindowTable(Radial(*part, both), self.alphabet, windows) for part in word_parts(kernel, size)]

    def _sums(self, table, coef):
        """Σ_i coef_i p(x_i), (A^l,)."""
        out = np.zeros(np.prod(table.shape))
        table.count(np.arange(len(coef)), coef, out, self.n_jobs)
        return out

    def _blocks(self, work, rows):
        """work(some of the rows), on all threads."""
        parts = slices(len(rows), min(len(rows), 4 * n_threads(self.n_jobs)))
        run_blocks(lambda part: work(rows[part]), parts, self.n_jobs)

    def changes(self, X, rows):
        """f(x with letter a at p) − f(x), (letters, A), of the sequences `rows`, which have no unknown letters."""
        from ..loops.explain import own_changes, substitute

        size, windows = self.alphabet.size, windows_of(self.kernel, X)
        shape = len(windows[0]), size
        total, out = np.zeros(len(X)), np.zeros(shape)
        own, own_out = np.zeros(len(X)), np.zeros(shape if self.spherical else (0, size))
        opposite = self.alphabet.opposite().astype(np.int64) if self.kernel.reverse_complement else np.empty(0, int)
        for table in self.tables:
            W = table.multiply(self._sums(table, self.coef), self.n_jobs)
            l, c = table.kernel.l, np.asarray(table.kernel.c, float)  # noqa: E741 (the paper's name)

            def some(rows, l=l, c=c, W=W):  # noqa: E741 (the paper's name)
                substitute(*windows, rows, l, size, W, total, out)
                if self.spherical:
                    own_changes(*windows, rows, l, c, opposite, own, own_out)

            self._blocks(some, rows)
        if not self.spherical:
            return out
        at = np.repeat(np.arange(len(X)), X.lengths)
        after = (total[at, None] + out) * inverse_root(own[at, None] + own_out)
        return after - (total * inverse_root(own))[at, None]

    def contributions(self, X, mode):
        """(the values of `mode` (letters, A), what they leave out of f (n,)); see `explain_sequences`."""
        size, windows = self.alphabet.size, windows_of(self.kernel, X)
        out, rest = np.zeros((len(windows[0]), size)), np.zeros(len(X))
        if self.gamma is None:
            self._spread(windows, np.arange(len(X)), self.coef, mode, out)
            root = inverse_root(self.kernel.diag(X)) if self.spherical else np.ones(len(X))
        else:
            root, own = inverse_root(self.kernel.diag(X)), inverse_root(self.kernel.diag(self.support))
            blank = np.exp(-self.gamma)
            K = self.kernel(X, self.support) * root[:, None] * own
            factor = np.divide(
                np.exp(self.gamma * (K - 1)) - blank, K, out=np.full_like(K, self.gamma * blank), where=np.abs(K) > 1e-9
            )
            if self.spherical:  # exp(γ(k(x, x) − 1)) is 1, except for a sequence without windows
                self_root = np.where(root > 0, 1.0, np.exp(0.5 * self.gamma))
                factor, rest = factor * self_root[:, None], self_root
            else:
                rest = np.ones(len(X))
            rest = rest * (blank * self.coef.sum())
            for r in range(len(X)):
                self._spread(windows, np.array([r]), self.coef * factor[r] * own, mode, out)
        return out * np.repeat(root, X.lengths)[:, None], rest

    def _spread(self, windows, rows, coef, mode, out):
        """Adds the values of these rows before normalisation to `out`, from tables for each place of the words."""
        from ..loops.explain import spread
        from ..loops.word_tables import add_backwards

        size = self.alphabet.size
        for table in self.tables:
            v, l = self._sums(table, coef), table.kernel.l  # noqa: E741 (the paper's name)
            if table.both:
                add_backwards(v, table.backwards, table.shape[1])
            shares = place_values(table.kernel.c, l, mode)
            for q in range(l):
                moved = np.ascontiguousarray(np.moveaxis(v.reshape(size**q, size, -1), 1, 0)).reshape(size, -1)
                made = [(g, self._at_place(g, l, moved)) for g in dict.fromkeys(map(tuple, shares))]
                found = tuple(dict(made)[tuple(g)] for g in shares)
                shape = l, q, size, found
                self._blocks(lambda some, shape=shape: spread(*windows, some, *shape, out), rows)

    def _at_place(self, g, l, moved):  # noqa: E741 (the paper's name)
        """Σ_v g(mismatches of u and v at the other places) [v has the letter of u at this place], (A^l,)."""
        if not any(g):
            return np.empty(0)
        matrix = WindowTable(Radial(l - 1, np.array(g[:l]), False), self.alphabet, None)
        return np.concatenate([matrix.multiply(part, self.n_jobs) for part in moved])


def place_values(c, l, mode):  # noqa: E741 (the paper's name)
    """(own, gain, loss): values of a place by the mismatches h = 0 … d of two windows at the others, see `spread`."""
    c, h = np.append(c, 0.0), np.arange(len(c))
    share, step, none = c[:-1] / np.maximum(l - h, 1), c[:-1] - c[1:], np.zeros(len(h))
    within = h < len(h) - 1  # a mismatch here makes d at most
    return [
        (share, none, none),
        (share, share * within, none),
        (share, share, none),
        (none, step * within, step),
        (none, step, step),
    ][mode]


def word_parts(kernel, size):
    """[(l, c)] with k = Σ of the kernels c(mismatches of windows of l letters); [] if it is none, gamma aside."""
    if isinstance(kernel, Spectrum) and kernel.power == 1:
        return [(k, np.ones(1)) for _, k, _ in kernel.channels(size)]
    return [kernel.mismatches(size)] if isinstance(kernel, GappedKmer | Mismatch) else []


def has_values(kernel, support):
    """Whether `WordValues` serves this kernel with this support, gamma aside."""
    if support is None:
        return False
    size = support.alphabet.size
    parts = word_parts(kernel, size)
    return bool(parts) and max(size**l for l, _ in parts) <= MAX_WORDS and counts_whole(kernel, support)  # noqa: E741


def counts_whole(kernel, X):
    """Whether an unknown letter of X would only leave out windows."""
    return kernel.whole or isinstance(kernel, Spectrum) or not X.n_unknown().any()
