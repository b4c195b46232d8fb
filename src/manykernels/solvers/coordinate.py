"""Interleaved dual coordinate passes: the default for kernels with explicit features.

    max over a, Σa = total :  − Σ c V*(y, −a / c) − Ω*(½ ‖v_m‖²)_m ,   v_m = Σ_i a_i φ_m(x_i)

A pass visits the active examples in random order, a block at a time: it computes their outputs from v, solves the small
problem in their a, and adds the change to v (threads share the look-up and the update, as in Algorithms 3 and 4 of
Sonnenburg et al. 2006). v is unscaled, so that the weights may change at any moment at no cost: in closed form during
the first passes, then after each pass by cuts of J (see `_cuts`).
The intercept is the multiplier of Σa = total (an augmented Lagrangian), not a penalised constant feature. Examples far
from their margin rest. Before every certificate a is moved onto Σa = total within its box and v is summed again.
With few examples `newton` continues from the best point when passes no longer help: at weights near 0 the closed form
is slow if Ω* is an indicator.

A checkpoint is offered after every turn and within long passes, right after v was summed again: v is then a function of
a, and a run that continues from there makes the same steps to the last bit.
"""

import time
from contextlib import contextmanager
from numbers import Integral
from typing import Any

import numpy as np
from scipy.sparse import issparse

from .._limits import spend
from .._parts import declared
from ..inner import InnerProblem
from ..problem import Problem
from ..solution import Solution
from ._cuts import Cut, cuts_for
from ._run import Run, Stall
from ._warm import go_on, onto_total
from ._wrapper import SPARE_SHARE
from .base import BaseSolver, Control, seed_of
from .newton import Newton

CLOSED_FORM_PASSES = 4  # first passes, with weights in closed form
BLOCKS_PER_WEIGHT_STEP = 8
MAX_NEWTON_EXAMPLES = 1000  # with more examples Newton steps do not finish a run
NEWTON_GAP = 0.1  # at p = 1 Newton steps follow from there if few examples matter, since cuts need many passes
IDLE_BEFORE_NEWTON = 20  # certificates without progress before Newton steps finish it
REST_DISTANCE = 0.3  # in outputs: an example further from its margin rests
QUICK_NEWTON = 3000  # examples up to which `newton` is quicker than passes over words: it builds their kernel matrix
USUAL_PASSES = 10, 100  # for each digit of the gap: with few features, and more with as many as examples
STATE_NAMES = (
    "theta", "turn", "at", "place", "added", "upper", "lower", "dual_b", "scale", "best", "history", "solves"
)  # fmt: skip
VISITS_PER_SUM = 2**21  # visits after which v is summed again, so that a checkpoint can follow


