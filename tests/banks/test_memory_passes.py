"""`memory_limit` bounds what kernels computed on the fly hold: the data, and the tiles of every pass."""

import numpy as np
import pytest

from manykernels.banks.dense import DenseBank
from manykernels.banks.pairwise import PairwiseBank
from manykernels.kernels import RBF, KernelList

rng = np.random.default_rng(0)
X = rng.normal(size=(800, 4))


def test_copies_of_sub_blocks_are_made_only_where_they_fit():
    S, rows = np.stack([RBF(g)(X[:200]) for g in (0.1, 1.0)]), np.arange(0, 200, 4)
    size = S[:, rows][:, :, rows].nbytes
    for limit, fits in ((size, True), (size - 1, False), (None, True)):
        small = DenseBank(np.moveaxis(S, 0, 2), memory_limit=limit).restrict(rows)
        assert (small is not None) == fits
    functions = [(f"f{g}", lambda A, B, g=g: np.exp(-g * (A[:, None, 0] - B[None, :, 0]) ** 2)) for g in (0.1, 1.0)]
    bank = PairwiseBank(KernelList.from_spec(functions, X[:200]), X[:200], dtype=np.float64, memory_limit=10**6)
    free = bank.free
    for share, fits in ((free, True), (size, False)):  # half of what is free is for copies
        bank.free = share
        assert isinstance(bank.restrict(rows), DenseBank) == fits


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_copy_of_a_few_kernels_pays_where_a_pass_reads_all(dtype):
    """Of a stack (n, n, M) in this order, not only fewer rows make a copy worth it."""
    S = np.stack([RBF(g)(X[:90]) for g in np.geomspace(0.01, 3, 8)], axis=2).astype(dtype)
    bank, some, theta = DenseBank(S), np.array([1, 6]), np.array([0.3, 0.7])
    assert (
        bank.restrict(np.arange(90)) is None
        and DenseBank(np.moveaxis(S, 2, 0).copy().transpose(1, 2, 0)).restrict(np.arange(90), some) is None
    )
    for rows in (np.arange(90), np.arange(0, 90, 3)):
        small, weights = bank.restrict(rows, some), np.zeros(8)
        weights[some] = theta
        np.testing.assert_allclose(small.combined(theta), bank.combined(weights, rows, rows), rtol=1e-5)
