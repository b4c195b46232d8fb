"""The numbers of a report are those that the tools it is made of give, and it says what it left out."""

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array

from manykernels import (
    KernelStack,
    MKLClassifier,
    MKLOneClass,
    MKLRegressor,
    MKLSurvival,
    Views,
    strings,
    survival_targets,
)
from manykernels.inspect import AlignmentDisplay, bootstrap_weights
from manykernels.kernels import RBF, Categorical, Linear, multi_task
from manykernels.regularizers import EmpiricalBayes
from manykernels.report import _case

rng = np.random.default_rng(0)
X = rng.normal(size=(80, 4))
y = np.where(X[:, 0] + 0.3 * rng.normal(size=80) > 0, "ill", "well")
KERNELS = [(f"k{j}", RBF(0.5), [j]) for j in range(4)]
QUICK = dict(cv=3, relevance="fast", stability=0)


def fitted(kernels, X, y=y, **options):
    """A classifier at one C."""
    return MKLClassifier(kernels, **{"C": 1.0} | options).fit(X, y)


@pytest.fixture(scope="module")
def model():
    return fitted(KERNELS, X, C=2)


@pytest.fixture(scope="module")
def facts(model):
    return model.report(X, y, cv=4, relevance="full", stability=4).facts


def test_stability_of_classes_is_that_of_the_mean_of_their_weights():
    """The spread is over samples, each of which has weights for three classes."""
    labels = np.digitize(X[:, 0] + X[:, 1], [-0.7, 0.7])
    model = fitted(KERNELS, X, labels)
    boot = np.array([np.mean(sample, axis=0) for sample in bootstrap_weights(model, X, labels, 5, 0)])
    shares = boot / boot.sum(axis=1, keepdims=True)
    found = model.report(X, labels, cv=None, stability=5).facts["stability"]["rows"]
    assert boot.shape == (5, 4) and len(found) == 4
    for one in found:
        own = shares[:, int(one["name"][1:])]
        assert one["median"] == pytest.approx(np.median(own))
        assert [one["low"], one["high"]] == pytest.approx(np.quantile(own, [0.05, 0.95]))


def test_one_class_with_and_without_targets():
    model = MKLOneClass(KERNELS, nu=0.2).fit(X)
    found = model.report(X, stability=3).facts
    assert "no targets" in found["score"]["why"] and found["stability"]["samples"] == 3
    inside = np.where(np.abs(X).max(axis=1) < 1.8, 1, -1)
    scored = model.report(X, inside, cv=3, relevance="full", stability=0).facts
    assert scored["score"]["measure"] == "roc_auc" and scored["score"]["mean"] > 0.6 > scored["score"]["baseline"]
    assert model.report(X, inside, **QUICK).html()


def test_the_longest_fits_come_first_with_steps_from_their_first_to_their_last():
    labels = np.arange(80) % 3
    model = fitted(KERNELS, X, labels)
    model.history_ = [{"class": label, "iteration": k, "time": k / 10, "gap": 1 / (k + 1)}
                      for label, many in (("a", 3), ("b", 99), ("c", 5)) for k in range(many)]  # fmt: skip
    found = model.report(X, labels, cv=None, stability=0, examples=0).facts["convergence"]
    runs = [(run["class"], run["total"], len(run["steps"])) for run in found["runs"]]
    assert runs == [("b", 99, 60), ("c", 5, 5), ("a", 3, 3)] and found["seconds"] == pytest.approx(9.8 + 0.4 + 0.2)
    assert found["runs"][0]["steps"][-1] == {"step": 98, "time": 9.8, "gap": pytest.approx(1 / 99)}


@pytest.mark.parametrize("kind", ["labels", "values"])
def test_several_outputs(kind):
    Y = (X[:, :2] > 0).astype(int) if kind == "labels" else X[:, :2]
    model = (
        MKLClassifier(KERNELS, multi_class="shared", C=1.0) if kind == "labels" else MKLRegressor(KERNELS, C=1.0)
    ).fit(X, Y)
    found = model.report(X, Y, cv=3, relevance="full", stability=2)
    assert found.facts["sources"]["method"] == "full" and "2 outputs" in found.facts["examples"]["why"]
    assert found.html()


def test_views_sequences_and_matrices():
    views = Views({"a": X[:, :2], "b": X[:70, 2:]}, ids={"a": np.arange(80), "b": np.arange(70)})
    kernels = [("a", RBF(0.5)), ("b", RBF(0.5), "b", "zero")]
    found = fitted(kernels, views).report(views, y, **QUICK).facts
    assert [v["missing"] for v in found["data"]["parts"]] == [0, 10] and found["sources"]["total"] == 2
    words = ["".join(rng.choice(list("ACGT"), 6)) + ("TATA" if label == "ill" else "CCGG") for label in y]
    found = fitted([strings.Spectrum(2)], words).report(words, y, **QUICK).facts
    assert found["data"]["form"] == "sequences or texts" and found["score"]["mean"] > 0.9
    stack = KernelStack([RBF(0.5)(X[:, [0]]), Linear()(X)])
    found = fitted("precomputed", stack).report(stack, y, cv=3, stability=2).facts
    assert found["data"]["form"] == "kernel matrices of 2 kernels" and found["score"]["mean"] > 0.8


