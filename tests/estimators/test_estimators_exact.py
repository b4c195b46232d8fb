"""Equal to scikit-learn where the problems coincide; sample weights mean copies."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.datasets import make_classification, make_regression
from sklearn.kernel_ridge import KernelRidge
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR, OneClassSVM

from manykernels import MKLClassifier, MKLOneClass, MKLRegressor
from manykernels.kernels import RBF, Features, Laplacian, Linear, Polynomial

TOL = dict(tol=1e-8, normalize=None)
BANKS = {
    "one kernel": ([RBF(gamma=0.2)], 2),
    "plain sum": ([RBF(gamma=0.2), RBF(gamma=0.02), Linear()], np.inf),
}


@pytest.fixture(scope="module")
def classes():
    return make_classification(70, 5, n_informative=4, n_redundant=0, random_state=0)


@pytest.fixture(scope="module")
def reals():
    X, y = make_regression(60, 4, noise=5, random_state=0)
    return X, y / 50


@pytest.mark.parametrize("kernels, p", BANKS.values(), ids=BANKS)
class TestEqualToScikitLearn:
    def total(self, kernels, X):
        return sum(k(X) for k in kernels)

    def test_svc(self, kernels, p, classes):
        X, y = classes
        ours = MKLClassifier(kernels, regularizer=p, C=3.0, **TOL).fit(X, y)
        theirs = SVC(C=3.0, kernel="precomputed", tol=1e-10).fit(self.total(kernels, X), y)
        decision = theirs.decision_function(self.total(kernels, X))
        np.testing.assert_allclose(ours.decision_function(X), decision, atol=1e-3)
        np.testing.assert_allclose(ours.kernel_weights_, 1)

    def test_svr(self, kernels, p, reals):
        X, y = reals
        ours = MKLRegressor(kernels, regularizer=p, C=3.0, loss="epsilon_insensitive", epsilon=0.2, **TOL).fit(X, y)
        theirs = SVR(C=3.0, epsilon=0.2, kernel="precomputed", tol=1e-10).fit(self.total(kernels, X), y)
        np.testing.assert_allclose(ours.predict(X), theirs.predict(self.total(kernels, X)), atol=1e-3)

    def test_kernel_ridge(self, kernels, p, reals):
        X, y = reals
        ours = MKLRegressor(kernels, regularizer=p, loss="squared", C=2.0, fit_intercept=False, **TOL).fit(X, y)
        theirs = KernelRidge(alpha=1 / 4, kernel="precomputed").fit(self.total(kernels, X), y)
        np.testing.assert_allclose(ours.predict(X), theirs.predict(self.total(kernels, X)), atol=1e-3)

    def test_least_squares_classifier(self, kernels, p, classes):
        X, y = classes
        options = dict(regularizer=p, loss="squared", C=2.0, fit_intercept=False)
        ours = MKLClassifier(kernels, **options, **TOL).fit(X, y)
        theirs = KernelRidge(alpha=1 / 4, kernel="precomputed").fit(self.total(kernels, X), 2.0 * y - 1)
        np.testing.assert_allclose(ours.decision_function(X), theirs.predict(self.total(kernels, X)), atol=1e-3)

    def test_one_class_svm(self, kernels, p, reals):
        X, _ = reals
        ours = MKLOneClass(kernels, regularizer=p, nu=0.3, **TOL).fit(X)
        theirs = OneClassSVM(nu=0.3, kernel="precomputed", tol=1e-10).fit(self.total(kernels, X))
        scaled = ours.decision_function(X) * 0.3 * len(X)
        np.testing.assert_allclose(scaled, theirs.decision_function(self.total(kernels, X)), atol=1e-3)


def test_the_default_of_one_class_is_the_machine_of_the_sum_of_kernels_of_equal_size(reals):
    """Learned weights lie on the widest kernel, and unit variance makes it larger still."""
    X, _ = reals
    kernels = [RBF(gamma=0.01), RBF(gamma=1.0)]
    ours = MKLOneClass(kernels, nu=0.3, tol=1e-8).fit(X)
    K = sum(kernel(X) for kernel in kernels)
    theirs = OneClassSVM(nu=0.3, kernel="precomputed", tol=1e-10).fit(K)
    np.testing.assert_allclose(ours.decision_function(X) * 0.3 * len(X), theirs.decision_function(K), atol=1e-3)
    learned = MKLOneClass(kernels, nu=0.3, regularizer=2, normalize="multiplicative").fit(X)
    assert learned.kernel_weights_[0] > 5 * learned.kernel_weights_[1]


def copies(X, y, weight):
    rows = np.repeat(np.arange(len(X)), weight)
    return X[rows], y[rows]


MODELS = {
    "hinge": MKLClassifier(C=1.0, tol=1e-8),
    "logistic": MKLClassifier(loss="logistic", C=1.0, tol=1e-8),
    "squared_hinge balanced": MKLClassifier(loss="squared_hinge", class_weight="balanced", C=1.0, tol=1e-8),
    "epsilon_insensitive": MKLRegressor(loss="epsilon_insensitive", C=1.0, tol=1e-8),
    "squared": MKLRegressor(loss="squared", C=1.0, tol=1e-8),
    "huber": MKLRegressor(loss="huber", C=1.0, tol=1e-8),
    "squared classes": MKLClassifier(loss="squared", class_weight="balanced", C=1.0, tol=1e-8),
    "one_class": MKLOneClass(regularizer=2, tol=1e-8),
    "level_set": MKLOneClass(regularizer=2, formulation="level_set", tol=1e-8),
}


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("precomputed", [False, True])
def test_weight_k_is_k_copies_and_weight_0_is_removal(name, precomputed, classes):
    X, y = classes
    weight = np.random.default_rng(0).integers(0, 4, len(X))
    kernels = [RBF(gamma=0.2), Polynomial(degree=2), Linear()]
    model = MODELS[name].set_params(kernels="precomputed" if precomputed else kernels)
    X2, y2 = copies(X, y, weight)

    def data(A, B):
        return np.stack([k(A, B) for k in kernels], axis=2) if precomputed else A

    def decide(model, train):
        new = data(X, train)
        return model.predict(new) if isinstance(model, MKLRegressor) else model.decision_function(new)

    weighted = decide(model.fit(data(X, X), y, sample_weight=weight), X)
    weights = model.kernel_weights_
    copied = decide(model.fit(data(X2, X2), y2), X2)
    np.testing.assert_allclose(model.kernel_weights_, weights, atol=1e-5)
    np.testing.assert_allclose(weighted, copied, atol=1e-5)


def thin(X):
    return csr_array(np.where(np.abs(X) > 0.5, X, 0.0))


def gaps(X):
    return np.where(np.arange(X.size).reshape(X.shape) % 45 == 0, np.nan, X)  # all in column 0


SCALED = [RBF("scale"), Polynomial(2, gamma="scale"), RBF("scale") + Linear()]
FROM_DATA = {
    "auto": ("auto", np.asarray),
    "auto, sparse": ("auto", thin),
    "scale": ([*SCALED, Laplacian("scale")], np.asarray),
    "scale, sparse": (SCALED, thin),
    "scale, missing": ([("a", RBF("scale"), [0, 1], "zero"), ("b", RBF("scale"), [2, 3, 4])], gaps),
    "features": ([Features(StandardScaler())], np.asarray),
    "features, sparse": ([Features(StandardScaler(with_mean=False))], thin),
}


@pytest.mark.parametrize("kernels, form", FROM_DATA.values(), ids=FROM_DATA)
def test_weights_are_copies_for_parameters_that_come_from_the_data(kernels, form, classes):
    X, y = form(classes[0]), classes[1]
    weight = np.random.default_rng(0).integers(0, 4, len(y))
    rows = np.random.default_rng(1).permutation(np.repeat(np.arange(len(y)), weight))  # wherever the copies stand
    model = MKLClassifier(kernels, tol=1e-10, C=1.0)
    a, b = clone(model).fit(X, y, sample_weight=weight), clone(model).fit(X[rows], y[rows])
    half = clone(model).fit(X, y, sample_weight=0.5 * weight)
    gammas = [[getattr(k, "gamma", 0) for k in m.predictor_.kernel_list.kernels] for m in (a, b, half)]
    np.testing.assert_allclose(gammas[0], gammas[1], rtol=1e-12)
    np.testing.assert_allclose(gammas[0], gammas[2], rtol=1e-12)
    np.testing.assert_allclose(a.kernel_weights_, b.kernel_weights_, atol=1e-5)
    np.testing.assert_allclose(a.decision_function(X), b.decision_function(X), atol=1e-5)


def test_scores_count_examples_by_their_weights(classes):
    X, y = classes
    model, weight = MKLClassifier([Linear()], C=1e-3).fit(X, y), np.random.default_rng(0).integers(0, 4, len(X))
    right = model.predict(X) == y
    assert 0 < right.mean() < 1
    assert model.score(X, y, sample_weight=weight) == pytest.approx(weight @ right / weight.sum(), rel=1e-12)
    assert model.score(X, y, sample_weight=weight) == pytest.approx(model.score(*copies(X, y, weight)), rel=1e-12)
