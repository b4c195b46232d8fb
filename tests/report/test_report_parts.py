"""Parts of a report with made-up answers of what they call: bootstrap, alignments, searches, scores."""

from types import SimpleNamespace

import numpy as np
import pytest
from report_cases import a_case
from sklearn.base import BaseEstimator

from manykernels import MKLOneClass
from manykernels.report import _held_out, _measure
from manykernels.report._nested import chosen_in_folds

rng = np.random.default_rng(7)


def a_model(weights, names="abcd"):
    plan = [("u", [0, 2]), ("v", [1]), ("w", [3])]
    model = SimpleNamespace(kernel_weights_=weights, kernel_names_=list(names), intercept_=np.zeros(len(weights)))
    return model, ([name for name, _ in plan], [np.array(own) for _, own in plan])


@pytest.mark.parametrize("kind", ["classification", "regression", "one-class"])
@pytest.mark.parametrize("several", [False, True])
def test_stability_is_the_spread_of_bootstrap_shares(kind, several, monkeypatch):
    boot = rng.random((7, 3, 4) if several else (7, 4)) * (rng.random((7, 1, 4) if several else (7, 4)) > 0.2)
    weights = rng.random((3, 4) if several else 4)
    boot[..., 3] = 0.0
    model, members = a_model(weights)
    seen = {}

    def bootstrap(*given):
        seen["given"] = given
        given[6](2, 7)
        return boot

    ticks = []
    monkeypatch.setattr(_measure, "members_of", lambda *given: members)
    monkeypatch.setattr(_measure, "bootstrap_weights", bootstrap)
    y, Z = np.arange(5), object()
    case = a_case(y, kind, model=model, n_jobs=3, covariates=Z, tick=lambda *a: ticks.append(a), seed=11)
    found = _measure._stability(case, 7)
    own = seen["given"]
    assert own[0] is model and own[1] is case.X and (own[2] is None if kind == "one-class" else own[2] is y)
    assert own[3:6] == (7, 11, 3) and own[7] is Z and ticks == [("stability", 2, 7)]
    mean = boot.mean(axis=1) if several else boot
    shares = mean / mean.sum(axis=1, keepdims=True)
    whole = weights.mean(axis=0) if several else weights
    grouped = {name: shares[:, m].sum(axis=1) for name, m in zip(*members, strict=True)}
    fitted = {name: whole[m].sum() / whole.sum() for name, m in zip(*members, strict=True)}
    order = sorted((name for name in grouped if grouped[name].any()), key=lambda name: -grouped[name].mean())
    assert [row["name"] for row in found["rows"]] == order and (found["total"], found["alive"]) == (3, 2)
    for row in found["rows"]:
        each = grouped[row["name"]]
        low, median, high = np.quantile(each, [0.05, 0.5, 0.95])
        assert (row["low"], row["median"], row["high"]) == pytest.approx((low, median, high))
        assert (row["selected"], row["share"]) == pytest.approx((np.mean(each > 0), fitted[row["name"]]))
    assert (found["samples"], found["level"]) == (7, 0.9)
    boot = boot[..., :3]
    assert "depend on the sample" in _measure._stability(case, 7)["why"]
    assert "stability=0" in _measure._stability(case, 0)["why"]


@pytest.mark.parametrize("kind", ["classification", "one-class", "several"])
def test_alignments_are_in_the_order_of_the_picture(kind, monkeypatch):
    y = np.zeros((5, 2)) if kind == "several" else np.arange(5)
    A = np.round(rng.random((4, 4)), 6)
    target = None if kind != "classification" else rng.random(4)
    order, seen = np.array([2, 0, 3, 1]), {}

    def measured(*given):
        seen["given"] = given
        return SimpleNamespace(order=order, total=9, names=list("pqrs"), alignments=A, target=target)

    monkeypatch.setattr(_measure.AlignmentDisplay, "measured", measured)
    model, _ = a_model(np.ones(4))
    case = a_case(y, "regression" if kind == "several" else kind, model=model, seed=5)
    found = _measure._alignment(case)
    assert seen["given"][0] is model and seen["given"][1] is case.X and seen["given"][3:] == (30, 400, 5)
    assert (seen["given"][2] is y) == (kind == "classification")
    assert (found["total"], found["names"]) == (9, list("rpsq"))
    np.testing.assert_allclose(found["values"], [[A[i, j] for j in order] for i in order], atol=6e-5)
    assert found["target"] == (None if target is None else [target[m] for m in order])
    assert "only one kernel" in _measure._alignment(case._replace(model=a_model(np.ones(1), "a")[0]))["why"]


