"""Long runs: going on after a kill or an interrupt, the order that a seed stands for, the time that is left."""

import os
import platform
import signal
import subprocess
import time
import zipfile

import numpy as np
import pytest
from checkpoints import STRINGS, X, Y, assert_same, command, dead_process
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone

from manykernels import MKLClassifier, MKLRegressor, _archive
from manykernels.datasets import make_splice
from manykernels.estimators.progress import in_words, show_progress, time_left
from manykernels.kernels import RBF, Linear
from manykernels.solvers import Solver, checkpoint_file, coordinate, seed_of
from manykernels.strings import degree_kernels

CLASSES = np.where(np.arange(400) % 3 == 0, 0, Y)

pytestmark = pytest.mark.usefixtures("often")


class Killed(BaseException):
    """Nothing catches it, as nothing catches SIGKILL."""


def broken(model, y, monkeypatch, every=4, most=100, data=X):
    """Fits until done, broken off at every few writes; how often that was, at most so often."""
    write, writes, breaks = checkpoint_file.Checkpoint.write, 0, 0

    def break_off(self, parts):
        nonlocal writes
        write(self, parts)
        writes += 1
        if writes % every == 0:
            raise Killed

    with monkeypatch.context() as patch:
        patch.setattr(checkpoint_file.Checkpoint, "write", break_off)
        while breaks < most:
            try:
                clone(model).fit(data, y)
                return breaks
            except Killed:
                breaks += 1
    return breaks


@pytest.mark.parametrize("params", [
    {"regularizer": 2}, {"regularizer": 1}, {"fit_intercept": False}, {"loss": "squared_hinge", "random_state": 3},
], ids=str)  # fmt: skip
def test_a_run_broken_off_many_times_ends_with_the_same_bits(params, path, monkeypatch):
    model = clone(STRINGS).set_params(**params)
    whole = clone(model).fit(X, Y)
    model.set_params(checkpoint=path)
    assert broken(model, Y, monkeypatch) >= 3
    assert_same(model.fit(X, Y), whole)
    assert os.listdir(path.parent) == [path.name]


@pytest.mark.parametrize("multi_class", ["ovr", "shared"])
def test_several_classes_share_a_path_and_end_with_the_same_bits(multi_class, path, monkeypatch):
    model = clone(STRINGS).set_params(multi_class=multi_class)
    whole = clone(model).fit(X, CLASSES)
    model.set_params(checkpoint=path)
    assert broken(model, CLASSES, monkeypatch, every=9) >= 3
    assert_same(model.fit(X, CLASSES), whole)


def test_classes_that_are_solved_are_not_solved_again(path, monkeypatch):
    model = clone(STRINGS).set_params(checkpoint=str(path))
    solved, solve = [], coordinate.Coordinate.solve

    def counted(self, problem, control):
        solved.append(int((problem.Y > 0).sum()))
        if len(solved) == 3:
            raise Killed
        return solve(self, problem, control)

    monkeypatch.setattr(coordinate.Coordinate, "solve", counted)
    monkeypatch.setattr(coordinate.Passes, "_offer", lambda *_: None)
    with pytest.raises(Killed):
        model.fit(X, CLASSES)
    model.fit(X, CLASSES)
    assert len(solved) == 4 and solved[2] == solved[3]
    model.fit(X, CLASSES)  # done: the file has it all
    assert len(solved) == 4


@pytest.mark.parametrize("solver", ["newton", "chunking", "level", "spicy"])
def test_other_solvers_begin_from_the_point_that_was_kept(solver, path, monkeypatch):
    rng = np.random.default_rng(0)
    Z = rng.normal(size=(120, 5))
    y = Z[:, 0] + 0.5 * np.sin(3 * Z[:, 1]) + 0.3 * rng.normal(size=120)
    kernels = [("line", Linear()), *((f"rbf{k}", RBF(gamma=2.0**-k)) for k in range(4))]
    options = dict(loss="epsilon_insensitive", regularizer=1 if solver == "level" else 2, tol=1e-6, C=1.0)
    model = MKLRegressor(kernels, solver=solver, checkpoint=path, **options)
    whole = clone(model).set_params(checkpoint=None).fit(Z, y)
    assert broken(model, y, monkeypatch, every=3, most=1, data=Z) == 1
    again = model.fit(Z, y)
    assert again.duality_gap_ <= 1e-6 and again.history_[0]["gap"] < 0.5 * whole.history_[0]["gap"]
    assert_allclose(again.objective_, whole.objective_, rtol=2e-6)


