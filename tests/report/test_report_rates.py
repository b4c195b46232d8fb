"""Areas under ROC curves, rates at a threshold, calibration and nested scores of the report."""

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import confusion_matrix, recall_score, roc_auc_score
from sklearn.model_selection import GroupKFold, StratifiedKFold, cross_val_predict, cross_val_score

from manykernels import MKLClassifier, MKLClassifierCV, MKLRegressorCV, load
from manykernels.kernels import RBF
from manykernels.regularizers import EmpiricalBayes
from tables import run

rng = np.random.default_rng(0)
X = rng.normal(size=(120, 3))
noise = X[:, 0] + 0.8 * rng.normal(size=120)
two = np.where(noise > 0.4, "ill", "fit")  # classes_ are sorted: ill is the second
three = np.array(["a", "b", "c"])[np.digitize(noise, [-0.5, 0.5])]
KERNELS = [(f"k{j}", RBF(0.5), [j]) for j in range(3)]
QUICK = dict(cv=4, relevance="fast", stability=0, examples=0)
CUT = StratifiedKFold(4, shuffle=True, random_state=0)


@pytest.fixture(scope="module")
def model():
    return MKLClassifier(KERNELS, loss="logistic", C=1.0).fit(X, two)


@pytest.fixture(scope="module")
def report(model):
    return model.report(X, two, threshold=-0.5, **QUICK)


def test_rates_are_those_of_scikit_learn(model, report):
    found = report.facts["score"]
    decision = cross_val_predict(model, X, two, cv=CUT, method="decision_function")
    rates, above = found["threshold"], np.where(decision > -0.5, "ill", "fit")
    assert rates["sensitivity"]["value"] == pytest.approx(recall_score(two, above, pos_label="ill"))
    assert rates["specificity"]["value"] == pytest.approx(recall_score(two, above, pos_label="fit"))
    assert rates["sensitivity"]["of"] == (two == "ill").sum() and rates["at"] == -0.5
    curve = np.array(found["curve"])
    assert np.trapezoid(curve[:, 1], curve[:, 0]) == pytest.approx(roc_auc_score(two, decision), abs=0.02)


def test_the_table_of_classes_is_at_the_threshold(model, report):
    """It was that of `predict`, whatever the threshold."""
    decision = cross_val_predict(model, X, two, cv=CUT, method="decision_function")
    above = np.where(decision > -0.5, "ill", "fit")
    assert (above != np.where(decision > 0, "ill", "fit")).any()
    np.testing.assert_array_equal(report.facts["score"]["confusion"]["counts"], confusion_matrix(two, above))


POSTERIOR = dict(loss="squared", regularizer=EmpiricalBayes(noise="learn"))


@pytest.mark.parametrize(
    "y, options", [(two, POSTERIOR), (three, POSTERIOR), (two, dict(calibrate="sigmoid"))], ids=["2", "3", "sigmoid"]
)
def test_every_model_with_probabilities_has_a_calibration(y, options):
    """Only the logistic loss was taken to give probabilities."""
    model = MKLClassifier(KERNELS, multi_class="shared", C=1.0, **options).fit(X, y)
    found = model.report(X, y, **QUICK).facts["score"]["calibration"]
    proba = cross_val_predict(model, X, y, cv=CUT, method="predict_proba")
    said = proba[:, 1] if y is two else proba.max(axis=1)
    came = y == "ill" if y is two else model.classes_[proba.argmax(axis=1)] == y
    assert found["brier"] == pytest.approx(np.mean((said - came) ** 2), abs=1e-4)


def test_the_posterior_of_matrices_has_no_calibration_and_says_why():
    K = np.stack([RBF(0.5)(X[:60, [j]]) for j in range(3)], axis=2)
    model = MKLClassifier("precomputed", loss="squared", regularizer=EmpiricalBayes()).fit(K, two[:60])
    found = model.report(K, two[:60], **QUICK).facts["score"]
    assert "but a model of kernels='precomputed' does not keep them" in found["calibration"]["why"]


def test_several_classes_have_an_area_each_and_a_hinge_has_no_probabilities():
    model = MKLClassifier(KERNELS, C=1.0).fit(X, three)
    found = model.report(X, three, **QUICK)
    decision = cross_val_predict(model, X, three, cv=CUT, method="decision_function")
    rows, folds = found.facts["score"]["areas"]["rows"], [test for _, test in CUT.split(X, three)]
    for k, row in enumerate(rows):
        areas = [roc_auc_score(three[test] == row["name"], decision[test, k]) for test in folds]
        np.testing.assert_allclose(row["folds"], areas)
    assert [row["name"] for row in rows] == ["a", "b", "c"] and "threshold" not in found.facts["score"]
    assert "loss='logistic' gives probabilities" in found.facts["score"]["calibration"]["why"]


def test_the_score_of_a_search_is_nested():
    """As scikit-learn's cross-validation of the search itself, in which C is chosen within each training fold."""
    search = MKLClassifierCV(KERNELS, Cs=[0.01, 0.3], regularizer=[1, 2], cv=2).fit(X[:60], two[:60])
    report = search.report(X[:60], two[:60], **QUICK)
    found = report.facts["score"]
    assert found["nested"]["done"] and found["nested"]["candidates"] == 4 and len(found["nested"]["chosen"]) == 4
    by_hand = cross_val_score(search, X[:60], two[:60], cv=CUT)
    np.testing.assert_allclose(found["folds"], by_hand)
    kept = report.facts["model"]
    assert kept["estimator"] == "MKLClassifier" and kept["parameters"]["C"] == repr(search.C_)


def test_groups_stay_whole_within_the_nested_search():
    people, target = np.repeat(np.arange(20), 3), noise[:60]
    options = dict(Cs=[0.1, 1], regularizer=2, loss="squared", cv=GroupKFold(2))  # which fails without groups
    search = MKLRegressorCV(KERNELS, **options).fit(X[:60], target, groups=people)
    found = search.report(X[:60], target, groups=people, **QUICK).facts["score"]
    assert found["nested"]["done"] and found["nested"]["candidates"] == 2


@pytest.mark.parametrize("how", ["splits", "bound", "saved"])
def test_a_score_that_is_not_nested_says_so(how, tmp_path, monkeypatch):
    cut = list(CUT.split(X, two)) if how == "splits" else 3
    model = MKLClassifierCV(KERNELS, Cs=[0.1, 1], cv=cut).fit(X, two)
    if how == "saved":
        model.save(tmp_path / "m.mk")
        model = load(tmp_path / "m.mk")
    if how == "bound":
        monkeypatch.setattr("manykernels.report._held_out.MAX_ENTRIES", 1e3)
    report = model.report(X, two, **QUICK)
    assert report.facts["score"]["nested"]["done"] is False
    assert report.html().count("This score is not nested, and a little too good:") == 2  # at the top, and below


def test_the_command_line_takes_a_threshold(tmp_path):
    frame = pd.DataFrame(X, columns=list("abc")).assign(y=two)
    frame.to_csv(tmp_path / "d.csv", index=False)
    assert run("fit", tmp_path / "d.csv", "-t", "y", "-o", tmp_path / "m.mk").exit_code == 0
    given = ("--cv", 3, "--relevance", "fast", "--stability", 0, "--threshold", 0.25, "-o", tmp_path / "r.html")
    done = run("report", tmp_path / "m.mk", tmp_path / "d.csv", *given)
    assert done.exit_code == 0, done.output
    page = (tmp_path / "r.html").read_text()
    assert "above 0.250" in page and "--threshold 0.25" in page
