"""Quantiles and counts through the estimators."""

import numpy as np
import pytest
from sklearn.linear_model import PoissonRegressor, QuantileRegressor
from sklearn.metrics import d2_pinball_score, d2_tweedie_score

from manykernels import MKLRegressor, MKLRegressorCV, losses
from manykernels.inspect import relevance
from manykernels.kernels import RBF, Linear

RNG = np.random.default_rng(0)
X = RNG.normal(size=(120, 4))
Y = X[:, 0] + 0.5 * RNG.normal(size=120)
COUNTS = RNG.poisson(np.exp(0.5 + 0.6 * X[:, 0])).astype(float)
WEIGHT = np.where(np.arange(120) % 4, RNG.uniform(0.1, 3.0, 120), 0.0)
KERNELS = [("signal", RBF(gamma=0.3), [0, 1]), ("noise", RBF(gamma=0.3), [2, 3])]


@pytest.mark.parametrize("q", [0.1, 0.9])
def test_a_share_q_of_the_targets_lies_below_the_quantile(q):
    model = MKLRegressor(KERNELS, loss="quantile", q=q, C=10.0).fit(X, Y)
    assert model.duality_gap_ <= 1e-3
    assert np.mean(model.predict(X) > Y) == pytest.approx(q, abs=0.06)
    for weight in (None, WEIGHT):
        expected = d2_pinball_score(Y, model.predict(X), sample_weight=weight, alpha=q)
        assert model.score(X, Y, weight) == pytest.approx(expected, abs=0.01)


def test_one_linear_kernel_without_penalty_is_quantile_regression():
    model = MKLRegressor([Linear()], normalize=None, loss="quantile", q=0.8, C=1e4, tol=1e-7).fit(X, Y)
    other = QuantileRegressor(quantile=0.8, alpha=0.0).fit(X, Y)
    pinball = losses.Quantile(0.8).value
    assert pinball(Y, model.predict(X)).sum() == pytest.approx(pinball(Y, other.predict(X)).sum(), rel=1e-4)


def test_one_linear_kernel_is_ridge_poisson_regression():
    """scikit-learn minimises the mean of half the deviance + ½ alpha ‖w‖²: alpha = 1 / (C n)."""
    model = MKLRegressor([Linear()], normalize=None, loss="poisson", C=0.5, tol=1e-9).fit(X, COUNTS)
    other = PoissonRegressor(alpha=1 / (0.5 * len(X)), tol=1e-10, max_iter=1000).fit(X, COUNTS)
    np.testing.assert_allclose(model.predict(X), other.predict(X), rtol=1e-4)
    for weight in (None, WEIGHT):
        expected = d2_tweedie_score(COUNTS, model.predict(X), sample_weight=weight, power=1)
        assert model.score(X, COUNTS, weight) == pytest.approx(expected, abs=1e-9)


def test_defaults_choose_C_and_certify():
    for loss, y in (("quantile", Y), ("poisson", COUNTS)):
        model = MKLRegressor(KERNELS, loss=loss).fit(X, y)
        assert model.duality_gap_ <= 1e-3 and model.C_ in model.C_scores_["C"] and model.score(X, y) > 0.2


def test_searches_and_relevance_score_by_the_loss_itself():
    search = MKLRegressorCV(KERNELS, loss="poisson", Cs=[0.1, 1.0], regularizer=[2], cv=3).fit(X, COUNTS)
    model = MKLRegressor(KERNELS, loss="poisson", C=search.C_)
    rows = [np.arange(len(X)) % 3 != 0, np.arange(len(X)) % 3 == 0]
    part = model.fit(X[rows[0]], COUNTS[rows[0]])
    expected = d2_tweedie_score(COUNTS[rows[1]], part.predict(X[rows[1]]), power=1)
    assert part.score(X[rows[1]], COUNTS[rows[1]]) == pytest.approx(expected, abs=1e-9)
    found = relevance(model, X, COUNTS, cv=3)
    assert found.scoring == "D² of the Poisson deviance"
    first, second = sorted(found.table(), key=lambda row: row["name"] != "signal")[:2]
    assert first["name"] == "signal" and first["relevance"] > second["relevance"]


@pytest.mark.parametrize(
    ("options", "y", "message"),
    [
        (dict(loss="poisson"), COUNTS - 1, "negative value -1.*squared"),
        (dict(loss="poisson"), 0 * COUNTS, "y is 0 for every example.*y > 0"),
        (dict(loss="quantile", q=1.2), Y, "q=1.2 must be a number with 0 < q < 1"),
        (dict(loss="huber", q=0.9), Y, "q=0.9 has no effect with loss='huber'.*loss='quantile'"),
        (dict(loss=losses.Quantile(0.3), q=0.9), Y, "q=0.9 has no effect"),
    ],
)
def test_bad_input_is_named_with_its_cure(options, y, message):
    with pytest.raises(ValueError, match=message):
        MKLRegressor(KERNELS, C=1.0, **options).fit(X, y)


@pytest.mark.parametrize("q", [0.3, 0.9])
def test_the_quantile_of_any_q_equals_the_conic_program(q):
    from conic import solve_conic

    from manykernels.banks import DenseBank
    from manykernels.problem import Problem
    from manykernels.regularizers import LpNorm
    from manykernels.solvers import solve
    from problems import make

    Ks, y = make(real=True)
    problem = Problem(DenseBank(np.moveaxis(Ks, 0, 2), normalize=None), y, losses.Quantile(q), LpNorm(2), 2.0)
    found = solve(problem, tol=1e-7)
    assert found.converged
    assert found.primal == pytest.approx(solve_conic(Ks, y, "quantile", 2, C=2.0, q=q)["objective"], rel=1e-6)