def test_more_steps_can_be_asked_for_later(path, monkeypatch):
    """A run that ended at max_iter is kept: only more steps solve it again."""
    model = clone(STRINGS).set_params(max_iter=1, checkpoint=path)
    with pytest.warns(match="raise max_iter"):
        first = clone(model).fit(X, Y).duality_gap_
    with pytest.warns(match="raise max_iter"), monkeypatch.context() as patch:
        patch.setattr(coordinate.Coordinate, "solve", lambda *_: pytest.fail("it was solved again"))
        assert clone(model).fit(X, Y).duality_gap_ == first
    assert model.set_params(max_iter=100).fit(X, Y).duality_gap_ <= 1e-3


def test_times_of_a_run_that_goes_on_rise_from_step_to_step(path, monkeypatch):
    """The time before the kill counts."""
    model = clone(STRINGS).set_params(solver="coordinate", tol=1e-5, checkpoint=path)
    clock = time.perf_counter
    with monkeypatch.context() as patch:
        patch.setattr(time, "perf_counter", lambda: 1000 * clock())
        assert broken(model, Y, monkeypatch, every=3, most=1) == 1
    times = [record["time"] for record in model.fit(X, Y).history_]
    assert times == sorted(times) and times[-1] > 1.0


@pytest.mark.parametrize("solver", ["coordinate", "newton"])
def test_an_interrupt_leaves_a_checkpoint_to_go_on_from(solver, path, monkeypatch):
    model = clone(STRINGS).set_params(solver=solver, tol=1e-5, checkpoint=path)
    whole = clone(model).set_params(checkpoint=None).fit(X, Y)
    from manykernels.solvers._run import Run

    record = Run.record

    def interrupt(self, *args, **extra):
        record(self, *args, **extra)
        if len(self.history) == 2:
            raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Run, "record", interrupt)
        with pytest.raises(KeyboardInterrupt):
            model.fit(X, Y)
    assert os.listdir(path.parent) == [path.name]
    again = clone(model).fit(X, Y)
    assert_allclose(again.objective_, whole.objective_, rtol=0 if solver == "coordinate" else 2e-5)


def test_a_kernel_without_variance_keeps_no_fit_from_going_on(path, monkeypatch):
    """The point of a checkpoint has a weight for each kernel, also for one that is left out."""
    rng = np.random.default_rng(0)
    numbers = np.c_[np.ones(60), rng.normal(size=(60, 2))]
    labels = numbers[:, 1] * numbers[:, 2] > 0
    kernels = [("flat", Linear(), [0]), ("one", RBF(0.5), [1]), ("both", RBF(0.5), [1, 2])]
    model = MKLClassifier(kernels, solver="newton", tol=1e-8, C=1.0)
    with pytest.warns(match="without variance"):
        whole = clone(model).fit(numbers, labels)
        model.set_params(checkpoint=path)
        assert broken(model, labels, monkeypatch, every=3, most=3, data=numbers) > 1
        again = clone(model).fit(numbers, labels)
    assert_allclose(again.objective_, whole.objective_, rtol=1e-7)


@pytest.mark.parametrize("size", [len(X) - 8, len(X) + 8])
def test_a_mask_of_other_examples_is_refused(size, path, monkeypatch):
    """Compiled loops would read beyond the end of an array."""
    model, write = clone(STRINGS).set_params(checkpoint=path), checkpoint_file.Checkpoint.write

    def damage(self, parts):
        sides = parts[0].get("state", {}).get("sides", ())
        for side in sides:
            side["active"] = np.ones(size, bool)
        write(self, parts)
        if sides:
            raise Killed

    with monkeypatch.context() as patch:
        patch.setattr(checkpoint_file.Checkpoint, "write", damage)
        with pytest.raises(Killed):
            clone(model).fit(X, Y)
    with pytest.raises(ValueError, match="active has shape"):
        clone(model).fit(X, Y)


