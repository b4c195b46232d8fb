"""What float64 cannot hold, and problems that stopped early, are said: in the warnings of the estimators."""

import warnings
from dataclasses import replace

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from manykernels import MKLClassifier
from manykernels.estimators.advice import warn_convergence
from manykernels.kernels import RBF, Linear
from manykernels.solution import Solution, Status

rng = np.random.default_rng(0)
X = rng.normal(size=(60, 3))
y = X[:, 0] + 0.5 * rng.normal(size=60) > 0


def fit(X, **options):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = MKLClassifier([RBF(0.1), Linear()], **options).fit(X, y)
    return model, caught


@pytest.mark.parametrize("C", [0.1, 1.0, 1e4])
def test_ordinary_data_draw_no_remark(C):
    _, caught = fit(X, C=C)
    assert not caught


def test_a_decision_that_is_a_small_difference_of_large_numbers_is_reported():
    model, caught = fit(X + 5e5, C=1e4)  # k(x, x) of 1e12 beside a variance of 1
    assert model.duality_gap_ <= model.tol
    assert [w.category for w in caught] == [UserWarning]
    assert "has converged, but rounding alone may change the objective" in str(caught[0].message)


def test_the_decision_follows_from_the_fitted_attributes_also_far_from_the_origin():
    """With the model's own scale: a variance out of numbers of 1e12 is known to four digits only."""
    Z = (X + 1e6).astype(np.longdouble)
    model, _ = fit(X + 1e6)
    sv = Z[model.support_]
    K = [np.exp(-0.1 * np.sum((Z[:, None] - sv) ** 2, axis=2)), Z @ sv.T]
    weights = model.kernel_weights_ * model.kernel_scale_
    f = sum(w * (k @ model.dual_coef_[0]) for w, k in zip(weights, K, strict=True)) + model.intercept_[0]
    size = weights[1] * 3e12 * np.abs(model.dual_coef_).sum()
    np.testing.assert_allclose(model.decision_function(X + 1e6), np.asarray(f, float), atol=100 * 2.0**-53 * size)
    assert 100 * 2.0**-53 * size < 0.2  # while decisions are of the order of 1


def test_rounding_of_the_kernels_as_given_is_named():
    K = RBF(0.5)(np.repeat(X[:12], 10, axis=0) + 1e-3 * rng.normal(size=(120, 3)))[:, :, None].astype(np.float16)
    labels = rng.random(120) < 0.5
    with pytest.warns(ConvergenceWarning, match="rounding of the kernels as given .* give float64 values"):
        MKLClassifier("precomputed", loss="squared", C=1e6, tol=1e-6, normalize=None).fit(K, labels)


@pytest.mark.parametrize("shift, C", [(1e4, 100.0), (5e4, 1.0)])
def test_a_converged_fit_is_remarked_upon_where_rounding_exceeds_its_own_tol(shift, C):
    """The same data: rounding of 1e-5 matters to a gap of 1e-6, and not to one of 1e-3."""
    for tol, remarks in ((1e-3, 0), (1e-6, 1)):
        model, caught = fit(X + shift, C=C, tol=tol)
        assert model.duality_gap_ <= tol and len(caught) == remarks
    assert "has converged, but rounding alone may change the objective" in str(caught[0].message)


def solution(gap, converged, status, n_iter, reason=""):
    return Solution(np.ones(1), np.ones((1, 1)), np.zeros(1), 1.0, 1.0 - gap, gap, n_iter=n_iter, converged=converged,
                    status=status, reason=reason)  # fmt: skip


def test_of_many_problems_the_first_three_that_stopped_are_named():
    class Model:
        duality_gap_, tol = 0.25, 1e-3

    labels = [f", class {k}" for k in "abcdef"]
    good, bad = solution(1e-4, True, Status.REACHED, 99), solution(0.25, False, Status.STEPS, 7, "it is late")
    with pytest.warns(UserWarning) as told:
        warn_convergence(Model(), [good, bad, bad, good, bad, bad], labels)
    assert str(told[0].message) == (
        "Model stopped at a relative duality gap of 2.50e-01, above tol=0.001, after 7 steps, class b, class c, "
        "class e, …: it is late."
    )
    with pytest.warns(UserWarning, match=r"after 7 steps, class b, class c, class d: it is late\.$"):
        warn_convergence(Model(), [good, bad, bad, bad], labels[:4])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warn_convergence(Model(), [good, good], labels[:2])
    rough = solution(1e-4, True, Status.ROUGH, 3, "digits are few")
    with pytest.warns(UserWarning, match="^Model has converged, class b, but digits are few.$"):
        warn_convergence(Model(), [good, rough], labels[:2])
    Model.stationarity_ = 0.5
    with pytest.warns(UserWarning, match="stopped at a stationarity of 5.00e-01, above tol=0.001, after 7 steps"):
        warn_convergence(Model(), [replace(bad, stationarity=0.5)], [""])
