"""Warm starts: what they know of the fit before, and points of other problems, made feasible for this one."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from manykernels import losses
from manykernels.banks import DenseBank
from manykernels.inner import InnerProblem
from manykernels.kernels import RBF, Linear
from manykernels.losses import Hinge
from manykernels.problem import Problem
from manykernels.regularizers import LpNorm
from manykernels.solution import Solution
from manykernels.solvers import _wrapper, solve
from manykernels.solvers._warm import begin_from, onto_total
from problems import make, times

rng = np.random.default_rng(0)
X = rng.normal(size=(150, 4))
Y = np.sign(X[:, 0] + X[:, 1] + 0.1 * rng.normal(size=150))
BANK = DenseBank(np.stack([*(RBF(gamma=g)(X) for g in np.logspace(-3, 0, 40)), Linear()(X)], axis=2))


@pytest.mark.parametrize("p", [4, np.inf])
def test_along_C_one_inner_problem_is_enough_where_the_weights_hardly_move(p):
    last, steps = None, []
    for C in (300.0, 200.0, 130.0, 90.0, 60.0):
        last = solve(Problem(BANK, Y, Hinge(), LpNorm(p), C), "newton", warm=last)
        assert last.converged
        steps.append(last.n_iter)
    assert steps[1:] == [1] * 4


def test_weights_that_are_feasible_are_begun_from_to_the_last_bit():
    problem = Problem(BANK, Y, Hinge(), LpNorm(4 / 3), 10.0)
    first = solve(problem, "newton")
    again = solve(problem, "newton", warm=first)
    assert again.n_iter == 1 and np.array_equal(again.theta, first.theta)


def test_a_warm_start_keeps_the_support():
    """Σa is 0 up to rounding only: the examples with a ≠ 0 share the difference, and no other joins them."""
    found = solve(Problem(BANK, Y, Hinge(), LpNorm(2), 1.0), "newton")
    off = replace(found, a=found.a * (1 + 1e-9 * (found.a > 0)))
    start = begin_from(off, Problem(BANK, Y, Hinge(), LpNorm(2), 1.0))
    assert abs(off.a.sum()) > 1e-10 > 1e-14 > abs(start.a.sum())
    assert np.array_equal(start.a != 0, found.a != 0) and 0 < np.count_nonzero(start.a) < 150
    assert start.norms is None is not found.norms


def test_a_start_whose_support_lacks_the_room_uses_the_others():
    found = solve(Problem(BANK, Y, Hinge(), LpNorm(2), 1.0), "newton")
    most = replace(found, a=np.where(Y > 0, Y, 0.0)[None])  # all at their bounds, and the other class at 0
    start = begin_from(most, Problem(BANK, Y, Hinge(), LpNorm(2), 1.0))
    assert abs(start.a.sum()) < 1e-12 and (start.a * Y >= 0).all() and (np.abs(start.a) <= 1).all()


def test_the_norms_of_a_solution_are_those_of_its_point_and_stay_out_of_files(monkeypatch):
    monkeypatch.setattr(_wrapper, "FIRST_ACTIVE", 30)
    problem = Problem(BANK, Y, Hinge(), LpNorm(4 / 3), 1.0)
    found = solve(problem, "newton")
    K = np.array([BANK.matrix(row, None, np.float64, False) for row in np.eye(BANK.M)[problem.kernels]])
    wanted = np.einsum("ti,mij,tj->m", found.a, K, found.a)
    np.testing.assert_allclose(found.norms, wanted, rtol=1e-9)
    assert "norms" not in found.to_state() and "active" not in found.to_state()
    assert np.isin(np.flatnonzero(found.a.any(axis=0)), found.active).all()
    assert np.array_equal(found.active, np.unique(found.active)) and len(found.active) < 150


def test_a_warm_start_begins_with_the_examples_that_were_near(monkeypatch):
    monkeypatch.setattr(_wrapper, "FIRST_ACTIVE", 30)
    found = solve(Problem(BANK, Y, Hinge(), LpNorm(4 / 3), 1.0), "newton")
    begun = []
    activate = _wrapper.Wrapper._activate
    monkeypatch.setattr(_wrapper.Wrapper, "_activate", lambda self, rows: begun.append(rows) or activate(self, rows))
    again = solve(Problem(BANK, Y, Hinge(), LpNorm(4 / 3), 1.1), "newton", warm=found)
    assert again.converged and np.array_equal(begun[0], found.active)


def test_a_warm_start_does_not_make_all_examples_active():
    """Its active examples are mostly support, which says nothing about the others; words then had no kernel matrix."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(1500, 2))
    y = np.where(x[:, 0] + 0.7 * rng.normal(size=1500) > 0, 1.0, -1.0)
    squares = ((x[:, None] - x[None]) ** 2).sum(axis=-1)
    problem = Problem(DenseBank(np.stack([np.exp(-g * squares) for g in (0.3, 1.0)], axis=2)), y, Hinge(), LpNorm(2))
    found = solve(problem, "newton", tol=1e-3)
    finer = solve(problem, "newton", tol=1e-6, warm=replace(found, active=None))
    assert finer.gap <= 1e-6 and max(step["n_active"] for step in finer.history) < 1500


