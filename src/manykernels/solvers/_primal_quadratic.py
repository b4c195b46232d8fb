"""The quadratic model of `primal`: the curvature of the loss in the features, and the minimum over w at given θ.

On a device, products with the features are float64, and so are the sums of the certificate. The curvature only gives
directions: it is summed in the dtype of the features within a block and in float64 over blocks.
"""

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve
from scipy.linalg.blas import dsyrk, ssyrk

MAX_WAITING_ROWS = 2048  # kept before they are summed


class Answer:
    """min over w of Σ_t linear_tᵀw_t + ½ w_tᵀH_t w_t + ½ Σ_m ‖w_tm‖² / θ_m: its value, w, and v = w/θ, (T, D)."""

    def __init__(self, run, curves, linear, theta):
        self.run, self.curves = run, curves
        self.spread = run._spread(theta)
        self.factors = [curve.factor(self.spread) for curve in curves]
        root = np.sqrt(self.spread)
        parts = zip(self.factors, linear, strict=True)
        self.w = np.array([root * factor(-root * slope) for factor, slope in parts])
        parts = zip(curves, linear, self.w, strict=True)
        self.v = np.array([-(slope + curve.multiply(w)) for curve, slope, w in parts])
        self.value = 0.5 * float(np.sum(self.w * np.array(linear)))

    def half_hessian(self):
        """Z with ZᵀZ = Σ_t V_tᵀ (H_t⁻¹ + Θ)⁻¹ V_t, the curvature of the value in θ; V_t has v_tm in column m."""
        run, total = self.run, 0.0
        place = np.full(run.bank.M, -1)
        place[run.kernels] = np.arange(len(run.kernels))
        at, root = place[run.owners], np.sqrt(self.spread)[:, None]
        used = np.flatnonzero(at >= 0)
        for v, curve, factor in zip(self.v, self.curves, self.factors, strict=True):
            V = np.zeros((run.D, len(run.kernels)))
            V[used, at[used]] = v[used]
            Y = curve.multiply(V)
            total = total + V.T @ Y - (root * Y).T @ factor(root * Y)
        values, vectors = np.linalg.eigh(0.5 * (total + total.T))
        return np.sqrt(np.maximum(values, 0.0))[:, None] * vectors.T


class Curvature:
    """H = Σ S φφᵀ less the part of the free coefficients, hᵀ s⁺ h: D × D numbers, or the rows √S φ if they are fewer.

    For columns e (k,) of free coefficients, the constant or covariates, h = Σ S eφᵀ (k, D) and s = Σ S eeᵀ (k, k);
    s⁺ is `gain`.
    """

    def __init__(self, D, k):
        self.D, self.parts, self.roots, self.waiting, self.H = D, [], [], 0, None
        self.h, self.s = np.zeros((k, D)), np.zeros((k, k))

    def add(self, G, r, E):
        """Adds examples with features G (·, D), √S = r and columns E (·, k)."""
        if not len(r):
            return
        R = G * r[:, None].astype(G.dtype)
        e = E * r[:, None]
        self.h += e.T.astype(G.dtype) @ R
        self.s += e.T @ e
        self.parts.append(R)
        self.roots.append(e)
        self.waiting += len(R)
        if self.waiting > (self.D if self.H is None else MAX_WAITING_ROWS):
            self._sum()

    def _sum(self):
        R = np.ascontiguousarray(np.vstack(self.parts))
        square = (ssyrk if R.dtype == np.float32 else dsyrk)(1.0, R.T, lower=1)
        if self.H is None:
            self.H = square.astype(np.float64)
        else:
            self.H += square
        self.parts, self.roots, self.waiting = [], [], 0

    def close(self, root):
        """Normalises the features by `root`, (D,)."""
        self.h *= root
        self.gain = np.linalg.pinv(self.s, rcond=1e-12, hermitian=True)
        if self.H is None:
            R = np.vstack(self.parts) if self.parts else np.zeros((1, self.D))
            self.R = R * root
            if self.parts:
                self.R -= np.vstack(self.roots) @ (self.gain @ self.h)
        else:
            if self.waiting:
                self._sum()
            H = self.H
            H += np.tril(H, -1).T
            H *= root
            H *= root[:, None]
            H -= self.h.T @ (self.gain @ self.h)
        self.parts, self.roots = [], []

    def multiply(self, V):
        return self.R.T @ (self.R @ V) if self.H is None else self.H @ V

    def factor(self, spread):
        """x → (I + Θ^½ H Θ^½)⁻¹ x, for θ of every feature."""
        used = np.flatnonzero(spread)
        root = np.sqrt(spread[used])
        if self.H is None and len(self.R) < len(used):
            half = self.R[:, used] * root
            A = half @ half.T
            small = _cholesky(A)
            return lambda x: _placed(x, used, lambda z: z - half.T @ cho_solve(small, half @ z, check_finite=False))
        if self.H is None:
            half = self.R[:, used] * root
            A = half.T @ half
        else:
            A = (self.H if len(used) == self.D else self.H[np.ix_(used, used)]) * root
            A *= root[:, None]
        whole = _cholesky(A)
        return lambda x: _placed(x, used, lambda z: cho_solve(whole, z, check_finite=False))


def _cholesky(A):
    """The factor of I + A; with a larger diagonal if float32 sums made A indefinite."""
    own, more = np.diagonal(A).copy(), 1.0
    while True:
        np.fill_diagonal(A, own + more)
        try:
            return cho_factor(A, lower=True, overwrite_a=True, check_finite=False)
        except LinAlgError:
            if not np.isfinite(A).all():
                raise
            more = max(3 * more, 1e-7 * own.max())
            A = np.triu(A)  # cho_factor overwrote its lower half
            A += np.triu(A, 1).T


def _placed(x, used, solve):
    """x with solve(x) at the used features; at θ = 0 the matrix is the identity."""
    if len(used) == len(x):
        return solve(x)
    out = np.array(x)
    out[used] = solve(x[used])
    return out


# on a device


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
    """As `Curvature`, with H (D, D), float64, on the device."""

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
        lower = _device_cholesky(self.H * root * root[:, None])

        def solve(x):
            right = self.place.tensor(x)
            right = right[:, None] if x.ndim == 1 else right
            return torch.cholesky_solve(right, lower).cpu().numpy().reshape(x.shape)

        return solve


def _device_cholesky(A):
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
