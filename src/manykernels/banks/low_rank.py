"""Kernels of low rank, `RandomFeatures` and `Nystroem`, whose features are computed in blocks or kept in float32.

    k_m(x, x') = Σ_j φ_j(x) φ_j(x'),   j over the features of kernel m

The matrix F (n, D) of a `FeatureBank` is kept in float64 if it is small. A large one never exists as a whole in
float64: if F in float32 fits in memory, it is kept; else each use computes it again from the data and the seeds, one
block of examples at a time.
"""

import numpy as np

from .._limits import MemoryBudget
from .._state import check, check_value
from ..kernels.nystroem import Nystroem
from ..kernels.view_data import View
from ._feature_rows import LazyRows
from ._kernel_groups import check_rows
from .explicit import ExplicitBank, ExplicitPredictor, len_of
from .features import FeatureBank

MAX_FLOAT64_ENTRIES = 2**24  # of F: up to them F is kept in float64


class LowRankBank(FeatureBank):
    """`phi` holds F as `LazyRows`; kernel m has the columns first[m] : first[m + 1]."""

    file_tag = ("bank/low_rank", 1)
    asks = "single", "device"
    saved = ExplicitBank.shared | {
        "seen": "list n_views dict", "first": "i8 _ asc", "spherical": "flag",
        "dtype as dtype_name": "of float32 float64",
    }  # fmt: skip

    @classmethod
    def from_list(
        cls, kernels, X, *, weights=None, normalize="multiplicative", memory_limit=None, n_jobs=1, single=False,
        device=None,
    ):  # fmt: skip
        """The bank of a `KernelList`; None if a kernel is not of low rank. `single` asks for float32 features.

        A PyTorch `device` computes the features, and keeps them if they fit in its memory.
        """
        if not all(kernel.family == "low_rank" for kernel in kernels.kernels):
            return None
        bank = cls()
        bank.kernels, bank.names, bank.M = kernels, list(kernels.names), kernels.M
        bank.n_jobs, bank.memory_limit, bank.spherical = n_jobs, memory_limit, normalize == "spherical"
        bank.dtype = np.dtype(np.float32 if single else np.float64)
        views = kernels.views(X)
        bank.n, bank.first = len_of(views), _offsets(kernels, views)
        bank.phi = bank._lazy(views)
        limit, few = MemoryBudget(memory_limit).share("features kept"), bank.entries() <= MAX_FLOAT64_ENTRIES
        if device is not None:
            from ._device_features import DeviceRows

            bank.phi = DeviceRows(bank.phi, device, memory_limit)
        elif (single or few) and bank.dtype.itemsize * bank.entries() <= limit:
            bank.phi.keep(n_jobs)
        bank.normalise(weights, normalize)
        return bank

    def _lazy(self, views):
        return LazyRows(self.kernels, views, self.first, self.dtype, self.spherical)

    def features(self, views):
        return self._lazy(views)

    def moments(self, w):
        """In one pass over the features."""
        square, mean, spread = self.phi.moments(w, self.n_jobs)
        return self.sums(square), np.maximum(self.sums(spread - mean**2), 0.0)

    def variance_precision(self):
        return 1e-6 if self.dtype == np.float32 else 1e-12

    def owners(self):
        return np.repeat(np.arange(self.M), np.diff(self.first))

    def dense(self, rows):
        return self.phi.block(rows, self.n_jobs)

    @property
    def device_features(self):
        return self.phi if self.phi.on_device else None

    def data(self):
        return [view.X for view in self.phi.views]

    def entries(self):
        return self.n * int(self.first[-1])

    def numeric(self):
        F = self.phi.kept
        return None if F is None or F.dtype != np.float64 else (F, self.first, self.scale)

    def coefficients(self, vectors, theta):
        return None  # features are not columns of X

    def expansion(self, m, A):
        """Of `Nystroem`, whose features are sums over the landmarks."""
        kernel = self.kernels.kernels[m]
        if not isinstance(kernel, Nystroem):
            return None
        v = np.array([self.vectors_of(a).v[self.first[m] : self.first[m + 1]] for a in A]) * self.scale[m]
        return kernel.kernel, kernel.landmarks_, v @ kernel.projection_.T

    def predictor(self, support):
        return LowRankPredictor(self.take(support))

    @property
    def seen(self):
        """Its examples and the name of its type, as files hold them."""
        return [{"X": view.X, "present": view.present} for view in self.phi.views]

    @property
    def dtype_name(self):
        return self.dtype.name

    def check_state(self):
        ExplicitBank.check_state(self)
        kernels, own = self.kernels, vars(self)
        views = [View(view["X"], view["present"]) for view in own.pop("seen")]
        self.dtype = np.dtype(own.pop("dtype_name"))
        self.n = len_of(views)
        for view, reads, width in zip(views, kernels.reads, kernels.widths, strict=True):
            check_rows(view.X, self.n, width, reads)
            check_value("present", view.present, "?bool n", {"n": self.n})
        check(all(kernel.family == "low_rank" for kernel in kernels.kernels), "a kernel is not of low rank")
        check(np.array_equal(self.first, _offsets(kernels, views)), "first does not fit the kernels")
        self.phi = self._lazy(views)


class LowRankPredictor(ExplicitPredictor):
    """Predictions from v, which is summed once and kept for later calls."""

    file_tag = ("predictor/low_rank", 1)
    saved = ExplicitPredictor.saved

    def __init__(self, bank):
        super().__init__(bank)
        self._summed = []

    def vectors(self, a):
        for before, vectors in self._summed:
            if before is a or np.array_equal(before, a):
                return vectors
        vectors = super().vectors(a)
        self._summed = [*self._summed[-31:], (np.array(a), vectors)]
        return vectors

    def check_state(self):
        self._summed = []

    def __getstate__(self):
        return {"bank": self.bank, "_summed": []}


def _offsets(kernels, views):
    """Where the features of each kernel begin, (M + 1,)."""
    one = [kernel.features(views[v].X[:1]).shape[1] for kernel, v in zip(kernels.kernels, kernels.view_of, strict=True)]
    return np.concatenate([[0], np.cumsum(one)])
