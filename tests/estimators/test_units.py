"""A regression does not depend on the unit of its targets; losses that do say so."""

import warnings

import numpy as np
import pytest
from sklearn.base import clone

from manykernels import MKLRegressor, MKLRegressorCV, load
from manykernels.kernels import RBF, Linear
from manykernels.losses import EpsilonInsensitive, Huber
from manykernels.streaming import ArrayFile

rng = np.random.default_rng(0)
X = rng.normal(size=(90, 3))
y = np.sin(X[:, 0]) + X[:, 1] + 0.1 * rng.normal(size=90)
KERNELS = [RBF(gamma=0.1), RBF(gamma=1.0), Linear()]
UNITS = [(1e3, 0.0), (1e-3, 0.0), (1e-9, 0.0), (1e9, 0.0), (1.0, 50.0), (-2e3, 7e3)]


def held_out(model, unit=1.0, constant=0.0):
    """(R² of the last thirty examples, their predictions in the unit of y)."""
    target = unit * y + constant
    model = clone(model).fit(X[:60], target[:60])
    return model.score(X[60:], target[60:]), (model.predict(X[60:]) - constant) / unit


@pytest.mark.parametrize("unit, constant", UNITS)
def test_the_default_regression_predicts_the_same_in_every_unit(unit, constant):
    """R² was 0.94, with y × 1000 0.005, with y / 1000 −0.019."""
    model = MKLRegressor(KERNELS, tol=1e-8)
    (plain, known), (other, found) = held_out(model), held_out(model, unit, constant)
    assert plain > 0.9 and other == pytest.approx(plain, abs=1e-6)
    np.testing.assert_allclose(found, known, atol=1e-4)


def test_the_search_and_the_path_score_the_same_in_every_unit():
    """`MKLRegressorCV` and `path` have the same default."""
    model = MKLRegressorCV(KERNELS, Cs=[0.1, 1, 10], regularizer=[1, 2], cv=3, tol=1e-6)
    tables = [clone(model).fit(X, unit * y).cv_results_["mean_test_score"] for unit in (1.0, 1e3, 1e-3)]
    np.testing.assert_allclose(tables[1:], [tables[0]] * 2, atol=1e-3)
    paths = [MKLRegressor(KERNELS, tol=1e-6).path(X, unit * y, Cs=[0.1, 10]).score for unit in (1.0, 1e3, 1e-3)]
    np.testing.assert_allclose(paths[1:], [paths[0]] * 2, atol=1e-3)


def test_an_epsilon_that_would_have_no_effect_is_refused():
    """Whoever relied on the old default loss is told to name it."""
    for model in (MKLRegressor(KERNELS, epsilon=0.1), MKLRegressor(KERNELS, loss=Huber(1.0), epsilon=0.2)):
        with pytest.raises(ValueError, match="epsilon=0.[12] has no effect with loss=.*loss='epsilon_insensitive'"):
            model.fit(X, y)
    by_name = MKLRegressor(KERNELS, loss="epsilon_insensitive").fit(X, y)
    for model in (
        MKLRegressor(KERNELS, loss="epsilon_insensitive", epsilon=0.1),
        MKLRegressor(KERNELS, loss=EpsilonInsensitive(0.1)),
    ):
        np.testing.assert_array_equal(model.fit(X, y).predict(X), by_name.predict(X))


def test_a_file_with_an_epsilon_that_had_no_effect_can_be_fitted_again(tmp_path):
    """Files of before have epsilon = 0.1 beside every loss."""
    model = MKLRegressor(KERNELS, loss="squared").fit(X, y)
    model.epsilon = 0.1
    model.save(tmp_path / "model.mk")
    found = load(tmp_path / "model.mk")
    assert found.epsilon is None
    np.testing.assert_array_equal(clone(found).fit(X, y).predict(X), model.predict(X))


