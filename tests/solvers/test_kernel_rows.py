"""Rows of kernels for `chunking`: more kernels, columns and rows than one block of any kind holds."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from manykernels.banks import PairwiseBank
from manykernels.kernels import RBF, KernelList
from manykernels.solvers.classical import _kernel_rows
from manykernels.solvers.classical._kernel_rows import CachedRows

n, M = 230, 80  # n M numbers are more than a block of columns has, and no multiple of it
rng = np.random.default_rng(4)
X = rng.normal(size=(n, 3))


def on_the_fly(count=M):
    kernels = [(f"k{m}", RBF(gamma=0.01 * 1.1**m)) for m in range(count)]
    return PairwiseBank(KernelList.from_spec(kernels, X), X, dtype=np.float64)


@pytest.mark.parametrize("slots, step", [(7, 512), (50, 11), (150, 64), (1, 512)])
def test_rows_that_are_cached_are_those_of_the_bank_after_any_sequence_of_steps(slots, step, monkeypatch):
    """Rows are dropped and fetched again, used more than once, and asked for in blocks of working sets in between."""
    monkeypatch.setattr(_kernel_rows, "ROWS_PER_STEP", step)
    bank, kernels = on_the_fly(), np.arange(M)[::-1].copy()[:-1]
    rows = CachedRows(bank, kernels, slots * len(kernels) * n * 8)
    assert rows.slots == slots
    K, draw = bank.matrices()[kernels], np.random.default_rng(slots)
    a, g = np.zeros(n), np.zeros((len(kernels), n))
    for size in (3, 90, 1, 40, 140, 12, 90):
        index = np.sort(draw.permutation(n)[:size])
        change = draw.normal(size=size)
        a[index] += change
        rows.add(g, index, change)
        assert_allclose(g, K @ a, atol=1e-8)
        held = np.flatnonzero(rows.slot >= 0)
        assert len(held) <= slots and (rows.owner[rows.slot[held]] == held).all()
        assert len(np.unique(rows.slot[held])) == len(held)
        theta = draw.random(len(kernels)) * (draw.random(len(kernels)) < 0.5)
        working = np.sort(draw.permutation(n)[:100])
        exact = np.tensordot(theta, K[:, working][:, :, working], 1)
        assert_allclose(rows.block(theta, working, np.float64, False), exact, atol=1e-8)
        single = rows.block(theta, working, np.float32, True)
        assert single.dtype == np.float32
        assert_allclose(single, exact - exact.mean(), atol=2e-5 * np.abs(exact).max())


def test_the_rows_that_were_used_last_stay_in_the_cache():
    bank = on_the_fly(4)
    rows, g = CachedRows(bank, np.arange(4), 6 * 4 * n * 8), np.zeros((4, n))
    for index in ([0, 1, 2], [3, 4, 5], [0, 2, 9], [10, 11]):
        rows.add(g, np.array(index), np.ones(len(index)))
    assert set(np.flatnonzero(rows.slot >= 0)) == {0, 2, 5, 9, 10, 11}
    computed, stripes = [], bank.stripes
    bank.stripes = lambda missing, *rest: computed.append(missing.tolist()) or stripes(missing, *rest)
    rows.add(g, np.array([2, 9, 11]), np.ones(3))
    assert not computed
    rows.add(g, np.array([1, 2]), np.ones(2))
    assert computed == [[1]]