def test_frames_of_pandas_and_polars_with_gaps_and_categories():
    polars = pytest.importorskip("polars", reason="polars is not installed")
    given = pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "c": np.where(X[:, 2] > 0, "u", "v")})
    given.loc[3, "b"] = np.nan
    kernels = [("a", RBF(0.5), ["a"]), ("b", RBF(0.5), ["b"], "zero"), ("c", Categorical(), ["c"])]
    parts = []
    for frame in (given, polars.from_pandas(given)):
        found = fitted(kernels, frame).report(frame, y, **QUICK)
        parts.append(found.facts["data"]["parts"])
        assert [p["kind"] for p in parts[-1]] == ["numbers", "numbers", "categories"] and parts[-1][1]["missing"] == 1
        assert found.html()
    assert parts[0][0] == parts[1][0] and parts[0][2] == parts[1][2]


@pytest.mark.filterwarnings("ignore:.*the learned noise")
def test_what_has_no_gap_or_has_tasks_says_so():
    task = np.tile([0, 1], 40)
    model = MKLClassifier(multi_task([Linear()])).fit(X, y, task=task)
    found = model.report(X, y, **QUICK)
    assert "several tasks" in found.facts["score"]["why"]
    bayes = MKLRegressor(KERNELS, regularizer=EmpiricalBayes(), loss="squared").fit(X, X[:, 0])
    assert "stationary" in bayes.report(X, X[:, 0], **QUICK).html()


def test_work_is_bounded_and_what_was_left_out_is_said(monkeypatch):
    for file in ("_measure", "_worth"):
        monkeypatch.setattr(f"manykernels.report.{file}.MAX_ENTRIES", 3 * 4 * 60.0**2)
    model = fitted(KERNELS, X)
    found = model.report(X, y, cv=3, stability=2)
    assert found.facts["sampled"]["used"] == 60
    few = model.report(X, y, max_examples=30, **QUICK).facts
    assert few["sampled"]["used"] == 30 and sum(map(sum, few["score"]["confusion"]["counts"])) == 30


def test_of_many_kernels_the_heaviest_are_shown_and_the_others_counted():
    wide = rng.normal(size=(24, 48))
    labels = (wide[:, 0] > 0).astype(int)
    model = fitted([(f"column {j}", Linear(), [j]) for j in range(48)], wide, labels)
    found = model.report(wide, labels, cv=2, relevance="fast", stability=1)
    rows = found.facts["sources"]["rows"]
    assert len(rows) == _case.MAX_SOURCES and found.facts["sources"]["total"] == 48
    assert sum(row["share"] for row in rows) + found.facts["sources"]["left_share"] == pytest.approx(1.0)
    page = found.html()
    assert "40 of 48 sources" in page and "30 of 48 kernels" in page and "first 40 of 48 columns" in page


def test_columns_that_two_sources_see_are_said():
    both = fitted([*KERNELS[:2], ("pair <1>", RBF(0.5), [0, 1])], X).report(X, y, **QUICK)
    assert both.facts["sources"]["shared"] == [{"name": "pair <1>", "others": ["k0", "k1"], "taken": True}]
    assert fitted(KERNELS, X).report(X, y, **QUICK).facts["sources"]["shared"] == []


@pytest.mark.parametrize("kind", ["csr", "bsr", "dia", "coo", "lil"])
def test_every_sparse_format_has_a_report(kind):
    """Some formats cannot be cut to the first rows and columns."""
    sparse = csr_array(np.where(X > 0.5, X, 0.0)).asformat(kind)
    found = fitted([("all", Linear())], sparse).report(sparse, y, **QUICK)
    assert "column 3" in found.html()


def test_alignments_of_many_examples_are_those_of_the_sample_of_the_seed():
    Z = rng.normal(size=(450, 2))
    target = Z[:, 0] + rng.normal(size=450)
    model = MKLRegressor([("one", Linear(), [0]), ("two", Linear(), [1])], loss="squared", C=1.0).fit(Z, target)
    facts = model.report(Z, target, cv=None, stability=0, examples=0, random_state=9).facts["alignment"]
    shown = AlignmentDisplay.measured(model, Z, target, 30, 400, 9)
    np.testing.assert_allclose(facts["target"], shown.target[shown.order])
    other = AlignmentDisplay.measured(model, Z, target, 30, 400, 0)
    assert np.abs(other.target - shown.target).max() > 1e-6


FEW = {  # targets of 80 examples, and why there is no score
    "class": (MKLClassifier, np.where(np.arange(80) == 0, "rare", "common"), "single example"),
    "event": (MKLSurvival, survival_targets(np.arange(80) == 7, np.arange(80) + 1.0), "There is a single event"),
}


@pytest.mark.parametrize("what", FEW)
def test_what_cannot_be_held_out_is_said(what):
    kind, target, why = FEW[what]
    assert why in kind(KERNELS, C=1.0).fit(X, target).report(X, target, **QUICK).facts["score"]["why"]


def test_folds_are_lowered_to_the_rarest_class_and_three_examples_have_none():
    labels = np.where(np.arange(80) < 3, "rare", "common")
    model = fitted(KERNELS, X, labels)
    assert len(model.report(X, labels, **QUICK | {"cv": 10}).facts["score"]["folds"]) == 3
    found = MKLRegressor(KERNELS, C=1.0).fit(X, X[:, 0]).report(X[:3], X[:3, 0], **QUICK).facts
    assert found["score"]["why"].startswith("There are fewer than four examples")


def test_examples_are_counted_or_left_out():
    model, only = fitted(KERNELS, X), dict(cv=None, stability=0)
    assert len(model.report(X, y, examples=2, **only).facts["examples"]["rows"]) == 2
    assert "why" in model.report(X, y, examples=0, **only).facts["examples"]
