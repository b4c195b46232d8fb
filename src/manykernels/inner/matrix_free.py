"""The predictor at fixed weights where the combined kernel is an `Operator`: Newton steps by conjugate gradients.

    min over a, b :  ½ aᵀK a + Σ U_i(f_i + b) + total·b ,   f = K a + shift ,   U_i(f) = max −a_i f − c V*(−a_i/c)

U_i is c V. At an output f the best a_i is g_i(f) = −U_i'(f), and h_i = U_i''(f) is 0 where g_i rests at an end of its
box. A Newton step puts a_i = g_i there and solves (K_II + 1/h_I) a_I + b = r for the others, then searches the line.
Where V* is not curved (hinge, ε-insensitive) it gets a curvature ρ around the last point, the method of multipliers,
and ρ falls. In the variables a/√h the residual of that system is the duality gap that it leaves: conjugate gradients
stop by it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from .._threads import limit_blas
from .krylov import conjugate_gradients
from .operator import Operator
from .problem import InnerProblem

ROUNDS = 60  # Newton steps
STEPS = 600  # conjugate gradient steps of one of them
DIRECT = 1200  # free variables up to which their block is built and factored
FIRM = 1e-2  # of the gap is left by the linear system of a Newton step
FIRMEST = 1e-9  # of the gap is left at least, where coarser systems give no descent
FALL = 4.0  # by which ρ falls from one proximal point to the next
LEAST = 1e-5  # of the mean of k(x, x) is the smallest ρ


class MatrixFreeProblem(InnerProblem):
    """An `InnerProblem` whose K may be an `Operator`; a matrix goes the way of the others."""

    def solve(
        self, K: Any, a: np.ndarray, target: float, max_rounds: int = 800, shift: np.ndarray | float = 0.0
    ) -> tuple[np.ndarray, np.ndarray, float, float]:
        if not isinstance(K, Operator):
            return super().solve(K, a, target, max_rounds, shift)
        self.shift = shift
        with limit_blas(1):  # products have threads of their own
            return _Search(self, K, a, target).run()

    def outputs(self, K: Any, a: np.ndarray) -> np.ndarray:
        return K.multiply(a[None])[0] + self.shift if isinstance(K, Operator) else super().outputs(K, a)

    def half_hessian(self, K: Any, free: np.ndarray, B: np.ndarray) -> Any:
        if not isinstance(K, Operator):
            return super().half_hessian(K, free, B)
        with limit_blas(1):
            return OperatorHessian(K, free, self.diagonal, self.intercept, B)


class _Search:
    """One run: the point a, its outputs f, b, and the best feasible point so far (a, outputs, b, gap)."""

    definite = True  # until a linear system shows otherwise
    firm = FIRM

    def __init__(self, problem, K, a, target):
        self.problem, self.K, self.target, self.total = problem, K, target, float(np.sum(a))
        self.size = max(float(np.mean(K.diagonal())), 1e-300)
        loss, c = problem.loss, problem.c
        self.used = c > 0
        self.flat = not loss.interior and not (problem.diagonal[self.used] > 0).all()
        self.rho = 1.0 / max(float(np.mean(c[self.used])), 1e-300) if self.flat and self.used.any() else 0.0
        self.linear_problem = bool(np.isinf(problem.lo[self.used]).all() and np.isinf(problem.hi[self.used]).all())
        self.a = np.array(a)
        self.f = self._outputs(self.a)
        self.b = problem.loss.intercept(problem.y, self.f, c) if problem.intercept else 0.0
        self.centre = self.a.copy()
        self.best = self.a.copy(), self.f.copy(), self.b, problem.gap(self.a, self.f, self.b)

    def _outputs(self, a):
        return self.K.multiply(a[None])[0] + self.problem.shift

    def run(self):
        problem, gap = self.problem, self.best[-1]
        for _ in range(ROUNDS):
            if self.best[-1] <= self.target or not np.isfinite(gap):
                break
            if not self._newton(gap):
                break
            gap = self._judge()
            if not self.definite:  # no minimum is near, and steps may go on for ever: the best point is the answer
                break
        a, outputs, b, gap = self.best
        if problem.loss.interior:
            problem.linear, problem.diagonal, _ = problem.loss.quadratic(problem.y, problem.c, a)
        return a, outputs, b, gap

    def _curve(self, f):
        """(g, h) at the outputs f, the intercept included."""
        m = self.problem
        if m.loss.interior:
            g = -m.c * m.loss.gradient(m.y, f)
            diagonal = m.loss.quadratic(m.y, m.c, g)[1]
            return g, np.divide(1.0, diagonal, out=np.zeros_like(f), where=self.used & (diagonal > 0))
        D, u = m.diagonal + self.rho, self.rho * self.centre - m.linear - f
        x = np.sign(u) * np.maximum(np.abs(u) - m.kink, 0.0) / np.where(self.used, D, 1.0)
        g = np.clip(x, m.lo, m.hi)
        inside = self.used & (m.lo < x) & (x < m.hi) & ((x != 0) | (m.kink == 0))
        return g, np.where(inside, 1.0 / np.where(self.used, D, 1.0), 0.0)

    def _newton(self, gap):
        """Moves a, b, f; False where nothing moves."""
        g, h = self._curve(self.f + self.b)
        free = np.flatnonzero(h > 0)
        a, b = g.copy(), self.b
        a[free] = 0.0
        held = self._outputs(a) if a.any() else np.zeros_like(a) + self.problem.shift
        if len(free):
            r = g[free] / h[free] + (self.f + self.b)[free] - held[free]
            least = 0.0 if self.flat else self.target  # a small proximal gap may hide a larger true one
            room = self.target if self.linear_problem else max(least, self.firm * gap)
            a[free], b = self._system(free, h[free], r, self.total - a.sum(), 0.3 * room)
        f = self._outputs(a)
        move, change = a - self.a, f - self.f
        t = self._line(move, change, b - self.b)
        if t == 0 and self.firm > FIRMEST and self.flat:  # the system was solved too coarsely for a descent
            self.firm *= FIRM
            return True
        if t == 0:
            return False
        self.a, self.f, self.b = self.a + t * move, self.f + t * change, self.b + t * (b - self.b)
        return True

    def _system(self, free, h, r, total, room):
        """(x, β) of (K_FF + 1/h) x + β 1 = r (, Σ x = total), up to a gap of `room`."""
        K, equality = self.K.take(free), self.problem.intercept
        if len(free) <= min(DIRECT, K.direct):
            try:
                return _direct(K.array(), 1.0 / h, r, total if equality else None)
            except np.linalg.LinAlgError:
                self.definite = False
                return self.a[free], self.b
        start = self.a[free]
        if equality:
            start = start + (total - start.sum()) * h / h.sum()
        found, self.definite = conjugate_gradients(K, h, r[None], start[None], equality, 2.0 * room, STEPS)
        x = found[0]
        if not equality:
            return x, 0.0
        left = r - K.multiply(x[None])[0] - x / h
        return x, float(h @ left / h.sum())

    def _line(self, move, change, rise):
        """How far to go: 1 where the value still falls there, else a zero of its slope, to a tenth; 0 for nowhere."""
        along, bend = float(self.a @ change), float(move @ change)

        def slope(t):
            g, _ = self._curve(self.f + t * change + self.b + t * rise)
            return along + t * bend - float(g @ (change + rise)) + self.total * rise

        first, last = slope(0.0), slope(1.0)
        noise = 1e-13 * (abs(along) + abs(bend) + np.abs(self.a) @ np.abs(change))
        if last <= noise:
            return 1.0
        if first >= 0:
            return 1.0 if first <= noise else 0.0
        lo, hi, below, above = 0.0, 1.0, first, last
        t = 1.0
        for turn in range(40):
            t = lo - below * (hi - lo) / (above - below) if turn % 2 == 0 else 0.5 * (lo + hi)
            at = slope(t)
            if abs(at) <= 0.1 * abs(first):
                break
            lo, below, hi, above = (t, at, hi, above) if at < 0 else (lo, below, t, at)
        return t

    def _judge(self):
        """The gap that the Newton steps go by; keeps the best feasible point, moves the proximal one."""
        m = self.problem
        x = np.clip(self.a, m.lo, m.hi)
        f = self.f
        if not np.array_equal(x, self.a) or abs(x.sum() - self.total) > 1e-12 * np.abs(x).sum():
            x = m.repair(x, self.total)
            if x is None:
                return self.best[-1]
            f = self._outputs(x)
        b = m.loss.intercept(m.y, f, m.c) if m.intercept else 0.0
        gap = m.gap(x, f, b)
        if gap < self.best[-1]:
            self.best = x, f, b, gap
        if not self.flat:
            return gap
        g, _ = self._curve(f + self.b)
        own = self._value(x, f) - self._value(g, f)
        if own <= 0.1 * gap:
            self.centre, self.rho = x, max(self.rho / FALL, LEAST * self.size)
        return own

    def _value(self, a, f):
        """Σ a f + c V* + ½ ρ (a − centre)²; least at g."""
        m = self.problem
        own = (m.linear + 0.5 * m.diagonal * a) * a + m.kink * np.abs(a)
        return float(np.sum(a * (f + self.b) + own + 0.5 * self.rho * (a - self.centre) ** 2))


def _direct(A, d, r, total):
    """(x, β) of the same system by a Cholesky factor of A + d, in place; total is None without a constraint."""
    A[np.diag_indices(len(A))] += d
    factor = cho_factor(A, lower=True, overwrite_a=True, check_finite=False)
    x = cho_solve(factor, r, check_finite=False)
    if total is None:
        return x, 0.0
    ones = cho_solve(factor, np.ones(len(r)), check_finite=False)
    beta = (x.sum() - total) / ones.sum()
    return x - beta * ones, beta


class OperatorHessian:
    """What `HalfHessian` is, by conjugate gradients: X = P Bᵀ, then Z = (B X)^{½}."""

    def __init__(self, K, free, diagonal, equality, B):
        self.index = np.flatnonzero(free)
        block = K.take(self.index)
        d = np.maximum(diagonal[self.index], 1e-3 * max(float(np.mean(block.diagonal())), 1e-300))
        room = 1e-3 * float(np.max(np.einsum("mi,mi->m", B, B / d), initial=0.0))
        self.X, _ = conjugate_gradients(block, 1.0 / d, B, np.zeros_like(B), equality, room, STEPS)
        H = B @ self.X.T
        value, vector = np.linalg.eigh(0.5 * (H + H.T))
        self.Z = np.sqrt(np.maximum(value, 0.0))[:, None] * vector.T

    def response(self, move):
        """How the free variables answer to a small move of the weights, da_F = −P Bᵀ dθ."""
        return -(move @ self.X)
