"""A primal–dual interior point method for an inner problem that coordinate and Newton steps do not finish.

    min over a :  ½ aᵀK a + shiftᵀa + Σ c V*(y, −a / c) ,   lo ≤ a ≤ hi (, Σ a = total)

If C is large and the kernel has low rank, nearly all a are at their bounds and a coordinate step is a tiny part of the
box; here the number of steps does not depend on C. kink·|a| is kink·(p + m) with a = p − m, p, m ≥ 0; without a kink
m = 0. With Q = K + the curvature of the rest of V*, and D the curvatures of the barriers, every step needs one Cholesky
factor of Q + D_p D_m / (D_p + D_m), used twice (Mehrotra 1992).
"""

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from .._work import spend
from .systems import blas_for

MAX_STEPS = 60
BOUNDARY_SHARE = 0.9995  # of the way to the nearest bound that a step may take


def interior_point(inner, K, a, target):
    """(a, outputs, b, gap) of the best point found, with a gap of `target` if rounding allows, or None.

    `a` must be feasible. Variables next to a bound are set to it, unless the gap then exceeds the target.
    """
    with np.errstate(all="ignore"), blas_for(len(a), inner.n_jobs):  # a singular system ends the path
        return _follow(inner, K, a, target)


def _follow(inner, K, a, target):
    index = np.flatnonzero(inner.hi > inner.lo)
    Q = inner.host(K)[np.ix_(index, index)].astype(np.float64)
    held = np.where(inner.hi > inner.lo, 0.0, a)
    fixed = inner.outputs(K, held)[index]  # the shift, and the terms of the fixed variables
    y, c = inner.y[index], inner.c[index]

    def rest(x):
        """(slope, curvature) of shift and c V* at x, without the kink."""
        linear, diagonal, _ = inner.loss.quadratic(y, c, x)
        return fixed + linear + diagonal * x, diagonal

    total = a.sum() - held.sum()
    path = CentralPath(Q, rest, inner.kink[index], inner.lo[index], inner.hi[index], total, inner.intercept)
    path.start(a[index])

    def judged(x):
        trial = held.copy()
        trial[index] = np.clip(x, inner.lo[index], inner.hi[index])
        trial = inner.repair(trial, a.sum())
        if trial is None:
            return None
        outputs = inner.outputs(K, trial)
        b = inner.loss.intercept(inner.y, outputs, inner.c) if inner.intercept else 0.0
        return trial, outputs, b, inner.gap(trial, outputs, b)

    best, settled, since = None, None, 0
    for _ in range(MAX_STEPS):
        spend(1000.0 + 2e-4 * len(a) ** 3)
        point = judged(path.p - path.m)
        if point is not None and np.isfinite(point[-1]):
            since = 0 if best is None or point[-1] < 0.9 * best[-1] else since + 1
            if best is None or point[-1] < best[-1]:
                best, settled = point, path.settled()
            if point[-1] <= 0.5 * target or since > 8:
                break
        if not path.step():
            break
    if inner.loss.interior:
        return best
    point = None if best is None else judged(settled)
    return point if point is not None and point[-1] <= max(target, best[-1]) else best


