"""How a streamed run ends and goes on: what it says, what a checkpoint has, what a resumed run does with it."""

from contextlib import nullcontext
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from streams import Pieces, driver_of

from manykernels import MKLClassifier, losses
from manykernels.kernels import RBF, Linear
from manykernels.problem import Problem
from manykernels.regularizers import LpNorm
from manykernels.solution import Status
from manykernels.solvers import solve
from manykernels.streaming import driver
from manykernels.streaming.driver import Driver
from manykernels.streaming.stream import Stream

n, SIZES = 60, [[20]] * 3
rng = np.random.default_rng(8)
X = rng.normal(size=(n, 3))
Y = np.where(
    np.array([X[:, 0] - X[:, 1] * X[:, 2], X[:, 2] + X[:, 0] ** 2 - 1]) + 0.4 * rng.normal(size=n) > 0, 1.0, -1.0
)


@pytest.fixture
def stream():
    with Stream(Pieces(X, SIZES), 1) as found:
        found.arrange(Y, np.ones(n), None)
        yield found


def make(stream, *args, **options):
    return driver_of(stream, [RBF(0.4), ("l", Linear(), [0, 1])], *args, **options)[0]


class Slot:
    """A checkpoint in memory, of problem number `k`, which may begin with a state."""

    def __init__(self, k=0, state=None):
        self.k, self.written = k, []
        self.file = SimpleNamespace(parts=[{}, {}], wholeness=nullcontext)
        if state is not None:
            self.file.parts[k] = {"state": state | {"history": list(state["history"])}}

    def write(self, part):
        state = part["state"]
        self.written.append(state | {"history": [dict(record) for record in state["history"]]})


@pytest.fixture
def small(monkeypatch):
    monkeypatch.setattr(driver, "MIN_ACTIVE", 4)
    monkeypatch.setattr(driver, "FIRST_ACTIVE", (8, 8))


@pytest.mark.parametrize("outputs", [slice(0, 1), slice(1, 2), slice(0, 2)], ids=str)
def test_a_run_of_some_outputs_is_the_problem_of_these_outputs(stream, small, outputs):
    run = make(stream, outputs)
    found = run.run()
    problem = Problem(run.kernels.bank(X), Y[outputs], losses.get("hinge"), LpNorm(2), np.ones(Y[outputs].shape))
    whole = solve(problem, "newton", 1e-6)
    assert found.solution.gap <= 1e-3 and found.solution.primal == pytest.approx(whole.primal, rel=2e-3)
    assert_allclose(found.solution.theta, whole.theta, atol=0.03)
    assert_array_equal(found.X, X[found.rows])
    assert found.solution.a.shape == (len(Y[outputs]), len(found.rows)) and found.solution.a.any(axis=0).all()
    assert found.solution.history[-1]["support"] == len(found.rows)  # examples, not entries of a


@pytest.mark.parametrize("status", [Status.STALLED, Status.STEPS, Status.MEMORY])
def test_the_reason_is_that_of_the_solver_only_where_the_solver_has_stalled(stream, small, status, monkeypatch):
    run, true = make(stream, tol=1e-9), driver.solve
    monkeypatch.setattr(driver, "solve", lambda *a, **k: replace(true(*a, **k), reason="of the solver"))
    monkeypatch.setattr(Driver, "_end", lambda self, *a: status if len(self.history) == 2 else None)
    found = run.run().solution
    assert found.status is status and not found.converged
    expected = {Status.STEPS: "raise max_iter", Status.MEMORY: "examples are active, and memory_limit"}
    assert expected.get(status, "of the solver") in found.reason
    assert (found.reason == "of the solver") == (status is Status.STALLED)
    if status is Status.MEMORY:
        assert found.reason.startswith(f"{found.history[-1]['n_active']:,} examples")


def test_a_solver_that_has_stalled_without_a_word_is_described(stream, small, monkeypatch):
    monkeypatch.setattr(Driver, "_end", lambda self, *a: Status.STALLED)
    assert "raise tol" in make(stream, tol=1e-9).run().solution.reason


def test_each_round_leaves_the_point_from_which_the_next_one_goes_on(stream, small):
    slot = Slot(1)
    done = make(stream, slice(1, 2), slot).run()
    assert len(slot.written) == done.solution.n_iter > 1 and [s["done"] for s in slot.written][-2:] == [False, True]
    assert slot.file.parts[0] == {} and slot.file.parts[1]["state"]["done"]
    last = slot.written[-1]
    assert_array_equal(last["rows"], done.rows)
    for name in ("a", "theta", "b"):
        assert_array_equal(last[name], getattr(done.solution, name))
    assert last["b"].any() and last["gap"] == done.solution.gap == last["best"]["gap"]
    assert last["best"]["primal"] == done.solution.primal and last["best"]["dual"] == done.solution.dual
    for k, state in enumerate(slot.written[:-1]):
        assert len(state["history"]) == k + 1 and state["gap"] == state["history"][-1]["gap"]
        assert state["a"].shape == (1, len(state["rows"])) and (np.diff(state["rows"]) > 0).all()
        told = []
        again = Slot(1, state)
        run = make(stream, slice(1, 2), again)
        run.monitor = SimpleNamespace(resumed=lambda *a, told=told: told.append(a), record=lambda *a: None,
                                      visited=lambda *a: None)  # fmt: skip
        found = run.run()
        assert told == [(state["gap"], state["time"])]
        assert found.solution.n_iter == done.solution.n_iter and len(again.written) == done.solution.n_iter - k - 1
        assert_array_equal(found.rows, done.rows)
        assert_allclose(found.solution.a, done.solution.a, atol=1e-6)
        assert found.solution.history[k]["time"] == state["history"][k]["time"] <= found.solution.history[-1]["time"]


