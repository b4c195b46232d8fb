"""The central path of `interior`: predictor and corrector steps (Mehrotra 1992) on dual variables and weights."""

import numpy as np
import scipy.sparse as sp

from .._central_path import BOUNDARY_SHARE, CentralPath
from ._interior_system import PRECONDITIONER_COLUMNS, NewtonSystem

MAX_BEND = 1.5  # times the predicted curvature: a step that meets more is halved
MANY_CG_STEPS = 25  # per system: above it, more columns of the preconditioner pay


class SimplexWeights:
    """θ ≥ 0, Σθ = 1, as multipliers of s_m = τ − ½ q_m ≥ 0."""

    def __init__(self, regularizer, M):
        self.theta = np.full(M, 1.0 / M)

    def start(self, q, mu):
        top = 0.5 * float(q.max())
        self.tau = top + max(len(q) * mu, top, 1e-12)
        self.s = self.tau - 0.5 * q

    def at(self, q):
        self.omega, self.lack = self.theta / self.s, self.tau - 0.5 * q - self.s
        self.negative = None

    def products(self):
        return float(self.theta @ self.s), len(self.s)

    def shift(self, pull):
        """Δθ at fixed a and τ."""
        return (0.0 if pull is None else pull) / self.s - self.theta - self.omega * self.lack

    def direction(self, pull, dtau, change):
        """(Δθ, Δs) for ½ q that changes by `change`."""
        ds = dtau - change + self.lack
        return ((0.0 if pull is None else pull) - self.s * self.theta - self.theta * ds) / self.s, ds

    def go(self, t, dtheta, ds, dtau):
        self.theta, self.s, self.tau = self.theta + t * dtheta, self.s + t * ds, self.tau + t * dtau

    def settled(self):
        theta = np.where(share_of_bound(self.theta, self.s, self.tau) < 1, 0.0, self.theta)
        return theta / theta.sum() if theta.any() else self.feasible()

    def feasible(self):
        return self.theta / self.theta.sum()


def share_of_bound(theta, s, tau):
    """θ_m in units of the weights that count, Σθ² / Σθ, over s_m / τ: below 1 where θ_m goes to 0, not s_m."""
    typical = float(theta @ theta) / float(theta.sum())
    return theta * tau / np.maximum(s * typical, 1e-300)


class SmoothWeights:
    """θ = ∇Ω*(½ q)."""

    def __init__(self, regularizer, M):
        self.regularizer = regularizer

    def start(self, q, mu):
        self.at(q)

    def at(self, q):
        self.theta = self.regularizer.weights_from_dual(0.5 * q)
        self.omega, self.negative = self.regularizer.conjugate_curvature(0.5 * q)

    def feasible(self):
        return self.theta

    settled = feasible


class JointPath(CentralPath):
    """The path of `inner.interior_point` with weights that move too.

    E is 1 (n,), independent columns (n, k) or None, with Eᵀa = 0.
    """

    def __init__(self, features, weights, rest, kink, lo, hi, E):
        super().__init__(self, rest, kink, lo, hi, 0.0, E)
        self.features, self.weights, self.most = features, weights, PRECONDITIONER_COLUMNS
        F = features.F
        self.squares = sp.csr_array(F.multiply(F)) if sp.issparse(F) else F * F
        self.simplex = isinstance(weights, SimplexWeights)

    def __matmul__(self, x):
        """Σ_m θ_m K_m x, the product with K."""
        f = self.features
        return f.look_up(f.spread(self.weights.theta) * f.add(x))

    @property
    def theta(self):
        return self.weights.feasible()

    def settled_weights(self):
        return self.weights.settled()

    def start(self, a):
        f = self.features
        first = self.rest(np.zeros(len(a)))[0]
        if not a.any():  # against the first gradient, within the box, scaled by the kernels
            low, high = (np.where(np.isfinite(bound), bound, 0.0) for bound in (self._low(), self._high()))
            a = np.where(first < 0, high, low) if (high - low).any() else -first
            if self.E is not None and a.any():
                up, down = a[a > 0].sum(), -a[a < 0].sum()
                a = np.where(a > 0, a * min(1.0, down / max(up, 1e-300)), a * min(1.0, up / max(down, 1e-300)))
            a = 0.5 * a
            q = f.norms(a)
            self.weights.start(q, 0.0)
            most = 2.0 * float(self.weights.theta @ q) if not self.simplex else float(q.max())
            a = a * min(1.0, max(abs(float(first @ a)) / max(most, 1e-300), 1e-3))
        q = f.norms(a)
        self.weights.start(q, 1.0)
        super().start(a)
        q = f.norms(self.p - self.m)
        mu, count = self.products(self.distances())
        self.weights.start(q, mu / count)

    def _low(self):
        return np.where(self.split, -self.bounds[3], self.bounds[0])

    def _high(self):
        return self.bounds[1]

    def step(self, exact, least):
        """One predictor and corrector step with systems solved to `exact`; False if it makes no progress.

        Where Ω* bends, Σ z·d falls far sooner than the error of the linear model of θ. It is kept at `least`: with
        less the system is singular up to rounding, before θ has settled.
        """
        at, w = Directions(self, exact), self.weights
        *_, moves, dz, _, dtheta, ds = at.towards(np.zeros_like(at.distance), None)
        t = at.length(moves, dz, dtheta, ds, 1.0)
        after = float(np.vdot(self.z + t * dz, at.distance + t * moves))
        after += float((w.theta + t * dtheta) @ (w.s + t * ds)) if self.simplex else 0.0
        centre = min(max(after / at.count / at.mu, 0.0), 1.0) ** 3 * at.mu if at.mu > 0 else 0.0
        centre = centre if self.simplex else max(centre, least / at.count)
        kernels = centre - ds * dtheta if self.simplex else None
        dp, dm, dbeta, moves, dz, dtau, dtheta, ds = at.towards(centre - moves * dz, kernels)
        if not np.all(np.isfinite(dp)):
            return False
        if at.system.short and at.system.steps > MANY_CG_STEPS * at.system.solved:
            self.most = int(1.4 * self.most)
        t = at.length(moves, dz, dtheta, ds, BOUNDARY_SHARE)
        if not self.simplex:
            t = self._shortened(t, at.v, dp - dm, at.system)
        self.go(t, dp, dm, dbeta, dz)
        if self.simplex:
            w.go(t, dtheta, ds, dtau)
        return t > 1e-10

    def _shortened(self, t, v, x, system):
        """The step halved until its end is not beyond the minimum along x.

        Ω* may bend more than foreseen: up to MAX_BEND times, or as long as the slope along x, −xᵀAx here, stays
        below 0.
        """
        f, w, dv = self.features, self.weights, self.features.add(x)
        rest = float(x @ (system.D * x))
        here, foreseen = w.theta @ f.sums(v * dv), float(x @ system.multiply(x)) - rest
        for _ in range(40):
            ahead = v + t * dv
            theta = w.regularizer.weights_from_dual(0.5 * f.sums(ahead**2))
            most = max(MAX_BEND * t * foreseen, foreseen + (1.0 - t) * rest)
            if theta @ f.sums(ahead * dv) - here <= most + 1e-12 * abs(here):
                break
            t *= 0.5
        return t


