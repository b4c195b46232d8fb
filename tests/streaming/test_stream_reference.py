"""Shards, moments and rounds of a stream against plain loops over all examples: uneven blocks, weights, outputs."""

from contextlib import nullcontext
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone

from manykernels import MKLClassifier
from manykernels.kernels import RBF, KernelList, Linear, Polynomial, Views
from manykernels.losses import Hinge, Squared
from manykernels.sequences import Sequences
from manykernels.solution import Solution, Status
from manykernels.streaming import DataSource, driver, moments, shards
from manykernels.streaming.driver import Driver, DriverOptions
from manykernels.streaming.examples import columns_of, concatenate, numbers_of, take
from manykernels.streaming.stream import Stream, stand_in
from manykernels.strings import degree_kernels

rng = np.random.default_rng(23)


class Pieces(DataSource):
    """Examples in memory, given in blocks of uneven sizes, several in a piece."""

    def __init__(self, X, sizes, in_order=False):
        ends = np.cumsum([0, *(m for piece in sizes for m in piece)])
        blocks, self.parts, k = [take(X, np.arange(a, b)) for a, b in zip(ends, ends[1:], strict=False)], [], 0
        for piece in sizes:
            self.parts.append(blocks[k : k + len(piece)])
            k += len(piece)
        self.in_order, self.target = in_order, None

    def pieces(self):
        return range(len(self.parts))

    def read(self, piece):
        for X in self.parts[piece]:
            yield X, None


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
        np.testing.assert_array_equal(np.concatenate(list(shard.blocks())), X[rows])
        np.testing.assert_array_equal(shard.Y, Y[:, rows])
        np.testing.assert_array_equal(shard.c, c[rows])
        np.testing.assert_array_equal(np.concatenate([shard.weights(part) for part, _ in shard.parts()]), w[rows])
        some = np.array([0, 5, 6, 12, 13, 22, 23, 36])
        np.testing.assert_array_equal(stream.local(some, k) + shard.first, some[np.isin(some, rows)])
    for some in (np.array([0, 5, 6, 12, 13, 22, 23, 36]), np.array([3]), np.arange(n)):
        np.testing.assert_array_equal(stream.fetch(some), X[some])
    plain = opened(weights=None)
    assert plain.weight == n and plain.shards[0].weights(slice(1, 4)).tolist() == [1, 1, 1]
    stream.__exit__()


@pytest.mark.parametrize("weights", [None, w, HOLE], ids=["equal", "weights", "a piece without"])
def test_moments_of_columns_are_those_of_all_examples(weights):
    stream = opened(weights=weights)
    mean, deviation = stream.columns()
    own = np.ones(n) if weights is None else weights
    expected = np.average(X, axis=0, weights=own)
    np.testing.assert_allclose(mean, expected)
    np.testing.assert_allclose(deviation, np.sqrt(np.average((X - expected) ** 2, axis=0, weights=own)))
    two = stand_in(X[:5], mean, deviation)
    np.testing.assert_allclose([two.mean(axis=0), two.std(axis=0)], [mean, deviation])
    frame = stand_in(
        pd.DataFrame(X[:1], columns=list("abc")).assign(t="x"), np.append(mean, np.nan), np.append(deviation, np.nan)
    )
    np.testing.assert_allclose(frame[["a", "b", "c"]], two)
    assert frame["t"].tolist() == ["x", "x"]
    empty = shards.merge(None, None)
    assert empty is None and shards.merge(None, (1.0, 2.0, 3.0)) == shards.merge((1.0, 2.0, 3.0), None) == (
        1.0,
        2.0,
        3.0,
    )


@pytest.mark.parametrize("kind", ["multiplicative", "trace", "spherical", None])
@pytest.mark.parametrize("weights", [None, w, HOLE], ids=["equal", "weights", "a piece without"])
def test_scales_are_those_of_a_bank_of_all_examples(kind, weights, monkeypatch):
    """Features, words and pairs of examples, each with blocks that end in the middle of a matrix."""
    monkeypatch.setattr(moments, "ROWS_PER_MATRIX", 4)
    specs = [("a", Linear(), [0, 1]), ("b", RBF(0.1)), ("c", Linear(), [2]), ("d", Polynomial(2, 0.3, 1.0), [1, 2])]
    kernels = KernelList.from_spec(specs, X)
    scaled, far = moments.normalisation(opened(weights=weights), kernels, X, kind)
    own = np.ones(n) if weights is None else weights
    for m, (_, kernel, *columns) in enumerate(specs):
        x = X[:, columns[0]] if columns else X
        K = kernel.resolve(x)(x)
        if kind == "spherical":
            assert scaled.usable[m]
            continue
        diagonal, square = own @ K.diagonal() / own.sum(), own @ K @ own / own.sum() ** 2
        expected = {"multiplicative": 1 / (diagonal - square), "trace": 1 / diagonal, None: 1.0}[kind]
        assert scaled.scale[m] == pytest.approx(expected, rel=1e-9)
    assert not far


