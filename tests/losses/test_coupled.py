"""Issue 15: losses that are no sum over examples, Cox's and that of ordered pairs: derivatives and certified optima."""

import numpy as np
import pytest
from conic import ranking, solve_conic
from numpy.testing import assert_allclose
from problems import make, times

from manykernels.banks import DenseBank
from manykernels.losses import Cox, Ranking
from manykernels.losses.coupled import STRATUM
from manykernels.problem import Problem
from manykernels.regularizers import BlockNorm, ElasticNet, Entropy, LpNorm, LpPenalty
from manykernels.solvers import solve

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
    """Issue 15, must show 1: adjusted for and not penalised, Zᵀa = 0, with ties and strata."""
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
