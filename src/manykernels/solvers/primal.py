"""Newton steps on the linear model and the weights together: the default for kernels with few explicit features.

    min over w_m, b, θ :   Σ c V_μ(y, Σ_m ⟨w_m, φ_m(x)⟩ + eᵀb) + ½ Σ_m ‖w_m‖² / θ_m + Ω(θ)

A pass over the examples computes their features block by block. Of the loss at the present w and b it keeps only the
slope −v, v_m = Σ a_i φ_m(x_i), and the curvature Σ S_i φ(x_i) φ(x_i)ᵀ, D × D. The minimum over w, b *and* θ of the
problem with this quadratic loss needs no example: Newton steps on θ around a linear system (`newton`) find it. So a fit
takes few passes, whatever the conditioning, and keeps nothing of the size of the features.

A loss whose slope jumps is smoothed by (μ/2c) a² beside its conjugate. Then a = −c V_μ' stays in the box of the loss,
every pass gives a dual point of the original problem, and the smoothing causes a part of the gap. μ falls until that
part is small. Between two passes over all examples come passes over the few examples that can still move; the others
keep their bound, and their loss is a straight line. Below a gap of 1e-4 `coordinate` finishes smoothed losses. With
covariates `interior` does so below 1e-3: few examples then have curvature, and b needs some for every covariate.

`_primal_passes` has the passes, `_primal_quadratic` the curvature and the minimum over w at given weights.
At the end w is θ_m v_m(a), with Σa = total to the last digit, and the gap is that of all solvers. Before, w is not of
that form and the gaps of passes are estimates; a run that is cut short certifies its last place.
"""

from dataclasses import replace

import numpy as np

from .._limits import MIN_EXAMPLES_PER_FEATURE
from ..inner.systems import blas_for
from ..problem import Problem
from ..solution import Solution
from ._primal_passes import MOVABLE_DISTANCE, BlockPasses, LinearModel, Stage
from ._primal_quadratic import Answer
from ._run import Finished
from ._warm import go_on
from .base import BaseSolver, Control
from .coordinate import Coordinate
from .interior import Interior
from .newton import LocalModel, NewtonStep

MAX_FEATURES = 12_000
WEIGHT_STEPS = 2, 8  # on the weights between two passes: while the gap is above LARGE_GAP, and below it
LARGE_GAP = 0.05
SMOOTHING_SHARE = 0.5  # of the gap that smoothing may cause
USUAL_PASSES = 10
SLOW_TOL = 1e-3  # gap below which a smoothed loss takes many passes; with a feature for each kernel it always may
SLOW_DECREASE = 0.25  # of the gap from pass to pass, above which more examples enter the curvature
MAX_IDLE_PASSES = 30
SMOOTHED_TOL = 1e-4  # gap below which `coordinate` finishes a smoothed loss
ADJUSTED_TOL = 1e-3  # the same for `interior` with covariates
FIRST_MU = 2.0  # at outputs of 0 every example then has curvature
MAX_PARTIAL_SHARE = 0.4  # of the examples; if more can still move, partial passes do not pay
MAX_PARTIAL_PASSES = 30  # over the examples that can still move
MAX_MOVED_SHARE = 0.02  # of these examples; if more move by MOVABLE_DISTANCE, a full pass follows


