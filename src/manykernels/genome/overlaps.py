"""Sequences that overlap, by their places or by their letters."""

import re
from collections import defaultdict

import numpy as np

from ..sequences import Sequences

WORD = 20  # letters that overlapping windows have in common, at least
MOST = 1000  # sequences that begin with a word; one with more is a repeat
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
    last = ("", 0, 0)  # the chromosome, the farthest stop and its sequence
    for chrom, start, stop, i in sorted((*place, i) for i, place in enumerate(places(ids)) if place):
        if chrom == last[0] and start < last[1]:
            yield last[2], i
        last = max(last, (chrom, stop, i))


def _by_letters(X):
    """Pairs of which the one begins, on either strand, within the other, and they agree from there to an end."""
    first: dict[str, int] = {}
    for k, text in enumerate([*X, *X.reverse_complement()]):
        yield first.setdefault(text, k % len(X)), k % len(X)
    beginning = defaultdict(list)
    for text in first:
        if len(text) >= WORD and "N" not in text[:WORD]:
            beginning[text[:WORD]].append(text)
    for text, i in first.items():
        for at in range(len(text) - WORD + 1):
            others = beginning.get(text[at : at + WORD], ())
            for other in others if len(others) <= MOST else ():
                if other.startswith(text[at : at + len(other)]):
                    yield first[other], i
