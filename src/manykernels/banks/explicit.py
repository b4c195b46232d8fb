"""Kernels with explicit features, k_m(x, x') = ⟨φ_m(x), φ_m(x')⟩, for the `coordinate` solver."""

from abc import ABC, abstractmethod
from copy import copy

import numpy as np

from .._packed import Packed
from .._state import Stored, check
from .._threads import n_threads, run_blocks, slices
from ..kernels.normalize import Scaled, inverse_root, kind_of, precision
from ..kernels.view_data import View
from ._blockwise import ProductOperator
from .base import Bank, Predictor, each_output, every

EXAMPLES_PER_BLOCK = 20_000  # new examples
MAX_BUILT_EXAMPLES = 1500  # of a combined kernel that is built although products are quick
MAX_BUILT_WORDS = 3000  # the same where products read the words of all examples again


class ExplicitBank(Bank, Stored):
    """A bank with explicit features: `own` (n, M) = k_m(x_i, x_i), before normalisation, and `vectors()`.

    `kernels` is the KernelList and `views` the views of the training data. The normalised kernel is
    scale_m k_m(x, x') · root_im root_jm, where `root` (n, M) = k_m(x_i, x_i)^−½ for "spherical", else None.
    """

    explicit = True
    shared = {"kernels": "KernelList M n_views", "scale": "f8 M", "usable": "bool M", "n_jobs": "jobs",
              "memory_limit": "?int 1"}  # fmt: skip
    of_words = shared | {"own": "f8 n M", "views as kept_views": "list n_views Sequences n",
                         "spherical as kept_sphere": "flag"}  # fmt: skip
    kernels = None
    views = None
    own: np.ndarray
    root = None

    @abstractmethod
    def vectors(self):
        """New `Vectors`, zero."""

    hashed = False  # see `banks.words.linadd`
    asks: tuple[str, ...] = ()  # options of `from_list` that other banks lack: "store", "single", "device"

    @property
    def built(self):
        """The examples up to which a combined kernel is built, and not multiplied with; None for any number."""
        return MAX_BUILT_EXAMPLES if self.even else MAX_BUILT_WORDS if self.by_words else None

    @property
    def most(self):
        return None if self.built is None else 8.0 * self.built**2

    def matrix(self, theta, rows, dtype, shifted):
        n = self.n if rows is None else len(rows)
        if self.built is None or n <= self.built:
            return super().matrix(theta, rows, dtype, shifted)
        return ProductOperator(self, theta, every(rows, n), np.float64)

    def owners(self):
        """The kernel of each feature, (D,), if there are few, dense features, which `dense` returns; else None."""
        return None

    def entries(self):
        """The number of values in all feature vectors φ_m(x_i), if they are numeric, which a pass reads; else 0."""
        return 0

    def dense(self, rows):
        """φ(x_r) of these examples, all kernels side by side as in `owners`, without the scales: (|rows|, D)."""
        raise NotImplementedError

    def data(self):
        """The examples of each view."""
        return [view.X for view in self.views]

    def coefficients(self, vectors, theta):
        """(m, θ_tm v_tm (T, features)) of every kernel with numeric features, for T vectors and theta (T, M)."""
        return None

    def expansion(self, m, A):
        """See `Predictor.expansion`; all examples are the support."""
        return None

    def take(self, support):
        """The bank of these examples only, with the same scale, for prediction."""
        bank = copy(self)
        bank.n, bank.own = len(support), self.own[support]
        bank.root = None if self.root is None else self.root[support]
        bank.views = [view._replace(X=view.X[support].compact()) for view in self.views]
        bank.prepare()
        return bank

    def hold(self, kernels, views, n_jobs, memory_limit=None):
        """Sets what a bank of sequences holds, besides sizes, roots and scales."""
        self.kernels, self.views, self.names, self.n_jobs = kernels, views, list(kernels.names), n_jobs
        self.n, self.M, self.memory_limit = len_of(views), kernels.M, memory_limit
        self.prepare()

    @classmethod
    def of_support(cls, kernels, views, root, scale, n_jobs):
        """The bank of sequences whose factors `root` (n, M), None for 1, and scales are known."""
        bank = cls.__new__(cls)
        bank.root, bank.scale, bank.usable = root, scale, scale != 0
        bank.hold(kernels, views, n_jobs)
        return bank

    def prepare(self):
        """Sets what follows from the kernels and the views alone."""

    @property
    def kept_views(self):
        """Those of each view, and whether the features are on the sphere: entries of a bank of words."""
        return [view.X for view in self.views]

    @property
    def kept_sphere(self):
        return self.root is not None

    def check_state(self):
        kernels, own = self.kernels, vars(self)
        self.M, self.names = kernels.M, list(kernels.names)
        if "kept_views" in own:
            self.n, self.views = len(self.own), [View(X, None) for X in own.pop("kept_views")]
            self.root = inverse_root(self.own) if own.pop("kept_sphere") else None
            for view, encoding in zip(self.views, kernels.encodings, strict=True):
                fits = encoding is not None and encoding[0] in (None, view.X.alphabet)
                check(fits, "a view has another alphabet than its kernels")

    def normalise(self, weights, normalize):
        """Sets scale, root and usable; returns `moments`, or None for given scales.

        `vectors()` must work with scale = 1 and the root set here.
        """
        self.root = self.roots() if kind_of(normalize) == "spherical" else None
        if isinstance(normalize, Scaled):
            self.scale, self.usable = normalize.scale, normalize.usable
            return None
        w = np.full(self.n, 1.0 / self.n) if weights is None else np.asarray(weights, dtype=float) / np.sum(weights)
        self.scale = np.ones(self.M)
        moments = self.moments(w)
        self.scale, self.usable = self.kernels.scales(*moments, kind_of(normalize), self.variance_precision())
        return moments

    def roots(self):
        return inverse_root(self.own)

    def moments(self, w):
        """(Σ_i w_i ‖φ_m(x_i)‖², the variance Σ_i w_i ‖φ_m(x_i) − mean‖²), (M,) each, for Σ w = 1."""
        diagonal = self.mean_square(w)
        return diagonal, diagonal - self.square_mean(w)

    def variance_precision(self):
        """The relative precision of the variance in `moments`: the mean is a sequential sum of n terms."""
        return max(precision(self.own.dtype), self.n * 2.0**-50)

    def mean_square(self, w):
        """Σ_i w_i ‖φ_m(x_i)‖², (M,)."""
        starts = range(0, self.n, EXAMPLES_PER_BLOCK)  # `own` may be float32
        blocks = [slice(start, start + EXAMPLES_PER_BLOCK) for start in starts]
        return sum(w[b] @ (self.own[b] if self.root is None else self.own[b] > 0) for b in blocks)

    def square_mean(self, w):
        """‖Σ_i w_i φ_m(x_i)‖², (M,)."""
        vectors = self.vectors()
        vectors.add(np.arange(self.n), np.zeros(self.n), w)
        return vectors.q

    def between(self, left, right, theta, left_root=None, right_root=None):
        """Σ_m θ_m k_m of two lists of views, normalised, (n_left, n_right), by calls of the kernels."""
        n, out = len_of(left), np.zeros((len_of(left), len_of(right)))
        used = np.flatnonzero(theta * self.scale)

        def part(rows):
            for m in used:
                view = self.kernels.view_of[m]
                K = self.kernels.kernels[m].between(left[view].X[rows], right[view].X)
                if self.root is not None:
                    K = K * left_root[rows, m, None] * right_root[:, m]
                out[rows] += (theta[m] * self.scale[m]) * K

        run_blocks(part, slices(n, min(n, n_threads(self.n_jobs))), self.n_jobs)
        return out

    def block(self, rows, theta):
        """Σ_m θ_m K_m[rows, rows]."""
        views = [view.of(rows) for view in self.views]
        root = None if self.root is None else self.root[rows]
        return self.between(views, views, theta, root, root)

    def diagonals(self):
        spherical = 1.0 * (self.own > 0) if self.root is not None else self.own
        return np.ascontiguousarray((spherical * self.scale).T, dtype=np.float64)

    def combined(self, theta, rows=None, cols=None, dtype=None, shifted=False):
        rows = every(rows, self.n)
        cols = every(cols, self.n)
        if np.array_equal(rows, cols):
            return self.block(rows, theta).astype(dtype or np.float64, copy=False)
        both = np.union1d(rows, cols)
        K = self.block(both, theta)
        return K[np.ix_(np.searchsorted(both, rows), np.searchsorted(both, cols))].astype(dtype or np.float64)

    def products(self, A, support, rows=None, kernels=None):
        rows = every(rows, self.n)
        kernels = every(kernels, self.M)
        out = np.empty((len(A), len(kernels), len(rows)))
        for t, (vectors, own) in enumerate(self._summed(A, support)):
            out[t] = vectors.parts(rows, own[rows])[:, kernels].T
        return out

    def outputs(self, theta, A, support, rows=None):
        rows, theta = every(rows, self.n), np.asarray(theta, dtype=float)
        return np.array([vectors.outputs(rows, theta, own[rows]) for vectors, own in self._summed(A, support)])

    def _summed(self, A, support):
        """(the vectors of A[t], A[t] of all examples (n,)) for each t."""
        vectors, own = self.vectors(), np.zeros(self.n)
        for a in A:
            vectors.clear()
            vectors.add(support, np.zeros(len(a)), a)
            own[support] = a
            yield vectors, own

    def vectors_of(self, a):
        """The `Vectors` of all examples with coefficients a (n,)."""
        vectors, used = self.vectors(), np.flatnonzero(a)
        vectors.add(used, np.zeros(len(used)), np.asarray(a, dtype=float)[used])
        return vectors

    def predictor(self, support):
        return ExplicitPredictor(self.take(support))


