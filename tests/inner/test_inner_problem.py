"""The inner problem at fixed weights: its derivatives in the weights, its linear systems, and who may move."""

import numpy as np
import pytest

from manykernels import losses
from manykernels.inner import InnerProblem, adjusted
from manykernels.inner import problem as inner_module
from manykernels.inner.matrix_free import Operator, conjugate_gradients
from manykernels.inner.systems import HalfHessian
from manykernels.regularizers import LpNorm
from problems import make, small_problem


def solved(loss, intercept, theta, Ks, y, C=1.0):
    """(inner problem, a) at these weights, to the last digits."""
    inner = InnerProblem(losses.get(loss), y, np.full(len(y), C), intercept)
    K = np.tensordot(theta, Ks, 1)
    return inner, inner.solve(K, inner.loss.start(y, inner.c, intercept), 0.0)[0]


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "epsilon_insensitive"])
def test_the_half_hessian_gives_the_derivatives_in_the_weights(loss, intercept):
    """∇J = −½ q, so that ∇²J = −½ dq/dθ and da/dθ, by central differences where nobody enters or leaves the box."""
    Ks, y = make(3, n=40, real=losses.get(loss).targets == "real")
    theta = np.array([0.3, 0.5, 0.4, 0.2])
    inner, a = solved(loss, intercept, theta, Ks, y)
    free = inner.free(a)
    B = np.einsum("mij,j->mi", Ks, a)[:, free]
    half = HalfHessian(np.tensordot(theta, Ks, 1), free, inner.diagonal, intercept, B)
    H = half.Z.T @ half.Z
    for m, step in enumerate(1e-4 * np.eye(4)):  # the rounding of a, some 1e-8, is then 1e-4 of a difference
        sides = [solved(loss, intercept, theta + sign * step, Ks, y)[1] for sign in (1, -1)]
        assert all(np.array_equal(inner.free(side), free) for side in sides)
        q = [np.einsum("i,mij,j->m", side, Ks, side) for side in sides]
        np.testing.assert_allclose(H[m], -0.5 * (q[0] - q[1]) / 2e-4, rtol=0, atol=1e-3 * np.abs(H).max())
        moved = (sides[0] - sides[1])[half.index] / 2e-4
        np.testing.assert_allclose(half.response(step / 1e-4), moved, rtol=0, atol=1e-3 * np.abs(moved).max())


@pytest.mark.parametrize("loss, total", [("hinge", 0.0), ("one_class", 1.0), ("epsilon_insensitive", 0.3)])
def test_a_clipped_point_is_moved_back_onto_its_sum_within_the_box(loss, total):
    problem, _, y = small_problem(loss, LpNorm(2))
    inner = InnerProblem(problem.loss, problem.Y[0], problem.c[0], True)
    rng = np.random.default_rng(0)
    for _ in range(20):
        a = np.clip(inner.loss.start(inner.y, inner.c, True) + 0.02 * rng.normal(size=30), inner.lo, inner.hi)
        repaired = inner.repair(a, total)
        assert repaired.sum() == pytest.approx(total, abs=1e-12)
        assert np.all(repaired >= inner.lo) and np.all(repaired <= inner.hi)


def test_a_point_without_room_cannot_be_moved_onto_its_sum():
    """All variables are at their bounds, or one alone is not and has too little room."""
    problem, _, _ = small_problem("hinge", LpNorm(2))
    inner = InnerProblem(problem.loss, problem.Y[0], problem.c[0], True)
    a = np.where(inner.y > 0, inner.hi, 0.0)
    assert a.sum() > 0 and inner.repair(a, 0.0) is None
    a[np.flatnonzero(inner.y > 0)[0]] *= 0.5
    assert inner.repair(a.copy(), 0.0) is None
    np.testing.assert_array_equal(inner.repair(a.copy(), a.sum()), a)


@pytest.mark.parametrize("loss", sorted(name for name, loss in losses.LOSSES.items() if not loss.interior))
def test_slack_is_how_far_an_output_may_move_before_its_example_matters(loss):
    """At a = 0 an example rests as long as its loss is least; a move by the slack takes it to the edge of that."""
    problem, _, _ = small_problem(loss, LpNorm(2), n=60)
    inner = InnerProblem(problem.loss, problem.Y[0], problem.c[0], problem.intercept)
    b, outputs = 0.1, np.random.default_rng(0).normal(size=60) * 2 + inner.y * (loss != "one_class")
    slack = inner.slack(np.zeros(60), outputs, b)
    least = problem.loss.value(inner.y, outputs + b) == 0
    np.testing.assert_array_equal(least & (slack != 0), slack > 0)
    for i in np.flatnonzero(slack > 0):

        def values(move, i=i):
            f = np.clip(outputs[i] + b + np.array([-move, move]), -1e6, 1e6)
            return problem.loss.value(inner.y[[i, i]], f)

        assert not values(0.999 * slack[i]).any() and (np.isinf(slack[i]) or values(1.001 * slack[i]).any())
    assert np.all(inner.slack(np.where(inner.hi > 0, 1e-3, -1e-3), outputs, b) == -np.inf)


