"""The public contract: attributes, shapes, and life inside scikit-learn."""

import copy
from dataclasses import replace

import numpy as np
import pytest
from agreement import assert_models_agree
from sklearn.datasets import load_breast_cancer, load_iris, make_regression
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from manykernels import MKLClassifier, MKLOneClass, MKLRegressor, solvers
from manykernels.kernels import RBF, Linear

KERNELS = [("wide", RBF(gamma=0.02)), ("narrow", RBF(gamma=0.5)), ("first", Linear(), [0, 1])]


@pytest.fixture(scope="module")
def cancer():
    X, y = load_breast_cancer(return_X_y=True)
    return StandardScaler().fit_transform(X)[:150], np.array(["malignant", "benign"])[y[:150]]


@pytest.fixture(scope="module")
def iris():
    X, y = load_iris(return_X_y=True)
    return X, np.array(["setosa", "versicolor", "virginica"])[y]


def test_binary_attributes(cancer):
    X, y = cancer
    clf = MKLClassifier(KERNELS).fit(X, y)
    n_support = len(clf.support_)
    assert clf.kernel_names_ == ["wide", "narrow", "first"]
    assert clf.kernel_weights_.shape == (3,) and (clf.kernel_weights_ >= 0).all()
    assert np.linalg.norm(clf.kernel_weights_) == pytest.approx(1)
    assert clf.dual_coef_.shape == (1, n_support) and clf.intercept_.shape == (1,)
    assert 0 < n_support < len(X) and clf.dual_coef_.sum() == pytest.approx(0, abs=1e-6)
    assert 0 <= clf.duality_gap_ <= clf.tol and clf.objective_ > 0 and clf.n_iter_ >= 1
    assert clf.history_[-1]["gap"] <= clf.tol
    assert clf.n_features_in_ == 30 and list(clf.classes_) == ["benign", "malignant"]
    assert clf.decision_function(X).shape == (150,)
    np.testing.assert_array_equal(clf.predict(X), clf.classes_[(clf.decision_function(X) > 0).astype(int)])
    assert clf.score(X, y) > 0.95


def test_one_vs_rest_is_the_binary_problems_side_by_side(iris):
    X, y = iris
    many = MKLClassifier(KERNELS, tol=1e-6, C=1.0).fit(X, y)
    one = [MKLClassifier(KERNELS, tol=1e-6, C=1.0).fit(X, np.where(y == k, "yes", "no")) for k in many.classes_]
    np.testing.assert_allclose(many.kernel_weights_, [m.kernel_weights_ for m in one], atol=1e-6)
    assert many.objective_ == pytest.approx(sum(m.objective_ for m in one))
    assert many.duality_gap_ == pytest.approx(max(m.duality_gap_ for m in one))


def test_parts_and_combined_kernel_explain_the_decision(cancer):
    X, y = cancer
    clf = MKLClassifier(KERNELS, C=1.0, regularizer=1.5).fit(X[:100], y[:100])
    decision = clf.decision_function(X[100:])
    np.testing.assert_allclose(clf.decision_parts(X[100:]).sum(axis=1) + clf.intercept_, decision, atol=1e-4)
    K = clf.combined_kernel(X[100:], X[:100])
    np.testing.assert_allclose(K[:, clf.support_] @ clf.dual_coef_[0] + clf.intercept_, decision, atol=1e-4)
    svc = SVC(kernel="precomputed").fit(clf.combined_kernel(X[:100]), y[:100])
    assert np.mean(svc.predict(K) == clf.predict(X[100:])) > 0.95


def test_regressor_and_one_class_attributes(cancer):
    X, y = make_regression(80, 5, random_state=0)
    reg = MKLRegressor(KERNELS, C=100).fit(X, y)
    assert reg.predict(X).shape == (80,) and reg.score(X, y) > 0.8 and not hasattr(reg, "decision_function")
    one = MKLOneClass(KERNELS[:2], regularizer=2, nu=0.2).fit(X)
    np.testing.assert_allclose(one.score_samples(X) - one.offset_, one.decision_function(X))
    assert set(one.fit_predict(X)) == {-1, 1}
    assert one.dual_coef_.sum() == pytest.approx(1)
    assert abs(np.mean(one.predict(X) < 0) - 0.2) < 0.1


def test_warm_start_begins_where_the_last_fit_ended(cancer):
    X, y = cancer
    clf = MKLClassifier(KERNELS, warm_start=True, tol=1e-5).fit(X, y)
    first = copy.copy(clf)
    clf.set_params(tol=1e-3).fit(X, y)  # where the gap is 1e-5 already, whatever rounding adds
    assert clf.n_iter_ <= min(first.n_iter_, 2)
    assert_models_agree(clf, first, X)
    clf.set_params(tol=1e-5).fit(X[:100], y[:100])  # another size: begins afresh
    assert clf.duality_gap_ <= 1e-5