class ExplicitPredictor(Predictor):
    """Predictions from v: it adds the support once, and looks up new examples in blocks."""

    file_tag = ("predictor/explicit", 1)
    saved = {"bank": "ExplicitBank"}
    by_features = True

    def __init__(self, bank):
        self.bank = bank

    def sizes(self):
        return self.bank.n, self.bank.M

    @property
    def kernel_list(self):
        return self.bank.kernels

    @property
    def scale(self):
        return self.bank.scale

    @property
    def hashed(self):
        return self.bank.hashed

    def support_data(self):
        return self.bank.data()

    def expansion(self, m, A):
        return self.bank.expansion(m, A)

    def support_sequences(self, m):
        found = None if self.bank.views is None else self.bank.views[self.bank.kernels.view_of[m]].X
        return found if isinstance(found, Packed) else None

    def row_factors(self):
        return None if self.bank.root is None else self.bank.root.T

    def vectors(self, a):
        """The `Vectors` of the support with coefficients a."""
        return self.bank.vectors_of(a)

    def coefficients(self, A, theta):
        return self.bank.coefficients([self.vectors(a) for a in A], theta)

    def _read(self, X):
        """The views of X; a view without data gets a string of the support for every example."""
        views = self.kernel_list.views(X)
        for v, view in enumerate(views):
            if view.X is None:
                views[v] = view._replace(X=self.bank.data()[v][np.zeros(view.present.size, int)])
        return views

    def _look_up(self, views, each, thetas):
        """Look-up with the vectors of each output; without `thetas` the parts, 0 if an example lacks the view."""
        n, present = len_of(views), self._present(views)
        for t, vectors in enumerate(each):
            found = []
            for start in range(0, max(n, 1), EXAMPLES_PER_BLOCK):
                block = [view.of(slice(start, start + EXAMPLES_PER_BLOCK)) for view in views]
                found.append(vectors.at(block, None if thetas is None else thetas[t]))
            found = np.concatenate(found)
            yield found if present is None or thetas is not None else found * present

    def _present(self, views):
        """Which examples have the view of which kernel, (n, M); None if no view is missing."""
        if all(view.present is None for view in views):
            return None
        each = [np.ones(len_of(views), bool) if view.present is None else view.present for view in views]
        return np.stack([each[v] for v in self.kernel_list.view_of], axis=1)

    def decision(self, X, A, theta):
        return self._decision(X, A, map(self.vectors, A), theta)

    def prepared(self, A, theta, limit):
        """Keeps the vectors of a single output; those of several outputs may not fit."""
        if len(A) > 1:
            return super().prepared(A, theta, limit)
        kept = [self.vectors(a) for a in A]
        return lambda X: self._decision(X, A, kept, theta)

    def _decision(self, X, A, vectors, theta):
        views, (_, thetas) = self._read(X), each_output(A, theta)
        if self._present(views) is None:
            return np.array(list(self._look_up(views, vectors, thetas)))
        return np.einsum("tnm,tm->tn", np.array(list(self._look_up(views, vectors, None))), thetas)

    def parts(self, X, A, theta):
        A, thetas = each_output(A, theta)
        return np.array(list(self._look_up(self._read(X), map(self.vectors, A), None))) * thetas[:, None, :]

    def combined(self, X, theta):
        return self._gram(self._read(X), self.bank.views, theta)

    def gram(self, X, Y=None, theta=None):
        left = self._read(X)
        return self._gram(left, left if Y is None else self._read(Y), theta)

    def _gram(self, left, right, theta):
        roots = [None, None]
        if self.bank.root is not None:
            roots = [inverse_root(diagonals(self.kernel_list, views)) for views in (left, right)]
        rows, cols = self._present(left), None if right is None else self._present(right)
        if rows is None and cols is None:
            return self.bank.between(left, right, theta, *roots)
        total, view_of = 0.0, self.kernel_list.view_of
        for v in np.unique(view_of[np.asarray(theta) != 0]):
            K = self.bank.between(left, right, np.where(view_of == v, theta, 0.0), *roots)
            first = np.flatnonzero(view_of == v)[0]
            K = K if rows is None else K * rows[:, first, None]
            total = total + (K if cols is None else K * cols[:, first])
        return total


