"""An interior point in the dual variables and the weights together, on numeric features: many kernels of few columns.

    max over a, Σa = total :  − Σ c V*(y, −a / c) − Ω*(½ q_m)_m ,   q_m = ‖v_m‖² ,   v_m = Σ_i a_i φ_m(x_i)

On the simplex Ω* is a largest value, min τ with ½ q_m ≤ τ: the weights are the multipliers of those bounds, and
θ_m (τ − ½ q_m) goes to 0 along the central path as the products of the box do. Where Ω* is smooth, θ = ∇Ω*(½ q).
With one word a kernel thousands have weight, each on a bound of its own: cutting planes would need as many cuts, and
here the number of steps hardly depends on how many there are. Every step (Mehrotra 1992) solves systems with

    A = D + Σ_m θ_m K_m + Σ_m ω_m (K_m a)(K_m a)ᵀ ,   ω_m = θ_m / (τ − ½ q_m) on the simplex, ∂²Ω* elsewhere,

D the curvature of box and loss, by conjugate gradients. They are preconditioned with the columns of A − D that weigh
more than D, by Woodbury's formula, the others by their diagonal: early on few columns matter, and at the end only those
of kernels with weight do.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse as sp
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from ..inner import InnerProblem
from ..inner.interior_point import NEAR, Path
from ._base import BaseSolver
from ._oracle import Finished, Run
from ._warm import _feasible

if TYPE_CHECKING:
    from ..problem import Problem
    from ..solution import Solution
    from ._base import Control

MOST = 2500  # columns of the preconditioner
EXACT, SHARE = 1e-3, 0.1  # of a right side in the norm of A⁻¹, and times the gap: what conjugate gradients leave
STEPS = 300  # of them
BEND = 1.5  # times the curvature that was foreseen is what a step may meet
MANY = 200  # kernels from which on it is the default: on the simplex, and elsewhere where features are sparse


class Interior(BaseSolver):
    """An interior point in the dual variables and the weights together, for many kernels with few features each.

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels import MKLClassifier
    >>> from manykernels.kernels import rank_one_kernels
    >>> from manykernels.solvers import Interior
    >>> X, y = np.arange(12.0).reshape(6, 2), [0, 0, 0, 1, 1, 1]
    >>> model = MKLClassifier(rank_one_kernels(X), regularizer=1, solver=Interior()).fit(X, y)
    >>> bool(model.duality_gap_ <= model.tol)
    True
    """

    name = "interior"
    needs = ("value", "conjugate", "start")
    explicit = True

    def suits(self, problem: Problem) -> bool:
        held = problem.bank.numeric() if problem.bank.M >= MANY else None
        return held is not None and (problem.regularizer.simplex or sp.issparse(held[0]))

    def refuse(self, problem: Problem) -> str | None:
        if problem.bank.numeric() is None:
            return "it needs kernels with numeric features, as Linear and rank_one_kernels have"
        if problem.n_outputs > 1:
            return "it takes one output at a time"
        if problem.loss.total:
            return f"the {problem.loss.name} loss has no point to begin from that it could move inside its box"
        if not (problem.regularizer.simplex or problem.regularizer.has("conjugate_curvature")):
            return f"{problem.regularizer!r} has neither the simplex for its domain nor a conjugate of known curvature"
        return None

    def solve(self, problem: Problem, control: Control) -> Solution:
        return InteriorRun(problem, control).run(InteriorRun.follow)


class InteriorRun(Run):
    """One run: the path on the usable kernels, each of its points certified on all examples."""

    def __init__(self, problem, control):
        super().__init__(problem, control)
        self.scale = float(problem.c.sum())
        self.inner = InnerProblem(problem.loss, problem.Y[0], problem.c[0], problem.intercept)

    def follow(self, *_):
        path = self._path()
        path.start(self.a[0][path.index])
        while True:
            if self.history and self.gap <= 30 * self.tol:  # fewer examples and kernels, where that is no worse
                self._judge(path, path.settled(), path.settled_weights(), False)
            self._judge(path, path.p - path.m, path.theta)
            self.solves += 1
            try:
                moved = path.step(min(EXACT, SHARE * max(self.gap, self.tol)))
            except LinAlgError:  # the system can no longer be solved
                moved = False
            if not moved:
                raise Finished

    def _path(self):
        inner, problem = self.inner, self.problem
        index = np.flatnonzero(inner.hi > inner.lo)  # not those without cost
        self.features = Features(*problem.bank.numeric(), problem.kernels)
        y, c = inner.y[index], inner.c[index]

        def rest(x):
            linear, diagonal, _ = inner.loss.quadratic(y, c, x)
            return linear + diagonal * x, diagonal

        kind = SimplexWeights if problem.regularizer.simplex else SmoothWeights
        weights = kind(problem.regularizer, self.features.M)
        box = inner.kink[index], inner.lo[index], inner.hi[index]
        path = JointPath(self.features.take(index), weights, rest, *box, 0.0, inner.intercept)
        path.index = index
        return path

    def _judge(self, path, x, theta, told=True):
        """Certifies the point on the path, moved onto the box and Σa = 0."""
        inner, a = self.inner, np.zeros(self.n)
        a[path.index] = np.clip(x, inner.lo[path.index], inner.hi[path.index])
        if not np.all(np.isfinite(a)):
            raise Finished
        if inner.intercept:
            moved = inner.repair(a, 0.0)
            a = _feasible(a, inner.y, inner.c, inner.loss, True) if moved is None else moved
        v = self.features.add(a)
        q = self.features.sums(v * v)
        outputs = self.features.look_up(self.features.spread(theta) * v)
        if not told and not self._improves(theta, a, q, outputs):
            return
        self._scaled(a, q)
        self.certify(theta, a[None], q=q, outputs=outputs[None])

    def _improves(self, theta, a, q, outputs):
        b = self.intercepts(outputs[None])
        losses = self.problem.losses(outputs[None], b)
        return self.problem.certificate(losses, a[None], b, theta, q).primal <= self.upper

    def _scaled(self, a, q):
        """The bound of the best multiple of a: far from the end a is too large for its largest q."""
        if self.problem.loss.interior or not self.history or not self.problem.regularizer.constraint:
            return
        inner = self.inner
        linear = float(inner.linear @ a + inner.kink @ np.abs(a))
        bend = float(inner.diagonal @ (a * a)) + 2.0 * self.problem.regularizer.conjugate(0.5 * q)
        t = min(max(-linear / bend, 0.0), 1.0) if bend > 0 else 1.0  # the best where Ω* is of degree 1
        lower = -float(np.sum(self.problem.conjugates(t * a[None])))
        lower -= self.problem.regularizer.conjugate(0.5 * t * t * q)
        if lower > self.lower and abs(a.sum()) <= 1e-12 * np.abs(a).sum():
            self.lower, self.best_dual = lower, t * a[None]


class Features:
    """F (n, D), normalised, with kernel m in the columns first[m] : first[m + 1]; dense or CSR."""

    def __init__(self, F, first, scale, kernels=None):
        self.first = first
        if kernels is not None:
            kernels = kernels if len(kernels) < len(first) - 1 else np.arange(len(first) - 1)
            columns = np.concatenate([np.arange(first[m], first[m + 1]) for m in kernels] or [np.empty(0, int)])
            widths = np.diff(first)[kernels]
            self.first, scale = np.concatenate([[0], np.cumsum(widths)]), np.repeat(scale[kernels], widths)
            F = F if len(columns) == F.shape[1] else F[:, columns]
            F = sp.csr_array(F * np.sqrt(scale)) if sp.issparse(F) else F * np.sqrt(scale)
        self.F, self.M = F, len(self.first) - 1
        self.single = F.shape[1] == self.M
        self.T = F.T.tocsr() if sp.issparse(F) else F.T

    def take(self, rows):
        return self if len(rows) == self.F.shape[0] else Features(self.F[rows], self.first, None)

    def add(self, a):
        return self.T @ a

    def look_up(self, w):
        return self.F @ w

    def sums(self, values):
        return values if self.single else np.add.reduceat(values, self.first[:-1])

    def spread(self, theta):
        return theta if self.single else np.repeat(theta, np.diff(self.first))

    def products(self, v):
        """K_m a for every kernel, (n, M), at v."""
        blocks = sp.csr_array((v, np.repeat(np.arange(self.M), np.diff(self.first)), np.arange(len(v) + 1)))
        return self.F @ blocks


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
        theta = np.where(self.theta * len(self.theta) < 1e-3 * self.s / self.s.mean(), 0.0, self.theta)
        return theta / theta.sum() if theta.any() else self.feasible()

    def feasible(self):
        return self.theta / self.theta.sum()


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
        self.features, self.weights = features, weights
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
            q = f.sums(f.add(a) ** 2)
            self.weights.start(q, 0.0)
            most = 2.0 * float(self.weights.theta @ q) if not self.simplex else float(q.max())
            a = a * min(1.0, max(abs(float(first @ a)) / max(most, 1e-300), 1e-3))
        q = f.sums(f.add(a) ** 2)
        self.weights.start(q, 1.0)
        super().start(a)
        q = f.sums(f.add(self.p - self.m) ** 2)
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
        system = System(f, v, w, np.where(self.split, Dp * Dm / both, Dp) + curvature, self.squares, exact)
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


class System:
    """A x = r by conjugate gradients; A = D + Φ diag(weight) Φᵀ (− gradient of Ω* twice), Φ the features and K_m a."""

    def __init__(self, features, v, weights, D, squares, exact):
        self.f, self.v, self.D, self.exact = features, v, D, exact
        self.omega, self.negative, theta = weights.omega, weights.negative, weights.theta
        if features.single:
            self.Phi, self.T, self.weight = features.F, features.T, theta + self.omega * v * v
        else:
            G = features.products(v)
            join = sp.hstack if sp.issparse(features.F) else np.hstack
            self.Phi = join([features.F, G], format="csr") if join is sp.hstack else join([features.F, np.asarray(G)])
            self.T, self.weight = self.Phi.T, np.concatenate([features.spread(theta), self.omega])
            squares = self.Phi.multiply(self.Phi) if sp.issparse(self.Phi) else self.Phi**2
        n, score = len(D), self.weight * (squares.T @ (1.0 / D))
        S = np.flatnonzero(score > 1.0)
        if len(S) > MOST and n > MOST:
            S = np.sort(np.argpartition(-score, MOST)[:MOST])
        rest = self.weight.copy()
        rest[S] = 0.0
        U = self.Phi[:, S] * np.sqrt(self.weight[S])
        self.P = D + squares @ rest
        self.dual = len(S) < n
        self._factor(sp.csr_array(U) if sp.issparse(U) else U, len(S))

    def _factor(self, U, k):
        if not self.dual:
            A = U @ U.T
            A = A.toarray() if sp.issparse(A) else A
            A[np.diag_indices(len(A))] += self.P
        else:
            root = (1.0 / np.sqrt(self.P))[:, None]
            V = U.multiply(root) if sp.issparse(U) else U * root
            A = V.T @ V
            A = A.toarray() if sp.issparse(A) else A
            A[np.diag_indices(k)] += 1.0
            self.U, self.UT = U, U.T.tocsr() if sp.issparse(U) else U.T
        self.factor = cho_factor(A, lower=True, check_finite=False) if len(A) else None

    def pull(self, weights):
        """Σ_m weights_m K_m a."""
        return self.f.look_up(self.f.spread(weights) * self.v)

    def multiply(self, x):
        y = self.D * x + self.Phi @ (self.weight * (self.T @ x))
        if self.negative is not None:
            g = self.pull(self.negative)
            y = y - g * (g @ x)
        return y

    def precondition(self, r):
        if not self.dual:
            return cho_solve(self.factor, r, check_finite=False)
        y = r / self.P
        if self.factor is None:
            return y
        return y - (self.U @ cho_solve(self.factor, self.UT @ y, check_finite=False)) / self.P

    def solve(self, r):
        x = self.precondition(r)
        r = r - self.multiply(x)
        z = self.precondition(r)
        p, rz, size = z, float(r @ z), abs(float((r + self.multiply(x)) @ x))
        for _ in range(STEPS):
            if not rz > self.exact**2 * size:
                break
            Ap = self.multiply(p)
            bend = float(p @ Ap)
            if not bend > 0:
                break
            t = rz / bend
            x, r = x + t * p, r - t * Ap
            z = self.precondition(r)
            rz, last = float(r @ z), rz
            p = z + (rz / last) * p
        return x
