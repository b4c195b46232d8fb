"""The folds of `gkm train -x`: overlapping sequences, or whole chromosomes, are held out together."""

import numpy as np

from ..genome.overlaps import overlap_groups, places
from ._talk import Wrong


def split(ids, X, y, asked, say):
    """[(rows to learn, rows to test)] of the folds."""
    from sklearn.model_selection import StratifiedGroupKFold

    chromosomes = [place and place[0] for place in places(ids)]
    n_chromosomes = len({*chromosomes} - {None})
    if asked.by_chromosome:
        if None in chromosomes:
            raise Wrong(
                "--by-chromosome reads chromosomes from ids such as chr1:100-201, and "
                f"{ids[chromosomes.index(None)]!r} is none: correct the headers, or leave it out."
            )
        groups, what = np.array(chromosomes), "chromosomes"
    else:
        groups, what = overlap_groups(X, ids), "sets of sequences that do not overlap"
        if len(X) > groups.max() + 1:
            say(f"{len(X) - groups.max() - 1:,} sequences overlap others or equal them: folds keep these together.")
        if n_chromosomes > 1:
            say(
                f"note: folds mix {n_chromosomes} chromosomes, and neighbours in a genome resemble each other, so that "
                "a model may look better than it is: give --by-chromosome."
            )
    n_groups = len(np.unique(groups))
    if asked.folds > n_groups:
        raise Wrong(f"-x {asked.folds} is more than the {n_groups} {what}: give fewer folds.")
    classes = np.zeros(len(y)) if asked.scores else y
    drawn = StratifiedGroupKFold(asked.folds, shuffle=True, random_state=asked.seed)
    folds = list(drawn.split(y, classes, groups))
    if any(len(set(classes[learn])) < len(set(classes)) for learn, _ in folds):
        raise Wrong(f"-x {asked.folds} leaves a fold without one of the classes to learn from: give fewer folds.")
    return folds
