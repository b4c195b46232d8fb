"""Scales, prices, certificates and active sets of a stream against the whole data in memory, shard by shard."""

import itertools
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from streams import Pieces, driver_of

from manykernels import Views, losses
from manykernels.kernels import RBF, Cosine, KernelList, Linear
from manykernels.problem import Problem
from manykernels.regularizers import LpNorm
from manykernels.sequences import Sequences
from manykernels.solution import Status
from manykernels.solvers import solve
from manykernels.streaming import driver
from manykernels.streaming import stream as stream_module
from manykernels.streaming.driver import Driver
from manykernels.streaming.stream import Stream
from manykernels.strings import Degree, Spectrum, WeightedDegree

n = 90
BLOCKS = [[7, 11], [13], [1, 20, 9], [29]]  # the sizes of the blocks of each piece


def data(T=2, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4)) + [0, 0, 1, 0]
    f = X[:, 0] - X[:, 1] * X[:, 2] + 0.3 * rng.normal(size=n)
    Y = np.where(np.array([f, np.roll(f, 1) + X[:, 3]]) > 0, 1.0, -1.0)[:T]
    c, w = rng.uniform(0.2, 2.0, n), rng.uniform(0.0, 3.0, n)
    c[::9], w[::7] = 0.0, 0.0
    return X, Y, c, w


@pytest.mark.filterwarnings("ignore:kernels without variance")
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("normalize", ["multiplicative", "spherical", "trace", None])
@pytest.mark.parametrize("kind", ["numbers", "words", "known letters"])
def test_scales_of_shards_are_those_of_all_examples(kind, normalize, weighted, monkeypatch):
    """Features, words at positions and pairs; matrices of 6 rows, positions two at a time."""
    monkeypatch.setattr(stream_module, "ROWS_PER_MATRIX", 6)
    X, Y, c, w = data()
    specs = [
        ("a", Linear(), [0, 1]),
        ("b", RBF(0.3)),
        ("c", Linear(), [2]),
        ("d", Cosine(), [1, 3]),
        ("e", RBF(1.0), [0]),
    ]
    if kind != "numbers":
        rng = np.random.default_rng(1)
        texts = ["".join(r) for r in rng.choice(list("ACGT"), p=[0.5, 0.2, 0.2, 0.1], size=(n, 9))]
        texts[4] = "N" * (kind == "words") + texts[4][kind == "words" :]
        X = Sequences.encode(texts, "dna", "ignore")
        any_letter = dict(unknown="ignore")
        specs = [WeightedDegree(3, **any_letter), Spectrum(2, **any_letter), Degree(2, 1, 6, **any_letter)]
    kernels = KernelList.from_spec(specs, X)
    with Stream(Pieces(X, BLOCKS), 2) as stream:
        stream.room = 24 * n * 2
        stream.arrange(Y, c, w if weighted else None)
        scaled, far = stream_module.normalisation(stream, kernels, stream.head, normalize)
    own = np.ones(n) if not weighted else w
    own, views = own / own.sum(), kernels.views(X)
    for m, (kernel, v) in enumerate(zip(kernels.kernels, kernels.view_of, strict=True)):
        K = np.asarray(kernel(views[v].X), float)
        if normalize == "spherical":
            root = np.sqrt(np.diag(K))
            K = K / root[:, None] / root
        diagonal, mean = own @ np.diag(K), own @ K @ own
        by = {"multiplicative": diagonal - mean, "trace": diagonal}.get(normalize, 1.0)
        assert scaled.scale[m] == pytest.approx(1 / by, rel=1e-9), kernels.names[m]
        if normalize == "multiplicative":
            assert scaled.mean[m] == pytest.approx(mean, rel=1e-7, abs=1e-9)
    assert scaled.usable.all() and not far and scaled.kind == normalize


def test_words_at_positions_are_measured_on_their_own_view(monkeypatch):
    rng, (_, Y, c, w) = np.random.default_rng(3), data()
    left, right = (["".join(row) for row in rng.choice(list("ACGT"), p=p, size=(n, 6))]
                   for p in ([0.25] * 4, [0.85, 0.05, 0.05, 0.05]))  # fmt: skip
    X = Views({"left": Sequences.encode(left, "dna"), "right": Sequences.encode(right, "dna")})
    kernels = KernelList.from_spec([("a", WeightedDegree(2), "left"), ("b", WeightedDegree(2), "right")], X)
    with Stream(Pieces(X, BLOCKS), 2) as stream:
        stream.arrange(Y, c, w)
        scaled, _ = stream_module.normalisation(stream, kernels, stream.head, "multiplicative")
    own = w / w.sum()
    for m, texts in enumerate((left, right)):
        K = WeightedDegree(2)(texts)
        assert scaled.scale[m] == pytest.approx(1 / (own @ np.diag(K) - own @ K @ own), rel=1e-9)


