"""The inner problem, the predictor at fixed weights: a box QP on one block of the combined kernel, for every loss.

    min over a :  ½ aᵀK a + shiftᵀa + Σ c_i V*(y_i, −a_i / c_i),   lo ≤ a ≤ hi (, Σ a = total)

The outputs are K a + shift; the shift is 0 except in the local model of a Newton step in `a`. Coordinate steps find the
free variables, and Newton steps on the free block (its Cholesky factor) finish, so that a tight tolerance costs little
more than a loose one. For losses whose conjugate is not quadratic, a stays strictly inside the box and takes damped
Newton steps on the true conjugate. `AdjustedProblem` has covariates.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from .._limits import spend
from .._threads import limit_blas
from .interior_point import interior_point
from .steps import MIN_VIOLATION, Steps
from .systems import Damped, Free, HalfHessian, blas_for, matvec

if TYPE_CHECKING:
    from ..losses.base import Loss

MAX_STALLED_CHUNKS = 40  # of coordinate steps without gain: then the precision of K is reached
CHUNKS_BEFORE_INTERIOR = 12, 40  # chunks before the interior point method, for up to 500 examples and for more
MIN_CHUNKS, CHUNK_SHARE = 10, 64  # Newton steps cost as much as MIN_CHUNKS chunks, or |free|³ / CHUNK_SHARE products
NEWTON_BEFORE_INTERIOR = 40  # Newton steps on a smooth loss before it
MAX_INTERIOR_EXAMPLES = 5000  # up to which it is used


class InnerProblem:
    """The inner problem of targets y and costs c at fixed weights, on a block K of the combined kernel.

    `solve` improves `a` until the duality gap at fixed weights is at most `target`.

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
    summed = True  # whether the equality constraints fix Σ a, or nothing
    limit = MAX_INTERIOR_EXAMPLES
    n_jobs: int | None = 1
    tell: Any = None  # called with (a, outputs, b, gap) after a step where K is an `Operator`

    def __init__(self, loss: Loss, y: np.ndarray, c: np.ndarray, intercept: bool, n_jobs: int | None = 1) -> None:
        self.loss, self.y, self.c, self.intercept, self.n_jobs = loss, y, c, intercept, n_jobs
        self.lo, self.hi = loss.box(y, c)
        self.linear, self.diagonal, self.kink = terms = loss.quadratic(y, c, np.zeros_like(y))
        if any(np.shape(term) != y.shape for term in terms):
            shapes = ", ".join(str(np.shape(term)) for term in terms)
            raise ValueError(f"quadratic of {loss!r} must return three arrays {y.shape}, not shapes {shapes}.")
        if not all(np.isfinite(term[c == 0]).all() for term in terms):
            cure = "a is 0 there, so that any number will do: divide by np.where(c > 0, c, 1.0)"
            raise ValueError(f"quadratic of {loss!r} is not finite where c = 0: {cure}.")

    def solve(
        self, K: np.ndarray, a: np.ndarray, target: float, max_rounds: int = 800, shift: np.ndarray | float = 0.0
    ) -> tuple[np.ndarray, np.ndarray, Any, float]:
        """Returns (a, outputs K a + shift, b, gap); `a` must be feasible, shift is (n,) or 0.

        If Σ a = 0 the kernel is centred first, since a large mean leaves few digits for the differences.
        """
        spend(400.0 + 5e-3 * a.size**2)
        self.shift, total = shift, self.sums(a)
        even = self.summed and self.intercept and abs(total) <= 1e-9 * np.abs(a).sum()
        centre = K.dtype == np.float64 and even
        block = self.centred(K) if centre else K
        smooth = self.loss.interior
        with blas_for(len(K), self.n_jobs) if smooth else limit_blas(1):  # BLAS threads keep cores from a team
            a, outputs, b, gap = (self._interior if smooth else self._box)(block, a, target, max_rounds)
        a, outputs = self._balance(block, a, outputs, total)
        if block is not K:
            full = self.outputs(K, a)
            outputs, b = full, b - float(np.mean(full - outputs))
        return a, outputs, b, gap

    def _balance(self, K, a, outputs, total):
        """Subtracts the rounding of Σ a from the free variable with the most room: the gap contains it times b."""
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
        """Chunks of coordinate steps, and Newton steps on the free variables if the chunks make slow progress."""
        a = np.array(a)
        if np.isinf(self.lo).any() and np.isinf(self.hi).any():
            a = self._active_set(K, a, self._gradient(K, a))  # the squared loss has no box: this is the solution
        gradient, last, chunk, since = self._gradient(K, a), np.inf, max(200, len(a) // 8), 0
        outputs = gradient - self.linear - self.diagonal * a
        best = a.copy(), outputs, 0.0, self.gap(a, outputs, 0.0)
        last_round = max_rounds
        patience = CHUNKS_BEFORE_INTERIOR[int(len(a) > 500)] if len(a) <= MAX_INTERIOR_EXAMPLES else None
        with Steps(self, K, a, gradient) as steps:
            for k in range(max_rounds):
                spend(100.0 + 2e-3 * chunk * len(a))
                violation, beta = steps.take(chunk)
                outputs = gradient - self.linear - self.diagonal * a
                gap = self.gap(a, outputs, beta)
                since = 0 if gap < 0.99 * best[-1] else since + 1
                if gap < best[-1]:
                    best = a.copy(), outputs, beta, gap
                if gap <= target or violation <= MIN_VIOLATION or not np.isfinite(gap):
                    break
                slow = k % 4 == 3 and self._slow(a, chunk, gap / max(target, 1e-300), last / gap)
                if patience is not None and k >= patience and slow:
                    patience, last_round, point = None, k + 8, interior_point(self, K, best[0], target)
                    if point is not None and point[-1] < best[-1]:
                        best, since = self._polished(K, *point), 0
                        if best[-1] <= target:
                            break
                        a[:] = point[0]
                        gradient[:] = self._gradient(K, a)
                if since >= MAX_STALLED_CHUNKS or k >= last_round:
                    break
                if k % 4 == 3:
                    if slow:
                        a[:] = self._active_set(K, a, gradient)
                        gradient[:] = self._gradient(K, a)
                    last = min(last, gap)
        return best

    def _point(self, K, a):
        """(a, outputs, b, gap) at a."""
        outputs = self.outputs(K, a)
        b = self.quick_b(a, outputs)
        return a, outputs, b, self.gap(a, outputs, b)

    def _slow(self, a, chunk, rest, fall):
        """Whether Newton steps cost less than the chunks to come; `fall` is that of the gap in four, `rest` is left."""
        enough = max(MIN_CHUNKS, np.count_nonzero(self.free(a)) ** 3 / (CHUNK_SHARE * chunk * len(a)))
        return 4 * math.log(rest) > enough * math.log(max(fall, 1.0))

    def _polished(self, K, a, outputs, b, gap):
        """The point after Newton steps on its free variables, or the point itself if they do not improve it."""
        x = self._active_set(K, a, outputs + self.linear + self.diagonal * a)
        point = self._point(K, x)
        return point if point[-1] <= gap else (a, outputs, b, gap)

    def equality(self, index: np.ndarray) -> Any:
        """The equality constraints of these variables: whether Σ a is fixed, or E (|index|, k)."""
        return self.intercept

    def sums(self, a: np.ndarray) -> Any:
        """What the equality constraints fix: Σ a, or Eᵀa (k,)."""
        return a.sum()

    def level(self, b: Any) -> Any:
        """What b adds to the outputs: itself, or E b (n,)."""
        return b

    def best_b(self, outputs: np.ndarray) -> Any:
        """The b of the least loss at these outputs; 0 without an intercept."""
        return self.loss.intercept(self.y, outputs, self.c) if self.intercept else 0.0

    def quick_b(self, a: np.ndarray, outputs: np.ndarray, beta: Any = None) -> Any:
        """A b near the best one; β are the multipliers of the equality constraints, if they are known."""
        return self.best_b(outputs)

    def levelled(self, slope: np.ndarray, index: np.ndarray, bend: Any) -> np.ndarray:
        """The slope less the multipliers at which slope + bend of these variables is 0 in the mean."""
        return slope - np.mean(slope[index] + bend) if self.intercept else slope  # the β of the factor has a constant

    def gap(self, a: np.ndarray, outputs: np.ndarray, b: Any) -> float:
        """Primal minus dual of this block at fixed weights, at outputs = K a + shift."""
        return float(self._fit(outputs, b) + a @ outputs + self.loss.dual_value(self.y, self.c, a))

    def primal(self, a: np.ndarray, outputs: np.ndarray, b: Any) -> float:
        """The primal objective of this block at fixed weights, at outputs = K a + shift."""
        return float(self._fit(outputs, b) + 0.5 * a @ (outputs - self.shift))

    def _fit(self, outputs, b):
        offset = self.loss.total * b if self.loss.total else 0.0
        return self.loss.risk(self.y, self.c, outputs + self.level(b)) + offset

    def objective(self, a: np.ndarray, outputs: np.ndarray) -> float:
        """The dual objective at outputs = K a + shift."""
        return 0.5 * float(a @ (outputs + self.shift)) + self.loss.dual_value(self.y, self.c, a)

    def free(self, a: np.ndarray) -> np.ndarray:
        """Mask (n,) of variables that can move both ways without crossing a kink."""
        inside = (a > self.lo) & (a < self.hi)
        return inside & ((a != 0) | (self.kink == 0))

    def slack(self, a: np.ndarray, outputs: np.ndarray, b: Any) -> np.ndarray:
        """How far each a_i = 0 is from moving, in units of the output; −inf for a_i ≠ 0."""
        slope = self.linear + outputs + self.level(b)
        rise, fall = slope + self.kink, -slope + self.kink
        slack = np.minimum(np.where(self.hi > 0, rise, np.inf), np.where(self.lo < 0, fall, np.inf))
        return np.where(a == 0, slack, -np.inf)

    def _gradient(self, K, a):
        return self.outputs(K, a) + self.linear + self.diagonal * a

    # Only the methods below read the block K.

    def outputs(self, K: Any, a: np.ndarray) -> np.ndarray:
        """K a + shift, (n,) float64."""
        return matvec(K, a, self.n_jobs) + self.shift

    def host(self, K: Any) -> np.ndarray:
        """K in the memory of the host."""
        return K

    def row(self, K: Any, j: int) -> np.ndarray:
        return K[j]

    def centred(self, K: Any) -> Any:
        """K centred in the feature space, the same problem if Σ a = 0, or K itself."""
        mean = K.mean(axis=1)
        K = K - mean
        K -= (mean - mean.mean())[:, None]
        return K

    def system(self, K: Any, index: np.ndarray, diagonal: np.ndarray, damped: bool = False) -> Any:
        """The KKT system of these variables, with a method solve(r, s); see `systems.Free`."""
        return (Damped if damped else Free)(K, index, diagonal, self.equality(index), self.n_jobs)

    def half_hessian(self, K: Any, free: np.ndarray, B: np.ndarray) -> Any:
        """The curvature of the optimum in the weights; see `systems.HalfHessian`."""
        return HalfHessian(K, free, self.diagonal, self.equality(np.flatnonzero(free)), B, self.n_jobs)

    def _active_set(self, K, a, gradient, rounds=8, free=None, side=None):
        """Newton on the free variables: fixes those that leave the box at its edge, and frees wrongly fixed ones.

        `free` and `side` (the signs of variables that leave 0) follow from `a` by default. Returns the better of the
        first and the last point, so that the objective never rises.
        """
        before = self.objective(a, gradient - self.linear - self.diagonal * a)
        trial, total = a.copy(), self.sums(a)
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
                    system, point = self.system(K, index, self.diagonal), held.copy()
                    point[index] = x = system.solve(r, total - self.sums(held))[0]
                    slope = self._gradient(K, point)[index] + bend
                    x += system.solve(-slope, total - self.sums(point))[0]  # its matrix has a small multiple of I
            except np.linalg.LinAlgError:
                break
            lo = np.where(bend > 0, np.maximum(self.lo[index], 0.0), self.lo[index])
            hi = np.where(bend < 0, np.minimum(self.hi[index], 0.0), self.hi[index])
            out = (x < lo) | (x > hi)
            trial[index] = np.clip(x, lo, hi)
            if out.any():
                free[index[out]] = False
                continue
            rise, fall = self._wrong(trial, self.levelled(self._gradient(K, trial), index, bend))
            wrong = ~free & (rise | fall)
            if not wrong.any():
                break
            side = np.where(wrong & (trial == 0), np.where(rise, 1.0, -1.0), side)
            free |= wrong
        trial = self.repair(trial, total)
        better = trial is not None and self.objective(trial, self.outputs(K, trial)) <= before
        return trial if better else a

    def _wrong(self, a, slope):
        """Masks (n,) of variables whose rise, and whose fall, lowers an objective with this slope."""
        rise = (a < self.hi) & (slope + np.where(a >= 0, self.kink, -self.kink) < -1e-12)
        fall = (a > self.lo) & (slope + np.where(a > 0, self.kink, -self.kink) > 1e-12)
        return rise, fall

    def repair(self, a: np.ndarray, total: Any) -> np.ndarray | None:
        """Moves a clipped point back to Σ a = total, in proportion to the room of each variable; None without room."""
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
        value, beta, gap = self.objective(a, outputs), 0.0 * self.sums(a), np.inf
        for _ in range(min(NEWTON_BEFORE_INTERIOR, max_rounds) if len(a) <= MAX_INTERIOR_EXAMPLES else max_rounds):
            spend(400.0 + 1e-4 * len(a) ** 3)
            linear, diagonal, _ = self.loss.quadratic(self.y, self.c, a)
            gradient = outputs + linear + diagonal * a
            width = np.minimum(self.hi - self.lo, self.c)
            full = np.minimum(self.hi - a, a - self.lo) < 1e-15 * width  # to the last digit,
            full &= (np.abs(a) > 0.5 * self.c) & (a * (gradient + self.level(beta)) < 0)  # and still pushed outwards
            index = np.flatnonzero((self.c > 0) & ~full)
            try:
                factor = self.system(K, index, diagonal, damped=True)
            except np.linalg.LinAlgError:  # indefinite kernel: keep the point
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
            if short > 8 and len(a) <= MAX_INTERIOR_EXAMPLES:  # bounds cut the steps
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
        if not gap <= target and len(a) <= MAX_INTERIOR_EXAMPLES:
            point = interior_point(self, K, start, target)
            if point is not None and not gap <= point[-1]:
                a, outputs, beta, gap = point
        self.linear, self.diagonal, _ = self.loss.quadratic(self.y, self.c, a)
        return a, outputs, beta, gap
