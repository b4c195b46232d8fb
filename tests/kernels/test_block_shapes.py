"""A kernel from outside that returns a block of a wrong shape is named, with both shapes."""

import numpy as np
import pytest
from sklearn.datasets import make_classification

from manykernels import MKLClassifier
from manykernels.kernels import Kernel, Linear, Nystroem

X, y = make_classification(60, 4, random_state=0)


class Forgets(Kernel):
    """Does not look at Y."""

    def __call__(self, X, Y=None):
        return X @ X.T


class Column(Kernel):
    """What NumPy would spread over all columns."""

    def __call__(self, X, Y=None):
        return np.ones((len(X), 1))


class Vector(Kernel):
    def __call__(self, X, Y=None):
        return X.sum(axis=1)


@pytest.mark.parametrize(
    ("kernel", "given"), [(Forgets(), r"\((\d+), \1\)"), (Column(), r"\(\d+, 1\)"), (Vector(), r"\(1,\)")], ids=repr
)
def test_a_block_of_a_wrong_shape_names_the_kernel_and_the_shapes(kernel, given):
    words = rf"{type(kernel).__name__}\(\) returned an array of shape {given} for \d+ and \d+ examples.*must return"
    with pytest.raises(ValueError, match=words):
        MKLClassifier([kernel, Linear()]).fit(X, y)


def test_landmarks_are_no_exception():
    with pytest.raises(ValueError, match=r"Forgets\(\) returned an array of shape \(60, 60\) for 60 and 5 examples"):
        Nystroem(Forgets(), rank=5).features(X)
