"""Acceptor splice sites and decoys: DNA windows with AG at one place, some of which are true sites.

Every window is drawn from a Markov chain of order 2, whose table changes along the window by a plan. A site has a
branch point, a polypyrimidine tract, a position weight matrix around the AG, and codons after it. A decoy is AT-rich
background, codons, or an intron or exon that resembles half of a site. Some sites are weak. Sites and decoys are finite
mixtures of these chains, so that the planted information is known exactly (`splice_information`).
"""

from collections.abc import Iterator
from functools import lru_cache
from typing import Any

import numpy as np

from .._validation import check_integer, check_number
from ..sequences import Sequences
from ..sequences.alphabet import DNA

# P(A, C, G, T | two letters before), per mille; rows AA, AC, …, TT. Two thirds are A and T; runs of A and T are likely.
BACKGROUND = [
    [430, 150, 160, 260], [330, 200, 170, 300], [330, 180, 180, 310], [260, 160, 170, 410],
    [370, 170, 170, 290], [340, 190, 180, 290], [330, 180, 170, 320], [220, 190, 190, 400],
    [430, 150, 170, 250], [320, 190, 180, 310], [370, 190, 160, 280], [260, 160, 190, 390],
    [350, 170, 150, 330], [340, 180, 190, 290], [330, 190, 180, 300], [200, 190, 180, 430],
]  # fmt: skip
CODON = [[28, 20, 38, 14], [34, 24, 16, 26], [14, 32, 24, 30]]  # per cent at the three places of a codon
TRACT = [12, 16, 5, 67]
# the letters before AG (first row six before the A), then the two after it
BEFORE = [[16, 9, 5, 70], [8, 5, 3, 84], [3, 3, 2, 92], [2, 3, 1, 94], [8, 12, 3, 77], [3, 86, 1, 10]]
AFTER = [[42, 10, 38, 10], [30, 17, 16, 37]]
BRANCH = [[8, 52, 6, 34], [4, 6, 2, 88], [46, 12, 28, 14], [95, 2, 2, 1], [5, 52, 4, 39]]  # yUnAy

# {value: probability}
TRACT_LENGTHS = {4: 0.15, 6: 0.2, 8: 0.25, 10: 0.25, 13: 0.15}
GAPS = {0: 0.2, 1: 0.25, 2: 0.2, 3: 0.15, 4: 0.1, 6: 0.1}  # letters between branch point and tract
PHASES = {0: 0.5, 1: 0.3, 2: 0.2}  # place in the codon of the first letter after the AG
SIGNAL_WEIGHTS = {1.0: 0.9, 0.6: 0.1}  # how far a site's signals stand out from the background
DECOYS = {"background": 0.56, "codons": 0.24, "intron": 0.1, "exon": 0.1}


def make_splice(
    n: int,
    length: int = 141,
    positives: float = 0.01,
    *,
    site: int | None = None,
    strength: float = 1.0,
    random_state: Any = 0,
) -> tuple[Sequences, np.ndarray]:
    """Windows of DNA with AG at [site, site + 1], some of which are acceptor splice sites.

    Example i depends only on the seed and i, its label on the seed, i and n: blocks do not change the examples.

    Parameters
    ----------
    n : int
        Number of windows.
    length : int, default 141
        Letters of a window.
    positives : float, default 0.01
        Share of sites: there are round(n · positives) sites, and at least one site and one decoy if 0 < positives < 1.
    site : int, optional
        Index of the A; by default length · 60 // 141.
    strength : float, default 1
        Strength of the signals, from 0 (none) to 1.
    random_state : int, None or NumPy generator, default 0

    Returns
    -------
    X : Sequences
    y : array (n,) of int8
        +1 for sites and −1 for decoys.

    Examples
    --------
    >>> from manykernels.datasets import make_splice
    >>> X, y = make_splice(10, length=20, positives=0.3)
    >>> len(X), X.length, int((y == 1).sum()), {x[8:10] for x in X}
    (10, 20, 3, {'AG'})
    """
    model, seed = _model(length, site, strength), _seed(random_state)
    n, n_positive = _counts(n, positives)
    return _draw(model, seed, 0, n, n, n_positive)


def iter_splice(
    n: int,
    length: int = 141,
    positives: float = 0.01,
    *,
    site: int | None = None,
    strength: float = 1.0,
    random_state: Any = 0,
    block: int = 100_000,
) -> Iterator[tuple[Sequences, np.ndarray]]:
    """The examples of `make_splice` in blocks.

    Parameters
    ----------
    n, length, positives, site, strength, random_state
        As in `make_splice`.
    block : int, default 100,000
        The most examples of a block.

    Yields
    ------
    (X, y) : Sequences and array

    Examples
    --------
    >>> from manykernels.datasets import iter_splice
    >>> [len(y) for X, y in iter_splice(10, length=20, block=4)]
    [4, 4, 2]
    """
    model, seed = _model(length, site, strength), _seed(random_state)
    n, n_positive = _counts(n, positives)
    check_integer("block", block)
    return (_draw(model, seed, lo, min(lo + block, n), n, n_positive) for lo in range(0, n, block))


