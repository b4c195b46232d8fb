"""Covariates that are adjusted for and not penalised: f = Σ_m f_m + Z w + b."""

import numpy as np
import pytest
from conic import solve_conic
from covering import covering

from manykernels import losses
from manykernels.banks import DenseBank
from manykernels.banks.features import FeatureBank
from manykernels.kernels import KernelList, Linear
from manykernels.problem import Problem
from manykernels.regularizers import BlockNorm, ElasticNet, Entropy, Fixed, LpNorm
from manykernels.solvers import SOLVERS, Solver, best_for, solve
from problems import evaluate, make

LOSSES = ("hinge", "squared_hinge", "logistic", "squared", "epsilon_insensitive", "huber")
OMEGAS = (LpNorm(1), LpNorm(2), ElasticNet(0.5), Entropy(0.5), Fixed([0.5, 1.0, 2.0, 0.3]))
COSTS = np.linspace(0.5, 1.5, 30)


def with_covariates(loss, omega, n=30, C=1.0, intercept=True, T=1, seed=3):
    """(problem, kernels, Y, Z) with a numeric covariate, far from 0, and two of the three levels of a category."""
    V, rng = losses.get(loss), np.random.default_rng(seed)
    Ks, y = make(seed, n, 4, real=V.targets == "real")
    level = np.arange(n) % 3
    Z = np.column_stack([50 + 9 * rng.normal(size=n), level == 1, level == 2]).astype(float)
    Y = np.array([y, -y[::-1]])[:T]
    if V.targets == "real":
        Y = Y + 0.1 * (Z[:, 0] - 50) + 0.8 * Z[:, 1]
    bank = DenseBank(np.moveaxis(Ks, 0, 2), normalize=None)
    c = C * np.linspace(0.5, 1.5, n)
    return Problem(bank, Y, V, omega, c, intercept, Z), Ks, Y, Z


@pytest.mark.parametrize(("loss", "omega"), covering(LOSSES, OMEGAS))
def test_the_optimum_is_that_of_a_conic_program(loss, omega):
    """Six losses × five regularizers: objective, certificate and coefficients."""
    problem, Ks, Y, Z = with_covariates(loss, omega)
    found = solve(problem, tol=1e-8)
    peer = solve_conic(Ks, Y[0], loss, omega, sample_weight=COSTS, covariates=Z)
    assert found.gap <= 1e-8
    assert found.primal == pytest.approx(peer["objective"], rel=1e-6)
    b, w = problem.coefficients(found.b)
    outputs = np.einsum("m,mij,j->i", found.theta, Ks, found.a[0])
    risk = COSTS @ problem.loss.value(Y[0], outputs + b[0] + Z @ w[0])
    penalty = sum(problem.regularizer.penalty(found.theta, np.einsum("i,mij,j->m", found.a[0], Ks, found.a[0])))
    assert risk + penalty == pytest.approx(found.primal, rel=1e-9)  # in the units of Z
    assert np.abs(Z.T @ found.a[0]).max() <= 1e-9 * np.abs(Z).max()
    assert abs(found.a[0].sum()) <= 1e-11


@pytest.mark.parametrize("name", [name for name, one in SOLVERS.items() if one.adjusts and not one.explicit])
@pytest.mark.parametrize("loss", ["hinge", "logistic"])
def test_every_solver_that_adjusts_reaches_the_same_optimum(name, loss):
    omega = {"reweighted": BlockNorm(3), "sip": LpNorm(1.5)}.get(name, LpNorm(1))
    problem, Ks, _, _ = with_covariates(loss, omega)
    found = solve(problem, name, tol=1e-4)
    other = solve(problem, tol=1e-4) if name != "reweighted" else found
    primal, _, scale = evaluate(problem, Ks, found.theta, found.a, found.b)
    dual = evaluate(problem, Ks, found.theta, found.a if found.dual_a is None else found.dual_a, found.b)[1]
    assert found.converged and primal - dual <= 1e-4 * scale + 1e-9
    assert found.primal == pytest.approx(other.primal, rel=3e-4)


@pytest.mark.parametrize("omega", [LpNorm(1), LpNorm(1.5)], ids=repr)
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("name", [name for name, one in SOLVERS.items() if one.adjusts and one.explicit])
def test_solvers_on_features_reach_the_optimum_of_a_conic_program(name, loss, omega):
    """The same problem, with Φ_m Φ_mᵀ for the kernels; with and without an intercept, and an example without cost."""
    V, rng = losses.get(loss), np.random.default_rng(1)
    X, Z = rng.normal(size=(90, 6)), np.column_stack([50 + 9 * rng.normal(size=90), np.arange(90) % 3 == 1])
    f = X @ [1.0, -1.0, 0.5, 0.0, 0.0, 0.3] + 0.1 * (Z[:, 0] - 50) + Z[:, 1] + rng.normal(size=90)
    y, columns = f if V.targets == "real" else np.sign(f), [slice(0, 2), slice(2, 4), slice(4, 6)]
    kernels = KernelList.from_spec([(str(m), Linear(), part) for m, part in enumerate(columns)], X)
    bank, Ks = FeatureBank.from_list(kernels, X, normalize=None), np.array([X[:, p] @ X[:, p].T for p in columns])
    c = np.where(np.arange(90) == 7, 0.0, 0.7)
    for intercept in (True, False):
        problem = Problem(bank, y, V, omega, c, intercept, Z)
        found = solve(problem, name, tol=1e-4)
        peer = solve_conic(Ks, y, loss, omega, sample_weight=c, covariates=Z, intercept=intercept)
        primal, dual, scale = evaluate(problem, Ks, found.theta, found.a, found.b)
        if found.dual_a is not None:
            dual = evaluate(problem, Ks, found.theta, found.dual_a, found.b)[1]
        assert found.converged and primal - dual <= 1e-4 * scale + 1e-9
        assert 0 <= found.primal / peer["objective"] - 1 + 1e-7 <= 2e-4