class Primal(BaseSolver):
    """Newton steps on weights and linear model together, from a few passes over the examples.

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels import MKLClassifier
    >>> from manykernels.kernels import RBF, RandomFeatures
    >>> from manykernels.solvers import Primal
    >>> X = np.random.default_rng(0).normal(size=(300, 2))
    >>> kernels = [RandomFeatures(RBF(gamma=g), rank=16) for g in (0.1, 1.0)]
    >>> model = MKLClassifier(kernels, loss="logistic", solver=Primal()).fit(X, X[:, 0] > 0)
    >>> model.n_iter_ < 10, [step["certified"] for step in model.history_][-2:]  # passes, and one certificate
    (True, [False, True])
    """

    file_tag = ("solver/primal", 1)
    name = "primal"
    needs = ("value", "conjugate", "prox", "minimise", "start")
    explicit = adjusts = reads_device = True

    def refuse(self, problem: Problem) -> str | None:
        owners = problem.bank.owners() if problem.bank.explicit else None
        if owners is None:
            return "it needs kernels of few explicit features, such as RandomFeatures(RBF(gamma=0.1), rank=256)"
        if problem.loss.total and problem.bank.device_features is not None:
            return f"the {problem.loss.name} loss needs 'coordinate' to finish it, on the processor"
        D, limit = len(owners), problem.bank.memory_limit
        wide = 16 * (problem.n_outputs + 1) * D * D > (np.inf if limit is None else limit)
        if D > MAX_FEATURES or wide:
            return f"it keeps matrices of {D} × {D} numbers, one for each pair of features"
        if problem.bank.n < MIN_EXAMPLES_PER_FEATURE * D:
            return f"{problem.bank.n} examples are few for {D} features: visits of single examples are quicker"
        return None

    def expected_work(self, problem: Problem, tol: float) -> float:
        if problem.bank.numeric() is None:  # features are computed in every pass, and here passes are few
            return 0.0
        n, D, loss = problem.bank.n, len(problem.bank.owners()), problem.loss
        smooth = loss.interior or loss.quadratic(*np.ones((3, 1)))[1].all()
        if not smooth and (tol < SLOW_TOL or D == problem.bank.M):
            return np.inf
        return 1e5 + USUAL_PASSES * 1e-4 * n * D**2

    def solve(self, problem: Problem, control: Control) -> Solution:
        if control.state is not None and problem.covariates is None:  # of `coordinate`, which finishes the run
            return Coordinate().solve(problem, control)
        run = Descent(problem, control)
        if run.smooth:
            return run.run(Descent.iterate)
        adjusted = problem.covariates is not None
        least = ADJUSTED_TOL if adjusted else SMOOTHED_TOL
        if problem.bank.device_features is not None and control.tol < least:
            raise ValueError(
                f"tol={control.tol:g} is below {least:g}: a solver of the processor would have to finish the "
                f"{problem.loss.name} loss, and the features are on a device; take tol={least:g} or device='cpu'"
            )
        run.tol = max(run.tol, least)
        found, end = run.run(Descent.iterate), Interior() if adjusted else Coordinate()
        short = found.gap > control.tol and not found.interrupted and found.n_iter < control.max_iter
        found = replace(found, converged=bool(found.gap <= control.tol))
        return go_on(found, end.solve, problem, control) if short and end.refusal(problem) is None else found


