"""Weights of examples in one-class models: counts of copies, shares of ν, C of level sets, scores."""

import numpy as np
import pytest

from manykernels import MKLOneClass
from manykernels.kernels import RBF

rng = np.random.default_rng(8)
X = rng.normal(size=(40, 2))
COUNTS = rng.integers(0, 4, 40)
COPIES = np.repeat(np.arange(40), COUNTS)
NEW = rng.normal(size=(11, 2))
FORMS = [
    dict(nu=0.3), dict(nu=0.3, formulation="svdd", normalize="spherical"), dict(C=0.4, formulation="level_set"),
]  # fmt: skip


def model(**own):
    return MKLOneClass([("near", RBF(2.0)), ("far", RBF(0.1))], regularizer=2, tol=1e-7, **own)


@pytest.mark.parametrize("own", FORMS, ids=["one_class", "svdd", "level_set"])
def test_weights_are_copies(own):
    weighted, copied = model(**own).fit(X, sample_weight=COUNTS), model(**own).fit(X[COPIES])
    np.testing.assert_allclose(weighted.kernel_weights_, copied.kernel_weights_, atol=2e-3)
    np.testing.assert_allclose(weighted.decision_function(NEW), copied.decision_function(NEW), atol=2e-3)
    assert weighted.objective_ == pytest.approx(copied.objective_, rel=1e-5)
    assert not set(weighted.support_) & set(np.flatnonzero(COUNTS == 0))


@pytest.mark.parametrize("own", FORMS[:2], ids=["one_class", "svdd"])
def test_nu_is_a_share_of_the_weight_in_any_unit(own):
    weight = np.where(X[:, 0] > 0.5, 4.0, 0.5)
    one, other = (model(**own).fit(X, sample_weight=unit * weight) for unit in (1.0, 1e-3))
    f = one.decision_function(X)
    np.testing.assert_allclose(other.decision_function(X), f, atol=2e-3)
    outside = f < -1e-3
    assert weight[outside].sum() <= 0.3 * weight.sum() + 1e-9
    assert weight[f < 1e-3].sum() >= 0.3 * weight.sum() - 1e-9
    assert abs(weight[outside].sum() / weight.sum() - outside.mean()) > 0.02  # a share of examples is another one


def test_weights_of_level_sets_are_costs():
    weight = rng.uniform(0.2, 2.0, 40)
    one = model(C=0.4, formulation="level_set").fit(X, sample_weight=weight)
    other = model(C=0.2, formulation="level_set").fit(X, sample_weight=2 * weight)
    np.testing.assert_allclose(one.decision_function(NEW), other.decision_function(NEW), atol=1e-4)
    a = np.zeros(40)
    a[one.support_] = one.dual_coef_[0]
    assert (a >= -1e-9).all() and (a <= 0.4 * weight + 1e-9).all() and (a > 0.4 * weight - 1e-6).any()
    plain = model(C=0.4, formulation="level_set").fit(X)
    assert np.abs(plain.decision_function(NEW) - one.decision_function(NEW)).max() > 0.01
