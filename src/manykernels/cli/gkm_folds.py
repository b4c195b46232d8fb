"""The folds of `gkm train -x`: overlapping sequences, or whole chromosomes, are held out together."""

import warnings

import numpy as np

import manykernels as mk

from ..genome.overlaps import overlap_groups, places
from ._talk import Wrong


def split(ids, X, y, asked, say):
    """[(rows to learn, rows to test)] of the folds."""
    from sklearn.model_selection import KFold, StratifiedGroupKFold

    if asked.by_chromosome:
        return _by_chromosome(ids, y, asked)
    groups = overlap_groups(X, ids)
    n_groups = groups.max() + 1
    if n_groups < len(X):
        say(f"{len(X) - n_groups:,} sequences overlap others or equal them: folds keep these together.")
    chromosomes = {place[0] for place in places(ids) if place}
    if len(chromosomes) > 1:
        warnings.warn(
            f"folds mix {len(chromosomes)} chromosomes, and neighbours in a genome resemble each other, so that a "
            "model may look better than it is: give --by-chromosome.",
            UserWarning,
            stacklevel=2,
        )
    if asked.folds > n_groups:
        raise Wrong(f"-x {asked.folds} is more than the {n_groups} sets of sequences that do not overlap: give fewer.")
    if asked.scores:
        drawn = KFold(asked.folds, shuffle=True, random_state=asked.seed).split(np.arange(n_groups))
        return [tuple(np.flatnonzero(np.isin(groups, part)) for part in pair) for pair in drawn]
    drawn = StratifiedGroupKFold(asked.folds, shuffle=True, random_state=asked.seed)
    return _with_both(list(drawn.split(y, y, groups)), y, asked)


def _by_chromosome(ids, y, asked):
    found = places(ids)
    if None in found:
        raise Wrong(
            f"--by-chromosome reads chromosomes from ids such as chr1:100-201, and {ids[found.index(None)]!r} is none: "
            "correct the headers, or leave it out."
        )
    chromosomes = [place[0] for place in found]
    if asked.folds > len(set(chromosomes)):
        raise Wrong(f"-x {asked.folds} is more than the {len(set(chromosomes))} chromosomes: give fewer folds.")
    folds = list(mk.genome.ChromosomeSplit(n_splits=asked.folds).split(y, groups=chromosomes))
    return folds if asked.scores else _with_both(folds, y, asked)


def _with_both(folds, y, asked):
    if any(len(np.unique(y[learn])) < 2 for learn, _ in folds):
        raise Wrong(f"-x {asked.folds} leaves a fold without one of the classes to learn from: give fewer folds.")
    return folds
