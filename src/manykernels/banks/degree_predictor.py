"""Predictions of kernels that count common words at the same position, exact and streamed.

The support is gathered position by position: the sums of a over all short words in a table, and behind each of them
the few examples that have it, for the longer ones. New sequences then walk through the positions, block by block.
"""

import numpy as np

from .._state import check, check_array, check_index, check_is, check_jobs
from .._threads import n_threads, run_blocks, slices
from ._base import Predictor

BLOCK = 20_000  # new sequences at a time
LANES = 4  # parts of the positions that are walked side by side
DIRECT = 2**16  # words in the table of the longest short words, at most


class DegreePredictor(Predictor):
    """The support as packed `sequences`; coef and kern (L, d) as in `DegreeBank`, normalisation included.

    `read(X)` makes `Sequences` of new data, as the kernel list does, or with the alphabet of the support, and says
    which examples have one: a column (n, 1), or 1.
    """

    def __init__(self, sequences, scale, coef, kern, n_jobs, kernel_list=None):
        self.sequences, self.scale, self.coef, self.kern = sequences, scale, coef, kern
        self.n_jobs, self.kernel_list = n_jobs, kernel_list

    def sizes(self):
        return len(self.sequences), len(self.scale)

    def to_state(self):
        names = ("sequences", "scale", "coef", "kern", "n_jobs", "kernel_list")
        return {name: getattr(self, name) for name in names}

    def check_state(self):
        from ..kernels import KernelList
        from ..sequences import Sequences

        check_array("scale", self.scale, np.float64, None)
        check_array("coef", self.coef, np.float64, None, None)
        check(self.coef.size > 0, "coef has no entries")
        check_index("kern", self.kern, len(self.scale), *self.coef.shape, dtype=np.int32)
        check_is("sequences", self.sequences, Sequences)
        check((self.sequences.lengths == len(self.coef)).all(), "the support has sequences of another length")
        check_jobs(self.n_jobs)
        if self.kernel_list is not None:
            kernels = check_is("kernel_list", self.kernel_list, KernelList)
            check(kernels.M == len(self.scale) and kernels.widths == [None], "kernel_list is not that of one view")

    def decision(self, X, A, theta):
        new, present = self.read(X)
        thetas = np.broadcast_to(theta, (len(A), len(self.scale)))
        one = np.zeros_like(self.kern)  # all words count together
        out = np.empty((len(A), len(new)))
        for t, (a, weights) in enumerate(zip(A, thetas, strict=True)):
            out[t] = self._walk(new, a, self.coef * weights[self.kern], one, 1)[:, 0]
        return out * np.ravel(present)

    def parts(self, X, A, theta):
        new, present = self.read(X)
        thetas = np.broadcast_to(theta, (len(A), len(self.scale)))
        walks = [self._walk(new, a, self.coef, self.kern, len(self.scale)) * present for a in A]
        return np.array(walks) * thetas[:, None, :]

    def combined(self, X, theta):
        return self.gram(X, None, theta, other=self.sequences)

    def gram(self, X, Y=None, theta=None, other=None):
        from ..loops.strings import add_positions
        from ..strings._planes import across, planes

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
        from ..strings._planes import codes_of

        return codes_of(self.sequences)

    def read(self, X):
        from ..sequences import Sequences
        from ..strings._base import check_alike

        if self.kernel_list is None:
            sequences, present = Sequences.encode(X, self.sequences.alphabet), None
        else:
            sequences, present, _ = self.kernel_list.views(X)[0]
        if sequences is None:
            sequences = self.sequences[np.zeros(present.size, int)]  # any will do: their rows are 0
        check_alike(sequences.alphabet, self.sequences.alphabet)
        if sequences.length != len(self.coef):
            raise ValueError(
                f"X has sequences of length {sequences.length}, the model was fitted on length {len(self.coef)}: "
                "position-dependent kernels need the same length"
            )
        return sequences, 1 if present is None else present[:, None]

    def _walk(self, new, a, coef, kern, M):
        """Σ_i a_i k_m(x_i, x), (n_new, M)."""
        from ..loops import degree_predictor as loops

        size, (L, d) = len(self.sequences.alphabet.letters), coef.shape
        direct = max(1, min(d, L, int(np.log(DIRECT) / np.log(max(size, 2)))))
        used = np.flatnonzero(a)
        codes, a = self.sequences[used].codes(), np.ascontiguousarray(a[used])
        width = sum(size**k for k in range(1, direct + 1))
        out = np.zeros((len(new), M))
        lanes = [lane for lane in np.array_split(np.arange(L), LANES) if len(lane)]
        for start in range(0, len(new), BLOCK):
            block = new[start : start + BLOCK].codes()

            def lane(positions, block=block):
                part = np.zeros((len(block), M))
                first, order = np.empty(size**direct + 1, np.int64), np.empty(len(a), np.int64)
                for at in positions:
                    table = np.zeros(width)
                    loops.gather(codes, at, direct, size, a, table, first, order)
                    loops.meet(codes, block, at, direct, size, a, table, first, order, coef[at], kern[at], part)
                return part

            out[start : start + BLOCK] = np.sum(run_blocks(lane, lanes, self.n_jobs), axis=0)
        return out
