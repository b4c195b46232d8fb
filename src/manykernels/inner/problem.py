"""The predictor at fixed weights: a box QP on one block of the combined kernel, for every loss.

    min over a :  ½ aᵀK a + shiftᵀa + Σ c_i V*(y_i, −a_i / c_i),   lo ≤ a ≤ hi (, Σ a = total)

The outputs are K a + shift; the shift is 0 for an inner problem, and that of a local model for a Newton step in `a`.
Coordinate steps find who is free; Newton steps on the free block (its Cholesky factor) finish, so that a tight
tolerance costs little more than a loose one. Losses whose conjugate is not quadratic stay strictly inside the box
and take damped Newton steps on the true conjugate.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from .._threads import limit_blas
from .._work import spend
from .interior_point import interior_point
from .steps import PRECISION, Steps
from .systems import Damped, Free, HalfHessian, blas_for, matvec

if TYPE_CHECKING:
    from ..losses.base import Loss

STALL = 40  # chunks of coordinate steps without any gain after which the precision of K is the limit
PATIENCE = 12, 40  # chunks after which an interior point takes over: of up to 500 examples, of more
NEWTON = 40  # Newton steps on a smooth loss after which it does
LIMIT = 5000  # examples up to which it does


def inner_problem(problem, y, c):
    """The solver of the problem at fixed weights for targets y and costs c: the bank's own, or an `InnerProblem`."""
    own = problem.bank.inner(problem.loss, y, c, problem.intercept)
    return InnerProblem(problem.loss, y, c, problem.intercept, problem.bank.n_jobs) if own is None else own


