"""Which shards a round asks, what their answers stand for, and how many examples may join."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from test_driver_against_naive import Pieces, data, make, n

from manykernels.solvers import solve
from manykernels.streaming import driver
from manykernels.streaming.stream import Stream


@pytest.mark.parametrize("rounds", [0, 1, 3])
@pytest.mark.parametrize("room", [0, 1, 4, 9, 30, 500])
def test_shards_are_asked_until_they_have_twice_the_room_and_each_round_begins_elsewhere(room, rounds):
    X, Y, c, w = data(2)
    with Stream(Pieces(X), 1) as stream:
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
    with Stream(Pieces(X), 1) as stream:
        stream.arrange(Y, c, None)
        run, _ = make(stream, Y, 2)
        rows = np.flatnonzero(c > 0)[:25]
        small, a = run._problem(rows, X[rows]), np.zeros((2, 25))
        a[0, :4], a[1, 2:7] = 1.0, 1.0  # seven examples
        for least, most, room in ((5, 90, 25), (40, 90, 40), (5, 30, 23), (5, 7, 0), (60, 50, 43)):
            monkeypatch.setattr(driver, "MIN_ACTIVE", least)
            run.options = replace(run.options, max_active=most)
            assert run._room(small, SimpleNamespace(a=a)) == room
