"""Interleaved dual coordinate passes over explicit features: the default where kernels have them.

    max over a, Σa = total :  − Σ c V*(y, −a / c) − Ω*(½ ‖v_m‖²)_m ,   v_m = Σ_i a_i φ_m(x_i)

A pass visits the active examples in random order, some at a time: their outputs are looked up in v, the small problem
in their a is solved with the kernel among them, and v takes in what changed (Algorithms 3 and 4 of Sonnenburg et al.
2006 share the look-up and the update among threads; so does this). v is kept unscaled, so that the weights may change
at any moment for nothing: in closed form during the pass, or, where Ω* has kinks, by cuts and level sets after it.
The intercept is the multiplier of Σa = total (an augmented Lagrangian), not a penalised constant feature. Examples far
from their margin rest. Before every gap a is moved onto Σa = total within its box and v is summed anew.
"""

from numbers import Integral

import numpy as np

from ._cuts import cuts_for
from ._machine import Machine
from ._oracle import Point, Run

NEEDS = ("value", "conjugate", "weights_from_norms", "start")
MARGIN = 0.3  # outputs an example may lie from its margin and still be visited


def refuse(problem):
    if problem.loss.interior:
        return f"its small problems are quadratic, and the conjugate of the {problem.loss.name} loss is not"
    if not hasattr(problem.bank, "vectors"):
        return "it needs kernels with explicit features, such as strings.degree_kernels(20)"


def solve(problem, tol, max_iter, warm=None, monitor=None, *, size=128, random_state=0):
    if not (isinstance(size, Integral) and size >= 2):
        raise ValueError(f"size must be an integer >= 2, got {size!r}")
    return Coordinate(problem, tol, max_iter, warm, monitor, size, random_state).run(Coordinate.iterate)


class Coordinate(Run):
    """One run; `sides` hold what belongs to one output each."""

    def __init__(self, problem, tol, max_iter, warm, monitor, size, random_state):
        super().__init__(problem, tol, max_iter, warm, monitor)
        self.size, self.rng = size, np.random.default_rng(random_state)
        self.smooth = not problem.regularizer.simplex
        self.estimate = np.inf

    def iterate(self):
        problem = self.problem
        parts = zip(problem.Y, problem.c, self.a, self.b, strict=True)
        self.sides = [Side(problem, y, c, a, b) for y, c, a, b in parts]
        cuts = None if self.smooth else cuts_for(problem.regularizer)
        since = 0
        while True:
            for side in self.sides:
                self._pass(side)
            since += 1
            if since == 1 or self._estimate() <= 1.2 * self.tol or since % 4 == 0:
                self._certify()
            if cuts is not None:
                self._level(cuts)
            for side in self.sides:
                side.rest()

    def full(self, theta):
        weights = np.zeros(self.problem.bank.M)
        weights[self.kernels] = theta
        return weights

    @property
    def q(self):
        return np.maximum(np.sum([side.vectors.q for side in self.sides], axis=0)[self.kernels], 0.0)

    def _pass(self, side):
        order = self.rng.permutation(side.active)
        for turn, start in enumerate(range(0, len(order), self.size)):
            side.visit(order[start : start + self.size], self.full(self.theta), self.tol)
            if self.smooth and (turn % 8 == 7 or start + self.size >= len(order)):
                norms = self.theta * np.sqrt(self.q)
                if norms.any():
                    self.theta = self.problem.regularizer.weights_from_norms(norms)

    def _estimate(self):
        """The gap if the outputs were still those of the last visits, and the examples at rest had no loss."""
        problem = self.problem
        a, b = np.array([side.a for side in self.sides]), np.array([side.b for side in self.sides])
        risk = np.array([side.risk() for side in self.sides])
        return problem.certificate(risk, a, b, self.theta, self.q).gap

    def _certify(self):
        """Sums v anew from a feasible a, looks up every example, and lets those that matter come back."""
        outputs = np.array([side.renew(self.full(self.theta)) for side in self.sides])
        a = np.array([side.a for side in self.sides])
        self.certify(self.theta, a, q=self.q, outputs=outputs, n_active=int(max(len(s.active) for s in self.sides)))
        for side, b in zip(self.sides, self.intercepts(outputs), strict=True):
            side.b = b

    def _level(self, cuts):
        """Weights by the level method, from a cut at the present a."""
        a = np.array([side.feasible() for side in self.sides])
        constant = -float(np.sum(self.problem.conjugates(a)))
        value = self.upper - self.problem.regularizer.value(self.theta)
        cuts.add(Point(self.theta, a, self.q, value, constant, None, None, None))
        slack = 0.05 * self.scale * max(self.gap, self.tol)
        self.bound(cuts.minimum(slack)[1], cuts.dual_point)
        self.theta = cuts.project(self.theta, self.lower + 0.5 * (self.upper - self.lower), slack)


