"""Checks of checkpoints: each state must fit the problem of this run (see `_state`)."""

from numbers import Real

import numpy as np

from .._state import check, check_array, check_integer, check_is, check_list, check_records
from ..solution import Solution


def check_part(part, problem):
    """Checks that `part` is empty, a solution or a state for this problem; None skips what needs the problem."""
    check_is("a part", part, dict)
    check(set(part) in (set(), {"state"}, {"solution", "max_iter"}), f"a part holds {sorted(part)}")
    if "solution" in part:
        check_integer("max_iter", part["max_iter"], 1, 2**62)
        solution = Solution.from_state(part["solution"])
        check(len(solution.history) > 0, "a solution has no history")
        check(not solution.interrupted, "a solution was interrupted")
        check_number("time", solution.history[-1]["time"])
        if problem is not None:
            check_point(part["solution"], problem, problem.bank.M)
            check(
                problem.regularizer.bayesian == (solution.stationarity is not None),
                "a solution is of another kind of problem",
            )
    if "state" in part:
        state = check_is("state", part["state"], dict)
        if problem is not None:
            check_number("gap", state["gap"], finite=False)
            check_number("time", state["time"])
            check_warm(state["point"], problem) if "point" in state else check_run(state, problem)


def check_number(name, value, finite=True):
    check(isinstance(value, Real) and (not finite or np.isfinite(value)), f"{name} is {value!r}")


def check_numbers(name, value, *shape):
    """An array of finite float64 of that shape."""
    check_array(name, value, np.float64, *shape)
    check(np.isfinite(value).all(), f"{name} has NaN or infinity")


def check_point(point, problem, M):
    """theta (M,), a (T, n) and b (T,)."""
    check_numbers("theta", point["theta"], M)
    check_numbers("a", point["a"], *problem.Y.shape)
    check_numbers("b", np.asarray(point["b"]), *problem.no_b().shape)


def check_warm(point, problem):
    """The point of a warm start."""
    check_is("point", point, dict)
    check(set(point) == {"theta", "a", "b", "primal", "dual", "gap"}, f"a point holds {sorted(point)}")
    check_point(point, problem, problem.bank.M)


def check_run(state, problem):
    """The state of a run of the coordinate solver, as its `_state` says."""
    (T, n), M = problem.Y.shape, len(problem.kernels)
    check_point(state, problem, M)
    check_list("b", state["b"], Real, T)
    for name, most in (("turn", 2**48), ("at", T), ("place", n), ("solves", 2**48)):
        check_integer(name, state[name], 0, most)
    for side in check_is("sides", state["sides"], list):
        check_numbers("outputs", side["outputs"], n)
        check_array("active", side["active"], bool, n)
        check_number("excess", side["excess"])
        check_integer("turn", side["turn"], 0, 2**62)
    check(len(state["sides"]) == T, f"there are {len(state['sides'])} sides for {T} outputs")
    check_records("history", state["history"])
    check(state["turn"] == 0 or len(state["history"]) > 0, "there is no history")
    for name in ("upper", "lower"):
        check_number(name, state[name], finite=False)
    check_number("scale", state["scale"])
    check(state["scale"] > 0, f"scale is {state['scale']}")
    check(not state["upper"] < state["lower"] - 1e-6 * state["scale"], "upper lies below lower")
    check((state["best"] is None) == (state["upper"] == np.inf), "best and upper do not go together")
    if state["best"] is not None:
        check_point(check_is("best", state["best"], dict), problem, M)
    if state["best_dual"] is not None:
        check_numbers("best_dual", state["best_dual"], T, n)
    check_numbers("dual_b", state["dual_b"], T)
    _check_cuts(state, problem, T, n, M)
    np.random.PCG64().state = check_is("draw", state["draw"], dict)


def _check_cuts(state, problem, T, n, M):
    points, added = (check_is(name, state[name], list) for name in ("points", "added"))
    check(len(points) == len(added), f"there are {len(points)} points for {len(added)} cuts")
    check(not added or problem.regularizer.smooth or problem.regularizer.simplex, "there are cuts of another problem")
    for a, (q, *numbers) in zip(points, added, strict=True):
        check_numbers("points", a, T, n)
        check_numbers("added", q, M)
        check_list("added", numbers, Real, 3)
        for number in numbers:
            check_number("added", number)