n = 24
LOSSES = ["hinge", "squared_hinge", "logistic", "epsilon_insensitive", "huber", "quantile", "smooth_hinge", "squared"]


def problem(loss, free="intercept", C=1.0, flip=False, hole=False, seed=3):
    """Two outputs with uneven costs; `flip` turns some targets around, `hole` leaves examples without cost."""
    V, rng = losses.get(loss), np.random.default_rng(seed)
    Ks, y = make(seed, n, 3, real=V.targets == "real")
    y = np.where(np.arange(n) % 5 == 0, -y, y) if flip else y
    y = np.ones(n) if V.total else y
    c = C * np.linspace(0.5, 1.5, n) * (1.0 if not V.total else 3.0 / n)
    c = np.where(np.arange(n) % 6 == 1, 0.0, c) if hole else c
    Z = np.column_stack([5 + rng.normal(size=n), np.arange(n) % 3 == 1]) if free == "covariates" else None
    bank = DenseBank(np.moveaxis(Ks, 0, 2), normalize=None)
    return Problem(bank, [y, y if V.total else -np.roll(y, 2)], V, LpNorm(2), c, free != "nothing", Z)


def point(a, b=(0.3, -0.2)):
    theta = np.array([0.5, 0.2, 0.1])
    return Solution(theta, a, np.asarray(b), 1.0, 0.5, 0.1, dual_a=2 * a, norms=np.ones(3), converged=True)


def check(start, asked):
    """Within its box, on its sums, and without a proof of the other problem."""
    V = asked.loss
    for a, y, c in zip(start.a, asked.Y, asked.c, strict=True):
        lo, hi = V.box(y, c)
        assert (a >= lo - 1e-12 * c).all() and (a <= hi + 1e-12 * c).all() and not a[c == 0].any()
        if V.interior and asked.covariates is None:  # strictly inside
            used = c > 0
            assert np.minimum(a - lo, hi - a)[used].min() > 1e-8 * c[used].min()
    assert np.abs(asked.lack(start.a)).max() <= 1e-9 * max(1.0, np.abs(start.a).sum())
    assert start.dual_a is None and start.norms is None and start.b.shape == asked.no_b().shape


@pytest.mark.parametrize("free", ["intercept", "nothing", "covariates"])
@pytest.mark.parametrize("loss", LOSSES)
def test_any_point_becomes_feasible_after_a_change_of_costs_and_labels(loss, free):
    rng = np.random.default_rng(1)
    for C, flip, hole in ((1.0, False, False), (0.1, False, False), (10.0, True, False), (1.0, True, True)):
        asked = problem(loss, free, C, flip, hole)
        for a in (rng.normal(size=(2, n)), 3 * np.abs(rng.normal(size=(2, n))), -np.ones((2, n)), np.zeros((2, n))):
            start = begin_from(point(a), asked)
            check(start, asked)
            assert_array_equal(start.theta, [0.5, 0.2, 0.1])


