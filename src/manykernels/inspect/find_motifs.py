"""The search for motifs in an explanation, how often chance would find them, and the words that contribute most."""

from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from .._validation import check_integer
from ._seqlets import Letters, find_groups, find_seqlets, spans, thresholds, window_sums
from .explanation import SequenceExplanation
from .motifs import Motif, Motifs

RANDOM_LETTERS = 2**19  # of random sequences, about
LARGEST_E = 1e-6  # of a motif; models of random labels reach 1e-4
LEAST_SEQLETS, LEAST_SHARE = 10, 0.03


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


def find_motifs(
    explanation: SequenceExplanation, *, window: int = 8, min_seqlets: int | None = None, max_motifs: int = 20,
    both_strands: bool | None = None,
) -> Motifs:  # fmt: skip
    """Motifs in sequences: stretches with large contributions, grouped and aligned into position weight matrices.

    A seqlet is a window whose contributions sum to more than those of windows without a motif, at a false discovery
    rate of 5 %; if no motif comes of these, to more than 2.5 deviations. Seqlets with similar contributions (cosine of
    0.72 at the best offset and strand) form a group, and the columns with information and contributions around the
    window form the motif. Windows of negative contributions are grouped in the same way. A motif counts if its E value
    in the given sequences is at most 1e-6 (`Motif`). If the letters beside a motif are alike too, its seqlets may
    be copies of one stretch of a genome; such motifs come last, and are called repeat1, repeat2, …

    Explain sequences of the class whose motifs you want, such as peaks. A model that has learned noise has no motifs.

    Parameters
    ----------
    explanation : SequenceExplanation
        Of any model and method (`explain_sequences`); values by kernel are added up.
    window : int, default 8
        Letters of a seqlet. Motifs may be longer, or shorter by half.
    min_seqlets : int, optional
        The seqlets of a motif, at least; by default 10, or 3 % of all seqlets if this is more.
    max_motifs : int, default 20
        At most, of positive and of negative contributions each.
    both_strands : bool, optional
        Whether seqlets of both strands form one group. By default so for DNA.

    Returns
    -------
    Motifs

    Examples
    --------
    >>> from manykernels import MKLClassifier
    >>> from manykernels.datasets import make_grammar
    >>> from manykernels.inspect import explain_sequences, find_motifs
    >>> from manykernels.strings import Spectrum
    >>> data = make_grammar(120, 60, ("TGACTCAT",), purity=1.0)
    >>> model = MKLClassifier([Spectrum(4, reverse_complement=True)], C=1.0).fit(data.X, data.y)
    >>> found = find_motifs(explain_sequences(model, data.X[data.y > 0]))
    >>> len(found), found[0].consensus in ("TGACTCAT", "ATGAGTCA")
    (1, True)
    """
    _check(explanation)
    check_integer("window", window, 3)
    check_integer("max_motifs", max_motifs)
    if min_seqlets is not None:
        check_integer("min_seqlets", min_seqlets, 2)
    X = explanation.sequences
    size, lengths, codes = X.alphabet.size, X.lengths, X.codes(fill=X.alphabet.size)
    strands = X.alphabet.name == "dna" if both_strands is None else both_strands
    opposite = X.alphabet.opposite() if strands else None
    total = explanation.summed().contributions
    letters = Letters(codes, total, size, opposite, window)
    chance = Chance(codes, letters.background, opposite)
    found: list[Motif] = []
    n_seqlets = 0
    for sign in (1, -1):
        letters.sign = sign
        sums = window_sums(sign * total, lengths, window)
        for least in thresholds(sums):
            seqlets = find_seqlets(sums, window, least)
            few = max(LEAST_SEQLETS, int(LEAST_SHARE * len(seqlets.row))) if min_seqlets is None else min_seqlets
            groups = find_groups(letters, seqlets, few, max_motifs)
            motifs = [_motif(letters, group, chance, sign, X.alphabet.letters) for group in groups]
            motifs = [one for one in motifs if one.e_value <= LARGEST_E and one.width >= window // 2]
            if motifs:
                break
        found += motifs
        n_seqlets += len(seqlets.row)
    found.sort(key=lambda motif: -abs(motif.contribution.sum()))
    kinds = {name: [motif for motif in found if motif.name == name] for name in ("motif", "repeat")}
    named = [motif.named(f"{name}{k}") for name, own in kinds.items() for k, motif in enumerate(own, 1)]
    return Motifs(named, X.alphabet.letters, letters.background, len(X), n_seqlets, opposite is not None)


def _motif(letters, group, chance, sign, alphabet):
    """The motif of a group, in the direction of most of its seqlets."""
    before, after = letters.extent(group)
    if np.count_nonzero(group.strand < 0) > len(group.strand) / 2:
        before, after = after, before
        group = group._replace(strand=-group.strand)
    hot, values = letters.cut(*group, before, after)
    P, mean = letters.tables(group, before, after)
    first, _ = spans(group, letters.w, before, after)
    kind = "repeat" if letters.copied(group, before, after) else "motif"
    return Motif(
        kind, alphabet, P, sign * mean, group.seqlets.row, first, group.strand,
        sign * values.sum(axis=(1, 2)), chance.e_value(P, hot),
    )  # fmt: skip


def top_words(explanation: SequenceExplanation, k: int = 6, n: int = 20) -> list[tuple[str, int, float]]:
    """The words of k letters whose contributions stand out most in the explained sequences.

    Words are ordered by √count · |mean − m|, where m is the mean over all words of k letters. Of DNA, a word and its
    reverse complement count as one, the first in the alphabet.

    Parameters
    ----------
    explanation : SequenceExplanation
        Values by kernel are added up.
    k : int, default 6
        Letters of a word.
    n : int, default 20
        The number of words.

    Returns
    -------
    list of (word, count, mean contribution)
        The contribution of a word is the sum of those of its letters.

    Examples
    --------
    >>> from manykernels import MKLClassifier
    >>> from manykernels.datasets import make_grammar
    >>> from manykernels.inspect import explain_sequences, top_words
    >>> from manykernels.strings import Spectrum
    >>> data = make_grammar(120, 60, ("TGACTCA",), purity=1.0)
    >>> model = MKLClassifier([Spectrum(4, reverse_complement=True)], C=1.0).fit(data.X, data.y)
    >>> top_words(explain_sequences(model, data.X), k=7, n=1)[0][0]
    'TGACTCA'
    """
    _check(explanation)
    X = explanation.sequences
    size, letters = X.alphabet.size, X.alphabet.letters
    check_integer("k", k, 1, max(1, int(62 / np.log2(size + 1))))
    check_integer("n", n)
    codes = X.codes(fill=size).astype(np.int64)
    if codes.shape[1] < k:
        return []
    power = size ** np.arange(k)[::-1]
    views = sliding_window_view(codes, k, axis=1)
    good = (views < size).all(axis=-1)
    numbers = views[good] @ power
    if X.alphabet.name == "dna":
        numbers = np.minimum(numbers, X.alphabet.opposite().astype(np.int64)[views[good]][:, ::-1] @ power)
    values = sliding_window_view(explanation.summed().contributions, k, axis=1).sum(axis=-1)[good]
    words, which, counts = np.unique(numbers, return_inverse=True, return_counts=True)
    means = np.bincount(which, values) / counts
    if not len(words):
        return []
    best = np.argsort(-np.sqrt(counts) * np.abs(means - values.mean()), kind="stable")[:n]
    return [
        ("".join(letters[words[j] // p % size] for p in power), int(counts[j]), float(means[j])) for j in best
    ]  # fmt: skip


def _check(explanation: Any) -> None:
    if not isinstance(explanation, SequenceExplanation):
        raise ValueError(
            f"explanation is of type {type(explanation).__name__}: give what explain_sequences(model, X) returns."
        )
