"""The certificate: what its gap is relative to, what it refuses to certify, and that float32 does not change it."""

import numpy as np
import pytest

from manykernels import losses
from manykernels.banks import DenseBank
from manykernels.problem import Problem
from manykernels.regularizers import Entropy, LpNorm
from manykernels.solvers import Control, Oracle, solve
from manykernels.solvers._run import Run
from problems import make as make_problem
from problems import small_problem


def certify(problem, Ks, theta, a, b):
    q = np.einsum("ti,mij,tj->m", a, Ks, a)
    outputs = np.einsum("m,mij,tj->ti", theta, Ks, a)
    return problem.certificate(problem.losses(outputs, b), a, b, theta, q)


@pytest.mark.parametrize("regularizer", [LpNorm(1), Entropy(2.0)], ids=repr)
@pytest.mark.parametrize("loss", sorted(losses.LOSSES))
def test_the_gap_is_relative_to_terms_of_which_none_is_larger(loss, regularizer):
    """|objective| ≤ scale, at every point: the offset of one-class problems and the entropy may be negative."""
    problem, Ks, _ = small_problem(loss, regularizer)
    rng, lo, hi = np.random.default_rng(0), *problem.loss.box(problem.Y[0], problem.c[0])
    for b in (0.0, 3.0, -3.0) if problem.intercept else (0.0,):
        a = np.clip(1e-2 * rng.normal(size=(1, 30)), lo, hi)
        c = certify(problem, Ks, rng.dirichlet(np.ones(4)), a, np.array([b]))
        assert abs(c.primal) <= c.scale * (1 + 1e-12)


def test_a_primal_value_below_the_dual_is_no_proof():
    """Weak duality is broken by a kernel that is not positive semidefinite, or by a bug: the gap is then NaN."""
    problem, Ks, _ = small_problem("hinge", LpNorm(2))
    best = solve(problem, tol=1e-6)
    q = np.einsum("ti,mij,tj->m", best.a, Ks, best.a)
    impossible = problem.certificate(np.zeros(1), best.a, best.b, 0.1 * best.theta, q)
    assert impossible.primal < impossible.dual and np.isnan(impossible.gap)
    run = Run(problem, Control(1e-3, 10))
    run.scale, run.upper = 10.0, 7.0
    for lower, gap in ((6.0, 0.1), (7.0 + 1e-9, 0.0), (7.1, np.nan)):  # rounding is no break
        run.lower = lower
        np.testing.assert_allclose(run.gap, gap)


@pytest.mark.parametrize("name", ["newton", "silp", "chunking", "spicy"])
def test_no_solver_calls_a_broken_duality_converged(name):
    """Kernels with negative eigenvalues of the size of the positive ones."""
    rng = np.random.default_rng(0)
    B = rng.normal(size=(2, 40, 40))
    with pytest.warns(UserWarning, match="semidefinite"):
        bank = DenseBank(np.moveaxis(B + B.transpose(0, 2, 1), 0, 2), normalize=None)
    y = np.where(rng.random(40) < 0.5, 1.0, -1.0)
    s = solve(Problem(bank, y, losses.get("hinge"), LpNorm(1), 1.0), name, tol=1e-3, max_iter=30)
    assert not s.converged or s.primal >= s.dual - 1e-6 * abs(s.primal)


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("loss", ["hinge", "epsilon_insensitive"])
def test_float32_blocks_do_not_change_the_certificate(loss, intercept):
    """Copies lie on the margin, some of them with a = 0: there float32 outputs would tell another loss."""
    rng = np.random.default_rng(3)
    X = np.repeat(rng.normal(size=(40, 3)), 5, axis=0)
    D = ((X[:, None] - X[None]) ** 2).sum(-1)
    S = np.stack([np.exp(-g * D) for g in (0.01, 0.1, 1.0)], axis=2)
    y = X[:, 0] + 0.5 * np.repeat(rng.normal(size=40), 5)
    y = np.where(y > 0, 1.0, -1.0) if loss == "hinge" else y
    for C in (0.3, 3.0, 30.0):
        problem = Problem(DenseBank(S), y, losses.get(loss), LpNorm(1.5), C, intercept)
        s = solve(problem, "newton", tol=1e-4)
        P = problem.bank.products(s.a, np.arange(200))
        q, outputs = np.einsum("tmi,ti->m", P, s.a), np.einsum("m,tmi->ti", s.theta, P)
        exact = problem.losses(outputs, s.b).sum() + 0.5 * s.theta @ q
        rounding = 200 * 2.0**-52 * C * np.sum(np.abs(problem.bank.combined(s.theta)) @ np.abs(s.a[0]))  # of float64
        assert s.converged and s.primal == pytest.approx(exact, rel=0, abs=rounding)


