"""Issue 15, build 2: the ranking loss of pairs, its derivatives, its conjugate, and the certified optimum."""

import cvxpy as cp
import numpy as np
import pytest
from conic import ranking, solve_conic
from problems import make, times

from manykernels.banks import DenseBank
from manykernels.losses import Ranking
from manykernels.losses.coupled import STRATUM
from manykernels.problem import Problem
from manykernels.regularizers import ElasticNet, Entropy, LpNorm, LpPenalty
from manykernels.solvers import solve

LOSS = Ranking()


def sample(seed, n=25, strata=2):
    """Signed times with ties and strata, costs of which one is 0, and risks."""
    rng = np.random.default_rng(seed)
    f, c = rng.normal(size=n), rng.uniform(0.5, 2.0, n)
    c[3] = 0.0
    return times(f, rng, strata), c, f


@pytest.mark.parametrize("seed", range(4))
def test_value_gradient_and_curvature_agree(seed):
    (y, c, f), h = sample(seed), 1e-6
    unit = h * np.eye(len(y))
    assert LOSS.risk(y, c, f) == pytest.approx(float(ranking(y, c, f).value), rel=1e-12) and LOSS.risk(y, c, f) > 0
    slopes = [(LOSS.risk(y, c, f + e) - LOSS.risk(y, c, f - e)) / (2 * h) for e in unit]
    np.testing.assert_allclose(LOSS.slope(y, c, f), slopes, atol=1e-7)
    bend = np.array([(LOSS.slope(y, c, f + e) - LOSS.slope(y, c, f - e)) / (2 * h) for e in unit])
    for part in LOSS.strata(y, c):
        own, block = part.at(f), bend[np.ix_(part.rows, part.rows)]
        np.testing.assert_allclose(own.times(np.eye(len(block))), block, atol=1e-7)
        np.testing.assert_allclose(own.curvature(), block, atol=1e-7)
        np.testing.assert_allclose(own.diagonal(), block.diagonal(), atol=1e-7)
    ones = np.ones(len(y))
    assert LOSS.value(y, f).sum() == pytest.approx(LOSS.risk(y, ones, f), rel=1e-12)


@pytest.mark.parametrize("seed", range(6))
def test_the_conjugate_is_the_least_cost_of_multipliers(seed):
    """Fenchel's equality at gradients, a quadratic program over the multipliers at other points, and inf outside."""
    y, c, f = sample(seed)
    u = LOSS.slope(y, c, f)
    assert LOSS.dual_value(y, c, -u) == pytest.approx(u @ f - LOSS.risk(y, c, f), rel=1e-10)
    assert LOSS.dual_value(y, c, 0 * u) == 0.0
    other = LOSS.slope(y, c, np.random.default_rng(seed).normal(size=len(y)))
    for a in (-0.3 * u, -0.5 * (u + other), -3.0 * u):
        assert LOSS.dual_value(y, c, a) == pytest.approx(least_cost(y, c, a), rel=1e-6, abs=1e-7)
    for outside in (u, np.ones(len(y)), np.eye(len(y))[3]):  # pulls against the order, a sum that is not 0, no weight
        assert LOSS.dual_value(y, c, outside) == np.inf
    far = np.append(y, -(5 * STRATUM + np.array([1.0, 2.0]))), np.append(c, [1.0, 1.0])  # a stratum without events
    assert LOSS.dual_value(*far, np.append(-u, [0.0, 0.0])) == pytest.approx(LOSS.dual_value(y, c, -u))
    assert LOSS.dual_value(*far, np.append(-u, [0.5, 0.0])) == np.inf
    for part in LOSS.strata(y, c):
        again = part.at(part.decisions(-u))
        np.testing.assert_allclose(again.slope(), u[part.rows], atol=1e-10 * c.sum())


