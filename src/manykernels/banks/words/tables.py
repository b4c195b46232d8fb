"""Kernels of the mismatches of windows, with a value for every possible word of l letters.

    k(x, y) = Σ_{windows u of x, v of y} c(mismatches of u and v) = p(x)ᵀ C p(y) ,   p_u(x) the number of windows u

The values of v = Σ_i a_i p(x_i) and of C v are A^l numbers. A product K a counts the windows of all examples,
multiplies by C (loops/word_tables) and looks every window up: a few nanoseconds for each letter, whatever the number of
ways in which two windows may agree. So these kernels are multiplied with, and not built, from some number of examples
on; and predictions look windows up in C v.

Where both strands count, k(x, y) + k(x, rc y) = p(x)ᵀ C (1 + R) p(y) with R the reverse complement of words.
"""

import numpy as np

from ..._limits import MemoryBudget
from ..._state import check
from ...kernels.normalize import inverse_root
from ...sequences.alphabet import DNA
from ...strings.base import check_alike
from ...strings.word_table import MAX_WORDS, WindowTable, is_weighted, windows_of
from ..explicit import ExplicitBank, Vectors, diagonals, len_of
from .linadd import looked_up, numbers

PRODUCTS, MIXTURE_STEPS = 250, 4  # in a fit of one kernel at a gap of 1e-3, and times that with several kernels
SMOOTH_SHARE = 0.25  # of these with a smooth loss: 12 products at C = 1, 110 at C = 100
PAIR_SECONDS, WORD_SECONDS, LETTER_SECONDS = 6e-9, 3e-8, 6e-9  # 64 pairs of windows; a word of a table; a letter
LOOK_UP_ROWS = 4096  # at a time


class TableBank(ExplicitBank):
    """Kernels with `mismatches`, such as `GappedKmer` and `Mismatch`."""

    file_tag = ("bank/tables", 1)
    saved = ExplicitBank.of_words
    even = True

    def __init__(self, kernels, views, *, weights, normalize, memory_limit, n_jobs):
        self.hold(kernels, views, n_jobs, memory_limit)
        self.own = diagonals(kernels, views)
        self.normalise(weights, normalize)

    @classmethod
    def from_list(cls, kernels, X, *, weights=None, normalize="multiplicative", memory_limit=None, n_jobs=1):
        """The bank of a `KernelList`; None if a kernel is not of mismatches, or its words are too many."""
        views = kernels.views(X)
        if not fits_tables(kernels, views, memory_limit):
            return None
        return cls(kernels, views, weights=weights, normalize=normalize, memory_limit=memory_limit, n_jobs=n_jobs)

    def check_state(self):
        super().check_state()
        check(fits_tables(self.kernels, self.views, None), "kernels have too many words for tables")
        self.prepare()

    def prepare(self):
        windows, self.words = {}, []
        for m, (kernel, v) in enumerate(zip(self.kernels.kernels, self.kernels.view_of, strict=True)):
            part = v, kernel.start, kernel.stop, m if is_weighted(kernel) else None
            if part not in windows:
                windows[part] = windows_of(kernel, self.views[v].X)
            self.words.append(WindowTable(kernel, self.views[v].X.alphabet, windows[part]))

    def vectors(self):
        return TableVectors(self)


