"""How often a motif would be found by chance: its hits in random sequences that resemble the given ones."""

import numpy as np

RANDOM_LETTERS = 2**19  # of random sequences, about


def random_like(codes, size, rng):
    """Random sequences from a chain of order 1 for each row of codes (n, L), the code `size` at the same places.

    The probabilities of a row are those of its own pairs of neighbouring letters, with one more pair of each kind,
    shared out as in all rows together.
    """
    n = len(codes)
    pairs = codes[:, :-1].astype(np.int64) * (size + 1) + codes[:, 1:]
    row = np.arange(n)[:, None] * (size + 1) ** 2
    counts = np.bincount((row + pairs).ravel(), minlength=n * (size + 1) ** 2)
    counts = counts.reshape(n, size + 1, size + 1)[:, :size, :size].astype(float)
    total = counts.sum(axis=0) + 1
    counts += size * total / total.sum(axis=1, keepdims=True)
    chain = np.cumsum(counts, axis=2)
    chain /= chain[:, :, -1:]
    each = np.cumsum(counts.sum(axis=1), axis=1)
    out, at = codes.copy(), np.full(n, size)
    for p in range(codes.shape[1]):
        inside, rows = codes[:, p] < size, np.arange(n)
        steps = np.where((at < size)[:, None], chain[rows, np.minimum(at, size - 1)], each / each[:, -1:])
        drawn = (steps <= rng.random(n)[:, None]).sum(axis=1).clip(max=size - 1)
        at = np.where(inside, drawn, size)
        out[:, p] = at
    return out


def best_scores(codes, P, background, opposite):
    """The largest Σ_j log2(P[j, letter] / background[letter]) over all places and strands of each row, (n,)."""
    table = np.log2(P / background)
    tables = [table] if opposite is None else [table, table[::-1][:, opposite[:-1]]]
    best, places = np.full(len(codes), -np.inf), codes.shape[1] - len(P) + 1
    for one in tables if places > 0 else []:
        one = np.column_stack([one, np.full(len(one), -np.inf)])  # unknown letters and the end
        scores = sum(column[codes[:, j : j + places]] for j, column in enumerate(one))
        best = np.maximum(best, scores.max(axis=1))
    return best


class Chance:
    """The E value of motifs in sequences of codes (n, L), padded with the code A.

    E = P(at least k of n sequences have a hit) · 2^bits, where hits are as good as half of the motif's own seqlets, and
    the share of sequences with a hit is that of random sequences. 2^bits is the number of words of the information of
    the motif, one of which was chosen.
    """

    def __init__(self, codes, background, opposite, seed=0):
        size = len(background)
        rng = np.random.default_rng(seed)
        some = codes[rng.permutation(len(codes))[: max(1, RANDOM_LETTERS // max(codes.shape[1], 1))]]
        again = max(1, RANDOM_LETTERS // max(some.size, 1))
        self.codes, self.background, self.opposite = codes, background, opposite
        self.drawn = random_like(np.tile(some, (again, 1)), size, rng)

    def e_value(self, P, members):
        """Of a motif P (w, A) whose seqlets have the one-hot letters `members` (N, w, A)."""
        from scipy.stats import binom

        bits = float((P * np.log2(P / self.background)).sum())
        least = np.median((members * np.log2(P / self.background)).sum(axis=(1, 2))) - 1e-9
        here, there = (best_scores(codes, P, self.background, self.opposite) for codes in (self.codes, self.drawn))
        share = (np.count_nonzero(there >= least) + 1) / (len(there) + 1)
        log = binom.logsf(np.count_nonzero(here >= least) - 1, len(here), min(share, 1.0)) + bits * np.log(2)
        return float(np.exp(np.clip(log, -690.0, 690.0)))  # 1e-300 stands for less too
