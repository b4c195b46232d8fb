"""Folds of whole chromosomes, and groups of sequences that overlap by their places or by their letters."""

import re
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

import numpy as np

from .._parts import Part
from .._validation import check_integer
from ..sequences import Sequences


class ChromosomeSplit(Part):
    """Folds for scikit-learn's `cv=` that keep chromosomes whole: `groups` are the chromosomes of the examples.

    Neighbours in a genome resemble each other, so that folds of single windows flatter a model.

    Parameters
    ----------
    test : list, optional
        The chromosomes to test on, ["chr8", "chr9"], for one fold; or a list of such lists, one for each fold. Examples
        of other chromosomes are trained on.
    n_splits : int, default 5
        The number of folds if `test` is None. Chromosomes are given to folds from the one with the most examples down,
        each to the fold with the fewest so far; ties go by name.

    Examples
    --------
    >>> from manykernels.genome import ChromosomeSplit
    >>> chromosomes = ["chr1"] * 4 + ["chr2"] * 3 + ["chr3"] * 2
    >>> for train, test in ChromosomeSplit(n_splits=2).split(chromosomes, groups=chromosomes):
    ...     print(test)
    [0 1 2 3]
    [4 5 6 7 8]
    """

    def __init__(self, test: list | None = None, n_splits: int = 5) -> None:
        self.test, self.n_splits = test, n_splits
        check_integer("n_splits", n_splits, 2)
        if test is not None and (isinstance(test, str) or not len(test) or not all(map(len, self._named()))):
            raise ValueError(f'test={test!r}: give chromosomes, test=["chr8", "chr9"], or a list of such lists.')

    def _named(self):
        """The chromosomes of each fold, [list]."""
        return [list(self.test)] if all(isinstance(name, str) for name in self.test) else list(map(list, self.test))

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """The number of folds."""
        return self.n_splits if self.test is None else len(self._named())

    def split(self, X: Any, y: Any = None, groups: Any = None) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """(train, test) rows of each fold; `groups` (n,) are the chromosomes of the examples."""
        if groups is None:
            raise ValueError("groups is missing: give the chromosome of each example, groups=data.groups.")
        groups = np.asarray(groups).astype(str)
        for names in self._balanced(groups) if self.test is None else self._named():
            chosen = np.isin(groups, names)
            absent = sorted(set(names) - set(groups))
            if absent or chosen.all():
                raise ValueError(
                    f"test={names} leaves {int((~chosen).sum())} examples to train on, and no example is on {absent}: "
                    f"the chromosomes are {sorted(set(groups))}."
                )
            yield np.flatnonzero(~chosen), np.flatnonzero(chosen)

    def _balanced(self, groups):
        names, counts = np.unique(groups, return_counts=True)
        if len(names) < self.n_splits:
            raise ValueError(f"n_splits={self.n_splits} is more than the {len(names)} chromosomes {names.tolist()}.")
        folds: list[list[str]] = [[] for _ in range(self.n_splits)]
        sizes = np.zeros(self.n_splits, int)
        for k in np.argsort(-counts, kind="stable"):
            least = int(np.argmin(sizes))
            folds[least].append(str(names[k]))
            sizes[least] += counts[k]
        return folds


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
