"""Interleaved optimisation: Algorithm 2 of Sonnenburg et al. (2006) and Algorithm 2 of Kloft et al. (2011).

    min over θ of J(θ) + Ω(θ) ,   J(θ) = max over a of − Σ c V*(y, −a / c) − ½ Σ_m θ_m aᵀK_m a

The outputs g_m = K_m a of every kernel are kept for all examples. Each step chooses Q variables that violate the
optimality of the SVM at θ the most, solves its QP in them, adds their rows to every g_m, and then takes a weight
step, long before the SVM is solved. On the simplex it uses cuts, as in the semi-infinite linear program (any feasible a
gives one); elsewhere it uses the closed form `weights_from_norms`.

Departs from the papers:
the run stops on the duality gap, at outputs computed again, not on the change of the objective;
Q is not fixed: the free variables and those that violate form the working set, up to `size` if that is given;
the linear program alone makes the weights oscillate, so it gives only the lower bound, and the last weights are
projected on a level set of the cuts, as in `level`;
the closed form is accelerated, unless accelerate=False, see `_ClosedForm`.
With explicit features adding rows is linadd: Algorithms 3 and 4 of Sonnenburg et al. (2006), the look-ups shared
among threads.
"""

from contextlib import suppress
from functools import partial

import numpy as np

from ..._limits import spend
from ..._parts import declared
from ...inner import InnerProblem
from ...problem import Problem
from ...solution import Solution
from .._cuts import Cut, cuts_for
from .._run import Finished, Run
from ..base import BaseSolver, Control
from ._kernel_rows import rows_of

FIRST_WORKING = 400  # variables of a working set, at least
AHEAD_SHARE = 0.75  # of the way to the norms at the new weights
MIXED_STEPS = 4
MAX_IDLE_STEPS = 10  # without gain, before the blocks become float64


@declared
class Chunking(BaseSolver):
    """Working sets of the inner problem and weight steps, interleaved.

    Parameters
    ----------
    size : int, optional
        The largest working set; None for as many variables as the inner problem needs.
    accelerate : bool, default True
        Whether the closed form is accelerated; False is the method of the paper.

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels import MKLClassifier
    >>> from manykernels.kernels import RBF
    >>> from manykernels.solvers import Chunking
    >>> X = np.random.default_rng(0).normal(size=(60, 4))
    >>> y, widths = X[:, 0] + X[:, 1] ** 2 > 1, [RBF(gamma=g) for g in (0.01, 0.1, 0.5, 1.0)]
    >>> models = [MKLClassifier(widths, C=1.0, solver=Chunking(size=size)).fit(X, y) for size in (4, None)]
    >>> support = [[step["n_support"] for step in model.history_] for model in models]
    >>> bool(max(np.diff(support[0])) <= 4 < max(np.diff(support[1])))  # examples that join in one step
    True
    """

    file_tag = ("solver/chunking", 1)
    name = "chunking"
    needs = ("value", "conjugate", "weights_from_norms", "start")

    size: int | None = None
    accelerate: bool = True

    def refuse(self, problem: Problem) -> str | None:
        if problem.loss.interior:
            return f"its small problems are quadratic, and the conjugate of the {problem.loss.name} loss is not"
        return None

    def solve(self, problem: Problem, control: Control) -> Solution:
        size = self.size
        if size is not None and not (isinstance(size, (int, np.integer)) and size >= 2):
            raise ValueError(
                f"size must be None or an integer of at least 2, the variables of a working set; got {size!r}"
            )
        run = Interleaved(problem, control, size)
        weight_step = _CutStep(run) if problem.regularizer.simplex else _ClosedForm(run, self.accelerate)
        return run.run(lambda run: run.iterate(weight_step))