class Matrix(Operator):
    """A matrix that only multiplies, and knows the `rank` largest of its eigenvectors."""

    def __init__(self, K, rank=0):
        self.K, self.shape, self.dtype, self.rank = K, K.shape, K.dtype, rank

    def multiply(self, V):
        return V @ self.K

    def diagonal(self):
        return np.diagonal(self.K)

    def take(self, index):
        return Matrix(self.K[np.ix_(index, index)], self.rank)

    def array(self):
        return self.K.copy()

    def low_rank(self, rank):
        value, vector = np.linalg.eigh(self.K)
        return vector[:, -self.rank :] * np.sqrt(np.maximum(value[-self.rank :], 0)) if self.rank else None


@pytest.mark.parametrize("rank", [0, 3])
@pytest.mark.parametrize("equality", [True, False])
def test_conjugate_gradients_solve_a_system_in_as_many_steps_as_it_has_eigenvalues(equality, rank):
    """Eight values beside 1 (and the constraint): all rows of R are solved, each to its own end."""
    rng = np.random.default_rng(0)
    U, h = rng.normal(size=(60, 8)) * np.geomspace(0.1, 10, 8), rng.uniform(0.2, 3.0, 60)
    K, R, X = U @ U.T, rng.normal(size=(3, 60)) * [[1.0], [1e-3], [1e3]], rng.normal(size=(3, 60))
    x, definite = conjugate_gradients(Matrix(K, rank), h, R, X, equality, 1e-14, 12)
    A, r = K + np.diag(1 / h), R.T
    if equality:  # A x + β 1 = r, Σ x as it was
        A = np.block([[A, np.ones((60, 1))], [np.ones((1, 60)), np.zeros((1, 1))]])
        r = np.vstack([r, X.sum(axis=1)])
    np.testing.assert_allclose(x.T, np.linalg.solve(A, r)[:60], rtol=0, atol=1e-6)
    assert definite


def test_few_factors_solve_a_problem_with_many_free_variables(monkeypatch):
    """Newton steps on a float32 kernel end where its own digits end, without an interior point."""
    rng, n, C = np.random.default_rng(0), 300, 100.0
    X = rng.normal(size=(n, 10))
    K = np.exp(-0.1 * ((X[:, None] - X) ** 2).sum(axis=2)).astype(np.float32)
    y = np.sign(X[:, 0]) + 0.3 * rng.normal(size=n)
    inner = InnerProblem(losses.EpsilonInsensitive(0.1), y, np.full(n, C), True)
    factors, system = [], inner.system
    monkeypatch.setattr(inner, "system", lambda *block: factors.append(system(*block)) or factors[-1])
    monkeypatch.setattr(inner_module, "interior_point", lambda *block: pytest.fail("it is not needed"))
    a, outputs, _, gap = inner.solve(K, np.zeros(n), 5e-3)
    assert gap <= 5e-3 < 2e-5 * abs(inner.objective(a, outputs))
    assert len(factors) <= 8
    assert np.count_nonzero(inner.free(a)) > 0.8 * n


def test_a_smooth_loss_takes_newton_steps_on_a_kernel_without_its_mean(monkeypatch):
    """Σ a is fixed, so that a constant makes the kernel definite, without an interior point."""
    Ks, y = make(2, n=60)
    K = Ks.sum(axis=0)
    monkeypatch.setattr(inner_module, "interior_point", lambda *block: pytest.fail("it is not needed"))
    for dtype in (np.float32, np.float64):
        inner = InnerProblem(losses.Logistic(), y, np.full(60, 100.0), True)
        block = (K - K.max()).astype(dtype)
        start = inner.loss.start(y, inner.c, True)
        assert inner.solve(block, start, 1e-3)[-1] <= 1e-3
        x, _ = inner.system(block, np.arange(60), np.full(60, 0.04), damped=True).solve(y, 0.0)
        left = y - (block.astype(float) + 0.04 * np.eye(60)) @ x
        np.testing.assert_allclose(left - left.mean(), 0.0, atol=1e-9)


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "epsilon_insensitive", "huber"])
def test_multipliers_solve_a_problem_with_covariates_without_the_interior_point_method(loss, intercept, monkeypatch):
    """Eᵀa = 0, and primal and dual value agree, by formulas of their own."""
    monkeypatch.setattr(adjusted, "interior_point", None)
    V, rng = losses.get(loss), np.random.default_rng(0)
    Ks, y = make(5, n=80, real=V.targets == "real")
    E = np.column_stack([np.ones(80), rng.normal(size=80), np.arange(80) % 3 == 1])[:, int(not intercept) :]
    K, c = Ks.sum(axis=0), np.full(80, 2.0)
    a, outputs, b, gap = adjusted.AdjustedProblem(V, y, c, intercept, 1, E).solve(K, np.zeros(80), 1e-9 * c.sum())
    assert gap <= 1e-9 * c.sum() and np.abs(E.T @ a).max() <= 1e-11
    np.testing.assert_allclose(outputs, K @ a, atol=1e-10)
    primal = c @ V.value(y, K @ a + E @ b) + 0.5 * a @ K @ a
    assert primal == pytest.approx(-V.dual_value(y, c, a) - 0.5 * a @ K @ a, rel=1e-8)
