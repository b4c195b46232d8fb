"""The baseline of a report has the score of the model: quantiles and counts are compared with the best constant."""

import numpy as np
import pytest
from sklearn.metrics import d2_pinball_score, d2_tweedie_score

from manykernels import MKLRegressor, MKLSurvival
from manykernels.kernels import RBF, Linear

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 2))
KERNELS = [("a", RBF(0.3), [0]), ("b", Linear(), [1])]
OPTIONS = dict(stability=0, relevance="fast", examples=2)
HALVES = [(np.arange(30), np.arange(30, 60)), (np.arange(30, 60), np.arange(30))]


@pytest.mark.parametrize("given", [dict(loss="quantile", q=0.9), dict(loss="quantile")])
def test_quantiles_are_compared_with_the_quantile_of_the_training_targets(given):
    q = given.get("q", 0.5)
    y = X[:, 0] + 0.5 * RNG.normal(size=60)
    report = MKLRegressor(KERNELS, C=1.0, **given).fit(X, y).report(X, y, cv=HALVES, **OPTIONS)
    score = report.facts["score"]
    assert score["measure"] == "D² of the pinball loss" and report.facts["model"]["quantile"] == q
    for (train, test), found in zip(HALVES, score["baseline_folds"], strict=True):
        losses = [  # a quantile is any number between two targets
            1 - pinball(y[test], b, q) / min(pinball(y[test], c, q) for c in y[test])
            for b in (np.quantile(y[train], q, method="lower"), np.quantile(y[train], q, method="higher"))
        ]
        assert min(losses) - 1e-6 <= found <= 1e-9  # the loss is convex, and no constant beats the best one
    points = np.array(score["points"])
    assert score["below"] == pytest.approx(np.mean(points[:, 0] <= points[:, 1]))


def pinball(y, b, q):
    return np.maximum(q * (y - b), (1 - q) * (b - y)).mean()


def test_the_score_of_a_constant_is_that_of_scikit_learn():
    y = RNG.poisson(np.exp(1 + 0.5 * X[:, 0])).astype(float)
    report = MKLRegressor(KERNELS, loss="poisson", C=1.0).fit(X, y).report(X, y, cv=HALVES, **OPTIONS)
    score = report.facts["score"]
    assert score["measure"] == "D² of the Poisson deviance" and report.facts["model"]["quantile"] is None
    wanted = [d2_tweedie_score(y[test], np.full(30, y[train].mean()), power=1) for train, test in HALVES]
    np.testing.assert_allclose(score["baseline_folds"], wanted, atol=1e-6)
    assert score["mean"] > score["baseline"]
    y = np.round(X[:, 0], 1)
    report = MKLRegressor(KERNELS, loss="quantile", C=1.0).fit(X, y).report(X, y, cv=HALVES, **OPTIONS)
    wanted = [d2_pinball_score(y[test], np.full(30, np.median(y[train]))) for train, test in HALVES]
    np.testing.assert_allclose(report.facts["score"]["baseline_folds"], wanted, atol=0.05)


@pytest.mark.parametrize("loss, ratio", [("cox", "hazard ratio"), ("log_time", "time ratio")])
def test_covariates_have_a_table_with_their_ratios(loss, ratio):
    age, site = RNG.normal(size=60), np.array(["north", "south"])[np.arange(60) % 2]
    time = np.exp(-X[:, 0] - 0.5 * age + 0.3 * RNG.normal(size=60))
    y = np.array(list(zip(RNG.random(60) < 0.8, time, strict=True)), dtype=[("event", bool), ("time", float)])
    covariates = {"age": age, "site": site}
    model = MKLSurvival(KERNELS, loss=loss, C=1.0).fit(X, y, covariates=covariates)
    found = model.report(X, y, covariates=covariates, cv=2, **OPTIONS).facts["model"]["covariates"]
    assert found["ratio"] == ratio and found["names"] == ["age", "site=south"]
    np.testing.assert_allclose(found["coefficients"], model.covariate_coef_)


def test_numbers_have_coefficients_without_ratios():
    age = RNG.normal(size=60)
    model = MKLRegressor(KERNELS, C=1.0).fit(X, X[:, 0] + 2 * age, covariates={"age": age})
    facts = model.report(X, X[:, 0] + 2 * age, covariates={"age": age}, cv=2, **OPTIONS).facts
    assert facts["model"]["covariates"]["ratio"] == ""
