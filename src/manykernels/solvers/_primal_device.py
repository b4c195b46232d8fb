"""The products and the curvature of `primal` on a device, from the features of a bank there.

Products with the features are float64, and so are the sums of the certificate. The curvature only gives directions: it
is summed in the dtype of the features within a block and in float64 over blocks.
"""

from __future__ import annotations

import numpy as np


class DeviceBlocks:
    """As `_primal_passes.HostBlocks`; features are tensors, all else arrays of the host."""

    def __init__(self, features):
        self.there, self.size, self._wide = features, features.step, (None, None)

    def features(self, rows):
        return self.there.tensor(rows)

    def room(self, size, D):
        """None: the device keeps its features, or computes them quickly."""

    def _double(self, G):
        """G in float64, for the three products of a visit."""
        if self._wide[0] is not G:
            self._wide = G, G.double()
        return self._wide[1]

    def outputs(self, G, weights):
        return (self._double(G) @ G.new_tensor(weights.T, dtype=self._double(G).dtype)).T.cpu().numpy()

    def sums(self, a, G):
        G = self._double(G)
        return (G.new_tensor(a) @ G).cpu().numpy()

    def curvature(self, D, k):
        return DeviceCurvature(self.there.place, D, k)


class DeviceCurvature:
    """As `_primal_quadratic.Curvature`, with H (D, D), float64, on the device."""

    def __init__(self, place, D, k):
        import torch

        self.place = place
        self.H = torch.zeros(D, D, dtype=torch.float64, device=place.device)
        self.h, self.s = np.zeros((k, D)), np.zeros((k, k))

    def add(self, G, r, E):
        if not len(r):
            return
        R, e = G * G.new_tensor(r)[:, None], E * r[:, None]
        self.h += (G.new_tensor(e.T) @ R).cpu().numpy()
        self.s += e.T @ e
        self.H += R.T @ R

    def close(self, root):
        self.h *= root
        self.gain = np.linalg.pinv(self.s, rcond=1e-12, hermitian=True)
        root, h = self.place.tensor(root), self.place.tensor(self.h)
        self.H.mul_(root).mul_(root[:, None])
        self.H -= h.T @ (self.place.tensor(self.gain) @ h)

    def multiply(self, V):
        return (self.H @ self.place.tensor(V)).cpu().numpy()

    def factor(self, spread):
        """x → (I + Θ^½ H Θ^½)⁻¹ x, for θ of every feature."""
        import torch

        root = self.place.tensor(np.sqrt(spread))
        lower = _cholesky(self.H * root * root[:, None])

        def solve(x):
            right = self.place.tensor(x)
            right = right[:, None] if x.ndim == 1 else right
            return torch.cholesky_solve(right, lower).cpu().numpy().reshape(x.shape)

        return solve


def _cholesky(A):
    """The factor of I + A; with a larger diagonal if float32 sums made A indefinite."""
    import torch

    own, more = A.diagonal().clone(), 1.0
    while True:
        A.diagonal().copy_(own + more)
        lower, info = torch.linalg.cholesky_ex(A)
        if not int(info):
            return lower
        if not bool(A.isfinite().all()):
            raise np.linalg.LinAlgError("the curvature is not finite")
        more = max(3 * more, 1e-7 * float(own.max()))
