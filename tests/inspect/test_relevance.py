"""Relevance: held-out truth where weights lie, paired standard errors, sources, groups, every kind of data."""

import numpy as np
import pytest
from benchmarks.datasets import planted
from sklearn.base import clone
from sklearn.metrics import accuracy_score, make_scorer
from sklearn.model_selection import KFold, StratifiedKFold, cross_val_score

from manykernels import MKLClassifier, MKLOneClass
from manykernels.inspect import relevance
from manykernels.kernels import RBF, Linear

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


def test_models_without_a_score_take_a_scorer():
    outliers = np.where(np.arange(90) < 80, 1, -1)
    moved = X + 4 * (outliers < 0)[:, None] * (np.arange(12) < 2)
    found = relevance(MKLOneClass(KERNELS), moved, outliers, cv=StratifiedKFold(3), scoring="roc_auc")
    assert row(found, "signal")["permute"] > row(found, "noise")["permute"]


def test_it_is_shown_as_text_html_and_frame():
    found = relevance(MKLClassifier([("<a>", *KERNELS[0][1:]), KERNELS[1]], C=1.0), X, y, cv=3, refits=0)
    assert "&lt;a&gt;" in found._repr_html_() and "<a>" in str(found)
    frame = found.to_frame()
    assert list(frame["name"]) == ["<a>", "noise"] and {"drop_se", "permute_low", "weight", "alignment"} <= set(frame)


def test_folds_in_processes_give_the_same():
    one, two = (relevance(MKLClassifier(KERNELS), X, y, cv=2, n_jobs=n_jobs) for n_jobs in (None, 2))
    np.testing.assert_array_equal(one.score_permuted, two.score_permuted)


@pytest.mark.parametrize("multi_class", ["shared", "ovr"])
def test_several_labels_are_scored_together(multi_class):
    labels = np.column_stack([y, X[:, 1] > 0, X[:, 0] > 0]).astype(int)
    model, cut = MKLClassifier(KERNELS, multi_class=multi_class, tol=1e-6, C=1.0), KFold(3)
    found = relevance(model, X, labels, cv=cut, n_permutations=1, kernels=False)
    alone = cross_val_score(clone(model).set_params(kernels=KERNELS[:1]), X, labels, cv=cut)
    np.testing.assert_allclose(found.score_all, cross_val_score(model, X, labels, cv=cut), rtol=1e-3)
    np.testing.assert_allclose(found.score_alone[:, 0], alone, rtol=1e-3)


def test_no_source_at_all_is_the_most_frequent_class_whatever_the_loss():
    labels = np.repeat(["a", "b", "c", "d"], [10, 20, 35, 25])  # a hinge says −1 of each of them
    for loss in ("hinge", "logistic", "squared"):
        found = relevance(
            MKLClassifier(KERNELS, loss=loss, C=1.0), X, labels, cv=StratifiedKFold(5, shuffle=True, random_state=0)
        )
        assert found.score_nothing == pytest.approx([7 / 18] * 5)


def share(model, X, y):
    return float(np.mean(model.predict(X) == y))


@pytest.mark.parametrize(
    ("scoring", "name"),
    [(None, "accuracy"), ("roc_auc", "roc_auc"), (share, "share"), (make_scorer(accuracy_score), "accuracy_score")],
)
def test_the_score_has_its_name(scoring, name):
    found = relevance(MKLClassifier(KERNELS, C=1.0), X, y, cv=2, scoring=scoring, refits=0, n_permutations=1)
    assert found.scoring == name and f"{name} of all sources" in str(found) and name in found._repr_html_()


def test_a_source_that_only_the_last_class_uses_is_worth_something():
    """Class 0 is told by column 0, classes 1 and 2 by column 1."""
    rng = np.random.default_rng(2)
    labels = np.arange(120) % 3
    rows = np.stack([np.where(labels == 0, 4.0, -4.0), np.where(labels == 2, 2.0, -2.0)], axis=1)
    rows += 0.3 * rng.normal(size=rows.shape)
    model = MKLClassifier([("a", Linear(), [0]), ("b", Linear(), [1])], regularizer=1, C=0.1, multi_class="ovr")
    assert (model.fit(rows, labels).kernel_weights_[:, 1] > 0).tolist() == [False, True, True]
    found = relevance(model, rows, labels, cv=3)
    assert row(found, "b")["drop"] > 0.2
