"""A warm start knows what the fit before it has found of the problem: its size, and the precision that it needs."""

from dataclasses import replace

import numpy as np
import pytest

from manykernels.banks import DenseBank
from manykernels.kernels import RBF, Linear
from manykernels.losses import Hinge
from manykernels.problem import Problem
from manykernels.regularizers import LpNorm
from manykernels.solvers import _wrapper, solve
from manykernels.solvers._warm import begin_from

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
