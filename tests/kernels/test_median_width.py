"""gamma="median": one over the median distance of the examples, by their weights."""

import numpy as np
import pytest

from manykernels.kernels import RBF, Chi2, Polynomial

X = np.random.default_rng(0).normal(size=(60, 4)) * [1, 10, 100, 1000]


@pytest.mark.parametrize("kernel", [Chi2("median"), Polynomial(gamma="median"), RBF("mean")])
def test_others_have_none(kernel):
    with pytest.raises(ValueError, match="must be a number, None"):
        kernel.resolve(np.abs(X))
