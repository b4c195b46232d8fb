"""The file of a checkpoint: damage, full and failing disks, other writers."""

import errno
import os
import platform
import threading
import time

import numpy as np
import pytest
from checkpoints import STRINGS, X, Y, assert_same, dead_process
from numpy.testing import assert_array_equal
from sklearn.base import clone

from manykernels import MKLClassifier, _archive
from manykernels.solution import Solution
from manykernels.solvers import checkpoint_file

pytestmark = pytest.mark.usefixtures("often")


def test_damage_is_recognised_and_nothing_is_overwritten(path, monkeypatch):
    monkeypatch.setattr(checkpoint_file.CheckpointSlot, "carry_on", lambda *_: pytest.fail("a damaged file was used"))
    model, identity = clone(STRINGS).set_params(checkpoint=path), {"C": "1.0"}
    a = np.arange(1.0, 50.0)
    checkpoint_file.Checkpoint(path, identity).write([{"state": {"a": a}}])
    good = path.read_bytes()
    at = good.index(a[20:].tobytes())
    entry = good.rindex(b"PK\x01\x02") + 10  # the method of compression: bz2 fails with an OSError
    for bad in (good[: len(good) // 2], good[:at] + b"\x01" + good[at + 1 :], b"", b"my own notes",
                good[:entry] + b"\x0c" + good[entry + 1 :]):  # fmt: skip
        path.write_bytes(bad)
        with pytest.raises(ValueError, match="no whole checkpoint.*delete"):
            checkpoint_file.Checkpoint(path, identity)
        with pytest.raises(ValueError, match=str(path)):
            model.fit(X, Y)
        assert path.read_bytes() == bad


def test_an_array_is_read_to_its_checksum(path):
    a = np.random.default_rng(0).normal(size=200_000)
    file = checkpoint_file.Checkpoint(path, {})
    file.write([{"state": {"a": a}}])
    assert_array_equal(file._read()[0]["state"]["a"], a)
    path.write_bytes(path.read_bytes().replace(b"'<f8'", b"'<f4'", 1))
    with pytest.raises(ValueError, match="no whole checkpoint.*CRC"):
        checkpoint_file.Checkpoint(path, {})


@pytest.mark.parametrize("k", range(3))
def test_what_is_written_of_one_problem_leaves_the_others_as_they_were(path, k):
    states = [{"state": {"a": np.full(3, float(j))}} for j in range(3)]
    checkpoint_file.Checkpoint(path, {}, 3).write(states)
    file = checkpoint_file.Checkpoint(path, {}, 3)
    checkpoint_file.CheckpointSlot(file, k).write({"state": {"a": np.full(3, 9.0)}})
    found = [part["state"]["a"][0] for part in checkpoint_file.Checkpoint(path, {}, 3).parts]
    assert found == [9.0 if j == k else j for j in range(3)]


def test_a_solution_in_a_file_has_the_point_that_proves_its_bound(path):
    a, proof = np.array([[0.5, -0.5]]), np.array([[0.25, -0.25]])
    found = Solution(np.ones(1), a, np.zeros(1), 2.0, 1.0, 0.5, history=[{"time": 0.1}], dual_a=proof)
    checkpoint_file.Checkpoint(path, {}).write([{"solution": found.to_state(), "max_iter": 1}])
    (part,) = checkpoint_file.Checkpoint(path, {}).parts
    back = Solution.from_state(part["solution"])
    assert_array_equal(back.dual_a, proof)
    assert_array_equal(back.a, a)
    assert (back.primal, back.dual, back.gap) == (2.0, 1.0, 0.5)


def test_a_disk_that_fails_is_no_reason_to_delete_the_file(path, monkeypatch):
    def failing(*_):
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    checkpoint_file.Checkpoint(path, {})
    monkeypatch.setattr(_archive.zipfile, "ZipFile", failing)
    with pytest.raises(OSError, match="cannot be used .Input/output error"):
        checkpoint_file.Checkpoint(path, {})


def test_only_files_of_dead_writers_are_removed(path):
    here, other, gone = platform.node(), platform.node() + "2", dead_process()
    names = [f"{path.name}.{writer}-7.tmp" for writer in (f"{here}-{os.getpid()}", f"{other}-{gone}", f"{here}-{gone}")]
    for name in [*names, "mine.tmp"]:
        (path.parent / name).write_bytes(b"half a file")
    checkpoint_file.Checkpoint(path, {})
    assert set(os.listdir(path.parent)) == {path.name, "mine.tmp", *names[:2]}
    for name in [*names[:2], "mine.tmp"]:
        os.utime(path.parent / name, (time.time() - 7200,) * 2)
    checkpoint_file.Checkpoint(path, {})
    assert set(os.listdir(path.parent)) == {path.name, "mine.tmp"}


def test_threads_that_write_one_path_do_not_disturb_each_other(path):
    errors, parts = [], [{"state": {"a": np.random.default_rng(0).normal(size=200_000)}}]

    def work():
        try:
            file = checkpoint_file.Checkpoint(path, {})
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
    for place, error, why in [
        (tmp_path / "none" / "fit", OSError, "No such file.*give a path"),
        (tmp_path, ValueError, "is a folder: give the path"),
    ]:
        with pytest.raises(error, match=why) as caught:
            clone(STRINGS).set_params(checkpoint=place).fit(X, Y)
        assert str(place) in str(caught.value)
    for where in (os, "fsync"), (checkpoint_file.shutil, "disk_usage"):
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
