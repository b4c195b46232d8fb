"""The facts of a report against plain loops, on decisions that are made up: no fit hides what a fact says."""

import numpy as np
import pandas as pd
import pytest
from report_cases import a_case
from scipy.stats import binom, t

from manykernels import MKLClassifier, MKLRegressor, MKLSurvival
from manykernels.pairs import Pairs
from manykernels.report import _held_out, _measure, _rates, describe
from manykernels.report._decisions import choose, ranked

rng = np.random.default_rng(5)


def folds_of(y, T, K=None, sizes=(13, 8, 11)):
    """Held-out folds with made-up decisions (n, T) and probabilities (n, K), in an order of their own."""
    order, found = rng.permutation(len(y)), []
    for rows in np.split(order, np.cumsum(sizes)[:-1]):
        p = None if K is None else rng.dirichlet(np.ones(K), len(rows))
        found.append(_rates.Held(rows, rng.normal(size=(len(rows), T)).round(1), p))
    return found


def se_of(values, overlap):
    return np.std(values, ddof=1) * np.sqrt(1 / len(values) + overlap)


@pytest.mark.parametrize("K", [2, 3])
def test_calibration_bins_have_equally_many_examples(K):
    y = np.array(list("abc"))[rng.integers(0, K, 32)]
    folds = folds_of(y, K if K > 2 else 1, K)
    found = _rates.rates(a_case(y, classes=list("abc")[:K]), folds, 0.4)["calibration"]
    P, true = np.concatenate([f.proba for f in folds]), y[np.concatenate([f.rows for f in folds])]
    said = P[:, 1] if K == 2 else P.max(axis=1)
    came = true == (np.array(list("abc"))[P.argmax(axis=1)] if K > 2 else "b")
    assert found["event"] == ("b" if K == 2 else None) and [row["count"] for row in found["rows"]] == [11, 11, 10]
    assert found["brier"] == pytest.approx(np.mean((said - came) ** 2))
    order, off, start = np.argsort(said, kind="stable"), 0.0, 0
    for row in found["rows"]:
        own = order[start : start + row["count"]]
        start += row["count"]
        expected = (said[own].mean(), came[own].mean(), said[own].min(), said[own].max())
        assert (row["said"], row["came"], row["low"], row["high"]) == pytest.approx(expected)
        off += len(own) * abs(expected[0] - expected[1]) / 32
    assert found["off"] == pytest.approx(off)


@pytest.mark.parametrize("classes", [["a", "b"], ["a", "b", "c"]])
def test_margins_tell_right_from_wrong_and_unknown_classes_are_mistakes(classes):
    y = np.array(classes + ["z"])[rng.integers(0, len(classes) + 1, 40)]
    T = len(classes) if len(classes) > 2 else 1
    f, rows = rng.normal(size=(20, T)), rng.permutation(40)[:20]
    case = a_case(y, classes=classes)
    value, error = ranked(case, case.model, f, rows)
    for k, row in enumerate(rows):
        if y[row] == "z":
            expected = -np.ptp(f[k]) if T > 1 else -abs(f[k, 0])
        elif T == 1:
            expected = f[k, 0] if y[row] == "b" else -f[k, 0]
        else:
            own = classes.index(y[row])
            expected = f[k, own] - np.delete(f[k], own).max()
        assert value[k] == error[k] == pytest.approx(expected)


@pytest.mark.parametrize("kind", ["classification", "regression", "survival", "one-class"])
@pytest.mark.parametrize("size", [1, 5, 7, 30])
def test_examples_are_chosen_in_turn_by_each_reason(kind, size):
    value, error = rng.normal(size=12), rng.normal(size=12)
    reasons = {
        "classification": [("among the most mistaken", value, value < 0), ("a close call", np.abs(value), True),
                           ("among the clearest", -value, True)],
        "regression": [("the largest overestimate", -error, True), ("the largest underestimate", error, True),
                       ("the highest prediction", -value, True), ("the lowest prediction", value, True),
                       ("among the most exact", np.abs(error), True)],
        "survival": [("among the highest risks", -value, True), ("among the lowest risks", value, True),
                     ("in the middle", np.abs(value - np.median(value)), True)],
        "one-class": [("the farthest outside", value, True), ("near the border", np.abs(value), True),
                      ("among the most typical", -value, True)],
    }[kind]  # fmt: skip
    found: dict = {}
    while len(found) < min(size, 12):
        for why, key, able in reasons:
            free = [k for k in np.argsort(key) if k not in found and np.broadcast_to(able, 12)[k]]
            if free and len(found) < size:
                found[free[0]] = why
    chosen, why = choose(kind, value, error, size)
    assert dict(zip(chosen.tolist(), why, strict=True)) == found and len(chosen) == min(size, 12)
    names = [reason for reason, _, _ in reasons]
    assert [names.index(one) for one in why] == sorted(names.index(one) for one in why)


