"""Features computed when they are needed, and kernels that only multiply, against the matrices of any rows."""

import numpy as np

from manykernels.banks import DenseBank
from manykernels.banks._blockwise import BlockOperator, ProductOperator

rng = np.random.default_rng(0)
n = 37


def test_kernels_in_blocks_are_those_of_their_rows():
    """Kernels with an uneven diagonal, rows in any order, and rows of rows."""
    A = rng.normal(size=(3, n, 6)) * rng.uniform(0.5, 2.0, size=(1, n, 1))
    bank = DenseBank(np.moveaxis(A @ np.swapaxes(A, 1, 2), 0, 2), normalize=None)
    bank.most = 8.0 * 20**2
    theta, rows = np.array([0.3, 0.0, 1.2]), np.arange(1, n, 2)
    K = np.tensordot(theta, A @ np.swapaxes(A, 1, 2), 1)[np.ix_(rows, rows)]
    for kind in (BlockOperator, ProductOperator):
        found = kind(bank, theta, rows, np.float32)
        assert found.shape == K.shape and len(found) == len(K) and found.dtype == np.float32
        assert found.direct == (20 if kind is BlockOperator else 0)
        for some in (np.arange(len(rows)), np.array([3, 8, 11]), np.array([0])):
            part, block = found.take(some), K[np.ix_(some, some)]
            V = rng.normal(size=(2, len(some)))
            V[:, 0] = 0.0
            np.testing.assert_allclose(part.multiply(V), V @ block, atol=1e-9)
            np.testing.assert_allclose(part.diagonal(), np.diag(block), atol=1e-9)
            np.testing.assert_allclose(part.array(), block, atol=1e-9)
            assert isinstance(part, kind) and part.dtype == found.dtype and not part.multiply(0 * V).any()
    bank.most = 1e9
    whole = BlockOperator(bank, theta, rows, np.float64)
    for rank, size in ((3, 3), (100, len(rows) // 4)):
        spread = np.linspace(0, len(rows) - 1, size).astype(int)
        U, C = whole.low_rank(rank), K[:, spread]
        np.testing.assert_allclose(U @ U.T, C @ np.linalg.solve(C[spread], C.T), atol=1e-8)
    assert ProductOperator(bank, theta, rows, np.float64).low_rank(3) is None
    bank.most = 8.0  # no room for a column
    assert BlockOperator(bank, theta, rows, np.float64).low_rank(3) is None
