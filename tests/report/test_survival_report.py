"""The report of a survival model has Kaplan and Meier's curves by predicted risk."""

import numpy as np
import pandas as pd
import pytest

from manykernels import MKLSurvival, MKLSurvivalCV
from manykernels.datasets import make_survival
from manykernels.kernels import RBF
from manykernels.report._rates import kaplan_meier

X, Y = make_survival(150, seed=2)
KERNELS = [(source, RBF("scale"), source) for source in X]


def test_curves_fall_to_the_share_that_lives_on():
    event, time = np.array([1, 0, 1, 1, 0], bool), np.array([2.0, 3.0, 4.0, 4.0, 5.0])
    at, share = kaplan_meier(event, time)
    np.testing.assert_array_equal(at, [2.0, 4.0])
    np.testing.assert_allclose(share, [0.8, 0.8 / 3])


def test_curves_equal_those_of_another_package():
    nonparametric = pytest.importorskip("sksurv.nonparametric")
    at, share = kaplan_meier(Y["event"], Y["time"])
    times, theirs = nonparametric.kaplan_meier_estimator(Y["event"], Y["time"])
    np.testing.assert_allclose(share, theirs[np.isin(times, at)])


def test_risk_groups_are_thirds_of_each_fold():
    model = MKLSurvival(KERNELS, C=0.1).fit(X, Y)
    report = model.report(X, Y, cv=3, stability=0, relevance="fast", examples=0)
    score = report.facts["score"]
    assert report.facts["kind"] == "survival" and score["measure"] == "concordance" and score["baseline"] == 0.5
    groups = score["survival"]["groups"]
    assert [group["name"] for group in groups] == ["low", "middle", "high"]
    assert sum(group["examples"] for group in groups) == 150
    assert sum(group["events"] for group in groups) == Y["event"].sum()
    assert groups[0]["curve"][-1][1] > groups[2]["curve"][-1][1]


def test_the_report_of_a_search_repeats_it_in_every_fold():
    search = MKLSurvivalCV(KERNELS, Cs=[0.1, 1.0], regularizer=[2], cv=2).fit(X, Y)
    facts = search.report(X, Y, cv=2, stability=0, examples=0, relevance="fast").facts
    assert facts["score"]["nested"]["done"] and 0.4 < facts["score"]["mean"] < 0.8


def framed(n=90):
    """Views with ids, and covariates of which the year hardly varies."""
    ids, rng = [f"P{100 + i}" for i in range(n)], np.random.default_rng(3)
    views = {source: pd.DataFrame(table[:n], index=ids) for source, table in X.items()}
    return views, Y[:n], pd.DataFrame({"age": rng.normal(60, 9, n), "year": 2010 + rng.integers(0, 2, n)}, index=ids)


@pytest.fixture(scope="module")
def adjusted():
    views, y, Z = framed()
    model = MKLSurvival(KERNELS, C=0.1).fit(views, y, covariates=Z)
    return model, views, y, Z, model.report(views, y, covariates=Z, cv=3, stability=0, relevance="fast")


def test_single_examples_compare_the_rank_of_a_risk_with_the_observed_time(adjusted):
    """A newcomer: log hazards stood beside times; risks of different folds were compared."""
    _, _, y, _, report = adjusted
    rows = report.facts["examples"]["rows"]
    for row in rows:
        truth = y[row["row"]]
        assert row["true"] == f"{'event' if truth['event'] else 'censored'} at {truth['time']:g}"
        assert row["risk"]["group"] == ("low", "middle", "high")[int(3 * row["risk"]["above"])]
    by = {row["why"]: row["risk"] for row in rows}
    assert by["among the highest risks"]["above"] >= 28 / 30 and by["among the lowest risks"]["above"] <= 1 / 30
    assert by["in the middle"]["group"] == "middle"
    page, high = report.html(), rows[0]
    assert f"{high['id']} · high risk, above {100 * high['risk']['above']:.0f} % of its fold · {high['true']}" in page
    assert "· predicted" not in page


def test_single_examples_have_the_ids_of_the_views(adjusted):
    report = adjusted[-1]
    assert all(row["id"] == f"P{100 + row['row']}" for row in report.facts["examples"]["rows"])
    row = report.facts["examples"]["rows"][0]
    assert f"Row {row['row']}" not in report.html() and f", row {row['row']}" in report.html()


def test_covariates_count_from_their_mean(adjusted):
    model, views, y, Z, report = adjusted
    assert max(abs(row["covariates"]) for row in report.facts["examples"]["rows"]) < 3  # the year alone adds hundreds
    rows = model.report(views, y, covariates=Z, cv=None, stability=0, examples=[3, 5]).facts["examples"]["rows"]
    part = Z.to_numpy() @ model.covariate_coef_[0]
    np.testing.assert_allclose([row["covariates"] for row in rows], (part - part.mean())[[3, 5]], atol=1e-9)
    np.testing.assert_allclose([row["sum"] for row in rows], model.predict(views, covariates=Z)[[3, 5]], atol=1e-9)
    risk = model.predict(views, covariates=Z)
    assert [row["risk"]["above"] for row in rows] == [np.mean(risk < risk[k]) for k in (3, 5)]


def test_a_covariate_of_large_mean_leaves_survival_functions_finite(adjusted):
    """The hazard at f = 0 was that of the year 0: infinite, or 0."""
    _, views, y, Z, _ = adjusted
    far = Z.assign(year=Z["year"] * 1000.0)
    model = MKLSurvival(KERNELS, C=0.1).fit(views, y, covariates=far)
    assert np.abs(model.predict(views, covariates=far)).max() < 20
    table = model.predict_survival_function(views, covariates=far, return_array=True)
    assert np.isfinite(table).all() and table[:, -1].mean() < 0.9
