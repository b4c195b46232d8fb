"""Sums over the words of the support examples of a model, which take the place of pairs with each of them."""

import numpy as np

from ...kernels.view_data import View
from .linadd import WordBank
from .tables import TableBank, fits_tables, pair_seconds, table_seconds

MAX_KEPT_BYTES = 2**28  # of values of words that stay for the next call


class WordSums:
    """The kernels `members` of a list, on words of one view, between new data and the support X.

    They are computed from the sums of the words of the support, and not by pairs.

    factor : array (|members|, n), None for 1: those of spherical normalisation
    """

    def __init__(self, kernel_list, members, X, factor, scale, n_jobs):
        self.members, self.kernels = members, kernel_list.part(members)
        views = [View(X, None)]
        kind = TableBank if fits_tables(self.kernels, views, None) else WordBank
        if kind is WordBank and any(kernel.window_weights(1) is not None for kernel in self.kernels.kernels):
            raise ValueError("the stores of words have no weights of windows")
        root = None if factor is None else np.ascontiguousarray(factor.T)
        self.bank = kind.of_support(self.kernels, views, root, scale[members], n_jobs)
        self.kept = None  # the last A, and its vectors

    def _vectors(self, A):
        """The vectors of each row of A, one at a time where all do not fit in memory."""
        last = self.kept  # read once: another thread may replace it
        if last is not None and np.array_equal(last[0], A):
            return last[1]
        size = len(A) * self.bank.vectors().nbytes
        found = map(self.bank.vectors_of, A)
        if size > MAX_KEPT_BYTES:
            return found
        found = list(found)
        self.kept = A.copy(), found
        return found

    def dear(self, X, T):
        """Whether tables of all words for T functions cost more than the pairs of X, which all functions share."""
        if not isinstance(self.bank, TableBank):
            return False
        new, own, kernels = self.kernels.views(X)[0].X, self.bank.views[0].X, self.kernels.kernels
        letters = 0 if new is None else max(new.lengths.mean(), own.lengths.mean())
        return new is None or len(new) * len(own) * pair_seconds(kernels, letters) < T * table_seconds(kernels)

    def parts(self, X, A, theta):
        """θ_tm K_m(X, support) @ A[t], (T, n_new, |members|), for theta (T, |members|)."""
        each = self._at(X, A, [None] * len(A), (len(self.members),))
        return each * theta[:, None, :]

    def decision(self, X, A, theta):
        """Σ_m θ_tm K_m(X, support) @ A[t], (T, n_new); kernels without weight are not looked up."""
        return self._at(X, A, theta, ())

    def _at(self, X, A, thetas, shape):
        view, *_ = views = self.kernels.views(X)
        if view.X is None:
            return np.zeros((len(A), view.present.size, *shape))
        pairs = zip(self._vectors(A), thetas, strict=True)
        found = np.array([vectors.at(views, theta) for vectors, theta in pairs])
        return found if view.present is None else found * view.present.reshape(-1, *(1 for _ in shape))
