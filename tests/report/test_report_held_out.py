"""What a report says of held-out examples is that of models which had not seen them, each example once."""

import numpy as np
import pandas as pd
import pytest
from report_cases import a_case
from sklearn.base import clone
from sklearn.model_selection import KFold, RepeatedStratifiedKFold, ShuffleSplit

from manykernels import KernelStack, MKLClassifier, MKLClassifierCV, MKLRegressor
from manykernels.kernels import RBF
from manykernels.report._measure import _sample

ONLY = dict(relevance="fast", stability=0)
rng = np.random.default_rng(3)
X = rng.normal(size=(90, 2))
Y = np.where(X[:, 0] + 0.3 * rng.normal(size=90) > 0, "ill", "well")
KERNELS = [("k", RBF(0.5), [0]), ("l", RBF(0.5), [1])]


def test_a_search_is_scored_by_the_model_that_each_training_fold_chose():
    """Issue 11, point 24. The chosen C differs between folds, and the score is that of each fold's own."""
    noise = np.random.default_rng(3)
    rows, cut = noise.normal(size=(60, 2)), KFold(3)
    labels = (rows[:, 0] + noise.normal(size=60) > 0).astype(int)
    search = MKLClassifierCV([("k", RBF(2.0))], Cs=[0.02, 50.0], cv=2).fit(rows, labels)
    found = search.report(rows, labels, cv=cut, examples=0, **ONLY).facts["score"]
    model, own, whole = MKLClassifier([("k", RBF(2.0))]), [], []
    for (train, test), chosen in zip(cut.split(rows), found["nested"]["chosen"], strict=True):
        for scores, C in ((own, chosen["C"]), (whole, search.C_)):
            scores.append(clone(model).set_params(C=C).fit(rows[train], labels[train]).score(rows[test], labels[test]))
    assert found["nested"]["done"] and own != whole
    np.testing.assert_allclose(found["folds"], own)
    assert found["mean"] == pytest.approx(np.mean(own))
    assert found["se"] == pytest.approx(np.std(own, ddof=1) * np.sqrt(1 / 3 + 20 / 40))  # training sets overlap


@pytest.mark.parametrize("size", [40, 90])
@pytest.mark.parametrize("listed", [False, True])
def test_single_decisions_are_those_of_the_model_that_did_not_see_the_row(size, listed):
    """Issue 11, point 24. Among drawn examples as well; by the whole model where a listed row was not drawn."""
    model, cut = MKLClassifier(KERNELS, C=2, tol=1e-6).fit(X, Y), KFold(3)
    chosen = {"examples": list(range(0, 90, 5))} if listed else {}
    report = model.report(X, Y, cv=cut, max_examples=size, **chosen, **ONLY)
    shown = report.facts["examples"]["rows"]
    assert all(one["held_out"] for one in shown) or (listed and size < 90)
    drawn = {one["row"] for one in shown if one["held_out"]}
    if size < 90:
        assert max(drawn) >= size
    fitted = model.decision_function(X)
    for one in shown:
        if not one["held_out"]:
            assert one["sum"] == pytest.approx(fitted[one["row"]], abs=1e-6)
    if size == 90:
        for train, test in cut.split(X):
            fold = clone(model).fit(X[train], Y[train])
            for one in shown:
                if one["row"] in test:
                    (expected,) = fold.decision_function(X[[one["row"]]])
                    assert one["sum"] == pytest.approx(expected, abs=1e-3)


def test_asked_for_examples_are_held_out_wherever_they_were_drawn():
    """Issue 11, point 24. Asked for in turn, all drawn examples are held out, and decided without their own fold."""
    model, cut = MKLClassifier(KERNELS, C=2, tol=1e-6).fit(X[:48], Y[:48]), KFold(2)
    shown = {}
    for start in (0, 24):
        asked = list(range(start, start + 24))
        found = model.report(X[:48], Y[:48], cv=cut, max_examples=20, examples=asked, **ONLY).facts["examples"]["rows"]
        shown |= {one["row"]: one["sum"] for one in found if one["held_out"]}
    drawn = np.array(sorted(shown))
    assert len(drawn) == 20 and drawn[-1] >= 24
    for train, test in cut.split(drawn):
        decision = clone(model).fit(X[drawn[train]], Y[drawn[train]]).decision_function(X[drawn[test]])
        np.testing.assert_allclose([shown[row] for row in drawn[test].tolist()], decision, atol=1e-3)


