"""Shards, moments and rounds of a stream against plain loops over all examples: uneven blocks, weights, outputs."""

from contextlib import nullcontext
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from streams import Pieces

from manykernels import MKLClassifier
from manykernels.kernels import RBF, Linear
from manykernels.losses import Hinge
from manykernels.sequences import Sequences
from manykernels.streaming import shards
from manykernels.streaming.driver import Driver, DriverOptions
from manykernels.streaming.shards import columns_of, concatenate, numbers_of, take
from manykernels.streaming.stream import Stream, stand_in

rng = np.random.default_rng(23)


SIZES = [(5, 1), (7,), (2, 0, 8), (14,)]
n = 37
X = rng.normal(size=(n, 3)) * [1, 2, 3] + [0, 5, -1]
c, w = rng.uniform(0.1, 2, n), rng.uniform(0.1, 3, n)
c[4] = w[4] = 0.0
HOLE = np.where((np.arange(n) >= 6) & (np.arange(n) < 13), 0.0, w)  # a piece without weight
Y = np.where(rng.random((2, n)) < 0.4, 1.0, -1.0)


def opened(data=X, weights=w, in_order=False, outputs=Y):
    stream = Stream(Pieces(data, SIZES, in_order), 1)
    stream.__enter__()
    stream.arrange(outputs, c, weights)
    return stream


@pytest.mark.parametrize("in_order", [False, True])
def test_shards_have_their_own_examples_targets_costs_and_weights(in_order):
    stream = opened(in_order=in_order)
    assert stream.n == n and sum(shard.n for shard in stream.shards) == n and stream.weight == pytest.approx(w.sum())
    for k, shard in enumerate(stream.shards):
        rows = np.arange(shard.first, shard.first + shard.n)
        assert_array_equal(np.concatenate(list(shard.blocks())), X[rows])
        assert_array_equal(shard.Y, Y[:, rows])
        assert_array_equal(shard.c, c[rows])
        assert_array_equal(np.concatenate([shard.weights(part) for part, _ in shard.parts()]), w[rows])
        some = np.array([0, 5, 6, 12, 13, 22, 23, 36])
        assert_array_equal(stream.local(some, k) + shard.first, some[np.isin(some, rows)])
    for some in (np.array([0, 5, 6, 12, 13, 22, 23, 36]), np.array([3]), np.arange(n)):
        assert_array_equal(stream.fetch(some), X[some])
    plain = opened(weights=None)
    assert plain.weight == n and plain.shards[0].weights(slice(1, 4)).tolist() == [1, 1, 1]
    stream.__exit__()


@pytest.mark.parametrize("weights", [None, w, HOLE], ids=["equal", "weights", "a piece without"])
def test_moments_of_columns_are_those_of_all_examples(weights):
    stream = opened(weights=weights)
    mean, deviation = stream.columns()
    own = np.ones(n) if weights is None else weights
    expected = np.average(X, axis=0, weights=own)
    assert_allclose(mean, expected)
    assert_allclose(deviation, np.sqrt(np.average((X - expected) ** 2, axis=0, weights=own)))
    two = stand_in(X[:5], mean, deviation)
    assert_allclose([two.mean(axis=0), two.std(axis=0)], [mean, deviation])
    frame = stand_in(
        pd.DataFrame(X[:1], columns=list("abc")).assign(t="x"), np.append(mean, np.nan), np.append(deviation, np.nan)
    )
    assert_allclose(frame[["a", "b", "c"]], two)
    assert frame["t"].tolist() == ["x", "x"]
    empty = shards.merge(None, None)
    assert empty is None and shards.merge(None, (1.0, 2.0, 3.0)) == shards.merge((1.0, 2.0, 3.0), None) == (
        1.0,
        2.0,
        3.0,
    )


def a_driver(stream, loss=None, outputs=slice(0, 2), **options):
    plain = dict(
        loss=loss or Hinge(),
        regularizer=None,
        intercept=True,
        solver="auto",
        tol=1e-3,
        max_iter=50,
        seed=4,
        max_active=30,
    )
    kernels = SimpleNamespace(explicit=False, kernels=SimpleNamespace(M=2))
    monitor = SimpleNamespace(visited=lambda *a: None, record=lambda *a: None)
    return Driver(stream, kernels, DriverOptions(**plain | options), outputs, monitor, None)