@pytest.mark.parametrize("degree", [3, 24])  # words of 24 letters, of three bits each, are no numbers of 64 bits
@pytest.mark.parametrize("weights", [None, w, HOLE], ids=["equal", "weights", "a piece without"])
def test_scales_of_words_are_those_of_all_pairs(weights, degree, monkeypatch):
    texts = ["".join(rng.choice(list("ACGT"), 9)) + "ACGTTGCA" * (2 * (degree > 9)) for _ in range(n)]
    texts[3] = "NN" + texts[3][2:]
    data = Sequences.encode(texts, unknown="ignore")
    kernels = KernelList.from_spec(degree_kernels(degree), data)
    monkeypatch.setattr(Stream, "room", 24 * n * 2)  # two positions at a time
    scaled, _ = moments.normalisation(opened(data, weights), kernels, data, "multiplicative")
    own = np.ones(n) if weights is None else weights
    for m, kernel in enumerate(kernels.kernels):
        K = kernel(data, data)
        variance = own @ K.diagonal() / own.sum() - own @ K @ own / own.sum() ** 2
        assert scaled.scale[m] == pytest.approx(1 / variance, rel=1e-6)


def test_the_precision_of_words_is_that_of_words_alone(monkeypatch):
    """A list of numbers and words: each kernel is judged by the precision of its own moments."""
    texts = Sequences.encode(["".join(rng.choice(list("ACGT"), 9)) for _ in range(n)])
    data, seen = Views({"x": X, "t": texts}), {}
    specs = [("a", Linear(), ("x", [0])), *(("d", k, "t") for _, k in degree_kernels(2)), ("b", RBF(0.1), "x")]
    kernels = KernelList.from_spec([(f"{name}{m}", *rest) for m, (name, *rest) in enumerate(specs)], data)
    true = KernelList.scales
    monkeypatch.setattr(KernelList, "scales", lambda self, *a: seen.update(known=a[3]) or true(self, *a))
    moments.normalisation(opened(data), kernels, data, "multiplicative")
    words = [k for k, (name, *_) in enumerate(specs) if name == "d"]
    np.testing.assert_array_equal(seen["known"] > 1e-12, np.isin(np.arange(kernels.M), words))


class Made:
    """A predictor with these outputs (T, n) of all examples, found by their first column."""

    def __init__(self, F):
        self.F = F

    def prepared(self, A, theta, room):
        return lambda data: self.F[:, [int(np.flatnonzero(X[:, 0] == x)[0]) for x in data[:, 0]]]


@pytest.mark.parametrize("loss", [Hinge(), Squared()])
@pytest.mark.parametrize("outputs", [slice(0, 2), slice(1, 2)])
@pytest.mark.parametrize("most", [1, 3, 100])
def test_pricing_returns_all_losses_and_the_worst_inactive_examples(loss, outputs, most):
    stream, T = opened(), len(Y[outputs])
    F, b = rng.normal(size=(T, n)), rng.normal(size=T)
    state = shards.SentModel(Made(F), np.ones((T, 1)), np.ones(1), b, loss, outputs, 10**6)
    active = np.array([0, 2, 5, 6, 8, 13, 30])
    V = c * np.array([loss.value(Y[outputs][t], F[t] + b[t]) for t in range(T)])
    for k, shard in enumerate(stream.shards):
        rows = np.arange(shard.first, shard.first + shard.n)
        found = shards.price(shard, state, stream.local(active, k), most)
        np.testing.assert_allclose(found.losses, V[:, rows].sum(axis=1))
        free = [i for i in rows if i not in active and V[:, i].sum() > 0]
        worst = sorted(sorted(free, key=lambda i: -V[:, i].sum())[:most])
        assert found.violators == len(free) and (found.rows + shard.first).tolist() == worst
        np.testing.assert_allclose(found.values, V[:, worst].sum(axis=0))
        if worst:
            np.testing.assert_array_equal(found.X, X[worst])
        assert found.seconds > 0


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