def test_solvers_that_do_not_adjust_say_why_and_auto_takes_another():
    problem = with_covariates("hinge", LpNorm(1.5))[0]
    for name, solver in SOLVERS.items():
        assert solver.adjusts or Solver(name).refusal(problem)
    with pytest.raises(ValueError, match="solver 'chunking' cannot take this problem: it takes no covariates"):
        solve(problem, "chunking")
    assert best_for(problem).name == "newton"


@pytest.mark.parametrize("loss", ["hinge", "logistic", "epsilon_insensitive"])
def test_outputs_that_share_weights_and_problems_without_an_intercept(loss):
    for T, intercept in ((2, True), (1, False)):
        problem, Ks, Y, Z = with_covariates(loss, LpNorm(2), T=T, intercept=intercept)
        found = solve(problem, tol=1e-7)
        peer = solve_conic(Ks, Y, loss, 2, sample_weight=COSTS, covariates=Z, intercept=intercept)
        assert found.primal == pytest.approx(peer["objective"], rel=1e-6)
        b, w = problem.coefficients(found.b)
        assert b.shape == (T,) and w.shape == (T, 3) and b.any() == intercept


def test_covariates_that_say_nothing_new_change_nothing():
    """A column twice, a constant column, and a column of tiny numbers: the basis has their rank."""
    problem, _, Y, Z = with_covariates("hinge", LpNorm(2))
    double = np.column_stack([Z, Z[:, 0], np.full(len(Z), 7.0), 1e-9 * Z[:, 1]])
    other = Problem(problem.bank, Y, problem.loss, LpNorm(2), problem.c, covariates=double)
    assert other.covariates.shape == problem.covariates.shape == (30, 4)
    assert solve(other, tol=1e-8).primal == pytest.approx(solve(problem, tol=1e-8).primal, rel=1e-7)


def test_examples_without_weight_do_not_hide_that_covariates_separate_the_classes():
    """Examples on the wrong side cost nothing."""
    problem, _, Y, Z = with_covariates("hinge", LpNorm(2))
    Z, costs, logistic = np.column_stack([Z, Y[0]]), np.ones(len(Z)), losses.get("logistic")
    Z[::4, -1] *= -1
    assert Problem(problem.bank, Y, logistic, LpNorm(2), costs, covariates=Z).n_outputs == 1
    costs[::4] = 0.0
    with pytest.raises(ValueError, match="covariates alone separate the classes"):
        Problem(problem.bank, Y, logistic, LpNorm(2), costs, covariates=Z)


@pytest.mark.parametrize("loss, one", [("logistic", 1.0), ("smooth_hinge", -1.0), ("poisson", 0.0)])
def test_only_covariates_without_a_minimum_are_refused(loss, one):
    """The outputs of a smooth hinge may be far from its bend: its a is then next to its bound, and w is finite."""
    V, rng = losses.get(loss), np.random.default_rng(0)
    x = np.linspace(-1.0, 1.0, 30) * (4.0 if loss == "smooth_hinge" else 1.0)
    y = np.where(x + 0.3 * np.sin(9 * x) > 0, 1.0, -1.0) if loss != "poisson" else rng.poisson(np.exp(x)).astype(float)
    y[[0, -1]] = 1.0 if loss != "poisson" else 3.0
    bank = DenseBank(np.moveaxis(make(0, 30)[0], 0, 2), normalize=None)
    found = solve(Problem(bank, y, V, LpNorm(2), covariates=x[:, None]), tol=1e-6)
    assert found.gap <= 1e-6
    alone = np.zeros((30, 1))
    alone[3:7] = 1.0  # a category whose examples all have one class, or no event
    y[3:7] = one
    with pytest.raises(ValueError, match="covariates alone"):
        Problem(bank, y, V, LpNorm(2), covariates=np.column_stack([x, alone]))


def test_losses_that_compare_with_a_level_take_no_covariates():
    problem, _, Y, Z = with_covariates("hinge", LpNorm(2))
    for loss in ("one_class", "level_set"):
        with pytest.raises(ValueError, match=f"the {loss} loss takes no covariates"):
            Problem(problem.bank, Y, losses.get(loss), LpNorm(2), 0.1, loss == "one_class", Z)


def test_active_examples_keep_their_own_covariates():
    """Of 1,500 examples some are active, and not the first ones."""
    rng = np.random.default_rng(1)
    x, z = rng.normal(size=(1500, 2)), rng.normal(size=(1500, 1))
    y = np.where(x[:, 0] + 2 * z[:, 0] + 0.3 * rng.normal(size=1500) > 0, 1.0, -1.0)
    squares = ((x[:, None] - x[None]) ** 2).sum(axis=-1)
    bank = DenseBank(np.stack([np.exp(-g * squares) for g in (0.3, 1.0)], axis=2))
    found = solve(Problem(bank, y, losses.Hinge(), LpNorm(2), covariates=z), "newton")
    assert found.converged and min(step["n_active"] for step in found.history) < 1500