class InnerProblem:
    """The problem of one (y, c) at fixed weights, on a block K of the combined kernel.

    `solve` improves `a` until its own duality gap is at most `target`.

    Parameters
    ----------
    loss : Loss
    y : array (n,)
        Targets.
    c : array (n,)
        Costs.
    intercept : bool
    n_jobs : int, default 1
        Threads.

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels.losses import Hinge
    >>> from manykernels.solvers import InnerProblem
    >>> inner = InnerProblem(Hinge(), np.array([1.0, -1.0]), np.ones(2), True)
    >>> a, outputs, b, gap = inner.solve(np.eye(2), np.zeros(2), target=1e-6)
    >>> a.round(3), bool(gap <= 1e-6)
    (array([ 1., -1.]), True)
    """

    shift: np.ndarray | float = 0.0
    limit = LIMIT
    n_jobs: int | None = 1

    def __init__(self, loss: Loss, y: np.ndarray, c: np.ndarray, intercept: bool, n_jobs: int | None = 1) -> None:
        self.loss, self.y, self.c, self.intercept, self.n_jobs = loss, y, c, intercept, n_jobs
        self.lo, self.hi = loss.box(y, c)
        self.linear, self.diagonal, self.kink = loss.quadratic(y, c, np.zeros_like(y))

    def solve(
        self, K: np.ndarray, a: np.ndarray, target: float, max_rounds: int = 800, shift: np.ndarray | float = 0.0
    ) -> tuple[np.ndarray, np.ndarray, float, float]:
        """Returns (a, outputs K a + shift, b, gap); `a` must be feasible, shift is (n,) or 0.

        Where Σ a = 0 the kernel is centred first: far from its mean it would have few digits left for what matters.
        """
        spend(400.0 + 5e-3 * a.size**2)
        self.shift, total = shift, np.sum(a)
        centre = self.intercept and K.dtype == np.float64 and abs(total) <= 1e-9 * np.abs(a).sum()
        block = self.centred(K) if centre else K
        smooth = self.loss.interior
        with blas_for(len(K), self.n_jobs) if smooth else limit_blas(1):  # its threads would keep cores from a team
            a, outputs, b, gap = (self._interior if smooth else self._box)(block, a, target, max_rounds)
        a, outputs = self._balance(block, a, outputs, total)
        if block is not K:
            full = self.outputs(K, a)
            outputs, b = full, b - float(np.mean(full - outputs))
        return a, outputs, b, gap

    def _balance(self, K, a, outputs, total):
        """Takes the rounding of Σ a from the free variable with the most room: it counts times the intercept."""
        off = math.fsum(a) - (self.loss.total if abs(total - self.loss.total) <= 1e-9 else total)
        if not self.intercept or off == 0:
            return a, outputs
        free = self.free(a)
        j = int(np.argmax(np.where(free, np.minimum(self.hi - a, a - self.lo), -np.inf)))
        if not (free[j] and self.lo[j] < a[j] - off < self.hi[j]):
            return a, outputs
        a[j] -= off
        return a, outputs - off * self.row(K, j)

    def _box(self, K, a, target, max_rounds):
        """Chunks of coordinate steps, and Newton steps on the free variables where those are slow."""
        a = np.array(a)
        if np.isinf(self.lo).any() and np.isinf(self.hi).any():
            a = self._active_set(K, a, self._gradient(K, a))  # the squared loss has no box: that is the solution
        gradient, last, chunk, since = self._gradient(K, a), np.inf, max(200, len(a) // 8), 0
        outputs = gradient - self.linear - self.diagonal * a
        best = a.copy(), outputs, 0.0, self.gap(a, outputs, 0.0)
        last_round = max_rounds
        patience = PATIENCE[0] if len(a) <= 500 else PATIENCE[1] if len(a) <= LIMIT else None
        with Steps(self, K, a, gradient) as steps:
            for k in range(max_rounds):
                spend(100.0 + 2e-3 * chunk * len(a))
                violation, beta = steps.take(chunk)
                outputs = gradient - self.linear - self.diagonal * a
                gap = self.gap(a, outputs, beta)
                since = 0 if gap < 0.99 * best[-1] else since + 1
                if gap < best[-1]:
                    best = a.copy(), outputs, beta, gap
                if gap <= target or violation <= PRECISION or not np.isfinite(gap):
                    break
                if patience is not None and k >= patience:
                    patience, last_round, point = None, k + 8, interior_point(self, K, best[0], target)
                    if point is not None and point[-1] < best[-1]:
                        best, since = self._polished(K, *point), 0
                        if best[-1] <= target:
                            break
                        a[:] = point[0]
                        gradient[:] = self._gradient(K, a)
                if since >= STALL or k >= last_round:
                    break
                if k % 4 == 3:
                    if gap > 0.25 * last:
                        a[:] = self._active_set(K, a, gradient)
                        gradient[:] = self._gradient(K, a)
                    last = min(last, gap)
        return best

    def _polished(self, K, a, outputs, b, gap):
        """The point after Newton steps on its free variables, unless they worsen it."""
        x = self._active_set(K, a, outputs + self.linear + self.diagonal * a)
        f = self.outputs(K, x)
        beta = self.loss.intercept(self.y, f, self.c) if self.intercept else 0.0
        better = self.gap(x, f, beta)
        return (x, f, beta, better) if better <= gap else (a, outputs, b, gap)

    def gap(self, a: np.ndarray, outputs: np.ndarray, b: float) -> float:
        """Primal minus dual of this block at fixed weights, at outputs = K a + shift."""
        fit = self.c @ self.loss.value(self.y, outputs + b) + self.loss.total * b
        return float(fit + a @ outputs + self.loss.dual_value(self.y, self.c, a))

    def objective(self, a: np.ndarray, outputs: np.ndarray) -> float:
        """The dual objective at outputs = K a + shift."""
        return 0.5 * float(a @ (outputs + self.shift)) + self.loss.dual_value(self.y, self.c, a)

    def free(self, a: np.ndarray) -> np.ndarray:
        """Variables that can move both ways without meeting a kink."""
        inside = (a > self.lo) & (a < self.hi)
        return inside & ((a != 0) | (self.kink == 0))

    def slack(self, a: np.ndarray, outputs: np.ndarray, b: float) -> np.ndarray:
        """How far each example with a_i = 0 is from moving, in units of the output; −inf where it cannot rest at 0."""
        rise = self.linear + outputs + b + self.kink
        fall = -(self.linear + outputs + b) + self.kink
        slack = np.minimum(np.where(self.hi > 0, rise, np.inf), np.where(self.lo < 0, fall, np.inf))
        return np.where(a == 0, slack, -np.inf)

    def _gradient(self, K, a):
        return self.outputs(K, a) + self.linear + self.diagonal * a

    # What follows touches the block K; the rest of the class, and who calls it, does not look into it.

    def outputs(self, K: Any, a: np.ndarray) -> np.ndarray:
        """K a + shift, (n,) float64."""
        return matvec(K, a, self.n_jobs) + self.shift

    def host(self, K: Any) -> np.ndarray:
        """K in the memory of the host."""
        return K

    def row(self, K: Any, j: int) -> np.ndarray:
        return K[j]

    def centred(self, K: Any) -> Any:
        """K in the feature space around its mean, the same problem where Σ a = 0, or K itself."""
        mean = K.mean(axis=1)
        K = K - mean
        K -= (mean - mean.mean())[:, None]
        return K

    def system(self, K: Any, index: np.ndarray, diagonal: np.ndarray, damped: bool = False) -> Any:
        """The KKT system of these variables, with a method solve(r, s); see `systems.Free`."""
        return (Damped if damped else Free)(K, index, diagonal, self.intercept, self.n_jobs)

    def half_hessian(self, K: Any, free: np.ndarray, B: np.ndarray) -> Any:
        """The curvature of the optimum in the weights; see `systems.HalfHessian`."""
        return HalfHessian(K, free, self.diagonal, self.intercept, B, self.n_jobs)

    def _active_set(self, K, a, gradient, rounds=8, free=None, side=None):
        """Newton on the free variables: those that leave the box are held at its edge, those held wrongly are freed.

        `free` and `side` (the signs of what leaves 0) are those of `a` unless given. Returns the better of the start
        and the last point, so the objective never rises.
        """
        before = self.objective(a, gradient - self.linear - self.diagonal * a)
        trial, total = a.copy(), a.sum()
        free, side = self.free(a) if free is None else free, np.sign(a) if side is None else side
        for _ in range(rounds):
            index = np.flatnonzero(free)
            if len(index) <= 1:
                break
            spend(200.0 + 1e-4 * len(index) ** 3)
            bend = side[index] * self.kink[index]
            held = np.where(free, 0.0, trial)
            r = -(self.linear[index] + bend + self.outputs(K, held)[index])
            try:
                with blas_for(len(index), self.n_jobs):
                    x, _ = self.system(K, index, self.diagonal).solve(r, total - held.sum())
            except np.linalg.LinAlgError:
                break
            lo = np.where(bend > 0, np.maximum(self.lo[index], 0.0), self.lo[index])
            hi = np.where(bend < 0, np.minimum(self.hi[index], 0.0), self.hi[index])
            out = (x < lo) | (x > hi)
            trial[index] = np.clip(x, lo, hi)
            if out.any():
                free[index[out]] = False
                continue
            slope = self._gradient(K, trial)
            if self.intercept:  # not the factor's β, which a constant added to K has moved
                slope -= np.mean(slope[index] + bend)
            rise, fall = self._wrong(trial, slope)
            wrong = ~free & (rise | fall)
            if not wrong.any():
                break
            side = np.where(wrong & (trial == 0), np.where(rise, 1.0, -1.0), side)
            free |= wrong
        trial = self.repair(trial, total)
        better = trial is not None and self.objective(trial, self.outputs(K, trial)) <= before
        return trial if better else a

    def _wrong(self, a, slope):
        """Who would gain by rising, and who by falling, (n,) each, where the objective has this slope."""
        rise = (a < self.hi) & (slope + np.where(a >= 0, self.kink, -self.kink) < -1e-12)
        fall = (a > self.lo) & (slope + np.where(a > 0, self.kink, -self.kink) > 1e-12)
        return rise, fall

    def repair(self, a: np.ndarray, total: float) -> np.ndarray | None:
        """Moves a clipped point back onto Σ a = total, spread over the room that is left; None if there is none."""
        if not self.intercept:
            return a
        for _ in range(10):
            lack = total - a.sum()
            if abs(lack) <= 1e-14 * max(1.0, np.abs(a).sum()):
                return a
            room = np.where(self.free(a), (self.hi - a) if lack > 0 else (a - self.lo), 0.0)
            room = np.where(np.isinf(room), 1.0 + np.abs(a), room)
            if not room.sum() > 0:
                return None
            a = np.clip(a + lack * room / room.sum(), self.lo, self.hi)
        return None

    def _interior(self, K, start, target, max_rounds):
        """Damped Newton on ½ aᵀK a + Σ c V*(−a / c), strictly inside the box."""
        a, short = np.array(start), 0
        outputs = self.outputs(K, a)
        value, beta, gap = self.objective(a, outputs), 0.0, np.inf
        for _ in range(min(NEWTON, max_rounds) if len(a) <= LIMIT else max_rounds):
            spend(400.0 + 1e-4 * len(a) ** 3)
            linear, diagonal, _ = self.loss.quadratic(self.y, self.c, a)
            gradient = outputs + linear + diagonal * a
            full = np.minimum(self.hi - a, a - self.lo) < 1e-15 * (self.hi - self.lo)  # as far as digits go,
            full &= (np.abs(a) > 0.5 * self.c) & (a * (gradient + beta) < 0)  # and it would go on
            index = np.flatnonzero((self.c > 0) & ~full)
            try:
                factor = self.system(K, index, diagonal, damped=True)
            except np.linalg.LinAlgError:  # an indefinite kernel: keep the point
                break
            move = np.zeros_like(a)
            move[index], beta = factor.solve(-gradient[index], 0.0)
            gap = self.gap(a, outputs, beta)
            if gap <= target:
                break
            room = np.where(move > 0, self.hi - a, np.where(move < 0, a - self.lo, np.inf))
            ratio = np.divide(room, np.abs(move), out=np.full_like(a, np.inf), where=move != 0)
            t = min(1.0, 0.99 * ratio.min())
            short = short + 1 if t < 0.1 else 0
            if short > 8 and len(a) <= LIMIT:  # bounds are in the way
                break
            change = self.outputs(K, move) - self.shift
            slope = float(gradient @ move)
            while t > 1e-12:
                trial = a + t * move
                trial_value = self.objective(trial, outputs + t * change)
                if trial_value <= value + 1e-4 * t * slope:
                    break
                t *= 0.5
            else:
                break
            a, outputs, value = trial, outputs + t * change, trial_value
        if not gap <= target and len(a) <= LIMIT:
            point = interior_point(self, K, start, target)
            if point is not None and not gap <= point[-1]:
                a, outputs, beta, gap = point
        self.linear, self.diagonal, _ = self.loss.quadratic(self.y, self.c, a)
        return a, outputs, beta, gap
