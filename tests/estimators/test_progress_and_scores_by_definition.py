"""What the progress bar says, and scores of losses with weights, against sums by hand."""

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from manykernels import MKLClassifier, MKLRegressor
from manykernels.estimators.progress import Bar, in_words, show_progress, stalls, time_left
from manykernels.kernels import RBF, Linear

rng = np.random.default_rng(6)
X = rng.normal(size=(50, 2))
WEIGHT = rng.uniform(0.1, 3.0, 50)


def test_times_are_told_in_seconds_minutes_and_hours():
    for seconds, words in [
        (0.4, "0 s"), (59.6, "60 s"), (99.9, "100 s"), (100.0, "2 min"), (3540.0, "59 min"), (3569.0, "59 min"),
        (3600.0, "1 h 0 min"), (7384.0, "2 h 3 min"),
    ]:  # fmt: skip
        assert in_words(seconds) == words


def test_the_time_left_is_that_of_a_gap_that_falls_evenly():
    records = [(2.0 * k, 10.0 ** -(k + 1)) for k in range(4)]  # a digit in two seconds
    assert time_left(records, 1e-7) == pytest.approx(6.0) and time_left(records, 1e-3) == 0.0
    assert time_left([(-1.0, np.inf), *records, (9.0, 0.0)], 1e-7) == pytest.approx(6.0)
    for few in (records[:2], [(1.0, 0.1)] * 4, [(k, 10.0**k) for k in range(4)]):
        assert time_left(few, 1e-7) is None


def test_a_gap_stalls_above_the_tolerance_only_and_after_eight_records():
    slow = [(float(k), 1e-4 * 0.995**k) for k in range(8)]
    assert stalls(slow, 1e-5) and not stalls(slow[1:], 1e-5) and not stalls(slow, 1e-4)
    assert not stalls([(float(k), 1e-4 * 0.9**k) for k in range(8)], 1e-9)
    with show_progress("fit", 1e-4) as bar:
        assert isinstance(bar, Bar)
        for k in range(12):
            bar.record({"time": float(k), "gap": 0.99999e-4, "iteration": k, "violators": 1200 + k})
        assert bar.left.endswith("round 11, 1,211 violators") and "hardly" not in bar.left
        for k in range(12, 24):
            bar.record({"time": float(k), "gap": 1.0, "stationarity": 0.5})
        assert bar.left == "the gap hardly falls" and bar.records[-1] == (23.0, 0.5) and len(bar.records) == 8
        task = bar.progress.tasks[0]
        assert task.fields["gap"] == "5.0e-01" and task.completed == 1.0  # the bar does not go back
        bar.visited(1500, 20_000)
        assert task.fields["more"] == "the gap hardly falls, 1,500 of 20,000 examples visited"
        bar.left = ""
        bar.visited(3, 4)
        assert task.fields["more"] == "3 of 4 examples visited"
    with show_progress("fit", 1e-4) as bar:
        for gap, share in ((1.0, 0.0), (1e-1, 0.25), (1e-3, 0.75), (1e-2, 0.75), (1e-9, 1.0)):
            bar.record({"time": 0.0, "gap": gap})
            assert bar.progress.tasks[0].completed == pytest.approx(share)


@pytest.mark.parametrize("loss", ["poisson", "quantile"])
def test_the_score_of_a_loss_is_the_share_saved_of_that_of_a_constant(loss):
    own = {"q": 0.3} if loss == "quantile" else {}
    y = rng.poisson(np.exp(0.5 * X[:, :1] + [[0.0]])).astype(float)[:, 0]

    def value(y, f):
        if loss == "poisson":
            return np.exp(f) - y * f + np.where(y > 0, y * np.log(np.maximum(y, 1)) - y, 0.0)
        return np.where(y > f, 0.3 * (y - f), 0.7 * (f - y))

    model = MKLRegressor([RBF(0.5), Linear()], loss=loss, C=0.5, **own).fit(X, y, sample_weight=WEIGHT)
    f = model.predict(X) if loss == "quantile" else np.log(model.predict(X))
    for weight in (None, WEIGHT, np.where(np.arange(50) % 2, WEIGHT, 0.0)):
        w = np.ones(50) if weight is None else weight
        if loss == "poisson":
            best = w @ value(y, np.full(50, np.log(w @ y / w.sum())))
        else:
            best = min(w @ value(y, np.full(50, b)) for b in y)
        expected = 1 - w @ value(y, f) / best
        assert model.score(X, y, sample_weight=weight) == pytest.approx(expected, rel=1e-6)
        found = minimize_scalar(lambda b, w=w: w @ value(y, np.full(50, b)), bounds=(-3, 3), method="bounded").fun
        assert best <= found + 1e-9


def test_labels_that_are_constant_among_the_weighted_examples_are_named():
    labels = (X @ [[1, 0, 1, -1], [0, 1, 1, 1]] > 0).astype(int)
    labels[:, 1], labels[:, 3] = 1, 0
    labels[7, 1] = 0  # only an example without weight differs
    weight = np.ones(50)
    weight[7] = 0.0
    with pytest.raises(ValueError, match=r"in the columns \[1, 3\]: drop them"):
        MKLClassifier([Linear()]).fit(X, labels, sample_weight=weight)
    with pytest.raises(ValueError, match=r"in the columns \[3\]: drop them"):
        MKLClassifier([Linear()]).fit(X, labels)
    labels[7, 1] = 1
    for seed in range(5):  # sums of uneven weights are rounded
        uneven = np.random.default_rng(seed).uniform(0.1, 3.0, 50)
        with pytest.raises(ValueError, match=r"in the columns \[1, 3\]: drop them"):
            MKLClassifier([Linear()]).fit(X, labels, sample_weight=uneven)
    labels[7, 1], labels[8, 3] = 0, 1
    model = MKLClassifier([Linear()], C=1.0).fit(X, labels, sample_weight=np.full(50, 1e-3))
    assert model.classes_.tolist() == [0, 1, 2, 3]