def test_a_point_whose_active_examples_alone_are_solved_is_not_the_end(stream, small, monkeypatch):
    """The gap of a point in the middle of a run is that of the active examples; only a run that is done has all."""
    slot = Slot()
    whole = make(stream, kept=slot).run()
    middle = slot.written[0]
    assert not middle["done"]
    for state in (middle | {"best": middle["best"] | {"gap": 0.0}}, slot.written[-1] | {"done": False}):
        again = Slot(0, state)
        found = make(stream, kept=again).run()
        assert again.written and found.solution.primal == pytest.approx(whole.solution.primal, rel=2e-3)
    finer = Slot(0, slot.written[-1])  # done, but not for a smaller tol
    found = make(stream, kept=finer, tol=1e-6).run()
    assert found.solution.gap <= 1e-6 and finer.written[-1]["done"] and len(found.solution.history) > 1
    solved = Slot(0, slot.written[-1])
    monkeypatch.setattr(driver, "solve", lambda *a, **k: pytest.fail("it is solved already"))
    same = make(stream, kept=solved).run()
    assert not solved.written and same.solution.converged and same.solution.status is Status.REACHED
    assert_array_equal(same.rows, whole.rows)
    assert_array_equal(same.X, X[whole.rows])
    assert same.solution.gap == whole.solution.gap and same.solution.n_iter == whole.solution.n_iter


def test_an_interrupt_of_the_solver_ends_the_run_and_keeps_the_last_round(stream, small, monkeypatch):
    slot, true, rounds = Slot(), driver.solve, []

    def solved(*args, **options):
        rounds.append(1)
        return replace(true(*args, **options), interrupted=len(rounds) == 2)

    monkeypatch.setattr(driver, "solve", solved)
    with pytest.raises(KeyboardInterrupt):
        make(stream, kept=slot).run()
    assert len(rounds) == 2 and len(slot.written) == 1 and not slot.written[0]["done"]


def test_the_monitor_sees_how_many_examples_a_round_has_visited(stream):
    seen = []
    monitor = SimpleNamespace(record=lambda *a: None, visited=lambda *a: seen.append(a))
    run = make(stream, monitor=monitor)
    rows = np.arange(0, n, 3)
    problem = run._problem(rows, X[rows])
    solution = driver.solve(problem, "newton", 1e-2, 30, None, random_state=0)
    run._price(problem, solution, rows, 0)
    assert seen == [(20, n), (40, n), (60, n)]


@pytest.mark.parametrize("explicit, size", [(False, 40), (True, 100)])
def test_the_first_active_set_is_a_fiftieth_of_all_if_features_are_explicit(stream, explicit, size, monkeypatch):
    monkeypatch.setattr(driver, "FIRST_ACTIVE", (40, 60))
    monkeypatch.setattr(driver, "MIN_ACTIVE", 10)
    run = make(stream)
    run.kernels = SimpleNamespace(explicit=explicit)
    run.n, run.options = 5000, replace(run.options, max_active=10**6)
    run.Y, run.c = np.where(rng.random((1, 5000)) < 0.3, 1.0, -1.0), np.ones(5000)
    rows = run._first()
    assert len(rows) == size and (run.Y[0, rows] > 0).sum() == size // 2
    run.options = replace(run.options, max_active=24)
    assert len(run._first()) == 12


@pytest.mark.parametrize("features, solver, given", [
    ("never", "auto", ("never", False)), ("auto", "coordinate", ("auto", True)),
])  # fmt: skip
def test_the_bank_of_the_active_examples_has_the_features_that_were_asked_for(features, solver, given, monkeypatch):
    seen, true = [], driver.choose_bank
    monkeypatch.setattr(driver, "choose_bank", lambda *a, **options: seen.append(options) or true(*a, **options))
    kernels = [("a", Linear(), [0, 1]), ("b", Linear(), [2])]
    MKLClassifier(kernels, C=1.0, features=features, solver=solver, tol=1e-2, n_jobs=1).fit(Pieces(X, SIZES), Y[0])
    assert {(options["features"], options["wanted"]) for options in seen} == {given}
