"""The states of a checkpoint against their problem: what a run wrote is taken, and each wrong part of it is refused."""

import copy

import numpy as np
import pytest

from manykernels.banks.features import FeatureBank
from manykernels.kernels import KernelList, Linear
from manykernels.losses import Hinge
from manykernels.problem import Problem
from manykernels.regularizers import BlockElasticNet, LpNorm
from manykernels.solvers import Control, Coordinate, Newton, solve
from manykernels.solvers.checkpoint_file import check_part
from problems import small_problem


class Keeping(Control):
    """Keeps every state that the run offers."""

    kept = True

    def __init__(self, *args):
        super().__init__(*args)
        self.states = []

    def offer(self, state):
        self.states.append(copy.deepcopy(state()))


def features_problem(p=1):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 4))
    y = np.sign(X[:, 0] - X[:, 3] + 0.5 * rng.normal(size=40))
    kernels = KernelList.from_spec([("a", Linear(), [0, 1]), ("b", Linear(), [2]), ("c", Linear(), [3])], X)
    return Problem(FeatureBank.from_list(kernels, X, normalize=None), [y, -np.roll(y, 1)], Hinge(), LpNorm(p), 1.0)


def state_of(problem, solver, steps=6):
    control = Keeping(1e-12, steps)
    solver.solve(problem, control)
    return control.states[-1]


def changed(value, *path_and_new):
    """A copy of nested dicts and lists with another value at one place."""
    *path, new = path_and_new
    found = copy.deepcopy(value)
    at = found
    for key in path[:-1]:
        at = at[key]
    at[path[-1]] = new
    return found


def test_the_state_of_a_warm_start_has_the_shapes_of_its_problem_and_nothing_else():
    problem = small_problem("hinge", LpNorm(2))[0]
    state = state_of(problem, Newton(), 2)
    check_part({"state": state}, problem)
    check_part({}, problem)
    bad = [("gap",), ("time",), ("time", np.nan), ("time", "1"), ("gap", None), ("point", []), ("point", "more", 1.0)]
    bad += [("point", name, value) for name in ("theta", "a", "b") for value in (np.zeros(0), np.zeros((2, 7)))]
    bad += [("point", "theta", np.array([0.1, np.nan, 0.1, 0.1])), ("point", "a", np.full((1, 30), np.inf))]
    bad += [("point", "b", np.array([np.nan]))]
    for one in bad:
        wrong = {k: v for k, v in state.items() if k != one[0]} if len(one) == 1 else changed(state, *one)
        with pytest.raises((ValueError, KeyError)):
            check_part({"state": wrong}, problem)
    check_part({"state": changed(state, "gap", np.inf)}, problem)  # before the first certificate
    for part in ({"state": []}, {"states": state}, {"state": state, "more": 1}, [state], {"solution": {}}):
        with pytest.raises((ValueError, KeyError)):
            check_part(part, problem)


def test_the_state_of_a_run_by_examples_is_refused_where_one_part_of_it_is_wrong():
    problem = features_problem()
    state = state_of(problem, Coordinate())
    check_part({"state": state}, problem)
    assert state["best"] is not None and len(state["sides"]) == 2 and state["turn"] > 0
    n, M = 40, 3
    bad = [("turn", -1), ("turn", 2**60), ("at", 3), ("place", n + 1), ("solves", 0.5), ("b", [0.0]), ("b", ["x", 0.0]),
           ("sides", []), ("sides", 0, "outputs", np.zeros(3)), ("sides", 1, "outputs", np.full(n, np.nan)),
           ("sides", 1, "active", np.ones(n)), ("sides", 0, "active", np.ones(3, bool)), ("sides", 1, "excess", np.inf),
           ("sides", 0, "turn", -1), ("history", []), ("history", [{"gap": []}]), ("upper", "1"), ("lower", None),
           ("scale", 0.0), ("scale", np.inf), ("upper", state["lower"] - state["scale"]), ("best", None),
           ("upper", np.inf), ("best", "a", np.zeros((1, n))), ("best", "theta", np.zeros(M + 1)),
           ("best", []), ("best_dual", np.zeros((2, 3))), ("best_dual", np.full((2, n), np.nan)),
           ("dual_b", np.zeros(1)), ("draw", {}), ("draw", 3), ("points", None), ("added", [1]),
           ("theta", np.full(M, np.nan)), ("a", np.zeros((2, n), np.float32))]  # fmt: skip
    for one in bad:
        with pytest.raises((ValueError, KeyError, TypeError)):
            check_part({"state": changed(state, *one)}, problem)
    check_part({"state": changed(state, "best_dual", None)}, problem)


def test_cuts_of_a_run_belong_to_their_points_and_to_a_problem_that_has_some():
    problem = features_problem()
    state = state_of(problem, Coordinate())
    cut = (np.ones(3), 0.1, 0.2, 0.3)
    good = changed(changed(state, "points", [np.zeros((2, 40))]), "added", [cut])
    check_part({"state": good}, problem)
    bad = [("points", []), ("added", []), ("points", 0, np.zeros((1, 40))), ("points", 0, np.full((2, 40), np.nan)),
           ("added", 0, (np.ones(2), *cut[1:])), ("added", 0, cut[:3]), ("added", 0, (*cut[:3], np.nan)),
           ("added", 0, (*cut[:3], "x"))]  # fmt: skip
    for one in bad:
        with pytest.raises(ValueError):
            check_part({"state": changed(good, *one)}, problem)
    other = Problem(problem.bank, problem.Y, problem.loss, BlockElasticNet(0.0), problem.c)
    check_part({"state": state | {"points": [], "added": []}}, other)
    with pytest.raises(ValueError, match="cuts of another problem"):
        check_part({"state": good}, other)


def test_a_finished_part_is_a_whole_solution_of_its_problem():
    problem = small_problem("hinge", LpNorm(2))[0]
    part = {"solution": solve(problem).to_state(), "max_iter": 9}
    check_part(part, problem)
    other = small_problem("hinge", LpNorm(2), n=12)[0]
    bad = [("max_iter", 0), ("max_iter", 1.5), ("solution", "history", []), ("solution", "interrupted", True),
           ("solution", "history", -1, "time", np.nan), ("solution", "stationarity", 0.1)]  # fmt: skip
    for one in bad:
        with pytest.raises(ValueError):
            check_part(changed(part, *one), problem)
    with pytest.raises(ValueError):
        check_part(part, other)
    check_part(part, None)  # before the problem is made
