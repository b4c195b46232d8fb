"""The facts of a report against plain loops, on decisions that are made up: no fit hides what a fact says."""

import math
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from report_cases import a_case
from scipy.stats import binom, spearmanr, t
from sklearn.metrics import roc_auc_score

from manykernels import MKLClassifier, MKLRegressor, MKLSurvival
from manykernels.inspect.sources import Row
from manykernels.kernels import RBF
from manykernels.pairs import Pairs
from manykernels.report import _held_out, _joined, _measure, _rates, _survival, describe
from manykernels.report._decisions import choose, ranked
from manykernels.report._page import section

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


def test_rates_of_two_classes_are_counts():
    y = np.where(rng.random(32) < 0.3, "ill", "fit")  # the second of the sorted classes is "ill"
    folds = folds_of(y, 1, 2)
    found = _rates.rates(a_case(y, threshold=0.2), folds, 0.4)
    (area,) = found["areas"]["rows"]
    each = [roc_auc_score(y[f.rows] == "ill", f.decision[:, 0]) for f in folds]
    assert area["name"] == "ill" and found["areas"]["total"] == 1 and area["left"] == 0
    assert (area["folds"], area["mean"], area["se"]) == (
        pytest.approx(each), pytest.approx(np.mean(each)), pytest.approx(se_of(each, 0.4)))  # fmt: skip
    for name, label, above in (("sensitivity", "ill", True), ("specificity", "fit", False)):
        right = [np.sum((f.decision[:, 0] > 0.2) == above, where=y[f.rows] == label) for f in folds]
        of = [np.sum(y[f.rows] == label) for f in folds]
        expected = {"value": sum(right) / sum(of), "right": sum(right), "of": sum(of)}
        assert found["threshold"][name] == expected | {"se": pytest.approx(se_of(np.divide(right, of), 0.4))}
    assert found["threshold"]["at"] == 0.2
    assert (found["threshold"]["positive"], found["threshold"]["negative"]) == ("ill", "fit")
    true, f = y[np.concatenate([f.rows for f in folds])] == "ill", np.concatenate([f.decision[:, 0] for f in folds])
    for wrong, right, at in found["curve"]:
        assert wrong == pytest.approx(np.mean(f[~true] >= at)) and right == pytest.approx(np.mean(f[true] >= at))
    assert found["curve"][0][:2] == [0, 0] and found["curve"][-1][:2] == [1, 1]


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


def test_classes_have_an_area_each_in_the_folds_that_have_them():
    y = np.array(list("abc" * 11)[:32])
    folds = folds_of(y, 3)
    y[folds[0].rows], y[folds[1].rows], y[folds[2].rows] = "a", list("aabbbccc"), list("aaaabbbcccc")
    found = _rates.rates(a_case(y, classes=list("abc")), folds, 0.4)
    assert "threshold" not in found and [row["name"] for row in found["areas"]["rows"]] == ["a", "b", "c"]
    for k, row in enumerate(found["areas"]["rows"]):
        each = [roc_auc_score(y[f.rows] == row["name"], f.decision[:, k]) for f in folds[1:]]
        assert row["folds"] == pytest.approx(each) and row["left"] == 1 and found["areas"]["total"] == 3
    lost = _rates._calibration(a_case(y), [folds[0]._replace(proba=np.ones((13, 3))), folds[1]._replace(why="so")])
    assert lost == {"why": "so"}
    assert _rates.rates(a_case(np.zeros((32, 2))), folds, 0.4) == {}
    assert _rates.rates(a_case(y, "regression"), folds, 0.4) == {}


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