class Directions:
    """The Newton directions at the present point of a path: one system, the right sides of Σa and Σθ solved once."""

    def __init__(self, path, exact):
        self.path, f, w = path, path.features, path.weights
        self.distance, a = path.distances(), path.p - path.m
        self.v = f.add(a)
        w.at(f.sums(self.v * self.v))
        pairs, self.count = path.products(self.distance)
        if path.simplex:
            more, number = w.products()
            pairs, self.count = pairs + more, self.count + number
        self.mu = pairs / self.count
        ratio = path.z / self.distance
        self.Dp, self.Dm = ratio[0] + ratio[1], ratio[2] + ratio[3]
        self.both = np.maximum(self.Dp + self.Dm, 1e-300)
        rest, curvature = path.rest(a)
        D = np.where(path.split, self.Dp * self.Dm / self.both, self.Dp) + curvature
        self.system = NewtonSystem(f, self.v, w, D, path.squares, exact, path.most)
        self.slope = f.look_up(f.spread(w.theta) * self.v) + rest + path._level()
        self.border = [] if path.E is None else list(np.atleast_2d(path.E.T))
        self.lack = [-float((column * a).sum()) for column in self.border]
        if path.simplex:
            self.border.append(-self.system.pull(w.omega))
        self.sides = [self.system.solve(column) for column in self.border]
        self.small = np.array([[column @ side for side in self.sides] for column in self.border])
        if path.simplex:
            self.small[-1, -1] -= float(w.omega.sum())

    def towards(self, pull, kernels):
        """(Δp, Δm, Δβ, of the distances, Δz, Δτ, Δθ, Δs) towards z·d = pull and θ·s = kernels; None for 0."""
        path, w, Dp, Dm, both = self.path, self.path.weights, self.Dp, self.Dm, self.both
        rp, rm = path.forces(self.slope, pull, self.distance)
        if path.simplex:
            k = w.shift(kernels)
            shift = self.system.pull(k)
            rp, rm = rp - shift, np.where(path.split, rm + shift, 0.0)
        x, values = self.system.solve(np.where(path.split, (Dm * rp - Dp * rm) / both, rp)), []
        if self.border:
            want = self.lack.copy()
            if path.simplex:
                want.append(-(1.0 - float(w.theta.sum()) - float(k.sum())))
            values = np.linalg.solve(self.small, [column @ x for column in self.border] - np.array(want))
            x = x - sum(value * side for value, side in zip(values, self.sides, strict=True))
        dbeta = np.array(values[: len(self.lack)]) if np.ndim(path.beta) else sum(values[: len(self.lack)])
        dtau = values[-1] if path.simplex else 0.0
        dp = np.where(path.split, (Dm * x + rp + rm) / both, x)
        dm = np.where(path.split, dp - x, 0.0)
        change = path.features.sums(self.v * path.features.add(x)) if path.simplex else None
        dtheta, ds = w.direction(kernels, dtau, change) if path.simplex else (None, None)
        return *path.changes(dp, dm, dbeta, pull, self.distance), dtau, dtheta, ds

    def length(self, moves, dz, dtheta, ds, share):
        """The step length: `share` of the way to the nearest bound, at most 1."""
        path, w = self.path, self.path.weights
        t = min(path.lengths(self.distance, moves, dz, share))
        if path.simplex:
            for x, dx in ((w.theta, dtheta), (w.s, ds)):
                falling = dx < 0
                t = min(t, share * float(np.min(-x[falling] / dx[falling], initial=np.inf)))
        return t
