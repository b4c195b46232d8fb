"""The matrix of a kernel of mismatches between all words of l letters, and its product with a vector."""

import numpy as np

from .._threads import run_blocks, slices
from ._words import backwards
from .mismatch_filters import eigenvalue

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
    none = np.empty(0)
    return *windows, kernel.weights_at(windows, kernel.shortest, False) if is_weighted(kernel) else none