def test_predictions_are_counted_at_the_threshold_or_shown_as_points(monkeypatch):
    y = np.array(["no", "yes"])[rng.integers(0, 2, 32)]
    folds = folds_of(y, 1)
    told = [(f.rows, np.where(f.decision[:, 0] > 0, "yes", "no")) for f in folds]
    found = _held_out._told(a_case(y, threshold=-0.3), told, folds)["confusion"]
    f, true = np.concatenate([f.decision[:, 0] for f in folds]), y[np.concatenate([f.rows for f in folds])]
    assert found["classes"] == ["no", "yes"]
    for i, a in enumerate(found["classes"]):
        for j in range(2):
            assert found["counts"][i][j] == sum((true == a) & ((f > -0.3) == bool(j)))
    number = rng.normal(size=32)
    told = [(f.rows, f.decision[:, 0]) for f in folds]
    pairs = list(zip(number[np.concatenate([f.rows for f in folds])].tolist(), f.tolist(), strict=True))
    for most in (300, 7):
        monkeypatch.setattr(_held_out, "MAX_POINTS", most)
        found = _held_out._told(a_case(number, "regression"), told, folds)
        assert len(found["points"]) == min(32, most) and found["points_total"] == 32
        places = [pairs.index(tuple(one)) for one in found["points"]]
        assert places == sorted(set(places))
        assert found["error"] == pytest.approx(np.mean([abs(a - b) for a, b in pairs]))
    monkeypatch.setattr(_held_out, "MAX_CLASSES", 1)
    assert "2 classes are too many" in _held_out._told(a_case(y), told, folds)["confusion_why"]
    assert _held_out._told(a_case(np.zeros((32, 2)), "regression"), told, folds) == {}


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


def test_sources_are_rows_by_worth_and_units_are_their_sums(monkeypatch):
    monkeypatch.setattr(_held_out, "MAX_SOURCES", 3)
    shares = {"a": dict(share=0.1, kernels=1), "b": dict(share=0.4, kernels=2), "c": dict(share=0.2, kernels=1),
              "d": dict(share=0.3, kernels=3)}  # fmt: skip
    table = {"a": dict(relevance=0.3, relevance_low=0.1, drop=0.0, alignment=0.7), "b": dict(relevance=-0.1, drop=0.2),
             "c": dict(relevance=0.3, permute=0.5, drop=-0.1, relevance_low=0.2)}  # fmt: skip
    units = [_joined.Unit("a", ["a"], "", np.ones(1)), _joined.Unit("c", ["c"], "", np.ones(1)),
             _joined.Unit("b and d", ["b", "d"], "columns", np.ones(1))]  # fmt: skip
    whole = {"b and d": dict(relevance=0.9, relevance_low=0.5, drop=0.4)}
    given = dict(table=table | whole, units=units, measure="relevance", method="fast", scoring="roc_auc",
                 shared=[dict(name="c", others=["a"], taken=True), dict(name="a", others=[], taken=False)])  # fmt: skip
    found = _held_out.source_rows({"sources": shares}, given)
    assert [row["name"] for row in found["rows"]] == ["c", "a", "b"]  # the last three by permute, then by share
    assert found["total"] == 4 and found["left_share"] == 0.3
    assert [row["joined"] for row in found["rows"]] == [None, None, "b and d"]
    assert [row["several"] for row in found["rows"]] == [True, False, False]
    assert found["rows"][1] == dict(name="a", share=0.1, kernels=1, joined=None, several=False) | table["a"]
    assert [unit["name"] for unit in found["units"]] == ["b and d", "c", "a"]
    assert found["units"][0]["share"] == pytest.approx(0.7) and found["units"][0]["kernels"] == 5
    assert found["units"][0]["relevance"] == 0.9 and found["units"][0]["why"] == "columns"
    assert found["verdict"] == ["b and d", "a"]  # c is better left out
    assert (found["method"], found["measure"], found["scoring"]) == ("fast", "relevance", "roc_auc")
    plain = _held_out.source_rows({"sources": shares}, {})
    assert [row["name"] for row in plain["rows"]] == ["b", "d", "c"] and plain["verdict"] == []


