"""The record of a run: its best point is its own copy, its steps and examples are counted, and its end is told."""

from contextlib import suppress
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from problems import make, small_problem

from manykernels.banks import DenseBank
from manykernels.losses import Hinge
from manykernels.problem import Problem
from manykernels.regularizers import BlockNorm, ElasticNet, LpNorm
from manykernels.solvers import Control, solve
from manykernels.solvers._run import Finished, Run
from manykernels.solvers._warm import _continued, thinned


def two_outputs(regularizer, n=30):
    Ks, y = make(0, n)
    bank = DenseBank(np.moveaxis(Ks, 0, 2), normalize=None)
    return Problem(bank, [y, -np.roll(y, 3)], Hinge(), regularizer, np.linspace(0.3, 1.5, n)), Ks


def test_the_best_point_does_not_follow_arrays_that_change_later():
    problem, _ = two_outputs(LpNorm(2))
    good = solve(problem, tol=1e-2)
    theta, a, b = good.theta.copy(), good.a.copy(), good.b.copy()
    run = Run(problem, Control(1e-12, 50))
    run.certify(theta, a, b=b)
    theta[:], a[:] = 0.0, 0.0
    for name, value in (("theta", good.theta), ("a", good.a)):
        assert_array_equal(run.best[name], value)
    assert_array_equal(run.best_dual, good.a)
    start = problem.start()
    run.certify(np.full(4, 0.5), start)  # worse: the best stays
    assert_array_equal(run.best["a"], good.a)
    assert run.upper == pytest.approx(good.primal) and len(run.history) == 2
    warm = Run(problem, Control(1e-3, 9, warm=good))
    warm.a[:] = 0.0
    assert good.a.any()


@pytest.mark.parametrize("p", [1, 2])
@pytest.mark.parametrize("name", ["auto", "silp", "newton"])
def test_examples_of_several_outputs_are_counted_once(name, p):
    problem, _ = two_outputs(LpNorm(1) if name == "silp" else LpNorm(p))
    found = solve(problem, name, tol=1e-3)
    last = found.history[-1]
    assert last["n_support"] == np.count_nonzero(found.a.any(axis=0)) < np.count_nonzero(found.a)
    assert last["n_kernels"] == np.count_nonzero(found.theta)
    assert last["gap"] == found.gap and found.converged


def test_the_clock_of_a_second_solver_goes_on():
    problem = small_problem("hinge", LpNorm(2))[0]
    control = Control(1e-3, 9)
    control.history = [{"time": 100.0, "gap": 0.5}]
    run = Run(problem, control)
    with suppress(Finished):
        run.certify(run.theta, run.a)
    assert run.history[-1]["time"] >= 100.0 and run.history[-1]["iteration"] == 2


def test_only_a_whole_run_is_thinned():
    problem = small_problem("hinge", LpNorm(1), M=8)[0]
    found = solve(problem, tol=1e-2, thin=False)

    def fails(*_):
        pytest.fail("it goes on")

    for other in (replace(found, converged=False), replace(found, interrupted=True)):
        assert thinned(problem, other, 1e-2, fails) is other
    smooth = small_problem("hinge", LpNorm(2), M=8)[0]
    whole = solve(smooth, tol=1e-2)
    assert thinned(smooth, whole, 1e-2, fails) is whole


@pytest.mark.parametrize("gap", [1e-2, 1e-5])
def test_an_interrupt_of_the_smaller_problem_is_that_of_the_fit(gap):
    problem = small_problem("hinge", LpNorm(1), M=8)[0]
    found = replace(solve(problem, tol=1e-2, thin=False), gap=gap)
    keep = np.flatnonzero(found.theta)
    for interrupted in (False, True):

        def again(small, aim, warm, interrupted=interrupted):
            return replace(solve(small, tol=1e-6, thin=False), interrupted=interrupted)

        assert _continued(problem, found, 1e-2, again, keep, 1e-6).interrupted is interrupted
    assert _continued(problem, found, 1e-2, None, keep[:0], 1e-6) is found


@pytest.mark.parametrize("regularizer", [LpNorm(1), LpNorm(2), ElasticNet(0.5), BlockNorm(3)], ids=repr)
def test_warm_weights_outside_the_domain_are_taken_into_it(regularizer):
    """As after a change of the regularizer: a run begins at weights that it allows."""
    problem, _ = two_outputs(regularizer)
    found = solve(two_outputs(LpNorm(2))[0], tol=1e-2)
    for theta in (np.array([0.1, 3.0, 0.0, 2.0]), np.zeros(4), np.array([0.3, -0.2, 0.1, 0.1])):
        run = Run(problem, Control(warm=replace(found, theta=theta)))
        assert run.theta.any() and (run.theta >= 0).all()
        if regularizer.has("value"):
            assert np.isfinite(problem.regularizer.value(run.theta))
    inside = problem.regularizer.start(4)
    assert_array_equal(Run(problem, Control(warm=replace(found, theta=inside))).theta, inside)


def test_weights_that_are_not_finite_end_a_run_at_the_point_without_kernels():
    problem, _ = two_outputs(LpNorm(2))
    found = Run(problem, Control(1e-9)).run(lambda run: run.certify(np.full(4, np.nan), run.a))
    _, origin = problem.origin()
    assert found.primal == pytest.approx(origin.primal) and found.dual == pytest.approx(origin.dual)
    assert found.history[-1]["gap"] == found.gap < np.inf and not found.a.any()
    assert found.reason.startswith("a step led to weights that are negative, not finite or outside")
    good = solve(problem, tol=1e-2)
    reached = Run(problem, Control(0.5)).run(lambda run: run.certify(good.theta, good.a))
    assert reached.converged and reached.reason == ""
