"""Rows of kernels for `chunking`: more kernels, columns and rows than one block of any kind holds."""

import numpy as np
import pytest

from manykernels.banks import DenseBank, PairwiseBank
from manykernels.kernels import RBF, KernelList, KernelStack
from manykernels.solvers.classical import _kernel_rows
from manykernels.solvers.classical._kernel_rows import CachedRows, ComputedRows, MatrixRows

n, M = 230, 80  # n M numbers are more than a block of columns has, and no multiple of it
rng = np.random.default_rng(4)
X = rng.normal(size=(n, 3))
SCALED = {"multiplicative": "multiplicative", "spherical": "spherical", "none": None}


def on_the_fly(count=M):
    kernels = [(f"k{m}", RBF(gamma=0.01 * 1.1**m)) for m in range(count)]
    return PairwiseBank(KernelList.from_spec(kernels, X), X, dtype=np.float64)


@pytest.mark.parametrize("entries", [1, 3 * 5 * n, 2**20])
@pytest.mark.parametrize("last", [False, True])
@pytest.mark.parametrize("normalize", SCALED)
def test_rows_of_matrices_are_added_to_every_kernel(normalize, last, entries, monkeypatch):
    """To sums that are there, of some of the kernels, in blocks of one kernel, of three with a rest, and of all."""
    monkeypatch.setattr(_kernel_rows, "ENTRIES_PER_BLOCK", entries)
    S = np.array([RBF(g)(X) for g in np.geomspace(0.01, 2.0, 8)])
    given = np.ascontiguousarray(np.moveaxis(S, 0, 2)) if last else KernelStack(S)
    bank, kernels = DenseBank(given, normalize=SCALED[normalize], n_jobs=2), np.array([0, 2, 3, 4, 5, 7, 1])
    rows, index, change = MatrixRows(bank, kernels), np.array([3, 40, 41, 200, 229]), rng.normal(size=5)
    g = rng.normal(size=(7, n))
    expected = g + np.einsum("mij,j->mi", bank.matrices(kernels)[:, :, index], change)
    rows.add(g, index, change)
    np.testing.assert_allclose(g, expected, atol=1e-11)
    rows.add(g, index[:0], change[:0])
    np.testing.assert_allclose(g, expected, atol=1e-11)
    theta, some = rng.random(7), np.array([1, 5, 6, 100, 229])
    exact = np.tensordot(theta, bank.matrices(kernels)[:, some][:, :, some], 1)
    np.testing.assert_allclose(rows.block(theta, some, np.float64, False), exact, atol=1e-11)
    assert rows.block(theta, some, np.float32, True).dtype == np.float32


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
        np.testing.assert_allclose(g, K @ a, atol=1e-8)
        held = np.flatnonzero(rows.slot >= 0)
        assert len(held) <= slots and (rows.owner[rows.slot[held]] == held).all()
        assert len(np.unique(rows.slot[held])) == len(held)
        theta = draw.random(len(kernels)) * (draw.random(len(kernels)) < 0.5)
        working = np.sort(draw.permutation(n)[:100])
        exact = np.tensordot(theta, K[:, working][:, :, working], 1)
        np.testing.assert_allclose(rows.block(theta, working, np.float64, False), exact, atol=1e-8)
        single = rows.block(theta, working, np.float32, True)
        assert single.dtype == np.float32
        np.testing.assert_allclose(single, exact - exact.mean(), atol=2e-5 * np.abs(exact).max())


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


def test_rows_that_are_computed_are_those_of_the_kernels_that_are_asked_for():
    bank, kernels = on_the_fly(5), np.array([4, 0, 2])
    rows, index, change, g = ComputedRows(bank, kernels), np.array([2, 77]), np.array([0.5, -2.0]), np.ones((3, n))
    rows.add(g, index, change)
    np.testing.assert_allclose(g, 1.0 + bank.matrices()[kernels][:, :, index] @ change, atol=1e-10)
    before = g.copy()
    rows.add(g, index[:0], change[:0])
    np.testing.assert_array_equal(g, before)
