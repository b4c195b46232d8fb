"""Exact predictions of kernels that count common words at the same position.

The support is gathered position by position, see loops/degree_predictor: a table holds the sums of all short words, and
for each word of the table the examples that have it are sorted by their next letters. New sequences are looked up
position by position, in blocks. `prepared` keeps the gathered support for many blocks.
"""

from typing import Any

import numpy as np

from ..._parts import declared
from ..._state import check
from ..._threads import n_threads, run_blocks, slices
from ...sequences import Sequences
from ...strings.base import check_alike
from ...strings.planes import across, planes
from ..base import Predictor, each_output

NEW_SEQUENCES_PER_TILE = 2**15
MAX_SUPPORT_WORDS = 2**18  # words of the longest length in the table
GATHERED_BYTES = 2**26  # of the support, if it is not kept


@declared
class DegreePredictor(Predictor):
    """The support as packed `sequences`; coef and kern (L, d) as in `DegreeBank`, with the normalisation.

    `read(X)` returns (new data as `Sequences`, which examples have one: a column (n, 1), or 1).
    """

    file_tag = ("predictor/degree", 1)
    saved = {
        "scale": "f8 M", "coef": "f8 L d", "kern": "i4 L d <M", "sequences": "Sequences", "n_jobs": "jobs",
        "kernel_list": "?KernelList M",
    }  # fmt: skip
    by_features = True

    sequences: Any
    scale: Any
    coef: Any
    kern: Any
    n_jobs: Any
    kernel_list: Any = None

    def sizes(self):
        return len(self.sequences), len(self.scale)

    def check_state(self):
        check((self.sequences.lengths == len(self.coef)).all(), "the support has sequences of another length")
        check(self.coef.size > 0, "coef has no entries")
        check(self.kernel_list is None or self.kernel_list.widths == [None], "kernel_list does not have one view")

    def decision(self, X, A, theta):
        return self.prepared(A, theta, GATHERED_BYTES)(X)

    def prepared(self, A, theta, limit):
        A, thetas = each_output(A, theta)
        one = np.zeros_like(self.kern)  # all words count together
        walks = [
            SupportWalk(self.sequences, a, self.coef * weights[self.kern], one, 1, limit // len(A), self.n_jobs)
            for a, weights in zip(A, thetas, strict=True)
        ]

        def outputs(X):
            new, present = self.read(X)
            return np.array([walk(new)[:, 0] for walk in walks]) * np.ravel(present)

        return outputs

    def parts(self, X, A, theta):
        (new, present), (A, thetas) = self.read(X), each_output(A, theta)
        rest = self.coef, self.kern, len(self.scale), GATHERED_BYTES, self.n_jobs
        return np.array([SupportWalk(self.sequences, a, *rest)(new) * present for a in A]) * thetas[:, None, :]

    def combined(self, X, theta):
        return self.gram(X, None, theta, other=self.sequences)

    def gram(self, X, Y=None, theta=None, other=None):
        from ...loops.strings import add_positions

        new, rows = self.read(X)
        other, cols = (other, 1) if other is not None else (new, rows) if Y is None else self.read(Y)
        left, right, K = planes(new), across(planes(other)), np.zeros((1, len(new), len(other)))
        runs = np.cumsum(self.coef * theta[self.kern], axis=1)[:, :, None]
        blocks = slices(len(new), n_threads(self.n_jobs))
        run_blocks(lambda low: add_positions(left[low], right, runs, np.zeros(1), K[:, low]), blocks, self.n_jobs)
        return K[0] * rows * np.transpose(cols)

    def support_data(self):
        return self.sequences

    def support_codes(self):
        return self.sequences.table()

    def read(self, X):
        if self.kernel_list is None:
            sequences, present = Sequences.encode(X, self.sequences.alphabet), None
        else:
            sequences, present, _ = self.kernel_list.views(X)[0]
        if sequences is None:
            sequences = self.sequences[np.zeros(present.size, int)]  # placeholders, whose rows become 0
        check_alike(sequences.alphabet, self.sequences.alphabet)
        if sequences.length != len(self.coef):
            raise ValueError(
                f"X has sequences of length {sequences.length}, the model was fitted on length {len(self.coef)}: "
                "position-dependent kernels need the same length"
            )
        return sequences, 1 if present is None else present[:, None]


class SupportWalk:
    """Σ_i a_i k_m(x_i, ·) of the support `sequences`, as a function of new sequences; coef and kern (L, d).

    It gathers as many positions at a time as fit in `limit` bytes, and keeps them if all positions fit.
    """

    def __init__(self, sequences, a, coef, kern, M, limit, n_jobs):
        used, (L, d) = np.flatnonzero(a), coef.shape
        self.a, self.codes = np.ascontiguousarray(a[used], dtype=float), sequences[used].codes()
        self.coef, self.kern, self.M, self.n_jobs = coef, kern, M, n_jobs
        self.size = size = len(sequences.alphabet.letters)
        words = np.clip(4 * len(used), 2**8, MAX_SUPPORT_WORDS)  # a few examples for each word
        self.direct = max(1, min(d, L, int(np.log(words) / np.log(max(size, 2)) + 1e-9)))
        unknown = len(used) > 0 and self.codes.max() >= size
        self.bits = max(1, (size if unknown else size - 1).bit_length())
        self.held = min(64 // self.bits, d - self.direct)  # letters after the short words, packed in one number
        self.more = self.direct + self.held < d  # whether words have further letters, which are read from the support
        self.small = np.uint32 if self.held * self.bits <= 32 else np.uint64
        width = 12 * size**self.direct * size // max(size - 1, 1)
        each = np.dtype(self.small).itemsize + (16 if self.more else 8)
        fit = limit // (width + each * len(used))  # positions
        self.step = L if fit >= L else max(1, fit // n_threads(n_jobs))  # one share per thread
        self.kept = self._gathered(slice(0, L)) if fit >= L else None

    def __call__(self, new):
        out, L = np.zeros((len(new), self.M)), len(self.coef)
        tiles = [slice(low, low + NEW_SEQUENCES_PER_TILE) for low in range(0, len(new), NEW_SEQUENCES_PER_TILE)]
        for low in range(0, L, self.step):
            part = slice(low, min(low + self.step, L))
            gathered = self._gathered(part) if self.kept is None else self.kept

            def tile(rows, part=part, gathered=gathered):
                self._meet(new[rows], part, gathered, out[rows])

            run_blocks(tile, tiles, self.n_jobs)
        return out

    def _gathered(self, part):
        """The gathered support at some positions."""
        return run_blocks(self._at, range(part.start, part.stop), self.n_jobs)

    def _shape(self, at):
        """(letters in the table, packed letters, size of the alphabet, bits of a letter) of words at a position."""
        return min(self.direct, len(self.coef) - at), self.held, self.size, self.bits

    def _at(self, at):
        from ...loops import degree_predictor as loops

        shape, n = self._shape(at), len(self.a)
        direct, _, size, _ = shape
        table = np.zeros(sum(size**k for k in range(1, direct + 1)))
        first, order = np.empty(size**direct + 1, np.uint32), np.empty(n if self.more else 0, np.int64)
        tails, sums = np.empty(n, np.uint64), np.empty(n)
        count = loops.gather(self.codes, at, shape, self.a, (table, first, order, tails, sums))
        if self.M == 1:
            loops.fold(direct, size, self.coef[at], table)
        return table, first, order, tails[:count].astype(self.small), sums[:count].copy()

    def _meet(self, new, part, gathered, out):
        from ...loops import degree_predictor as loops
        from ...loops.degree import tile

        n, letters = len(new), (self.direct, self.held, self.size, self.bits)
        codes = np.empty((len(self.coef), n), np.uint8)
        tile(new.data, new.starts, new.bits, 0, len(codes), np.arange(n), codes)
        words = np.empty(n, np.int32), np.empty(n, np.uint64), np.empty(n, np.int32)
        loops.begin(codes, part.start, *letters, *words)
        for at, support in zip(range(part.start, part.stop), gathered, strict=True):
            shape, coef, kern = self._shape(at), self.coef[at], self.kern[at]
            loops.add_matches(self.codes, self.a, codes, at, shape, support, words, coef, kern, out)
            loops.move(codes, at, *letters, *words)
