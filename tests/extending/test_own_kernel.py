"""A kernel of numbers from outside: called, as a function of distances, and the errors for what it does wrong."""

import numpy as np
import pytest
from sklearn.datasets import make_classification

from manykernels import MKLClassifier, load
from manykernels.kernels import Kernel
from manykernels.streaming import ArrayFile

X, y = make_classification(120, 4, random_state=0)


class RationalQuadratic(Kernel):
    """(1 + ‖x − y‖² / (2 alpha length²))^(−alpha)."""

    base = "sqdist"
    file_tag = ("example/rational quadratic", 1)

    def __init__(self, alpha=1.0, length=1.0):
        self.alpha = alpha
        self.length = length

    def resolve(self, X, weights=None):
        if not (self.alpha > 0 and self.length > 0):
            raise ValueError(f"alpha={self.alpha} and length={self.length} must be positive")
        return self

    def learns(self):  # resolve uses nothing of X
        return ""

    def form(self):
        return -self.alpha, 1 / (2 * self.alpha * self.length**2), 1.0


class Called(RationalQuadratic):
    """The same without a base."""

    base = None

    def __call__(self, X, Y=None):
        square = ((X[:, None] - (X if Y is None else Y)[None]) ** 2).sum(axis=2)
        return (1 + square / (2 * self.alpha * self.length**2)) ** -self.alpha


class Power(Kernel):
    """(0.01 x'y + 1)^2.5, of a degree that is no whole number; it stays positive here."""

    base = "dot"

    def form(self):
        return 2.5, 0.01, 1.0


def fitted(*kernels, **options):
    return MKLClassifier(list(kernels), **{"C": 1.0, "tol": 1e-7} | options)


def test_by_distances_and_by_calls_it_is_the_same_kernel(tmp_path):
    lengths = (0.5, 1.0, 2.0)
    np.testing.assert_allclose(RationalQuadratic(0.7)(X), Called(0.7)(X), rtol=1e-12)
    shared = fitted(*(RationalQuadratic(0.7, length) for length in lengths)).fit(X, y)
    called = fitted(*(Called(0.7, length) for length in lengths)).fit(X, y)
    assert shared.duality_gap_ <= 1e-7 and shared.objective_ == pytest.approx(called.objective_, rel=2e-7)
    shared.save(tmp_path / "model.mk")
    again = load(tmp_path / "model.mk", parts=[RationalQuadratic])
    np.testing.assert_array_equal(again.decision_function(X), shared.decision_function(X))


def test_a_degree_that_is_no_whole_number_is_not_rounded():
    own = fitted(Power(), normalize=None).fit(X, y)
    matrix = fitted(normalize=None).set_params(kernels="precomputed").fit((1 + 0.01 * X @ X.T)[:, :, None] ** 2.5, y)
    assert own.objective_ == pytest.approx(matrix.objective_, rel=2e-7)


def test_a_source_takes_it_if_resolve_uses_nothing_of_the_data(tmp_path):
    np.save(tmp_path / "X.npy", X)
    source, whole = ArrayFile(tmp_path / "X.npy"), fitted(Called()).fit(X, y)
    assert fitted(Called()).fit(source, y).objective_ == pytest.approx(whole.objective_, rel=2e-7)

    class Unsaid(Called):
        learns = Kernel.learns

    with pytest.raises(ValueError, match=r"Unsaid\(\) is fitted on all examples.*let its learns\(self\) return"):
        fitted(Unsaid()).fit(source, y)


class Features(Kernel):
    family = "features"

    def features(self, X):
        return np.tanh(X)


def test_features_are_enough():
    by_pairs = fitted(Features(), features="never").fit(X, y)
    assert fitted(Features()).fit(X, y).objective_ == pytest.approx(by_pairs.objective_, rel=2e-7)
    np.testing.assert_allclose(Features().diag(X), (np.tanh(X) ** 2).sum(axis=1))


def of(call, **attributes):
    """A kernel with this __call__."""
    return type("Mine", (Kernel,), {"__call__": call, **attributes})()


def dot(self, X, Y=None):
    return X @ (X if Y is None else Y).T


WRONG = [
    (of(lambda self, X, Y=None: dot(self, X @ np.triu(np.ones((4, 4))), X if Y is None else Y)), "must be symmetric"),
    (of(lambda self, X, Y=None: dot(self, X, Y) / len(X)), r"Mine\(\) has k\(x, y\) = .* may depend on x and y alone"),
    (of(dot, diag=lambda self, X: np.ones(len(X))), r"has diag\(x\) = 1, which differs from .*, k\(x, x\)"),
    (of(dot, resolve=lambda self, X, weights=None: None), r"resolve of Mine\(\) returned None: .* return a kernel"),
    (of(lambda self, X, Y=None: np.ones(len(X))), r"returned an array of shape \(1,\) for 1 and 1 examples"),
]


@pytest.mark.parametrize(("kernel", "words"), WRONG, ids=range(len(WRONG)))
def test_a_kernel_that_is_none_is_refused(kernel, words):
    with pytest.raises(ValueError, match=words):
        fitted(kernel).fit(X, y)


def test_what_is_missing_is_named():
    with pytest.raises(ValueError, match="base='distance' of a kernel must be None or one of 'dot', 'sqdist'"):
        fitted(type("Mine", (Kernel,), {"base": "distance"})()).fit(X, y)
    for attributes, words in [
        ({}, r"Mine must define __call__\(X, Y=None\)"),
        ({"base": "dot"}, "Mine has base='dot': it must define form or from_base"),
        ({"family": "features"}, r"Mine must define features\(X\)"),
    ]:
        with pytest.raises(NotImplementedError, match=words):
            fitted(type("Mine", (Kernel,), attributes)()).fit(X, y)