class Side:
    """One output: its machine, a, v, b, and the examples that are visited."""

    def __init__(self, problem, y, c, a, b):
        self.machine = Machine(problem.loss, y, c, problem.intercept)
        self.bank, self.a, self.b = problem.bank, np.array(a), float(b)
        self.total = problem.loss.total
        self.vectors = self.bank.vectors()
        support = np.flatnonzero(self.a)
        self.vectors.add(support, np.zeros(len(support)), self.a[support])
        self.outputs = np.zeros(len(y))  # as of the last visit, without b
        self.active = np.flatnonzero(c > 0)
        self.excess = float(self.a.sum()) - self.total
        self.turn = 0

    def visit(self, rows, theta, tol):
        """Solves for the a of these examples with everything else held."""
        from ..loops.box_qp import single_steps

        machine, a = self.machine, self.a[rows]
        outputs = self.vectors.outputs(rows, theta, a)
        K = self.bank.block(rows, theta)
        force = float(np.trace(K)) / len(rows) if machine.intercept else 0.0  # of the pull towards Σa = total
        linear, diagonal, kink = machine.linear[rows], machine.diagonal[rows], machine.kink[rows]
        gradient = outputs + self.b + force * self.excess + linear + diagonal * a
        new = a.copy()
        single_steps(
            K + force, new, gradient, diagonal, kink, machine.lo[rows], machine.hi[rows], 0.1 * tol, 50 * len(a)
        )
        self.outputs[rows] = outputs
        self.vectors.add(rows, a, new - a)
        self.excess += float((new - a).sum())
        self.a[rows] = new
        self.turn += 1
        if self.turn % 8 == 0:
            self.b += 0.5 * force * self.excess

    def feasible(self):
        """a with Σa = total, within its box."""
        if not self.machine.intercept:
            return self.a
        a = self.machine.repair(self.a, self.total)
        return self.machine.loss.start(self.machine.y, self.machine.c, True) if a is None else a

    def renew(self, theta):
        """Makes a feasible, sums v anew and returns the outputs of all examples."""
        self.a = np.array(self.feasible())
        self.excess = 0.0
        support, everyone = np.flatnonzero(self.a), np.arange(len(self.a))
        self.vectors.clear()
        self.vectors.add(support, np.zeros(len(support)), self.a[support])
        self.outputs = self.vectors.outputs(everyone, theta, self.a)
        self.active = np.flatnonzero(self.machine.c > 0)
        return self.outputs

    def risk(self):
        machine = self.machine
        return machine.c[self.active] @ machine.loss.value(machine.y[self.active], (self.outputs + self.b)[self.active])

    def rest(self):
        """Keeps the examples that may move soon: free ones, and those near the point where they would."""
        machine = self.machine
        slope = self.outputs + self.b + machine.linear + machine.diagonal * self.a
        rise = (self.a < machine.hi) & (slope + np.where(self.a >= 0, machine.kink, -machine.kink) < MARGIN)
        fall = (self.a > machine.lo) & (slope + np.where(self.a > 0, machine.kink, -machine.kink) > -MARGIN)
        self.active = np.flatnonzero((rise | fall) & (machine.c > 0))
