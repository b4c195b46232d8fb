"""The inner problem if the combined kernel is an `Operator`: Newton steps by conjugate gradients.

    min over a, b :  ½ aᵀK a + Σ U_i(f_i + b) + total·b ,   f = K a + shift ,   U_i(f) = max −a_i f − c V*(−a_i/c)

U_i is c V. At an output f the best a_i is g_i(f) = −U_i'(f), and h_i = U_i''(f) is 0 if g_i is at an end of its box. A
Newton step sets these a_i = g_i, solves (K_II + 1/h_I) a_I + b = r for the others, and searches the line. If V* has no
curvature (hinge, ε-insensitive), it gets a curvature ρ around the last point, the method of multipliers, and ρ falls.
In the variables a/√h the squared residual of the system measures the duality gap that it leaves: conjugate gradients
stop by it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from .._threads import limit_blas
from .problem import InnerProblem
from .systems import symmetric_root

MAX_NEWTON_STEPS = 60
MAX_GRADIENT_STEPS = 600  # of conjugate gradients in one Newton step
MAX_FACTORED_VARIABLES = 1200  # up to which the free block is built and factored
RESIDUAL_SHARE = 1e-2  # of the gap that the linear system of a Newton step may leave
MIN_RESIDUAL_SHARE = 1e-9  # of the gap, where coarser systems give no descent
RHO_DECREASE = 4.0  # factor of ρ from one proximal point to the next
MIN_RHO_SHARE = 1e-5  # the smallest ρ relative to the mean of k(x, x)
MAX_PRECONDITIONER_ENTRIES = 2**25
MAX_PRECONDITIONER_RANK = 256


class Operator(ABC):
    """A combined kernel that is too large to be built: symmetric, `shape` (n, n), of numbers in `dtype`."""

    shape: tuple[int, int]
    dtype: np.dtype
    direct = 2**31  # examples up to which callers may use `array`

    def __len__(self) -> int:
        return self.shape[0]

    @abstractmethod
    def multiply(self, V: np.ndarray) -> np.ndarray:
        """K v for each row of V (k, n): (k, n) float64."""

    @abstractmethod
    def diagonal(self):
        """k_ii (n,)."""

    @abstractmethod
    def take(self, index: np.ndarray) -> Operator:
        """The block of these examples."""

    @abstractmethod
    def array(self) -> np.ndarray:
        """The matrix itself, (n, n) float64, for small blocks."""

    def low_rank(self, rank: int) -> np.ndarray | None:
        """U (n, rank or less) with UUᵀ near the matrix, for preconditioning; or None."""
        return None


class MatrixFreeProblem(InnerProblem):
    """An `InnerProblem` whose K may be an `Operator`."""

    def solve(self, K, a, target, max_rounds=800, shift=0.0):
        if not isinstance(K, Operator):
            return super().solve(K, a, target, max_rounds, shift)
        self.shift = shift
        with limit_blas(1):  # products use threads already
            return _Search(self, K, a, target).run()

    def outputs(self, K, a):
        return K.multiply(a[None])[0] + self.shift if isinstance(K, Operator) else super().outputs(K, a)

    def half_hessian(self, K, free, B):
        if not isinstance(K, Operator):
            return super().half_hessian(K, free, B)
        with limit_blas(1):
            return OperatorHessian(K, free, self.diagonal, self.intercept, B)


class _Search:
    """One run: the point a, its outputs f, b, and the best feasible point so far (a, outputs, b, gap)."""

    definite = True  # until a linear system shows otherwise
    residual_share = RESIDUAL_SHARE

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
        for _ in range(MAX_NEWTON_STEPS):
            if self.best[-1] <= self.target or not np.isfinite(gap):
                break
            if not self._newton(gap):
                break
            gap = self._judge()
            if problem.tell is not None:
                problem.tell(*self.best)
            if not self.definite:  # there may be no minimum: return the best point
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
        """Moves a, b, f; returns False if nothing moves."""
        g, h = self._curve(self.f + self.b)
        free = np.flatnonzero(h > 0)
        a, b = g.copy(), self.b
        a[free] = 0.0
        held = self._outputs(a) if a.any() else np.zeros_like(a) + self.problem.shift
        if len(free):
            r = g[free] / h[free] + (self.f + self.b)[free] - held[free]
            least = 0.0 if self.flat else self.target  # a small proximal gap may hide a larger true one
            room = self.target if self.linear_problem else max(least, self.residual_share * gap)
            a[free], b = self._system(free, h[free], r, self.total - a.sum(), 0.3 * room)
        f = self._outputs(a)
        move, change = a - self.a, f - self.f
        t = self._line(move, change, b - self.b)
        if t == 0 and self.residual_share > MIN_RESIDUAL_SHARE and self.flat:  # the system was too coarse
            self.residual_share *= RESIDUAL_SHARE
            return True
        if t == 0:
            return False
        self.a, self.f, self.b = self.a + t * move, self.f + t * change, self.b + t * (b - self.b)
        return True

    def _system(self, free, h, r, total, room):
        """(x, β) of (K_FF + 1/h) x + β 1 = r (, Σ x = total), up to a gap of `room`."""
        K, equality = self.K.take(free), self.problem.intercept
        if len(free) <= min(MAX_FACTORED_VARIABLES, K.direct):
            try:
                return _direct(K.array(), 1.0 / h, r, total if equality else None)
            except np.linalg.LinAlgError:
                self.definite = False
                return self.a[free], self.b
        start = self.a[free]
        if equality:
            start = start + (total - start.sum()) * h / h.sum()
        found, self.definite = conjugate_gradients(K, h, r[None], start[None], equality, 2.0 * room, MAX_GRADIENT_STEPS)
        x = found[0]
        if not equality:
            return x, 0.0
        left = r - K.multiply(x[None])[0] - x / h
        return x, float(h @ left / h.sum())

    def _line(self, move, change, rise):
        """The step length: 1 if the value still falls there, else a zero of the slope, to a tenth; 0 for no step."""
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
        """The gap that controls the Newton steps; keeps the best feasible point and moves the proximal point."""
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
            self.centre, self.rho = x, max(self.rho / RHO_DECREASE, MIN_RHO_SHARE * self.size)
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
    """`HalfHessian` by conjugate gradients: X = P Bᵀ, then Z = (B X)^{½}."""

    def __init__(self, K, free, diagonal, equality, B):
        self.index = np.flatnonzero(free)
        block = K.take(self.index)
        d = np.maximum(diagonal[self.index], 1e-3 * max(float(np.mean(block.diagonal())), 1e-300))
        room = 1e-3 * float(np.max(np.einsum("mi,mi->m", B, B / d), initial=0.0))
        self.X, _ = conjugate_gradients(block, 1.0 / d, B, np.zeros_like(B), equality, room, MAX_GRADIENT_STEPS)
        self.Z = symmetric_root(B @ self.X.T)

    def response(self, move):
        """The change of the free variables for a small change of the weights, da_F = −P Bᵀ dθ."""
        return -(move @ self.X)


def conjugate_gradients(K, h, R, X, equality, room, steps):
    """(X, definite): (K + 1/h) x (+ β 1) = r for each row r of R, from X (k, n) on; with `equality` Σ x stays as it is.

    In the variables x/√h the matrix is 1 + √h K √h; a row is done when its squared residual there, projected onto the
    constraint, is at most `room`. The preconditioner is (1 + √h UUᵀ √h)⁻¹ if K.low_rank gives U. If K is not positive
    semidefinite, a direction may have no positive curvature: all rows stop there, and `definite` is False.
    """
    root = np.sqrt(h)
    unit = root / np.sqrt(root @ root)
    inverse = _preconditioner(K, root)
    turned = inverse(unit[None])[0]
    turned_unit = float(turned @ unit)

    def apply(Z):
        return Z + root * K.multiply(root * Z)

    def project(V):
        return V - np.outer(V @ unit, unit) if equality else V

    def precondition(V):
        P = inverse(V)
        return P - np.outer((P @ unit) / turned_unit, turned) if equality else P

    Z = X / root
    V = project(R * root - apply(Z))
    D = precondition(V).copy()  # without a preconditioner this is V itself
    size, square = np.einsum("ki,ki->k", V, D), np.einsum("ki,ki->k", V, V)
    for _ in range(steps):
        active = np.flatnonzero(square > room)
        if not len(active):
            break
        A = apply(D[active])
        bend = np.einsum("ki,ki->k", D[active], A)
        if not (bend > 0).all() or not (size[active] > 0).all():
            return Z * root, False
        step = size[active] / bend
        Z[active] += step[:, None] * D[active]
        v = project(V[active] - step[:, None] * A)
        P = precondition(v)
        new = np.einsum("ki,ki->k", v, P)
        D[active] = P + (new / size[active])[:, None] * D[active]
        V[active], size[active], square[active] = v, new, np.einsum("ki,ki->k", v, v)
    return Z * root, True


def _preconditioner(K, root):
    """V ↦ (1 + √h UUᵀ √h)⁻¹ V by the Woodbury identity, or V itself."""
    U = K.low_rank(min(MAX_PRECONDITIONER_RANK, MAX_PRECONDITIONER_ENTRIES // max(len(K), 1)))
    if U is None:
        return lambda V: V
    U *= root.astype(U.dtype)[:, None]
    G = (U.T @ U).astype(np.float64)
    G[np.diag_indices(len(G))] += 1.0
    factor = cho_factor(G, lower=True, check_finite=False)

    def inverse(V):
        inner = cho_solve(factor, (V.astype(U.dtype) @ U).T.astype(np.float64), check_finite=False)
        return V - (inner.T.astype(U.dtype) @ U.T)

    return inverse
