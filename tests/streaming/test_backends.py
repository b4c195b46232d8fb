"""Backends: calls come back in order, shared objects are the newest, what is sent is counted, a dead pool is replaced.

The pool of `Processes` is one of threads here, which takes no time to start; the slow tests have true processes.
"""

import os
import pickle
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool

import numpy as np
import pytest
from streams import rows

from manykernels import MKLClassifier
from manykernels.kernels import RBF, Linear
from manykernels.streaming import ArrayFile, DataSource, Processes, Threads, backends, using
from manykernels.streaming.backends import active_backend

KERNELS = [("one", RBF(gamma=0.5), [0]), ("two", RBF(gamma="scale"), [1, 2]), ("all", Linear())]


@pytest.fixture
def pools(monkeypatch):
    """The pools that were made."""
    made = []

    def pool(self):
        made.append(ThreadPoolExecutor(1))
        return made[-1]

    monkeypatch.setattr(Processes, "_pool", pool)
    monkeypatch.setattr(backends, "_last", {})
    return made


def test_handles_become_the_objects_that_were_given_and_bytes_are_counted(pools):
    backend = Processes(2)
    assert backend.width == 2 and not backend.here and backend.keeps_blocks
    for _ in range(2):  # it is opened again for every fit
        backend.open()
        folder = backend.folder.name
        assert backend.sent == 0 and os.listdir(folder) == []
        held = backend.hold(["left", "right"])
        first = backend.share([1.0, 2.0])
        sizes = [os.path.getsize(os.path.join(folder, name)) for name in os.listdir(folder)]
        assert backend.sent == sum(sizes) == sum(len(pickle.dumps(x, 5)) for x in ("left", "right", [1.0, 2.0]))
        calls = [(held[1], first, 3), (held[0], first, 4), ("plain", first, 5)]
        assert backend.run(lambda *call: call, calls) == [
            ("right", [1.0, 2.0], 3), ("left", [1.0, 2.0], 4), ("plain", [1.0, 2.0], 5)]  # fmt: skip
        second = backend.share([3.0])
        assert backend.run(lambda x, y: (x, y), [(held[0], second)]) == [("left", [3.0])]
        assert list(backends._last) == [second.path]  # a worker keeps the last shared object, and no shard
        assert backend.run(lambda x: x, [(first,), (second,), (held[1],)]) == [[1.0, 2.0], [3.0], "right"]
        backend.close()
        assert not os.path.exists(folder) and pools[-1]._shutdown
    assert len(pools) == 2


@pytest.mark.parametrize("deaths", [1, 2, 3])
def test_a_pool_that_dies_is_replaced_twice_and_then_named(pools, deaths):
    left = [deaths]

    def mortal(x):
        if x == 2 and left[0]:
            left[0] -= 1
            raise BrokenProcessPool("killed")
        return 10 * x

    backend = Processes(1)
    backend.open()
    if deaths < backends.MAX_TRIES:
        assert backend.run(mortal, [(1,), (2,), (3,)]) == [10, 20, 30]
    else:
        with pytest.raises(RuntimeError, match="died 3 times in a row"):
            backend.run(mortal, [(1,), (2,), (3,)])
    assert len(pools) == 1 + deaths and all(pool._shutdown for pool in pools[:-1]) and not pools[-1]._shutdown
    assert backend.run(mortal, [(4,)]) == [40]  # the backend stays usable
    backend.close()


def test_a_fit_by_another_backend_is_the_fit_by_threads(pools, tmp_path):
    X, y = rows(300)
    np.save(tmp_path / "X.npy", X)
    source, model = ArrayFile(tmp_path / "X.npy", rows=70), MKLClassifier(KERNELS, C=1.0, tol=1e-4, n_jobs=1)
    here = model.fit(source, y)
    objective, decision = here.objective_, here.decision_function(X)
    assert not any(step["bytes"] for step in here.history_)
    with using(Processes(1)) as backend:
        there = model.fit(source, y)
    assert there.objective_ == pytest.approx(objective, rel=1e-12)
    np.testing.assert_allclose(there.decision_function(X), decision, atol=1e-9)
    shards = len(source.pieces())
    assert all(0 < step["bytes"] < backend.sent for step in there.history_)
    assert sum(step["bytes"] for step in there.history_) < backend.sent
    assert backend.count >= shards + there.n_iter_  # a file for each shard, and one for each round


def test_the_backend_is_the_chosen_one_within_its_context_and_threads_after():
    outer, inner = Threads(1), Threads(2)
    with using(outer):
        assert active_backend(7) is outer
        with using(inner) as chosen:
            assert chosen is inner is active_backend()
        assert active_backend() is outer
        with pytest.raises(KeyError), using(inner):
            raise KeyError
        assert active_backend() is outer
    found = active_backend(1)
    assert type(found) is Threads and found not in (outer, inner) and found.n_jobs == 1 == found.width
    assert found.here and found.run(pow, [(2, 3), (3, 2), (2, 1)]) == [8, 9, 2]


class Once(DataSource):
    """Counts how often its piece is read."""

    reads = 0

    def __init__(self, X, in_order):
        self.X, self.in_order = X, in_order

    def pieces(self):
        return [0]

    def read(self, piece):
        self.reads += 1
        for low in range(0, len(self.X), 40):
            yield self.X[low : low + 40], None


@pytest.mark.parametrize("in_order", [True, False])
def test_what_can_only_be_read_from_its_beginning_is_read_once(in_order):
    X, y = rows(200)
    source, model = Once(X, in_order), MKLClassifier(KERNELS[::2], C=1.0, tol=1e-3, n_jobs=1)
    fitted = model.fit(source, y)
    assert (source.reads == 1) == in_order
    whole = MKLClassifier(KERNELS[::2], C=1.0, tol=1e-3, n_jobs=1).fit(X, y)
    assert fitted.objective_ == pytest.approx(whole.objective_, rel=2e-3)