@declared
class Coordinate(BaseSolver):
    """Dual coordinate passes over explicit features, with the weights interleaved.

    Parameters
    ----------
    size : int, default 128
        The number of examples in a visit, at least 2.
    random_state : int, None or NumPy generator
        For the order of the examples; None for the one of the estimator or of `solve`.

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels import MKLClassifier
    >>> from manykernels.kernels import RBF, rank_one_kernels
    >>> from manykernels.solvers import Coordinate
    >>> X = np.random.default_rng(0).normal(size=(60, 4))
    >>> model = MKLClassifier(rank_one_kernels(X), solver=Coordinate(size=16)).fit(X, X[:, 0] > 0)
    >>> model.kernel_names_[model.kernel_weights_.argmax()], bool(model.duality_gap_ <= model.tol)
    ('linear[0]', True)
    >>> MKLClassifier(RBF(gamma=0.1), solver=Coordinate()).fit(X, X[:, 0] > 0)
    Traceback (most recent call last):
    ValueError: solver 'coordinate' cannot take this problem: it needs kernels with explicit features, ...
    """

    file_tag = ("solver/coordinate", 1)
    name = "coordinate"
    needs = ("value", "conjugate", "weights_from_norms", "start")
    explicit = True

    size: int = 128
    random_state: Any = None

    def refuse(self, problem: Problem) -> str | None:
        if problem.loss.interior:
            return f"its small problems are quadratic, and the conjugate of the {problem.loss.name} loss is not"
        if not problem.bank.explicit:
            return "it needs kernels with explicit features, such as strings.degree_kernels(20)"
        return None

    def expected_work(self, problem: Problem, tol: float) -> float:
        held = problem.bank.numeric()
        if problem.bank.even:  # a visit costs as much as a pass
            return np.inf
        if held is None:  # features that only passes over the examples can use
            built = problem.loss.targets == "binary" and not problem.loss.interior and problem.bank.n <= QUICK_NEWTON
            return np.inf if built else 0.0
        F, n, M = held[0], problem.bank.n, problem.bank.M
        entries = F.nnz if issparse(F) else F.size
        cuts = 20.0 * M * M if problem.regularizer.simplex or issparse(F) else 0.0  # linear programs grow with M
        passes = USUAL_PASSES[0] + USUAL_PASSES[1] * min(F.shape[1] / n, 1.0)
        return passes * -np.log10(min(tol, 0.1)) * (5.0 * n + 2e-3 * entries) + cuts

    def solve(self, problem: Problem, control: Control) -> Solution:
        seed = seed_of(control.random_state if self.random_state is None else self.random_state)
        if not (isinstance(self.size, Integral) and self.size >= 2):
            raise ValueError(f"size must be an integer >= 2, got {self.size!r}")
        end, few = Newton(), problem.bank.n <= MAX_NEWTON_EXAMPLES
        quick = problem.bank.by_words and not problem.regularizer.smooth
        if control.kept or end.refusal(problem) is not None or not (few or quick):
            return Passes(problem, control, self.size, seed).run(Passes.iterate)
        saved = 0.5 * control.work if few else 0.0
        control.work = saved if few else control.work
        run = Passes(problem, control, self.size, seed)
        if few:
            run.stalled = Stall(IDLE_BEFORE_NEWTON)
        else:
            run.most = problem.bank.built
        found = run.run(Passes.iterate)
        control.work += saved
        if found.converged or found.interrupted or found.n_iter >= control.max_iter or not (few or run.handed_over):
            return found
        last = go_on(found, end.solve, problem, control)
        if few or last.converged or last.interrupted:
            return last
        return go_on(last, lambda *given: Passes(*given, self.size, seed).run(Passes.iterate), problem, control)


