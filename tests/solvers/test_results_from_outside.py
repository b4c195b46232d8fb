"""What a solver from outside returns is measured: its point counts, not its claims."""

import numpy as np
import pytest
from sklearn.datasets import make_classification

from manykernels import MKLClassifier, losses
from manykernels.banks import DenseBank
from manykernels.kernels import RBF, Linear
from manykernels.problem import Problem
from manykernels.regularizers import LpNorm
from manykernels.solution import Solution
from manykernels.solvers import BaseSolver, Level, Newton, solve
from problems import make, small_problem

X, y = make_classification(60, 5, random_state=0)


class Claims(BaseSolver):
    """Returns the point that `point(problem)` gives, and claims a gap of 0."""

    def __init__(self, point):
        self.point = point

    def solve(self, problem, control):
        theta, a, b = self.point(problem)
        return Solution(theta, a, b, primal=1.0, dual=1.0, gap=0.0, converged=True)


class Returns(BaseSolver):
    def __init__(self, result=None):
        self.result = result

    def solve(self, problem, control):
        return self.result


class Wraps(BaseSolver):
    def __init__(self, inner):
        self.inner = inner

    def solve(self, problem, control):
        return self.inner.solve(problem, control)


def begin(problem):
    return np.full(problem.bank.M, 1.0 / problem.bank.M), np.zeros(problem.Y.shape), np.zeros(problem.n_outputs)


def test_a_claimed_gap_is_not_believed():
    model = MKLClassifier([RBF(0.1), Linear()], solver=Claims(begin), C=1.0)
    with pytest.warns(UserWarning, match=r"gap of 1.00e\+00.*'Claims' claimed a gap of 0.0e\+00.*have 1.0e\+00"):
        model.fit(X, y)
    assert model.duality_gap_ == 1.0 and model.objective_ == 60.0


def test_the_point_is_measured_at_its_own_theta_a_and_b():
    problem, *_ = small_problem("hinge", LpNorm(1.5))
    known = solve(problem, tol=1e-5)
    dual_a = known.dual_a if known.dual_a is not None else known.a
    found = solve(problem, Claims(lambda _: (known.theta, dual_a, known.b)), tol=1e-3)
    assert found.converged and 0 < found.gap <= 1e-3 and found.primal == pytest.approx(known.primal, rel=1e-3)
    assert found.history[-1]["gap"] == found.gap and found.history[-1]["primal"] == found.primal


def test_a_dual_point_that_is_not_feasible_proves_nothing():
    problem, *_ = small_problem("hinge", LpNorm(1.5))
    theta, a, b = begin(problem)
    found = solve(problem, Claims(lambda _: (theta, a + 9.0, b)))
    assert not found.converged and np.isfinite(found.gap) and found.dual <= solve(problem).primal


@pytest.mark.parametrize("inner", [Newton(), Level()], ids=repr)
def test_the_result_of_an_oracle_stays_as_it_is(inner):
    problem, *_ = small_problem("hinge", LpNorm(1))
    known, found = solve(problem, inner), solve(problem, Wraps(inner))
    assert (found.primal, found.dual, found.gap) == (known.primal, known.dual, known.gap)
    np.testing.assert_array_equal(found.a, known.a)


@pytest.mark.parametrize(
    ("point", "words"),
    [
        (
            lambda theta, a, b: (theta[:-1], a, b),
            r"theta of shape \(3,\).*must return a Solution with finite theta \(4,\)",
        ),
        (lambda theta, a, b: (theta, a[0], b), r"a of shape \((\d+),\).*a \(1, \1\) and b \(1,\)"),
        (lambda theta, a, b: (theta, a, 0.0), r"b of shape \(\)"),
        (lambda theta, a, b: (theta, a + np.nan, b), "a that is not finite"),
        (lambda theta, a, b: (-theta, a, b), "theta=.*must be at least 0"),
        (lambda theta, a, b: (9 * theta, a, b), "theta=.*in the domain of LpNorm"),
    ],
)
def test_a_wrong_point_is_an_error_that_names_the_solver(point, words):
    problem, *_ = small_problem("hinge", LpNorm(1.5))
    with pytest.raises(ValueError, match=f"solver 'Claims' returned {words}"):
        solve(problem, Claims(lambda problem: point(*begin(problem))))


def test_weight_of_a_kernel_without_variance_is_an_error_that_names_the_solver():
    Ks, y = make(0, 30, 3)
    Ks[1] = 1.0
    with pytest.warns(UserWarning, match="without variance"):
        bank = DenseBank(np.moveaxis(Ks, 0, 2))
    problem = Problem(bank, y, losses.get("hinge"), LpNorm(1.5), np.ones(30), True)
    theta, a, b = begin(problem)
    allowed = np.where([True, False, True], theta, 0.0)
    assert solve(problem, Claims(lambda _: (allowed, a, b))).gap == 1.0
    with pytest.raises(ValueError, match="solver 'Claims' returned theta=.*0 outside problem.kernels"):
        solve(problem, Claims(lambda _: (theta, a, b)))


@pytest.mark.parametrize(("result", "words"), [(None, "None"), ((1, 2), "a value of type tuple")])
def test_anything_but_a_solution_is_an_error_that_names_the_solver(result, words):
    problem, *_ = small_problem("hinge", LpNorm(1.5))
    with pytest.raises(ValueError, match=rf"solver 'Returns' returned {words}: solve\(problem, control\) must return"):
        solve(problem, Returns(result))
