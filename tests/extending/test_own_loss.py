"""A loss from outside: given to `MKLRegressor` as it is."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import make_regression

from manykernels import MKLClassifier, MKLRegressor, load
from manykernels.banks import DenseBank
from manykernels.kernels import RBF, Linear
from manykernels.losses import Loss, Squared
from manykernels.problem import Problem
from manykernels.regularizers import LpNorm
from manykernels.solvers import solve

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


class Expectile(Loss):
    """V = w r², r = y − f, w = q for r > 0 and 1 − q for r < 0; V*(y, u) = u y + u² / (4 w), w = q for u < 0."""

    interior = True  # u² has two factors, so that `quadratic` depends on a

    def __init__(self, q=0.5):
        if not 0 < q < 1:
            raise ValueError(f"q={q} must lie between 0 and 1")
        self.q = float(q)

    def weight(self, above):
        return np.where(above, self.q, 1 - self.q)

    def value(self, y, f):
        return self.weight(y > f) * (y - f) ** 2

    def gradient(self, y, f):
        return 2 * self.weight(y > f) * (f - y)

    def unit_box(self, y):
        return np.full(np.shape(y), -np.inf), np.full(np.shape(y), np.inf)

    def _conjugate(self, y, a):  # V*(y, −a)
        return -a * y + a**2 / (4 * self.weight(a > 0))

    def start(self, y, c, equality):
        return np.zeros(np.shape(y))

    def quadratic(self, y, c, a):
        cost = np.where(c > 0, c, 1.0)  # a is 0 where c is 0
        return -np.asarray(y, float), 1 / (2 * cost * self.weight(a > 0)), np.zeros_like(a)


def test_a_loss_whose_conjugate_is_piecewise_quadratic_reaches_its_gap():
    half, known = model(Expectile(0.5)).fit(X, y), model("squared").set_params(C=1.0).fit(X, y)
    assert half.objective_ == pytest.approx(known.objective_, rel=2e-6)
    high = model(Expectile(0.9)).set_params(tol=1e-8).fit(X, y)
    assert high.duality_gap_ <= 1e-8
    slope = Expectile(0.9).gradient(y, high.predict(X))
    assert abs(slope.sum()) < 1e-3 * np.abs(slope).sum()  # the intercept is free
    assert (y < high.predict(X)).mean() > 0.6 > (y < half.predict(X)).mean()


@pytest.mark.parametrize("loss", [Absolute(2.0), Expectile(0.8)], ids=repr)
def test_value_gradient_and_conjugate_belong_together(loss):
    """By differences, by the equality V + V* = u f at u = V', and on a grid."""
    rng = np.random.default_rng(0)
    targets, f, step = rng.normal(size=50), 3 * rng.normal(size=50), 1e-6
    u = loss.gradient(targets, f)
    slope = (loss.value(targets, f + step) - loss.value(targets, f - step)) / (2 * step)
    np.testing.assert_allclose(slope, u, atol=1e-6)
    np.testing.assert_allclose(loss.value(targets, f) + loss.conjugate(targets, u), u * f, atol=1e-9)
    grid = np.linspace(-40, 40, 8001)[:, None]
    inside = 0.9 * u  # the largest value on the grid is at most V*
    largest = (inside * grid - loss.value(targets, grid)).max(axis=0)
    np.testing.assert_allclose(largest, loss.conjugate(targets, inside), atol=1e-3 * (1 + np.abs(u).max()))


def test_a_constant_target_is_no_class():
    flat = model(Expectile(0.9)).fit(X, np.full(60, 3.0))
    np.testing.assert_allclose(flat.predict(X), 3.0, atol=1e-6)


class Numbers(Absolute):
    def quadratic(self, y, c, a):
        return -np.asarray(y, float), 0.0, 0.0


class Divided(Expectile):
    def quadratic(self, y, c, a):
        with np.errstate(divide="ignore"):
            return -np.asarray(y, float), 1 / (2 * c * self.weight(a > 0)), np.zeros_like(a)


def test_a_cost_may_be_0():
    K, costs = DenseBank((X @ X.T)[:, :, None]), np.arange(60) % 3 + 0.0
    one, known = (Problem(K, y, loss, LpNorm(2), c) for loss, c in ((Expectile(0.5), 2 * costs), (Squared(), costs)))
    assert solve(one, tol=1e-8).primal == pytest.approx(solve(known, tol=1e-8).primal, rel=2e-8)
    with pytest.raises(ValueError, match="quadratic of Divided.* is not finite where c = 0: .*any number will do"):
        solve(Problem(K, y, Divided(), LpNorm(2), costs))


def test_a_loss_that_does_not_fit_is_told_why():
    with pytest.raises(
        ValueError, match=r"quadratic of Numbers\(slope=1.0\) must return three arrays \(60,\), not shapes"
    ):
        model(Numbers()).fit(X, y)
    with pytest.raises(ValueError, match="not made for binary targets: .*class of your own with targets = 'binary'"):
        MKLClassifier([Linear()], loss=Absolute()).fit(X, y > 0)
