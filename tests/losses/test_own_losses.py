"""A loss from outside: its name, the methods that it lacks, and methods that disagree."""

import numpy as np
import pytest
from sklearn.datasets import make_regression

from manykernels import MKLRegressor
from manykernels.kernels import RBF, Linear
from manykernels.losses import LOSSES, Hinge, Loss
from manykernels.losses.base import middle, step_root

X, y = make_regression(60, 4, noise=5.0, random_state=0)
y = y / y.std()


class Absolute(Loss):
    """V = |y − f|, without a name."""

    def value(self, y, f):
        return np.abs(y - f)

    def gradient(self, y, f):
        return np.sign(f - y)

    def unit_box(self, y):
        return -np.ones(np.shape(y)), np.ones(np.shape(y))

    def quadratic(self, y, c, a):
        return -np.asarray(y, float), np.zeros_like(a), np.zeros_like(a)


class TooHigh(Absolute):
    """Of a box that is too wide, so that dual values lie above primal ones."""

    def unit_box(self, y):
        return -2 * np.ones(np.shape(y)), 2 * np.ones(np.shape(y))


class OtherConjugate(Absolute):
    def quadratic(self, y, c, a):
        return -2 * np.asarray(y, float), np.zeros_like(a), np.zeros_like(a)


def fit(loss, **options):
    return MKLRegressor([RBF(gamma=0.1), Linear()], loss=loss, C=1.0, **options).fit(X, y)


def test_its_name_is_that_of_its_class_unless_given():
    assert (Absolute().name, TooHigh().name, Hinge.name) == ("Absolute", "TooHigh", "hinge")
    assert fit(Absolute()).duality_gap_ <= 1e-3


@pytest.mark.parametrize("method", ["value", "gradient", "unit_box", "quadratic"])
def test_a_method_that_it_lacks_is_named(method):
    lacks = type("Lacks", (Absolute,), {method: getattr(Loss, method)})
    with pytest.raises(NotImplementedError, match=rf"Lacks must define {method}\("):
        fit(lacks())


@pytest.mark.parametrize("loss", [TooHigh(), OtherConjugate()], ids=repr)
@pytest.mark.parametrize("solver", ["auto", "newton", "analytic"])
def test_methods_that_disagree_are_the_reason(loss, solver):
    with pytest.warns(UserWarning, match=rf"unit_box of the loss '{loss.name}' disagree.*largest u f - V"):
        fit(loss, solver=solver)


def test_methods_that_agree_are_not_blamed():
    with pytest.warns(UserWarning, match="above tol") as heard:
        fit(Absolute(), max_iter=1)
    assert not any("disagree" in str(one.message) for one in heard)


@pytest.mark.parametrize("name", LOSSES)
@pytest.mark.parametrize("unit", [1e-6, 1.0, 1e6])
def test_no_loss_of_ours_would_be_blamed(name, unit):
    from types import SimpleNamespace

    from manykernels.solvers.diagnosis import _disagrees

    targets = np.where(y > 0, 1.0, -1.0) if LOSSES[name].targets == "binary" else unit * y
    targets = np.abs(targets) if LOSSES[name].targets == "count" else targets
    assert not _disagrees(SimpleNamespace(Y=targets[None], loss=LOSSES[name]()), [])


@pytest.mark.parametrize(
    "ends, expected", [((1.0, 3.0), 2.0), ((-np.inf, 3.0), 3.0), ((1.0, np.inf), 1.0), ((-np.inf, np.inf), 0.0)]
)
def test_an_intercept_that_may_move_is_the_middle_of_its_interval(ends, expected):
    assert middle(*ends) == expected
    knots, jumps = np.array([1.0, 3.0]), np.array([1.0, 1.0])
    assert step_root(knots, jumps, -1.0) == 2.0  # the slope is −1 below 1, 0 between, 1 above 3
