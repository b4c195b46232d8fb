"""Checks of checkpoints: each state must fit the problem of this run (see `_state`)."""

import numpy as np

from .._state import check, check_is, check_value, read_entries
from ..solution import Solution

POINT = {"theta": "f8 M finite", "a": "f8 T n finite"}
SIDE = {"outputs": "f8 n finite", "active": "bool n", "excess": "finite", "turn": "int 0"}
RUN = POINT | {  # of the coordinate solver, as its `_state` says
    "b": "list T finite", "turn": "int 0", "at": "int 0 <sides", "place": "int 0 <places", "solves": "int 0",
    "sides": "list T dict", "history": "records", "upper": "number", "lower": "number", "scale": "finite",
    "best": "?dict", "best_dual": "?f8 T n finite", "dual_b": "f8 T finite", "draw": "dict",
    "points": "list cuts f8 T n finite", "added": "list cuts any",
}  # fmt: skip


def check_part(part, problem):
    """Checks that `part` is empty, a solution or a state for this problem; None skips what needs the problem."""
    check_is("a part", part, dict)
    check(set(part) in (set(), {"state"}, {"solution", "max_iter"}), f"a part holds {sorted(part)}")
    if "solution" in part:
        check_value("max_iter", part["max_iter"], "int 1 <most", {"most": 2**62})
        solution = Solution.from_state(part["solution"])
        check(len(solution.history) > 0, "a solution has no history")
        check(not solution.interrupted, "a solution was interrupted")
        check_value("time", solution.history[-1]["time"], "finite", {})
        if problem is not None:
            check_point(part["solution"], problem)
            bayesian = solution.stationarity is not None
            check(problem.regularizer.bayesian == bayesian, "a solution is of another kind of problem")
    if "state" in part:
        state = check_is("state", part["state"], dict)
        if problem is not None:
            read_entries({"gap": "number", "time": "finite"}, state)
            check_warm(state["point"], problem) if "point" in state else check_run(state, problem)


def sizes_of(problem, M):
    """The letters of the specs above."""
    T, n = problem.Y.shape
    return {"M": M, "T": T, "n": n, "sides": T + 1, "places": n + 1}


def check_point(point, problem):
    """theta (M,), a (T, n) and b (T,) of all kernels, or b (T, k)."""
    b = f"f8 {' '.join(map(str, problem.no_b().shape))} finite"
    read_entries(POINT | {"b": b}, point | {"b": np.asarray(point["b"])}, **sizes_of(problem, problem.bank.M))


def check_warm(point, problem):
    """The point of a warm start."""
    check_is("a point", point, dict)
    check(set(point) == {"theta", "a", "b", "primal", "dual", "gap"}, f"a point holds {sorted(point)}")
    check_point(point, problem)


def check_run(state, problem):
    """The state of a run of the coordinate solver."""
    sizes = sizes_of(problem, len(problem.kernels))
    read_entries(RUN, state, **sizes)
    for side in state["sides"]:
        read_entries(SIDE, side, **sizes)
    check(state["turn"] == 0 or len(state["history"]) > 0, "there is no history")
    check(state["scale"] > 0, f"scale is {state['scale']}")
    check(not state["upper"] < state["lower"] - 1e-6 * state["scale"], "upper lies below lower")
    check((state["best"] is None) == (state["upper"] == np.inf), "best and upper do not go together")
    if state["best"] is not None:
        read_entries(POINT, state["best"], **sizes)
        check_value("b", np.asarray(state["best"]["b"]), "f8 T finite", sizes)
    np.random.PCG64().state = state["draw"]
    cuts = problem.regularizer.smooth or problem.regularizer.simplex
    check(not state["added"] or cuts, "there are cuts of another problem")
    for q, *numbers in state["added"]:
        check_value("added", q, "f8 M finite", sizes)
        check_value("added", numbers, "list 3 finite", {})
