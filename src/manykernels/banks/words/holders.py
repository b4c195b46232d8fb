"""How string kernels are held by their explicit features; `strings` imports this page."""

from contextlib import suppress

import numpy as np

from ...kernels.tasks import ALL
from .. import choice
from ..holders import HOLDERS, Holder
from . import tables
from .degree import DegreeBank
from .linadd import WordBank
from .support_sums import WordSums
from .tables import TableBank
from .trie import TrieBank


class DegreeHolder(Holder):
    """Words at positions."""

    whole = True

    @property
    def most(self):
        return choice.MAX_PAIRWISE

    def banks(self, store):
        known = {"auto": (DegreeBank, TrieBank), "trie": (TrieBank,)}
        return known.get(store, (WordBank,))


class ShiftHolder(Holder):
    """Words at positions nearby."""

    whole = True

    @property
    def most(self):
        return choice.MAX_WORD_PAIRWISE

    def banks(self, store):
        return (TrieBank,)


class WordHolder(ShiftHolder):
    """Words at any place."""

    def banks(self, store):
        return (WordBank,)

    def sums(self, kernels, group, side, normalize, scale, n_jobs):
        spherical = side.factor is not None
        if group.task == ALL and len(side.x) and spherical == (normalize == "spherical"):
            with suppress(ValueError):  # words that the stores cannot hold are compared by pairs
                return WordSums(kernels, group.members, side.x, side.factor, scale, n_jobs)
        return None


class WindowHolder(WordHolder):
    """Mismatches of windows: a value for every possible word, or words as others where these are too many."""

    def banks(self, store):
        return (TableBank,)

    def pays(self, kernels, n, X, smooth):
        if X is None:
            return super().pays(kernels, n, X, smooth)
        return tables.tables_pay(kernels.kernels, n, max(_letters(view.X) for view in kernels.views(X)), smooth)

    def suited(self, kernels, X, store, memory_limit):
        fits = store == "auto" and tables.fits_tables(kernels, kernels.views(X), memory_limit)
        return self if fits else HOLDERS["channels"]


def _letters(X):
    """The mean length of sequences."""
    return float(np.mean(X.lengths)) if X is not None and len(X) else 1.0


HOLDERS.update(degree=DegreeHolder(), shift=ShiftHolder(), channels=WordHolder(), windows=WindowHolder())
