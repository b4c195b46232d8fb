"""An oracle for the inner problem at given weights.

    J(θ) = min over f, b of Σ c V + ½ Σ ‖f_m‖² / θ_m  =  max over a of − Σ c V*(y, −a / c) − ½ Σ_m θ_m q_m(a)

Any feasible a gives a cut, J(θ) ≥ constant − ½ θᵀq, even if the inner problem is not solved to the end.
"""

from abc import abstractmethod
from typing import Any, NamedTuple

import numpy as np
from numpy import ndarray

from .._limits import MIN_FLOAT32_GAP
from ..inner import inner_problem
from ..problem import Problem
from ..solution import Solution
from ._run import MAX_UNSOLVED, Finished, Run
from .base import BaseSolver, Control

READINGS_BEFORE_HOLDING = 8  # of all kernels by an oracle: they take about as long as the matrices


class InnerPoint(NamedTuple):
    """The inner problem at θ: its `value` ≥ J(θ), and the cut J(·) ≥ constant − ½ ·ᵀq that it gives."""

    theta: ndarray
    a: ndarray
    q: ndarray
    value: float
    constant: float
    support: ndarray  # the examples with a ≠ 0, and those free to move
    products: ndarray  # (T, M', |support|)
    K: ndarray


class Oracle(Run):
    """Solves the inner problem at given weights on all examples, from the last solution, to `effort` times the gap.

    `Oracle(problem, control).run(method)` is the `Solution` of method(oracle). The method starts at `oracle.theta`,
    gets the `InnerPoint` at other weights as oracle(theta), and need not end: the oracle stops it at the gap, at the
    last step, and when nothing improves.

    Parameters
    ----------
    problem : Problem
    control : Control

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels.banks import DenseBank
    >>> from manykernels.losses import Hinge
    >>> from manykernels.problem import Problem
    >>> from manykernels.regularizers import LpNorm
    >>> from manykernels.solvers import Control, Oracle
    >>> problem = Problem(DenseBank(np.eye(4)[:, :, None]), [1, 1, -1, -1], Hinge(), LpNorm(2))
    >>> Oracle(problem, Control()).run(lambda oracle: oracle(oracle.theta)).converged
    True
    """

    effort = 0.1

    def __init__(self, problem: Problem, control: Control) -> None:
        super().__init__(problem, control)
        self.dtype, self.scale = self.first_dtype, float(problem.c.sum())
        small = problem.bank.restrict(np.arange(self.n), self.kernels)
        self.bank, self.index = (problem.bank, self.kernels) if small is None else (small, np.arange(len(self.kernels)))
        self.inners = [inner_problem(problem, y, c) for y, c in zip(problem.Y, problem.c, strict=True)]
        self.readings = 0

    def __call__(self, theta: ndarray) -> InnerPoint:
        """The `InnerPoint` at θ; certifies it on the way."""
        if np.shape(theta) != self.index.shape:
            words = f"the weights of the {len(self.index)} kernels that can have weight, problem.kernels"
            raise ValueError(f"oracle(theta) was given theta of shape {np.shape(theta)}: give {words}.")
        self.hold()
        problem, weights, target = self.problem, np.zeros(self.bank.M), self.target
        weights[self.index] = theta
        while True:
            K = self.bank.matrix(weights, None, self.dtype, problem.intercept)
            solved = [inner.solve(K, a, target) for inner, a in zip(self.inners, self.a, strict=True)]
            a = np.array([part[0] for part in solved])
            moving = [inner.free(a_t) for inner, a_t in zip(self.inners, a, strict=True)]
            support = np.flatnonzero(np.any([a != 0, moving], axis=(0, 1)))
            P = self.bank.products(a[:, support], support, support, self.index)
            outputs = self._outputs(theta, a, support, P)
            if self.dtype == np.float64 or self._fine(K, a, outputs, target):
                break
            self.dtype = np.float64  # float32 is too coarse for this problem
        self.a, self.solves = a, self.solves + 1
        self.unsolved = self.unsolved + 1 if sum(part[3] for part in solved) > 10 * target * len(a) else 0
        q = np.einsum("tmi,ti->m", P, a[:, support])
        constant = -float(np.sum(problem.conjugates(a)))
        b = None if problem.covariates is None else np.array([part[2] for part in solved])
        certificate = self.certify(theta, a, q=q, outputs=outputs, b=b)
        if min(self.unsolved, self.stalled.since) >= MAX_UNSOLVED:
            raise Finished
        value = certificate.primal - problem.regularizer.penalty(theta, q)[1]
        return InnerPoint(theta, a, q, value, constant, support, P, K)

    def hold(self) -> None:
        """Keeps the matrices of kernels that are computed on the fly, from the step on where that saves time."""
        self.readings += 1
        exact = self.bank.dtype == np.float64 or self.tol >= MIN_FLOAT32_GAP
        if self.readings == READINGS_BEFORE_HOLDING and exact and self.bank.cost() > 0:
            self.bank = self.bank.held(exact=True)

    @property
    def target(self) -> float:
        """The duality gap to which the inner problem of one output is solved."""
        gap = self.gap if np.isfinite(self.gap) else 1.0
        return self.scale * self.effort * max(min(gap, 0.1), self.tol) / len(self.inners)

    def value(self, theta: ndarray) -> float:
        """A bound of J(θ) from above, for line searches: it is not certified, and `a` is the solution.

        The kernels are read once, combined, where a call of the oracle also reads each of them.
        """
        self.hold()
        K, total, target = self._matrix(theta), 0.0, self.target
        self.a, self.solves = self.a.copy(), self.solves + 1
        for t, inner in enumerate(self.inners):
            self.a[t], outputs, b, _ = inner.solve(K, self.a[t], target)
            total += inner.primal(self.a[t], outputs, b)
        return total

    def slope(self, a: ndarray, move: tuple[Any, Any]) -> float:
        """The derivative of J along a direction, −½ Σ_m direction_m aᵀK_m a, at the solution a; see `move`."""
        parts = zip(self.inners, a, strict=True)
        return 0.5 * sum(
            float(a_t @ (inner.outputs(move[1], a_t) - inner.outputs(move[0], a_t))) for inner, a_t in parts
        )

    def move(self, direction: ndarray) -> tuple[Any, Any]:
        """The kernels combined along a direction: those that rise, and those that fall."""
        return self._matrix(np.maximum(direction, 0.0)), self._matrix(np.maximum(-direction, 0.0))

    def _matrix(self, theta):
        """Σ_m θ_m K_m over the usable kernels, in the form that `inner` takes."""
        weights = np.zeros(self.bank.M)
        weights[self.index] = theta
        shifted = self.problem.intercept and not self.problem.loss.total  # a constant counts unless Σ a = 0
        return self.bank.matrix(weights, None, self.dtype, shifted)

    def _outputs(self, theta, a, support, P):
        """Σ_m θ_m K_m a on all examples (T, n); off the support only kernels with weight are computed."""
        outputs = np.empty(a.shape)
        outputs[:, support] = np.einsum("m,tmi->ti", theta, P)
        rest = np.setdiff1d(np.arange(self.n), support)
        if len(rest):
            weights = np.zeros(self.bank.M)
            weights[self.index] = theta
            outputs[:, rest] = self.bank.outputs(weights, a[:, support], support, rest)
        return outputs

    def _fine(self, K, a, exact, target):
        """Whether the outputs of the block agree with the exact ones up to a constant."""
        error = exact - np.array([inner.outputs(K, a_t) for inner, a_t in zip(self.inners, a, strict=True)])
        if self.problem.intercept:
            error = error - error.mean(axis=1, keepdims=True)
        return float(np.sum(self.problem.c * np.abs(error) * (a != 0))) <= 3 * target * len(a)


class OracleSolver(BaseSolver):
    """A solver whose `steps(oracle)` choose the weights; the oracle ends them."""

    adjusts = coupled = True
    effort = Oracle.effort

    def solve(self, problem: Problem, control: Control) -> Solution:
        oracle = Oracle(problem, control)
        oracle.effort = self.effort
        return oracle.run(self.steps)

    @abstractmethod
    def steps(self, oracle: Oracle) -> object:
        """Calls the oracle at weights of its choice, over and over."""
