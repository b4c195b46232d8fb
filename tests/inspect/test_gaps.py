"""The gap of several fits is that of the worst of them, whichever class it belongs to."""

import warnings

import numpy as np
import pytest

from manykernels import MKLClassifier
from manykernels.inspect import relevance
from manykernels.inspect.fold import Fold
from manykernels.kernels import RBF

rng = np.random.default_rng(0)
X = rng.normal(size=(60, 3))
CODE = np.digitize(X[:, 0] + 0.2 * rng.normal(size=60), [-0.5, 0.8])


@pytest.mark.parametrize("names", ["abc", "bca", "cab"])
def test_the_gap_of_a_fold_is_the_largest_of_its_classes(names):
    """Classes are solved in the order of their names, so that the worst stands at each place."""
    model = MKLClassifier([("k", RBF(0.5)), ("l", RBF(5.0))], tol=1e-9, max_iter=2, C=1.0)
    y, cut = np.array(list(names))[CODE], (np.arange(40), np.arange(40, 60))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fold = Fold(model, X, y, None, *cut, lambda model, X, y: 0.0)
        found = relevance(model, X, y, cv=[cut, cut[::-1]]).gap
    gaps = [s.gap for s in fold.every.solutions]
    assert len(set(gaps)) == 3 and fold.every.gap == max(gaps) and not fold.every.converged
    assert found >= max(gaps) > 1e-9