def test_examples_of_every_kind_are_taken_and_joined():
    frame = pd.DataFrame({"a": [1.0, 2.0, 3.0], "b": list("xyz")})
    kinds = {
        "array": (X[:3], lambda x: x.tolist()),
        "frame": (frame, lambda x: x.to_numpy().tolist()),
        "sparse": (sp.csr_array(X[:3]), lambda x: x.toarray().tolist()),
        "list": (["t0", "t1", "t2"], list),
        "sequences": (Sequences.encode(["ACG", "GT", "AAAA"]), list),
    }
    for data, plain in kinds.values():
        both = concatenate([take(data, np.array([2, 0])), take(data, np.array([1]))])
        assert plain(both) == [plain(data)[k] for k in (2, 0, 1)]
        assert columns_of(both) == columns_of(data) and concatenate([data]) is data
    assert concatenate([frame, frame]).index.tolist() == list(range(6))
    assert columns_of(frame) == ("columns", "a", "b") and columns_of(X) == ("features", 3)
    assert_array_equal(numbers_of(frame), [[1, np.nan], [2, np.nan], [3, np.nan]])
    mixed = pd.DataFrame({"i": [1, 2], "b": [True, False], "u": np.array([3, 4], np.uint8), "s": ["5", "6"]})
    assert_array_equal(numbers_of(mixed), [[1, 1, 3, np.nan], [2, 0, 4, np.nan]])
    assert columns_of(Sequences.encode(["MK"], "protein")) != columns_of(Sequences.encode(["AC"], "dna"))
    assert numbers_of(["a"]) is None and numbers_of(X) is not X
    copy = take(X, np.arange(3))
    copy[:] = 0
    assert X[:3].any()


def test_empty_blocks_are_read_over():
    """A block without examples, as a file with a header alone gives it, changes neither fit nor predictions."""
    y = np.where(X[:, 0] + X[:, 1] > 5, "a", "b")
    model = MKLClassifier([("a", RBF(0.1), [0, 1]), ("b", Linear(), [2])], C=1.0, tol=1e-6)
    whole = clone(model).fit(X, y)
    streamed = model.fit(Pieces(X, SIZES), y)
    assert streamed.objective_ == pytest.approx(whole.objective_, rel=1e-5)
    found = streamed.decision_function(Pieces(X, SIZES))
    assert_allclose(found, streamed.decision_function(X), atol=1e-12)


def test_a_checkpoint_brings_back_rows_weights_and_intercepts():
    one = a_driver(opened())
    history = [{"gap": 0.1, "time": 1.0}]
    state = {"rows": np.array([2, 5]), "a": rng.normal(size=(2, 2)), "theta": np.array([0.3, 0.7])}
    state |= {"b": np.array([1.0, -2.0]), "gap": 0.1, "time": 3.0, "history": history, "done": False}
    state |= {"best": dict(primal=2.0, dual=1.0, gap=0.1)}
    told = []
    one.monitor.resumed = lambda *a: told.append(a)
    one.kept = SimpleNamespace(k=1, file=SimpleNamespace(parts=[{}, {"state": state}], wholeness=nullcontext))
    rows, point, last = one._resume()
    assert rows.tolist() == [2, 5] and last is state and one.history is history and told == [(0.1, 3.0)]
    for value, key in ((point.a, "a"), (point.theta, "theta"), (point.b, "b")):
        assert_array_equal(value, state[key])
    assert (point.primal, point.dual, point.gap) == (2.0, 1.0, 0.1)
    wrong = [("rows", np.array([5, 2])), ("rows", np.array([2, n])), ("a", np.zeros((1, 2))), ("b", np.zeros(1))]
    for key, bad in [*wrong, ("theta", np.zeros(3)), ("done", 1), ("history", [{"a": []}])]:
        one.kept.file.parts[1] = {"state": state | {key: bad}}
        with pytest.raises(ValueError):
            one._resume()
    one.kept.k = 0
    assert one._resume()[1:] == (None, None)
