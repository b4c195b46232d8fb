"""Empirical Bayes models know their own error: standard deviations and probabilities from the Gaussian posterior."""

import warnings

import numpy as np
import pytest
from scipy.stats import norm
from sklearn.datasets import load_iris
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF as GaussianRBF
from sklearn.gaussian_process.kernels import ConstantKernel
from sklearn.kernel_approximation import RBFSampler

from manykernels import MKLClassifier, MKLRegressor
from manykernels.kernels import RBF, Features, Identity, Linear
from manykernels.regularizers import EmpiricalBayes

GAMMAS = 0.3, 1.0
rng = np.random.default_rng(0)
X = rng.normal(size=(90, 3))
y = np.sin(2 * X[:, 0]) + 0.3 * X[:, 1] + 0.2 * rng.normal(size=90)
NEW = rng.normal(size=(25, 3))
OPTIONS = dict(regularizer=EmpiricalBayes("learn"), loss="squared")


def dense_formula(model, X, weight=None):
    """The variance at NEW by the textbook's formula, from the model's weights and noise alone."""
    everything = np.vstack([X, NEW])
    K, n = model.combined_kernel(everything), len(X)
    inner = K[:n, :n] + model.noise_ * np.diag(1 / (np.ones(n) if weight is None else weight))
    return np.diag(K[n:, n:] - K[n:, :n] @ np.linalg.solve(inner, K[:n, n:]))


@pytest.mark.parametrize("normalize", ["multiplicative", "spherical", "trace", None])
@pytest.mark.parametrize("intercept", [True, False])
def test_the_standard_deviation_is_the_dense_formulas(normalize, intercept):
    kernels = [RBF(gamma=0.3), ("one", RBF(gamma=1.0), [0]), Linear(), Identity()]
    model = MKLRegressor(kernels, normalize=normalize, fit_intercept=intercept, **OPTIONS).fit(X, y)
    mean, std = model.predict(NEW, return_std=True)
    np.testing.assert_array_equal(mean, model.predict(NEW))
    np.testing.assert_allclose(std**2, dense_formula(model, X), rtol=1e-8)


def test_mean_and_deviation_are_those_of_scikit_learns_gaussian_process():
    Y = np.c_[y, X[:, 1] + 0.1 * rng.normal(size=90)]
    for target in (y, Y):
        model = MKLRegressor([RBF(gamma=g) for g in GAMMAS], normalize=None, **OPTIONS).fit(X, target)
        kernel = sum(
            (ConstantKernel(t) * GaussianRBF(1 / np.sqrt(2 * g)) for t, g in zip(model.kernel_weights_, GAMMAS,
             strict=True) if t > 0), start=ConstantKernel(1e-300),
        )  # fmt: skip
        middle = target.mean(axis=0)
        peer = GaussianProcessRegressor(kernel, alpha=model.noise_, optimizer=None).fit(X, target - middle)
        (mean, std), (peer_mean, peer_std) = (m.predict(NEW, return_std=True) for m in (model, peer))
        assert mean.shape == std.shape == (25, *target.shape[1:])
        np.testing.assert_allclose(mean, peer_mean + middle, atol=1e-8)
        np.testing.assert_allclose(std, peer_std, rtol=1e-6)


def test_weights_of_the_examples_are_their_precisions():
    weight = rng.integers(0, 4, 90)
    rows = np.repeat(np.arange(90), weight)
    kernels = [RBF(gamma=0.5), Linear()]
    model = MKLRegressor(kernels, regularizer=EmpiricalBayes(0.04), loss="squared", tol=1e-7)
    weighted = model.fit(X, y, sample_weight=weight).predict(NEW, return_std=True)
    np.testing.assert_array_equal(model.support_, np.flatnonzero(weight))
    np.testing.assert_array_equal(model.support_weight_, weight[weight > 0])
    used = weight > 0
    np.testing.assert_allclose(weighted[1] ** 2, dense_formula(model, X[used], weight[used]), rtol=1e-8)
    copied = model.fit(X[rows], y[rows]).predict(NEW, return_std=True)
    np.testing.assert_allclose(weighted, copied, atol=1e-4)


def test_an_example_without_a_residual_still_counts():
    """a = (y − b) / σ² is 0 exactly where no kernel explains anything and y is its mean."""
    flat = np.r_[np.tile([1.0, -1.0], 20), 0.0]
    model = MKLRegressor([RBF(gamma=50.0)], regularizer=EmpiricalBayes(100.0), loss="squared", normalize=None)
    model.fit(rng.normal(size=(41, 3)), flat)
    assert len(model.support_) == 41 == len(model.support_weight_)


@pytest.mark.parametrize("multi_class", ["ovr", "shared"])
def test_probabilities_are_those_of_a_positive_label(multi_class):
    A, labels = load_iris(return_X_y=True)
    model = MKLClassifier([RBF(gamma=0.3), Linear()], multi_class=multi_class, **OPTIONS)
    P = model.fit(A, labels == 1).predict_proba(A)
    K = model.combined_kernel(A)
    variance = np.diag(K - K @ np.linalg.solve(K + model.noise_ * np.eye(150), K)) + model.noise_
    np.testing.assert_allclose(P[:, 1], norm.cdf(model.decision_function(A) / np.sqrt(variance)), atol=1e-7)
    np.testing.assert_array_equal(P.argmax(axis=1), model.predict(A))
    P = model.fit(A, labels).predict_proba(A)
    np.testing.assert_allclose(P.sum(axis=1), 1.0)
    assert P.shape == (150, 3) and np.mean(P.argmax(axis=1) == labels) > 0.95


def test_a_learned_noise_of_nothing_is_told_of():
    """Labels without contradictions and a kernel that is nearly the identity, which does the noise's work."""
    A, labels = load_iris(return_X_y=True)
    A, first = np.unique(A, axis=0, return_index=True)
    model = MKLClassifier([RBF(gamma=0.3), RBF(gamma=300.0)], **OPTIONS)
    with pytest.warns(UserWarning, match="has converged, class .*noise.*floor.*give noise="):
        model.fit(A, labels[first])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.set_params(regularizer=EmpiricalBayes(0.05)).fit(A, labels[first])


def test_what_has_no_posterior_names_the_cure():
    with pytest.raises(ValueError, match="return_std=True needs.*regularizer=2.*EmpiricalBayes"):
        MKLRegressor([RBF(gamma=1.0)]).fit(X, y).predict(X, return_std=True)
    S = np.stack([k(X) for k in (RBF(gamma=0.5), Linear())], axis=2)
    with pytest.raises(ValueError, match="the posterior variance needs.*'precomputed'.*manykernels.kernels"):
        MKLRegressor("precomputed", **OPTIONS).fit(S, y).predict(S, return_std=True)
    random = MKLRegressor([Features(RBFSampler(random_state=0)), Linear()], **OPTIONS).fit(X, y)
    assert (random.predict(NEW, return_std=True)[1] > 0).all()


@pytest.mark.parametrize("C", [0.2, 12.5])
def test_c_sets_the_noise_and_not_the_weights_of_the_examples(C):
    """C = 1/(2σ²)."""
    weight = rng.integers(1, 4, 90)
    kernels = [RBF(gamma=0.5), Linear()]
    model = MKLRegressor(kernels, regularizer=EmpiricalBayes(), C=C, loss="squared").fit(X, y, sample_weight=weight)
    std = model.predict(NEW, return_std=True)[1]
    assert model.noise_ == pytest.approx(1 / (2 * C))
    np.testing.assert_allclose(std**2, dense_formula(model, X, weight), rtol=1e-8)
