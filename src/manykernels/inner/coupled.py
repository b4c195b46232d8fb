"""The inner problem of a loss that is no sum over examples, such as Cox's partial likelihood.

    min over a, b :  L(K a + shift + E b) + ½ aᵀK a ,     optimal where  a = −∇L(K a + shift + E b), Eᵀa = 0

E are covariates, if there are any. Newton steps solve (I + H K) a + H E b = −∇L(f) + H (f − shift), H = ∇²L(f), by a
factor of I + H K, or for many examples by conjugate gradients in the inner product of K; L is only asked for products
with H. Any f gives the dual point −∇L(f), whose conjugate is known, and so a gap.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg import lu_factor, lu_solve

from .._limits import spend
from .problem import InnerProblem
from .systems import blas_for, symmetric_root

MAX_FACTORED = 5000  # examples; above, conjugate gradients replace the factor
MAX_GRADIENT_STEPS, GRADIENT_SHARE = 500, 1e-10  # of conjugate gradients; of the first squared residual
BLOCK = 64  # rows of K that are multiplied with H at a time
SHORTEST = 1e-10  # step of a line search
ROUNDING = 1e-15  # of the objective: a step that promises less ends the run


class CoupledProblem(InnerProblem):
    """The inner problem of a coupled loss with targets y and costs c, on a block K of the combined kernel."""

    def __init__(
        self,
        loss: Any,
        y: np.ndarray,
        c: np.ndarray,
        n_jobs: int | None = 1,
        covariates: np.ndarray | None = None,
    ) -> None:
        self.loss, self.y, self.c, self.intercept, self.n_jobs = loss, y, c, False, n_jobs
        self.covariates = covariates
        self.lo, self.hi = loss.box(y, c)
        self.strata: Any = loss.strata(y, c)
        self.system_at: Any = None
        self.linear = self.diagonal = self.kink = np.zeros(len(y))

    def solve(self, K, a, target, max_rounds=100, shift=0.0):
        """Returns (a, outputs K a + shift, b, gap); b is 0 without covariates."""
        self.shift, K, self.system_at = shift, np.asarray(K, dtype=np.float64), None
        with blas_for(len(a), self.n_jobs), np.errstate(all="ignore"):
            self.solved, outputs, b, gap = self._newton(K, np.array(a), target, max_rounds)
        return self.solved.copy(), outputs, b, gap

    def _point(self, K, a, conjugate):
        """(a, outputs, b, gap) at a, with the best b, where L*(−a) is known."""
        outputs = K @ a + self.shift
        b = self.best_b(outputs)
        fit = self.loss.risk(self.y, self.c, outputs + self.level(b))
        return a, outputs, b, float(fit + a @ outputs + conjugate)

    def _own(self, K, a):
        """`_point` at any a; if L* has no closed form, its gap is inf, and −∇L(f), where L* is known, has the gap."""
        return self._point(K, a, self.loss.dual_value(self.y, self.c, a) if self.loss.closed else np.inf)

    def _proved(self, K, f):
        """`_point` at −∇L(f): L*(−a) = −aᵀf − L(f)."""
        a = -self.loss.slope(self.y, self.c, f)
        return self._point(K, a, -float(a @ f) - self.loss.risk(self.y, self.c, f))

    def level(self, b):
        return b if self.covariates is None else self.covariates @ b

    def best_b(self, outputs):
        return 0.0 if self.covariates is None else self.loss.coefficients(self.y, outputs, self.c, self.covariates)

    def _newton(self, K, a, target, max_rounds):
        best = self._own(K, a)
        b, f = best[2], best[1] + self.level(best[2])
        if a.any():  # a warm start for another C may be far worse than none, where the loss has no curvature left
            nothing = np.zeros_like(f) + self.shift
            own = self.best_b(nothing)
            if self._value(a, best[1], f) > self.loss.risk(self.y, self.c, nothing + self.level(own)):
                a, b, f = np.zeros_like(a), own, nothing + self.level(own)
        for _ in range(max_rounds):
            spend(400.0 + 1e-4 * len(a) ** 3)
            best = min(best, self._own(K, a), self._proved(K, f + self.level(self.best_b(f))), key=_gap)
            if best[-1] <= target:
                break
            slope = self.loss.slope(self.y, self.c, f)
            self.system_at = System(self, K, [part.at(f) for part in self.strata])
            right = self.system_at.bend((f - self.shift)[None]) - slope
            step, next_b = self.system_at.solved(right, a)
            move = step[0] - a
            lift, value = K @ move, self._value(a, f - self.level(b), f)
            change = lift + (0.0 if self.covariates is None else self.covariates @ (next_b[:, 0] - b))
            descent, t = float(slope @ change + a @ lift), 1.0
            if -descent <= ROUNDING * abs(value):
                break
            while True:
                trial = f + t * change
                outputs = f - self.level(b) + t * lift
                if self._value(a + t * move, outputs, trial) <= value + 1e-4 * t * descent + 1e-14 * abs(value):
                    break
                t *= 0.5
                if t < SHORTEST:
                    return best
            a, f = a + t * move, trial
            b = b if self.covariates is None else b + t * (next_b[:, 0] - b)
        return best

    def _value(self, a, outputs, f):
        """The primal objective at outputs K a + shift and f = outputs + E b."""
        return self.loss.risk(self.y, self.c, f) + 0.5 * float(a @ (outputs - self.shift))

    def free(self, a):
        return self.c > 0

    def slack(self, a, outputs, b):
        return np.full(len(a), -np.inf)

    def half_hessian(self, K, free, B):
        """The curvature of the optimum in the weights, at the last Newton step; B (M, |free|) holds K_m a."""
        with blas_for(len(self.y), self.n_jobs):
            if self.system_at is None:
                K = np.asarray(K, dtype=np.float64)
                outputs = K @ self.solved + self.shift
                f = outputs + self.level(self.best_b(outputs))
                self.system_at = System(self, K, [part.at(f) for part in self.strata])
            every = np.zeros((len(B), len(self.y)))
            every[:, free] = B
            return WeightCurvature(
                every @ self.system_at.solved(self.system_at.bend(every), np.zeros(len(self.y)))[0].T
            )


class System:
    """I + H K at one f; vectors are rows."""

    def __init__(self, inner, K, points):
        self.inner, self.K, self.points, self.factor = inner, K, points, None
        if len(K) <= MAX_FACTORED:
            A = np.empty_like(K)
            for first in range(0, len(K), BLOCK):
                A[first : first + BLOCK] = self.bend(K[first : first + BLOCK])
            A[np.diag_indices_from(A)] += 1.0
            self.factor = lu_factor(A, overwrite_a=True, check_finite=False)  # of I + K H

    def bend(self, V):
        """V H, (r, n)."""
        found = np.zeros(V.shape)
        for own, at in zip(self.inner.strata, self.points, strict=True):
            found[:, own.rows] = at.times(V[:, own.rows])
        return found

    def solved(self, R, start):
        """(X, b) of (I + H K) Xᵀ + H E b = Rᵀ, Eᵀ Xᵀ = 0, (r, n) and (k, r); without covariates (I + H K) Xᵀ = Rᵀ."""
        X, E = self.solve(R, start), self.inner.covariates
        if E is None:
            return X, None
        Y = self.solve(self.bend(E.T), np.zeros(len(E)))
        b = np.linalg.lstsq(E.T @ Y.T, E.T @ X.T, rcond=None)[0]
        return X - b.T @ Y, b

    def solve(self, R, start):
        """X of (I + H K) Xᵀ = Rᵀ, (r, n), by the factor or from `start` (n,)."""
        if self.factor is not None:
            return lu_solve(self.factor, R.T, trans=1, check_finite=False).T
        return np.stack([self._gradients(r, start) for r in R])

    def _gradients(self, r, x):
        """Conjugate gradients in the inner product uᵀK v, in which I + H K is symmetric."""
        K, x = self.K, x.copy()
        r = r - x - self.bend((K @ x)[None])[0]
        Kr = K @ r
        p, Kp, size = r.copy(), Kr.copy(), float(r @ Kr)
        first = size
        for _ in range(MAX_GRADIENT_STEPS):
            if not size > GRADIENT_SHARE * first:
                break
            Ap = p + self.bend(Kp[None])[0]
            t = size / float(Kp @ Ap)
            x, r = x + t * p, r - t * Ap
            Kr = K @ r
            before, size = size, float(r @ Kr)
            p, Kp = r + (size / before) * p, Kr + (size / before) * Kp
        return x


class WeightCurvature:
    """Z with ZᵀZ = B (I + H K)⁻¹ H Bᵀ."""

    def __init__(self, square):
        self.Z = symmetric_root(square)


def _gap(point):
    return point[-1] if np.isfinite(point[-1]) else np.inf