def test_models_of_several_classes_speak_of_all_of_them(iris):
    X, seen = iris[0], []
    y = np.unique(iris[1], return_inverse=True)[1]
    for labels in (y, 2 - y, (y + 1) % 3):  # whichever class takes the most steps
        clf = MKLClassifier(KERNELS, tol=1e-6, solver="analytic", C=1.0).fit(X, labels)
        steps = [sum(h["class"] == k for h in clf.history_) for k in clf.classes_]
        seen.append(steps)
        assert clf.n_iter_ == max(steps)
    assert any(steps[0] < max(steps) for steps in seen)
    theta = clf.kernel_weights_.mean(axis=0)
    assert np.ptp(clf.kernel_weights_, axis=0).max() > 0.01
    one = [copy.copy(clf) for _ in theta]
    for m, model in enumerate(one):
        model.kernel_weights_ = np.eye(len(theta))[m]
    expected = sum(t * model.combined_kernel(X[:9], X) for t, model in zip(theta, one, strict=True))
    np.testing.assert_allclose(clf.combined_kernel(X[:9], X), expected, rtol=1e-9)


def test_every_class_begins_where_its_own_last_fit_ended(iris):
    X, y = iris
    clf = MKLClassifier(KERNELS, warm_start=True, tol=1e-6, C=10).fit(X, y)
    clf.set_params(tol=1e-3).fit(X, y)
    assert {k: sum(h["class"] == k for h in clf.history_) for k in clf.classes_} == dict.fromkeys(clf.classes_, 1)


@pytest.mark.parametrize("loss", ["hinge", "logistic", "squared_hinge", "smooth_hinge"])
def test_warm_start_after_a_change_finds_the_new_optimum(cancer, loss):
    X, y = cancer
    clf = MKLClassifier(KERNELS, loss=loss, warm_start=True, tol=1e-5, C=1.0).fit(X, y)
    other = X[:, 3] > 0
    for C, labels in ((0.01, y), (2.0, y), (2.0, other)):
        cold = MKLClassifier(KERNELS, loss=loss, C=C, tol=1e-5).fit(X, labels)
        clf.set_params(C=C).fit(X, labels)
        assert clf.objective_ == pytest.approx(cold.objective_, rel=2e-5)


def test_one_class_warm_start_after_a_change_of_nu(cancer):
    X, _ = cancer
    clf = MKLOneClass(KERNELS, regularizer=2, nu=0.1, warm_start=True, tol=1e-5).fit(X)
    cold = MKLOneClass(KERNELS, regularizer=2, nu=0.9, tol=1e-5).fit(X)
    assert clf.set_params(nu=0.9).fit(X).objective_ == pytest.approx(cold.objective_, rel=1e-4)


def test_non_convergence_is_a_warning_with_the_gap(cancer):
    X, y = cancer
    with pytest.warns(ConvergenceWarning, match="duality gap of .* raise max_iter"):
        clf = MKLClassifier(KERNELS, tol=1e-10, max_iter=1).fit(X, y)
    assert clf.duality_gap_ > 1e-10


@pytest.mark.parametrize("gap", [0.5, np.nan])
def test_the_warning_and_the_gap_agree_whichever_class_falls_short(iris, monkeypatch, gap):
    X, y = iris
    solve, calls = solvers.solve, []

    def short(*args, **options):
        calls.append(solve(*args, **options))
        return replace(calls[-1], gap=gap, converged=False) if len(calls) == 2 else calls[-1]

    monkeypatch.setattr(solvers, "solve", short)
    with pytest.warns(ConvergenceWarning, match=f"gap of {gap:.2e}.* steps, class versicolor: it no longer improves"):
        clf = MKLClassifier(KERNELS, C=1.0).fit(X, y)
    assert not clf.duality_gap_ <= clf.tol


def test_a_kernel_whose_variance_is_small_beside_its_mean_is_kept():
    """In float32 a column far from zero has no variance left; the check goes back to float64."""
    rng = np.random.default_rng(0)
    X = np.c_[2000 + rng.normal(size=1100), rng.normal(size=1100)]
    y = X[:, 0] > 2000
    model = MKLClassifier([("year", Linear(), [0]), ("other", RBF(gamma=1.0), [1])]).fit(X, y)
    assert model.kernel_weights_[0] > 0.5 and model.score(X, y) > 0.95