def make(stream, Y, T, **options):
    specs = [RBF(0.4), ("l", Linear(), [0, 1]), RBF(0.1)]
    return driver_of(stream, specs, slice(0, T), **{"max_iter": 20} | options)


@pytest.mark.parametrize("T", [1, 2])
def test_a_round_prices_every_example_and_certifies_the_whole_problem(T):
    X, Y, c, w = data(T)
    rng = np.random.default_rng(2)
    with Stream(Pieces(X, BLOCKS), 2) as stream:
        stream.arrange(Y, c, w)
        run, active = make(stream, Y, T)
        rows = np.sort(rng.permutation(np.flatnonzero(c > 0))[:31])
        small = run._problem(rows, X[rows])
        assert_array_equal(small.Y, Y[:, rows])
        assert_array_equal(small.c, np.tile(c[rows], (T, 1)))
        found = solve(small, "newton", 1e-6)
        whole = Problem(active.bank(X), Y, losses.get("hinge"), LpNorm(2), np.tile(c, (T, 1)))
        a = np.zeros((T, n))
        a[:, rows] = found.a
        f = whole.bank.outputs(found.theta, a, np.arange(n))
        values = np.array([c * whole.loss.value(y, f_t + b) for y, f_t, b in zip(Y, f, found.b, strict=True)])
        score = values.sum(axis=0)
        score[rows] = 0.0
        for room in (0, 1000):
            priced = run._price(small, found, rows, room)
            assert list(priced) == list(range(len(stream.shards))) == sorted(priced)
            for k, shard in enumerate(stream.shards):
                mine = np.arange(shard.first, shard.first + shard.n)
                assert_allclose(priced[k].losses, values[:, mine].sum(axis=1), rtol=1e-6)
                assert priced[k].violators == np.count_nonzero(score[mine] > 1e-7)
                order = mine[np.argsort(-score[mine], kind="stable")]
                most = min(np.count_nonzero(score[mine] > 1e-7), max(16, -(-4 * max(room, 1) * shard.n // n)))
                assert set(priced[k].rows) == set(order[:most])
                assert_allclose(priced[k].values, score[priced[k].rows], rtol=1e-5)
                if most:
                    assert_array_equal(priced[k].X, X[priced[k].rows])
        record = run._certificate(small, found, priced)
        q = np.array([np.einsum("ti,ij,tj", a, K, a) for K in whole.bank.matrices()])
        exact = whole.certificate(whole.losses(f, found.b), a, found.b, found.theta, q)
        assert record["primal"] == pytest.approx(exact.primal, rel=1e-6)
        assert record["dual"] == pytest.approx(max(exact.dual, found.dual), rel=1e-6)
        assert record["gap"] == pytest.approx((record["primal"] - record["dual"]) / exact.scale, rel=1e-4)
        poor = run._certificate(small, replace(found, dual=-np.inf), priced)
        assert poor["dual"] == pytest.approx(exact.dual, rel=1e-6)
        two = {k: priced[k] for k in (0, 2)}  # an estimate from some shards: their mean stands for all
        share = sum(stream.shards[k].n for k in two) / n
        losses_ = sum(priced[k].losses.sum() for k in two) / share
        assert run._certificate(small, found, two)["primal"] == pytest.approx(
            exact.primal - values.sum() + losses_, rel=1e-6
        )
        # few are wanted: it ends early where enough are found, and begins elsewhere in the next round
        early = run._price(small, found, rows, 1)
        assert set(early) <= set(priced) and (len(early) < len(priced) or stream.backend.width >= len(priced))

        check_growth(run, small, found, priced, rows, X, score, T)


def check_growth(run, small, found, priced, rows, X, score, T):
    """The worst violators join with a = 0, in order; who stays keeps its a and its data."""
    for room in (3, 10, 200):
        both, data_, warm = run._grow(small, rows, X[rows], found, priced, room)
        assert (np.diff(both) > 0).all()
        assert_array_equal(data_, X[both])
        joined = np.setdiff1d(both, rows)
        best = np.argsort(-score, kind="stable")[: min(room, np.count_nonzero(score > 1e-7))]
        assert set(joined) == set(best)
        stayed = np.intersect1d(both, rows)
        assert_array_equal(warm.a[:, np.isin(both, stayed)], found.a[:, np.isin(rows, stayed)])
        assert not warm.a[:, np.isin(both, joined)].any() and warm.theta is found.theta
        assert set(rows[found.a.any(axis=0)]) <= set(both)  # the support always stays


def test_examples_stay_by_their_slack_in_any_output(monkeypatch):
    """An example that is next to its margin in one of two outputs stays before one that is far in both."""
    monkeypatch.setattr(driver, "MIN_ACTIVE", 2)
    X, _, c, w = data(2)
    Y = np.where(X[:, :2].T > 0, 1.0, -1.0)  # so that many are far from their margins
    with Stream(Pieces(X, BLOCKS), 1) as stream:
        stream.arrange(Y, 10 * c, w)
        run, active = make(stream, Y, 2, max_active=60)
        rows = np.flatnonzero(c > 0)[:50]
        small = run._problem(rows, X[rows])
        found = solve(small, "newton", 1e-6)
        f = small.bank.outputs(found.theta, found.a, np.arange(50)) + found.b[:, None]
        slack = np.where(found.a == 0, small.Y * f - 1, -np.inf).min(axis=0)
        keep = run._needed(small, found, 10)
        count = max(np.count_nonzero(found.a.any(axis=0)), min(int(1.25 * np.count_nonzero(slack <= 0)) + 2, 50))
        assert (np.diff(keep) > 0).all() and len(keep) == count < 45
        assert slack[keep].max() <= np.delete(slack, keep).min(initial=np.inf)
        run.options = replace(run.options, max_active=12)  # less than the support has
        assert_array_equal(run._needed(small, found, 10), np.flatnonzero(found.a.any(axis=0)))
        run.options = replace(run.options, max_active=60)
        run.history = [{}] * 3  # later all stay, if there is room
        assert_array_equal(run._needed(small, found, 10), np.arange(50))
        assert len(run._needed(small, found, 11)) < 50


def test_the_first_examples_are_of_all_classes_with_cost_and_follow_the_seed(monkeypatch):
    monkeypatch.setattr(driver, "MIN_ACTIVE", 12)
    X, Y, c, w = data(2)
    Y[0], Y[1, :50] = np.where(np.arange(n) < 6, 1.0, -1.0), 1.0
    c[:2] = 1.0
    with Stream(Pieces(X, BLOCKS), 1) as stream:
        stream.arrange(Y, c, None)
        run, _ = make(stream, Y, 2)
        rows = run._first()
        assert (c[rows] > 0).all() and (np.diff(rows) > 0).all()
        rare = np.flatnonzero((Y[0] > 0) & (c > 0))
        assert set(rare) <= set(rows)  # fewer than their share: all of them, and more of the others
        for y in Y:
            assert min(np.sum(y[rows] > 0), np.sum(y[rows] < 0)) >= min(6, np.sum((y > 0) & (c > 0)))
        assert_array_equal(run._first(), rows)
        other, _ = make(stream, Y, 2)
        other.options = replace(run.options, seed=1)
        assert not np.array_equal(other._first(), rows)
        Y[0] = np.where(np.arange(n) < 3, 1.0, -1.0)
        stream.arrange(Y, c, None)
        one, _ = make(stream, Y, 1)
        assert len(one._first()) == 12  # where one class has few, the other has more


@pytest.mark.parametrize("certified, more, history, gap, room, expected", [
    (True, 5, 1, 1e-4, 9, None), (True, 0, 1, 1e-2, 9, Status.STALLED), (False, 0, 1, 1e-2, 9, None),
    (True, 5, 20, 1e-2, 9, Status.STEPS), (False, 5, 20, 1e-4, 9, Status.STEPS), (True, 5, 1, 1e-2, 1, Status.MEMORY),
    (True, 5, 1, 1e-2, 9, None), (True, 1, 1, 1e-2, 1, None), (False, 0, 1, 1e-4, 9, None),
])  # fmt: skip
def test_a_run_ends_for_one_of_four_reasons(certified, more, history, gap, room, expected):
    X, Y, c, w = data(1)
    with Stream(Pieces(X, BLOCKS), 1) as stream:
        stream.arrange(Y, c, None)
        run, _ = make(stream, Y, 1)
        run.history = [{}] * history
        priced = {0: SimpleNamespace(rows=np.arange(more))}
        warm = SimpleNamespace(converged=True)
        record = {"certified": certified, "gap": gap}
        assert run._end(record, priced, room, warm, 0.5 * run.tol) is expected
        if expected is Status.STALLED:
            assert run._end(record, priced, room, warm, 5e-3) is None  # the active examples can do better
            assert run._end(record, priced, room, SimpleNamespace(converged=False), 5e-3) is expected


def test_the_best_certified_round_is_the_result_with_its_own_examples(monkeypatch):
    """The gap may rise from one round to the next: rows, data and solution are those of the best."""
    X, Y, c, w = data(1)
    with Stream(Pieces(X, BLOCKS), 1) as stream:
        stream.arrange(Y, c, None)
        run, active = make(stream, Y, 1, max_iter=3)
        rounds, gaps, actives, problem_of = [], [0.3, 0.1, 0.2], [], Driver._problem

        def noted(self, rows, X):
            actives.append(rows)
            return problem_of(self, rows, X)

        certificate = Driver._certificate

        def worse(self, problem, solution, found):
            record = certificate(self, problem, solution, found)
            rounds.append((solution, record["primal"]))
            return record | {"gap": gaps[len(rounds) - 1]}

        monkeypatch.setattr(driver, "MIN_ACTIVE", 4)
        monkeypatch.setattr(driver, "FIRST_ACTIVE", (9, 9))
        monkeypatch.setattr(Driver, "_certificate", worse)
        monkeypatch.setattr(Driver, "_problem", noted)
        monkeypatch.setattr(Driver, "_price", lambda self, *a, price=Driver._price: price(self, *a[:3], 1000))
        found = run.run()
        assert len(rounds) == 3 and found.solution.gap == 0.1 and not found.solution.converged
        assert found.solution.status is Status.STEPS and found.solution.n_iter == 3
        assert found.solution.primal == rounds[1][1]
        assert_array_equal(found.X, X[found.rows])
        assert_array_equal(found.rows, actives[1][rounds[1][0].a.any(axis=0)])
        assert not np.array_equal(actives[1], actives[2])
        assert_array_equal(found.solution.a, rounds[1][0].a[:, rounds[1][0].a.any(axis=0)])
        assert_array_equal(found.solution.theta, rounds[1][0].theta)


def test_a_round_is_solved_as_far_as_the_last_gap_asks(monkeypatch):
    """To a tenth of it, and to half of tol once the active examples cause most of it; with the seed of the fit."""
    X, Y, c, w = data(1)
    seen, gaps = [], [0.4, 0.05, 0.02, 0.02, 0.02]
    own = [0.001, 0.001, 0.0195, 0.001, 0.001]  # of the active examples alone
    true = driver.solve

    def solved(problem, solver, aim, max_iter, warm, random_state):
        seen.append((aim, max_iter, warm is None, random_state))
        found = true(problem, solver, 1e-3, max_iter, warm, random_state=random_state)
        return replace(found, gap=own[len(seen) - 1])

    with Stream(Pieces(X, BLOCKS), 1) as stream:
        stream.arrange(Y, c, None)
        run, _ = make(stream, Y, 1, max_iter=5)
        run.options = replace(run.options, seed=9)
        certificate = Driver._certificate
        monkeypatch.setattr(driver, "MIN_ACTIVE", 4)
        monkeypatch.setattr(driver, "FIRST_ACTIVE", (9, 9))
        monkeypatch.setattr(driver, "solve", solved)
        monkeypatch.setattr(Driver, "_end", lambda self, *a: Status.STEPS if len(self.history) == 5 else None)
        monkeypatch.setattr(Driver, "_certificate",
                            lambda self, *a: certificate(self, *a) | {"gap": gaps[len(seen) - 1]})  # fmt: skip
        monkeypatch.setattr(Driver, "_price", lambda self, *a, price=Driver._price: price(self, *a[:3], 1000))
        run.run()
    tol, first = run.tol, driver.FIRST_GAP
    aims = [min(first, np.inf), min(first, 0.04), min(first, 0.005), 0.5 * tol, min(first, 0.002)]
    assert [aim for aim, *_ in seen] == pytest.approx([max(aim, 0.5 * tol) for aim in aims])
    assert [rest for _, *rest in seen] == [[5, k == 0, 9] for k in range(5)]


def test_the_last_round_is_certified_by_all_examples_and_recorded_so(monkeypatch):
    """A round that saw some shards only is priced again by all of them where no other follows."""
    X, Y, c, w = data(1)
    monkeypatch.setattr(driver, "MIN_ACTIVE", 4)
    monkeypatch.setattr(driver, "FIRST_ACTIVE", (9, 9))
    with Stream(Pieces(X, BLOCKS), 1) as stream:
        stream.arrange(Y, c, None)
        run, active = make(stream, Y, 1, max_iter=1)
        told = []
        run.monitor = SimpleNamespace(record=lambda record: told.append(dict(record)), visited=lambda *_: None)
        found = run.run()
    (first,), (last,) = told, found.solution.history
    assert not first["certified"] and first["priced"] < n and last["certified"] and last["priced"] == n
    a = np.zeros((1, n))
    a[:, found.rows] = found.solution.a
    whole = Problem(active.bank(X), Y, losses.get("hinge"), LpNorm(2), c)
    f = whole.bank.outputs(found.solution.theta, a, np.arange(n))
    q = np.array([np.einsum("ti,ij,tj", a, K, a) for K in whole.bank.matrices()])
    exact = whole.certificate(whole.losses(f, found.solution.b), a, found.solution.b, found.solution.theta, q)
    assert last["primal"] == pytest.approx(exact.primal, rel=1e-6) == found.solution.primal
    assert last["gap"] == found.solution.gap != first["gap"]


@pytest.mark.parametrize("rounds", [0, 1, 3])
@pytest.mark.parametrize("room", [0, 1, 4, 9, 30, 500])
def test_shards_are_asked_until_they_have_twice_the_room_and_each_round_begins_elsewhere(room, rounds):
    X, Y, c, w = data(2)
    with Stream(Pieces(X, BLOCKS), 1) as stream:
        stream.arrange(Y, c, w)
        run, _ = make(stream, Y, 2)
        rows = np.flatnonzero(c > 0)[:20]
        small = run._problem(rows, X[rows])
        found = solve(small, "newton", 1e-3)
        every, asked = run._price(small, found, rows, 0), []
        run.monitor.visited = lambda seen, total: asked.append(seen)
        run.history = [{}] * rounds
        priced = run._price(small, found, rows, room)
        sizes, expected, more = [shard.n for shard in stream.shards], [], 0
        for k in np.roll(np.arange(len(sizes)), -7 * rounds % len(sizes)):
            expected.append(int(k))
            most = max(16, int(np.ceil(4 * max(room, 1) * sizes[k] / n)))
            more += min(every[k].violators, most)
            if more >= 2 * room > 0 and sum(sizes[j] for j in expected) < 0.9 * n:
                break
        assert list(priced) == sorted(expected) and asked == np.cumsum([sizes[k] for k in expected]).tolist()
        for k, answer in priced.items():
            np.testing.assert_array_equal(answer.losses, every[k].losses)
            first = stream.shards[k].first
            assert ((answer.rows >= first) & (answer.rows < first + sizes[k])).all()
        share = sum(sizes[k] for k in priced) / n
        estimate = run._certificate(small, found, priced)["primal"] - run._certificate(small, found, every)["primal"]
        losses_ = [sum(p.losses.sum() for p in which.values()) for which in (priced, every)]
        assert estimate == pytest.approx(losses_[0] / share - losses_[1], abs=1e-9)


def test_the_room_is_what_the_active_examples_double_to_within_the_limit(monkeypatch):
    """All that are active, at least some; the support keeps its place, and other active examples do not."""
    X, Y, c, _ = data(2)
    with Stream(Pieces(X, BLOCKS), 1) as stream:
        stream.arrange(Y, c, None)
        run, _ = make(stream, Y, 2)
        rows = np.flatnonzero(c > 0)[:25]
        small, a = run._problem(rows, X[rows]), np.zeros((2, 25))
        a[0, :4], a[1, 2:7] = 1.0, 1.0  # seven examples
        for least, most, room in ((5, 90, 25), (40, 90, 40), (5, 30, 23), (5, 7, 0), (60, 50, 43)):
            monkeypatch.setattr(driver, "MIN_ACTIVE", least)
            run.options = replace(run.options, max_active=most)
            assert run._room(small, SimpleNamespace(a=a, support=np.flatnonzero(a.any(axis=0)))) == room


def test_what_the_busiest_worker_leaves_of_the_time_of_its_answers_is_communication(monkeypatch):
    """By a clock of one second a look and shards of a quarter; the rest of a round is the driver's."""
    X, Y, c, w = data(1)
    clock, asked = itertools.count(), []
    monkeypatch.setattr(driver, "time", SimpleNamespace(perf_counter=lambda: float(next(clock))))
    monkeypatch.setattr(driver, "_busiest", lambda answers: asked.append(len(answers)) or 0.25)
    with Stream(Pieces(X, BLOCKS), 1) as stream:
        stream.arrange(Y, c, None)
        run, _ = make(stream, Y, 1, max_iter=1)
        record = run.run().solution.history[-1]
    batches = len(asked)
    assert batches > 1 and sum(asked) == len(BLOCKS)
    assert record["seconds_compute"] == 0.25 * batches and record["seconds_communication"] == 0.75 * batches
    assert record["seconds_driver"] == batches + 1
