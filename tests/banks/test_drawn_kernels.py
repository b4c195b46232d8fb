"""An (n, n, M) stack copies the matrices of few kernels with weight: results are those of an (M, n, n) stack."""

import numpy as np
import pytest

from manykernels.banks import DenseBank
from manykernels.kernels import RBF

rng = np.random.default_rng(0)
n, M = 90, 24
S = np.stack([RBF(gamma)(rng.normal(size=(n, 3))) for gamma in np.geomspace(0.05, 5, M)])


@pytest.fixture(params=[np.float32, np.float64])
def banks(request):
    """(the kernels last, the kernels first)."""
    last = np.ascontiguousarray(np.moveaxis(S, 0, 2), dtype=request.param)
    return DenseBank(last), DenseBank(np.moveaxis(S.astype(request.param), 0, 2))


def weights(*kernels):
    theta = np.zeros(M)
    theta[list(kernels)] = 1.0 + np.arange(len(kernels))
    return theta


def assert_same(banks, kernels, rows=None):
    last, first = banks
    close = {"rtol": 2e-4 if last.dtype == np.float32 else 1e-10, "atol": 1e-5 if last.dtype == np.float32 else 1e-12}
    for shifted in (False, True):
        found, truth = (bank.combined(weights(*kernels), rows, rows, shifted=shifted) for bank in (last, first))
        np.testing.assert_allclose(found, truth, **close)
        np.testing.assert_array_equal(found, found.T)
    support, order = np.arange(3, n, 2), np.array(kernels[::-1])
    A = np.random.default_rng(1).normal(size=(2, len(support)))
    for given in (None, np.arange(5, 50)):
        np.testing.assert_allclose(*(bank.products(A, support, given, order) for bank in banks), **close)
    some = np.array([1, 4, 5, 20, 33])
    parts = [bank.restrict(some, order) for bank in banks]
    assert parts[0].names == [last.names[m] for m in order]
    np.testing.assert_allclose(*(part.combined(np.arange(1.0, 1 + len(order))) for part in parts), **close)


def drawn(bank):
    return [] if bank._drawn is None else bank._drawn[0].tolist()


def test_drawn_kernels_are_added_replaced_and_found_in_any_order(banks):
    last = banks[0]
    for kernels, kept in (
        ((5,), [5]),
        ((2, 5), [5, 2]),
        ((2,), [5, 2]),
        ((5, 20), [5, 2, 20]),
        ((1, 3), [1, 3]),  # five would be more than an eighth
        ((1, 3, 7, 9), [1, 3]),  # and so are four
        ((3, 9), [1, 3, 9]),
    ):
        assert_same(banks, kernels)
        assert drawn(last) == kept, kernels
    assert not drawn(banks[1])


def test_small_blocks_and_little_memory_draw_nothing(banks):
    last = banks[0]
    assert_same(banks, (5, 8), np.arange(30, 70))
    assert not drawn(last)
    last.memory_limit = 1.5 * n**2 * last.dtype.itemsize
    assert_same(banks, (5, 8))
    assert not drawn(last)
    assert_same(banks, (8,))
    assert drawn(last) == [8]
    assert_same(banks, (5,))  # two would be more than the limit
