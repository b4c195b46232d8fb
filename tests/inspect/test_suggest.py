"""`suggest` tells a planted sparse truth from a dense one, says why, and does not say more than the scores do."""

import numpy as np
import pytest

from manykernels.inspect import suggest
from manykernels.kernels import RBF, per_column

RNG = np.random.default_rng(0)
Z = RNG.standard_normal((150, 40))
KERNELS = per_column(RBF(gamma=0.5), 12)


def test_a_sum_over_all_columns_asks_for_dense_mixing():
    found = suggest(Z[:, :12], Z[:, :12].sum(axis=1), KERNELS, Cs=[1.0, 10.0], cv=3)
    assert found.mixing == "dense" and found.p > 1 and found.difference > found.error > 0
    assert found.informative > 6 and "Dense mixing" in str(found) and "not a promise" in str(found)
    assert found.to_frame().shape == (4, 4)


def test_one_column_among_many_asks_for_sparse_mixing():
    y = np.sin(2 * Z[:, 0]) + 0.1 * RNG.standard_normal(150)
    found = suggest(Z, y, per_column(RBF(gamma=0.5), 40), Cs=[1.0, 10.0], cv=3)
    assert found.mixing == "sparse" and found.p < 2 and -found.difference > found.error
    assert found.informative < 8 and np.argmax(found.alignments) == 0
    assert found.redundancy < 0.1


def test_equal_kernels_are_called_alike_and_redundant():
    y = np.arange(150) % 2
    kernels = [("a", RBF(gamma=0.01)), ("b", RBF(gamma=0.01))]
    found = suggest(Z + 9 * y[:, None], y, kernels, Cs=[1.0], cv=3, max_examples=90)
    assert found.mixing == "either" and found.redundancy == pytest.approx(1.0)