def test_each_site_has_its_own_scores():
    groups = np.array(["x", "y", "x", "z", "y"])
    splits = [(np.flatnonzero(groups != g), np.flatnonzero(groups == g)) for g in "xyz"]
    each = {"one": np.array([1.0, 2.0, 3.0]), "other": np.array([1.0, np.nan, 3.0])}
    case = a_case(np.arange(5), groups=groups)
    found = _held_out._with_sites({"each": each, "k": 1}, case, splits, [0.1, 0.2, 0.3], [0.4, 0.5, 0.6])
    expected = [dict(name=g, examples=m, score=s, baseline=b, relevance={"one": r}) for g, m, s, b, r in
                zip("xyz", (2, 2, 1), (0.1, 0.2, 0.3), (0.4, 0.5, 0.6), (1.0, 2.0, 3.0), strict=True)]  # fmt: skip
    assert found == {"k": 1, "sites": expected}
    mixed = [splits[0], (splits[1][0], np.array([1, 3]))]
    assert _held_out._with_sites({"each": each}, case, mixed, [0, 0], [0, 0]) == {}
    assert _held_out._with_sites({"each": each}, case._replace(groups=None), splits, [0] * 3, [0] * 3) == {}
    assert _held_out._with_sites({"each": each}, case, splits[:1], [0], [0]) == {}


def test_curves_of_risk_are_ranked_within_each_fold():
    n = 37
    y = np.zeros(n, [("event", bool), ("time", float)])
    y["event"], y["time"] = rng.random(n) < 0.6, rng.integers(1, 12, n)
    order = rng.permutation(n)
    folds = [order[:16], order[16:]]
    risks = [rng.normal(size=16), 100 + rng.normal(size=21)]
    found = _survival.curves(y, folds, risks)["survival"]
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
    few = _survival.curves(y[:20], [np.arange(20)], [np.arange(20.0)])["survival"]
    assert [(one["name"], one["examples"]) for one in few["groups"]] == [("low", 10), ("high", 10)]


def test_columns_with_the_same_values_and_those_that_are_alike():
    n = 30
    x = rng.normal(size=n)
    x[4] = np.nan
    frame = pd.DataFrame({"a": x, "b": rng.normal(size=n), "c": x, "one": 1.0, "uno": 1.0,
                          "t": rng.choice(list("uvw"), n), "a again": x})  # fmt: skip
    frame["s"] = frame["t"]
    frame["code"] = frame["t"].map({"u": "2", "v": "1", "w": "3"})
    frame["b down"] = -(frame["b"] ** 3)
    assert _joined.identical(frame) == {"c": "a", "a again": "a", "s": "t"}
    table = np.column_stack([x, -0.0 * x, x, rng.normal(size=n), np.where(np.isnan(x), np.nan, x)])
    assert _joined.identical(table) == {2: 0, 4: 0}
    found = _joined.alike_columns(frame)
    names = list(frame.columns)
    assert {names[k]: names[j] for k, j in found.items()} == {
        "a": "c", "b": "b down", "b down": "b", "c": "a", "a again": "a", "t": "s", "s": "t", "code": "t"}  # fmt: skip
    assert len(set(frame["t"])) == 3
    noisy = np.column_stack([table[:, 3], table[:, 3] + 0.2 * rng.normal(size=n), rng.normal(size=n)])
    near = abs(spearmanr(noisy[:, 0], noisy[:, 1])[0])
    assert near > 0.9 and _joined.alike_columns(noisy) == {0: 1, 1: 0}


def test_work_is_divided_among_units_and_bounded():
    assert _joined.most_units(5, 1000, 10, 2) == int(4e9 / (5 * 2 * (1e7 + 1e7)))
    assert _joined.most_units(5, 10**5, 10, 2) == 3 and _joined.most_units(2, 10, 1, 1) == 40
    assert _joined.most_shuffled(5, 1000, 4, 20) == int(4e9 / (5 * 1e6 * 4 * 3))
    assert _joined.most_shuffled(5, 10**6, 4, 20) == 3 and _joined.most_shuffled(5, 100, 0, 20) == 200
    assert _joined.most_refits(5, 1000, 10, 2) == int(4e9 / (15 * (5e6 + 1e7 + 1e7)))
    assert _joined.most_refits(5, 10**6, 10, 2) == 3