def test_random_state_is_the_order_of_the_examples():
    def weights(random_state, options=None):
        model = clone(STRINGS).set_params(random_state=random_state, solver=Solver("coordinate", **(options or {})))
        return model.fit(X, Y).dual_coef_

    same = weights(None)
    for state, options in [(0, {}), (7, {"random_state": 0})]:
        assert_array_equal(weights(state, options), same)
    assert_array_equal(weights(np.random.RandomState(5)), weights(np.random.RandomState(5)))
    other = weights(7)
    assert other.shape != same.shape or (other != same).any()
    assert seed_of(np.random.default_rng(1)) == seed_of(np.random.default_rng(1)) != seed_of(np.random.default_rng(2))
    for bad in (-1, 1.5, "a", True):
        with pytest.raises(ValueError, match="random_state="):
            clone(STRINGS).set_params(random_state=bad).fit(X, Y)


def test_the_bar_says_how_long_it_takes_and_where_it_begins(path, capsys):
    assert time_left([(0, 1.0), (1, 0.1)], 1e-3) is None  # too early to tell
    assert time_left([(0, 1.0), (1, 1.0), (2, 1.1)], 1e-3) is None  # no progress
    assert_allclose(time_left([(0, 1.0), (60, 0.1), (120, 0.01)], 1e-3), 60)
    assert [in_words(s) for s in (20, 90, 720, 7800)] == ["20 s", "90 s", "12 min", "2 h 10 min"]
    model = clone(STRINGS).set_params(checkpoint=path)
    model.fit(X, Y)
    with show_progress("5 kernels", 1e-3) as bar:
        bar.resumed(3e-3, 720)
        for k in range(3):
            bar.record({"gap": 10.0**-k, "time": 100.0 * k})
        bar.visited(1_048_576, 10_000_000)
        shown = bar.progress.tasks[0].fields["more"]
    assert shown == "about 100 s left, 1,048,576 of 10,000,000 examples visited"
    assert "resumed at gap 3e-03 after 12 min" in capsys.readouterr().out
    clone(model).set_params(verbose=True).fit(X, Y)
    assert "resumed at gap" in capsys.readouterr().out


def long_fit(n, regularizer, path=None):
    X, y = make_splice(n, length=60, positives=0.2, strength=0.5)
    return MKLClassifier(
        degree_kernels(8), regularizer=regularizer, solver="coordinate", n_jobs=2, checkpoint=path
    ).fit(X, y)  # fmt: skip


def in_child(n, regularizer, path):
    """A fit that says when its solver begins; `child` runs it in a process of its own."""
    resume = coordinate.Passes._resume
    coordinate.Passes._resume = lambda run: print("begun", flush=True) or resume(run)
    checkpoint_file.WRITE_INTERVAL, checkpoint_file.WRITE_PAUSE, coordinate.VISITS_PER_SUM = 0.0, 0, n // 10
    long_fit(n, regularizer, path)


def child(*args):
    return subprocess.Popen(command(__file__, f"in_child{args!r}"), stdout=subprocess.PIPE, text=True)


def killed_and_resumed(n, regularizer, path, kills, seed):
    """(kills, objective, that of a whole run, different states seen); the file is whole after every kill.

    A kill comes at a random moment after a random number of writes, so that a busy machine makes no difference.
    """
    whole, rng, states = long_fit(n, regularizer), np.random.default_rng(seed), []
    while len(states) < kills:
        process = child(n, regularizer, str(path))
        if process.stdout.readline() != "begun\n":
            break  # it was done before
        for _ in range(rng.integers(3)):
            before = os.stat(path).st_mtime_ns
            while os.stat(path).st_mtime_ns == before and process.poll() is None:
                time.sleep(0.001)
        time.sleep(rng.uniform(0, 0.1))
        process.send_signal(signal.SIGKILL)
        process.communicate()
        with zipfile.ZipFile(path) as file:
            assert file.testzip() is None
            states.append(file.read(_archive.TEXT))
        others = [name for name in os.listdir(path.parent) if name != path.name]
        assert all(name.startswith(path.name) and name.endswith(".tmp") for name in others)
    resumed = long_fit(n, regularizer, path)
    assert os.listdir(path.parent) == [path.name]
    return len(states), resumed.objective_, whole.objective_, len(set(states))


def test_kill_9_and_resume(path, monkeypatch):
    monkeypatch.setattr(coordinate, "VISITS_PER_SUM", 60)
    leftover = path.parent / f"{path.name}.{platform.node()}-{dead_process()}-1.tmp"
    leftover.write_bytes(b"half a file")
    kills, objective, whole, _ = killed_and_resumed(600, 2, path, kills=1, seed=1)
    assert kills == 1 and objective == whole
