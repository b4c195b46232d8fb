"""Ranks and groups of the rows that a survival report shows, where it measures a sample only."""

import numpy as np
import pytest
from sklearn.model_selection import KFold

from manykernels import MKLSurvival, survival_targets
from manykernels.kernels import Linear

n = 90
rng = np.random.default_rng(5)
X = rng.normal(size=(n, 1))
TIMES = rng.exponential(np.exp(-2.0 * X[:, 0]))  # the risk rises with X, in every fold
Y = survival_targets(rng.random(n) < 0.8, TIMES)
GROUPS = {2: ("low", "high"), 3: ("low", "middle", "high")}


class Recorded(KFold):
    """Folds of the sample, which remembers the times of the examples of each fold."""

    def split(self, X, y=None, groups=None):
        for train, test in super().split(X, y, groups):
            self.folds.append(np.flatnonzero(np.isin(TIMES, self.times[test])))
            yield train, test


@pytest.mark.parametrize("size", [24, 60])
@pytest.mark.parametrize("examples", [6, [0, 1, 2, 3, 40, 41, 88, 89]], ids=["drawn", "chosen"])
@pytest.mark.parametrize("loss", ["cox", "log_time"])
def test_a_rank_is_that_of_the_row_among_the_rows_of_its_fold(size, examples, loss, monkeypatch):
    cut = Recorded(3)
    cut.folds = []
    monkeypatch.setattr(
        "manykernels.report._held_out.make_splits",
        lambda cv, X, y, *_: (setattr(cut, "times", y["time"]), list(cut.split(X)))[1],
    )
    model = MKLSurvival([("k", Linear())], C=1.0, loss=loss).fit(X, Y)
    found = model.report(X, Y, cv=3, relevance="fast", stability=0, max_examples=size, examples=examples).facts
    assert sum(map(len, cut.folds)) == size == found["sampled"]["used"]
    names, rows = GROUPS[2 if size < 30 else 3], found["examples"]["rows"]
    assert len(rows) == (8 if examples != 6 else 6)
    assert {row["held_out"] for row in rows} == ({True} if examples == 6 else {True, False})
    for row in rows:
        at = row["row"]
        (among,) = [fold for fold in cut.folds if at in fold] or [np.arange(n)]  # else by the fitted model, of all
        assert row["held_out"] == (len(among) < n)
        above = np.mean(X[among, 0] < X[at, 0])
        assert row["risk"] == {"above": pytest.approx(above), "group": names[int(above * len(names) + 1e-9)]}
        assert row["true"].endswith(f" at {TIMES[at]:g}")
