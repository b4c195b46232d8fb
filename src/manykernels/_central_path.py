"""The central path of a box QP with equality constraints, by predictor and corrector steps (Mehrotra 1992).

    min over a :  ½ aᵀQ a + rest(a) + kink·|a| ,   lo ≤ a ≤ hi (, Eᵀa = total)

kink·|a| is kink·(p + m) with a = p − m, p, m ≥ 0; without a kink m = 0. With D the curvatures of the barriers, every
step needs one Cholesky factor of Q + rest'' + D_p D_m / (D_p + D_m), used twice.
"""

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

BOUNDARY_SHARE = 0.9995  # of the way to the nearest bound that a step may take
SIGNS = np.array([[1.0], [-1.0], [1.0], [-1.0]])  # of the distances to the four bounds


def multipliers(E, U, x, s=0.0):
    """β with Eᵀ(x − U β) = s: a number for E (n,), (k,) for E (n, k) of any rank."""
    lack, S = np.dot(E.T, x) - s, np.dot(E.T, U)
    return lack / S if np.ndim(S) == 0 else np.linalg.lstsq(S, lack, rcond=1e-15)[0]


class CentralPath:
    """The point (p, m, β) on the central path, with the multipliers z (4, n) of its bounds.

    `bounds` (4, n) are p ≥ low, p ≤ hi, m ≥ 0, m ≤ −lo.
    `rest(a)` gives (slope, curvature). E is (n,), (n, k) or None, and Q = None is a matrix of zeros.
    """

    def __init__(self, Q, rest, kink, lo, hi, total, E):
        self.Q, self.rest, self.kink, self.total, self.E = Q, rest, kink, total, E
        self.split = kink > 0
        of_m = np.where(self.split, 0.0, -np.inf), np.where(self.split, -lo, np.inf)
        self.bounds = np.array([np.where(self.split, 0.0, lo), hi, *of_m])

    def start(self, a):
        """Starts at a, moved inside the box, with multipliers of the size of the slopes."""
        low, high = self.bounds[:2]
        width = np.where(np.isfinite(high - low), high - low, np.inf)
        unit = max(float(np.abs(a).max()), 1e-3 * float(np.min(width, initial=np.inf)))
        unit = unit if 0 < unit < np.inf else 1.0
        room = np.minimum(0.1 * width, 0.1 * unit)
        self.p = _inside(np.where(self.split, np.maximum(a, 0.0), a), low, high, room)
        self.m = np.zeros_like(a)
        if self.split.any():
            self.m = np.where(self.split, _inside(np.maximum(-a, 0.0), 0.0, self.bounds[3], room), 0.0)
        self.beta = 0.0
        slope = self._product(self.p - self.m) + self.rest(self.p - self.m)[0]
        if self.E is not None:
            self.beta = -(
                float(np.median(slope)) if self.E.ndim == 1 else np.linalg.lstsq(self.E, slope, rcond=None)[0]
            )
        size = max(float(np.abs(slope + self._level()).mean() + self.kink.mean()), 1e-300)
        self.units = unit, size
        self.z = np.where(np.isfinite(self.bounds), size, 0.0)

    def _product(self, a):
        return 0.0 if self.Q is None else self.Q @ a

    def _level(self):
        """E β."""
        return 0.0 if self.E is None else np.dot(self.E, self.beta)

    def distances(self):
        """The distances (4, n) to the bounds, 1 where a bound is infinite."""
        gaps = SIGNS * (np.array([self.p, self.p, self.m, self.m]) - self.bounds)
        return np.where(np.isfinite(gaps), np.maximum(gaps, 1e-20 * self.units[0]), 1.0)

    def products(self, distance):
        """(Σ z·d, the number of bounds)."""
        return float(np.vdot(self.z, distance)), max(int(np.count_nonzero(self.z)), 1)

    def settled(self):
        """a, with the variables that a bound holds set to the bound."""
        p, m, (unit, size) = self.p.copy(), self.m.copy(), self.units
        held = (self.z > 0) & (self.distances() / unit < 1e-3 * self.z / size)
        for x, at, bound in zip((p, p, m, m), held, self.bounds, strict=True):
            x[at] = bound[at]
        return p - m

    def step(self):
        """One predictor and corrector step; returns False if the system can no longer be solved."""
        distance = self.distances()
        pairs, count = self.products(distance)
        mu, ratio = pairs / count, self.z / distance
        Dp, Dm = ratio[0] + ratio[1], ratio[2] + ratio[3]
        both = np.maximum(Dp + Dm, 1e-300)
        rest, curvature = self.rest(self.p - self.m)
        solve = self._solver(np.where(self.split, Dp * Dm / both, Dp) + curvature)
        if solve is None:
            return False
        U = None if self.E is None else solve(self.E)
        slope = self._product(self.p - self.m) + rest + self._level()
        lack = None if self.E is None else self.total - np.dot(self.E.T, self.p - self.m)

        def direction(pull):
            """(Δp, Δm, Δβ, changes of the distances, of the multipliers) towards z·d = pull."""
            rp, rm = self.forces(slope, pull, distance)
            right = np.where(self.split, (Dm * rp - Dp * rm) / both, rp)
            x, dbeta = solve(right), 0.0
            if self.E is not None:
                dbeta = multipliers(self.E, U, x, lack)
                x = x - np.dot(U, dbeta)
            dp = np.where(self.split, (Dm * x + rp + rm) / both, x)
            return self.changes(dp, np.where(self.split, dp - x, 0.0), dbeta, pull, distance)

        *_, moves, dz = direction(np.zeros_like(distance))
        t, s = self.lengths(distance, moves, dz, 1.0)
        after = float(np.vdot(self.z + s * dz, distance + t * moves))
        sigma = min(max(after / count / mu, 0.0), 1.0) ** 3 if mu > 0 else 0.0
        dp, dm, dbeta, moves, dz = direction(sigma * mu - moves * dz)
        if not np.all(np.isfinite(dp)):
            return False
        t = min(self.lengths(distance, moves, dz, BOUNDARY_SHARE))  # Q couples them: so the slopes stay correct
        self.go(t, dp, dm, dbeta, dz)
        return t > 1e-10

    def forces(self, slope, pull, distance):
        """The right sides of p and m, of this slope and of the bounds."""
        force = np.where(self.z > 0, pull / distance, 0.0)
        rp = -(slope + self.kink) + force[0] - force[1]
        return rp, np.where(self.split, slope - self.kink + force[2] - force[3], 0.0)

    def changes(self, dp, dm, dbeta, pull, distance):
        """(Δp, Δm, Δβ, changes of the distances, of the multipliers) towards z·d = pull."""
        moves = SIGNS * np.array([dp, dp, dm, dm])
        dz = np.where(self.z > 0, pull / distance - self.z - self.z / distance * moves, 0.0)
        return dp, dm, dbeta, moves, dz

    def go(self, t, dp, dm, dbeta, dz):
        """Goes a step of length t."""
        self.p, self.m, self.beta = self.p + t * dp, self.m + t * dm, self.beta + t * dbeta
        self.z = np.where(self.z > 0, np.maximum(self.z + t * dz, 1e-300), 0.0)

    def lengths(self, distance, moves, dz, share):
        """The step lengths of the point and of the multipliers: `share` of the way to the nearest bound, at most 1."""

        def longest(x, dx):
            falling = (self.z > 0) & (dx < 0)
            return min(1.0, share * float(np.min(-x[falling] / dx[falling], initial=np.inf)))

        return longest(distance, moves), longest(self.z, dz)

    def _solver(self, curvature):
        """r → (Q + curvature)⁻¹ r, or None if the matrix is not positive definite."""
        if self.Q is None:
            return lambda r: (r.T / np.maximum(curvature, 1e-300)).T
        A = self.Q.copy()
        spot = np.diag_indices(len(A))
        A[spot] += curvature
        size = float(np.abs(np.diagonal(self.Q)).max())
        if self.E is not None:  # Eᵀx is fixed: multiples of EEᵀ have no effect
            A += size if self.E.ndim == 1 else size * (self.E @ self.E.T)
        for jitter in (0.0, 1e-15, 1e-13, 1e-11, 1e-9):
            A[spot] += jitter * size
            try:
                factor = cho_factor(A, lower=True, check_finite=False)
                return lambda r: cho_solve(factor, r, check_finite=False)
            except LinAlgError:
                continue
        return None


def _inside(x, low, high, room):
    """x moved to at least `room` from its bounds."""
    low = np.where(np.isfinite(low), low + room, -np.inf)
    high = np.where(np.isfinite(high), high - room, np.inf)
    return np.clip(x, np.minimum(low, high), np.maximum(low, high))