class Search(BaseEstimator):
    """Chooses C by the training examples that it was given."""

    def __init__(self, Cs=(0.1, 1.0, 7.0), regularizer=(1, 2), cv=4, verbose=True):
        self.Cs, self.regularizer, self.cv, self.verbose = Cs, regularizer, cv, verbose

    n_splits_ = 4
    calls: list = []

    def fit(self, X, y, **own):
        Search.calls.append((X, y, own, self.verbose))
        self.C_, self.regularizer_ = float(np.sum(y)), f"of {len(y)}"
        return self


def test_a_search_is_repeated_on_the_training_examples_of_each_fold(monkeypatch):
    y, groups = np.arange(9.0), np.arange(9) % 3
    X = rng.normal(size=(9, 2))
    splits = [(np.array([0, 4, 5]), np.array([1])), (np.array([8, 2, 3, 7]), np.array([0, 1]))]
    Z = SimpleNamespace(take=lambda rows: ("rows", rows.tolist()))
    ticks: list = []
    case = a_case(y, "regression", X=X, groups=groups, covariates=Z, search=Search(),
                  tick=lambda *a: ticks.append(a))  # fmt: skip
    for covariates, group in ((Z, groups), (None, None)):
        Search.calls.clear()
        models, facts = chosen_in_folds(case._replace(covariates=covariates, groups=group), splits, 1.0)
        assert facts["done"] and facts["candidates"] == 6
        for k, (train, _) in enumerate(splits):
            given = Search.calls[k]
            np.testing.assert_array_equal(given[0], X[train])
            np.testing.assert_array_equal(given[1], y[train])
            assert given[2].keys() == (set() if group is None else {"groups", "covariates"}) and not given[3]
            if group is not None:
                assert given[2]["groups"].tolist() == groups[train].tolist()
                assert given[2]["covariates"] == ("rows", train.tolist())
            assert (models[k].C, models[k].regularizer) == (y[train].sum(), f"of {len(train)}")
            assert facts["chosen"][k] == {"C": y[train].sum(), "regularizer": f"'of {len(train)}'"}
    assert ticks == 2 * [("nested search", 1, 2), ("nested search", 2, 2)]
    fits = 2 * 6 * 4
    monkeypatch.setattr("manykernels.report._nested.MAX_ENTRIES", fits / 4)
    assert chosen_in_folds(case, splits, 1.0)[1]["done"]
    models, facts = chosen_in_folds(case, splits, 1.01)
    assert not facts["done"] and f"{fits} fits would take too long" in facts["why"] and models == [case.model] * 2
    assert "fixed folds" in chosen_in_folds(case._replace(search=Search(cv=[1])), splits, 0.1)[1]["why"]
    assert chosen_in_folds(case._replace(search=Search([1.0], [1])), splits, 1.0)[1] is None


@pytest.mark.parametrize(
    ("kind", "y", "asked", "score", "worth"),
    [
        ("classification", np.array(list("abab")), None, "accuracy", "roc_auc"),
        ("classification", np.array(list("abab")), "f1", "f1", "f1"),
        ("classification", np.array(list("abca")), None, "accuracy", "accuracy"),
        ("classification", np.array([[0, 1], [1, 0]]), None, "accuracy", "accuracy"),
        ("regression", np.arange(4.0), None, "R²", "R²"),
        ("regression", np.arange(4.0), "neg_mean_squared_error", "neg_mean_squared_error", "neg_mean_squared_error"),
        ("one-class", np.array([1, -1, 1]), None, "roc_auc", "roc_auc"),
        ("one-class", np.array([1, -1, 1]), "accuracy", "accuracy", "accuracy"),
    ],
)
def test_the_score_and_the_score_of_relevance(kind, y, asked, score, worth):
    given = {} if kind != "one-class" else {"model": MKLOneClass()}
    case = a_case(y, kind, scoring=asked, **given)
    assert _held_out.measure_name(case) == score
    assert _held_out.measure_name(case, _held_out._worth_scoring(case)) == worth


def test_one_step_without_a_gap_is_no_empirical_bayes():
    steps = [{"iteration": k, "time": 0.1, "gap": gap, "stationarity": 0.5} for k, gap in enumerate((np.nan, 0.25))]
    found = _measure._convergence(SimpleNamespace(history_=steps, tol=1e-3))
    assert found["measure"] == "gap" and found["runs"][0]["steps"][1]["gap"] == 0.25