class Descent(BlockPasses):
    """One run."""

    def iterate(self):
        with blas_for(self.D, self.bank.n_jobs):
            w, mu, v = np.zeros((self.T, self.D)), 0.0 if self.smooth else FIRST_MU, None
            if self.control.warm is not None and self.a.any():
                v = self._sums(self.a)
                w, mu = self._spread(self.theta) * v, 0.1 * mu
            self._descend(Stage(np.arange(self.n), self.tol), LinearModel(w, self._inside(self.b), self.theta), mu, v=v)

    def _descend(self, level, place, mu, last=None, v=None):
        """(place, μ) at the gap of a level; on all examples `Finished` ends the run. v is that of a warm start."""
        whole = level.held is None
        since, best, turns, begun = 0, np.inf, 0, None if last is None else last[1].f
        while True:
            visit, turns = self._visit(level, place, mu, turns == 0), turns + 1
            if v is not None and turns == 1:
                self.stop_at_warm(self._norms(v), visit.f - self._level(place))
            back = None if last is None else self._between(level, last, place, visit, mu)
            if back is not None:
                place = back
                continue
            final = len(self.history) + 1 >= self.max_iter  # the certificate makes the next record
            if not final:
                self._note(level, place, visit, whole)
            gap, scale = visit.certificate.gap, visit.certificate.scale
            if self.smooth and gap > SLOW_DECREASE * best:
                self.per_feature *= 4  # a sample of the examples knows too little of the curvature
            since, best = (0, gap) if gap < 0.99 * best else (since + 1, best)
            done = final or since >= MAX_IDLE_PASSES or not np.isfinite(gap)
            ready = gap + self._mismatch(place, visit) / scale <= 0.95 * level.enough
            if whole and (done or ready):
                place, visit = self._settle(level, place, visit, mu)
                mu, since = 0.5 * mu, 0
                if done:
                    raise Finished
            elif done or ready or not whole and (turns >= MAX_PARTIAL_PASSES or _moved(visit.f, begun)):
                return place, mu
            last, near = (place, visit), level.rows[visit.near]
            allowed, rest = SMOOTHING_SHARE * level.enough * scale, gap * scale - visit.smoothing
            place = self._model(level, place, visit, 0.1 * scale * level.enough)
            if visit.smoothing > allowed and rest <= 4 * visit.smoothing:  # of the order of μ²
                mu *= max(0.9 * np.sqrt(allowed / visit.smoothing), 0.4)
            if whole and len(near) <= MAX_PARTIAL_SHARE * len(level.rows):
                small = Stage(near, 0.7 * level.enough, visit.far, self.blocks.room(len(near), self.D))
                from_here = last[0], visit._replace(f=visit.f[:, visit.near])
                place, mu = self._descend(small, place, mu, from_here)

    def _note(self, level, place, visit, whole):
        if whole:
            self.a, self.b = visit.a, self._outside(place.b)
        self.theta, self.solves = place.theta, self.solves + 1
        self.record(place.theta, visit.a, visit.certificate, certified=False, n_active=len(level.rows))

    def _inside(self, b):
        """b as (T, k): an array of the shape of `Problem.no_b` may be (T,)."""
        return b.copy() if b.ndim == 2 else np.repeat(b[:, None], self.E.shape[1], axis=1)

    def _outside(self, b):
        """The same in the shape of `Problem.no_b`."""
        return b if self.problem.covariates is not None else b.sum(axis=1)

    def rescue(self):
        """Certifies the last place on all examples after an interrupt, if that has not happened yet."""
        if self.best is None and self.history:
            a = self._feasible(self.a)
            v = self._sums(a)
            self._certify(LinearModel(self._spread(self.theta) * v, self._inside(self.b), self.theta), a, v)

    def _settle(self, level, place, visit, mu):
        """Certifies the a of this visit, with Σa = total, at w = θ v(a), and returns (place, visit) there."""
        a = self._feasible(visit.a)
        v = visit.v + self._sums(a - visit.a)
        place = place._replace(w=self._spread(place.theta) * v)
        there = self._visit(level, place, mu)
        self._certify(place, a, v, there.f - self._level(place))
        return place, there

    def _mismatch(self, place, visit):
        """The predicted rise of the objective from w to θ v; 0 if w is the best for a."""
        move = self._spread(place.theta) * visit.v - place.w
        along = sum(float(d @ curve.multiply(d)) for d, curve in zip(move, visit.curves, strict=True))
        return max(0.5 * along, 0.0)

    def _between(self, level, last, place, visit, mu):
        """The best place on the line from the last one if this one is no better; else None."""
        before, known = last

        def value(t):
            w, b, theta = (u + t * (x - u) for u, x in zip(before, place, strict=True))
            f = known.f + t * (visit.f - known.f)
            sides = zip(self.sides, f, strict=True)
            risk = sum(side.value(level.rows, f_t, mu) for side, f_t in sides)
            risk += 0.0 if level.held is None else self._line(level, LinearModel(w, b, theta))
            return risk + self.problem.loss.total * float(b.sum()) + sum(self._penalty(LinearModel(w, b, theta)))

        start = value(0.0)
        if value(1.0) <= start + 1e-12 * abs(start):
            return None
        low, high = 0.0, 1.0
        for _ in range(12):  # convex along the line
            left, right = low + (high - low) / 3, high - (high - low) / 3
            low, high = (low, right) if value(left) <= value(right) else (left, high)
        t = 0.5 * (low + high)
        if t < 1e-6 or not value(t) < start:
            return None
        return LinearModel(*(u + t * (x - u) for u, x in zip(before, place, strict=True)))

    def _weights_gap(self, theta, q):
        """The part of the gap due to the weights: Ω(θ) + Ω*(½ q) − ½ θᵀq."""
        regularizer = self.problem.regularizer
        t = regularizer.shrink(0.5 * q) ** 2
        return regularizer.value(theta) + regularizer.conjugate(0.5 * t * q) - 0.5 * t * float(theta @ q)

    def _model(self, level, place, visit, tolerance):
        """The minimum over w, b and θ with the loss replaced by its quadratic model."""
        regularizer = self.problem.regularizer
        off = self._off(level, visit.a)
        linear = [
            -v - (b @ curve.gain) @ curve.h - curve.multiply(w)
            for v, w, b, curve in zip(visit.v, place.w, off, visit.curves, strict=True)
        ]  # fmt: skip
        step, theta, before, best = NewtonStep(closed_first=False), place.theta, None, None
        steps, taken = WEIGHT_STEPS[int(visit.certificate.gap < LARGE_GAP)], 0
        for _ in range(max(WEIGHT_STEPS)):
            answer = Answer(self, visit.curves, linear, theta)
            value = answer.value + regularizer.value(theta)
            if before is not None and not step.judge(before - value):
                theta = step.retry()
                continue
            before, best, q, taken = value, (theta, answer), self._norms(answer.v), taken + 1
            if taken == steps or self._weights_gap(theta, q) <= tolerance:
                break
            if taken == 1 and not regularizer.constraint and regularizer.has("weights_from_norms"):
                step.promise, theta = 0.0, regularizer.weights_from_norms(theta * np.sqrt(q))
            else:
                theta = step.aim(LocalModel(-0.5 * q, answer.half_hessian()), theta, regularizer, 0.01 * tolerance)
        theta, answer = best
        b = place.b.copy()
        for t, curve in enumerate(visit.curves):
            b[t] -= curve.gain @ (off[t] + curve.h @ (answer.w[t] - place.w[t]))
        return LinearModel(answer.w, b, theta)


def _moved(f, begun):
    """Whether so many outputs have changed that all examples need a visit."""
    return np.mean(np.abs(f - begun) > MOVABLE_DISTANCE) > MAX_MOVED_SHARE
