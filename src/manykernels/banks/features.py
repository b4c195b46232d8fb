"""Kernels with numeric features, dense or CSR, such as linear kernels on groups of columns.

    k_m(x, x') = Σ_j φ_j(x) φ_j(x'),   j over the features of kernel m

All features are in one matrix F (n, D), those of kernel m side by side; v is one vector (D,).
"""

from copy import copy

import numpy as np
from scipy.sparse import issparse

from .._callers import warn
from .._limits import MemoryBudget
from .._state import check, check_value
from ..kernels.linear import Linear
from ..kernels.normalize import kind_of, precision
from ._feature_rows import DenseRows, SparseRows, as_rows
from .explicit import ExplicitBank, Vectors, len_of

MIN_VARIANCE_SHARE = 1e-6  # of features, relative to their squares: below, coordinate steps drown in the constant
MAX_FEATURE_RATIO = 10  # entries of F per n · max(n, 1,000): above, kernel matrices are used


class FeatureBank(ExplicitBank):
    """`phi` holds F; kernel m has the columns first[m] : first[m + 1], for "spherical" divided by ‖φ_m(x)‖.

    `kernels` has one view for each source of columns; kernel m reads the columns `cuts[m]` of it, None for all.
    """

    file_tag = ("bank/features", 1)
    saved = ExplicitBank.shared | {
        "matrix as F": "csr|f8 n D",
        "first": "i8 _ asc 0..D",
        "cuts": "list M any",
        "spherical": "flag",
    }

    @classmethod
    def from_list(cls, kernels, X, *, weights=None, normalize="multiplicative", memory_limit=None, n_jobs=1):
        """The bank of a `KernelList`; None if a kernel has no features, too many features or features far from the
        origin. `memory_limit` bounds the bytes of F.
        """
        if not all(kernel.family == "features" for kernel in kernels.kernels):
            return None
        bank = cls()
        bank.kernels, bank.cuts = kernels.by_source()
        bank.names, bank.M, bank.n_jobs, bank.memory_limit = list(kernels.names), kernels.M, n_jobs, memory_limit
        bank.spherical = kind_of(normalize) == "spherical"
        views = bank.kernels.views(X)
        bank.n = len_of(views)
        parts, widths = bank._parts(views)
        entries = sum(part.nnz if issparse(part) else part.size for part in parts)
        too_large = 12 * entries > MemoryBudget(memory_limit).share("features of columns")
        if too_large or entries > MAX_FEATURE_RATIO * bank.n * max(bank.n, 1000):
            return None
        bank.first = np.concatenate([[0], np.cumsum(widths)])
        bank.phi = as_rows(parts, bank.first, bank.spherical)
        moments = bank.normalise(weights, normalize)
        if moments is None:
            return bank
        square, variance = moments
        far = np.flatnonzero(bank.usable & (variance <= MIN_VARIANCE_SHARE * square))
        if not len(far):
            return bank
        names, share = ", ".join(repr(bank.names[m]) for m in far[:5]), np.min(variance[far] / square[far])
        warn(
            f"kernels {names} see columns far from the origin, whose variance is {share:.0e} of their squares: all "
            "kernels are compared pair by pair, which is slow for many examples; centre the columns (StandardScaler)"
        )
        return None

    def _parts(self, views):
        """(feature matrices to be put side by side, number of features of each kernel).

        The features of an example that lacks the source are 0, and so are its kernel values.
        """
        parts, widths = [], []
        for start, stop in self._runs():
            x, present = views[self.kernels.view_of[start]][:2]
            if stop > start + 1:
                widths += [len(cut) for cut in self.cuts[start:stop]]
                parts.append(x[:, np.concatenate(self.cuts[start:stop])])
            else:
                cut, kernel = self.cuts[start], self.kernels.kernels[start]
                parts.append(kernel.features(x if cut is None else x[:, cut]))
                widths.append(parts[-1].shape[1])
            if present is not None:
                has = present[:, None].astype(float)
                parts[-1] = parts[-1].multiply(has).tocsr() if issparse(parts[-1]) else parts[-1] * has
        return parts, widths

    def _runs(self):
        """(start, stop) of runs of kernels: Linear kernels on one source, cut at once, or a single other kernel."""
        pairs = zip(self.kernels.kernels, self.cuts, strict=True)
        plain = [isinstance(kernel, Linear) and cut is not None for kernel, cut in pairs]
        kind = np.where(plain, self.kernels.view_of, -1 - np.arange(self.M))
        ends = [*np.flatnonzero(np.diff(kind)) + 1, self.M]
        return list(zip([0, *ends[:-1]], ends, strict=True))

    @property
    def F(self):
        """Their matrix, (n, D), as files hold it."""
        return self.phi.F

    def check_state(self):
        super().check_state()
        kernels, F = self.kernels, vars(self).pop("F")
        self.phi, self.n = (SparseRows if issparse(F) else DenseRows)(F), F.shape[0]
        check(len(self.first) == self.M + 1, "first does not have an entry for each kernel")
        check(set(kernels.reads) <= {"numeric"} and None not in kernels.widths, "a view does not hold numbers")
        check(all(kernel.family == "features" for kernel in kernels.kernels), "a kernel has no features")
        for cut, view in zip(self.cuts, kernels.view_of, strict=True):
            check_value("cuts", cut, "?i8 _ <width", {"width": kernels.widths[view]})

    def features(self, views):
        """F of new examples, given by their views."""
        parts, widths = self._parts(views)
        if not np.array_equal(widths, np.diff(self.first)):
            raise ValueError(
                f"X gives kernels {widths} features, but fit had {np.diff(self.first).tolist()}: give the same columns."
            )
        return as_rows(parts, self.first, self.spherical, self.phi.sparse)

    def roots(self):
        return None  # the features are already on the sphere

    def moments(self, w):
        mean = self.phi.add(np.arange(self.n), w, self.n_jobs)
        return self.sums(self.phi.squares(w)), self.sums(self.phi.squares(w, mean))

    def variance_precision(self):
        return precision(np.float64)  # `moments` centres the features

    def sums(self, values):
        """Σ_j values_j over the features of each kernel, (M,)."""
        return values if len(values) == self.M else np.add.reduceat(values, self.first[:-1])

    def spread(self, theta):
        """θ_m scale_m for every feature, (D,)."""
        weight = np.asarray(theta) * self.scale
        return weight if self.first[-1] == self.M else np.repeat(weight, np.diff(self.first))

    def vectors(self):
        return FeatureVectors(self)

    def owners(self):
        return None if self.phi.sparse else np.repeat(np.arange(self.M), np.diff(self.first))

    def entries(self):
        return self.phi.F.nnz if self.phi.sparse else self.phi.F.size

    def dense(self, rows):
        return self.phi.F[rows]

    def data(self):
        """F, normalised except for the scale."""
        return self.phi.F

    def numeric(self):
        return self.phi.F, self.first, self.scale

    def as_one(self, theta):
        """Its features are √(θ_m scale_m) φ_m of all kernels with weight, side by side."""
        held, weight = self.numeric(), self.spread(theta)
        if held is None or 8 * self.entries() > MemoryBudget(self.memory_limit).share("features kept"):
            return None
        used, bank = np.flatnonzero(weight), FeatureBank()
        F = held[0][:, used]
        F = F.multiply(np.sqrt(weight[used])).tocsr() if issparse(F) else F * np.sqrt(weight[used])
        bank.phi = (SparseRows if issparse(F) else DenseRows)(F)
        bank.first, bank.spherical = np.array([0, len(used)]), False
        bank.n, bank.M, bank.names, bank.scale, bank.usable = self.n, 1, ["sum"], np.ones(1), np.ones(1, bool)
        bank.n_jobs, bank.memory_limit, bank.unit = self.n_jobs, self.memory_limit, self.unit
        return bank

    def coefficients(self, vectors, theta):
        w = np.array([v.v * self.spread(weights) for v, weights in zip(vectors, theta, strict=True)])
        return enumerate(np.split(w, self.first[1:-1], axis=1))

    def expansion(self, m, A):
        return self.kernels.kernels[m], self.phi.F[:, self.first[m] : self.first[m + 1]], A * self.scale[m]

    def take(self, support):
        bank = copy(self)
        bank.phi, bank.n = self.phi.take(support), len(support)
        return bank

    def diagonals(self):
        return np.ascontiguousarray((self.phi.own(self.first) * self.scale).T)

    def block(self, rows, theta):
        return self.phi.gram(rows, self.spread(theta), self.n_jobs)

    def between(self, left, right, theta, left_root=None, right_root=None):
        """Σ_m θ_m k_m of two lists of views, normalised; `right` None means the examples of the bank."""
        others = self.phi if right is None else self.features(right)
        return self.features(left).between(others, self.spread(theta), self.n_jobs)


class FeatureVectors(Vectors):
    """v_j = Σ_i a_i F_ij, (D,), without the scales, which enter at look-up."""

    def __init__(self, bank):
        self.bank, self.v, self._q = bank, np.zeros(bank.first[-1]), np.zeros(bank.M)

    @property
    def q(self):
        if self._q is None:
            self._q = self.bank.sums(self.v**2) * self.bank.scale
        return self._q

    def clear(self):
        self.v, self._q = np.zeros_like(self.v), np.zeros(self.bank.M)

    def add(self, rows, before, delta):
        self.v += self.bank.phi.add(rows, delta, self.bank.n_jobs)
        self._q = None

    def outputs(self, rows, theta, a):
        return self.bank.phi.look_up(rows, self.v * self.bank.spread(theta), self.bank.n_jobs)

    def parts(self, rows, a):
        return self.bank.phi.parts(rows, self.v, self.bank.first) * self.bank.scale

    def at(self, views, theta=None):
        F, rows = self.bank.features(views), np.arange(len_of(views))
        if theta is None:
            return F.parts(rows, self.v, self.bank.first) * self.bank.scale
        return F.look_up(rows, self.v * self.bank.spread(theta), self.bank.n_jobs)
