"""Issue 15, build 2: the conjugate of the ranking loss of pairs, weights as copies, and what it refuses."""

import cvxpy as cp
import numpy as np
import pytest
from test_coupled import coupled_problem, sample

from manykernels.losses import Ranking
from manykernels.losses.coupled import STRATUM
from manykernels.problem import Problem
from manykernels.regularizers import LpNorm
from manykernels.solvers import solve

LOSS = Ranking()


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


def test_covariates_that_order_all_events_leave_nothing_to_the_kernels():
    problem, _, y, c = coupled_problem(0, LpNorm(2), LOSS)
    early = -(np.abs(y) % STRATUM)
    found = solve(Problem(problem.bank, np.abs(y), LOSS, LpNorm(2), c, False, early[:, None]), tol=1e-7)
    assert found.converged and found.primal == pytest.approx(0.0, abs=1e-9)


def test_an_example_of_weight_two_is_two_examples():
    y, c, f = sample(1)
    twice = np.repeat(np.arange(len(y)), 2)
    assert LOSS.risk(y, 2 * c, f) == pytest.approx(LOSS.risk(y[twice], c[twice], f[twice]), rel=1e-12)


def test_times_without_pairs_are_refused():
    problem, *_ = coupled_problem(0, LpNorm(2), LOSS)
    for y in (-np.arange(1.0, 25.0), np.full(24, 3.0)):
        with pytest.raises(ValueError, match="no (event|pair)"):
            Problem(problem.bank, y, LOSS, LpNorm(2), 1.0, False)