class Passes(Run):
    """One run; each of its `sides` belongs to one output.

    With `most`, it ends at a gap of NEWTON_GAP if so few examples matter, and `handed_over` says so: `newton` goes on.
    """

    most: int | None = None
    handed_over = False

    def __init__(self, problem, control, size, seed):
        super().__init__(problem, control)
        self.size, self.rng = size, np.random.default_rng(seed)
        self.scale = float(problem.c.sum())
        smooth, simplex = problem.regularizer.smooth, problem.regularizer.simplex
        self.cuts = cuts_for(problem.regularizer) if smooth or simplex else None
        self.closed = not simplex
        self.turn = self.at = self.place = 0  # the present pass, its side, and its position there
        self.added = []  # (q, value, constant, tolerance) of each cut

    def iterate(self):
        sides = self._resume()
        parts = zip(self.problem.Y, self.problem.c, self.a, self.b, sides, strict=True)
        self.sides = [VisitedOutput(self.problem, *part) for part in parts]
        while True:
            spend(len(self.sides) * (1000.0 + 300.0 * self.bank.M))
            closed = self.closed and (self.turn < CLOSED_FORM_PASSES or self.cuts is None)
            for side in self.sides[self.at :]:
                self._pass(side, closed)
                side.settle()
                self.at, self.place = self.at + 1, 0
            if self.turn % 4 == 0 or self._estimate() <= 1.2 * self.tol:
                self._certify()
                self.handed_over = self._few_matter()
                if self.handed_over:
                    return
            if self.cuts is not None:
                self._cut(self.turn >= CLOSED_FORM_PASSES or not self.closed)
            for side in self.sides:
                side.rest()
            self.turn, self.at = self.turn + 1, 0
            self._offer(self.rng.bit_generator.state)

    def keep(self, *_):
        """Keeps nothing: a run cannot continue from within a turn."""

    leave = keep

    def _offer(self, draw):
        self.control.offer(lambda: self._state(draw))

    def _state(self, draw):
        """All that `_resume` needs; `draw` is the state of the generator before the order of the present pass."""
        return {
            "a": np.array([side.a for side in self.sides]), "b": [side.b for side in self.sides],
            "sides": [side.state() for side in self.sides],
            "points": [] if self.cuts is None else self.cuts.points,
            "best_dual": self.best_dual() if callable(self.best_dual) else self.best_dual,
            "time": time.perf_counter() - self.started, "gap": self.gap, "draw": draw,
            **{name: vars(self)[name] for name in STATE_NAMES},
        }  # fmt: skip

    def _resume(self):
        """Restores the state of a checkpoint; returns the states of the sides, None without a checkpoint."""
        state, self.control.state = self.control.state, None  # free its memory early
        if state is None:
            return [None] * len(self.a)
        for name in (*STATE_NAMES, "a", "b", "best_dual"):
            setattr(self, name, state[name])
        self.started = time.perf_counter() - state["time"]
        self.rng.bit_generator.state = state["draw"]
        for a, (q, value, constant, tolerance) in zip(state["points"], self.added, strict=True):
            self.cuts.add(Cut(a, q, value, constant))
            self.cuts.minimum(tolerance)
        return state["sides"]

    @property
    def q(self):
        return np.maximum(np.sum([side.vectors.q for side in self.sides], axis=0)[self.kernels], 0.0)

    def _pass(self, side, closed):
        if len(side.a) <= self.size and len(side.everyone) == len(side.a):
            side.solve(self.full(self.theta), 0.1 * self.scale * max(min(self.gap, 0.1), self.tol) / len(self.sides))
            return self._follow(closed)
        draw, often = self.rng.bit_generator.state, max(1, VISITS_PER_SUM // self.size) * self.size
        order, precision = self.rng.permutation(side.active), 0.1 * self.tol * self.scale / float(self.problem.c.sum())
        while self.place < len(order):
            stop = min(self.place + often, len(order))
            with side.visiting(self.size, precision) as visit:
                for start in range(self.place, stop, BLOCKS_PER_WEIGHT_STEP * self.size):
                    visit(order[start : min(start + BLOCKS_PER_WEIGHT_STEP * self.size, stop)], self.full(self.theta))
                    self._follow(closed)
                    self.control.visited(start, len(order))
            self.place = stop
            if stop < len(order):
                side.renew()
                self._offer(draw)

    def _follow(self, closed):
        """Sets the weights in closed form."""
        norms = self.theta * np.sqrt(self.q) if closed else np.zeros(1)
        if norms.any():
            self.theta = self.problem.regularizer.weights_from_norms(norms)

    def _estimate(self):
        """Estimates the gap with the outputs of the last visits and no loss of resting examples."""
        problem = self.problem
        a, b = np.array([side.a for side in self.sides]), np.array([side.b for side in self.sides])
        risk = np.array([side.risk() for side in self.sides])
        return problem.certificate(risk, a, b, self.theta, self.q).gap

    def _certify(self):
        """Certifies on all examples, and activates those that matter."""
        outputs = np.array([side.look_up(self.full(self.theta)) for side in self.sides])
        a = np.array([side.a for side in self.sides])
        active = int(max(len(side.active) for side in self.sides))
        b = self.intercepts(outputs)
        self.certify(self.theta, a, q=self.q, outputs=outputs, b=b, n_active=active)
        for side, best in zip(self.sides, b, strict=True):
            side.b, side.active = best, side.everyone

    def _few_matter(self):
        """Whether Newton steps on the examples that matter, and some more, are quicker than passes."""
        if self.most is None or not self.gap <= NEWTON_GAP:
            return False
        slack = [side.inner.slack(side.a, side.outputs, side.b) for side in self.sides]
        return (1 + SPARE_SHARE) * np.count_nonzero(np.min(slack, axis=0) <= 0) <= self.most

    def _cut(self, step):
        """Adds the cut at the present a; with `step` it moves the weights to a level set or minimum of the cuts."""
        a, regularizer = np.array([side.a for side in self.sides]), self.problem.regularizer
        value = self.upper - regularizer.value(self.theta)
        constant = -float(np.sum(self.problem.conjugates(a)))
        tolerance = 0.05 * self.scale * max(self.gap, self.tol)
        self.added.append((self.q, value, constant, tolerance))
        self.cuts.add(Cut(a, self.q, value, constant))
        theta, lower = self.cuts.minimum(tolerance)
        self.bound(lower, self.cuts.dual_point())
        if step and regularizer.simplex:
            self.theta = self.cuts.project(self.theta, self.lower + 0.5 * (self.upper - self.lower), tolerance)
        elif step and regularizer.has("derivatives"):  # as large a step as the cuts allow
            self.theta = 0.5 * (self.best["theta"] + theta)
        elif step:
            self.theta = theta


class VisitedOutput:
    """One output: its inner problem, a, v, b, and the examples that are visited."""

    def __init__(self, problem, y, c, a, b, state):
        self.inner = InnerProblem(problem.loss, y, c, problem.intercept)
        self.bank, self.a, self.b = problem.bank, np.array(a), float(b)
        self.vectors = self.bank.vectors()
        support = np.flatnonzero(self.a)
        self.vectors.add(support, np.zeros(len(support)), self.a[support])
        self.outputs = np.zeros(len(y))  # of the last visit, without b
        self.everyone = self.active = np.flatnonzero(c > 0)
        self.excess = float(self.a.sum()) - problem.loss.total
        self.turn = 0
        if state is not None:
            self.outputs, self.active = state["outputs"], np.flatnonzero(state["active"])
            self.excess, self.turn = state["excess"], state["turn"]

    def state(self):
        """The state that a and b do not determine."""
        active = np.zeros(len(self.a), bool)
        active[self.active] = True
        return {"outputs": self.outputs, "active": active, "excess": self.excess, "turn": self.turn}

    @contextmanager
    def visiting(self, size, precision):
        """A function of (rows, theta) that visits these examples, `size` at a time."""
        team = self.vectors.team(self.inner, self.a, self.outputs, size, BLOCKS_PER_WEIGHT_STEP * size, precision)
        if team is None:
            yield lambda rows, theta: [
                self.visit(rows[low : low + size], theta, precision) for low in range(0, len(rows), size)
            ]
            return

        def visit(rows, theta):
            self.excess, self.b, self.turn = team.visit(rows, theta, self.excess, self.b, self.turn)

        with team:
            yield visit

    def visit(self, rows, theta, precision):
        """Solves for the a of these examples with everything else held."""
        from ..loops.box_qp import single_steps

        spend(500.0 + self.bank.M * (100.0 + 2e-3 * len(rows) ** 2))
        inner, a = self.inner, self.a[rows]
        outputs = self.vectors.outputs(rows, theta, a)
        K = self.bank.block(rows, theta)
        force = float(np.trace(K)) / len(rows) if inner.intercept else 0.0  # of the augmented Lagrangian for Σa = total
        linear, diagonal, kink = inner.linear[rows], inner.diagonal[rows], inner.kink[rows]
        gradient = outputs + self.b + force * self.excess + linear + diagonal * a
        new = a.copy()
        single_steps(K + force, new, gradient, diagonal, kink, inner.lo[rows], inner.hi[rows], precision, 50 * len(a))
        self.outputs[rows] = outputs
        self.vectors.add(rows, a, new - a)
        self.excess += float((new - a).sum())
        self.a[rows] = new
        self.turn += 1
        if self.turn % 8 == 0:
            self.b += 0.5 * force * self.excess

    def solve(self, theta, target):
        """Solves for all a in one block to the end, as other solvers do."""
        new, _, self.b, _ = self.inner.solve(self.bank.block(self.everyone, theta), self.a, target)
        self.vectors.add(self.everyone, self.a, new - self.a)
        self.a = np.array(new)

    def settle(self):
        """Moves a onto Σa = total within its box, and sums v again."""
        if self.inner.intercept:
            self.a = onto_total(self.a, self.inner)
        self.excess = 0.0
        self.renew()

    def renew(self):
        """Sums v again, so that it depends on a alone."""
        support = np.flatnonzero(self.a)
        self.vectors.clear()
        self.vectors.add(support, np.zeros(len(support)), self.a[support])

    def look_up(self, theta):
        """The outputs of all examples, (n,)."""
        self.outputs = self.vectors.outputs(np.arange(len(self.a)), theta, self.a)
        return self.outputs

    def risk(self):
        inner = self.inner
        return inner.c[self.active] @ inner.loss.value(inner.y[self.active], (self.outputs + self.b)[self.active])

    def rest(self):
        """Keeps the examples that may move soon: free ones, and those near their margin."""
        inner = self.inner
        slope = self.outputs + self.b + inner.linear + inner.diagonal * self.a
        rise = (self.a < inner.hi) & (slope + np.where(self.a >= 0, inner.kink, -inner.kink) < REST_DISTANCE)
        fall = (self.a > inner.lo) & (slope + np.where(self.a > 0, inner.kink, -inner.kink) > -REST_DISTANCE)
        self.active = np.flatnonzero((rise | fall) & (inner.c > 0))
