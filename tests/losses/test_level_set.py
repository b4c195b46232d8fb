"""One-class problems in their three formulations."""

import cvxpy
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import manykernels
from manykernels import MKLOneClass
from manykernels.kernels import RBF, Constant, Linear, spherical
from manykernels.regularizers import LpNorm, LpSum

KERNELS = [RBF(gamma=0.1), RBF(gamma=1.0), Linear()]


@pytest.fixture(scope="module")
def X():
    rng = np.random.default_rng(0)
    return np.vstack([rng.normal(size=(50, 2)), 4 * rng.normal(size=(5, 2))]) + 1


def test_level_sets_compare_the_score_with_1(X):
    model = MKLOneClass(KERNELS[:2], regularizer=2, formulation="level_set", C=0.2, tol=1e-6).fit(X)
    score = model.score_samples(X)
    assert model.offset_ == 1 and model.intercept_ == -1
    assert_allclose(model.decision_function(X), score - 1)
    assert_allclose(model.decision_parts(X).sum(axis=1), score)
    assert_array_equal(model.predict(X), np.where(score >= 1, 1, -1))
    assert 0 < model.dual_coef_.min() and model.dual_coef_.max() <= 0.2 * (1 + 1e-12)
    a = np.zeros(55)
    a[model.support_] = model.dual_coef_[0]
    assert (a[score < 1 - 1e-2] == 0.2).all() and (a[score > 1 + 1e-2] == 0).all()  # 0.2 = C
    assert_allclose(model.combined_kernel(X) @ a, score, atol=1e-9)


def test_a_level_set_is_a_one_class_svm_scaled_by_its_offset(X):
    """With one kernel, f/ρ of the inner problem with ρ solves the level set at C = 1/(ν n ρ)."""
    kernels = [RBF(gamma=0.5)]
    one = MKLOneClass(kernels, nu=0.3, normalize=None, tol=1e-9).fit(X)
    level = MKLOneClass(kernels, formulation="level_set", C=1 / (0.3 * 55 * one.offset_), normalize=None, tol=1e-9)
    assert_allclose(level.fit(X).score_samples(X), one.score_samples(X) / one.offset_, atol=1e-4)
    assert_array_equal(level.support_, one.support_)


def test_svdd_is_the_smallest_ball(X):
    nu = 0.2
    model = MKLOneClass(KERNELS[:2], regularizer=2, formulation="svdd", nu=nu, normalize="spherical", tol=1e-8).fit(X)
    K = np.tensordot(model.kernel_weights_, [spherical(k(X)) for k in KERNELS[:2]], 1)
    a = cvxpy.Variable(55)
    R = np.linalg.cholesky(K + 1e-10 * np.eye(55)).T
    bounds = [a >= 0, a <= 1 / (nu * 55), cvxpy.sum(a) == 1]
    ball = cvxpy.Problem(cvxpy.Maximize(np.diag(K) @ a - cvxpy.sum_squares(R @ a)), bounds)
    value = ball.solve(solver="CLARABEL")  # R² + Σξ/(νn), the primal of Tax and Duin
    distances = model.centre_distances(X)
    centre = np.diag(K) - 2 * K @ a.value + a.value @ K @ a.value
    assert_allclose(distances**2, centre, atol=1e-4)
    excess = np.maximum(distances**2 - model.radius_**2, 0)
    assert model.radius_**2 + excess.sum() / (nu * 55) == pytest.approx(value, rel=1e-5)
    assert_allclose(0.5 * (model.radius_**2 - distances**2), model.decision_function(X), atol=1e-9)
    clear = np.abs(distances - model.radius_) > 1e-4  # not on the surface
    assert clear.sum() > 40
    assert_array_equal(model.predict(X)[clear], np.where(distances < model.radius_, 1, -1)[clear])


def test_svdd_on_new_data_with_a_constant_kernel_and_saved(X, tmp_path):
    kernels = [RBF(gamma=0.5), Constant(2.0)]
    model = MKLOneClass(kernels, formulation="svdd", normalize="spherical", regularizer=np.inf, tol=1e-8).fit(X)
    rows, new = model.support_, X[:4] + 0.3
    a, k = model.dual_coef_[0], lambda A, B: RBF(gamma=0.5)(A, B) + 2
    square = 3 - 2 * k(new, X[rows]) @ a + a @ k(X[rows], X[rows]) @ a
    assert_allclose(model.centre_distances(new) ** 2, square, atol=1e-10)
    model.save(tmp_path / "ball.mk")
    loaded = manykernels.load(tmp_path / "ball.mk")
    assert loaded.radius_ == model.radius_
    assert_array_equal(loaded.centre_distances(new), model.centre_distances(new))
    plain = model.set_params(formulation="one_class").fit(X)
    assert not hasattr(plain, "radius_") and not hasattr(plain, "centre_distances")


def test_bad_input(X):
    with pytest.raises(ValueError, match="formulation='ball'"):
        MKLOneClass(formulation="ball").fit(X)
    with pytest.raises(ValueError, match="nu=0.2 has no effect with formulation='level_set'"):
        MKLOneClass(formulation="level_set", nu=0.2).fit(X)
    for formulation in ("one_class", "svdd"):
        with pytest.raises(ValueError, match="C=2.0 has no effect"):
            MKLOneClass(formulation=formulation, C=2.0).fit(X)
    for normalize in ("multiplicative", "trace", None):
        with pytest.raises(ValueError, match='svdd" needs normalize="spherical".*k\\(x, x\\)'):
            MKLOneClass(formulation="svdd", normalize=normalize).fit(X)
    holes = X.copy()
    holes[3, 0] = np.nan
    kernels = [("a", RBF(gamma=1.0), [0], "zero"), ("b", RBF(gamma=1.0), [1])]
    with pytest.raises(ValueError, match="same for all examples.*'a'"):
        MKLOneClass(kernels, formulation="svdd", normalize="spherical").fit(holes)
    with pytest.raises(ValueError, match="LpSum.*unbounded"):
        MKLOneClass(KERNELS, regularizer=LpSum(1)).fit(X)
    assert MKLOneClass(KERNELS, regularizer=LpNorm(1)).fit(X).duality_gap_ <= 1e-3