@pytest.mark.parametrize("room", [0, 2, 9])
def test_the_worst_examples_join_and_the_start_moves_with_its_examples(room, monkeypatch):
    stream = opened()
    one = a_driver(stream)
    rows = np.array([1, 6, 7, 20, 33])
    solution = Solution(np.ones(2), rng.normal(size=(2, 5)), np.zeros(2), 1.0, 0.5, 0.1)
    monkeypatch.setattr(one, "_needed", lambda *a: np.array([0, 2, 4]))
    found, everyone = {}, {}
    for k, shard in enumerate(stream.shards):
        own = np.setdiff1d(np.arange(shard.first, shard.first + shard.n), rows)[::2]
        values = rng.random(len(own))
        everyone |= dict(zip(own.tolist(), values, strict=True))
        found[k] = shards.Priced(np.zeros(2), len(own), own, values, X[own], ("a",), 0.0)
    after, data, start = one._grow(None, rows, X[rows], solution, found, room)
    expected = sorted([1, 7, 33, *sorted(everyone, key=lambda i: -everyone[i])[:room]])
    assert after.tolist() == expected
    np.testing.assert_array_equal(data, X[expected])
    a = np.zeros((2, n))
    a[:, [1, 7, 33]] = solution.a[:, [0, 2, 4]]
    np.testing.assert_array_equal(start.a, a[:, expected])
    assert start.theta is solution.theta and start.gap == 0.1


@pytest.mark.parametrize("loss", [Hinge(), Squared()])
def test_the_first_examples_are_drawn_from_each_class_with_costs(loss, monkeypatch):
    monkeypatch.setattr(driver, "MIN_ACTIVE", 10)
    one = a_driver(opened(), loss, max_active=24)  # 10 examples for each output
    rows = one._first()
    assert (c[rows] > 0).all() and (np.diff(rows) > 0).all()
    np.testing.assert_array_equal(rows, a_driver(opened(), loss, max_active=24)._first())
    assert not np.array_equal(rows, a_driver(opened(), loss, max_active=24, seed=5)._first())
    if loss.targets == "binary":
        for y in Y:
            assert (y[rows] > 0).sum() >= 5 and (y[rows] < 0).sum() >= 5
    few = a_driver(opened(outputs=np.array([np.where(np.arange(n) == 9, 1.0, -1.0)])), loss, slice(0, 1))
    assert len(few._first()) == 10 and (loss.targets != "binary" or 9 in few._first())


def test_all_shards_or_enough_of_them_are_asked_in_turn(monkeypatch):
    stream = opened()
    one = a_driver(stream)
    problem = SimpleNamespace(bank=SimpleNamespace(predictor=lambda support: Made(np.zeros((2, n)))))
    solution = Solution(np.ones(2), np.eye(2, 5), np.array([0.5, -0.5]), 1.0, 0.5, 0.1)
    rows = np.array([1, 6, 7, 20, 33])
    found = one._price(problem, solution, rows, 0)
    assert list(found) == [0, 1, 2, 3]
    V = c * np.array([Hinge().value(Y[t], np.full(n, solution.b[t])) for t in range(2)])
    np.testing.assert_allclose(sum(p.losses for p in found.values()), V.sum(axis=1))
    for k, priced in found.items():  # numbers in the whole data set
        own = np.arange(stream.shards[k].first, stream.shards[k].first + stream.shards[k].n)
        assert set(priced.rows) <= set(own) - set(rows)
        np.testing.assert_array_equal(priced.X, X[priced.rows])
        np.testing.assert_allclose(priced.values, V[:, priced.rows].sum(axis=0))
    asked = one._price(problem, solution, rows, 1)  # one shard has two violators already
    assert len(asked) == 1
    one.history = [{}]
    assert list(one._price(problem, solution, rows, 1)) != list(asked)  # the next round begins elsewhere


def test_a_run_ends_by_its_gap_its_rounds_or_its_memory(monkeypatch):
    monkeypatch.setattr(driver, "MIN_ACTIVE", 10)
    one = a_driver(opened(), max_active=1000, max_iter=3)
    many = {0: shards.Priced(np.zeros(1), 9, np.arange(30), np.ones(30), None, ("a",), 0.0)}
    none = {0: many[0]._replace(rows=np.arange(0))}
    good, poor = SimpleNamespace(converged=True), SimpleNamespace(converged=False)

    def end(gap, certified, found, room, warm=good, aim=1e-2, rounds=1):
        one.history = [{}] * rounds
        return one._end({"certified": certified, "gap": gap}, found, room, warm, aim)

    assert end(1e-3, True, many, 100) is None and end(1e-3, True, many, 100, rounds=3) is None
    assert (
        end(2e-3, True, many, 100, rounds=3) is Status.STEPS and end(1e-4, False, many, 100, rounds=3) is Status.STEPS
    )
    assert end(2e-3, True, none, 100) is None  # a smaller aim follows
    assert end(2e-3, True, none, 100, aim=5e-4) is Status.STALLED and end(2e-3, True, none, 100, poor) is Status.STALLED
    assert end(2e-3, False, none, 100, aim=5e-4) is None
    assert end(2e-3, True, many, 9) is Status.MEMORY and end(2e-3, True, many, 10) is None
    assert end(2e-3, True, {0: many[0]._replace(rows=np.arange(9))}, 9) is None


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
    np.testing.assert_array_equal(numbers_of(frame), [[1, np.nan], [2, np.nan], [3, np.nan]])
    mixed = pd.DataFrame({"i": [1, 2], "b": [True, False], "u": np.array([3, 4], np.uint8), "s": ["5", "6"]})
    np.testing.assert_array_equal(numbers_of(mixed), [[1, 1, 3, np.nan], [2, 0, 4, np.nan]])
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
    np.testing.assert_allclose(found, streamed.decision_function(X), atol=1e-12)


