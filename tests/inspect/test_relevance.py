"""Relevance: held-out truth where weights lie, paired standard errors, sources, groups, every kind of data."""

import numpy as np
import pandas as pd
import pytest
from benchmarks.datasets import planted
from benchmarks.relevance import judge
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.metrics import accuracy_score, make_scorer
from sklearn.model_selection import GroupKFold, KFold, StratifiedKFold, cross_val_score

from manykernels import MKLClassifier, MKLOneClass, MKLRegressor, Views
from manykernels.inspect import fold, held_out, relevance
from manykernels.inspect.sources import default_sources
from manykernels.kernels import RBF, KernelList, KernelStack, Linear, On
from manykernels.strings import Spectrum

rng = np.random.default_rng(0)
X = rng.normal(size=(90, 12))
y = (X[:, 0] + X[:, 1] + 0.3 * rng.normal(size=90) > 0).astype(int)
KERNELS = [("signal", RBF("scale"), [0, 1]), ("noise", RBF("scale"), slice(2, 12))]


def row(found, name):
    return next(row for row in found.table() if row["name"] == name)


@pytest.mark.filterwarnings("ignore:.*nearly diagonal")
def test_the_truth_is_told_where_the_weight_lies():
    example = planted.issue(n=200)
    found = relevance(example.model, example.X, example.y)
    signal, noise = row(found, "signal"), row(found, "noise")
    assert noise["weight"] > 0.5 > signal["weight"]
    assert signal["relevance_low"] > 0.2 and signal["permute_low"] > 0.1 and signal["drop_low"] > 0.1
    assert noise["relevance_low"] <= 0 <= noise["relevance_high"] and noise["permute_low"] <= 0 <= noise["permute_high"]
    assert found.gap <= example.model.tol


def test_planted_sources_are_ranked_right_and_intervals_of_noise_cover_zero():
    results = [judge(seed, n=120) for seed in range(20, 25)]
    assert sum(result["relevance"] for result in results) >= 4
    assert np.mean([result["relevance_covers"] for result in results]) >= 0.8
    assert np.mean([result["permute_covers"] for result in results]) >= 0.8
    assert sum(result["weight"] for result in results) < 4


def test_sources_that_stand_in_for_each_other_are_named():
    n = 240
    signal = rng.normal(size=(n, 2))
    data = np.hstack([signal, signal + 0.05 * rng.normal(size=(n, 2)), rng.normal(size=(n, 4))])
    kernels = [("a", RBF("scale"), [0, 1]), ("b", RBF("scale"), [2, 3]), ("noise", RBF("scale"), slice(4, 8))]
    found = relevance(MKLClassifier(kernels, C=1.0), data, signal.sum(axis=1) > 0)
    assert [group.names for group in found.groups] == [["a", "b"]]
    assert found.groups[0].low > 0 and found.groups[0].alignment > 0.9
    assert row(found, "a")["drop_low"] <= 0
    assert "a, b stand in for each other" in str(found)


def test_sources_that_see_columns_of_others_are_named():
    parts = [("both", RBF(0.3), [0, 1]), ("one", RBF(0.3), [0]), ("last", Linear(), [2])]
    own = {name: name for name, *_ in parts}
    found = relevance(MKLClassifier(parts, C=1.0), X, y, cv=3, sources=own)
    assert [(one.name, one.others) for one in found.shared] == [("both", ["one"])]
    assert "both also sees the columns of one:" in str(found)
    assert found.overlapping == [["both", "one"]]
    found = relevance(
        MKLClassifier([*parts, ("all", RBF(0.1))], C=1.0), X, y, cv=3, sources={"1": ["one"], "2": ["last"]}
    )
    assert found.shared == []
    found = relevance(MKLClassifier([*parts, ("all", RBF(0.1))], C=1.0), X, y, cv=3, sources=own | {"all": "all"})
    assert [one.name for one in found.shared] == ["all", "both"]
    assert set(found.shared[0].others) == {"both", "one", "last"}