CUTS = {
    "repeated": RepeatedStratifiedKFold(n_splits=2, n_repeats=3, random_state=0),
    "overlapping": ShuffleSplit(4, test_size=0.4, random_state=0),
}


@pytest.mark.parametrize("cut", CUTS)
@pytest.mark.parametrize("listed", [False, True])
def test_an_example_that_is_held_out_often_is_shown_once(listed, cut):
    """Issue 11, point 24. Its decision is that of the first fold that held it out."""
    model, cut = MKLClassifier(KERNELS, C=2, tol=1e-6).fit(X, Y), CUTS[cut]
    chosen = {"examples": [0, 7, 8]} if listed else {"examples": 24}
    shown = model.report(X, Y, cv=cut, **chosen, **ONLY).facts["examples"]["rows"]
    rows = [one["row"] for one in shown]
    assert len(set(rows)) == len(rows) == (3 if listed else 24)
    first = {}
    for train, test in cut.split(X, Y):
        decision = clone(model).fit(X[train], Y[train]).decision_function(X)
        first = {int(row): decision[row] for row in test} | first
    assert all(one["held_out"] == (one["row"] in first) for one in shown)
    held = [one for one in shown if one["held_out"]]
    np.testing.assert_allclose([one["sum"] for one in held], [first[one["row"]] for one in held], atol=1e-3)
    assert len(held) > len(rows) / 2


@pytest.mark.parametrize("cv", [None, KFold(3)], ids=["fitted", "held out"])
def test_an_overestimate_lies_above_the_target(cv):
    """Issue 11, point 24."""
    target = X[:, 0] + np.random.default_rng(0).normal(size=90)
    model = MKLRegressor(KERNELS, C=1.0).fit(X, target)
    shown = model.report(X, target, cv=cv, **ONLY).facts["examples"]["rows"]
    found = {one["why"]: one for one in reversed(shown)}  # the first of each kind
    over, under = found["the largest overestimate"], found["the largest underestimate"]
    assert over["sum"] > over["true"] and under["sum"] < under["true"]
    if cv is None:
        error = model.predict(X) - target
        assert (over["row"], under["row"]) == (error.argmax(), error.argmin())


def test_drawn_examples_of_matrices_are_chosen_by_their_own_decisions():
    """Issue 11, point 24. Without folds, some labels wrong: what is called mistaken is, and the clearest are right."""
    labels = np.where(np.arange(90) % 5 == 0, Y[::-1], np.where(X[:, 0] > 0, "ill", "well"))
    stack = KernelStack([RBF(0.5)(X)])
    model = MKLClassifier("precomputed", C=0.1).fit(stack, labels)
    shown = model.report(stack, labels, cv=None, max_examples=40, **ONLY).facts["examples"]["rows"]
    reasons = ("among the most mistaken", "a close call", "among the clearest")
    mistaken, close, clear = ([one for one in shown if one["why"] == why] for why in reasons)
    assert mistaken and all(one["prediction"] != one["true"] for one in mistaken)
    assert clear and all(one["prediction"] == one["true"] for one in clear)
    assert close and max(abs(one["sum"]) for one in close) < min(abs(one["sum"]) for one in clear)


def test_parts_of_a_held_out_decision_have_the_names_of_the_kernels_of_the_folds():
    """The first column is 0 in all drawn rows: the folds have no kernel of it, but the model of all rows has."""
    noise = np.random.default_rng(0)
    table = pd.DataFrame(noise.normal(size=(60, 3)), columns=["rare", "noise", "signal"])
    target = 3 * table["signal"].to_numpy()
    drawn = _sample(a_case(target, "regression", seed=5)._replace(X=table), 50)
    table.loc[drawn, "rare"] = 0.0
    model = MKLRegressor(C=1.0).fit(table, target)
    options = dict(cv=KFold(2), max_examples=50, random_state=5, examples=drawn[::10], **ONLY)
    shown = model.report(table, target, **options).facts["examples"]["rows"]
    assert "rare" in model.kernel_names_ and all(one["held_out"] for one in shown)
    for one in shown:
        parts = {part["name"]: part["value"] for part in one["parts"]}
        assert "rare" not in parts and abs(parts["signal"]) > abs(parts.get("noise", 0.0))
