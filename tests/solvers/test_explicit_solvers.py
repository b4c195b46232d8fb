"""Small blocks of the passes of `primal`, the seed and the work of `coordinate`, and the optimum that both find."""

import numpy as np
import pytest

from manykernels import losses
from manykernels.banks.choice import explicit_bank
from manykernels.banks.dense import DenseBank
from manykernels.kernels import KernelList, Linear
from manykernels.problem import Problem
from manykernels.regularizers import BlockElasticNet, LpNorm
from manykernels.solvers import Control, _primal_passes, solve
from manykernels.solvers._primal_passes import LinearModel, Stage
from manykernels.solvers.coordinate import Coordinate
from manykernels.solvers.primal import Descent

LOSSES = [
    "hinge",
    "squared_hinge",
    "logistic",
    "squared",
    "epsilon_insensitive",
    "huber",
    "quantile",
    "one_class",
    "wide",
]
pytestmark = pytest.mark.filterwarnings("ignore:kernels without variance")


def make(loss, n=40, T=2, intercept=True, seed=0):
    """(problem, features √scale φ (n, 7), the kernel of each) with a kernel without variance, and costs of 0."""
    rng = np.random.default_rng(seed)
    V = losses.EpsilonInsensitive(epsilon=0.6) if loss == "wide" else losses.get(loss)
    X = rng.normal(size=(n, 7))
    X[:, 2] = 0.0
    specs = [("a", Linear(), [0, 1]), ("flat", Linear(), [2]), ("b", Linear(), [3, 4, 5]), ("c", Linear(), [6])]
    f = X[:, 0] + 0.6 * X[:, 4] + 0.4 * rng.normal(size=n) + 0.3
    Y = np.array([f, -np.roll(f, 1) + X[:, 6]])[:T]
    Y = Y if V.targets == "real" else np.ones_like(Y) if loss == "one_class" else np.where(Y > 0, 1.0, -1.0)
    c = rng.uniform(0.3, 2.0, size=Y.shape)
    c = c / (0.3 * c.sum(axis=1, keepdims=True)) if loss == "one_class" else c
    c[0, 3] = c[-1, n - 1] = 0.0
    bank = explicit_bank(KernelList.from_spec(specs, X), X)
    owners = np.array([0, 0, 1, 2, 2, 2, 3])
    return Problem(bank, Y, V, LpNorm(2), c, intercept), X * np.sqrt(bank.scale)[owners], owners


def test_a_sample_of_the_examples_stands_for_all_in_the_curvature(monkeypatch):
    monkeypatch.setattr(_primal_passes, "ROWS_PER_BLOCK", 16)
    problem, _, _ = make("squared", n=64, T=1)
    problem.c = np.full((1, 64), 0.5)
    run = Descent(problem, Control())
    place = LinearModel(np.zeros((1, 7)), np.zeros((1, 1)), np.full(3, 0.5))
    for run.per_feature, rows in ((10**9, 64), (4, 32), (2, 16)):
        curve = run._visit(Stage(np.arange(64), 1e-3), place, 0.0).curves[0]
        assert curve.H is not None or len(curve.R) == rows
        assert curve.s.item() == pytest.approx(64.0)  # Σ S, S = 2 c = 1


@pytest.mark.parametrize("solver", ["primal", "coordinate"])
@pytest.mark.parametrize("loss", LOSSES)
def test_explicit_solvers_find_the_optimum_of_the_matrices_in_few_steps(loss, solver, monkeypatch):
    """Two outputs, costs of 0, a kernel without variance; from nothing, and from the end of a fit at other costs."""
    monkeypatch.setattr(_primal_passes, "ROWS_PER_BLOCK", 50)
    if solver == "coordinate" and loss == "logistic":
        pytest.skip("its small problems are quadratic")
    problem, F, owners = make(loss, n=160, seed=3)
    Ks = np.array([F[:, owners == m] @ F[:, owners == m].T for m in (0, 2, 3)])
    bank = DenseBank(np.moveaxis(Ks, 0, 2), normalize=None)
    dense = Problem(bank, problem.Y, problem.loss, LpNorm(2), problem.c)
    whole = solve(dense, "newton", tol=1e-9)
    bent = solver == "primal" and not problem.loss.smooth
    tol = 1e-3 if bent else 1e-4
    found = solve(problem, solver, tol=tol)
    assert found.gap <= tol and abs(found.primal - whole.primal) <= tol * max(abs(whole.primal), 1.0)
    assert found.theta[1] == 0.0
    assert found.n_iter <= (30 if bent and loss != "one_class" else 52 if bent else 12 if solver == "primal" else 8)
    other = Problem(problem.bank, problem.Y, problem.loss, LpNorm(2), 0.9 * problem.c + 0.1 * problem.c.max())
    if loss != "one_class":
        far = solve(other, solver, tol=tol)
        warm = solve(problem, solver, tol=tol, warm=far)
        assert warm.gap <= tol and abs(warm.primal - whole.primal) <= tol * max(abs(whole.primal), 1.0)
    assert solve(problem, solver, tol=2 * tol, warm=found).n_iter <= 2


def test_what_is_left_of_the_work_is_given_back():
    """Half of it is kept for Newton steps, which a run that converges does not need."""
    problem, _, _ = make("hinge", n=60)
    control = Control(tol=1e-3)
    control.work = 1e12
    assert Coordinate(size=16).solve(problem, control).converged
    assert 0.99e12 < control.work < 1e12


def test_the_part_of_the_gap_due_to_the_weights_is_finite_where_the_conjugate_is_an_indicator():
    problem, _, _ = make("hinge")
    theta, q = np.array([0.5, 0.1, 0.3]), np.array([4.0, 50.0, 9.0])
    for regularizer in (LpNorm(2), BlockElasticNet(0.0)):
        run = Descent(Problem(problem.bank, problem.Y, problem.loss, regularizer, problem.c), Control())
        omega = run.problem.regularizer
        t = omega.shrink(0.5 * q) ** 2
        assert (t < 1) == (not omega.finite_conjugate)
        expected = omega.value(theta) + omega.conjugate(0.5 * t * q) - 0.5 * t * theta @ q
        assert 0 <= run._weights_gap(theta, q) == pytest.approx(expected, rel=1e-12)


def test_the_seed_of_a_solver_comes_before_that_of_the_estimator():
    problem, _, _ = make("hinge", n=60)

    def outcome(own, given):
        return solve(problem, Coordinate(size=7, random_state=own), tol=1e-3, max_iter=2, random_state=given).a

    np.testing.assert_array_equal(outcome(3, 0), outcome(3, 1))
    np.testing.assert_array_equal(outcome(None, 3), outcome(3, 0))
    assert (outcome(None, 0) != outcome(None, 1)).any()
