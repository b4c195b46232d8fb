"""A warm start knows what the fit before it has found of the problem: its size, and the precision that it needs."""

import numpy as np
import pytest

from manykernels.banks import DenseBank
from manykernels.kernels import RBF, Linear
from manykernels.losses import Hinge
from manykernels.problem import Problem
from manykernels.regularizers import LpNorm
from manykernels.solvers import solve

rng = np.random.default_rng(0)
X = rng.normal(size=(150, 4))
Y = np.sign(X[:, 0] + X[:, 1] + 0.1 * rng.normal(size=150))
BANK = DenseBank(np.stack([*(RBF(gamma=g)(X) for g in np.logspace(-3, 0, 40)), Linear()(X)], axis=2))


@pytest.mark.parametrize("p", [4, np.inf])
def test_along_C_one_inner_problem_is_enough_where_the_weights_hardly_move(p):
    last, steps = None, []
    for C in (300.0, 200.0, 130.0, 90.0, 60.0):
        last = solve(Problem(BANK, Y, Hinge(), LpNorm(p), C), "newton", warm=last)
        assert last.converged
        steps.append(last.n_iter)
    assert steps[1:] == [1] * 4


def test_weights_that_are_feasible_are_begun_from_to_the_last_bit():
    problem = Problem(BANK, Y, Hinge(), LpNorm(4 / 3), 10.0)
    first = solve(problem, "newton")
    again = solve(problem, "newton", warm=first)
    assert again.n_iter == 1 and np.array_equal(again.theta, first.theta)