def test_light_units_become_one():
    masks = np.eye(5, dtype=bool)
    rows = [Row(f"k{m}", "source", masks[m]) for m in range(5)]
    units = _joined.find_units(None, rows, np.array([0.1, 0.3, 0.05, 0.35, 0.2]), {}, 3)
    assert [unit.name for unit in units] == ["k3", "k1", "3 other sources"]
    assert units[2].members == ["k4", "k0", "k2"] and units[2].why == "rest"
    np.testing.assert_array_equal(units[2].wanted, [True, False, True, False, True])
    assert [u.name for u in _joined.find_units(None, rows, np.arange(5.0), {}, 5)] == ["k4", "k3", "k2", "k1", "k0"]


def test_objects_without_a_pair_are_those_of_their_own_side():
    """Issue 11, point 24."""
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


def test_steps_of_the_longest_fits_are_kept(monkeypatch):
    monkeypatch.setattr(_measure, "MAX_STEPS", 4)
    monkeypatch.setattr(_measure, "MAX_CLASSES", 2)
    history = []
    for label, many in (("a", 3), ("b", 9), ("c", 5)):
        history += [{"class": label, "iteration": k, "time": k / 10, "gap": 1 / (k + 1)} for k in range(many)]
    found = _measure._convergence(SimpleNamespace(history_=history, tol=1e-3))
    assert [(run["class"], run["total"]) for run in found["runs"]] == [("b", 9), ("c", 5)] and found["total"] == 3
    assert [step["step"] for step in found["runs"][0]["steps"]] == [0, 2, 5, 8]
    assert found["runs"][0]["steps"][2] == {"step": 5, "time": 0.5, "gap": pytest.approx(1 / 6)}
    assert found["seconds"] == pytest.approx(0.2 + 0.8 + 0.4) and (found["measure"], found["tol"]) == ("gap", 1e-3)
    bayes = [{"iteration": 0, "time": 0.0, "gap": math.nan, "stationarity": 0.25}]
    found = _measure._convergence(SimpleNamespace(history_=bayes, tol=1e-3))
    assert found["measure"] == "stationarity" and found["runs"][0]["steps"][0]["gap"] == 0.25
    assert found["runs"][0]["class"] is None and "why" in _measure._convergence(SimpleNamespace(history_=[]))


def test_weights_by_class_are_those_of_the_sources_they_name():
    X, y = rng.normal(size=(45, 3)), np.arange(45) % 3
    X[:, 2] += 2.0 * y
    kernels = [(name, RBF(0.5), [j]) for j, name in enumerate("abc")]
    model = MKLClassifier(kernels, C=1.0).fit(X, y)
    found = _measure._weights(a_case(y, model=model, X=X))["classes"]
    shares = model.kernel_weights_ / model.kernel_weights_.sum(axis=1, keepdims=True)
    assert found["sources"][0] == "c" and sorted(found["sources"]) == ["a", "b", "c"] and found["total"] == 3
    for name, each in zip(found["sources"], found["shares"], strict=True):
        assert each == pytest.approx(shares[:, "abc".index(name)].tolist())


def test_categories_are_counted_from_the_most_frequent_on():
    values = np.array(["z"] * 5 + ["a"] + ["m"] * 3, object)
    found = describe._columns(pd.DataFrame({"site": values}))[0][0]
    assert (found["common"], found["counts"], found["different"]) == (["z", "m", "a"], [5, 3, 1], 3)


def test_kernels_that_a_table_leaves_out_still_have_weight():
    rows = [{"name": f"k{m}", "source": "a", "share": 0.2} for m in range(3)]
    facts = {"weights": {"kernels": 12, "alive": 8, "rows": rows, "sources": {"a": {}, "b": {}}}}
    page = section("kernels", facts)
    assert "4 kernels have no weight at all." in page and "5 more hold 40" in page
    facts["weights"] |= {"alive": 12}
    assert "All kernels have weight." in section("kernels", facts)