def test_a_model_is_better_by_the_interval_or_by_the_examples_it_alone_has_right():
    scores, guess = [0.8, 0.85, 0.82], [0.55, 0.5, 0.52]
    d = np.subtract(scores, guess)
    for overlap in (0.2, 3.0, 30.0):
        sure = d.mean() - t.ppf(0.975, 2) * se_of(d, overlap) > 0
        assert _held_out._surely_better(scores, guess, overlap) == sure
    assert _held_out._surely_better(scores, guess, 0.2) and not _held_out._surely_better(scores, guess, 30.0)
    y = np.array(["a"] * 20 + ["b"] * 20)
    for won, lost in ((6, 0), (7, 0), (12, 2), (12, 3), (0, 0)):
        own, other = np.array(["a"] * 40), np.array(["a"] * 40)
        own[20 : 20 + won], other[20 + won : 20 + won + lost] = "b", "b"
        told = [(np.arange(10), own[:10]), (np.arange(10, 40), own[10:])]
        found = _held_out._more_often_right(a_case(y), told, [other[:10], other[10:]])
        assert found == (won > 0 and binom.sf(won - 1, won + lost, 0.5) < 0.01)
        assert not _held_out._more_often_right(a_case(y, scoring="roc_auc"), told, [other[:10], other[10:]])


def test_curves_of_risk_are_ranked_within_each_fold():
    n = 37
    y = np.zeros(n, [("event", bool), ("time", float)])
    y["event"], y["time"] = rng.random(n) < 0.6, rng.integers(1, 12, n)
    order = rng.permutation(n)
    folds = [order[:16], order[16:]]
    risks = [rng.normal(size=16), 100 + rng.normal(size=21)]
    found = _rates.curves(y, folds, risks)["survival"]
    group = np.empty(n, int)
    for rows, risk in zip(folds, risks, strict=True):
        for k, row in enumerate(rows):
            group[row] = int(3 * np.sum(risk < risk[k]) / len(rows))
    for k, one in enumerate(found["groups"]):
        own = y[group == k]
        assert one["name"] == ("low", "middle", "high")[k]
        assert (one["examples"], one["events"], one["last"]) == (len(own), own["event"].sum(), own["time"].max())
        share, expected = 1.0, []
        for at in np.unique(own["time"][own["event"]]):
            share *= 1 - np.sum(own["event"] & (own["time"] == at)) / np.sum(own["time"] >= at)
            expected.append([at, share])
        np.testing.assert_allclose(one["curve"], expected)
    few = _rates.curves(y[:20], [np.arange(20)], [np.arange(20.0)])["survival"]
    assert [(one["name"], one["examples"]) for one in few["groups"]] == [("low", 10), ("high", 10)]


def test_objects_without_a_pair_are_those_of_their_own_side():
    pairs = Pairs([[0, 0], [1, 0], [1, 3], [0, 4], [1, 5]], np.ones((5, 2)), np.ones((7, 3)))
    left, right = (describe._side(pairs, side) for side in ("left", "right"))
    assert (left["missing"], right["missing"]) == (3, 3) and left["kind"].startswith("5 objects")
    few = Pairs([[0, 6], [1, 6], [2, 6]], np.ones((5, 2)), np.ones((7, 3)))
    assert [describe._side(few, side)["missing"] for side in ("left", "right")] == [2, 6]


