"""The same models as scikit-survival and lifelines, where they are installed."""

import numpy as np
import pytest

from manykernels import MKLSurvival, survival_targets
from manykernels.datasets import make_survival
from manykernels.kernels import RBF, Linear

VIEWS, Y = make_survival(150, seed=3)
X = VIEWS["clinical"]
TIES = survival_targets(Y["event"], np.ceil(Y["time"] / 100))


@pytest.mark.parametrize("ties", ["efron", "breslow"])
def test_one_linear_kernel_is_ridge_cox_of_scikit_survival(ties):
    """It minimises ½ alpha ‖w‖² minus the logarithm of the partial likelihood: alpha = 1 / C."""
    linear_model = pytest.importorskip("sksurv.linear_model")
    other = linear_model.CoxPHSurvivalAnalysis(alpha=2.0, ties=ties, tol=1e-12, n_iter=500).fit(X, TIES)
    model = MKLSurvival([Linear()], normalize=None, C=0.5, ties=ties, tol=1e-10).fit(X, TIES)
    np.testing.assert_allclose(model.predict(X) - model.predict(0 * X), X @ other.coef_, atol=1e-4)
    assert model.score(X, TIES) == pytest.approx(other.score(X, TIES), abs=1e-12)
    if ties == "breslow":  # its baseline is Breslow's for both
        theirs = other.predict_survival_function(X, return_array=True)
        np.testing.assert_array_equal(model.unique_times_, other.unique_times_)
        np.testing.assert_allclose(model.predict_survival_function(X, return_array=True), theirs, atol=1e-4)
        times = TIES["time"][:5]
        functions = model.predict_survival_function(X[:3])
        for own, there in zip(functions, other.predict_survival_function(X[:3]), strict=True):
            np.testing.assert_allclose(own(times), there(times), atol=1e-4)
        hazards = other.predict_cumulative_hazard_function(X, return_array=True)
        np.testing.assert_allclose(model.predict_cumulative_hazard_function(X, return_array=True), hazards, atol=1e-3)


def test_scores_of_scikit_survival_take_the_predictions():
    metrics = pytest.importorskip("sksurv.metrics")
    model = MKLSurvival([(name, RBF("scale"), name) for name in VIEWS], C=0.1).fit(VIEWS, Y)
    found = metrics.concordance_index_censored(Y["event"], Y["time"], model.predict(VIEWS))[0]
    assert model.score(VIEWS, Y) == pytest.approx(found, abs=1e-12)
    times = np.quantile(Y["time"], np.linspace(0.1, 0.8, 20))
    functions = model.predict_survival_function(VIEWS)
    brier = metrics.integrated_brier_score(Y, Y, np.array([function(times) for function in functions]), times)
    flat = np.tile([np.mean(Y["time"] > t) for t in times], (len(Y), 1))
    assert brier < metrics.integrated_brier_score(Y, Y, flat, times)
