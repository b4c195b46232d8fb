"""The passes of `primal` over the examples, which keep slopes and curvatures of every block, and the gap.

    Σ c V_μ(y, f) ,   a = −c V_μ'(f) ,   v_m = Σ_i a_i φ_m(x_i) ,   H = Σ_i S_i φ(x_i) φ(x_i)ᵀ ,   S = c V_μ''(f)

Features are kept only for the examples that can still move, if the memory allows it. `HostBlocks` multiplies with the
features of a block on the host, `DeviceBlocks` on a device.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy import ndarray

from .._limits import MemoryBudget
from ..inner import host_problem
from ..problem import Certificate
from ._primal_quadratic import Curvature, DeviceBlocks
from ._run import Run
from ._warm import onto_total

ROWS_PER_BLOCK = 2048
EXAMPLES_PER_FEATURE = 8  # in the first curvatures; of more examples an even sample is taken
MOVABLE_DISTANCE = 0.3  # in outputs: an example further from a change of its curvature cannot move soon


class LinearModel(NamedTuple):
    """A linear model w (T, D) of the normalised features, coefficients b (T, k) of E, and weights (M',)."""

    w: ndarray
    b: ndarray
    theta: ndarray


class Stage(NamedTuple):
    """The examples of a stage, and the gap to reach on them.

    Other examples may be `held`: their loss is the straight line −Σ a f − Σ c V*(y, −a/c), from v, Eᵀa and Σ c V*.
    """

    rows: ndarray
    enough: float
    held: Any = None
    kept: Any = None  # an array for their features, or None


class FixedExamples(NamedTuple):
    """Sums over examples with a fixed a: v (T, D), Eᵀa (T, k) and Σ c V*(y, −a/c)."""

    v: ndarray
    total: ndarray
    conjugate: float


class Visit(NamedTuple):
    """The result of a pass: outputs f and dual variables a (T, |rows|), v (T, D), curvatures, and the estimated gap."""

    f: ndarray
    a: ndarray
    v: ndarray
    curves: list
    near: ndarray  # which examples can still move, (|rows|,)
    far: Any  # the others as `FixedExamples`
    certificate: Certificate
    smoothing: float  # the part of the gap due to μ


class HostBlocks:
    """Products with the features of a block of examples, (·, D), in their dtype."""

    def __init__(self, bank):
        self.bank, self.size = bank, ROWS_PER_BLOCK

    def features(self, rows):
        return self.bank.dense(rows)

    def room(self, size, D):
        limit = MemoryBudget(self.bank.memory_limit).share("features of a pass")
        fits = size * D * self.bank.dtype.itemsize <= limit
        return np.empty((size, D), self.bank.dtype) if fits else None

    def outputs(self, G, weights):
        """(T, ·) of weights (T, D)."""
        return (G @ weights.T.astype(G.dtype)).T

    def sums(self, a, G):
        """Σ_i a_i G_i, (D,)."""
        return a.astype(G.dtype) @ G

    def curvature(self, D, k):
        return Curvature(D, k)


class BlockPasses(Run):
    """The passes of one run, and the values that follow from them."""

    def __init__(self, problem, control):
        super().__init__(problem, control)
        self.scale = float(problem.c.sum())
        self.owners = problem.bank.owners()
        self.root = np.sqrt(self.bank.scale)[self.owners]
        self.D, self.T = len(self.owners), problem.n_outputs
        self.sides = [SmoothedOutput(problem, y, c) for y, c in zip(problem.Y, problem.c, strict=True)]
        self.smooth = all(side.smooth for side in self.sides)
        self.per_feature = EXAMPLES_PER_FEATURE
        features = self.bank.device_features
        self.blocks = HostBlocks(self.bank) if features is None else DeviceBlocks(features)
        constant = np.ones((self.n, int(problem.intercept)))
        self.E = constant if problem.covariates is None else problem.covariates  # (n, k), with free coefficients

    def _features(self, level, part, first):
        """φ(x) of some examples of a level, (·, D); kept from the `first` pass on if they fit in memory."""
        if level.kept is None:
            return self.blocks.features(level.rows[part])
        if first:
            level.kept[part] = self.blocks.features(level.rows[part])
        return level.kept[part]

    def _visit(self, level, place, mu, first=False):
        rows, weights, blocks, size = level.rows, place.w * self.root, self.blocks, self.blocks.size
        f, a = np.empty((2, self.T, len(rows)))
        v, curves = np.zeros((2, self.T, self.D)), [blocks.curvature(self.D, self.E.shape[1]) for _ in self.sides]
        near, thin = np.ones(len(rows), bool), []
        for start in range(0, len(rows), size):
            part = slice(start, start + size)
            G = self._features(level, part, first)
            E = self.E[rows[part]]
            f[:, part] = blocks.outputs(G, weights) + place.b @ E.T
            found = [side.answer(rows[part], f_t, mu) for side, f_t in zip(self.sides, f[:, part], strict=True)]
            if level.held is None:
                near[part] = np.any([distance <= MOVABLE_DISTANCE for _, _, distance in found], axis=0)
            far = ~near[part]
            for t, (a_t, S, _) in enumerate(found):
                a[t, part], used = a_t, np.flatnonzero(S)
                if start == 0:
                    thin.append(max(1, len(used) * len(rows) // (size * self.per_feature * self.D)))
                used = used[(start // size) % thin[t] :: thin[t]]
                v[0, t] += blocks.sums(a_t, G)
                v[1, t] += blocks.sums(np.where(far, a_t, 0.0), G) if far.any() else 0.0
                curves[t].add(G[used], np.sqrt(thin[t] * S[used]), E[used])
            self.control.visited(min(start + size, len(rows)), len(rows))
        v *= self.root
        for curve in curves:
            curve.close(self.root)
        held = FixedExamples(v[1], a[:, ~near] @ self.E[rows[~near]], self._conjugates(level, a, ~near))
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
            for start in range(0, len(used), self.blocks.size):
                rows = used[start : start + self.blocks.size]
                v[t] += self.blocks.sums(a[t, rows], self.blocks.features(rows))
        return v * self.root

    def _certify(self, place, a, v, outputs=None):
        if outputs is None:
            outputs = np.empty((self.T, self.n))
            for start in range(0, self.n, self.blocks.size):
                stop = min(start + self.blocks.size, self.n)
                G = self.blocks.features(np.arange(start, stop))
                outputs[:, start:stop] = self.blocks.outputs(G, place.w * self.root)
        self.certify(place.theta, a, q=self._norms(v), outputs=outputs)

    def _feasible(self, a):
        """a moved onto Σa = total, or Eᵀa = 0, by its free entries."""
        return np.array([onto_total(a_t, side.inner) for a_t, side in zip(a, self.sides, strict=True)])

    def _spread(self, theta):
        """θ_m for every feature, (D,)."""
        return self.full(theta)[self.owners]

    def _norms(self, v):
        """Σ_t ‖v_tm‖², (M',)."""
        return np.bincount(self.owners, np.sum(v**2, axis=0), minlength=self.bank.M)[self.kernels]

    def _penalty(self, place):
        """½ Σ ‖w_m‖² / θ_m and Ω(θ)."""
        norms, theta = self._norms(place.w), place.theta
        half = 0.5 * float(np.sum(np.divide(norms, theta, out=np.zeros_like(norms), where=theta > 0)))
        return half, self.problem.regularizer.value(theta)

    def _estimate(self, level, place, f, a, v):
        """(the Certificate on the examples of a level, the part of its gap due to smoothing)."""
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
        dual = float(np.sum(self._off(level, a) * place.b)) - conjugate - problem.regularizer.conjugate(0.5 * t * t * q)
        scale = max(risk + half + abs(omega) + abs(offset), 1e-12 * float(problem.c.sum()), 1e-300)
        return Certificate(primal, dual, (primal - dual) / scale, scale), smoothing

    def _line(self, level, place):
        """The loss of the examples that are held."""
        held = level.held
        return -held.conjugate - float(np.sum(held.v * place.w)) - float(np.sum(held.total * place.b))

    def _off(self, level, a):
        """total − Eᵀa, (T, k)."""
        return self.problem.loss.total - a @ self.E[level.rows] - (0.0 if level.held is None else level.held.total)

    def _level(self, place):
        """What b adds to the outputs of all examples, (T, n)."""
        return place.b @ self.E.T


class SmoothedOutput:
    """One output: its loss, smoothed."""

    def __init__(self, problem, y, c):
        self.inner = host_problem(problem, y, c)
        self.loss = problem.loss
        self.smooth = self.loss.interior or bool(np.all(self.inner.diagonal[c > 0] > 0))

    def _parts(self, rows, mu):
        """(lo, hi, linear, diagonal, kink) of these examples."""
        inner, c = self.inner, self.inner.c[rows]
        own = np.divide(mu, c, out=np.ones_like(c), where=c > 0)
        diagonal = inner.diagonal[rows] + own
        return inner.lo[rows], inner.hi[rows], inner.linear[rows], diagonal, inner.kink[rows]

    def answer(self, rows, f, mu):
        """a = −c V_μ'(f), S = c V_μ''(f), and the distance of f from a change of S, 0 where S > 0."""
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