STRANGE = {
    "a tube about all targets": (EpsilonInsensitive(0.1), 1.0, 1e-3, "epsilon=0.1 is larger.*nearly constant"),
    "targets in the thousands": (EpsilonInsensitive(0.1), 1.0, 1e3, "C=1 is small.*nearly constant"),
    "Huber's in the thousands": (Huber(), 1.0, 1e3, "C=1 times delta=1.35 is small"),
    "Huber's in thousandths": (Huber(), 1.0, 1e-3, "delta=1.35 is more than 100 times.*squared"),
}


@pytest.mark.parametrize("case", STRANGE)
def test_parameters_far_from_the_spread_of_the_targets_are_named(case):
    """Gap 2e-16, R² 0.005 and no warning."""
    loss, C, unit, says = STRANGE[case]
    with pytest.warns(UserWarning, match=f"standard deviation of y.*{says}.*StandardScaler") as caught:
        MKLRegressor(KERNELS, loss=loss, C=C).fit(X, unit * y)
    assert caught[0].filename == __file__


@pytest.mark.parametrize("loss", [EpsilonInsensitive(0.1), EpsilonInsensitive(0.0), Huber(), Huber(0.02)])
def test_parameters_near_the_spread_are_not_named(loss):
    """Absolute residuals, ε = 0 or a small δ with a C that makes up for it, are a choice."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        MKLRegressor(KERNELS, loss=loss, C=5.0).fit(X, y)
        MKLRegressor(KERNELS, loss=loss, C=5.0).fit(X, np.full(90, 3.0))  # has no spread at all
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        MKLRegressor(KERNELS, loss=EpsilonInsensitive(10.0), C=5e3).fit(X, 1e3 * y)


def test_a_search_names_them_once_of_the_model_it_chose():
    """The values of C that lost are nobody's concern."""
    with pytest.warns(UserWarning, match="standard deviation of y") as caught:
        MKLRegressorCV(KERNELS, Cs=[0.1, 1], regularizer=[1, 2], cv=3, loss="epsilon_insensitive").fit(X, 1e3 * y)
    assert len([w for w in caught if "standard deviation" in str(w.message)]) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        MKLRegressorCV(KERNELS, Cs=[1e-3, 1], regularizer=[2], cv=3, loss="epsilon_insensitive").fit(X, y)


def test_of_several_targets_the_strange_one_is_named():
    with pytest.warns(UserWarning, match=r"standard deviation of y\[:, 1\]"):
        MKLRegressor(KERNELS, loss="huber", C=1.0).fit(X, np.stack([y, 1e4 * y], axis=1))


def test_a_source_names_them_too(tmp_path):
    np.save(tmp_path / "X.npy", X)
    with pytest.warns(UserWarning, match="standard deviation of y"):
        MKLRegressor([Linear()], loss="epsilon_insensitive", C=1.0).fit(ArrayFile(tmp_path / "X.npy"), 1e3 * y)


@pytest.mark.parametrize("unit, far, warns", [(1.0, 1e6, 0), (1e-6, 1.0, 1)])
@pytest.mark.parametrize("loss", [Huber(1.0), EpsilonInsensitive(0.1)])
@pytest.mark.parametrize("kernels", [KERNELS, "precomputed"], ids=["kernels", "matrices"])
def test_targets_without_weight_have_no_part_in_the_spread(kernels, loss, unit, far, warns):
    """As if the examples were left out, whether the others suit the loss or not."""
    stack = np.stack([kernel(X[:40]) for kernel in KERNELS], axis=2)
    target, weight = unit * y[:40], np.repeat([1.0, 0.0], [30, 10])
    target[30:] = far * y[30:40]

    def said(rows, weight):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            data = X[rows] if kernels is KERNELS else stack[rows, rows]
            MKLRegressor(kernels, loss=loss).fit(data, target[rows], sample_weight=weight)
        return [str(w.message) for w in caught if "standard deviation of y" in str(w.message)]

    found = said(slice(40), weight)
    assert found == said(slice(30), None) and len(found) == warns
