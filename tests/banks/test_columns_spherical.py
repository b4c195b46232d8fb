"""Kernels of one column with spherical normalisation: small k(x, x) beside large ones keep their digits."""

import numpy as np
import pytest

from manykernels import MKLClassifier
from manykernels.kernels import Polynomial


@pytest.fixture(scope="module")
def spread():
    """Two columns over several orders of magnitude, as incomes and counts have, and their kernels by the formula."""
    rng = np.random.default_rng(0)
    X = np.exp(2 * rng.normal(size=(900, 2)))
    X[0] *= 30
    y = np.log(X[:, 0]) + 0.3 * rng.normal(size=900) > 0
    kernels = [(f"cube {j}", Polynomial(degree=3, gamma=1.0, coef0=1.0), [j]) for j in range(2)]
    grams = [(np.outer(x, x) + 1) ** 3 for x in X.T]
    return X, y, kernels, [K / np.sqrt(np.outer(K.diagonal(), K.diagonal())) for K in grams]


@pytest.mark.parametrize("memory_limit", [None, "2MB"])
def test_parts_and_objective_are_those_of_the_formulas(spread, memory_limit):
    """Issue 11, second generator: parts were off by 1e-2, and with blocks of kernels the objective by 1e-4."""
    X, y, kernels, grams = spread
    model = MKLClassifier(kernels, normalize="spherical", memory_limit=memory_limit, C=1.0).fit(X, y)
    a = np.zeros(len(X))
    a[model.support_] = model.dual_coef_[0]
    theta = model.kernel_weights_
    parts = np.stack([t * s * (K @ a) for t, s, K in zip(theta, model.kernel_scale_, grams, strict=True)], axis=1)
    np.testing.assert_allclose(model.decision_parts(X), parts, rtol=0, atol=1e-9 * np.abs(a).sum())
    f = parts.sum(axis=1) + model.intercept_[0]
    norms = 0.5 * sum(part @ a for part in parts.T)
    assert model.objective_ == pytest.approx(np.maximum(0, 1 - np.where(y, f, -f)).sum() + norms, rel=1e-8)
