"""What `solve` gives to a solver and makes of its result: starts, seeds, histories, bounds, the word for its end."""

from dataclasses import replace

import numpy as np
import pytest
from problems import small_problem

from manykernels import solvers
from manykernels.regularizers import LpNorm
from manykernels.solvers import BaseSolver, Newton, seed_of, solve
from manykernels.solvers import diagnosis as words
from manykernels.solvers._run import Run


class Asked(BaseSolver):
    """Keeps its request, and returns the solution of another solver without a history."""

    def __init__(self):
        self.seen = []

    def solve(self, problem, control):
        self.seen.append((control.tol, control.max_iter, control.warm, control.random_state))
        return replace(solve(problem, "newton", tol=1e-6), history=[], n_iter=0)


def test_a_solver_gets_a_feasible_start_the_seed_and_the_limits():
    large, small = small_problem("hinge", LpNorm(2), C=10.0)[0], small_problem("hinge", LpNorm(2), C=0.1)[0]
    warm, solver = solve(large, tol=1e-4), Asked()
    found = solve(small, solver, 1e-4, 77, warm, random_state=5)
    (tol, most, start, seed), *rest = solver.seen
    assert (tol, most, seed, rest) == (1e-4, 77, 5, [])
    assert np.abs(warm.a).max() > 0.1 >= np.abs(start.a).max() and abs(start.a.sum()) < 1e-12
    assert found.n_iter == len(found.history) == 1 and found.history[0]["gap"] == found.gap
    solve(small, solver)
    assert solver.seen[-1][2:] == (None, None)
    for bad in (0, -3):
        with pytest.raises(ValueError, match="max_iter must be at least 1"):
            solve(small, "newton", max_iter=bad)


def test_seeds_are_whole_numbers_of_at_least_0_or_drawn():
    assert [seed_of(value) for value in (None, 0, 7, np.int64(3))] == [0, 0, 7, 3]
    for make_one in (np.random.default_rng, np.random.RandomState):
        generator = make_one(1)
        first, second = seed_of(generator), seed_of(generator)
        assert first != second and first == seed_of(make_one(1)) and 0 <= first < 2**31
    for bad in (True, False, -1, 1.5, "1", np.array([])):
        with pytest.raises(ValueError, match="give None, an integer >= 0"):
            seed_of(bad)


def own(problem, found, tol=1e-3):
    return words.certified(problem, "mine", found, tol)


def test_a_result_from_outside_keeps_a_proof_that_is_better_and_says_what_it_claimed():
    problem = small_problem("hinge", LpNorm(2))[0]
    good, poor = solve(problem, tol=1e-6), solve(problem, tol=0.3, max_iter=1)
    rough = replace(good, a=0.9 * good.a, dual_a=good.a)
    found = own(problem, rough)
    assert found.dual_a is good.a and found.dual == pytest.approx(good.dual, rel=1e-5)
    worse = own(problem, replace(good, dual_a=0.5 * good.a))
    assert worse.dual_a is None and worse.dual == pytest.approx(good.dual, rel=1e-5)
    assert own(problem, replace(good, reason="mine")).reason == "mine"
    claimed = own(problem, replace(good, a=0.5 * good.a, dual_a=None, gap=0.0), 1e-4)
    assert claimed.reason.startswith("solver 'mine' claimed a gap of 0.0e+00, and its theta, a and b have")
    assert not claimed.converged and own(problem, replace(poor, gap=0.5), 1e-4).reason == poor.reason


def test_a_reason_is_told_of_a_gap_that_is_not_reached_alone():
    problem = small_problem("hinge", LpNorm(2))[0]
    good = solve(problem, tol=1e-3)

    def algorithm(run):
        run.reason = "a reason"
        run.certify(good.theta, good.a)

    for tol, reason in ((0.5, ""), (1e-12, "a reason")):
        assert Run(problem, solvers.Control(tol, 1)).run(algorithm).reason == reason
    assert isinstance(solvers.get("newton"), Newton)