class TableVectors(Vectors):
    """v_m (A^l,) of every kernel, and C_m v_m where it was asked for since the last change."""

    def __init__(self, bank):
        self.bank, self.a, self.tables = bank, np.zeros(bank.n), {}
        self.values = [np.zeros(np.prod(own.shape)) for own in bank.words]
        self.nbytes = 2 * sum(values.nbytes for values in self.values)

    @property
    def q(self):
        return self.bank.scale * [max(float(v @ self._table(m)), 0.0) for m, v in enumerate(self.values)]

    def _table(self, m):
        if m not in self.tables:
            self.tables[m] = self.bank.words[m].multiply(self.values[m], self.bank.n_jobs)
        return self.tables[m]

    def clear(self):
        self.tables, self.a[:] = {}, 0.0
        for values in self.values:
            values[:] = 0.0

    def add(self, rows, before, delta):
        keep = np.flatnonzero(delta)
        if not len(keep):
            return
        rows, delta, root = numbers(rows)[keep], np.asarray(delta, dtype=np.float64)[keep], self.bank.root
        self.tables, self.a[rows] = {}, self.a[rows] + delta
        for m, (own, values) in enumerate(zip(self.bank.words, self.values, strict=True)):
            own.count(rows, delta if root is None else delta * root[rows, m], values, self.bank.n_jobs)

    def outputs(self, rows, theta, a):
        return self._sums(numbers(rows), np.asarray(theta, dtype=float))

    def parts(self, rows, a):
        return self._sums(numbers(rows))

    def _sums(self, rows, theta=None):
        bank = self.bank
        root = None if bank.root is None else bank.root[rows]
        return self._look_up(root, theta, len(rows), lambda m, part: bank.words[m].look_up(self._table(m), rows[part]))

    def at(self, views, theta=None):
        bank = self.bank
        for view, own in zip(views, bank.views, strict=True):
            check_alike(view.X.alphabet, own.X.alphabet)
        root = None if bank.root is None else inverse_root(diagonals(bank.kernels, views))
        asked = range(bank.M) if theta is None else np.flatnonzero(np.asarray(theta) * bank.scale)
        there = {m: windows_of(bank.words[m].kernel, views[bank.kernels.view_of[m]].X) for m in asked}
        everyone = np.arange(len_of(views))

        def sums(m, part):
            found = bank.words[m].look_up(self._table(m), everyone[part], there[m])
            self._correct(m, views[bank.kernels.view_of[m]].X[part], there[m], part, found)
            return found

        return self._look_up(root, theta, len(everyone), sums)

    def _correct(self, m, X, windows, part, out):
        """Compares the sequences with unknown letters in pairs, where such a letter is a mismatch."""
        bank, kernel, rows = self.bank, self.bank.words[m].kernel, np.flatnonzero(self.a)
        if kernel.whole or X.bits == 2:
            return
        letters, begin, end, _ = windows
        before = np.concatenate([[0], np.cumsum(letters >= X.alphabet.size)])
        strange = np.flatnonzero(before[end[part]] > before[begin[part]])
        if len(strange):
            a = self.a[rows] if bank.root is None else self.a[rows] * bank.root[rows, m]
            out[strange] = kernel.between(X[strange], bank.views[bank.kernels.view_of[m]].X[rows]) @ a

    def _look_up(self, root, theta, n, sums):
        """The outputs (n,), or without θ the parts (n, M), from sums(m, part) of windows before normalisation."""
        bank = self.bank
        for m in np.flatnonzero(bank.scale if theta is None else bank.scale * theta):
            self._table(m)  # before the threads ask for it

        def some(part, used):
            found = np.zeros((part.stop - part.start, bank.M))
            for m in np.flatnonzero(used):
                found[:, m] = sums(m, part)
            return found

        return looked_up(bank, n, root, theta, some, LOOK_UP_ROWS)


def tables_pay(kernels, n, letters, smooth=False):
    """Whether a fit by products with tables takes less time than the comparison of all pairs of n examples.

    smooth : whether the loss is, and is fitted at one C
    """
    pairs = 0.5 * n**2 * pair_seconds(kernels, letters)
    products = table_seconds(kernels) + LETTER_SECONDS * n * letters * len(kernels)
    products *= PRODUCTS * (SMOOTH_SHARE if smooth else 1)
    return products * (1 if len(kernels) == 1 else MIXTURE_STEPS) < pairs


def pair_seconds(kernels, letters):
    """The seconds to compare two sequences of so many letters."""
    windows = [max(letters - k.mismatches(_size(k))[0] + 1, 1) for k in kernels]
    strands = [1 + k.reverse_complement for k in kernels]
    return PAIR_SECONDS * sum(s * w * (w + 54) / 55 for s, w in zip(strands, windows, strict=True))


def table_seconds(kernels):
    """The seconds to multiply one table of all words for each kernel."""
    return WORD_SECONDS * sum(float(_size(k)) ** k.mismatches(_size(k))[0] for k in kernels)


def _size(kernel):
    return (kernel.encoding[0] or DNA).size


def fits_tables(kernels, views, memory_limit):
    """Whether all kernels are sums over whole windows, of so few words that their tables fit in memory."""
    total = 0
    for kernel, v in zip(kernels.kernels, kernels.view_of, strict=True):
        X = views[v].X
        if kernel.family != "windows" or X is None or views[v].present is not None:
            return False
        if not kernel.whole and X.bits > 2 and (X.letters() >= X.alphabet.size).any():
            return False  # an unknown letter is a mismatch, and no letter of a table
        n_words = X.alphabet.size ** kernel.mismatches(X.alphabet.size)[0]
        total += 2 * 8 * n_words
        if n_words > MAX_WORDS or total > MemoryBudget(memory_limit).share("values of all words"):
            return False
    return True
