"""The inner problem with covariates E (n, k), which include the constant where there is an intercept.

    min over a :  ½ aᵀK a + shiftᵀa + Σ c_i V*(y_i, −a_i / c_i),   lo ≤ a ≤ hi,   Eᵀa = 0

A step on two variables would change Eᵀa. So a method of multipliers finds the free variables: at coefficients b of E, x
solves the problem without covariates

    with the kernel K + ρ EEᵀ and shift + E b ;     b + ρ Eᵀx are the next coefficients

x is moved to Eᵀx = 0, and Newton steps on the free variables finish.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .interior_point import interior_point
from .problem import CHUNKS_BEFORE_INTERIOR, InnerProblem

if TYPE_CHECKING:
    from ..losses.base import Loss

MAX_ROUNDS = 5  # of multipliers
LIFT = 0.5  # ρ relative to the mean of the diagonal of K


class AdjustedProblem(InnerProblem):
    """The inner problem of targets y and costs c with the rows E (n, k) of `Problem.covariates`; b is (k,), for E b."""

    summed = False

    def __init__(
        self, loss: Loss, y: np.ndarray, c: np.ndarray, intercept: bool, n_jobs: int | None, covariates: np.ndarray
    ) -> None:
        super().__init__(loss, y, c, intercept, n_jobs)
        self.covariates = covariates

    def equality(self, index):
        return self.covariates[index]

    def sums(self, a):
        return self.covariates.T @ a

    def level(self, b):
        return self.covariates @ b

    def best_b(self, outputs):
        return self.loss.coefficients(self.y, outputs, self.c, self.covariates)

    def quick_b(self, a, outputs, beta=None):
        """β, or the b at which the free variables are stationary, by least squares: the best one for an optimal a."""
        if beta is not None:
            return beta
        free = self.free(a)
        slope = outputs + self.linear + self.diagonal * a + np.sign(a) * self.kink
        return -np.linalg.lstsq(self.covariates[free], slope[free], rcond=None)[0]

    def levelled(self, slope, index, bend):
        return slope - self.covariates @ np.linalg.lstsq(self.covariates[index], slope[index] + bend, rcond=None)[0]

    def _balance(self, K, a, outputs, total):
        return a, outputs

    def _box(self, K, a, target, max_rounds):
        best = self._point(K, a)
        if np.isinf(self.lo).any() and np.isinf(self.hi).any():
            best = self._polished(K, *best)  # the squared loss has no box: this is the solution
        if best[-1] > target:
            best = self._multipliers(K, best, target)
        if best[-1] > target:
            point = interior_point(self, K, best[0], target)
            if point is not None and point[-1] < best[-1]:
                best = point if point[-1] <= target else self._polished(K, *point)
        if best[-1] > target:
            a, outputs, _, _ = best
            b = self.best_b(outputs)
            best = min(best, (a, outputs, b, self.gap(a, outputs, b)), key=lambda point: point[-1])
        return best

    def _multipliers(self, K, best, target):
        """The best point of the method of multipliers that starts at `best`."""
        (x, _, b, _), E = best, self.covariates
        chunks = CHUNKS_BEFORE_INTERIOR[int(len(x) > 500)]
        plain = InnerProblem(self.loss, self.y, self.c, self.intercept, self.n_jobs)
        rho = LIFT * float(np.mean(np.diagonal(K)))
        lifted = K + (rho * (E @ E.T)).astype(K.dtype)
        ones = np.linalg.lstsq(E, np.full(len(E), float(self.intercept)), rcond=None)[0]  # E ones = 1, or 0
        for _ in range(MAX_ROUNDS):
            x, _, beta, _ = plain.solve(lifted, x, 0.3 * target, chunks, self.shift + E @ b)
            b = b + rho * self.sums(x) + beta * ones
            a = self.repair(x, 0.0)
            if a is None:
                continue
            outputs, before = self.outputs(K, a), best[-1]
            point = a, outputs, b, self.gap(a, outputs, b)
            if point[-1] > target:
                point = self._polished(K, *point)
                x, _, b, _ = point
            best = min(best, point, key=lambda point: point[-1])
            if best[-1] <= target or point[-1] > 0.5 * before:
                break
        return best

    def repair(self, a, total, spare=0.0):
        """Moves a clipped point to Eᵀa = total, by the change that is least relative to the room of each variable.

        `spare` is the room of variables that are not free, relative to the width of their box.
        """
        E, width = self.covariates, np.minimum(self.hi - self.lo, 1.0 + np.abs(a))
        for _ in range(30):
            lack = total - E.T @ a
            if np.abs(lack).max() <= 1e-13 * max(1.0, np.abs(a).sum()):
                return a
            room = np.minimum(np.minimum(self.hi - a, a - self.lo), 1.0 + np.abs(a))
            room = np.where(self.free(a), np.maximum(room, spare * width), spare * width)[:, None]
            a = np.clip(a + (room * E) @ np.linalg.lstsq(E.T @ (room * E), lack, rcond=1e-13)[0], self.lo, self.hi)
        return None
