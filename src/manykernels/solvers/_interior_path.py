"""The central path of `interior`: dual variables and weights that move together.

A step is a predictor and a corrector (Mehrotra 1992): one system with two or three right sides, and one more each.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from ..inner.interior_point import NEAR, Path
from ._interior_system import MOST, System

BEND = 1.5  # times the curvature that was foreseen is what a step may meet
BUSY = 25  # steps of conjugate gradients a system from which on more columns are worth their factor


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
        """Δθ where neither a nor τ moves."""
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
    """θ_m in units of the weights that count, Σθ² / Σθ, over s_m in τ: below 1 where θ_m goes to 0, not s_m."""
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


class JointPath(Path):
    """The path of `inner.interior_point` with weights that move too."""

    def __init__(self, features, weights, rest, kink, lo, hi, total, equality):
        super().__init__(self, rest, kink, lo, hi, total, equality)
        self.features, self.weights, self.most = features, weights, MOST
        F = features.F
        self.squares = sp.csr_array(F.multiply(F)) if sp.issparse(F) else F * F
        self.simplex = isinstance(weights, SimplexWeights)

    def __matmul__(self, x):
        """Σ_m θ_m K_m x: what stands for K."""
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
        if not a.any():  # the way the targets pull, within the box, as far as the kernels let it
            low, high = (np.where(np.isfinite(bound), bound, 0.0) for bound in (self._low(), self._high()))
            a = np.where(first < 0, high, low) if (high - low).any() else -first
            if self.equality and a.any():
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
        mu, count = self._products(self._distances())
        self.weights.start(q, mu / count)

    def _low(self):
        return np.where(self.split, -self.bounds[3][1], self.bounds[0][1])

    def _high(self):
        return self.bounds[1][1]

    def _products(self, distance):
        count = sum(int(np.count_nonzero(z)) for z in self.z)
        return sum(float(z @ d) for z, d in zip(self.z, distance, strict=True)), max(count, 1)

    def step(self, exact):
        """One predictor and corrector step with systems solved to `exact`; False where that leads nowhere."""
        f, w, distance = self.features, self.weights, self._distances()
        v = f.add(self.p - self.m)
        w.at(f.sums(v * v))
        pairs, count = self._products(distance)
        if self.simplex:
            more, number = w.products()
            pairs, count = pairs + more, count + number
        mu = pairs / count
        ratio = [z / d for z, d in zip(self.z, distance, strict=True)]
        Dp, Dm = ratio[0] + ratio[1], ratio[2] + ratio[3]
        rest, curvature = self.rest(self.p - self.m)
        both = np.maximum(Dp + Dm, 1e-300)
        system = System(f, v, w, np.where(self.split, Dp * Dm / both, Dp) + curvature, self.squares, exact, self.most)
        slope = f.look_up(f.spread(w.theta) * v) + rest + self.beta
        lack = self.total - float((self.p - self.m).sum())
        border = [np.ones(len(self.p))] if self.equality else []
        if self.simplex:
            border.append(-system.pull(w.omega))
        sides = [system.solve(column) for column in border]
        corner = np.zeros((len(border), len(border)))
        if self.simplex:
            corner[-1, -1] = float(w.omega.sum())
        small = np.array([[column @ side for side in sides] for column in border]) - corner if border else None

        def direction(pull, kernels):
            force = [np.where(z > 0, t / d, 0.0) for t, d, z in zip(pull, distance, self.z, strict=True)]
            rp = -(slope + self.kink) + force[0] - force[1]
            rm = np.where(self.split, slope - self.kink + force[2] - force[3], 0.0)
            shift = 0.0
            if self.simplex:
                k = w.shift(kernels)
                shift = system.pull(k)
                rp, rm = rp - shift, np.where(self.split, rm + shift, 0.0)
            right = np.where(self.split, (Dm * rp - Dp * rm) / both, rp)
            x, values = system.solve(right), []
            if border:
                want = [lack] if self.equality else []
                if self.simplex:
                    want.append(-(1.0 - float(w.theta.sum()) - float(k.sum())))
                values = np.linalg.solve(small, [column @ x for column in border] - np.array(want))
                x = x - sum(value * side for value, side in zip(values, sides, strict=True))
            dbeta = values[0] if self.equality else 0.0
            dtau = values[-1] if self.simplex else 0.0
            dp = np.where(self.split, (Dm * x + rp + rm) / both, x)
            dm = np.where(self.split, dp - x, 0.0)
            moves = [sign * (dm if of_m else dp) for sign, _, of_m in self.bounds]
            dz = [np.where(z > 0, t / d - z - r * u, 0.0)
                  for t, d, z, r, u in zip(pull, distance, self.z, ratio, moves, strict=True)]  # fmt: skip
            dtheta, ds = w.direction(kernels, dtau, f.sums(v * f.add(x))) if self.simplex else (None, None)
            return dp, dm, dbeta, dtau, moves, dz, dtheta, ds

        def lengths(moves, dz, dtheta, ds, share):
            t = min(self._lengths(distance, moves, dz, share))
            if self.simplex:
                for x, dx in ((w.theta, dtheta), (w.s, ds)):
                    falling = dx < 0
                    t = min(t, share * float(np.min(-x[falling] / dx[falling], initial=np.inf)))
            return t

        *_, moves, dz, dtheta, ds = direction([np.zeros_like(d) for d in distance], None)
        t = lengths(moves, dz, dtheta, ds, 1.0)
        after = sum(float((z + t * dy) @ (d + t * u)) for z, dy, d, u in zip(self.z, dz, distance, moves, strict=True))
        after += float((w.theta + t * dtheta) @ (w.s + t * ds)) if self.simplex else 0.0
        sigma = min(max(after / count / mu, 0.0), 1.0) ** 3 if mu > 0 else 0.0
        pull = [sigma * mu - u * dy for u, dy in zip(moves, dz, strict=True)]
        dp, dm, dbeta, dtau, moves, dz, dtheta, ds = direction(pull, sigma * mu - ds * dtheta if self.simplex else None)
        if not np.all(np.isfinite(dp)):
            return False
        if system.short and system.steps > BUSY * system.solved:
            self.most = int(1.4 * self.most)
        t = lengths(moves, dz, dtheta, ds, NEAR)
        if not self.simplex:
            t = self._shortened(t, v, dp - dm, system)
        self.p, self.m, self.beta = self.p + t * dp, self.m + t * dm, self.beta + t * dbeta
        self.z = [np.where(z > 0, np.maximum(z + t * dy, 1e-300), 0.0) for z, dy in zip(self.z, dz, strict=True)]
        if self.simplex:
            w.go(t, dtheta, ds, dtau)
        return t > 1e-10

    def _shortened(self, t, v, x, system):
        """The step halved until Ω* bends along x no more than foreseen."""
        f, w, dv = self.features, self.weights, self.features.add(x)
        here, foreseen = w.theta @ f.sums(v * dv), float(x @ (system.multiply(x) - system.D * x))
        for _ in range(40):
            ahead = v + t * dv
            theta = w.regularizer.weights_from_dual(0.5 * f.sums(ahead**2))
            if theta @ f.sums(ahead * dv) - here <= BEND * t * foreseen + 1e-12 * abs(here):
                break
            t *= 0.5
        return t
