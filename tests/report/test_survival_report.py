"""Issue 15, build 2: the report of a survival model has Kaplan and Meier's curves by predicted risk."""

import json

import numpy as np
import pytest

from manykernels import MKLSurvival, MKLSurvivalCV
from manykernels.datasets import make_survival
from manykernels.kernels import RBF
from manykernels.report._survival import kaplan_meier, log_rank

X, Y = make_survival(150, seed=2)
KERNELS = [(source, RBF("scale"), source) for source in X]


def test_curves_fall_to_the_share_that_lives_on():
    event, time = np.array([1, 0, 1, 1, 0], bool), np.array([2.0, 3.0, 4.0, 4.0, 5.0])
    at, share = kaplan_meier(event, time)
    np.testing.assert_array_equal(at, [2.0, 4.0])
    np.testing.assert_allclose(share, [0.8, 0.8 / 3])


def test_curves_and_test_equal_those_of_other_packages():
    nonparametric, compare = pytest.importorskip("sksurv.nonparametric"), pytest.importorskip("sksurv.compare")
    at, share = kaplan_meier(Y["event"], Y["time"])
    times, theirs = nonparametric.kaplan_meier_estimator(Y["event"], Y["time"])
    np.testing.assert_allclose(share, theirs[np.isin(times, at)])
    high = X["clinical"][:, 0] > 0
    assert log_rank(Y["event"], Y["time"], high) == pytest.approx(compare.compare_survival(Y, high)[1], rel=1e-9)


def test_the_page_shows_risk_groups(tmp_path):
    model = MKLSurvival(KERNELS, C=0.1).fit(X, Y)
    report = model.report(X, Y, tmp_path / "report.html", cv=3, stability=2)
    score = report.facts["score"]
    assert report.facts["kind"] == "survival" and score["measure"] == "concordance" and score["baseline"] == 0.5
    groups = score["survival"]["groups"]
    assert [group["name"] for group in groups] == ["low", "middle", "high"]
    assert sum(group["examples"] for group in groups) == 150
    assert sum(group["events"] for group in groups) == Y["event"].sum()
    assert groups[0]["curve"][-1][1] > groups[2]["curve"][-1][1]
    page = (tmp_path / "report.html").read_text()
    for words in ("concordance", "high risk", "log-rank", "censored at", "censored times", "equal risks"):
        assert words in page, words
    json.loads((tmp_path / "report.json").read_text())


def test_the_report_of_a_search_repeats_it_in_every_fold():
    search = MKLSurvivalCV(KERNELS, Cs=[0.1, 1.0], regularizer=[2], cv=2).fit(X, Y)
    facts = search.report(X, Y, cv=2, stability=0, examples=0, relevance="fast").facts
    assert facts["score"]["nested"]["done"] and 0.4 < facts["score"]["mean"] < 0.8
