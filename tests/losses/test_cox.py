"""Issue 15, must show 2: the conjugate of Cox's partial likelihood, its far values, and what it refuses."""

import numpy as np
import pytest
from scipy.optimize import minimize
from test_coupled import coupled_problem, sample

from manykernels.banks import DenseBank
from manykernels.inner import coupled
from manykernels.inner.choice import inner_problem
from manykernels.losses import Cox
from manykernels.losses.coupled import STRATUM
from manykernels.losses.cox import RiskSets
from manykernels.problem import Problem
from manykernels.regularizers import LpNorm
from manykernels.solvers import solve

every = pytest.mark.parametrize("ties", ["efron", "breslow"])


@every
@pytest.mark.parametrize("seed", range(4))
def test_the_conjugate_is_the_supremum(ties, seed):
    """Fenchel's equality at gradients, a generic minimiser between them and 0, and inf outside."""
    loss, (y, c, f) = Cox(ties), sample(seed)
    u = loss.slope(y, c, f)
    assert loss.dual_value(y, c, -u) == pytest.approx(u @ f - loss.risk(y, c, f), rel=1e-9)
    assert loss.dual_value(y, c, 0 * u) == pytest.approx(0.0, abs=1e-12)
    for share in (0.3, 0.9):
        best = minimize(
            lambda g, s=share: loss.risk(y, c, g) - s * u @ g, 0 * f, method="BFGS", options={"gtol": 1e-8},
            jac=lambda g, s=share: loss.slope(y, c, g) - s * u,
        )  # fmt: skip
        assert loss.dual_value(y, c, -share * u) == pytest.approx(-best.fun, abs=1e-5)
    assert loss.dual_value(y, c, -100 * u) == np.inf
    assert loss.dual_value(y, c, np.ones(len(y))) == np.inf
    alone, more = -(5 * STRATUM + np.array([1.0, 2.0])), np.array([0.5, 0.0])  # a stratum without events
    far = np.append(y, alone), np.append(c, [1.0, 1.0])
    assert loss.dual_value(*far, np.append(-u, 0 * more)) == pytest.approx(loss.dual_value(y, c, -u))
    assert loss.dual_value(*far, np.append(-u, more)) == np.inf
    for part in loss.strata(y, c):
        seen = part.rows[part.last >= 0]
        assert np.ptp((part.decisions(-u) - f)[seen]) < 1e-8


@every
def test_far_risks_stay_finite(ties):
    y, c, f = sample(0)
    loss = Cox(ties)
    for size in (1e2, 1e4):
        u = loss.slope(y, c, size * f)
        value = loss.risk(y, c, size * f)
        assert np.isfinite(value) and np.all(np.isfinite(u))
        assert loss.dual_value(y, c, -u) == pytest.approx(size * u @ f - value, abs=1e-8 * size * np.abs(u) @ np.abs(f))


def test_conjugate_gradients_replace_the_factor(monkeypatch):
    problem, *_ = coupled_problem(1, LpNorm(2), Cox())
    direct = solve(problem, tol=1e-7)
    monkeypatch.setattr(coupled, "MAX_FACTORED", 0)
    other = solve(problem, tol=1e-7)
    assert other.converged and other.primal == pytest.approx(direct.primal, rel=1e-6)
    np.testing.assert_allclose(other.theta, direct.theta, atol=1e-3)


def test_examples_without_weight_change_nothing():
    problem, Ks, y, c = coupled_problem(2, LpNorm(2), Cox())
    keep = np.arange(24) % 5 != 0
    part = DenseBank(np.moveaxis(Ks[:, keep][:, :, keep], 0, 2), normalize=None)
    few = solve(Problem(part, y[keep], Cox(), LpNorm(2), c[keep], False), tol=1e-8)
    same = solve(Problem(problem.bank, y, Cox(), LpNorm(2), np.where(keep, c, 0.0), False), tol=1e-8)
    assert same.primal == pytest.approx(few.primal, rel=1e-7) and not same.a[0, ~keep].any()


def test_a_problem_without_events_or_with_an_intercept_is_refused():
    problem, _, y, _ = coupled_problem(0, LpNorm(2), Cox())
    with pytest.raises(ValueError, match="no event among the examples.*add examples"):
        Problem(problem.bank, -np.abs(y), Cox(), LpNorm(2), 1.0, False)
    with pytest.raises(ValueError, match="intercept=False"):
        Problem(problem.bank, y, Cox(), LpNorm(2), 1.0, True)


def test_covariates_that_order_all_events_are_refused():
    problem, _, y, c = coupled_problem(0, LpNorm(2), Cox())
    early = -(np.abs(y) % STRATUM)
    with pytest.raises(ValueError, match="covariates alone predict the order of the events"):
        Problem(problem.bank, np.abs(y), Cox(), LpNorm(2), c, False, early[:, None])


def test_a_bank_with_an_inner_problem_of_its_own_is_refused():
    """Such as pairs of objects: Cox's loss is not a sum over them."""
    problem, _, y, c = coupled_problem(1, LpNorm(2), Cox())
    problem.bank.inner = lambda *_: object()
    with pytest.raises(ValueError, match=r"cox loss needs the combined kernel of all \d+ examples.*loss='log_time'"):
        inner_problem(problem, y, c)


@every
def test_coefficients_take_a_few_newton_steps(ties, monkeypatch):
    """A line search near the optimum sees only rounding; here it took 4,956 values of the loss."""
    y, c, f = sample(4, 120)
    E, seen, at = np.random.default_rng(4).normal(size=(120, 3)), [], RiskSets.at
    monkeypatch.setattr(RiskSets, "at", lambda self, f: seen.append(1) or at(self, f))
    w = Cox(ties).coefficients(y, f, c, E)
    assert np.abs(E.T @ Cox(ties).slope(y, c, f + E @ w)).max() < 1e-10 * c.sum()
    assert len(seen) <= 2 * 14  # two strata


def test_the_mean_of_a_covariate_changes_nothing(monkeypatch):
    problem, _, y, c = coupled_problem(2, LpNorm(2), Cox())
    year, found, seen, at = np.random.default_rng(2).integers(0, 2, (len(y), 1)), [], [], RiskSets.at
    monkeypatch.setattr(RiskSets, "at", lambda self, f: seen.append(1) or at(self, f))
    for mean in (0.0, 2000.0):
        seen.clear()
        own = Problem(problem.bank, y, Cox(), LpNorm(2), c, False, year + mean)
        solution = solve(own, tol=1e-6)
        found.append((own.coefficients(solution.b)[1][0, 0], solution.primal, len(seen)))
    assert found[1][:2] == pytest.approx(found[0][:2], rel=1e-6) and found[1][2] <= 2 * found[0][2]
