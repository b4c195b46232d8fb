"""Covariates that are adjusted for and not penalised: f = Σ_m f_m + Z w + b. Issue 15, point 1."""

import numpy as np
import pytest
from conic import solve_conic
from problems import evaluate, make

from manykernels import losses
from manykernels.banks import DenseBank
from manykernels.problem import Problem
from manykernels.regularizers import BlockNorm, ElasticNet, Entropy, Fixed, LpNorm
from manykernels.solvers import SOLVERS, Solver, best_for, solve

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


@pytest.mark.parametrize("omega", OMEGAS, ids=repr)
@pytest.mark.parametrize("loss", LOSSES)
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
