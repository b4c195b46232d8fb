"""A loss from outside: given to `MKLRegressor` as it is."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import make_regression

from manykernels import MKLRegressor, load
from manykernels.kernels import RBF, Linear
from manykernels.losses import Loss

X, y = make_regression(60, 4, noise=5.0, random_state=0)
y = y / y.std()


class Absolute(Loss):
    """V = slope · |y − f|, of conjugate V*(y, u) = u y on |u| ≤ slope."""

    name = "absolute"
    file_tag = ("example/absolute", 1)  # under which it stands in files

    def __init__(self, slope=1.0):
        self.slope = slope

    def value(self, y, f):
        return self.slope * np.abs(y - f)

    def gradient(self, y, f):
        return self.slope * np.sign(f - y)

    def unit_box(self, y):
        return np.full(np.shape(y), -self.slope), np.full(np.shape(y), self.slope)

    def quadratic(self, y, c, a):
        return -np.asarray(y, float), np.zeros_like(a), np.zeros_like(a)


def model(loss):
    return MKLRegressor([RBF(gamma=0.1), Linear()], loss=loss, tol=1e-6, C=2.0)


def test_it_reaches_its_gap_and_is_the_loss_that_it_looks_like():
    own, known = model(Absolute()).fit(X, y), model("epsilon_insensitive").set_params(epsilon=0.0).fit(X, y)
    assert own.duality_gap_ <= 1e-6
    assert own.objective_ == pytest.approx(known.objective_, rel=1e-5)


def test_its_parameters_have_names():
    twice = clone(model(Absolute())).set_params(loss__slope=2.0, C=1.0).fit(X, y)
    assert twice.objective_ == pytest.approx(model(Absolute()).fit(X, y).objective_, rel=1e-5)


class Steep(Absolute):
    """Without a tag of its own."""


def test_it_is_saved_and_loaded_by_who_has_the_class(tmp_path):
    path, fitted = tmp_path / "model.mk", model(Absolute(0.5)).fit(X, y)
    fitted.save(path)
    again = load(path, parts=[Absolute])
    assert again.loss == Absolute(0.5)
    np.testing.assert_array_equal(again.predict(X), fitted.predict(X))
    with pytest.raises(ValueError, match=r"holds a .*Absolute, .*no class of manykernels: give it, .*parts=\[Absolute"):
        load(path)


def test_it_is_refused_by_name_where_it_cannot_be_saved(tmp_path):
    with pytest.raises(ValueError, match="loss = Steep.* cannot be saved without pickle.*give Steep a file_tag"):
        model(Steep()).fit(X, y).save(tmp_path / "model.mk")
    assert not (tmp_path / "model.mk").exists()


def test_a_class_without_a_good_tag_is_no_part_of_a_file(tmp_path):
    class Known(Absolute):
        file_tag = ("loss/hinge", 1)

    path = tmp_path / "model.mk"
    model(Absolute()).fit(X, y).save(path)
    for parts, what in [
        ([Steep], '^Steep has file_tag=None.*file_tag = ."name", version.'),
        ([Known], "is one of manykernels itself"),
        ([Absolute()], "give classes, such as"),
        ([Absolute, type("Other", (), {"file_tag": ("example/absolute", 1)})], "^two of parts"),
    ]:
        with pytest.raises(ValueError, match=what):
            load(path, parts=parts)
