"""Precomputed kernels of a side that are corrected: at prediction as in the fit."""

import numpy as np
import pytest

from manykernels import MKLRegressor
from manykernels.banks._pair_side import Spectra
from manykernels.pairs import Pairs, Pairwise

rng = np.random.default_rng(0)


def indefinite(n):
    K = rng.normal(size=(n, n))
    return 0.5 * (K + K.T)


@pytest.mark.parametrize("psd", ["clip", "shift"])
def test_known_objects_have_the_values_of_the_fit_and_new_ones_no_shift(psd):
    known, new = np.array([2, 3, 5, 8, 13, 21]), np.array([1, 4, 30])
    matrices = [indefinite(6), indefinite(6) * 1e3, np.eye(6)]
    spectra, fitted = Spectra.of(known, matrices, psd, ["a", "b", "c"])
    assert (spectra.shifts > 0).tolist() == [psd == "shift", psd == "shift", False]
    for which in (np.arange(6), np.array([4, 0, 4]), np.array([], int)):
        for keep in (np.arange(6), np.array([1, 3, 4])):
            found = spectra.apply([K[which] for K in matrices], known[which], known[keep])
            for K, exact in zip(found, fitted, strict=True):
                np.testing.assert_allclose(K, exact[np.ix_(which, keep)], atol=1e-10 * np.abs(exact).max())
    cross = [rng.normal(size=(3, 6)) for _ in matrices]
    for K, raw, U in zip(spectra.apply(cross, new, known), cross, spectra.removed, strict=True):
        np.testing.assert_allclose(K, raw - raw @ U @ U.T, atol=1e-10)


@pytest.mark.parametrize("psd", ["clip", "shift"])
@pytest.mark.parametrize("combine", ["kronecker", "sum", "cartesian"])
def test_what_is_fitted_is_what_is_predicted_at_the_same_pairs(combine, psd):
    """Of least squares the residuals are the dual coefficients, up to one factor: (y − f) C = a."""
    pairs = Pairs.grid(indefinite(7)[..., None], indefinite(6)[..., None])
    pairs = pairs[np.flatnonzero(np.arange(42) % 4)]
    y = rng.normal(size=len(pairs))
    kernels = Pairwise("precomputed", "precomputed", combine=combine, psd=psd)
    model = MKLRegressor(kernels, loss="squared", C=0.7, tol=1e-10).fit(pairs, y)
    a = np.zeros(len(y))
    a[model.support_] = model.dual_coef_[0]
    residual = y - model.predict(pairs)
    factor = (residual @ a) / (a @ a)
    np.testing.assert_allclose(residual, factor * a, atol=1e-4 * np.abs(residual).max())
