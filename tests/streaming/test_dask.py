"""On a Dask client: the result is that in memory, whatever happens to the workers, and errors are clear."""

import os
import signal
import threading
import time

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from streams import assert_same, groups, implicit, matrices, sequences

from manykernels import KernelStack, MKLClassifier
from manykernels.streaming import ArrayFile, Cluster, Threads, using
from manykernels.streaming import backends as cluster_module

distributed = pytest.importorskip("distributed")
da = pytest.importorskip("dask.array")
db = pytest.importorskip("dask.bag")
dd = pytest.importorskip("dask.dataframe")
pd = pytest.importorskip("pandas")


@pytest.fixture(scope="module")
def client():
    """Workers that are threads of this process: quick to start, and all that travels is serialised as elsewhere."""
    options = dict(n_workers=2, threads_per_worker=1, processes=False, dashboard_address=None)
    with distributed.LocalCluster(**options) as cluster, distributed.Client(cluster) as client:
        yield client


def model(kernels, solver, tol=3e-7):
    return MKLClassifier(kernels, solver=solver, tol=tol)


def test_the_active_client_is_used_and_gives_the_fit_in_memory(client, tmp_path):
    X, y, source, kernels, solver = groups(tmp_path)
    whole, streamed = model(kernels, solver).fit(X, y), model(kernels, solver).fit(source, y)
    assert_same(streamed, whole)
    assert all(step["bytes"] > 0 for step in streamed.history_)  # what threads of this process are not sent
    array = model(kernels, solver).fit(da.from_array(X, chunks=(500, 3)), da.from_array(y, chunks=300))
    assert_same(array, whole)
    frame = pd.DataFrame(X, columns=list("abcdef")).assign(label=y)
    table = dd.from_pandas(frame, npartitions=3)
    named = model(kernels, solver).fit(table, "label")
    assert_same(named, whole)
    assert named.feature_names_in_.tolist() == list("abcdef")
    assert_array_equal(named.predict(table), named.predict(frame[list("abcdef")]))


def test_a_bag_of_file_paths_is_the_source_of_these_files(client, tmp_path):
    X, y, source, kernels, solver = sequences(tmp_path)
    bag = db.from_sequence(source.paths, npartitions=2)
    found = model(kernels, solver, 1e-4).fit(bag, "class")
    assert found.objective_ == model(kernels, solver, 1e-4).fit(source, "class").objective_
    assert_array_equal(found.predict(bag), found.predict(X))
    with pytest.raises(ValueError, match="a bag that holds 3: a bag of file paths is wanted"):
        found.fit(db.from_sequence([3, 4]), y)
    with pytest.raises(ValueError, match="all must be of one kind and end in one of .fa, "):
        found.fit(db.from_sequence(["a.fa.gz", "b.csv"]), y)


