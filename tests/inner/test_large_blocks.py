"""Blocks of so many variables that threads share their sums, copies and factors: several slices, the last one short."""

import numpy as np
import pytest

from manykernels.inner import systems
from manykernels.inner.systems import Damped, Free, HalfHessian, cut_out, matvec

N = 1103
rng = np.random.default_rng(2)
F = rng.normal(size=(N, 40))
K = F @ F.T / 40 + np.exp(-0.05 * ((F[:, None, :3] - F[:, :3]) ** 2).sum(axis=2))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("size", [0, 1, 300, 700, N])
def test_products_are_those_of_the_rows_of_the_support(size, dtype, monkeypatch):
    """Of some rows, of more than half of them, and of all; by BLAS and by loops, which a limit tells apart."""
    v = np.zeros(N)
    v[rng.permutation(N)[:size]] = rng.normal(size=size)
    block = K.astype(dtype)
    close = dict(rtol=0, atol=(1e-5 if dtype == np.float32 else 1e-11) * (1 + np.abs(v).sum()))
    for serial, large in ((1000, 3000), (10, 20), (2000, 3000)):
        monkeypatch.setattr(systems, "MAX_SERIAL_ROWS", serial)
        monkeypatch.setattr(systems, "LARGE_BLOCK_ROWS", large)
        found = matvec(block, v, 2)
        assert found.dtype == np.float64
        np.testing.assert_allclose(found, block.astype(float) @ v, **close)


@pytest.mark.parametrize("serial", [1000, 10**6, 9])
def test_parts_of_a_matrix_are_copied_in_slices(serial, monkeypatch):
    monkeypatch.setattr(systems, "MAX_SERIAL_ROWS", serial)
    for rows in (np.sort(rng.permutation(N)[:1001]), np.arange(N), np.array([5]), np.arange(0)):
        for dtype in (np.float32, np.float64):
            found = cut_out(K, rows, dtype, 2)
            assert found.dtype == dtype
            np.testing.assert_array_equal(found, K[np.ix_(rows, rows)].astype(dtype))


@pytest.mark.parametrize("single", [False, True])
@pytest.mark.parametrize("equality", ["none", "sum", "columns"])
def test_systems_of_many_variables_are_those_of_dense_matrices(equality, single, monkeypatch):
    """The kernel lacks a constant, and is not definite, where Σ x is fixed."""
    index = np.sort(rng.permutation(N)[:1040])
    E = {"none": None, "sum": np.ones((1040, 1)), "columns": rng.normal(size=(1040, 2))}[equality]
    given = {"none": False, "sum": True, "columns": E}[equality]
    monkeypatch.setattr(systems, "LARGE_BLOCK_ROWS", 500 if single else 3000)
    block = (K - (1.3 if equality == "sum" else 0.0)).astype(np.float32 if single else np.float64)
    diagonal, r = rng.uniform(0.5, 2.0, N), rng.normal(size=1040)
    A = block.astype(float)[np.ix_(index, index)] + np.diag(diagonal[index])
    whole, right = A, r
    s = 0.0 if E is None else np.array([0.4]) if equality == "sum" else np.array([0.4, -1.0])
    if E is not None:
        k = E.shape[1]
        whole, right = np.block([[A, E], [E.T, np.zeros((k, k))]]), np.concatenate([r, s])
    expected = np.linalg.solve(whole, right)[:1040]
    for kind in (Free,) if single else (Free, Damped):
        x, _ = kind(block, index, diagonal, given, 2).solve(r, float(s[0]) if equality == "sum" else s)
        np.testing.assert_allclose(x, expected, rtol=0, atol=(2e-3 if single else 1e-7) * np.abs(expected).max())
    free = np.zeros(N, bool)
    free[index] = True
    B = rng.normal(size=(2, 1040))
    P = np.linalg.inv(A) @ np.column_stack([B.T] if E is None else [B.T, E])
    value = B @ P[:, :2]
    if E is not None:
        value = value - (B @ P[:, 2:]) @ np.linalg.solve(E.T @ P[:, 2:], E.T @ P[:, :2])
    half = HalfHessian(block, free, diagonal, given, B, 2)
    np.testing.assert_allclose(half.Z.T @ half.Z, value, rtol=0, atol=(2e-2 if single else 1e-6) * np.abs(value).max())