def splice_information(length: int = 141, *, site: int | None = None, strength: float = 1.0) -> np.ndarray:
    """The planted information of each letter, in bits: how well it tells a site from a decoy.

    I_l = Σ p(abc) log₂( p(c | ab) / q(c | ab) ), the divergence of sites p from decoys q at position l given the two
    letters ab before it, from the exact three-letter probabilities of both mixtures; 0 at the AG.

    Parameters
    ----------
    length, site, strength
        As in `make_splice`.

    Returns
    -------
    array (length,)

    Examples
    --------
    >>> from manykernels.datasets import splice_information
    >>> bits = splice_information(20)
    >>> bits.shape, bits[8:10].round(6) + 0.0, bool(bits[7] > bits[0])
    ((20,), array([0., 0.]), True)
    """
    _, plans, tables, start, shares = _model(length, site, strength)
    after = np.arange(16)[:, None] % 4 * 4 + np.arange(4)  # the pair after (pair, letter)
    pairs = np.tile(start, (len(plans), 1))
    bits = np.empty(length)
    for at in range(length):
        joint = pairs[:, :, None] * tables[plans[:, at]]
        decoy, true = np.tensordot(shares, joint, 1)
        q, p = (t / np.maximum(t.sum(axis=1, keepdims=True), 1e-300) for t in (decoy, true))
        bits[at] = np.sum(true * np.log2(np.where(true > 0, p, 1) / np.where(true > 0, q, 1)))
        pairs = np.zeros_like(pairs)
        np.add.at(pairs, (slice(None), after), joint)  # type: ignore[arg-type]  # numpy takes slices too
    return bits


def _draw(model, seed, lo, hi, n, n_positive):
    from ..loops.splice import draw

    site, plans, tables, start, shares = model
    length = plans.shape[1]
    data, y = np.empty((hi - lo, -(-length // 4)), dtype=np.uint8), np.empty(hi - lo, dtype=np.int8)
    draw(seed, lo, n, n_positive, _cut(shares), plans, _cut(tables)[..., :3].copy(), _cut(start), data, y)
    starts = np.arange(hi - lo, dtype=np.int64) * data.shape[1]
    return Sequences(DNA, 2, data.ravel(), starts, np.full(hi - lo, length, dtype=np.int32)), y


def _cut(shares):
    """Cumulative shares as thresholds for 16 random bits."""
    return np.rint(np.cumsum(shares, axis=-1) * 65536).astype(np.int64)


def _counts(n, positives):
    if int(n) != n or n < 1:
        raise ValueError(f"n={n}: give a whole number of examples, at least 1")
    check_number("positives", positives, 0, 1, "both")
    least = 1 if 0 < positives < 1 and n > 1 else 0
    return int(n), min(max(round(n * positives), least), int(n) - least)


def _seed(random_state):
    if isinstance(random_state, np.random.RandomState):
        random_state = int(random_state.randint(2**31 - 1))
    elif isinstance(random_state, np.random.Generator):
        random_state = int(random_state.integers(2**63))
    return np.random.SeedSequence(random_state).generate_state(1, np.uint64)[0]


@lru_cache(maxsize=16)
def _model(length, site, strength):
    """site, plans (Z, L), tables (K, 16, 4), start (16,) and shares (2, Z) of the plans among decoys and sites."""
    if int(length) != length:
        raise ValueError(f"length={length}: give a whole number of letters")
    site = length * 60 // 141 if site is None else site
    if not 0 <= site <= length - 2:
        raise ValueError(f"site={site}, length={length}: the AG must lie inside, 0 <= site <= length - 2")
    check_number("strength", strength, 0, 1, "both")
    background = np.array(BACKGROUND) / 1000
    tables = [background, *_codons(background)]
    plans, shares = [], []

    def table(new):
        tables.append(np.broadcast_to(new, (16, 4)))
        return len(tables) - 1

    def add(parts, decoy, true):
        plan = np.zeros(length, dtype=np.int64)
        for at, ids in (*parts, (site, ag)):
            keep = [(at + k, i) for k, i in enumerate(ids) if 0 <= at + k < length]
            plan[[p for p, _ in keep]] = [i for _, i in keep]
        plans.append(plan)
        shares.append((decoy, true))

    def motif(columns, weight):
        mixed = [weight * strength * np.array(c) / sum(c) + (1 - weight * strength) * background for c in columns]
        return [table(m) for m in mixed]

    def codons(ids, first, stop, phase):
        return first, [ids[(phase + k) % 3] for k in range(max(stop - first, 0))]

    ag = [table(np.eye(4)[0]), table(np.eye(4)[2])]
    coding, exon = [1, 2, 3], site + 2
    for weight, p_weak in SIGNAL_WEIGHTS.items():
        tract, before, after = motif([TRACT], weight), motif(BEFORE, weight), motif(AFTER, weight)
        branch = motif(BRANCH, weight)
        genes = [table(weight * strength * tables[c] + (1 - weight * strength) * background) for c in coding]
        for size, p_size in TRACT_LENGTHS.items():
            upstream = [(site - len(before), before), (site - len(before) - size, tract * size)]
            for gap, p_gap in GAPS.items():
                head = (site - len(before) - size - gap - len(branch), branch)
                for phase, p_phase in PHASES.items():
                    down = [codons(genes, exon, length, phase), (exon, after)]
                    add([head, *upstream, *down], 0, p_weak * p_size * p_gap * p_phase)
            add([upstream[1]], DECOYS["intron"] * p_weak * p_size, 0)
    add([], DECOYS["background"], 0)
    for phase in range(3):
        add([codons(coding, 0, length, phase)], DECOYS["codons"] / 3, 0)
        add([codons(coding, exon, length, phase)], DECOYS["exon"] / 3, 0)
    return site, np.array(plans), np.array(tables), _stationary(background), np.array(shares).T.copy()


def _codons(background):
    """A table for each place of a codon: letter frequencies times √background, without stop codons."""
    tables = [np.array(c) * np.sqrt(background) for c in CODON]
    tables[2][12, [0, 2]] = tables[2][14, 0] = 0  # TAA, TAG, TGA
    return [t / t.sum(axis=1, keepdims=True) for t in tables]


def _stationary(background):
    step = np.zeros((16, 16))
    for pair in range(16):
        step[pair, pair % 4 * 4 + np.arange(4)] = background[pair]
    return np.linalg.matrix_power(step, 64)[0]
