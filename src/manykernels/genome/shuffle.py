"""Shuffles that keep the letters and the pairs of neighbouring letters of each sequence."""

from functools import lru_cache
from itertools import product
from typing import Any

import numpy as np

from ..sequences import DNA, Sequences

LETTERS = DNA.size + 1  # the last is N


def dinucleotide_shuffle(X: Any, random_state: int = 0) -> Sequences:
    """Each sequence of DNA in a random order of its letters, among all with the same first letter and the same pairs.

    A sequence is a path through a graph whose vertices are letters and whose edges are pairs of neighbours. All paths
    that use each edge once are equally likely (Altschul and Erickson 1985; Kandel et al. 1996): the last edges out of
    the letters form a tree towards the last letter, drawn in proportion to how many paths have it; the other edges out
    of a letter are used in random order.

    Parameters
    ----------
    X : Sequences or list of str
        Of equal lengths. N counts as a fifth letter.
    random_state : int, default 0
        The seed.

    Returns
    -------
    Sequences

    Examples
    --------
    >>> from manykernels.genome import dinucleotide_shuffle
    >>> list(dinucleotide_shuffle(["AACAGA", "ACACAC"]))[1]
    'ACACAC'
    """
    codes = Sequences.encode(X, "dna", unknown="ignore").codes()
    letters = np.frombuffer(DNA.decoder(), np.uint8)[shuffle(codes, np.random.default_rng(random_state))]
    return Sequences.encode(letters, "dna")


def shuffle(codes, rng):
    """Codes (n, L) uint8 of letters 0 … 4, each row shuffled."""
    n, L = codes.shape
    if L < 3:
        return codes.copy()
    row, before, after = np.arange(n), codes[:, :-1], codes[:, 1:]
    pairs = before * np.uint8(LETTERS) + after
    counts = np.bincount((row[:, None] * LETTERS**2 + pairs).ravel(), minlength=n * LETTERS**2)
    counts = counts.reshape(n, LETTERS, LETTERS)
    keys = rng.random(before.shape)
    for letter, last in enumerate(_last_edges(counts, codes[:, -1], rng).T):
        wanted = np.uint8(letter * LETTERS) + last
        edge = np.argmax(pairs == wanted[:, None], axis=1)
        chosen = (pairs[row, edge] == wanted) & (codes[:, -1] != letter)  # letters that are absent have no edge
        keys[row[chosen], edge[chosen]] = 2.0  # after all others of the letter
    queue = np.take_along_axis(after, np.argsort(before * 4 + keys, axis=1), axis=1)  # by letter, then key
    out_edges = counts.sum(axis=2)
    at, next_edge = codes[:, 0], np.cumsum(out_edges, axis=1) - out_edges
    out = np.empty_like(codes)
    out[:, 0] = at
    for t in range(1, L):
        at, used = queue[row, next_edge[row, at]], at
        next_edge[row, used] += 1
        out[:, t] = at
    return out


def _last_edges(counts, end, rng):
    """The letter after the last occurrence of each letter, (n, 5) uint8, a random tree towards the last letter."""
    found = np.zeros((len(end), LETTERS), np.uint8)
    for root in np.unique(end).tolist():
        rows, trees = np.flatnonzero(end == root), _trees(root)
        weight = counts[rows].astype(float)
        weight[:, :, root] += weight.sum(axis=2) == 0  # a letter that is absent points to the last letter
        weight[:, root, root] = 1.0
        share = np.ones((len(rows), len(trees)))
        for letter in range(LETTERS):
            share *= weight[:, letter, trees[:, letter]]
        total = np.cumsum(share, axis=1)
        drawn = (total <= rng.random(len(rows))[:, None] * total[:, -1:]).sum(axis=1)
        found[rows] = trees[drawn]
    return found


@lru_cache(maxsize=LETTERS)
def _trees(root):
    """All maps of the letters to letters, (125, 5), that lead every letter to the root; the root leads to itself."""
    found = []
    for way in product(range(LETTERS), repeat=LETTERS):
        ends = np.arange(LETTERS)
        for _ in range(LETTERS):
            ends = np.array(way)[ends]
        if way[root] == root and (ends == root).all():
            found.append(way)
    return np.array(found)
