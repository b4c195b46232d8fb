"""Relevance with covariates: what a source is worth beyond them."""

import numpy as np
import pandas as pd
import pytest

from manykernels import MKLClassifier, MKLRegressor
from manykernels.inspect import relevance
from manykernels.inspect.displays.decision_display import DecisionDisplay
from manykernels.kernels import Linear

KERNELS = [("genes", Linear(), [0, 1, 2]), ("proteins", Linear(), [3, 4, 5])]


def planted(seed, n=160):
    """(X, y, classes, covariates): y depends on genes and on the batch; proteins measure the batch alone."""
    rng = np.random.default_rng(seed)
    batch = rng.integers(0, 3, n)
    shift = rng.normal(size=(3, 3)) + 2 * np.eye(3)
    X = np.hstack([rng.normal(size=(n, 3)), shift[batch] + 0.3 * rng.normal(size=(n, 3))])
    y = 1.5 * X[:, 0] + np.array([-2.0, 0.0, 2.0])[batch] + 0.4 * rng.normal(size=n)
    return X, y, (y > 0).astype(int), pd.DataFrame({"batch": np.array(list("abc"))[batch]})


def test_folds_keep_covariates_in_their_order_and_other_measures_too():
    """Covariates as a frame and as numbers give the same measures; scores of folds are those of refitted models."""
    X, y, _, Z = planted(3, n=80)
    numbers = pd.get_dummies(Z.batch, drop_first=True).to_numpy(float)
    splits = [(np.arange(40), np.arange(40, 80)), (np.arange(40, 80), np.arange(40))]
    one, other = (
        relevance(MKLRegressor(KERNELS, C=1.0), X, y, cv=splits, covariates=z, n_permutations=2) for z in (Z, numbers)
    )
    np.testing.assert_allclose(one.score_without, other.score_without, atol=1e-3)
    np.testing.assert_allclose(one.score_alone_permuted, other.score_alone_permuted, atol=1e-3)
    for k, (train, test) in enumerate(splits):
        model = MKLRegressor(KERNELS, C=1.0).fit(X[train], y[train], covariates=Z.iloc[train])
        assert one.score_all[k] == pytest.approx(model.score(X[test], y[test], covariates=Z.iloc[test]), abs=1e-3)


def test_parts_of_covariates_are_shown_about_their_mean():
    X, _, label, Z = planted(1, n=60)
    model = MKLClassifier(KERNELS, C=1.0).fit(X, label, covariates=Z)
    display = DecisionDisplay.from_estimator(model, X, [3, 5], covariates=Z)
    parts = model.decision_parts(X, covariates=Z)
    mean = parts[:, -1].mean()  # which the intercept holds
    parts[:, -1] -= mean
    np.testing.assert_allclose(display.parts, parts[[3, 5]], atol=1e-10)
    np.testing.assert_allclose(display.intercept, model.intercept_[0] + mean)


def test_a_covariate_that_varies_without_weight_alone_is_dropped():
    """Examples of weight 0 do not count: the measures are those without this covariate."""
    X, y, _, Z = planted(3, n=60)
    weight = np.where(np.arange(60) % 5 == 0, 0.0, 1.0)
    both = Z.assign(site=np.where(weight > 0, 1.0, np.arange(60.0)))
    given = dict(cv=2, sample_weight=weight, n_permutations=1, kernels=False)
    expected = relevance(MKLRegressor(KERNELS, C=1.0), X, y, covariates=Z, **given)
    with pytest.warns(UserWarning, match="covariates: dropped 'site'"):
        found = relevance(MKLRegressor(KERNELS, C=1.0), X, y, covariates=both, **given)
    np.testing.assert_allclose(found.score_nothing, expected.score_nothing, atol=1e-6)
    np.testing.assert_allclose(found.score_without, expected.score_without, atol=1e-6)