@pytest.mark.parametrize("factor", [0.3, 1.0, 2.0, 5.0])
def test_the_sum_of_a_one_class_problem_stays_one(factor):
    rng, asked = np.random.default_rng(2), problem("one_class")
    start = begin_from(point(factor * rng.dirichlet(np.ones(n), size=2)), asked)
    check(start, asked)
    assert_allclose(start.a.sum(axis=1), 1.0)


@pytest.mark.parametrize("free", ["intercept", "nothing"])
@pytest.mark.parametrize("loss", ["hinge", "epsilon_insensitive", "squared"])
def test_a_feasible_point_and_its_intercept_stay_as_they_are(loss, free):
    asked = problem(loss, free)
    boxes = [asked.loss.box(y, c) for y, c in zip(asked.Y, asked.c, strict=True)]
    a = np.array([np.clip(0.4 * y, lo, hi) for y, (lo, hi) in zip(asked.Y, boxes, strict=True)])
    if free == "intercept":
        pair = [(np.flatnonzero(y > 0)[0], np.flatnonzero(y < 0)[0]) for y in asked.Y]
        a = np.zeros((2, n))
        for t, (i, j) in enumerate(pair):
            a[t, i], a[t, j] = 0.25, -0.25
    start = begin_from(point(a), asked)
    assert_array_equal(start.a, a)
    assert_array_equal(start.b, [0.3, -0.2])


def test_both_outputs_move_only_as_far_as_the_covariates_ask():
    """An a that is nearly feasible in each output stays near itself; it is not begun from nothing."""
    asked = problem("hinge", "covariates")
    rng = np.random.default_rng(4)
    near = 0.3 * asked.Y * asked.c * rng.uniform(0.5, 1.0, size=(2, n))
    near = begin_from(point(near), asked).a
    assert (np.count_nonzero(near, axis=1) > 5).all()
    off = near * (1 + 1e-3 * rng.normal(size=near.shape))
    start = begin_from(point(off), asked)
    check(start, asked)
    assert_allclose(start.a, near, atol=0.05)


def test_the_intercepts_of_covariates_are_cut_to_one_for_each_output_and_those_of_coupled_losses_to_0():
    plain = problem("hinge")
    start = begin_from(point(np.zeros((2, n)), np.array([[0.3, 7.0], [-0.2, 8.0]])), plain)
    assert_array_equal(start.b, [0.3, -0.2])
    rng = np.random.default_rng(5)
    y, a = times(rng.normal(size=n), rng), rng.normal(size=(1, n))
    cox = Problem(plain.bank, y, losses.get("cox"), LpNorm(2), 1.0, False)
    start = begin_from(point(a, [0.4]), cox)
    assert not start.b.any() and start.dual_a is None
    assert_array_equal(start.a, a)


def test_a_point_of_other_examples_or_kernels_is_none():
    asked, a = problem("hinge"), np.zeros((2, n))
    assert begin_from(point(a[:, 1:]), asked) is None and begin_from(point(a[:1]), asked) is None
    assert begin_from(replace(point(a), theta=np.ones(2)), asked) is None
    assert begin_from(point(a), asked) is not None


@pytest.mark.parametrize("loss", ["hinge", "one_class", "logistic"])
def test_a_point_of_an_inner_problem_is_moved_onto_its_total(loss):
    asked = problem(loss)
    inner = InnerProblem(asked.loss, asked.Y[0], asked.c[0], True)
    lo, hi = asked.loss.box(asked.Y[0], asked.c[0])
    for a in (hi.copy(), lo.copy(), 0.5 * (lo + hi)):
        found = onto_total(np.clip(a, -1e3, 1e3), inner)
        assert found.sum() == pytest.approx(asked.loss.total, abs=1e-9)
        assert (found >= lo - 1e-12).all() and (found <= hi + 1e-12).all()
