"""Newton steps on the linear model and the weights together: the default where kernels have few explicit features.

    min over w_m, b, θ :   Σ c V_μ(y, Σ_m ⟨w_m, φ_m(x)⟩ + b) + ½ Σ_m ‖w_m‖² / θ_m + Ω(θ)

A pass over the examples computes their features block by block and keeps, of the loss at the present w and b, only the
slope −v, v_m = Σ a_i φ_m(x_i), and the curvature Σ S_i φ(x_i) φ(x_i)ᵀ, D × D. What is then the minimum over w, b *and*
θ with the loss replaced by that quadratic needs no example: Newton steps on θ around a linear system (`newton`). So a
fit takes few passes, whatever the conditioning, and nothing of the size of the features is kept.

Losses whose slope jumps are smoothed: with (μ/2c) a² beside their conjugate, a = −c V_μ' stays in the box of the loss
itself, so that every pass gives a dual point of the problem itself, and what the smoothing costs is a part of its gap.
μ falls until that part is small. Between two passes over all examples only those that can still move are looked at,
a small part of them: all others are held at the bound where they are, and their loss is the straight line there.

Losses that are smoothed are left to `coordinate` below a gap of 1e-4, from where this one has come to.
At the end w is θ_m v_m(a), with Σa = total to the last digit, and the gap is that of all solvers.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.linalg.blas import dsyrk, ssyrk

from ..inner import InnerProblem
from ..inner.systems import blas_for
from ..problem import Certificate
from ._base import BaseSolver
from ._oracle import Finished, Run
from ._warm import _feasible, begin_from
from .coordinate import Coordinate
from .newton import Model, NewtonStep

if TYPE_CHECKING:
    from ..problem import Problem
    from ..solution import Solution
    from ._base import Control

WIDEST = 12_000  # features
FEWEST = 4  # times as many examples as features
BLOCK = 2048  # examples at a time
CURVED = 8  # times as many examples as features make up the curvature, evenly spread ones where there are more
STEPS = 2, 8  # on the weights between two passes: while the gap is large, and then
LARGE = 0.05  # gap
SHARE = 0.5  # of the gap may be that of the smoothing
STUCK = 30  # passes without progress
FINE = 1e-4  # gap below which visits of single examples finish what was smoothed
FIRST = 2.0  # the first μ: at outputs of 0 every example has curvature
REACH = 0.3  # outputs from moving within which an example can still move
LOST = 0.02  # of these whose outputs change by more than that: it is time to look at all
ROOM = 2**31  # bytes for the features of those, where there is no memory_limit
MOST = 0.4  # of the examples among those are too many for it to pay
TURNS = 30  # passes over them at most


class Primal(BaseSolver):
    """Newton steps on weights and linear model together, from a few passes over the examples.

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels import MKLClassifier
    >>> from manykernels.kernels import RBF, RandomFeatures
    >>> from manykernels.solvers import Primal
    >>> X = np.linspace(-1, 1, 40)[:, None]
    >>> model = MKLClassifier([RandomFeatures(RBF(gamma=0.1), rank=8)], solver=Primal()).fit(X, X[:, 0] > 0)
    >>> bool(model.duality_gap_ <= model.tol)
    True
    """

    name = "primal"
    needs = ("value", "conjugate", "prox", "minimise", "start")
    explicit = True

    def refuse(self, problem: Problem) -> str | None:
        owners = problem.bank.owners() if problem.bank.explicit else None
        if owners is None:
            return "it needs kernels of few explicit features, such as RandomFeatures(RBF(gamma=0.1), rank=256)"
        D, limit = len(owners), problem.bank.memory_limit
        wide = 16 * (problem.n_outputs + 1) * D * D > (np.inf if limit is None else limit)
        if D > WIDEST or wide:
            return f"it keeps matrices of {D} × {D} numbers, one for each feature and feature"
        if problem.bank.n < FEWEST * D:
            return f"{problem.bank.n} examples are few for {D} features: visits of single examples are quicker"
        return None

    def solve(self, problem: Problem, control: Control) -> Solution:
        if control.state is not None:  # a checkpoint of the end below
            return Coordinate().solve(problem, control)
        run = Descent(problem, control)
        if run.smooth:
            return run.run(Descent.iterate)
        run.tol = max(run.tol, FINE)
        found, end = run.run(Descent.iterate), Coordinate()
        short = found.gap > control.tol and not found.interrupted and found.n_iter < control.max_iter
        if not short or end.refusal(problem) is not None:
            return replace(found, converged=bool(found.gap <= control.tol))
        control.warm = begin_from(found, problem)
        last = end.solve(problem, control)
        return replace(last, history=found.history + last.history, n_iter=found.n_iter + last.n_iter)


class Place(NamedTuple):
    """A linear model w (T, D) of the normalised features, b (T,), and weights (M',)."""

    w: np.ndarray
    b: np.ndarray
    theta: np.ndarray


class Level(NamedTuple):
    """The examples that are looked at, and the gap to reach there.

    Others may be `held`: their loss is the straight line −Σ a f − Σ c V*(y, −a/c), by their v, Σa and Σ c V*.
    """

    rows: np.ndarray
    enough: float
    held: Any = None
    kept: Any = None  # an array for their features, or None


class Held(NamedTuple):
    """Of examples whose a is fixed: v (T, D), Σa (T,) and Σ c V*(y, −a/c)."""

    v: np.ndarray
    total: np.ndarray
    conjugate: float


class Visit(NamedTuple):
    """What a pass finds: outputs f and dual variables a (T, |rows|), v (T, D), curvatures, and the estimated gap."""

    f: np.ndarray
    a: np.ndarray
    v: np.ndarray
    curves: list
    near: np.ndarray  # which examples can still move, (|rows|,)
    far: Any  # the others as `Held`
    certificate: Certificate
    smoothing: float  # what is due to μ in the gap


class Descent(Run):
    """One run."""

    def __init__(self, problem, control):
        super().__init__(problem, control)
        self.scale = float(problem.c.sum())
        self.owners = problem.bank.owners()
        self.root = np.sqrt(self.bank.scale)[self.owners]
        self.D, self.T = len(self.owners), problem.n_outputs
        self.sides = [Side(problem, y, c) for y, c in zip(problem.Y, problem.c, strict=True)]
        self.smooth = all(side.smooth for side in self.sides)

    def iterate(self):
        with blas_for(self.D, self.bank.n_jobs):
            w, mu = np.zeros((self.T, self.D)), 0.0 if self.smooth else FIRST
            if self.control.warm is not None and self.a.any():
                w, mu = self._spread(self.theta) * self._sums(self.a), 0.1 * mu
            self._descend(Level(np.arange(self.n), self.tol), Place(w, self.b.copy(), self.theta), mu)

    def _features(self, level, part, first):
        """φ(x) of some examples of a level, (·, D); kept from the `first` pass on where there is room."""
        if level.kept is None:
            return self.bank.dense(level.rows[part])
        if first:
            level.kept[part] = self.bank.dense(level.rows[part])
        return level.kept[part]

    def _room(self, size):
        """An array for the features of so many examples, None where they do not fit."""
        limit = ROOM if self.bank.memory_limit is None else self.bank.memory_limit // 4
        fits = size * self.D * self.bank.dtype.itemsize <= limit
        return np.empty((size, self.D), self.bank.dtype) if fits else None

    def _descend(self, level, place, mu, last=None):
        """(place, μ) where the gap of a level is reached; on all examples `Finished` ends it."""
        whole = level.held is None
        since, best, turns, begun = 0, np.inf, 0, None if last is None else last[1].f
        while True:
            visit, turns = self._visit(level, place, mu, turns == 0), turns + 1
            back = None if last is None else self._between(level, last, place, visit, mu)
            if back is not None:
                place = back
                continue
            self._note(level, place, visit, whole)
            gap, scale = visit.certificate.gap, visit.certificate.scale
            since, best = (0, gap) if gap < 0.99 * best else (since + 1, best)
            done = len(self.history) >= self.max_iter or since >= STUCK or not np.isfinite(gap)
            ready = gap + self._mismatch(place, visit) / scale <= 0.95 * level.enough
            if whole and (done or ready):
                place, visit = self._settle(level, place, visit, mu)
                mu, since = 0.5 * mu, 0
                if done:
                    raise Finished
            elif done or ready or not whole and (turns >= TURNS or np.mean(np.abs(visit.f - begun) > REACH) > LOST):
                return place, mu
            last, near = (place, visit), level.rows[visit.near]
            allowed, rest = SHARE * level.enough * scale, gap * scale - visit.smoothing
            place = self._model(level, place, visit, 0.1 * scale * level.enough)
            if visit.smoothing > allowed and rest <= 4 * visit.smoothing:  # of the order of μ²
                mu *= max(0.9 * np.sqrt(allowed / visit.smoothing), 0.4)
            if whole and len(near) <= MOST * len(level.rows):
                small = Level(near, 0.7 * level.enough, visit.far, self._room(len(near)))
                from_here = last[0], visit._replace(f=visit.f[:, visit.near])
                place, mu = self._descend(small, place, mu, from_here)

    def _note(self, level, place, visit, whole):
        if whole:
            self.a, self.b = visit.a, place.b
        self.theta, self.solves = place.theta, self.solves + 1
        self.record(place.theta, visit.a, visit.certificate, certified=False, n_active=len(level.rows))

    def rescue(self):
        """After an interrupt: the certificate of the last place on all examples, where there is none yet."""
        if self.best is None and self.history:
            a = self._feasible(self.a)
            v = self._sums(a)
            self._certify(Place(self._spread(self.theta) * v, self.b, self.theta), a, v)

    # What follows are passes over the examples.

    def _visit(self, level, place, mu, first=False):
        rows, weights, dtype = level.rows, (place.w * self.root).T, None
        f, a = np.empty((2, self.T, len(rows)))
        v, curves = np.zeros((2, self.T, self.D)), [Curvature(self.D) for _ in self.sides]
        near, thin = np.ones(len(rows), bool), []
        for start in range(0, len(rows), BLOCK):
            part = slice(start, start + BLOCK)
            G = self._features(level, part, first)
            if dtype is None:
                dtype, weights = G.dtype, weights.astype(G.dtype)
            f[:, part] = (G @ weights).T + place.b[:, None]
            found = [side.answer(rows[part], f_t, mu) for side, f_t in zip(self.sides, f[:, part], strict=True)]
            if level.held is None:
                near[part] = np.any([distance <= REACH for _, _, distance in found], axis=0)
            far = ~near[part]
            for t, (a_t, S, _) in enumerate(found):
                a[t, part], used = a_t, np.flatnonzero(S)
                if start == 0:
                    thin.append(max(1, len(used) * len(rows) // (BLOCK * CURVED * self.D)))
                used = used[(start // BLOCK) % thin[t] :: thin[t]]
                v[0, t] += a_t.astype(dtype) @ G
                v[1, t] += np.where(far, a_t, 0.0).astype(dtype) @ G if far.any() else 0.0
                curves[t].add(G[used], np.sqrt(thin[t] * S[used]))
            self.control.visited(min(start + BLOCK, len(rows)), len(rows))
        v *= self.root
        for curve in curves:
            curve.close(self.root, self.problem.intercept)
        held = Held(v[1], a[:, ~near].sum(axis=1), self._conjugates(level, a, ~near))
        if level.held is not None:
            v[0] += level.held.v
        return Visit(f, a, v[0], curves, near, held, *self._estimate(level, place, f, a, v[0]))

    def _conjugates(self, level, a, which=slice(None)):
        """Σ c V*(y, −a/c) of these examples of a level."""
        rows = level.rows[which]
        return sum(
            self.problem.loss.dual_value(side.inner.y[rows], side.inner.c[rows], a_t[which])
            for side, a_t in zip(self.sides, a, strict=True)
        )

    def _sums(self, a):
        """v (T, D) of a (T, n)."""
        v = np.zeros((self.T, self.D))
        for t in range(self.T):
            used = np.flatnonzero(a[t])
            for start in range(0, len(used), BLOCK):
                rows = used[start : start + BLOCK]
                G = self.bank.dense(rows)
                v[t] += a[t, rows].astype(G.dtype) @ G
        return v * self.root

    def _settle(self, level, place, visit, mu):
        """Certifies a of this visit, with Σa = total, at w = θ v(a), which it leads to: (place, visit) there."""
        a = self._feasible(visit.a)
        v = visit.v + self._sums(a - visit.a)
        place = place._replace(w=self._spread(place.theta) * v)
        there = self._visit(level, place, mu)
        self._certify(place, a, v, there.f - place.b[:, None])
        return place, there

    def _certify(self, place, a, v, outputs=None):
        if outputs is None:
            outputs = np.empty((self.T, self.n))
            weights = (place.w * self.root).T
            for start in range(0, self.n, BLOCK):
                G = self.bank.dense(np.arange(start, min(start + BLOCK, self.n)))
                outputs[:, start : start + BLOCK] = (G @ weights.astype(G.dtype)).T
        self.certify(place.theta, a, q=self._norms(v), outputs=outputs)

    # And what follows are none.

    def _feasible(self, a):
        """a with Σa = total, by what its free entries can take."""
        if not self.problem.intercept:
            return a
        found = []
        for a_t, side in zip(a, self.sides, strict=True):
            inner = side.inner
            moved = inner.repair(a_t.copy(), inner.loss.total)
            found.append(_feasible(a_t, inner.y, inner.c, inner.loss, True) if moved is None else moved)
        return np.array(found)

    def _spread(self, theta):
        """θ_m for every feature, (D,)."""
        full = np.zeros(self.bank.M)
        full[self.kernels] = theta
        return full[self.owners]

    def _norms(self, v):
        """Σ_t ‖v_tm‖², (M',)."""
        return np.bincount(self.owners, np.sum(v**2, axis=0), minlength=self.bank.M)[self.kernels]

    def _penalty(self, place):
        """½ Σ ‖w_m‖² / θ_m and Ω(θ)."""
        norms, theta = self._norms(place.w), place.theta
        half = 0.5 * float(np.sum(np.divide(norms, theta, out=np.zeros_like(norms), where=theta > 0)))
        return half, self.problem.regularizer.value(theta)

    def _estimate(self, level, place, f, a, v):
        """(the gap on the examples of a level, as a Certificate, the part of it that smoothing has)."""
        problem, q = self.problem, self._norms(v)
        losses = zip(self.sides, f, strict=True)
        risk = sum(float(side.inner.c[level.rows] @ problem.loss.value(side.inner.y[level.rows], f_t))
                   for side, f_t in losses)  # fmt: skip
        conjugate = self._conjugates(level, a)
        smoothing = risk + conjugate + float(np.sum(a * f))
        if level.held is not None:
            risk, conjugate = risk + self._line(level, place), conjugate + level.held.conjugate
        (half, omega), offset = self._penalty(place), problem.loss.total * float(place.b.sum())
        t = problem.regularizer.shrink(0.5 * q)
        primal = risk + offset + half + omega
        dual = float(self._off(level, a) @ place.b) - conjugate - problem.regularizer.conjugate(0.5 * t * t * q)
        scale = max(risk + half + abs(omega) + abs(offset), 1e-12 * float(problem.c.sum()), 1e-300)
        return Certificate(primal, dual, (primal - dual) / scale, scale), smoothing

    def _line(self, level, place):
        """The loss of the examples that are held."""
        held = level.held
        return -held.conjugate - float(np.sum(held.v * place.w)) - float(held.total @ place.b)

    def _off(self, level, a):
        """What Σa lacks, (T,)."""
        if not self.problem.intercept:
            return np.zeros(self.T)
        return self.problem.loss.total - a.sum(axis=1) - (0.0 if level.held is None else level.held.total)

    def _mismatch(self, place, visit):
        """What the objective is foreseen to rise by from w to θ v: none, where w is the best for a."""
        move = self._spread(place.theta) * visit.v - place.w
        along = sum(float(d @ curve.multiply(d)) for d, curve in zip(move, visit.curves, strict=True))
        return max(0.5 * along, 0.0)

    def _between(self, level, last, place, visit, mu):
        """The best place on the way from the last one, where this one is no better; else None."""
        before, known = last

        def value(t):
            w, b, theta = (u + t * (x - u) for u, x in zip(before, place, strict=True))
            f = known.f + t * (visit.f - known.f)
            sides = zip(self.sides, f, strict=True)
            risk = sum(side.value(level.rows, f_t, mu) for side, f_t in sides)
            risk += 0.0 if level.held is None else self._line(level, Place(w, b, theta))
            return risk + self.problem.loss.total * float(b.sum()) + sum(self._penalty(Place(w, b, theta)))

        start = value(0.0)
        if value(1.0) <= start + 1e-12 * abs(start):
            return None
        low, high = 0.0, 1.0
        for _ in range(12):  # convex along the way
            left, right = low + (high - low) / 3, high - (high - low) / 3
            low, high = (low, right) if value(left) <= value(right) else (left, high)
        t = 0.5 * (low + high)
        if t < 1e-6 or not value(t) < start:
            return None
        return Place(*(u + t * (x - u) for u, x in zip(before, place, strict=True)))

    def _weights_gap(self, theta, q):
        """What the weights have in the gap: Ω(θ) + Ω*(½ q) − ½ θᵀq."""
        regularizer = self.problem.regularizer
        t = regularizer.shrink(0.5 * q) ** 2
        return regularizer.value(theta) + regularizer.conjugate(0.5 * t * q) - 0.5 * t * float(theta @ q)

    def _model(self, level, place, visit, slack):
        """The minimum over w, b and θ with the loss replaced by its quadratic model."""
        problem, regularizer = self.problem, self.problem.regularizer
        off = self._off(level, visit.a)
        linear = [
            -v - (curve.h * (b / curve.s) if curve.s > 0 else 0.0) - curve.multiply(w)
            for v, w, b, curve in zip(visit.v, place.w, off, visit.curves, strict=True)
        ]  # fmt: skip
        step, theta, before, best = NewtonStep(closed_first=False), place.theta, None, None
        steps = STEPS[visit.certificate.gap < LARGE]
        for k in range(steps):
            answer = Answer(self, visit.curves, linear, theta)
            value = answer.value + regularizer.value(theta)
            if before is not None and not step.judge(before - value):
                theta = step.retry()
                continue
            before, best, q = value, (theta, answer), self._norms(answer.v)
            if k == steps - 1 or self._weights_gap(theta, q) <= slack:
                break
            if k == 0 and not regularizer.constraint and regularizer.has("weights_from_norms"):
                step.promise, theta = 0.0, regularizer.weights_from_norms(theta * np.sqrt(q))
            else:
                theta = step.aim(Model(-0.5 * q, answer.half_hessian()), theta, regularizer, 0.01 * slack)
        theta, answer = best
        b = place.b.copy()
        for t, curve in enumerate(visit.curves):
            if problem.intercept and curve.s > 0:
                b[t] -= (off[t] + float(curve.h @ (answer.w[t] - place.w[t]))) / curve.s
        return Place(answer.w, b, theta)


class Answer:
    """min over w of Σ_t linear_tᵀw_t + ½ w_tᵀH_t w_t + ½ Σ_m ‖w_tm‖² / θ_m: its value, w, and v = w/θ, (T, D)."""

    def __init__(self, run, curves, linear, theta):
        self.run, self.curves = run, curves
        self.spread = run._spread(theta)
        self.factors = [curve.factor(self.spread) for curve in curves]
        root = np.sqrt(self.spread)
        parts = zip(self.factors, linear, strict=True)
        self.w = np.array([root * factor(-root * slope) for factor, slope in parts])
        parts = zip(curves, linear, self.w, strict=True)
        self.v = np.array([-(slope + curve.multiply(w)) for curve, slope, w in parts])
        self.value = 0.5 * float(np.sum(self.w * np.array(linear)))

    def half_hessian(self):
        """Z with ZᵀZ = Σ_t V_tᵀ (H_t⁻¹ + Θ)⁻¹ V_t, the curvature of the value in θ; V_t has v_tm in column m."""
        run, total = self.run, 0.0
        place = np.full(run.bank.M, -1)
        place[run.kernels] = np.arange(len(run.kernels))
        at, root = place[run.owners], np.sqrt(self.spread)[:, None]
        used = np.flatnonzero(at >= 0)
        for v, curve, factor in zip(self.v, self.curves, self.factors, strict=True):
            V = np.zeros((run.D, len(run.kernels)))
            V[used, at[used]] = v[used]
            Y = curve.multiply(V)
            total = total + V.T @ Y - (root * Y).T @ factor(root * Y)
        values, vectors = np.linalg.eigh(0.5 * (total + total.T))
        return np.sqrt(np.maximum(values, 0.0))[:, None] * vectors.T


class Side:
    """One output: its loss, smoothed."""

    def __init__(self, problem, y, c):
        self.inner = InnerProblem(problem.loss, y, c, problem.intercept)
        self.loss = problem.loss
        self.smooth = self.loss.interior or bool(np.all(self.inner.diagonal[c > 0] > 0))

    def _parts(self, rows, mu):
        """(lo, hi, linear, diagonal, kink) of these examples."""
        inner, c = self.inner, self.inner.c[rows]
        own = np.divide(mu, c, out=np.ones_like(c), where=c > 0)
        diagonal = inner.diagonal[rows] + own
        return inner.lo[rows], inner.hi[rows], inner.linear[rows], diagonal, inner.kink[rows]

    def answer(self, rows, f, mu):
        """a = −c V_μ'(f), S = c V_μ''(f), and how far f is from where S changes, 0 where S > 0; of these examples."""
        if self.loss.interior:
            y, c = self.inner.y[rows], self.inner.c[rows]
            a = -c * self.loss.gradient(y, f)
            diagonal = self.loss.quadratic(y, c, a)[1]
            S = np.divide(1.0, diagonal, out=np.zeros_like(a), where=(c > 0) & (diagonal > 0))
            return a, S, np.zeros_like(a)
        lo, hi, linear, diagonal, kink = self._parts(rows, mu)
        slope = -(f + linear)
        pull = np.sign(slope) * np.maximum(np.abs(slope) - kink, 0.0)
        aim = pull / diagonal
        a = np.clip(aim, lo, hi)
        moves = (aim > lo) & (aim < hi) & ((pull != 0) | (kink == 0))
        distance = np.where(aim >= hi, diagonal * (aim - hi), np.where(aim <= lo, diagonal * (lo - aim), 0.0))
        distance = np.where((pull == 0) & (kink > 0), kink - np.abs(slope), distance)
        return a, np.where(moves, 1.0 / diagonal, 0.0), np.where(hi > lo, distance, np.inf)

    def value(self, rows, f, mu):
        """Σ c V_μ(f)."""
        if self.loss.interior:
            return float(self.inner.c[rows] @ self.loss.value(self.inner.y[rows], f))
        a = self.answer(rows, f, mu)[0]
        _, _, linear, diagonal, kink = self._parts(rows, mu)
        return -float(np.sum(a * (f + linear + 0.5 * diagonal * a) + kink * np.abs(a)))


class Curvature:
    """H = Σ S φφᵀ less what the intercept takes, hhᵀ/s: as D × D numbers, or as the rows √S φ where those are fewer."""

    def __init__(self, D):
        self.D, self.parts, self.roots, self.waiting, self.H = D, [], [], 0, None
        self.h, self.s = np.zeros(D), 0.0

    def add(self, G, r):
        """Takes in examples with features G (k, D) and √S = r."""
        if not len(r):
            return
        R = G * r[:, None].astype(G.dtype)
        self.h += r.astype(G.dtype) @ R
        self.s += float(r @ r)
        self.parts.append(R)
        self.roots.append(r)
        self.waiting += len(R)
        if self.waiting > (self.D if self.H is None else BLOCK):
            self._sum()

    def _sum(self):
        R = np.ascontiguousarray(np.vstack(self.parts))
        square = (ssyrk if R.dtype == np.float32 else dsyrk)(1.0, R.T, lower=1)
        if self.H is None:
            self.H = square.astype(np.float64)
        else:
            self.H += square
        self.parts, self.roots, self.waiting = [], [], 0

    def close(self, root, intercept):
        """Normalises the features by `root`, (D,)."""
        self.h *= root
        self.s = self.s if intercept else 0.0
        if self.H is None:
            R = np.vstack(self.parts) if self.parts else np.zeros((1, self.D))
            self.R = R * root
            if self.s > 0:
                self.R -= np.outer(np.concatenate(self.roots), self.h / self.s)
        else:
            if self.waiting:
                self._sum()
            H = self.H
            H += np.tril(H, -1).T
            H *= root
            H *= root[:, None]
            if self.s > 0:
                H -= np.outer(self.h, self.h / self.s)
        self.parts, self.roots = [], []

    def multiply(self, V):
        return self.R.T @ (self.R @ V) if self.H is None else self.H @ V

    def factor(self, spread):
        """x → (I + Θ^½ H Θ^½)⁻¹ x, for θ of every feature."""
        used = np.flatnonzero(spread)
        root = np.sqrt(spread[used])
        if self.H is None and len(self.R) < len(used):
            half = self.R[:, used] * root
            A = half @ half.T
            small = _cholesky(A)
            return lambda x: _placed(x, used, lambda z: z - half.T @ cho_solve(small, half @ z, check_finite=False))
        if self.H is None:
            half = self.R[:, used] * root
            A = half.T @ half
        else:
            A = (self.H if len(used) == self.D else self.H[np.ix_(used, used)]) * root
            A *= root[:, None]
        whole = _cholesky(A)
        return lambda x: _placed(x, used, lambda z: cho_solve(whole, z, check_finite=False))


def _cholesky(A):
    A[np.diag_indices(len(A))] += 1.0
    return cho_factor(A, lower=True, overwrite_a=True, check_finite=False)


def _placed(x, used, solve):
    """x with solve(x) at the features that are used; where θ is 0 the matrix is the identity."""
    if len(used) == len(x):
        return solve(x)
    out = np.array(x)
    out[used] = solve(x[used])
    return out