def test_a_stack_in_files_is_read_here_whatever_the_client(client, tmp_path):
    S, y, stack = matrices(tmp_path)
    one = MKLClassifier("precomputed", tol=3e-7, memory_limit=S.nbytes // 4).fit(stack, y)
    assert_same(one, MKLClassifier("precomputed", tol=3e-7).fit(KernelStack(S), y))


def test_a_scheduler_that_dies_within_a_fit_is_said_and_a_checkpoint_goes_on(tmp_path, monkeypatch):
    X, y, source, kernels, solver = groups(tmp_path)
    options = dict(n_workers=1, threads_per_worker=1, processes=False, dashboard_address=None)
    cluster = distributed.LocalCluster(**options)
    shared, share = [], Cluster.share

    def dying(self, thing):
        shared.append(thing)
        if len(shared) == 2:  # of the second round
            cluster.close()
        return share(self, thing)

    monkeypatch.setattr(Cluster, "share", dying)
    own = MKLClassifier(kernels, solver=solver, tol=1e-6, checkpoint=tmp_path / "fit.ckpt")
    with distributed.Client(cluster) as client, using(Cluster(client, time_limit=30)):
        with pytest.raises(RuntimeError, match="Dask scheduler.*does not answer any more.*checkpoint"):
            own.fit(source, y)
    with using(Threads()):
        own.fit(source, y)
        whole = MKLClassifier(kernels, solver=solver, tol=1e-6).fit(source, y)
    assert len(shared) == 2 and own.history_[0]["bytes"] > 0 == own.history_[-1]["bytes"]  # its first round was kept
    assert own.objective_ == pytest.approx(whole.objective_, rel=1e-6)


def test_bytes_of_a_round_are_those_of_the_support(client, tmp_path):
    """Four times the examples: what is sent follows the support alone."""
    found = []
    for n in (400, 1600):
        X = np.random.default_rng(0).normal(size=(n, 5))
        y = np.where(X[:, 0] > 0, 1, 0)  # separable: the support stays small
        np.save(tmp_path / f"{n}.npy", X)
        kernels = groups(tmp_path)[3][:2]
        steps = model(kernels, "coordinate", 1e-3).fit(ArrayFile(tmp_path / f"{n}.npy", rows=100), y).history_
        found += [(step["support"], step["bytes"]) for step in steps]
    support, sent = np.array(found, dtype=float).T
    slope, offset = np.polyfit(support, sent, 1)
    assert 0 < slope < 500  # a row of 5 numbers, its features and its coefficient
    assert_allclose(sent, slope * support + offset, rtol=0.1)


def test_another_version_at_the_workers_is_refused(client, tmp_path, monkeypatch):
    X, y, source, kernels, solver = groups(tmp_path)
    monkeypatch.setattr(cluster_module, "_version", lambda: "0.0.7")
    with pytest.raises(RuntimeError, match="0.0.7 at 2 of 2 workers.*install the same version"):
        model(kernels, solver).fit(source, y)


def test_a_slow_worker_is_named(client, tmp_path):
    with using(Cluster(client, time_limit=0.3)) as backend:
        backend.open()
        with pytest.raises(TimeoutError, match=r"time_limit=0.3 seconds, and 1 of 1 shards have no answer from inproc"):
            backend.run(time.sleep, [(3.0,)])


def test_unequal_partitions_and_a_single_class_are_named(client, tmp_path):
    X, y, _, kernels, solver = groups(tmp_path)
    frames = [pd.DataFrame(X[:300], columns=list("abcdef")), pd.DataFrame(X[300:600, :5], columns=list("abcde"))]
    table = dd.from_delayed(_delayed(frames), meta=frames[0], verify_meta=False)
    with pytest.raises(ValueError, match=r"lacks \['f'\].*same columns"):
        model(kernels, solver).fit(table, y[:600])
    with pytest.raises(ValueError, match="one class only"):
        model(kernels, solver).fit(da.from_array(X, chunks=(300, 6)), np.ones(len(X)))
    with pytest.raises(ValueError, match=f"y has 5 targets, and .* has {len(X)} examples"):
        model(kernels, solver).fit(da.from_array(X, chunks=(300, 6)), y[:5])


def _delayed(frames):
    import dask

    return [dask.delayed(frame) for frame in frames]


@pytest.mark.slow
@pytest.mark.parametrize("workers", [1, 2, 4])
def test_worker_processes_give_the_fit_in_memory(tmp_path, workers):
    options = dict(n_workers=workers, threads_per_worker=1, dashboard_address=None)
    with distributed.LocalCluster(**options) as cluster, distributed.Client(cluster):
        for case in (implicit, groups, sequences):
            X, y, source, kernels, solver = case(tmp_path)
            streamed = model(kernels, solver).fit(source, "class" if case is sequences else y)
            assert_same(streamed, model(kernels, solver).fit(X, y))
        S, y, stack = matrices(tmp_path)
        read = MKLClassifier("precomputed", tol=3e-7, memory_limit=S.nbytes // 4).fit(stack, y)
        assert_same(read, MKLClassifier("precomputed", tol=3e-7).fit(KernelStack(S), y))


@pytest.mark.slow
def test_a_killed_worker_costs_time_and_nothing_else(tmp_path):
    """kill -9 of a random worker in each of ten fits."""
    X, y, source, kernels, solver = implicit(tmp_path)
    rng, whole = np.random.default_rng(0), model(kernels, solver).fit(X, y)
    options, took = dict(n_workers=3, threads_per_worker=1, dashboard_address=None), 0.0
    for _ in range(10):
        with distributed.LocalCluster(**options) as cluster, distributed.Client(cluster) as client:
            if not took:
                took = time.monotonic()
                model(kernels, solver).fit(source, y)
                took = time.monotonic() - took
            victim = int(rng.choice(list(client.run(os.getpid).values())))
            timer = threading.Timer(float(rng.uniform(0.1, 0.9)) * took, os.kill, (victim, signal.SIGKILL))
            timer.start()
            streamed = model(kernels, solver).fit(source, y)
            timer.join()
            assert_same(streamed, whole)


@pytest.mark.slow
def test_a_dead_scheduler_is_said(tmp_path):
    X, y, source, kernels, solver = groups(tmp_path)
    cluster = distributed.LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=None)
    client = distributed.Client(cluster, timeout=5)
    with using(Cluster(client, time_limit=30)):
        cluster.close()
        with pytest.raises(RuntimeError, match="Dask scheduler.*does not answer any more"):
            model(kernels, solver).fit(source, y)
    client.close()
