"""What kernels learn from data counts each example as often as its weight says."""

import numpy as np
import pytest
import scipy.sparse as sp

from manykernels import MKLClassifier
from manykernels.kernels import RBF, Nystroem, RandomFeatures

rng = np.random.default_rng(0)
X = rng.normal(size=(40, 2)) * np.repeat([0.2, 4.0], 20)[:, None]
WEIGHT = np.repeat([5.0, 1.0], 20)


@pytest.mark.parametrize("make", [Nystroem, RandomFeatures])
def test_an_approximation_has_the_width_that_its_kernel_has_with_weights(make):
    """Issue 11, point 24. Both by itself and within a fit."""
    found, plain = make(RBF("scale"), 10).resolve(X, WEIGHT), make(RBF("scale"), 10).resolve(X)
    assert found.kernel.gamma == RBF("scale").resolve(X, WEIGHT).gamma > 1.5 * plain.kernel.gamma
    model = MKLClassifier([("k", make(RBF("scale"), 40))], tol=1e-6)
    y = (X[:, 0] > 0.1).astype(int)
    fits = [model.set_params(kernels=[("k", make(RBF(gamma), 40))]).fit(X, y, WEIGHT).decision_function(X)
            for gamma in ("scale", found.kernel.gamma)]  # fmt: skip
    np.testing.assert_allclose(*fits, atol=1e-8)


def test_the_scale_of_unsorted_sparse_data_leaves_their_entries_in_place():
    """Issue 11: scipy's `min` sorts them in place."""
    X = sp.csr_array((np.array([1.0, 2.0, 3.0]), np.array([1, 0, 1]), np.array([0, 2, 3])), shape=(2, 2))
    gamma = RBF(gamma="scale").resolve(X).gamma
    assert X.indices.tolist() == [1, 0, 1] and gamma == pytest.approx(1 / (2 * np.var(X.toarray())))