def test_many_sources_are_shown_in_part_and_overlapping_ones_as_groups():
    """Of 30 sets of three columns each, the first two share two columns, the others one with their neighbours."""
    table = np.random.default_rng(0).normal(size=(60, 62))
    sets = [("twin", Linear(), [0, 1, 3]), *((f"set {k}", Linear(), [2 * k, 2 * k + 1, 2 * k + 2]) for k in range(30))]
    own = {name: name for name, *_ in sets}
    found = relevance(MKLClassifier(sets, C=1.0), table, table[:, 5] > 0, cv=2, refits=1, kernels=False, sources=own)
    said = str(found)
    assert found.overlapping == [["twin", "set 0"]] and len(found.shared) > 5
    assert "also sees" not in said and "twin and set 0 share half of their columns or more" in said.replace(
        "set 0 and twin", "twin and set 0"
    )
    assert len(found.table()) == 31 and "… and 6 more sources, which table() and to_frame() have" in said
    assert sum(line.startswith(("set ", "twin ")) and "±" in line for line in said.splitlines()) == 25
    assert f"{len(found.shared)} sources have some columns in common with smaller ones" in said


def test_joint_drops_go_by_the_kernels_that_each_fold_has_computed(monkeypatch):
    planned = []
    plan_fit = fold.plan_fit
    monkeypatch.setattr(fold, "plan_fit", lambda *arguments: planned.append(0) or plan_fit(*arguments))
    Z = np.column_stack([X[:, :2], X[:, :2], X[:, 2:]])
    kernels = [("one", RBF(0.3), [0, 1]), ("two", RBF(0.3), [2, 3])]
    found = relevance(MKLClassifier(kernels, C=1.0), Z, y, cv=3)
    assert [set(group.names) for group in found.groups] == [{"one", "two"}] and len(planned) == 3
    monkeypatch.setattr(held_out, "MAX_KEPT_BYTES", 0)
    assert relevance(MKLClassifier(kernels, C=1.0), Z, y, cv=3).groups == found.groups and len(planned) == 3 + 6


def test_a_source_is_what_sees_the_same_or_what_is_given():
    kernels = [("middle", RBF(0.1), slice(2, 11)), ("plain", Linear(), slice(2, 11)), ("last", Linear(), [11])]
    kernels[2:2] = [("wide", RBF(0.01), [0, 1]), ("narrow", RBF(1.0), [0, 1])]
    found = relevance(MKLClassifier(kernels, C=1.0), X, y, cv=2)
    sources = [name for name, kind in zip(found.names, found.kinds, strict=True) if kind == "source"]
    assert sources == ["columns 2 to 10", "columns 0, 1", "last"] and found.kinds.count("kernel") == 4
    assert row(found, "columns 0, 1")["weight"] == pytest.approx(
        row(found, "wide")["weight"] + row(found, "narrow")["weight"]
    )
    given = relevance(MKLClassifier(kernels, C=1.0), X, y, cv=2, sources={"both": ["wide", -1], "x": 0}, kernels=False)
    assert given.names == ["both", "x"]
    with pytest.raises(ValueError, match="'wild', which is no kernel: the kernels are .*'wide'"):
        relevance(MKLClassifier(kernels, C=1.0), X, y, cv=2, sources={"both": ["wild"]})


def test_kernels_across_views_are_sources_of_their_own_and_those_within_a_view_belong_to_it():
    one, two, both = On(("a", [0]), RBF(0.3)), On(("a", [1]), RBF(0.3)), On("b", RBF(0.1))
    kernels = [("plain", RBF(0.3), "a"), ("b", RBF(0.1), "b"), ("within", one * two), ("across", one * both)]
    views = Views({"a": X[:, :2], "b": X[:, 2:]})
    found = default_sources(KernelList.from_spec(kernels, views), [name for name, *_ in kernels])
    assert {name: which.tolist() for name, which in found.items()} == {"a": [0, 2], "b": [1], "across": [3]}
    kernels = [("within", On([0], RBF(0.3)) * On([1], RBF(0.3))), ("other", On([0], RBF(0.3)) * On([2], RBF(0.3)))]
    assert list(default_sources(KernelList.from_spec(kernels, X), ["within", "other"])) == ["within", "other"]


