"""Proximal steps with Newton's method on the dual: derivatives, conic optima, few passes, every loss."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from manykernels import losses
from manykernels.regularizers import BlockElasticNet, BlockNorm, BlockSum, Entropy, LpNorm, LpSum
from manykernels.solvers import Solver, solve
from manykernels.solvers.classical import spicy
from problems import make, small_problem

MEMBERS = [
    BlockNorm(3),
    BlockSum(3),
    BlockElasticNet(0),
    BlockElasticNet(0.3),
    LpSum(1),
    LpSum(1.5),
    LpNorm(1),
    LpNorm(2),
]
members = pytest.mark.parametrize("member", MEMBERS, ids=repr)


@members
@pytest.mark.parametrize("gamma", [0.3, 3.0, 1e8])
def test_the_gradient_and_hessian_of_the_proximal_dual(member, gamma):
    if gamma == 1e8 and (member.simplex or not member.finite_conjugate):
        pytest.skip("has kinks as γ → ∞")
    Ks, _ = make(3, n=12)
    rng = np.random.default_rng(0)
    beta, a = 0.5 * rng.normal(size=(2, 4, 12)), rng.normal(size=(2, 12))
    step = spicy.ProximalStep(member, gamma, beta, np.einsum("mij,tmj->tmi", Ks, beta))

    def products(a):
        return np.einsum("mij,tj->tmi", Ks, a)

    def envelope(a):
        """E from its definition, at the maximiser that the solver finds."""
        point = step.at(a, products(a))
        f = point.omega[:, None] * (beta + gamma * a[:, None])  # in the kernels' coordinates
        away = f - beta
        return (
            np.einsum("ti,mij,tmj->", a, Ks, f)
            - member.block_norm(np.einsum("tmi,mij,tmj->m", f, Ks, f))
            - np.einsum("tmi,mij,tmj->", away, Ks, away) / (2 * gamma)
        )

    point = step.at(a, products(a))
    assert point.t.any()
    V, W = step.bend(point)
    base = np.einsum("m,mij->ij", gamma * point.omega, Ks)
    h = 1e-5
    for _ in range(5):
        move = rng.normal(size=a.shape)
        up, down = (step.at(x, products(x)) for x in (a + h * move, a - h * move))
        slope = np.sum(point.outputs * move)
        assert (envelope(a + h * move) - envelope(a - h * move)) / (2 * h) == pytest.approx(slope, rel=1e-5)
        assert step.line(a, products(a), move, products(move))(0.0) == pytest.approx(slope, rel=1e-10)
        bent = move @ base + np.einsum("tmi,m->ti", V, W @ np.einsum("tmi,ti->m", V, move))
        difference = (up.outputs - down.outputs) / (2 * h)
        assert_allclose(bent, difference, rtol=1e-4, atol=1e-6 * np.abs(difference).max())


@pytest.mark.parametrize("member", [BlockNorm(3), BlockSum(4), BlockElasticNet(0.3), LpSum(2)], ids=repr)
def test_few_newton_steps_and_one_pass_each(member):
    problem, *_ = small_problem("hinge", member, n=60, M=8)
    calls, products, combined = [], problem.bank.products, problem.bank.combined
    problem.bank.products = lambda *a: calls.append("products") or products(*a)
    problem.bank.combined = lambda *a, **k: calls.append("combined") or combined(*a, **k)
    s = solve(problem, "spicy", tol=1e-6)
    assert s.converged and s.n_iter <= 12
    assert calls.count("products") <= s.n_iter + 1 and calls.count("combined") <= s.n_iter  # the last point anew


@pytest.mark.parametrize("member", [BlockNorm(3), BlockElasticNet(0), LpNorm(1)], ids=repr)
@pytest.mark.parametrize("gamma", [0.3, 30.0, 1e6])
def test_any_gamma_leads_to_the_same_optimum(member, gamma):
    problem, *_ = small_problem("squared_hinge", member)
    s = solve(problem, Solver("spicy", gamma=gamma, growth=4.0), tol=1e-6)
    assert s.converged and s.primal == pytest.approx(solve(problem, "spicy", tol=1e-7).primal, rel=3e-6)
    assert s.history[0]["gamma"] == gamma


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "epsilon_insensitive"])
def test_leaving_out_the_examples_that_do_not_matter_changes_nothing(loss, monkeypatch):
    loss = losses.EpsilonInsensitive(1.0) if loss == "epsilon_insensitive" else loss
    problem, *_ = small_problem(loss, BlockNorm(3), n=60, C=20.0)
    whole = solve(problem, "spicy", tol=1e-6)
    monkeypatch.setattr(spicy, "MIN_NEWTON_EXAMPLES", 5)
    rows, inner = [], spicy.ProximalSteps._rows
    monkeypatch.setattr(spicy.ProximalSteps, "_rows", lambda *a: rows.append(len(inner(*a))) or inner(*a))
    part = solve(problem, "spicy", tol=1e-6)
    assert part.converged and part.primal == pytest.approx(whole.primal, rel=2e-6)
    assert min(rows) < 60


def test_kernels_that_do_not_help_are_left_out_of_the_block_elastic_net():
    problem, *_ = small_problem("logistic", BlockElasticNet(0), n=40, M=8)
    s = solve(problem, "spicy", tol=1e-6)
    assert 1 <= np.count_nonzero(s.theta) < 8 and s.history[-1]["n_kernels"] == np.count_nonzero(s.theta)


def test_a_problem_whose_solution_is_zero():
    s = solve(small_problem("hinge", BlockElasticNet(0), C=1e-4)[0], "spicy", tol=1e-6)
    assert s.converged and not s.theta.any() and s.primal == pytest.approx(1e-4 * 30 * (1 - abs(make(0)[1].mean())))


def test_what_it_cannot_take_is_refused_with_the_reason():
    with pytest.raises(ValueError, match="spicy.*proximal step"):
        solve(small_problem("hinge", Entropy(1.0))[0], "spicy")
    for options, named in (({"gamma": -1.0}, "gamma.*-1"), ({"growth": 0.5}, "growth.*0.5")):
        with pytest.raises(ValueError, match=named):
            solve(small_problem("hinge", BlockNorm(3))[0], Solver("spicy", **options))