def test_the_gap_of_some_shards_is_an_estimate_for_all(monkeypatch):
    one, asked = a_driver(opened()), {}
    a = np.zeros((2, 5))
    a[0, 1], a[1, 3] = 2.0, -1.0
    P = rng.normal(size=(2, 3, 2))  # products (T, M, support)
    bank = SimpleNamespace(products=lambda A, rows, columns: P if rows.tolist() == [1, 3] else None)

    def certificate(losses, a, b, theta, q):
        asked.update(losses=losses, theta=theta, q=q, b=b)
        return SimpleNamespace(primal=5.0, dual=4.0, scale=10.0)

    problem = SimpleNamespace(bank=bank, kernels=np.array([0, 2]), certificate=certificate)
    found = {k: shards.Priced(np.array([k, 2.0 * k]), 0, None, None, None, ("a",), 0.0) for k in (1, 3)}
    share = sum(one.stream.shards[k].n for k in (1, 3)) / n
    for dual, best in ((3.0, 4.0), (4.5, 4.5)):  # the solver may know a better dual point
        point = Solution(np.array([1.0, 2.0, 3.0]), a, np.array([0.5, 0.25]), 5.0, dual, 0.1)
        known = one._certificate(problem, point, found)
        assert known == {"primal": 5.0, "dual": best, "gap": pytest.approx((5.0 - best) / 10)}
    np.testing.assert_allclose(asked["losses"], np.array([4.0, 8.0]) / share)
    assert asked["theta"].tolist() == [1.0, 3.0] and asked["b"].tolist() == [0.5, 0.25]
    q = [sum(P[t, m, i] * a[t, (1, 3)[i]] for t in range(2) for i in range(2)) for m in (0, 2)]
    np.testing.assert_allclose(asked["q"], q)


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
        np.testing.assert_array_equal(value, state[key])
    assert (point.primal, point.dual, point.gap) == (2.0, 1.0, 0.1)
    wrong = [("rows", np.array([5, 2])), ("rows", np.array([2, n])), ("a", np.zeros((1, 2))), ("b", np.zeros(1))]
    for key, bad in [*wrong, ("theta", np.zeros(3)), ("done", 1), ("history", [{"a": []}])]:
        one.kept.file.parts[1] = {"state": state | {key: bad}}
        with pytest.raises(ValueError):
            one._resume()
    one.kept.k = 0
    assert one._resume()[1:] == (None, None)


@pytest.mark.parametrize(("most", "kept"), [(30, 7), (9, 4), (5, 3)])
def test_examples_that_matter_stay_and_the_nearest_others(most, kept, monkeypatch):
    """Those of slack ≤ 0, a quarter more, and MIN_ACTIVE; as many as leave room for others, at least the support."""
    monkeypatch.setattr(driver, "MIN_ACTIVE", 1)
    slack = np.array(
        [[3.0, -1.0, 0.5, 7.0, 2.0, 9.0, 0.0, 4.0, 6.0, 8.0], [5.0, 5.0, -2.0, 7.0, -1.0, 9.0, 1.0, 0.0, 6.0, 8.0]]
    )
    each = iter(slack)
    monkeypatch.setattr(driver, "InnerProblem", lambda *a: SimpleNamespace(slack=lambda *b: next(each)))
    a = np.zeros((2, 10))
    a[0, [1, 2]], a[1, 4] = 1.0, 1.0
    bank = SimpleNamespace(n=10, outputs=lambda theta, A, support: np.zeros((2, 10)))
    problem = SimpleNamespace(bank=bank, Y=np.ones((2, 10)), c=np.ones((2, 10)))
    one = a_driver(opened(), max_active=most)
    found = one._needed(problem, Solution(np.ones(2), a, np.zeros(2), 0.0, 0.0, 0.0), 5)
    least = slack.min(axis=0)
    assert found.tolist() == sorted(np.argsort(least, kind="stable")[:kept].tolist())
    one.history = [{}] * 3
    if most == 30:  # after the first rounds all stay where there is room
        assert one._needed(problem, None, 5).tolist() == list(range(10))
