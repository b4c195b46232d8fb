"""Accelerated gradient steps on the dual: the bounds of Xu et al. (2010), and every loss with a quadratic conjugate."""

import numpy as np
import pytest

from manykernels.regularizers import BlockNorm, ElasticNet, Entropy, LpNorm, LpPenalty, LpSum
from manykernels.solution import Solution
from manykernels.solvers import Control, Oracle, Solver, solve
from manykernels.solvers.classical import nesterov
from problems import small_problem


def smooth_dual(problem):
    return nesterov.SmoothDual(Oracle(problem, Control(1e-6, 10)))


def inner_start(problem, tol):
    """Where the run starts: the inner problem at uniform weights."""
    oracle = Oracle(problem, Control(tol, 10))
    return oracle(oracle.theta).a


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("loss", ["hinge", "epsilon_insensitive", "huber"])
@pytest.mark.parametrize("start", ["inner problem", "zero"])
def test_the_fixed_step_meets_theorem_4_at_every_step(loss, intercept, start):
    problem, Ks, y = small_problem(loss, Entropy(2.0), C=0.2, intercept=intercept)
    N, tol, n = 200, 1e-15, Ks.shape[1]
    best = solve(problem, "newton", tol=1e-9)
    zero = Solution(np.full(4, 0.25), np.zeros((1, n)), np.zeros(1), np.inf, -np.inf, np.inf)
    warm, a0 = (zero, 0.0) if start == "zero" else (None, inner_start(problem, tol))
    run = solve(problem, Solver("nesterov", fixed_step=True, every=1), tol=tol, max_iter=N, warm=warm)
    steps = [record for record in run.history if "steps" in record]
    k, L = np.arange(len(steps)), steps[0]["lipschitz"]
    assert [record["steps"] for record in steps] == list(k + 1) and (len(steps) == N - 1 or run.gap <= tol)
    excess = best.primal - np.array([record["dual"] for record in steps])
    bound = 2 * L * np.sum((best.a - a0) ** 2) / (k + 1) ** 2
    assert np.all(excess <= bound + 1e-8)
    assert excess[-1] < 0.1 * excess[0]  # and it does go down


def test_the_constant_is_that_of_the_issue_and_bounds_the_curvature():
    lam, C = 0.5, 0.7
    problem, Ks, y = small_problem("hinge", Entropy(lam), C=C, intercept=False)
    smooth, n = smooth_dual(problem), len(y)
    top = max(np.linalg.eigvalsh(K)[-1] for K in Ks)
    L = smooth.lipschitz()
    assert L == pytest.approx(top + 2 / lam * n * C**2 * top**2, rel=1e-12)

    def gradient(a):
        return smooth.at(a, np.einsum("mij,tj->tmi", Ks, a)).gradient

    rng = np.random.default_rng(0)
    for _ in range(50):
        a, b = np.array([y * rng.uniform(0, C, n) for _ in range(2)])[:, None]
        b = a + rng.choice([1e-3, 1.0]) * (b - a)
        assert np.linalg.norm(gradient(a) - gradient(b)) <= L * np.linalg.norm(a - b)


def test_the_gradient_is_that_of_the_dual_without_a_half():
    problem, Ks, y = small_problem("huber", Entropy(0.3))
    smooth, a = smooth_dual(problem), np.random.default_rng(1).normal(size=(1, 30))

    def at(a):
        return smooth.at(a, np.einsum("mij,tj->tmi", Ks, a))

    for i in (0, 7, 29):
        e = np.eye(30)[[i]] * 1e-5
        assert (at(a + e).value - at(a - e).value) / 2e-5 == pytest.approx(at(a).gradient[0, i], rel=1e-6)
    q = np.einsum("ti,mij,tj->m", a, Ks, a)
    expected = np.exp((q - q.max()) / 0.3)
    np.testing.assert_allclose(at(a).theta, expected / expected.sum(), rtol=1e-10)  # (13) without the −1


@pytest.mark.parametrize("seed", range(40))
def test_the_step_is_the_nearest_point_of_the_box_with_kinks(seed):
    """There is one ν with z − x − ν in kink·∂|x| plus the normal cone of the box."""
    rng = np.random.default_rng(seed)
    n, scale = 30, 10.0 ** rng.integers(-3, 4)
    z, kink = scale * rng.normal(size=n), scale * rng.choice([0.0, 0.3], size=n)
    lo, hi = -scale * rng.choice([0.0, 1.0, np.inf], size=n), scale * rng.choice([0.2, 1.0, np.inf], size=n)
    total = rng.choice([0.0, 0.5 * scale])
    x = nesterov.prox(z, kink, lo, hi, total)
    assert np.all(x >= lo) and np.all(x <= hi) and x.sum() == pytest.approx(total, abs=1e-12 * scale * n)
    least = z - x - np.where(x >= hi, np.inf, np.where(x >= 0, kink, -kink))  # where x may still rise, ν is no smaller
    most = z - x + np.where(x <= lo, np.inf, np.where(x > 0, -kink, kink))
    assert least.max() <= most.min() + 1e-10 * scale
    free = nesterov.prox(z, kink, lo, hi, None)
    np.testing.assert_allclose(free, np.clip(np.sign(z) * np.maximum(np.abs(z) - kink, 0), lo, hi))


def test_a_step_costs_little_more_than_one_product_with_each_kernel():
    problem, *_ = small_problem("hinge", Entropy(0.2), n=60)
    calls, products = [], problem.bank.products
    problem.bank.products = lambda *a: calls.append(1) or products(*a)
    s = solve(problem, "nesterov", tol=1e-5)
    assert s.history[-1]["steps"] > 30
    assert len(calls) <= 1.5 * s.history[-1]["steps"] + 5


def test_what_it_cannot_take_is_refused_with_the_reason():
    for loss, regularizer, reason in (
        ("logistic", Entropy(1.0), "conjugate is quadratic.*logistic"),
        ("smooth_hinge", Entropy(1.0), "conjugate is quadratic.*smooth_hinge"),
        ("hinge", LpNorm(1), "differentiable.*Entropy"),
        ("hinge", ElasticNet(1), "differentiable.*Entropy"),
        ("hinge", LpPenalty(1, 1.0), "differentiable.*Entropy"),
        ("hinge", LpSum(1), "indicator"),
        ("hinge", BlockNorm(3), "supremum"),
    ):
        with pytest.raises(ValueError, match=f"nesterov.*{reason}"):
            solve(small_problem(loss, regularizer)[0], "nesterov")
    fixed = Solver("nesterov", fixed_step=True)
    with pytest.raises(ValueError, match="fixed_step.*Entropy"):
        solve(small_problem("hinge", LpNorm(2))[0], fixed)
    with pytest.raises(ValueError, match="fixed_step.*squared loss"):
        solve(small_problem("squared", Entropy(1.0))[0], fixed)
    with pytest.raises(ValueError, match="every.*0"):
        solve(small_problem("hinge", Entropy(1.0))[0], Solver("nesterov", every=0))
