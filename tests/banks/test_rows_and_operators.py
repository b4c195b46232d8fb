"""Features computed when they are needed, and kernels that only multiply, against the matrices of any rows."""

import numpy as np
import pytest

from manykernels.banks import DenseBank, _feature_rows
from manykernels.banks._blockwise import BlockOperator, ProductOperator
from manykernels.banks._feature_rows import LazyRows
from manykernels.kernels import RBF, KernelList, Nystroem, Polynomial, RandomFeatures

rng = np.random.default_rng(0)
n = 37
X = 0.2 * rng.normal(size=(n, 4))


@pytest.mark.parametrize("kept", [False, True])
@pytest.mark.parametrize("jobs", [1, 2])
@pytest.mark.parametrize("spherical", [False, True])
def test_rows_of_features_are_those_of_each_kernel(spherical, jobs, kept, monkeypatch):
    """Blocks of 5 rows with a rest, more of them than wait to be added; norms on both sides of 1."""
    monkeypatch.setattr(_feature_rows, "ROWS_PER_THREAD", 5)
    monkeypatch.setattr(_feature_rows._sum, "__defaults__", (2,))
    specs = [RandomFeatures(RBF(gamma=0.3), 6, 0), Nystroem(Polynomial(2), 5, "uniform"), Nystroem(RBF(gamma=2.0), 4)]
    kernels = KernelList.from_spec(specs, X)
    parts = [np.asarray(kernel.features(X, np.float64)) for kernel in kernels.kernels]
    first = np.cumsum([0, *(part.shape[1] for part in parts)])
    if spherical:
        norms = [np.sqrt((part**2).sum(axis=1, keepdims=True)) for part in parts]
        parts = [part / np.where(norm > 0, norm, 1.0) for part, norm in zip(parts, norms, strict=True)]
    F, D = np.hstack(parts), first[-1]
    phi = LazyRows(kernels, kernels.views(X), first, np.dtype(np.float64), spherical)
    if kept:
        phi.keep(jobs)

    def close(found, expected):
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-10)

    w, v, weights = rng.random(D), rng.normal(size=D), rng.random(n)
    w[[1, 7]] = 0.0
    for rows in (np.arange(n), np.array([4, 2, 9]), np.array([8, 1, 30]), np.array([8, 1, 30]), np.arange(3, 30, 2)):
        close(phi.rows(rows), F[rows])  # two choices of one length, one after the other
        close(phi.block(rows, jobs), F[rows])
        delta = rng.normal(size=len(rows))
        close(phi.add(rows, delta, jobs), delta @ F[rows])
        close(phi.look_up(rows, v, jobs), F[rows] @ v)
        close(phi.parts(rows, v, first), np.add.reduceat(F[rows] * v, first[:-1], axis=1))
        for weight in (w, w + 0.1):
            close(phi.gram(rows, weight, jobs), (F[rows] * weight) @ F[rows].T)
            close(phi.between(phi.take(rows), weight, jobs), (F * weight) @ F[rows].T)
    close(phi.own(first), np.add.reduceat(F**2, first[:-1], axis=1))
    middle = F[:5].mean(axis=0)
    moments = weights @ F**2, weights @ (F - middle), weights @ (F - middle) ** 2
    for found, expected in zip(phi.moments(weights, jobs), moments, strict=True):
        close(found, expected)


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
