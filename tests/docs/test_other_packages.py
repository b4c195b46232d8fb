"""What docs/comparison.md says to write here in place of other packages' names exists and does what it says."""

import numpy as np
import pytest
from sklearn.model_selection import cross_val_score

from manykernels import KernelStack, MKLClassifier, MKLOneClass, MKLRegressor, MKLRegressorCV
from manykernels.inspect import poim
from manykernels.kernels import RBF, Linear, alignment, group_kernels, linear_coefficients
from manykernels.regularizers import Align, AlignF, EasyMKL, Uniform
from manykernels.strings import Spectrum, WeightedDegree, WeightedDegreeShift

RNG = np.random.default_rng(0)
y = np.arange(60) % 2
X = RNG.normal(size=(60, 4)) + y[:, None]
DNA = ["".join(row) for row in RNG.choice(list("ACGT"), size=(60, 12))]
BANDS = [("left", Linear(), [0, 1]), ("right", Linear(), [2, 3])]


@pytest.mark.parametrize("rule", [Uniform(), EasyMKL(lam=0.1), AlignF(), Align(), 1.0], ids=repr)
def test_rules_of_mklpy_fit_and_predict_on_stacks(rule):
    train = KernelStack([RBF(gamma=0.1)(X), Linear()(X)])
    new = KernelStack([RBF(gamma=0.1)(X[:6], X), Linear()(X[:6], X)])
    model = MKLClassifier("precomputed", C=1.0, regularizer=rule).fit(train, y)
    assert model.predict(new).shape == (6,) and model.kernel_weights_.shape == (2,)
    assert cross_val_score(model, train, y, cv=2).shape == (2,)


def test_alignment_is_a_number_between_0_and_1():
    assert 0 < alignment(RBF(gamma=0.1)(X), Linear()(X)) < 1


def test_string_kernels_and_weights_of_classes_of_shogun():
    kernels = [WeightedDegree(3), WeightedDegreeShift(3, 2)]
    model = MKLClassifier(kernels, regularizer=1.5, C=2, class_weight={1: 0.5}).fit(DNA, y)
    assert poim(model, 1).values.shape == (12, 4) and model.kernel_weights_.shape == (2,)


@pytest.mark.parametrize("solver", ["chunking", "silp", "newton", "analytic"])
def test_solvers_of_shogun_reach_the_gap(solver):
    model = MKLClassifier([Spectrum(2), WeightedDegree(2)], C=1.0, regularizer=1, solver=solver)
    assert model.fit(DNA, y).duality_gap_ <= 1e-3


def test_the_width_of_shogun_is_one_over_gamma():
    width = 4.0
    assert RBF(gamma=1 / width)(X[:1], X[1:2]) == pytest.approx(np.exp(-np.sum((X[0] - X[1]) ** 2) / width))


def test_outliers_and_regression_of_shogun_have_one_prediction_for_each_row():
    outliers, numbers = MKLOneClass([Linear()]).fit(X), MKLRegressor([Linear()], C=1.0).fit(X, X[:, 0])
    assert outliers.predict(X).shape == numbers.predict(X).shape == (60,)


def test_himalayas_search_takes_one_target_and_several():
    Y = X @ RNG.normal(size=(4, 3))
    for targets in (Y[:, 0], Y):
        search = MKLRegressorCV(BANDS, loss="squared", Cs=[1, 10], cv=3).fit(X, targets)
        assert search.best_params_["C"] in (1, 10) and search.best_estimator_.kernel_weights_.shape == (2,)
        assert search.predict(X).shape == targets.shape


def test_himalayas_bands_have_coefficients_of_columns():
    bands = group_kernels({"left": [0, 1], "right": [2, 3]})
    model = MKLRegressor(bands, loss="squared", C=10).fit(X, X[:, 0])
    assert linear_coefficients(model).total.shape == (4,)