def test_views_frames_matrices_and_sequences():
    views = {"one": X[:, :2], "two": X[:, 2:]}
    kernels = [("a", RBF("scale"), "one"), ("b", Linear(), "one"), ("c", RBF("scale"), "two")]
    found = relevance(MKLClassifier(kernels, C=1.0), views, y, cv=2, kernels=False)
    assert found.names == ["one", "two"] and row(found, "one")["drop"] > 0.1
    frame = pd.DataFrame(X, columns=list("abcdefghijkl"))
    kernels = [RBF("scale"), ("first", RBF("scale"), ["a", "b"]), ("second", Linear(), ["a", "b"])]
    assert "columns a, b" in relevance(MKLClassifier(kernels, C=1.0), frame, y, cv=2).names
    S = [X[:, :2] @ X[:, :2].T, X[:, 2:] @ X[:, 2:].T]
    stacks = [
        relevance(MKLClassifier("precomputed", C=1.0), data, y, cv=2) for data in (KernelStack(S), np.stack(S, axis=2))
    ]
    np.testing.assert_allclose(stacks[0].score_without, stacks[1].score_without)
    plain = relevance(MKLClassifier([("a", Linear(), [0, 1]), ("b", Linear(), slice(2, 12))], C=1.0), X, y, cv=2)
    np.testing.assert_allclose(stacks[0].score_alone, plain.score_alone)
    texts = ["".join(rng.choice(list("AC" if label else "GT"), 12)) for label in y]
    found = relevance(MKLClassifier([Spectrum(2), Spectrum(3)], C=1.0), texts, y, cv=2)
    assert found.score_all.min() > 0.95


def test_classes_regression_groups_weights_and_scorers():
    data, target = load_iris(return_X_y=True)
    kernels = [("sepal", RBF(0.5), [0, 1]), ("petal", RBF(0.5), [2, 3])]
    for scoring in (None, "roc_auc_ovr", make_scorer(accuracy_score)):
        model = MKLClassifier(kernels, loss="logistic" if scoring == "roc_auc_ovr" else "hinge", C=1.0)
        assert row(relevance(model, data, target, scoring=scoring, cv=3), "petal")["drop"] > 0.02
    groups = np.arange(90) % 9
    regression = relevance(
        MKLRegressor(KERNELS, slack=True, C=1.0), X, X[:, 0], cv=GroupKFold(3), groups=groups, sample_weight=1 + groups
    )
    assert row(regression, "signal")["drop_low"] > 0 >= row(regression, "noise")["drop_low"]
    outliers = np.where(np.arange(90) < 80, 1, -1)
    moved = X + 4 * (outliers < 0)[:, None] * (np.arange(12) < 2)
    found = relevance(MKLOneClass(KERNELS), moved, outliers, cv=StratifiedKFold(3), scoring="roc_auc")
    assert row(found, "signal")["permute"] > row(found, "noise")["permute"]
    with pytest.raises(ValueError, match="MKLOneClass has no method score"):
        relevance(MKLOneClass(KERNELS), X, y)


def test_it_is_shown_as_text_html_frame_and_picture():
    import matplotlib

    matplotlib.use("Agg")
    found = relevance(MKLClassifier([("<a>", *KERNELS[0][1:]), KERNELS[1]]), X, y, cv=3)
    assert "&lt;a&gt;" in found._repr_html_() and "<a>" in str(found)
    frame = found.to_frame()
    assert list(frame["name"]) == ["<a>", "noise"] and {"drop_se", "permute_low", "weight", "alignment"} <= set(frame)
    ax = found.plot()
    assert ax.get_yticklabels()[0].get_text().startswith("<a>")
    with pytest.raises(ValueError, match="kind='kernel'"):
        found.plot(kind="kernel")
    with pytest.raises(ValueError, match="measure='drops' is unknown"):
        found.measure("drops")


def test_folds_in_processes_give_the_same():
    one, two = (relevance(MKLClassifier(KERNELS), X, y, cv=2, n_jobs=n_jobs) for n_jobs in (None, 2))
    np.testing.assert_array_equal(one.score_permuted, two.score_permuted)


