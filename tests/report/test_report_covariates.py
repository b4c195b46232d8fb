"""The page of a model that adjusts for covariates says what the sources are worth beyond them."""

import numpy as np
import pandas as pd
import pytest
from report_cases import a_case
from sklearn.base import clone

from manykernels import MKLClassifier, MKLRegressor, MKLRegressorCV
from manykernels.inspect import bootstrap_weights, relevance
from manykernels.kernels import RBF, Linear
from manykernels.report._measure import _sample

rng = np.random.default_rng(1)
N = 90
BATCH = rng.integers(0, 3, N)
X = np.hstack([rng.normal(size=(N, 2)), 2 * np.eye(3)[BATCH] + 0.3 * rng.normal(size=(N, 3))])
Z = pd.DataFrame({"age": 50 + 10 * rng.normal(size=N), "batch": np.array(list("abc"))[BATCH]})
REAL = 1.5 * X[:, 0] + np.array([-2, 0, 2])[BATCH] + 0.3 * rng.normal(size=N)
KERNELS = [("genes", Linear(), [0, 1]), ("proteins", Linear(), [2, 3, 4])]


def test_a_report_adjusts_for_covariates_compares_with_them_alone_and_repeats_them():
    y = REAL > 0
    model = MKLClassifier(KERNELS, C=1.0).fit(X, y, covariates=Z)
    facts = model.report(X, y, covariates=Z, cv=3, stability=0, relevance="fast", examples=[4, 9]).facts
    assert facts["score"]["baseline"] > 0.7  # a constant has about 0.5
    assert facts["model"]["covariates"]["names"] == ["age", "batch=b", "batch=c"]
    assert facts["reproduce"][-2] == "model.fit(X, y, covariates=covariates)"
    assert facts["reproduce"][-1].endswith("examples=[4, 9], covariates=covariates)")
    with pytest.raises(ValueError, match="fitted with the covariates 'age', 'batch': give covariates="):
        model.report(X, y)


def test_the_worst_of_drawn_examples_is_found_with_their_own_covariates():
    """Without folds: the errors are those of `predict`, among the rows that were drawn."""
    model = MKLRegressor(KERNELS, C=1.0).fit(X, REAL, covariates=Z)
    facts = model.report(X, REAL, covariates=Z, cv=None, stability=0, max_examples=50, random_state=5).facts
    rows = _sample(a_case(REAL, "regression", seed=5)._replace(X=X), 50)
    error = (model.predict(X, covariates=Z) - REAL)[rows]
    found = {row["why"]: row["row"] for row in reversed(facts["examples"]["rows"])}  # the first of each kind
    assert found["the largest overestimate"] == rows[error.argmax()]
    assert found["the largest underestimate"] == rows[error.argmin()]


def test_nested_searches_and_samples_take_their_covariates():
    search = MKLRegressorCV(KERNELS, Cs=[0.1, 1.0], regularizer=1, cv=3).fit(X, REAL, covariates=Z)
    facts = search.report(X, REAL, covariates=Z, cv=3, stability=0, relevance="fast", max_examples=60).facts
    assert facts["score"]["nested"]["done"] and facts["sampled"]["used"] == 60
    assert facts["score"]["mean"] > facts["score"]["baseline"] > 0.2


@pytest.mark.parametrize("units", ["kernels", "columns"])
def test_all_facts_of_a_sample_have_the_covariates_of_its_rows(units, monkeypatch):
    """Scores, baseline, relevance, stability and decisions are those of fits with the covariates of the same rows."""
    if units == "columns":
        monkeypatch.setattr("manykernels.inspect.held_out.MAX_KEPT_BYTES", 0)  # folds are made again
    shared = [("genes", Linear(), [0, 1]), ("both", RBF(0.2), [0, 2])]
    y, site = np.where(REAL > 0, "ill", "fit"), np.array(["north", "south", "west"])[rng.integers(0, 3, N)]
    model = MKLClassifier(KERNELS if units == "kernels" else shared, C=1.0, tol=1e-6).fit(X, y, covariates=Z)
    asked = [3, 8, 44, 80]
    report = model.report(X, y, covariates=Z, cv=3, groups=site, relevance="full", stability=2, max_examples=48,
                          random_state=5, examples=asked).facts  # fmt: skip
    rows = _sample(a_case(y, seed=5)._replace(X=X), 48)
    x, t, z, groups = X[rows], y[rows], Z.iloc[rows], site[rows]
    splits = [(np.flatnonzero(groups != g), np.flatnonzero(groups == g)) for g in np.unique(site)]
    fitted = [clone(model).fit(x[train], t[train], covariates=z.iloc[train]) for train, _ in splits]
    scores = [m.score(x[test], t[test], covariates=z.iloc[test]) for m, (_, test) in zip(fitted, splits, strict=True)]
    given = dict(cv=splits, kernels=False, random_state=5, covariates=z)
    assert report["score"]["folds"] == pytest.approx(scores)
    assert report["score"]["baseline_folds"] == pytest.approx(relevance(model, x, t, **given, refits=0).score_nothing)
    found = relevance(model, x, t, scoring="roc_auc", **given)
    expected = {row["name"]: row for row in found.table()}
    assert len(report["sources"]["units"]) == len(expected) and report["sources"]["method"] == "full"
    for unit in report["sources"]["units"]:
        keys = [
            f"{key}{end}" for key in ("relevance", "drop", "permute", "gain", "alone") for end in ("", "_se", "_low")
        ]
        assert [unit[key] for key in keys] == pytest.approx([expected[unit["name"]][key] for key in keys], abs=1e-6)
    for k, one in enumerate(report["sources"]["sites"]):
        assert one["relevance"] == pytest.approx(
            dict(zip(found.names, found.differences("relevance")[k], strict=True)), abs=1e-6)  # fmt: skip
    boot = bootstrap_weights(model, x, t, 2, 5, covariates=z)
    medians = dict(zip(model.kernel_names_, np.median(boot / boot.sum(axis=1, keepdims=True), axis=0), strict=True))
    if units == "kernels":
        assert {r["name"]: r["median"] for r in report["stability"]["rows"]} == pytest.approx(medians, abs=1e-6)
    assert [row["row"] for row in report["examples"]["rows"]] == asked
    for row in report["examples"]["rows"]:
        at = row["row"]
        own = [m for m, (_, test) in zip(fitted, splits, strict=True) if at in rows[test]] or [model]
        of = X[[at]], Z.iloc[[at]]
        assert row["held_out"] == (at in rows) and row["true"] == y[at]
        assert row["sum"] == pytest.approx(own[0].decision_function(of[0], covariates=of[1])[0], abs=1e-4)
        parts = own[0].decision_parts(of[0]).sum()
        assert row["intercept"] + row["covariates"] == pytest.approx(row["sum"] - parts, abs=1e-4)
        assert row["prediction"] == own[0].predict(of[0], covariates=of[1])[0]