def least_cost(y, c, a):
    """min over μ ≥ 0 of Σ μ² / 4w − Σ μ that balances a, by a conic solver."""
    cost, balance = 0, [0.0] * len(y)
    for part in LOSS.strata(y, c):
        for e, after, each in zip(part.deaths, part.after, part.each, strict=True):
            later = part.rows[after:]
            mu, w = cp.Variable(len(later), nonneg=True), each * c[later]
            cost += cp.sum(cp.multiply(0.25 / w, cp.square(mu))) - cp.sum(mu)
            balance[part.rows[e]] += cp.sum(mu)
            for k, j in enumerate(later):
                balance[j] -= mu[k]
    held = [own == a_i for own, a_i in zip(balance, a, strict=True) if not isinstance(own, float)]
    problem = cp.Problem(cp.Minimize(cost), held)
    problem.solve(solver="CLARABEL", tol_gap_abs=1e-10, tol_gap_rel=1e-10, tol_feas=1e-10)
    return problem.value


def ranking_problem(seed, member):
    rng = np.random.default_rng(seed)
    Ks, f = make(seed, 24, 3, real=True)
    y, c = times(f, rng, strata=1 + seed % 3), rng.uniform(0.3, 3.0, 24)
    bank = DenseBank(np.moveaxis(Ks, 0, 2), normalize=None)
    return Problem(bank, y, LOSS, member, c, False), Ks, y, c


MEMBERS = [LpNorm(1), LpNorm(2), LpNorm(np.inf), Entropy(0.5), LpPenalty(2, 1.0), ElasticNet(0.5)]


@pytest.mark.parametrize("seed", range(24))
def test_primal_and_dual_equal_the_optimum_of_a_convex_solver(seed):
    """Problems with ties, strata and weights."""
    member = MEMBERS[seed % len(MEMBERS)]
    problem, Ks, y, c = ranking_problem(seed, member)
    found = solve(problem, tol=1e-7)
    truth = solve_conic(Ks, y, "ranking", member, sample_weight=c)["objective"]
    assert found.converged and found.gap <= 1e-7
    assert found.primal == pytest.approx(truth, rel=1e-6) and found.dual == pytest.approx(truth, rel=1e-6)
    assert found.dual <= truth * (1 + 1e-8) and found.primal >= truth * (1 - 1e-8)


@pytest.mark.parametrize("seed", range(4))
def test_covariates_equal_the_convex_solver(seed):
    problem, Ks, y, c = ranking_problem(seed, MEMBERS[seed])
    Z = np.random.default_rng(seed).normal(size=(24, 2))
    adjusted = Problem(problem.bank, y, LOSS, MEMBERS[seed], c, False, Z)
    found = solve(adjusted, tol=1e-7)
    truth = solve_conic(Ks, y, "ranking", MEMBERS[seed], sample_weight=c, covariates=Z)
    assert found.converged and found.primal == pytest.approx(truth["objective"], rel=1e-6)
    np.testing.assert_allclose(adjusted.coefficients(found.b)[1][0], truth["w"], atol=2e-3)
    assert np.abs(found.a[0] @ Z).max() < 1e-8


def test_covariates_that_order_all_events_leave_nothing_to_the_kernels():
    problem, _, y, c = ranking_problem(0, LpNorm(2))
    early = -(np.abs(y) % STRATUM)
    found = solve(Problem(problem.bank, np.abs(y), LOSS, LpNorm(2), c, False, early[:, None]), tol=1e-7)
    assert found.converged and found.primal == pytest.approx(0.0, abs=1e-9)


def test_an_example_of_weight_two_is_two_examples():
    y, c, f = sample(1)
    twice = np.repeat(np.arange(len(y)), 2)
    assert LOSS.risk(y, 2 * c, f) == pytest.approx(LOSS.risk(y[twice], c[twice], f[twice]), rel=1e-12)


def test_solvers_that_need_a_sum_over_examples_say_so():
    problem, *_ = ranking_problem(0, LpNorm(1))
    for name in ("chunking", "coordinate", "primal", "interior", "spicy"):
        with pytest.raises(ValueError, match=f"'{name}' cannot take this problem: .*sum over examples.*ranking"):
            solve(problem, name)


def test_times_without_pairs_are_refused():
    problem, *_ = ranking_problem(0, LpNorm(2))
    for y in (-np.arange(1.0, 25.0), np.full(24, 3.0)):
        with pytest.raises(ValueError, match="no (event|pair)"):
            Problem(problem.bank, y, LOSS, LpNorm(2), 1.0, False)
