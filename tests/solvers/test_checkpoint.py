"""Long runs: what is kept of them, going on after a kill, trouble with the disk, and the time that is left."""

import errno
import os
import platform
import signal
import subprocess
import sys
import threading
import time
import zipfile

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.kernel_approximation import RBFSampler

from manykernels import MKLClassifier, MKLRegressor
from manykernels.datasets import make_splice
from manykernels.estimators.checkpoint import identify, parts_of
from manykernels.estimators.progress import in_words, show_progress, time_left
from manykernels.kernels import RBF, Features, KernelList, Linear
from manykernels.solvers import Solver, _checkpoint, coordinate, seed_of
from manykernels.strings import Spectrum, degree_kernels

X, Y = make_splice(400, length=21, positives=0.3, strength=0.6)
CLASSES = np.where(np.arange(400) % 3 == 0, 0, Y)
STRINGS = MKLClassifier(degree_kernels(3), solver="coordinate", n_jobs=2)


class Killed(BaseException):
    """Nothing catches it, as nothing catches SIGKILL."""


@pytest.fixture(autouse=True)
def often(monkeypatch):
    """Every state that is offered is written, several in each pass."""
    monkeypatch.setattr(_checkpoint, "EVERY", 0.0)
    monkeypatch.setattr(_checkpoint, "SHARE", 0)
    monkeypatch.setattr(coordinate, "VISITS", 128)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "fit.checkpoint"


def broken(model, y, monkeypatch, every=4, most=100, data=X):
    """Fits until done, broken off at every few writes; how often that was, at most so often."""
    write, writes, breaks = _checkpoint.Checkpoint.write, 0, 0

    def break_off(self, parts):
        nonlocal writes
        write(self, parts)
        writes += 1
        if writes % every == 0:
            raise Killed

    with monkeypatch.context() as patch:
        patch.setattr(_checkpoint.Checkpoint, "write", break_off)
        while breaks < most:
            try:
                clone(model).fit(data, y)
                return breaks
            except Killed:
                breaks += 1
    return breaks


