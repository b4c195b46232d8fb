"""Losses that are no sum over examples, Cox's and that of ordered pairs, and their certified optima."""

import cvxpy as cp
import numpy as np
import pytest
from conic import ranking, solve_conic
from numpy.testing import assert_allclose
from scipy.optimize import minimize

from manykernels.banks import DenseBank
from manykernels.inner import inner_problem
from manykernels.losses import Cox, Ranking
from manykernels.losses.coupled import STRATUM
from manykernels.losses.cox import RiskSets
from manykernels.problem import Problem
from manykernels.regularizers import BlockNorm, ElasticNet, Entropy, LpNorm, LpPenalty
from manykernels.solvers import solve
from problems import make, times

LOSSES = [Cox("efron"), Cox("breslow"), Ranking()]
MEMBERS = [LpNorm(1), LpNorm(2), LpNorm(np.inf), Entropy(0.5), LpPenalty(2, 1.0)]
CASES = [*((loss, member) for member in MEMBERS for loss in LOSSES), (Cox("efron"), BlockNorm(3)),
         (Cox("breslow"), BlockNorm(3)), (Ranking(), ElasticNet(0.5))]  # fmt: skip
every = pytest.mark.parametrize("loss", LOSSES, ids=repr)


def sample(seed, n=25, strata=2):
    """Signed times with ties and strata, costs of which one is 0, and risks."""
    rng = np.random.default_rng(seed)
    f, c = rng.normal(size=n), rng.uniform(0.5, 2.0, n)
    c[3] = 0.0
    return times(f, rng, strata), c, f


def coupled_problem(seed, member, loss):
    rng = np.random.default_rng(seed)
    Ks, f = make(seed, 24, 3, real=True)
    y, c = times(f, rng, strata=1 + seed % 3), rng.uniform(0.3, 3.0, 24)
    bank = DenseBank(np.moveaxis(Ks, 0, 2), normalize=None)
    return Problem(bank, y, loss, member, c, False), Ks, y, c


def conic(problem, Ks, y, c, **options):
    """The optimum of the problem by a convex solver."""
    ties = {"ties": problem.loss.ties} if problem.loss.name == "cox" else {}
    return solve_conic(Ks, y, problem.loss.name, problem.regularizer, sample_weight=c, **ties, **options)


def naive(y, c, f, loss):
    """The loss from its definition."""
    if loss.name == "ranking":
        return float(ranking(y, c, f).value)
    time, event, stratum = np.abs(y), ~np.signbit(y) & (c > 0), np.floor(np.abs(y) / STRATUM)
    risk = 0.0
    for at in np.unique(time[event]):
        alive, dead = (time >= at) & (stratum == np.floor(at / STRATUM)), (time == at) & event
        for k in range(dead.sum()):
            left = 1 - k / dead.sum() if loss.ties == "efron" else 1.0
            sums = np.sum((c * np.exp(f) * np.where(dead, left, 1.0))[alive])
            risk += c[dead].sum() / dead.sum() * np.log(sums / (left * c[dead].sum()))
        risk -= c[dead] @ f[dead]
    return risk


@every
@pytest.mark.parametrize("seed", range(4))
def test_value_gradient_and_curvature_agree(loss, seed):
    y, c, f = sample(seed)
    h, near = (1e-5, 1e-8) if loss.name == "cox" else (1e-6, 1e-7)
    unit = h * np.eye(len(y))
    assert loss.risk(y, c, f) == pytest.approx(naive(y, c, f, loss), rel=1e-12) and loss.risk(y, c, f) > 0
    slopes = [(loss.risk(y, c, f + e) - loss.risk(y, c, f - e)) / (2 * h) for e in unit]
    assert_allclose(loss.slope(y, c, f), slopes, atol=near)
    bend = np.array([(loss.slope(y, c, f + e) - loss.slope(y, c, f - e)) / (2 * h) for e in unit])
    for part in loss.strata(y, c):
        own, block = part.at(f), bend[np.ix_(part.rows, part.rows)]
        assert_allclose(own.times(np.eye(len(block))), block, atol=near)
        assert_allclose(own.diagonal(), block.diagonal(), atol=near)
        if loss.name == "ranking":
            assert_allclose(own.curvature(), block, atol=near)
    ones = np.ones(len(y))
    assert loss.value(y, f).sum() == pytest.approx(loss.risk(y, ones, f), rel=1e-12)


@pytest.mark.parametrize("draw", range(3))
@pytest.mark.parametrize("k", range(len(CASES)))
def test_primal_and_dual_equal_the_optimum_of_a_convex_solver(k, draw):
    """Problems with ties, strata and weights."""
    loss, member = CASES[k]
    problem, *data = coupled_problem(18 * draw + k, member, loss)
    found, truth = solve(problem, tol=1e-7), conic(problem, *data)["objective"]
    assert found.converged and found.gap <= 1e-7
    assert found.primal == pytest.approx(truth, rel=1e-6)
    assert found.dual <= truth * (1 + 1e-8) and found.primal >= truth * (1 - 1e-8)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("loss", LOSSES[::2], ids=repr)
def test_covariates_equal_the_convex_solver(loss, seed):
    """Adjusted for and not penalised, Zᵀa = 0, with ties and strata."""
    problem, Ks, y, c = coupled_problem(seed, MEMBERS[seed], loss)
    Z = np.random.default_rng(seed).normal(size=(24, 2))
    adjusted = Problem(problem.bank, y, loss, MEMBERS[seed], c, False, Z)
    found, truth = solve(adjusted, tol=1e-7), conic(problem, Ks, y, c, covariates=Z)
    assert found.converged and found.primal == pytest.approx(truth["objective"], rel=1e-6)
    assert_allclose(adjusted.coefficients(found.b)[1][0], truth["w"], atol=2e-3)
    assert np.abs(found.a[0] @ Z).max() < 1e-8


@every
def test_solvers_that_need_a_sum_over_examples_say_so(loss):
    problem, *_ = coupled_problem(0, LpNorm(1), loss)
    for name in ("chunking", "coordinate", "primal", "interior", "spicy"):
        with pytest.raises(ValueError, match=f"'{name}' cannot take this problem: .*sum over examples.*{loss.name}"):
            solve(problem, name)


both_ties = pytest.mark.parametrize("ties", ["efron", "breslow"])


@both_ties
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


@both_ties
def test_far_risks_stay_finite(ties):
    y, c, f = sample(0)
    loss = Cox(ties)
    for size in (1e2, 1e4):
        u = loss.slope(y, c, size * f)
        value = loss.risk(y, c, size * f)
        assert np.isfinite(value) and np.all(np.isfinite(u))
        assert loss.dual_value(y, c, -u) == pytest.approx(size * u @ f - value, abs=1e-8 * size * np.abs(u) @ np.abs(f))


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


@both_ties
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


def test_times_without_pairs_are_refused():
    problem, *_ = coupled_problem(0, LpNorm(2), LOSS)
    for y in (-np.arange(1.0, 25.0), np.full(24, 3.0)):
        with pytest.raises(ValueError, match="no (event|pair)"):
            Problem(problem.bank, y, LOSS, LpNorm(2), 1.0, False)
