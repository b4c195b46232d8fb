"""C="auto" of losses of all examples together, against fits without each example."""

import numpy as np
import pytest

from manykernels import MKLSurvival
from manykernels.datasets import make_survival
from manykernels.estimators.choose_c import best_C, leave_one_out, score
from manykernels.estimators.plan import FitPlan
from manykernels.kernels import RBF
from manykernels.regularizers import Fixed
from manykernels.solvers import solve

X, Y = make_survival(40, seed=3)
KERNELS = [(source, RBF("scale"), source) for source in X]
CS = (0.01, 0.1, 1.0, 10.0)


def plan_at(loss, C):
    model = MKLSurvival(KERNELS, loss=loss, C=C, regularizer=Fixed([0.5, 0.5, 0.2]), tol=1e-7)
    return FitPlan.of(model, model._read(X, Y))


def without_each(plan):
    """f at each example by a new fit without it, (1, n), with the kernels of all."""
    c, n = plan.examples.c, plan.examples.n
    K, found = plan.bank.combined(np.array([0.5, 0.5, 0.2]), None, None, np.float64), np.zeros((1, n))
    for i in range(n):
        problem = plan.problem(0)
        problem.c = np.where(np.arange(n) == i, 0.0, c)[None]
        found[0, i] = K[i] @ solve(problem, tol=1e-7).a[0]
    return found


@pytest.mark.parametrize("loss", ["cox", "ranking"])
def test_left_out_decisions_are_those_of_fits_without_the_example(loss):
    near, true = [], []
    for C in CS:
        plan = plan_at(loss, C)
        near.append(leave_one_out(plan.problem(0), plan.solve_part(0)))
        true.append(without_each(plan))
        fitted = plan.bank.outputs(plan.solve_part(0).theta, plan.solve_part(0).a, np.arange(40))
        error, change = np.abs(near[-1] - true[-1]).max(), np.abs(fitted - true[-1]).max()
        assert error <= 0.25 * change
    examples = plan_at(loss, 1.0).examples
    picks = [best_C(score(examples, np.array(f)), examples.c, CS, least=True) for f in (near, true)]
    assert picks[0][0] == picks[1][0]
    off = {"cox": 0.03, "ranking": 0.08}[loss]  # without an example its pairs are missing too
    np.testing.assert_allclose(picks[0][1], picks[1][1], rtol=off)