class Interleaved(Run):
    """The current a (T, n) with g (T, M', n) = K_m a, improved by working sets between weight steps."""

    def __init__(self, problem, control, size):
        super().__init__(problem, control)
        loss, self.size, self.scale = problem.loss, size, float(problem.c.sum())
        self.dtype = self.first_dtype
        self.boxes = [
            (*loss.quadratic(y, c, np.zeros_like(y)), *loss.box(y, c))
            for y, c in zip(problem.Y, problem.c, strict=True)
        ]
        self.rows, self.g, self.fresh, self.certified_fresh = None, None, False, False

    def iterate(self, weight_step):
        regularizer = self.problem.regularizer
        self.rows = rows_of(self.problem.bank, self.kernels)
        self.g = np.zeros((len(self.a), len(self.kernels), self.n))
        self._refresh()
        start = regularizer.start(len(self.theta))
        if not regularizer.simplex and not self.theta.all():  # the closed form cannot revive a weight of 0
            self.theta = 0.999 * self.theta + 0.001 * start
        certificate, least, idle = self.confirmed(self._check), np.inf, 0
        while True:
            self.b = self.intercepts(np.einsum("m,tmi->ti", self.theta, self.g))
            for t in range(len(self.a)):
                self.improve(t, certificate.gap)
            certificate = self.confirmed(self._check)
            least, idle = (certificate.gap, 0) if certificate.gap < 0.9 * least else (least, idle + 1)
            self.confirmed(partial(weight_step, certificate, np.einsum("tmi,ti->m", self.g, self.a)))
            if idle >= MAX_IDLE_STEPS:  # float32 may be too coarse for this problem, or a weight has been lost
                self.dtype, idle = np.float64, 0
                self.theta = self.theta if regularizer.simplex else 0.999 * self.theta + 0.001 * start

    def _check(self):
        self.certified_fresh = self.fresh
        return self.certify(self.theta, self.a.copy(), self.g, certified=self.fresh)  # the best_dual is kept

    def confirmed(self, step):
        """The result of step(); if it would end the run, the best point is certified again with new outputs."""
        try:
            return step()
        except Finished:
            if self.gap > self.tol or self.certified_fresh:
                raise
        spend(1000.0 + 2000.0 * len(self.kernels))  # two new computations of the outputs
        self.theta, self.a = self.best["theta"].copy(), self.best["a"].copy()
        self._refresh()
        self.upper, best_dual = np.inf, self.best_dual
        if callable(best_dual):  # the cuts prove the lower bound
            return self._check()
        self.lower = -np.inf
        certificate = self._check()
        self.certify(self.theta, best_dual)
        return certificate

    def _refresh(self):
        """Computes g again, so that the rounding of many updates cannot fake a gap."""
        if self.rows.exact and self.rows.bank is self.problem.bank:
            self.g[:] = 0.0
            for g, a in zip(self.g, self.a, strict=True):
                self.rows.add(g, np.flatnonzero(a), a[a != 0])
        else:
            self.g = self.products(self.a)
        self.fresh = True

    def finish(self):
        """Certifies the best point again, unless `confirmed` has: its outputs are sums over many steps."""
        self.carried = not self.gap <= self.tol
        super().finish()

    def rescue(self):
        """The point reached, certified, after an interrupt."""
        if self.g is not None:
            self._refresh()
            with suppress(Finished):
                self._check()

    def improve(self, t, gap):
        """Solves the inner problem of output t at θ in a working set, and updates g."""
        linear, diagonal, kink, lo, hi = self.boxes[t]
        a = self.a[t]
        gradient = self.theta @ self.g[t] + linear + diagonal * a
        rise = np.where(a < hi, -gradient - np.where(a >= 0, kink, -kink), -np.inf)
        fall = np.where(a > lo, gradient + np.where(a > 0, kink, -kink), -np.inf)
        if self.problem.intercept:  # at a = 0 the best b belongs to one class: start in the middle
            b = self.b[t] if a.any() else 0.5 * float(rise.max() - fall.max())
            rise, fall = rise - b, fall + b
        violation = float(max(rise.max(), fall.max()))
        eps = 0.1 * min(violation, gap * self.scale / max(float(self.problem.c.sum()), 1e-300))
        if not eps > 0:
            return
        spend(500.0 + 600.0 * len(self.kernels))  # rows of kernels may be computed again
        free = (a > lo) & (a < hi) & ((a != 0) | (kink == 0))
        working = self._choose(rise, fall, free, eps)
        if len(working) < 2 and self.problem.intercept:
            return
        K = self.rows.block(self.theta, working, self.dtype, self.problem.intercept)
        block = _Block(K, a[working], gradient[working], *(part[working] for part in self.boxes[t][1:]),
                       self.problem.intercept)  # fmt: skip
        moved = block.solve(eps)
        change = moved - a[working]
        index = np.flatnonzero(change)
        self.fresh = False
        self.a[t, working] = moved
        self.rows.add(self.g[t], working[index], change[index])

    def _choose(self, rise, fall, free, eps):
        """The working set, sorted: the free variables and those that violate, half of them up and half down."""
        n = self.n
        most = self.size or max(FIRST_WORKING, self.rows.slots is None and n // 4, int(1.25 * np.count_nonzero(free)))
        if self.rows.slots is not None:  # rows that do not fit would be computed again in every step
            most = min(most, max(2, self.rows.slots))
        both = np.maximum(rise, fall)
        if most >= n or np.count_nonzero(free | (both > eps)) <= most:
            chosen = free | (both > eps)
        else:
            chosen = np.zeros(n, bool)
            for side in (rise, fall) if self.problem.intercept else (both,):
                share = most // 2 if self.problem.intercept else most
                top = np.argpartition(-side, share)[:share] if share < n else np.arange(n)
                chosen[top[side[top] > 0]] = True
        if self.problem.intercept:  # Σ a is fixed: one to rise and one to fall
            chosen[[np.argmax(rise), np.argmax(fall)]] = True
        return np.flatnonzero(chosen)


class _Block(InnerProblem):
    """The QP in the working set, the other variables held: their outputs are part of `linear`."""

    def __init__(self, K, a, gradient, diagonal, kink, lo, hi, intercept):
        self.K, self.a, self.gradient, self.intercept = K, a, gradient, intercept
        self.diagonal, self.kink, self.lo, self.hi = diagonal, kink, lo, hi
        self.linear = gradient - K @ a - diagonal * a

    def objective(self, a, outputs):
        return float(a @ (0.5 * outputs + self.linear + 0.5 * self.diagonal * a) + self.kink @ np.abs(a))

    def solve(self, eps, rounds=6):
        """`a` with no violation above eps: coordinate steps, then Newton steps if they are slow."""
        from ...loops.box_qp import pair_steps, single_steps

        steps = pair_steps if self.intercept else single_steps
        K, a, gradient, last = self.K, self.a, self.gradient, np.inf
        if np.isinf(self.lo).any() and np.isinf(self.hi).any():
            a = self._active_set(K, a, gradient)
            gradient = self._gradient(K, a)
        for _ in range(rounds):
            count = max(200, len(a))
            spend(100.0 + 2e-3 * count * len(a))
            _, violation, _ = steps(K, a, gradient, self.diagonal, self.kink, self.lo, self.hi, eps, count)
            if violation <= eps:
                break
            if violation > 0.3 * last:
                a = self._active_set(K, a, gradient)
                gradient = self._gradient(K, a)
            last = violation
        return a


class _ClosedForm:
    """The weights that are best for the norms ‖f_m‖ = θ_m √q_m; (19), (24) of Kloft et al.

    The acceleration moves the norms a share AHEAD_SHARE of the way to those of a at the new weights, and mixes the last
    few steps (Anderson 1965). Both act on the logarithms of the norms, where every point is feasible. The fixed points
    are the same, reached in a fifth of the steps at p near 1.
    """

    def __init__(self, run, accelerate):
        self.run, self.accelerate, self.gap = run, accelerate, np.inf
        self.points, self.moves, self.last = [], [], None

    def __call__(self, certificate, q):
        theta, regularizer = self.run.theta, self.run.problem.regularizer
        root = np.sqrt(np.maximum(q, 0.0))
        new = regularizer.weights_from_norms(theta * root)
        if not self.accelerate:
            self.run.theta = new
            return
        with np.errstate(divide="ignore", invalid="ignore"):
            target = np.log(theta * root) + AHEAD_SHARE * (np.log(new) - np.log(theta))
        mixed = self._mix(target, np.sqrt(theta) * root, certificate.gap)
        self.gap, self.last = certificate.gap, mixed
        self.run.theta = regularizer.weights_from_norms(np.exp(mixed))

    def _mix(self, target, importance, gap):
        """x + F − Σ_k γ_k (ΔX_k + ΔF_k), γ least squares for F = Σ_k γ_k ΔF_k; `target` is x + F, the last mix x."""
        alive = np.isfinite(target)
        if self.last is None or gap > min(0.1, 2 * self.gap) or not np.isfinite(self.last[alive]).all():
            self.points, self.moves = [], []
            return target
        move = np.where(alive, target, 0.0) - np.where(alive, self.last, 0.0)
        self.points = [*self.points, np.where(alive, self.last, 0.0)][-MIXED_STEPS:]
        self.moves = [*self.moves, move][-MIXED_STEPS:]
        if len(self.moves) < 2:
            return target
        X, F = np.diff(self.points, axis=0), np.diff(self.moves, axis=0)
        share = np.linalg.lstsq((F * importance).T, move * importance, rcond=1e-8)[0]
        return target - np.clip(share @ (X + F), -3.0, 3.0)


class _CutStep:
    """The projection of the weights on a level set of the cuts, whose minimum is a linear program."""

    def __init__(self, run):
        self.run, self.cuts = run, cuts_for(run.problem.regularizer)

    def __call__(self, certificate, q):
        run = self.run
        constant = -float(np.sum(run.problem.conjugates(run.a)))
        value = constant - 0.5 * float(run.theta @ q)
        if value < 0.5 * (certificate.primal + run.lower):  # the cut is too weak here: continue the inner problem
            return
        self.cuts.add(Cut(run.a.copy(), q, certificate.primal, constant))
        tolerance = 0.05 * run.scale * max(run.gap, run.tol)
        run.bound(self.cuts.minimum(tolerance)[1], self.cuts.dual_point())
        run.theta = self.cuts.project(run.theta, 0.5 * (run.lower + run.upper), tolerance, max_steps=100)
