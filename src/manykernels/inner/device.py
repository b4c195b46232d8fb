"""The inner problem of a block on a device, which computes products and Cholesky factors; vectors stay on the host.

Newton steps on the free variables, in float64, free all violating variables at once: a handful of factors solve a
problem from zero, and one or two from the last solution.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .interior_point import interior_point
from .problem import InnerProblem
from .systems import Free, columns

if TYPE_CHECKING:
    pass

MAX_PIVOTS = 25
MAX_ROUNDS = 12  # of Newton steps on the free variables
FACTORS_PER_ROUND = 20


class DeviceProblem(InnerProblem):
    """An `InnerProblem` whose K is a float64 tensor on a device."""

    def outputs(self, K, a):
        return (K @ K.new_tensor(a)).cpu().numpy() + self.shift

    def row(self, K, j):
        return K[j].cpu().numpy()

    def host(self, K):
        return K.cpu().numpy()

    def system(self, K, index, diagonal, damped=False):
        return DeviceSystem(K, index, diagonal, self.intercept, damped)

    def half_hessian(self, K, free, B):
        return DeviceHalfHessian(K, np.flatnonzero(free), self.diagonal, self.intercept, B)

    def _box(self, K, a, target, max_rounds):
        """Pivots, then Newton steps that never worsen the point, then for small problems an interior point."""
        a = np.array(a)
        best = self._point(K, a)
        if best[-1] > target:
            best = self._pivot(K, best, target)
        for _ in range(MAX_ROUNDS):
            if best[-1] <= target:
                return best
            a, outputs, b, gap = best
            gradient = outputs + self.linear + self.diagonal * a
            point = self._point(K, self._active_set(K, a, gradient, FACTORS_PER_ROUND, *self._movable(a, gradient + b)))
            best = min(best, point, key=lambda p: p[-1])
            if not point[-1] < 0.9 * gap:
                break
        if best[-1] > target and len(a) <= self.limit:
            point = interior_point(self, K, best[0], target)
            if point is not None and point[-1] < best[-1]:
                best = self._polished(K, *point)
        return best

    def _movable(self, a, slope):
        """(mask (n,) of variables that may move, signs (n,) of those that leave 0)."""
        rise, fall = self._wrong(a, slope)
        side = np.where(rise & (a == 0), 1.0, np.where(fall & (a == 0), -1.0, np.sign(a)))
        return self.free(a) | rise | fall, side

    def _pivot(self, K, best, target):
        """Repeats: solves for the free variables, fixes all that leave the box and frees all wrongly fixed ones."""
        a, outputs, b, _ = best
        total, trial = a.sum(), a
        free, side = self._movable(a, outputs + self.linear + self.diagonal * a + b)
        for _ in range(MAX_PIVOTS):
            index = np.flatnonzero(free)
            if len(index) <= 1:
                break
            bend, held = side[index] * self.kink[index], np.where(free, 0.0, trial)
            try:
                system = self.system(K, index, self.diagonal)
            except np.linalg.LinAlgError:
                break
            x, _ = system.solve(-(self.linear[index] + bend + self.outputs(K, held)[index]), total - held.sum())
            trial = held.copy()
            trial[index] = x
            slope = self._gradient(K, trial)
            if self.intercept:
                slope -= np.mean(slope[index] + bend)
            lo = np.where(bend > 0, np.maximum(self.lo[index], 0.0), self.lo[index])
            hi = np.where(bend < 0, np.minimum(self.hi[index], 0.0), self.hi[index])
            trial[index] = np.clip(x, lo, hi)
            point = self.repair(trial, total)
            if point is not None:
                best = min(best, self._point(K, point), key=lambda p: p[-1])
            rise, fall = self._wrong(trial, slope)
            wrong, out = ~free & (rise | fall), index[(x < lo) | (x > hi)]
            if best[-1] <= target or not (wrong.any() or len(out)):
                break
            side = np.where(wrong & (trial == 0), np.where(rise, 1.0, -1.0), side)
            free = free | wrong
            free[out] = False
        return best

    def repair(self, a, total):
        """As in `InnerProblem`, but moves all variables if the free ones have no room."""
        point = super().repair(a, total)
        if point is None:
            lack = total - a.sum()
            room = self.hi - a if lack > 0 else a - self.lo
            room = np.where(np.isinf(room), 1.0 + np.abs(a), room)
            if room.sum() > abs(lack):
                point = super().repair(np.clip(a + lack * room / room.sum(), self.lo, self.hi), total)
        return point


class DeviceSystem(Free):
    """The KKT system of the free variables; damped: S (I + S K S)⁻¹ S, S = D^{−½}, exact even if D is tiny."""

    def __init__(self, K, index, diagonal, equality, damped):
        self.E, d = columns(equality, len(index)), K.new_tensor(diagonal[index])
        self.root = d.rsqrt() if damped else None
        at = index_of(K, index)
        A = K[at[:, None], at]
        if damped:
            A.mul_(self.root[:, None]).mul_(self.root)
            A.diagonal().add_(1.0)
            self.lower = cholesky(A, 1e-14 * float(A.diagonal().max()), False)
        else:
            self.lower = _factor(A, d, equality)
        self.U = None if self.E is None else self._solve(self.E)

    def _solve(self, r):
        import torch

        root = 1.0 if self.root is None else self.root
        return (root * torch.cholesky_solve((root * self.lower.new_tensor(r))[:, None], self.lower)[:, 0]).cpu().numpy()


class DeviceHalfHessian:
    """Z with ZᵀZ = B P Bᵀ, P the free block of the KKT inverse; see `systems.HalfHessian`."""

    def __init__(self, K, index, diagonal, equality, B):
        import torch

        at = index_of(K, index)
        self.index, self.lower = index, _factor(K[at[:, None], at], K.new_tensor(diagonal[index]), equality)
        Z = torch.linalg.solve_triangular(self.lower, K.new_tensor(B.T), upper=False)
        if equality:
            u = torch.linalg.solve_triangular(self.lower, K.new_ones(len(index), 1), upper=False)
            Z -= u * (u.T @ Z) / (u.T @ u)
        self._Z, self.Z = Z, Z.cpu().numpy()

    def response(self, move):
        """The change of the free variables for a small change of the weights, da_F = −P Bᵀ dθ."""
        import torch

        right = (self._Z @ self._Z.new_tensor(move))[:, None]
        return -torch.linalg.solve_triangular(self.lower.T, right, upper=True)[:, 0].cpu().numpy()


def index_of(K, index):
    import torch

    return torch.as_tensor(index, device=K.device)


def _factor(A, diagonal, equality):
    """The lower Cholesky factor of A + D plus a small multiple of I; overwrites A."""
    size = max(float(A.abs().max()), 1e-300)
    A.diagonal().add_(diagonal)
    if equality:  # Σ x is fixed: a constant has no effect, and makes up for a shift
        A += size
    A.diagonal().add_(1e-11 * size)
    return cholesky(A, 1e-11 * size, equality)


def cholesky(A, floor, equality):
    """The lower factor of A, whose diagonal (and, if Σ x is fixed, every entry) is raised until a factor exists."""
    import torch

    size = max(float(A.abs().max()), 1e-300)
    for attempt in range(8):
        lower, info = torch.linalg.cholesky_ex(A)
        if int(info) == 0:
            return lower
        if equality and attempt < 3:
            A += size * 10**attempt
        A.diagonal().add_(floor)
        floor *= 30 if attempt >= 3 or not equality else 1
    raise np.linalg.LinAlgError("the free block is far from positive definite")
