"""The seed, the covariates and the limits of a report reach each of its parts."""

import math

import numpy as np
import pytest
from pages import sentence
from report_cases import Search, a_case
from sklearn.model_selection import KFold, StratifiedKFold, cross_val_score

from manykernels import MKLClassifier, MKLRegressor
from manykernels.inspect import AlignmentDisplay, bootstrap_weights, relevance
from manykernels.inspect.fold import Fold
from manykernels.inspect.sources import Row
from manykernels.kernels import RBF, KernelList, Linear
from manykernels.report import _held_out, _joined, _nested, _report, _worth, describe

rng = np.random.default_rng(17)
X = rng.normal(size=(60, 3))
y = np.where(X[:, 0] + 0.5 * rng.normal(size=60) > 0, "yes", "no")
KERNELS = [("a", RBF(0.3), [0]), ("b", RBF(0.3), [1]), ("c", Linear(), [2])]


@pytest.mark.parametrize("covariates", [False, True])
def test_folds_permutations_and_samples_come_from_the_seed(covariates):
    Z = rng.normal(size=(60, 1)) if covariates else None
    own = {} if Z is None else {"covariates": Z}
    model = MKLClassifier(KERNELS, C=1.0, tol=1e-6).fit(X, y, **own)
    facts = model.report(X, y, cv=3, relevance="full", stability=3, random_state=7, **own).facts
    cut = StratifiedKFold(3, shuffle=True, random_state=7)
    splits = list(cut.split(X, y))
    if not covariates:
        np.testing.assert_allclose(facts["score"]["folds"], cross_val_score(model, X, y, cv=cut))
    judged = relevance(model, X, y, cv=splits, kernels=False, scoring="roc_auc", random_state=7, **own)
    found = {row["name"]: row for row in judged.table()}
    for row in facts["sources"]["rows"]:
        for key in ("relevance", "permute", "gain", "drop", "relevance_low"):
            assert row[key] == pytest.approx(found[row["name"]][key], abs=1e-9)
    boot = bootstrap_weights(model, X, y, 3, 7, covariates=Z)
    shares = boot / boot.sum(axis=1, keepdims=True)
    for row in facts["stability"]["rows"]:
        assert row["median"] == pytest.approx(np.median(shares[:, "abc".index(row["name"])]))


def test_alignments_of_many_examples_are_those_of_the_sample_of_the_seed():
    Z = rng.normal(size=(450, 2))
    target = Z[:, 0] + rng.normal(size=450)
    model = MKLRegressor([("one", Linear(), [0]), ("two", Linear(), [1])], loss="squared", C=1.0).fit(Z, target)
    facts = model.report(Z, target, cv=None, stability=0, examples=0, random_state=9).facts["alignment"]
    shown = AlignmentDisplay.measured(model, Z, target, 30, 400, 9)
    np.testing.assert_allclose(facts["target"], shown.target[shown.order])
    other = AlignmentDisplay.measured(model, Z, target, 30, 400, 0)
    assert np.abs(other.target - shown.target).max() > 1e-6


def test_a_number_of_examples_was_asked_for_only_where_it_is_the_number():
    model = MKLRegressor([("one", Linear())], loss="squared", C=1.0).fit(X, X[:, 0])
    only = dict(cv=None, stability=0, examples=0)
    for asked, said in ((None, (60, False)), (30, (30, True)), (60, (60, True)), (500, (60, False))):
        found = model.report(X, X[:, 0], max_examples=asked, **only).facts["sampled"]
        assert (found["used"], found["asked"]) == said and found["examples"] == 60


def test_the_weight_of_sources_beyond_the_table_is_the_rest():
    shares = {f"s{k}": {"share": (50 - k) / 1275, "kernels": 1} for k in range(50)}
    found = _held_out.source_rows({"sources": shares}, {"alike": {"s0": "s1"}})
    assert [row["name"] for row in found["rows"]] == [f"s{k}" for k in range(40)] and found["total"] == 50
    assert found["left_share"] == pytest.approx(sum(range(1, 11)) / 1275) and found["alike"] == {"s0": "s1"}


@pytest.mark.parametrize(("mode", "refits"), [("fast", 0), ("auto", 2), ("full", 8)])
def test_columns_are_refitted_as_often_as_the_mode_allows(mode, refits, monkeypatch):
    monkeypatch.setattr(_worth, "most_refits", lambda *own: 2)
    kernels = [("all", RBF(0.2)), *((f"k{k}", Linear(), [k]) for k in range(3))]
    target = X[:, 0] + X[:, 1]
    model = MKLRegressor(kernels, C=1.0).fit(X, target)
    case = a_case(target, "regression", model=model, X=X)
    fold = Fold(model, X, target, None, np.arange(40), np.arange(40, 60), lambda *own: 0.0)
    plan = _worth.make_plan(case, fold, mode, 3)
    assert plan.refits == refits and {row.columns for row in plan.rows} == {(0,), (1,), (2,)}


def test_a_column_that_is_alike_is_named_by_the_other():
    data = np.column_stack([X[:, 0], X[:, 1], X[:, 0] ** 3])
    target = X[:, 0] + 0.1 * X[:, 1]
    kernels = [("all", RBF(0.2)), *((f"k{k}", Linear(), [k]) for k in range(3))]
    model = MKLRegressor(kernels, C=1.0).fit(data, target)
    found = model.report(data, target, cv=KFold(2), relevance="fast", stability=0).facts["sources"]
    assert found["alike"] == {"k0": "column 2", "k2": "column 0"} and found["measure"] == "permute"


def test_the_search_within_folds_counts_all_its_fits(monkeypatch):
    case = a_case(np.arange(6.0), "regression")._replace(search=Search(cv=3))
    splits = [(np.arange(3), np.arange(3, 6))] * 2
    monkeypatch.setattr(_nested, "MAX_ENTRIES", 12.0)
    fits = 2 * 2 * 3  # folds, candidates, folds of the search
    assert _nested.chosen_in_folds(case, splits, 48 / fits)[1]["done"]
    found = _nested.chosen_in_folds(case, splits, 48 / fits + 1e-6)[1]
    assert not found["done"] and found["why"].startswith("12 fits")


def test_gaps_above_the_tolerance_are_told():
    model = {"stationarity": None, "gap": 0.02, "tol": 0.01}
    assert "raise max_iter" in sentence("certificate", {"model": model})
    assert "reached its tolerance (0.02)" in sentence("certificate", {"model": model | {"tol": 0.02}})


def test_numbers_that_json_lacks_are_null():
    facts = {"a": math.nan, "b": [math.inf, np.float64(2.5), np.int64(3)], 4: (True, None), "c": np.array(1.0)[()]}
    assert _report._finite(facts) == {"a": None, "b": [None, 2.5, 3], "4": [True, None], "c": 1.0}


def test_common_categories_are_the_most_frequent():
    found = describe._column("c", np.array(list("dddddccccbbba"), object))
    assert found["common"] == ["d", "c", "b"] and found["counts"] == [5, 4, 3, 1] and found["different"] == 4


def test_groups_are_sorted_by_all_their_weight():
    kernels = KernelList.from_spec([("p", RBF(0.1), [0]), ("q", RBF(0.2), [1]), ("r", RBF(0.3), [1])], X)
    rows = [Row(name, "source", np.arange(3) == m) for m, name in enumerate("pqr")]
    units = _joined.find_units(kernels, rows, np.array([0.4, 0.3, 0.3]), {}, 9)
    assert [len(unit.members) for unit in units] == [2, 1]
