"""The shares of the kernels in a decision add up to it, and each is that of its kernel in the order of the list."""

import numpy as np
import pytest

from manykernels import MKLRegressor
from manykernels.kernels import Polynomial


@pytest.mark.parametrize("size", [1.0, 1e-6])
def test_parts_of_a_column_of_uneven_examples_are_exact(size):
    """Found by journeys. k(x, x) spans many orders, and spherical normalisation divides by it: nodes would not do."""
    rng = np.random.default_rng(0)
    X = size * np.exp(2 * rng.normal(size=(400, 1))) * rng.choice([-1, 1], size=(400, 1))
    y = np.sin(X[:, 0] / size)
    kernels = [Polynomial(degree=3, coef0=0.0, gamma=0.07), Polynomial(degree=2, coef0=1.0, gamma=1.0)]
    model = MKLRegressor(kernels, loss="squared", normalize="spherical", tol=1e-6).fit(X, y)
    parts, decision = model.decision_parts(X), model.predict(X)
    np.testing.assert_allclose(parts.sum(axis=1) + model.intercept_, decision, atol=1e-6 * np.abs(parts).max())
    Ks = np.stack([kernel(X) / np.sqrt(np.outer(kernel.diag(X), kernel.diag(X))) for kernel in kernels])
    expected = model.kernel_weights_[:, None] * (Ks[:, :, model.support_] @ model.dual_coef_[0])
    np.testing.assert_allclose(parts.T, expected, atol=1e-6 * np.abs(expected).max())
