"""A nearly diagonal kernel that carries weight is named; ordinary fits are left in peace."""

import warnings

import numpy as np
import pytest
from sklearn.datasets import load_iris, make_classification, make_moons
from sklearn.model_selection import GridSearchCV
from sklearn.preprocessing import scale

from manykernels import MKLClassifier, MKLOneClass
from manykernels.banks import DenseBank
from manykernels.estimators.advice import effective_widths
from manykernels.kernels import RBF, Identity, Linear, Polynomial

rng = np.random.default_rng(0)
X = rng.normal(size=(200, 305))
y = (X[:, :5].sum(axis=1) > 0).astype(int)
KERNELS = [("signal", RBF("scale"), slice(0, 5)), ("noise", RBF("scale"), slice(5, 305))]


def test_the_width_counts_neighbours():
    n = 300
    blocks = np.kron(np.eye(n // 3), np.ones((3, 3)))  # each example has two others like it
    bank = DenseBank(np.stack([np.eye(n), blocks, np.ones((n, n)) + np.eye(n)], axis=2))
    widths = effective_widths(bank, range(3), examples=n)
    assert widths[0] == pytest.approx(0, abs=1e-6) and widths[2] == pytest.approx(0, abs=1e-6)
    assert widths[1] == pytest.approx(2, rel=0.02)
    Z = rng.normal(size=(1000, 100))
    linear = DenseBank((Z @ Z.T)[:, :, None])
    assert effective_widths(linear, [0])[0] == pytest.approx(1000 / 100, rel=0.1)  # from 250 examples


@pytest.mark.parametrize("wrong", ["noise", "unscaled"])
def test_it_is_named_with_the_cure(wrong):
    kernels = KERNELS if wrong == "noise" else [KERNELS[0], ("unscaled", RBF(), slice(5, 10))]
    data = X if wrong == "noise" else 100 * X
    with pytest.warns(UserWarning, match=f"'{wrong}' .*nearly diagonal.*scale the columns.*gamma.*slack=True") as said:
        MKLClassifier(kernels, regularizer=1, C=10).fit(data, y)
    assert said[0].filename == __file__
    with pytest.warns(UserWarning, match="is diagonal on.*learns nothing about new ones.*smaller gamma.$"):
        MKLOneClass([RBF(1e4)]).fit(X)


@pytest.mark.parametrize(
    "change",
    [
        dict(kernels=KERNELS[:1]),
        dict(kernels=[KERNELS[0], Identity()]),
        dict(kernels=[("noise", RBF(0.003), slice(5, 305))]),  # the weight of a single kernel is not misread
        dict(kernels=[("noise", RBF(0.003), slice(5, 305))], slack=True, regularizer=2),
    ],
    ids=str,
)
def test_nothing_is_said_where_there_is_nothing_to_say(change):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        MKLClassifier(**{"kernels": KERNELS, "regularizer": 1, "C": 10, **change}).fit(X, y)


def test_ordinary_fits_are_left_in_peace(C=10):
    sets = [load_iris(return_X_y=True), make_classification(100, 100, random_state=0)]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for data, target in [*sets, make_moons(200, noise=0.2, random_state=0)]:
            data = scale(data)
            for kernels in ("auto", [RBF(), RBF("scale"), RBF("median"), Linear(), Polynomial(2)]):
                MKLClassifier(kernels, C=C).fit(data, target)


def test_the_cure_suits_matrices():
    stack = np.stack([RBF(1 / 5)(X[:, :5]), RBF(1 / 300)(X[:, 5:])], axis=2)
    with pytest.warns(UserWarning, match="nearly diagonal.*compute it so that.*or leave it out, or slack") as said:
        MKLClassifier("precomputed", regularizer=1, C=10).fit(stack, y)
    assert "scale the columns" not in str(said[0].message)


def test_each_search_warns_once():
    model, grid = MKLClassifier(KERNELS, regularizer=1), {"C": [1, 10]}
    with pytest.warns(UserWarning, match="nearly diagonal") as first:
        GridSearchCV(model, grid, cv=3).fit(X, y)
    with pytest.warns(UserWarning, match="nearly diagonal") as second:
        GridSearchCV(model, grid, cv=3).fit(X + 1.0, y)
    assert len(first) == len(second) == 1