@pytest.mark.parametrize("name", ["silp", "simplemkl", "nesterov", "level"])
def test_a_solution_is_the_best_point_that_was_certified(name):
    """The values of cutting planes rise and fall on the way."""
    problem, *_ = small_problem("hinge", Entropy(0.1) if name == "nesterov" else LpNorm(1), n=60, M=8, seed=9, C=10)
    for max_iter in (3, 6, 9):
        s = solve(problem, name, tol=1e-12, max_iter=max_iter)
        assert s.primal == min(h["primal"] for h in s.history)
        assert s.dual >= max(h["dual"] for h in s.history)


@pytest.mark.parametrize("loss", ["hinge", "one_class"])
def test_the_dual_value_of_a_result_is_that_at_its_own_intercept(loss):
    """Issue 11: rounding leaves (total − Σa) b in the bound, and b was that of an earlier, worse point."""
    problem, Ks, _ = small_problem(loss, LpNorm(2))
    good = solve(problem, tol=1e-3)
    a = good.a.copy()
    a[0, np.argmax(np.abs(a[0]))] *= 1 - 1e-8
    off = problem.loss.total - a.sum()

    def algorithm(oracle):
        oracle.certify(good.theta, a, b=1e3 * np.sign([off]))
        oracle.certify(good.theta, a, b=good.b)

    found = Oracle(problem, Control(tol=0.01)).run(algorithm)
    assert found.converged and len(found.history) == 2 and np.array_equal(found.b, good.b)
    assert found.dual == pytest.approx(certify(problem, Ks, good.theta, a, good.b).dual, rel=1e-12)


@pytest.mark.parametrize("loss", sorted(losses.LOSSES))
def test_examples_left_out_of_a_certificate_count_with_their_costs(loss):
    """Issue 11, point 24. Rows of a problem with uneven costs, the others at 0: the same conjugate as with all rows."""
    problem, _, y = small_problem(loss, LpNorm(2))
    rng = np.random.default_rng(1)
    c = problem.c * rng.uniform(0.1, 3.0, 30)
    problem = Problem(problem.bank, y, problem.loss, LpNorm(2), c, problem.intercept)
    rows = np.sort(rng.permutation(30)[:11])
    lo, hi = problem.loss.box(problem.Y[0], problem.c[0])
    a = np.zeros((1, 30))
    a[0, rows] = np.clip(0.05 * rng.normal(size=11), lo[rows], hi[rows])
    np.testing.assert_allclose(problem.conjugates(a[:, rows], rows), problem.conjugates(a), rtol=1e-12)


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("loss", sorted(losses.LOSSES))
def test_a_problem_is_refused_with_examples_of_cost_0_where_it_is_refused_without_them(loss, intercept):
    """Issue 11, point 24. Logistic loss and an intercept need two classes with weight, in every output."""
    loss, (Ks, y) = losses.get(loss), make_problem(n=30)

    def refused(rows, c):
        bank = DenseBank(np.moveaxis(Ks[:, rows][:, :, rows], 0, 2), normalize=None)
        try:
            Problem(bank, np.array([y, -y])[:, rows], loss, LpNorm(2), c, intercept)
        except ValueError as error:
            return str(error)

    own, every = np.flatnonzero(y > 0), np.arange(30)
    without, weighted = refused(own, 1.0), refused(every, np.where(y > 0, 1.0, 0.0))
    assert weighted == without and (loss.name != "logistic" or bool(without) == intercept)
    second = refused(every, np.array([np.ones(30), np.where(y > 0, 1.0, 0.0)]))
    assert bool(second) == bool(without) and (refused(every, 1.0) is None or loss.name != "logistic")
