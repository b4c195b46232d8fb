"""Reduced gradients: SimpleMKL (Rakotomamonjy, Bach, Canu, Grandvalet 2008), which Yang (2011) and Xu (2010) time.

    min over θ in the simplex of J(θ) ,   ∂J/∂θ_m = −½ aᵀK_m a

The largest weight keeps Σθ = 1. A step follows the reduced gradient to the first weight that becomes 0, and continues
with that weight fixed as long as J falls; then golden sections find the best point on the way back.
Departs from the paper in its stopping rule, the duality gap, and in that the search is refined when it gains nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .._oracle import Oracle
from ..base import BaseSolver

if TYPE_CHECKING:
    from ...problem import Problem
    from ...solution import Solution
    from ..base import Control

GOLDEN_RATIO = 0.5 * (np.sqrt(5) - 1)


class SimpleMKL(BaseSolver):
    """Reduced gradients on the simplex with a line search.

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels import MKLClassifier
    >>> from manykernels.kernels import RBF
    >>> from manykernels.solvers import SimpleMKL
    >>> X = np.random.default_rng(0).normal(size=(60, 4))
    >>> y, widths = X[:, 0] + X[:, 1] ** 2 > 1, [RBF(gamma=g) for g in (0.01, 0.1, 0.5, 1.0)]
    >>> model = MKLClassifier(widths, regularizer=1, solver=SimpleMKL()).fit(X, y)
    >>> bool((model.kernel_weights_ == 0).any()), round(float(model.kernel_weights_.sum()), 6)
    (True, 1.0)
    >>> model.n_iter_ > MKLClassifier(widths, regularizer=1, solver="newton").fit(X, y).n_iter_  # first-order steps
    True
    """

    file_tag = ("solver/simplemkl", 1)
    name = "simplemkl"
    adjusts = coupled = True
    needs = ("value", "conjugate", "start")

    def refuse(self, problem: Problem) -> str | None:
        if not problem.regularizer.simplex:
            return "its reduced gradient is that of weights on the simplex, LpNorm(1)"
        return None

    def solve(self, problem: Problem, control: Control) -> Solution:
        oracle = Oracle(problem, control)
        oracle.effort = 1e-6  # the line search compares values
        return oracle.run(_descend)


def _descend(oracle):
    theta = oracle.theta / oracle.theta.sum()
    point, precision = oracle(theta), 0.1
    while True:
        gradient, top = -0.5 * point.q, int(np.argmax(point.theta))
        best, theta, end = point, point.theta, None
        direction = _reduced(theta, gradient, top)
        while np.any(direction):  # to the boundary, and along it
            far, reach = _boundary(theta, direction)
            trial = oracle(far)
            if trial.value >= best.value:
                end = trial
                break
            best, theta = trial, far
            direction = _reduced(theta, gradient, top)
        if end is not None:
            best = _golden(oracle, best, direction, reach, precision)
        if best is point:
            precision *= 0.1
            oracle.effort *= 0.1
            if precision < 1e-12:
                return
            best = oracle(point.theta)  # to the new precision
        point = best


def _reduced(theta, gradient, top):
    """The descent direction that keeps Σθ = 1: every weight against the largest; weights at 0 do not fall."""
    direction = gradient[top] - gradient
    direction[(theta <= 0) & (direction < 0)] = 0.0
    direction[top] = 0.0
    direction[top] = -direction.sum()
    return direction


def _boundary(theta, direction):
    """(where the first weight becomes 0, the step to it)."""
    falling = np.flatnonzero(direction < 0)
    steps = -theta[falling] / direction[falling]
    first = int(np.argmin(steps))
    far = np.maximum(theta + steps[first] * direction, 0.0)
    far[falling[first]] = 0.0
    return far / far.sum(), float(steps[first])


def _golden(oracle, start, direction, reach, precision):
    """The best of the points tried by golden sections on [0, reach], `start` at 0 included."""
    low, high, best = 0.0, reach, start
    left, right = high - GOLDEN_RATIO * (high - low), low + GOLDEN_RATIO * (high - low)

    def at(t):
        nonlocal best
        theta = np.maximum(start.theta + t * direction, 0.0)
        point = oracle(theta / theta.sum())
        best = point if point.value < best.value else best
        return point.value

    f_left, f_right = at(left), at(right)
    while high - low > precision * reach:
        if f_left < f_right:
            high, right, f_right = right, left, f_left
            left = high - GOLDEN_RATIO * (high - low)
            f_left = at(left)
        else:
            low, left, f_left = left, right, f_right
            right = low + GOLDEN_RATIO * (high - low)
            f_right = at(right)
    return best
