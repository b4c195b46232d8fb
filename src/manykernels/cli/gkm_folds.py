"""The folds of `gkm train -x`: overlapping sequences, or whole chromosomes, are held out together."""

import warnings

import numpy as np

import manykernels as mk

from ..genome.overlaps import overlap_groups, places
from ._talk import Wrong


def split(ids, X, y, asked, say):
    """[(rows to learn, rows to test)] of the folds."""
    from sklearn.model_selection import KFold, StratifiedGroupKFold

    found = places(ids)
    chromosomes = [place and place[0] for place in found]
    if asked.by_chromosome:
        groups, what = chromosomes, "chromosomes"
        if None in found:
            raise Wrong(
                f"--by-chromosome reads chromosomes from ids such as chr1:100-201, and {ids[found.index(None)]!r} is "
                "none: correct the headers, or leave it out."
            )
    else:
        groups, what = overlap_groups(X, ids).tolist(), "sets of sequences that do not overlap"
        _tell_alike(len(X) - len(set(groups)), len({*chromosomes} - {None}), say)
    n_groups = len(set(groups))
    if asked.folds > n_groups:
        raise Wrong(f"-x {asked.folds} is more than the {n_groups} {what}: give fewer folds.")
    drawn = dict(n_splits=asked.folds, shuffle=True, random_state=asked.seed)
    if asked.by_chromosome:
        folds = list(mk.genome.ChromosomeSplit(n_splits=asked.folds).split(y, groups=groups))
    elif asked.scores:
        parts = KFold(**drawn).split(np.arange(n_groups))
        folds = [tuple(np.flatnonzero(np.isin(groups, part)) for part in pair) for pair in parts]
    else:
        folds = list(StratifiedGroupKFold(**drawn).split(y, y, groups))
    if not asked.scores and any(len(np.unique(y[learn])) < 2 for learn, _ in folds):
        raise Wrong(f"-x {asked.folds} leaves a fold without one of the classes to learn from: give fewer folds.")
    return folds


def _tell_alike(n_joined, n_chromosomes, say):
    if n_joined:
        say(f"{n_joined:,} sequences overlap others or equal them: folds keep these together.")
    if n_chromosomes > 1:
        warnings.warn(
            f"folds mix {n_chromosomes} chromosomes, and neighbours in a genome resemble each other, so that a model "
            "may look better than it is: give --by-chromosome.",
            UserWarning,
            stacklevel=2,
        )