def test_wrong_arguments_are_named():
    model = MKLClassifier(KERNELS)
    for bad in (dict(n_permutations=0), dict(level=1.5), dict(sources={}), dict(sources={"a": []})):
        with pytest.raises(ValueError, match=next(iter(bad))):
            relevance(model, X, y, **bad)
    with pytest.raises(ValueError, match="y=None"):
        relevance(model, X, None)
    with pytest.raises(ValueError, match="give one target per example"):
        relevance(model, X, y[:-1])
    with pytest.raises(ValueError, match="or a row of targets"):
        relevance(model, X, np.zeros((len(X), 2, 2)))


@pytest.mark.parametrize("multi_class", ["shared", "ovr"])
def test_several_labels_and_targets_are_scored_together(multi_class):
    labels = np.column_stack([y, X[:, 1] > 0, X[:, 0] > 0]).astype(int)
    several = (
        (MKLClassifier(KERNELS, multi_class=multi_class, tol=1e-6, C=1.0), labels),
        (MKLRegressor(KERNELS, C=1.0), X[:, :2]),
    )
    for model, targets in several:
        found = relevance(model, X, targets, cv=3)
        alone = cross_val_score(clone(model).set_params(kernels=KERNELS[:1]), X, targets, cv=KFold(3))
        np.testing.assert_allclose(found.score_all, cross_val_score(model, X, targets, cv=KFold(3)), rtol=1e-3)
        np.testing.assert_allclose(found.score_alone[:, 0], alone, rtol=1e-3)
        assert found.table()[0]["name"] == "signal" and found.measure("drop").low[0] > 0


def test_no_source_at_all_is_the_most_frequent_class_whatever_the_loss():
    labels = np.repeat(["a", "b", "c", "d"], [10, 20, 35, 25])  # a hinge says −1 of each of them
    for loss in ("hinge", "logistic", "squared"):
        found = relevance(
            MKLClassifier(KERNELS, loss=loss, C=1.0), X, labels, cv=StratifiedKFold(5, shuffle=True, random_state=0)
        )
        assert found.score_nothing == pytest.approx([7 / 18] * 5)


def test_the_score_has_its_name():
    def share(model, X, y):
        return float(np.mean(model.predict(X) == y))

    for scoring, name in ((None, "accuracy"), ("roc_auc", "roc_auc"), (share, "share")):
        found = relevance(MKLClassifier(KERNELS, C=1.0), X, y, cv=2, scoring=scoring)
        assert found.scoring == name and f"{name} of all sources" in str(found) and name in found._repr_html_()
    made = relevance(MKLClassifier(KERNELS, C=1.0), X, y, cv=2, scoring=make_scorer(accuracy_score))
    assert made.scoring == "accuracy_score"
    assert relevance(MKLRegressor(KERNELS, C=1.0), X, X[:, 0], cv=2).scoring == "R²"


def test_orders_come_from_the_seed():
    """Issue 11, point 24."""
    rng = np.random.default_rng(5)
    rows = rng.normal(size=(60, 2))
    labels = (rows[:, 0] > 0).astype(int)
    model = MKLClassifier([("a", RBF(0.5), [0]), ("b", RBF(0.5), [1])], C=1.0)
    one, same, other = (
        [row["permute"] for row in relevance(model, rows, labels, cv=3, n_permutations=1, random_state=seed).table()]
        for seed in (1, 1, 2)
    )
    assert one == same != other


def test_a_source_that_only_the_last_class_uses_is_worth_something():
    """Issue 11, point 24. Class 0 is told by column 0, classes 1 and 2 by column 1."""
    rng = np.random.default_rng(2)
    labels = np.arange(120) % 3
    rows = np.stack([np.where(labels == 0, 4.0, -4.0), np.where(labels == 2, 2.0, -2.0)], axis=1)
    rows += 0.3 * rng.normal(size=rows.shape)
    model = MKLClassifier([("a", Linear(), [0]), ("b", Linear(), [1])], regularizer=1, C=0.1, multi_class="ovr")
    assert (model.fit(rows, labels).kernel_weights_[:, 1] > 0).tolist() == [False, True, True]
    found = relevance(model, rows, labels, cv=3)
    assert row(found, "b")["drop"] > 0.2