def diagonals(kernels, views):
    """k_m(x_i, x_i) of the examples in these views, (n, M), before normalisation."""
    own = [kernel.diag(views[v].X) for v, kernel in zip(kernels.view_of, kernels.kernels, strict=True)]
    return np.stack(own, axis=1)


def len_of(views):
    return views[0].X.shape[0]


class Vectors(ABC):
    """The sums that the `coordinate` solver updates, v_m = Σ_i a_i φ_m(x_i), zero at first; φ_m is normalised.

    The weights enter at look-up, so that changing them costs nothing; every `add` updates `q` (M,) = ‖v_m‖². Clear, add
    and look-up are the three operations of linadd (Sonnenburg et al. 2006, section 3).
    """

    q: np.ndarray

    @abstractmethod
    def clear(self):
        """v = 0."""

    @abstractmethod
    def add(self, rows, before, delta):
        """v_m += Σ_r delta_r φ_m(x_r); `before` are the previous coefficients of the rows."""

    @abstractmethod
    def outputs(self, rows, theta, a):
        """Σ_m θ_m ⟨v_m, φ_m(x_r)⟩, (|rows|,) float64; a (|rows|,) are the coefficients of the rows in v."""

    @abstractmethod
    def parts(self, rows, a):
        """⟨v_m, φ_m(x_r)⟩ for every kernel, (|rows|, M)."""

    def team(self, inner, a, outputs, size, most, precision):
        """Threads that visit up to `most` examples per call, `size` at a time, and change v, a, outputs; or None.

        They live as long as the block of this context manager, whose visit(rows, θ, excess, b, turn) returns the new
        (excess, b, turn).
        """
        return None

    def at(self, views, theta=None):
        """Look-up at new examples, given by their views: the outputs (n,), or without θ the parts (n, M)."""
        raise NotImplementedError
