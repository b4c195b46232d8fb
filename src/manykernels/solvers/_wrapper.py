"""The loop shared by the solvers that alternate between the predictor and the weights.

Each outer step combines the kernels of the active examples, solves the box QP there, multiplies every active kernel
with `a`, and asks a weight step for new weights. When the gap on the active examples is small enough, a
pass over all examples in float64 follows: either the gap holds there too, or the examples that violate it join. So an
outer step costs a fraction of a pass over the kernels, and a fit costs a few passes. The combined kernel of the active
examples is float32 if `tol` allows it and there are 1,000 examples, until it proves too coarse for the problem.

The gap lies between the best primal value on the active examples and the best bound so far, which may belong to
different points. At p = 1 the bound of one a, max_m q_m, jumps where a is not unique, as with kernels of low rank: J
has a kink there, and only a mean of the a on both sides is near the optimum. If steps do not help, `_cuts` finds it.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy import ndarray

from .._limits import spend
from ..inner import inner_problem
from ._cuts import Cut, cuts_for
from ._run import Run, Stall, is_finite

FIRST_ACTIVE = 400
MAX_ACTIVE_SHARE = 0.7  # of the examples; a larger active set becomes all of them
FIRST_INNER_GAP = 0.1, 0.005  # relative to the gap, for the first inner problems: on some examples, on all
MODEL_GAP = 0.01  # of a weight step, relative to the square of the gap: its model is of second order
SAMPLE_GAP = 1e-2  # gap to which the weights of a random sample of the examples are learned
WRAPPER_UNSOLVED = 8  # unsolved inner problems in a row, without progress, that end the run
IDLE_STEPS_BEFORE_CUTS = 3  # without progress at p = 1: J has kinks where kernels are of low rank
WARM_GAP = 10  # times tol: the assumed gap of a warm start, whose first inner problem may be the last
SPARE_SHARE = 0.25  # active examples beyond those that matter, the nearest ones
MAX_OUTPUTS = 2**26  # of single kernels, computed at a time


@dataclass
class ActiveState:
    """The input of a weight step, on the active examples and kernels."""

    problem: object
    theta: ndarray  # (M',)
    q: ndarray  # (M',) Σ_t a_tᵀ K_m a_t
    a: ndarray  # (T, n')
    support: ndarray  # the examples with a ≠ 0, and those free to move
    products: ndarray  # (T, M', |support|)
    K: ndarray  # (n', n') combined
    inners: list
    tolerance: float  # absolute tolerance of the weight step


class EvaluatedPoint(NamedTuple):
    """A point that was evaluated: its support (sorted), q, and the outputs (T, |known|) that are known well enough.

    Outputs are exact on the support; elsewhere they come from the block, at examples so far from their margin that its
    rounding cannot change the loss.
    """

    theta: ndarray
    a: ndarray
    support: ndarray
    q: ndarray
    known: ndarray
    outputs: ndarray


class Wrapper(Run):
    """Alternates the inner problem and a weight step; see the module.

    `step.propose(state)` gives new weights, `step.judge(decrease)` accepts or rejects the result, and `step.retry()`
    gives other weights after a rejection.
    """

    def __init__(self, problem, step, control):
        super().__init__(problem, control)
        self.step, self.last, self.stalled = step, None, control.stalled or Stall(step.patience)
        self.lead = self.cuts = None  # the point with the best primal value on the active examples
        self.dtype = self.first_dtype
        self.scale, self.nearest = float(problem.c.sum()), None
        if control.warm is not None:  # the effort that a similar problem needed
            self.nearest = control.warm.active
            self.scale = min(self.scale, max(abs(control.warm.primal), 1e-6 * self.scale))
            if control.warm.precision == "float64":
                self.dtype = np.float64

    def solve(self):
        return self.run(Wrapper._iterate)

    def rescue(self):
        if self.last is not None:
            self._certify()

    def finish(self):
        """The best point that was certified on all examples, with the best bound."""
        self.bank, self.index = self.problem.bank, self.kernels
        if self.best is None:
            self.upper = np.inf
        else:
            self.upper, self.scale = self.best.pop("primal"), self.best.pop("scale")
        super().finish()

    def _iterate(self):
        self._activate(self._first_rows())
        before = None  # the primal value at the last accepted step
        sampled = not self.whole and not self.a.any()
        enough = max(self.tol, SAMPLE_GAP) if sampled else self.tol
        gap, visits, self.effort = 1.0, 0, 1e-3 if self.problem.loss.interior else FIRST_INNER_GAP[self.whole]
        if self.problem.bank.even:  # every digit of an inner problem takes some hundred products
            self.effort = FIRST_INNER_GAP[0]
        if self.control.warm is not None:
            gap = WARM_GAP * self.tol
        known = self.problem.regularizer.only(len(self.kernels))
        if known is not None:  # the inner gap is the gap
            self.theta, gap, self.effort = known, self.tol, 0.1
        for _ in range(len(self.history), self.max_iter):
            state, certificate, inner_gap = self._evaluate(gap)
            before_gap, gap = gap, self._compare(certificate)
            double = self.dtype == np.float64
            self.precision = "float64" if double else "float32"
            if gap > 0.5 * before_gap and inner_gap > 0.01 * self.scale * min(gap, 1.0) ** 2:
                self.effort = max(0.1 * self.effort, 1e-9)  # an error ε there moves q, and so the weights, by about √ε
            self.record(
                self.theta, state.a, certificate, gap=gap, certified=False, n_active=len(self.rows), double=double
            )
            self.unsolved = self.unsolved + 1 if inner_gap > 10 * self.target else 0
            if not np.isfinite(gap) or self.stalled(gap) or min(self.unsolved, self.stalled.since) >= WRAPPER_UNSOLVED:
                break
            if gap <= enough:
                visits, enough = visits + 1, self.tol
                before = None  # the gap stays small, so the next inner problem is solved well
                if visits == 1 and sampled and self._nearly_all_matter(state):
                    self._activate(np.arange(self.n))
                    continue
                gap, outputs, b = self._certify()
                if gap <= self.tol:
                    return
                if not self.whole:
                    self._grow(outputs, b, visits)
                    continue
                self.dtype, self.lead, self.upper = np.float64, None, np.inf  # float32 was too coarse
            if known is not None:
                continue
            if before is None or self.step.judge(before - certificate.primal + inner_gap):
                before = certificate.primal
                self.theta = self.step.propose(state)
                self.a[:, self.rows] = state.a
            else:
                self.theta = self.step.retry()
        self._certify()

    def _first_rows(self):
        """The support of a warm start and the examples next to it; without one an even spread over each class.

        All examples where the set is small.
        """
        n = self.n
        if not self._may_leave_out():
            return np.arange(n)
        used = (self.a != 0).any(axis=0)
        if used.any():
            others = slice(None, None, max(1, n // FIRST_ACTIVE)) if self.nearest is None else self.nearest
            used[others] = True
            return np.flatnonzero(used)
        keep = np.zeros(n, bool)
        share = max(FIRST_ACTIVE, n // 4)
        rng = np.random.default_rng(0)
        for y, c in zip(self.problem.Y, self.problem.c, strict=True):
            groups = [y > 0, y <= 0] if self.problem.loss.targets == "binary" else [np.ones(n, bool)]
            for group in groups:
                index = np.flatnonzero(group & (c > 0))
                keep[rng.permutation(index)[: max(20, share * len(index) // n)]] = True
        return np.flatnonzero(keep)

    def _may_leave_out(self):
        """Whether the active set may be smaller than all examples."""
        loss = self.problem.loss
        return not (self.n <= 3 * FIRST_ACTIVE or loss.total or loss.interior or self.problem.bank.even)

    def _activate(self, rows):
        self.rows, self.lead, self.upper = rows, None, np.inf
        self.inners = [
            inner_problem(self.problem, y[rows], c[rows], rows)
            for y, c in zip(self.problem.Y, self.problem.c, strict=True)
        ]
        if self.problem.bank.even and len(self.inners) == len(self.kernels) == 1:
            self.inners[0].tell = self._within
        self.bank, self.whole = self.problem.bank, len(rows) == self.n
        self.local, self.picked = rows, self.kernels
        if not self.whole or self.n <= 3 * FIRST_ACTIVE or len(self.kernels) < self.bank.M:
            small = self.problem.bank.restrict(rows, self.kernels)
            if small is not None:
                self.bank, self.local, self.picked = small, np.arange(len(rows)), np.arange(len(self.kernels))
        self.cols = None if self.whole else self.local

    def _within(self, a, outputs, b, _):
        """Records a step of the inner problem, which is the whole problem where one kernel is even: see `_activate`."""
        problem, rows = self.problem, self.rows
        self.a[:, rows], self.b = a, np.array([b])
        q = np.array([a @ outputs]) / self.theta
        losses = problem.losses(outputs[None], self.b, rows)
        certificate = problem.certificate(losses, a[None], self.b, self.theta, q, rows)
        self.record(self.theta, self.a, certificate, certified=False, n_active=len(rows))

    def _full(self, theta):
        weights = np.zeros(self.bank.M)
        weights[self.picked] = theta
        return weights

    def _evaluate(self, gap):
        """Solves the inner problem at θ on the active rows: (state, certificate there, inner gap)."""
        problem, rows = self.problem, self.rows
        spend(800.0 + 2e-3 * len(self.kernels) * len(rows) ** 2)
        K = self.bank.matrix(self._full(self.theta), self.cols, self.dtype, problem.intercept)
        a, b, inner_gap = self.a[:, rows], self.b, 0.0
        alone = self.problem.bank.even and len(self.kernels) == 1  # no step on the weights follows
        self.target = target = self.scale * self.effort * max(0.0 if alone else min(gap, 0.1), 3 * self.tol)
        for t, inner in enumerate(self.inners):
            a[t], _, b[t], part = inner.solve(K, a[t], target / len(self.inners))
            inner_gap += part
        self.a[:, rows], self.solves = a, self.solves + 1
        moving = np.array([inner.free(a_t) for inner, a_t in zip(self.inners, a, strict=True)])
        support = ((a != 0) | moving).any(axis=0).nonzero()[0]
        at = self.local[support]
        P = self.bank.products(a[:, support], at, at, self.picked)
        q = np.einsum("tmi,ti->m", P, a[:, support])
        exact = np.einsum("m,tmi->ti", self.theta, P)
        outputs = np.array([inner.outputs(K, a_t) for inner, a_t in zip(self.inners, a, strict=True)])
        error = exact - outputs[:, support]
        if problem.loss.total:  # K is known up to a constant, which matters if Σa is not 0
            outputs += error.mean(axis=1, keepdims=True)
            error -= error.mean(axis=1, keepdims=True)
        outputs[:, support] = exact
        noise = float((problem.c[:, rows[support]] * np.abs(error)).sum())
        if problem.covariates is None:  # else b of the inner problem, since another costs as much as a step there
            b = np.array([inner.best_b(f) for inner, f in zip(self.inners, outputs, strict=True)])
        everywhere = np.zeros_like(self.a)
        everywhere[:, rows] = a
        margin = 10 * np.abs(error).max(initial=0.0) + 1e-6
        parts = zip(self.inners, a, outputs, b, strict=True)
        known = np.all([inner.slack(*part) > margin for inner, *part in parts], axis=0)
        known[support] = True
        self.b = b
        self.last = EvaluatedPoint(self.theta, everywhere, rows[support], q, rows[known], outputs[:, known])
        certificate = problem.certificate(problem.losses(outputs, b, rows), a, b, self.theta, q, rows)
        if noise > 0.3 * certificate.scale * max(self.tol, certificate.gap) or inner_gap > 3 * target:
            self.dtype = np.float64  # float32 is too coarse for this problem
        model_gap = max(0.1 * self.tol, MODEL_GAP * min(certificate.gap, 1.0) ** 2)
        state = ActiveState(problem, self.theta, q, a, support, P, K, self.inners, model_gap * certificate.scale)
        return state, certificate, inner_gap

    def _compare(self, certificate):
        """The gap between the best primal value on the active examples and the best bound, this point's included."""
        if not np.isfinite(certificate.gap):
            return certificate.gap
        if certificate.primal < self.upper:
            self.upper, self.scale, self.lead = certificate.primal, certificate.scale, self.last
        self.raise_lower(certificate.dual, self.last.a, self.b)
        regularizer = self.problem.regularizer
        if self.step.cuts and regularizer.simplex and self.stalled.since >= IDLE_STEPS_BEFORE_CUTS:
            self.cuts = self.cuts or cuts_for(regularizer)
        if self.cuts is not None:
            constant = -float(np.sum(self.problem.conjugates(self.last.a)))
            self.cuts.add(Cut(self.last.a, self.last.q, certificate.primal, constant))
            self.raise_lower(self.cuts.minimum(0.0)[1], self.cuts.dual_point())
        rounded = np.isnan(self.gap) and self.dtype == np.float32  # a rounding error above the gap
        return 0.0 if rounded else self.gap

    def _certify(self):
        """(gap, outputs, b) of the best point on the active examples, on all of them and in float64; keeps the best."""
        problem = self.problem
        theta, a, support, q, known, known_outputs = self.lead or self.last
        self.theta, self.a = theta, a.copy()
        weights = self.full(theta)
        rest = np.delete(np.arange(self.n), known)
        outputs = np.empty((problem.n_outputs, self.n))
        outputs[:, known] = known_outputs
        step = max(1, MAX_OUTPUTS // (problem.n_outputs * max(np.count_nonzero(theta), 1)))
        for i in range(0, len(rest), step):
            part = rest[i : i + step]
            outputs[:, part] = problem.bank.outputs(weights, self.a[:, support], support, part)
        b = self.intercepts(outputs)
        primal, dual, _, scale = problem.certificate(problem.losses(outputs, b), self.a, b, theta, q)
        self.raise_lower(dual, self.a.copy(), b)
        least = np.inf if self.best is None else self.best["primal"]
        if primal < least and is_finite(theta, self.a, b, primal):
            self.best = {"theta": theta, "a": self.a.copy(), "b": b, "primal": primal, "scale": scale, "norms": q}
            if self._may_leave_out():
                self.best["active"] = self._nearest(outputs, b)
        self.upper, self.scale = primal, scale
        self.history[-1].update(primal=primal, dual=self.lower, gap=self.gap, certified=True)
        return self.gap, outputs, b

    def _nearly_all_matter(self, state):
        return (1 + SPARE_SHARE) * np.count_nonzero(state.a.any(axis=0)) > MAX_ACTIVE_SHARE * len(self.rows)

    def _grow(self, outputs, b, visits):
        """Makes the examples that matter at these outputs the active set; from the third time on none leaves it."""
        keep = self._nearest(outputs, b)
        self._activate(np.union1d(keep, self.rows) if visits > 2 else keep)

    def _nearest(self, outputs, b):
        """The examples that matter at these outputs and the nearest others, sorted; all of them if they are many."""
        problem = self.problem
        slack = np.min([
            inner_problem(problem, y, c).slack(a, f, b_t)
            for y, c, a, f, b_t in zip(problem.Y, problem.c, self.a, outputs, b, strict=True)
        ], axis=0)  # fmt: skip
        needed = max(int((1 + SPARE_SHARE) * np.count_nonzero(slack <= 0)), FIRST_ACTIVE)
        few = needed < MAX_ACTIVE_SHARE * self.n
        return np.sort(np.argsort(slack, kind="stable")[:needed]) if few else np.arange(self.n)