def assert_same(one, other):
    for name in ("kernel_weights_", "dual_coef_", "support_", "intercept_", "objective_", "duality_gap_", "n_iter_"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
    assert [{**step, "time": 0} for step in one.history_] == [{**step, "time": 0} for step in other.history_]


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
    model = MKLRegressor(kernels, solver=solver, regularizer=1 if solver == "level" else 2, tol=1e-6, checkpoint=path)
    whole = clone(model).set_params(checkpoint=None).fit(Z, y)
    assert broken(model, y, monkeypatch, every=3, most=1, data=Z) == 1
    again = model.fit(Z, y)
    assert again.duality_gap_ <= 1e-6 and again.history_[0]["gap"] < 0.5 * whole.history_[0]["gap"]
    np.testing.assert_allclose(again.objective_, whole.objective_, rtol=2e-6)


def test_more_steps_can_be_asked_for_later(path):
    model = clone(STRINGS).set_params(max_iter=1, checkpoint=path)
    with pytest.warns(match="raise max_iter"):
        first = clone(model).fit(X, Y).duality_gap_
    with pytest.warns(match="raise max_iter"):
        assert clone(model).fit(X, Y).duality_gap_ == first
    assert model.set_params(max_iter=100).fit(X, Y).duality_gap_ <= 1e-3


@pytest.mark.parametrize("change, what", [
    ({"C": 2.0}, "C is 1.0 there and 2.0 here"), ({"tol": 1e-2}, "tol is 0.001"), ({"random_state": 1}, "random_state"),
    ({"kernels": degree_kernels(2)}, "kernels"), ({"solver": Solver("coordinate", size=64)}, "solver is 'coordinate'"),
], ids=str)  # fmt: skip
def test_the_file_of_another_fit_is_refused_and_left_alone(change, what, path):
    model = clone(STRINGS).set_params(checkpoint=path).fit(X, Y)
    before = path.read_bytes()
    with pytest.raises(ValueError, match=what) as caught:
        model.set_params(**change).fit(X, Y)
    assert str(path) in str(caught.value) and "delete" in str(caught.value)
    assert path.read_bytes() == before


def test_the_file_of_other_data_is_refused(path):
    model = clone(STRINGS).set_params(checkpoint=path).fit(X, Y)
    for data, what in [((X[::-1], Y), "X differs"), ((X, -Y), "y differs"), ((X, Y, 1.0 + (Y > 0)), "sample_weight")]:
        with pytest.raises(ValueError, match=f"another fit: {what}"):
            model.fit(*data)
    with pytest.raises(ValueError, match="estimator is 'MKLClassifier' there and 'MKLRegressor' here[.]"):
        MKLRegressor(checkpoint=path).fit(np.zeros((400, 1)), Y)


def test_what_does_not_change_the_result_may_change(path):
    whole = clone(STRINGS).set_params(checkpoint=path).fit(X, Y)
    assert_same(clone(STRINGS).set_params(checkpoint=path, n_jobs=1, verbose=True, memory_limit="1GB").fit(X, Y), whole)


@pytest.mark.parametrize("params", [
    {"features": "hash", "kernels": [Spectrum(3)]}, {"kernels": "auto", "solver": "auto"},
], ids=str)  # fmt: skip
def test_a_memory_limit_that_changes_the_kernels_may_not_change(params, path):
    model = clone(STRINGS).set_params(**params, checkpoint=path)
    parts_of(model, 1, 0, X, Y, None, None)
    with pytest.raises(ValueError, match="memory_limit is None there and '1GB' here"):
        parts_of(model.set_params(memory_limit="1GB"), 1, 0, X, Y, None, None)


def transformed(columns):
    """Kernels whose print scikit-learn shortens."""
    steps = [(f"part{k}", RBFSampler(gamma=0.1 * (k + 1), random_state=0), [c]) for k, c in enumerate(columns)]
    return [("f", Features(ColumnTransformer(steps)))]


def print_identity():
    print(identify({"kernels": [*transformed(range(20)), Quiet({"b", "c", "d"})]}))


class Quiet:
    """A kernel that prints as its address."""

    def __init__(self, p):
        self.p = p

    def __call__(self, X, Y=None):
        return (X @ (X if Y is None else Y).T) ** self.p


def test_fits_that_print_alike_are_told_apart():
    one, other = transformed(range(10, 30)), transformed([*range(10, 19), 20, 19, *range(21, 30)])
    assert repr(one) == repr(other)
    assert identify({"kernels": one}) != identify({"kernels": other})
    assert identify({"kernels": [Quiet(1)]}) == identify({"kernels": [Quiet(1)]}) != identify({"kernels": [Quiet(2)]})
    with_lambda = [lambda X, Y: X @ Y.T, *one]
    assert identify({"kernels": with_lambda}) != identify({"kernels": [with_lambda[0], *other]})


def test_a_fit_is_known_again_by_its_copy_and_in_another_process(monkeypatch, capsys):
    kernel = transformed(range(20))[0][1]
    shared, copied = [("a", kernel), ("b", kernel)], [("a", clone(kernel)), ("b", clone(kernel))]
    assert identify({"kernels": shared}) == identify({"kernels": copied})
    monkeypatch.setenv("PYTHONHASHSEED", "1")
    print_identity()
    assert subprocess.run(command("print_identity()"), capture_output=True, text=True).stdout == capsys.readouterr().out


def test_a_difference_is_told_without_digits_of_a_hash(path):
    _checkpoint.Checkpoint(path, identify({"kernels": "auto"}))
    with pytest.raises(ValueError, match="another fit: kernels differ[.]"):
        _checkpoint.Checkpoint(path, identify({"kernels": degree_kernels(9)}))


def test_damage_is_recognised_and_nothing_is_overwritten(path, monkeypatch):
    monkeypatch.setattr(_checkpoint.Part, "carry_on", lambda *_: pytest.fail("a damaged file was used"))
    model, identity = clone(STRINGS).set_params(checkpoint=path), {"C": "1.0"}
    a = np.arange(1.0, 50.0)
    _checkpoint.Checkpoint(path, identity).write([{"state": {"a": a}}])
    good = path.read_bytes()
    at = good.index(a[20:].tobytes())
    entry = good.rindex(b"PK\x01\x02") + 10  # the method of compression: bz2 fails with an OSError
    for bad in (good[: len(good) // 2], good[:at] + b"\x01" + good[at + 1 :], b"", b"my own notes",
                good[:entry] + b"\x0c" + good[entry + 1 :]):  # fmt: skip
        path.write_bytes(bad)
        with pytest.raises(ValueError, match="no whole checkpoint.*delete"):
            _checkpoint.Checkpoint(path, identity)
        with pytest.raises(ValueError, match=str(path)):
            model.fit(X, Y)
        assert path.read_bytes() == bad


def test_an_array_is_read_to_its_checksum(path):
    a = np.random.default_rng(0).normal(size=200_000)
    file = _checkpoint.Checkpoint(path, {})
    file.write([{"state": {"a": a}}])
    np.testing.assert_array_equal(file._read()[0]["state"]["a"], a)
    path.write_bytes(path.read_bytes().replace(b"'<f8'", b"'<f4'", 1))
    with pytest.raises(ValueError, match="no whole checkpoint.*CRC"):
        _checkpoint.Checkpoint(path, {})


def test_a_disk_that_fails_is_no_reason_to_delete_the_file(path, monkeypatch):
    def failing(*_):
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    _checkpoint.Checkpoint(path, {})
    monkeypatch.setattr(_checkpoint.zipfile, "ZipFile", failing)
    with pytest.raises(OSError, match="cannot be used .Input/output error"):
        _checkpoint.Checkpoint(path, {})


def dead_process():
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return process.pid


def test_only_files_of_dead_writers_are_removed(path):
    here, other, gone = platform.node(), platform.node() + "2", dead_process()
    names = [f"{path.name}.{writer}-7.tmp" for writer in (f"{here}-{os.getpid()}", f"{other}-{gone}", f"{here}-{gone}")]
    for name in [*names, "mine.tmp"]:
        (path.parent / name).write_bytes(b"half a file")
    _checkpoint.Checkpoint(path, {})
    assert set(os.listdir(path.parent)) == {path.name, "mine.tmp", *names[:2]}
    for name in [*names[:2], "mine.tmp"]:
        os.utime(path.parent / name, (time.time() - 7200,) * 2)
    _checkpoint.Checkpoint(path, {})
    assert set(os.listdir(path.parent)) == {path.name, "mine.tmp"}


def test_threads_that_write_one_path_do_not_disturb_each_other(path):
    errors, parts = [], [{"state": {"a": np.random.default_rng(0).normal(size=200_000)}}]

    def work():
        try:
            file = _checkpoint.Checkpoint(path, {})
            for _ in range(10):
                file.write(parts)
                file._read()
        except (OSError, ValueError) as error:
            errors.append(error)

    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == [] and os.listdir(path.parent) == [path.name]


def full_disk(*_):
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_a_place_that_cannot_be_written_is_refused_before_the_fit(tmp_path, path, monkeypatch):
    monkeypatch.setattr(MKLClassifier, "_make_bank", lambda *_: pytest.fail("the fit went on"))
    for place, why in [(tmp_path / "none" / "fit", "No such file"), (tmp_path, "directory")]:
        with pytest.raises(OSError, match=f"{why}.*give a path") as caught:
            clone(STRINGS).set_params(checkpoint=place).fit(X, Y)
        assert str(place) in str(caught.value)
    for where in (os, "fsync"), (_checkpoint.shutil, "disk_usage"):
        with monkeypatch.context() as patch:
            patch.setattr(*where, full_disk)
            with pytest.raises(OSError, match="No space left"):
                clone(STRINGS).set_params(checkpoint=path).fit(X, Y)
        assert os.listdir(tmp_path) == []
    for value in (3, True, ""):
        with pytest.raises(ValueError, match="checkpoint=.*path"):
            clone(STRINGS).set_params(checkpoint=value).fit(X, Y)


def test_a_full_disk_during_the_fit_loses_neither_the_run_nor_the_file(path, monkeypatch):
    calls, fsync = 0, os.fsync

    def full_later(descriptor):
        nonlocal calls
        calls += 1
        full_disk() if calls > 4 else fsync(descriptor)

    whole = clone(STRINGS).fit(X, Y)
    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full_later)
        with pytest.warns(RuntimeWarning, match="fit.checkpoint.*No space left.*goes on"):
            assert_same(clone(STRINGS).set_params(checkpoint=path).fit(X, Y), whole)
    assert calls > 5 and os.listdir(path.parent) == [path.name]
    assert_same(clone(STRINGS).set_params(checkpoint=path).fit(X, Y), whole)  # from the fourth state


@pytest.mark.parametrize("solver", ["coordinate", "newton"])
def test_an_interrupt_leaves_a_checkpoint_to_go_on_from(solver, path, monkeypatch):
    model = clone(STRINGS).set_params(solver=solver, tol=1e-5, checkpoint=path)
    whole = clone(model).set_params(checkpoint=None).fit(X, Y)
    from manykernels.solvers._oracle import Run

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
    np.testing.assert_allclose(again.objective_, whole.objective_, rtol=0 if solver == "coordinate" else 2e-5)


def test_random_state_is_the_order_of_the_examples():
    def weights(random_state, options=None):
        model = clone(STRINGS).set_params(random_state=random_state, solver=Solver("coordinate", **(options or {})))
        return model.fit(X, Y).dual_coef_

    same = weights(None)
    for state, options in [(0, {}), (7, {"random_state": 0})]:
        np.testing.assert_array_equal(weights(state, options), same)
    np.testing.assert_array_equal(weights(np.random.RandomState(5)), weights(np.random.RandomState(5)))
    other = weights(7)
    assert other.shape != same.shape or (other != same).any()
    assert seed_of(np.random.default_rng(1)) == seed_of(np.random.default_rng(1)) != seed_of(np.random.default_rng(2))
    for bad in (-1, 1.5, "a", True):
        with pytest.raises(ValueError, match="random_state="):
            clone(STRINGS).set_params(random_state=bad).fit(X, Y)


def test_the_bar_says_how_long_it_takes_and_where_it_begins(path, capsys):
    assert time_left([(0, 1.0), (1, 0.1)], 1e-3) is None  # too early to tell
    assert time_left([(0, 1.0), (1, 1.0), (2, 1.1)], 1e-3) is None  # no progress
    np.testing.assert_allclose(time_left([(0, 1.0), (60, 0.1), (120, 0.01)], 1e-3), 60)
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
    _checkpoint.EVERY, _checkpoint.SHARE, coordinate.VISITS = 0.0, 0, n // 10
    long_fit(n, regularizer, path)


def command(call):
    """Runs `call` of this file in a process of its own."""
    code = f"import sys; sys.path[:] = {[os.path.dirname(__file__), *sys.path]!r}; import test_checkpoint as t; "
    return [sys.executable, "-c", code + f"t.{call}"]


def child(*args):
    return subprocess.Popen(command(f"in_child{args!r}"), stdout=subprocess.PIPE, text=True)


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
            states.append(file.read("checkpoint.json"))
        others = [name for name in os.listdir(path.parent) if name != path.name]
        assert all(name.startswith(path.name) and name.endswith(".tmp") for name in others)
    resumed = long_fit(n, regularizer, path)
    assert os.listdir(path.parent) == [path.name]
    return len(states), resumed.objective_, whole.objective_, len(set(states))


def test_kill_9_and_resume(path, monkeypatch):
    monkeypatch.setattr(coordinate, "VISITS", 60)
    leftover = path.parent / f"{path.name}.{platform.node()}-{dead_process()}-1.tmp"
    leftover.write_bytes(b"half a file")
    kills, objective, whole, _ = killed_and_resumed(600, 2, path, kills=1, seed=1)
    assert kills == 1 and objective == whole


@pytest.mark.slow
@pytest.mark.parametrize("regularizer", [1, 2])
def test_twenty_kills(regularizer, path, monkeypatch):
    monkeypatch.setattr(coordinate, "VISITS", 1000)
    kills, objective, whole, states = killed_and_resumed(10_000, regularizer, path, kills=20, seed=regularizer)
    print(f"\n{kills} kills, {states} different states, objective {objective!r}, undisturbed {whole!r}")
    assert kills == 20 and states > 5 and abs(objective - whole) <= 1e-6 * whole


@pytest.mark.slow
def test_common_words_of_long_strings_are_counted_beyond_31_bits():
    from manykernels.banks.words import WordBank

    strings = ["A" * 47_000, "A" * 47_000, "CCC"]  # the last one gives the kernel its variance
    bank = WordBank.from_list(KernelList.from_spec([Spectrum(3)], strings), strings, normalize=None)
    np.testing.assert_array_equal(bank.block(np.arange(2), np.ones(1)), np.full((2, 2), 46_998.0**2))