class CentralPath:
    """The point (p, m, β) on the central path, with the multipliers of its four bounds."""

    def __init__(self, Q, rest, kink, lo, hi, total, equality):
        self.Q, self.rest, self.kink, self.total, self.equality = Q, rest, kink, total, equality
        self.split = kink > 0
        self.bounds = [  # (sign of the distance, bound, belongs to m): p ≥ low, p ≤ hi, m ≥ 0, m ≤ −lo
            (1.0, np.where(self.split, 0.0, lo), False), (-1.0, hi, False),
            (1.0, np.where(self.split, 0.0, -np.inf), True), (-1.0, np.where(self.split, -lo, np.inf), True),
        ]  # fmt: skip

    def start(self, a):
        """Starts at a, moved inside the box, with multipliers of the size of the slopes."""
        low, high = self.bounds[0][1], self.bounds[1][1]
        width = np.where(np.isfinite(high - low), high - low, np.inf)
        unit = max(float(np.abs(a).max()), 1e-3 * float(np.min(width, initial=np.inf, where=np.isfinite(width))))
        unit = unit if 0 < unit < np.inf else 1.0
        room = np.minimum(0.1 * width, 0.1 * unit)
        self.p = _inside(np.where(self.split, np.maximum(a, 0.0), a), low, high, room)
        self.m = np.zeros_like(a)
        if self.split.any():
            self.m = np.where(self.split, _inside(np.maximum(-a, 0.0), 0.0, self.bounds[3][1], room), 0.0)
        self.beta = 0.0
        slope = self.Q @ (self.p - self.m) + self.rest(self.p - self.m)[0]
        if self.equality:
            self.beta = -float(np.median(slope))
        size = max(float(np.abs(slope + self.beta).mean() + self.kink.mean()), 1e-300)
        self.units = unit, size
        self.z = [np.where(np.isfinite(bound), size, 0.0) for _, bound, _ in self.bounds]

    def distances(self):
        at = [self.m if of_m else self.p for _, _, of_m in self.bounds]
        gaps = [sign * (x - bound) for x, (sign, bound, _) in zip(at, self.bounds, strict=True)]
        return [np.where(np.isfinite(d), np.maximum(d, 1e-20 * self.units[0]), 1.0) for d in gaps]

    def settled(self):
        """a, with the variables that a bound holds set to the bound."""
        p, m, (unit, size) = self.p.copy(), self.m.copy(), self.units
        for z, d, (_, bound, of_m) in zip(self.z, self.distances(), self.bounds, strict=True):
            held = (z > 0) & (d / unit < 1e-3 * z / size)
            (m if of_m else p)[held] = bound[held]
        return p - m

    def step(self):
        """One predictor and corrector step; returns False if the system can no longer be solved."""
        distance = self.distances()
        count = max(sum(int(np.count_nonzero(z)) for z in self.z), 1)
        mu = sum(float(z @ d) for z, d in zip(self.z, distance, strict=True)) / count
        ratio = [z / d for z, d in zip(self.z, distance, strict=True)]
        Dp, Dm = ratio[0] + ratio[1], ratio[2] + ratio[3]
        rest, curvature = self.rest(self.p - self.m)
        factor = self._factor(np.where(self.split, Dp * Dm / np.maximum(Dp + Dm, 1e-300), Dp) + curvature)
        if factor is None:
            return False
        ones = cho_solve(factor, np.ones(len(Dp)), check_finite=False) if self.equality else None
        slope = self.Q @ (self.p - self.m) + rest + self.beta
        lack = self.total - float((self.p - self.m).sum())

        def direction(pull):
            """The Newton step towards z·d = pull, for each bound."""
            force = [np.where(z > 0, t / d, 0.0) for t, d, z in zip(pull, distance, self.z, strict=True)]
            rp = -(slope + self.kink) + force[0] - force[1]
            rm = np.where(self.split, slope - self.kink + force[2] - force[3], 0.0)
            right = np.where(self.split, (Dm * rp - Dp * rm) / np.maximum(Dp + Dm, 1e-300), rp)
            x = cho_solve(factor, right, check_finite=False)
            dbeta = 0.0
            if self.equality:
                dbeta = (float(x.sum()) - lack) / float(ones.sum())
                x = x - dbeta * ones
            dp = np.where(self.split, (Dm * x + rp + rm) / np.maximum(Dp + Dm, 1e-300), x)
            dm = np.where(self.split, dp - x, 0.0)
            moves = [sign * (dm if of_m else dp) for sign, _, of_m in self.bounds]
            dz = [np.where(z > 0, t / d - z - r * v, 0.0)
                  for t, d, z, r, v in zip(pull, distance, self.z, ratio, moves, strict=True)]  # fmt: skip
            return dp, dm, dbeta, moves, dz

        *_, moves, dz = direction([np.zeros_like(d) for d in distance])
        t, s = self.lengths(distance, moves, dz, 1.0)
        after = sum(float((z + s * dy) @ (d + t * v)) for z, dy, d, v in zip(self.z, dz, distance, moves, strict=True))
        sigma = min(max(after / count / mu, 0.0), 1.0) ** 3 if mu > 0 else 0.0
        pull = [sigma * mu - v * dy for v, dy in zip(moves, dz, strict=True)]
        dp, dm, dbeta, moves, dz = direction(pull)
        if not np.all(np.isfinite(dp)):
            return False
        t, s = self.lengths(distance, moves, dz, BOUNDARY_SHARE)
        t = s = min(t, s)  # Q couples them: with one length the slopes stay correct
        self.p, self.m, self.beta = self.p + t * dp, self.m + t * dm, self.beta + t * dbeta
        self.z = [np.where(z > 0, np.maximum(z + s * dy, 1e-300), 0.0) for z, dy in zip(self.z, dz, strict=True)]
        return t > 1e-10

    def lengths(self, distance, moves, dz, share):
        def longest(x, dx, used):
            falling = used & (dx < 0)
            return float(np.min(-x[falling] / dx[falling], initial=np.inf))

        used = [z > 0 for z in self.z]
        t = min(longest(d, v, u) for d, v, u in zip(distance, moves, used, strict=True))
        s = min(longest(z, dy, u) for z, dy, u in zip(self.z, dz, used, strict=True))
        return min(1.0, share * t), min(1.0, share * s)

    def _factor(self, curvature):
        A = self.Q.copy()
        spot = np.diag_indices(len(A))
        A[spot] += curvature
        size = float(np.abs(np.diagonal(self.Q)).max())
        if self.equality:  # Σ x is fixed: a constant has no effect
            A += size
        for jitter in (0.0, 1e-15, 1e-13, 1e-11, 1e-9):
            A[spot] += jitter * size
            try:
                return cho_factor(A, lower=True, check_finite=False)
            except LinAlgError:
                continue
        return None


def _inside(x, low, high, room):
    """x moved to at least `room` from its bounds."""
    low = np.where(np.isfinite(low), low + room, -np.inf)
    high = np.where(np.isfinite(high), high - room, np.inf)
    return np.clip(x, np.minimum(low, high), np.maximum(low, high))
