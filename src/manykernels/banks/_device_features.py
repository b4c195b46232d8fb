"""The features of kernels of low rank on a device: F (n, D), kept there if it fits, else computed block by block.

    RandomFeatures   φ(x) = (cos xᵀw_j, sin xᵀw_j)_j / √(rank/2)
    Nystroem         φ(x) = k(x, Z) P,  for kernels k that are functions of distances or inner products

The device computes them in float64 and rounds them to the dtype of the bank, so that they are those of the host up to
its rounding. The host computes the features of other kernels, which are then copied to the device.
"""

import numpy as np

from .._limits import DEVICE_SHARES
from ..kernels.nystroem import Nystroem
from ..kernels.pair_blocks import span
from ..kernels.random_features import RandomFeatures
from ._device_parts import DevicePlace, base_block, open_device
from ._feature_rows import LazyRows, blocks

MIN_ROWS, MAX_ROWS = 1024, 16384  # of a block
BYTES_PER_FEATURE = 48  # of a block: its features in both dtypes, and copies


class DeviceRows(LazyRows):
    """The features of a `LazyRows` on a device; sums and products are float64."""

    on_device = True

    def __init__(self, plain, device, limit):
        super().__init__(plain.kernels, plain.views, plain.first, plain.dtype, plain.spherical)
        self.D, self.held = int(self.first[-1]), None
        self.place = DevicePlace(open_device(device), self.dtype == np.float32, limit)
        views = [Columns(self.place, view.X) for view in self.views]
        pairs = zip(self.kernels.kernels, self.kernels.view_of, strict=True)
        self.makers = [maker(kernel, views[v]) for kernel, v in pairs]
        free = self.place.free()
        room = DEVICE_SHARES["stripes"] * free // (BYTES_PER_FEATURE * self.D)
        self.step = int(np.clip(room, MIN_ROWS, MAX_ROWS))
        if self.n * self.D * self.dtype.itemsize <= DEVICE_SHARES["features"] * free:
            F = self._empty(self.n)
            for part in blocks(self.n, self.step):
                self._compute(np.arange(part.start, part.stop), F[part])
            self.held = F

    def _empty(self, n):
        import torch

        return torch.empty(n, self.D, dtype=self.place.dtype, device=self.place.device)

    def _compute(self, rows, F):
        """Computes the features of these examples into F."""
        at = span(rows)
        places = zip(self.makers, self.kernels.view_of, self.first[:-1], self.first[1:], strict=True)
        for make, v, low, high in places:
            part, present = make(at), self.views[v].present
            if self.spherical:
                norms = part.norm(dim=1, keepdim=True)
                part = part / norms.where(norms > 0, norms.new_ones(()))
            if present is not None:
                part = part * self.place.tensor(present[at])[:, None]
            F[:, low:high] = part

    def tensor(self, rows):
        """F[rows] on the device, (|rows|, D)."""
        if self.held is not None:
            return self.held[on(self.place, span(rows))]
        F = self._empty(len(rows))
        self._compute(rows, F)
        return F

    def rows(self, rows):
        return self.tensor(rows).cpu().numpy()

    def block(self, rows, n_jobs):
        return self.rows(rows)

    def _wide(self, rows):
        """(slice, the features of these rows in float64) of each block."""
        for part in blocks(len(rows), self.step):
            yield part, self.tensor(rows[part]).double()

    def moments(self, w, n_jobs):
        total, middle = np.zeros((3, self.D)), None
        for part, F in self._wide(np.arange(self.n)):
            v = self.place.tensor(w[part])
            middle = F.mean(0) if middle is None else middle
            square = v @ (F * F)
            F = F - middle
            for k, sums in enumerate((square, v @ F, v @ (F * F))):
                total[k] += sums.cpu().numpy()
        return total

    def add(self, rows, delta, n_jobs):
        total, delta = np.zeros(self.D), np.asarray(delta, dtype=float)
        for part, F in self._wide(rows):
            total += (self.place.tensor(delta[part]) @ F).cpu().numpy()
        return total

    def look_up(self, rows, w, n_jobs):
        w = self.place.tensor(w)
        return np.concatenate([(F @ w).cpu().numpy() for _, F in self._wide(rows)])

    def parts(self, rows, v, first):
        owner = np.repeat(np.arange(len(first) - 1), np.diff(first))
        V = self.place.tensor(v[:, None] * (owner[:, None] == np.arange(len(first) - 1)))
        return np.concatenate([(F @ V).cpu().numpy() for _, F in self._wide(rows)])


class Columns:
    """The examples of a view, `X` on the host and, if they are a dense array, `x` on a device.

    x has the dtype of the bank, to which the host too rounds X: the features of small eigenvalues magnify its rounding.
    """

    def __init__(self, place, X):
        self.place, self.X, self.x = place, X, None
        if isinstance(X, np.ndarray) and X.ndim == 2 and X.dtype.kind in "fiu":
            self.x = place.tensor(X, place.dtype if X.dtype.kind == "f" else None)

    def at(self, rows):
        return self.x[on(self.place, rows)].double()


def maker(kernel, view):
    """A function of rows, a slice or an index, that gives the features of a kernel there, float64 on the device."""
    place, inner = view.place, kernel.kernel
    if view.x is not None and type(kernel) is RandomFeatures and inner.split() is None:
        W, size = place.tensor(kernel.directions(view.X[:1])), np.sqrt(2.0 / kernel.rank)
        return lambda rows: _waves(view.at(rows) @ W, size)
    plain = inner.base in ("dot", "sqdist", "l1") and inner.split() is None and inner.form() is not None
    if view.x is not None and type(kernel) is Nystroem and plain and isinstance(kernel.landmarks_, np.ndarray):
        (degree, g, c), P = inner.form(), place.tensor(kernel.projection_)
        Z = place.tensor(kernel.landmarks_)
        middle = 0.0 if inner.base == "dot" else Z.mean(0)  # distances of large numbers lose digits
        Z = Z - middle

        def landmarks(rows):
            x = view.at(rows) - middle
            B = base_block(inner.base, x, Z, ((x * x).sum(1), (Z * Z).sum(1))).mul_(g).add_(c)
            return (B.exp_() if degree == 0 else B.pow_(degree)) @ P

        return landmarks
    return lambda rows: place.tensor(kernel.features(view.X[rows]))


def _waves(phase, size):
    import torch

    return torch.cat([phase.cos(), phase.sin()], dim=1).mul_(size)


def on(place, rows):
    """Rows, a slice or an index of the host, as an index of tensors."""
    return rows if isinstance(rows, slice) else place.index(rows, None)
