"""Sequences that overlap, by their places or by their letters."""

import re

import numpy as np

from ..sequences import Sequences
from .kmers import word_numbers

WORD = 20  # letters that overlapping windows have in common, at least
MOST = 1000  # places of a word; one with more is a repeat
_PLACE = re.compile(r"(?:^|::)(?:([^\s:]+):(\d+)-(\d+)|(chr\w+?)_(\d+)_(\d+))(?!\d)")


def places(ids: list[str]) -> list[tuple[str, int, int] | None]:
    """(chromosome, start, stop) of ids such as chr1:100-201, name::chr1:100-201 and chr1_100_201; None for others."""
    found = [match and [part for part in match.groups() if part] for match in map(_PLACE.search, ids)]
    return [(place[0], int(place[1]), int(place[2])) if place else None for place in found]


def overlap_groups(X: Sequences, ids: list[str]) -> np.ndarray:
    """A number for each sequence, (n,): the same for equal and overlapping ones, on either strand."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    pairs = np.array([*_by_place(ids), *_by_letters(X)], int).reshape(-1, 2).T
    graph = coo_array((np.ones(pairs.shape[1]), tuple(pairs)), (len(X), len(X)))
    return connected_components(graph, directed=False)[1]


def _by_place(ids):
    known = sorted((*place, i) for i, place in enumerate(places(ids)) if place)
    last = ("", 0, 0)  # the chromosome, the farthest stop and its sequence
    for chrom, start, stop, i in known:
        if chrom == last[0] and start < last[1]:
            yield last[2], i
        last = max(last, (chrom, stop, i)) if chrom == last[0] else (chrom, stop, i)


def _by_letters(X):
    """Pairs of which the one begins, on either strand, within the other, and they agree from there to an end."""
    n, both = len(X), [*X, *X.reverse_complement()]
    first: dict[str, int] = {}
    for k, text in enumerate(both):
        yield first.setdefault(text, k % n), k % n
    ends = np.cumsum([len(text) + 1 for text in both])
    words = word_numbers("N".join([*both, "N" * WORD]), WORD)[: ends[-1]]
    begins = np.concatenate([[0], ends[:-1]])
    asked = np.unique(words[begins][words[begins] >= 0])
    at = np.flatnonzero(np.isin(words, asked))
    at = at[np.argsort(words[at], kind="stable")]
    low, high = (np.searchsorted(words[at], words[begins], side=side) for side in ("left", "right"))
    for k in np.flatnonzero((words[begins] >= 0) & (high - low > 1) & (high - low <= MOST)).tolist():
        for place in at[low[k] : high[k]].tolist():
            j = int(np.searchsorted(ends, place, side="right"))
            tail = both[j][place - int(begins[j]) :]
            if j % n != k % n and both[k].startswith(tail[: len(both[k])]):
                yield k % n, j % n