def test_columns_and_targets_are_described_by_their_numbers(monkeypatch):
    monkeypatch.setattr(describe, "MAX_COLUMNS", 5)
    monkeypatch.setattr(describe, "MAX_ROWS", 40)
    n = 50
    x, texts = rng.normal(size=n) ** 3, [("x" * (1 + k % 7)) + str(k) for k in range(n)]
    x[[3, 45]] = np.nan
    frame = pd.DataFrame({"x": x, "flag": rng.random(n) < 0.3, "text": texts, "kind": rng.choice(list("aabc"), n),
                          "none": np.nan, "more": 1.0})  # fmt: skip
    frame.loc[2, "kind"] = None
    columns, total = describe._columns(frame)
    assert total == 6 and [c["name"] for c in columns] == ["x", "flag", "text", "kind", "none"]
    head = frame[:40]
    known = head["x"].dropna().to_numpy()
    first = {"name": "x", "kind": "numbers", "missing": 1, "mean": known.mean(), "sd": known.std(),
             "low": known.min(), "high": known.max()}  # fmt: skip
    edges = np.linspace(known.min(), known.max(), 13)
    counts = [
        int(np.sum((known >= a) & ((known < b) | (k == 11))))
        for k, (a, b) in enumerate(zip(edges, edges[1:], strict=False))
    ]
    assert columns[0] == {
        **{k: pytest.approx(v) if isinstance(v, float) else v for k, v in first.items()},
        "counts": counts,
    }
    for column, name in ((columns[1], "flag"), (columns[3], "kind")):
        seen = head[name].dropna().astype(str).value_counts()
        assert column["kind"] == "categories" and column["different"] == len(seen)
        assert column["counts"] == sorted(seen.tolist(), reverse=True) and column["common"][0] == seen.index[0]
        assert column["missing"] == head[name].isna().sum()
    lengths = [len(text) for text in texts[:40]]
    assert (columns[2]["kind"], columns[2]["different"]) == ("texts", 40) and sum(columns[2]["counts"]) == 40
    assert (columns[2]["shortest"], columns[2]["longest"]) == (min(lengths), max(lengths))
    assert columns[4] == {"name": "none", "kind": "empty", "missing": 40}
    table, total = describe._columns(np.arange(70.0).reshape(10, 7))
    assert total == 7 and [c["name"] for c in table] == [f"column {j}" for j in range(5)] and table[2]["mean"] == 33.5
    assert describe._columns(["ab", "abcd", "a"])[0][0]["mean"] == pytest.approx(7 / 3)
    model = MKLClassifier()
    found = describe._target(model, np.array([2, 0, 2, 1, 2, 0]))
    assert (found["kind"], found["total"]) == ("classes", 3)
    assert [(one["name"], one["count"]) for one in found["classes"]] == [("2", 3), ("0", 2), ("1", 1)]
    numbers = describe._target(MKLRegressor(), np.array([2, 0, 4]))
    assert (numbers["kind"], numbers["mean"], numbers["low"], numbers["high"]) == ("numbers", 2.0, 0.0, 4.0)
    assert describe._target(MKLRegressor(), np.zeros((4, 3))) == {"kind": "several", "outputs": 3}
    y = np.array([(True, 2.0), (False, 4.0)], [("event", bool), ("time", float)])
    found = describe._target(MKLSurvival(), y)
    assert (found["kind"], found["events"]) == ("times", 1)
    assert [(part["name"], part["examples"], part["mean"]) for part in found["parts"]] == [
        ("events", 1, 2.0),
        ("censored", 1, 4.0),
    ]


@pytest.mark.parametrize("kind", ["classes", "numbers", None])
def test_samples_are_stratified_by_the_target(kind):
    n = 57
    y = {"classes": np.repeat(list("abc"), [30, 20, 7]), "numbers": rng.normal(size=n), None: None}[kind]
    case = a_case(np.zeros(n))._replace(y=None if y is None else rng.permutation(y))
    rows = _measure._sample(case, 19)
    assert len(np.unique(rows)) == 19 and (np.diff(rows) > 0).all() and rows.max() < n
    if kind != "numbers":  # whose order is that of their values
        assert not np.array_equal(rows, _measure._sample(case._replace(seed=4), 19))
    np.testing.assert_array_equal(rows, _measure._sample(case, 19))
    if kind == "classes":
        counts = dict(zip(*np.unique(case.y[rows], return_counts=True), strict=True))
        for label, many in zip("abc", (30, 20, 7), strict=True):
            assert abs(counts[label] - many / 3) <= 1
    if kind == "numbers":  # each third of the values has its third of the sample
        rank = np.argsort(np.argsort(case.y))[rows]
        assert (np.abs(np.bincount(3 * rank // n) - 19 / 3) <= 1).all()
