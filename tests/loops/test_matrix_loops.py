"""Loops over matrices against NumPy: sizes on both sides of every block and run, any order of memory, any rows."""

import numpy as np
import pytest

from manykernels.banks import _stack, dense
from manykernels.banks._stack import Stack
from manykernels.banks.dense import DenseBank
from manykernels.loops.box_qp import single_steps

f4, f8 = np.float32, np.float64


def choices(n, rng):
    """Ascending columns: all, none, one, runs from within, and few that are far apart."""
    return {
        "all": np.arange(n), "none": np.arange(0), "one": np.array([n - 1]), "run": np.arange(n // 5, n - 1),
        "dense": np.sort(rng.permutation(n)[: max(n // 2, 1)]), "thin": np.sort(rng.permutation(n)[: max(n // 9, 1)]),
    }  # fmt: skip


def stacks(n, wide, M, dtype, rng):
    """(a stack, its matrices (M, n, wide) in float64) with the kernels first, last and in the order of Fortran."""
    S = (3.0 + rng.normal(size=(M, n, wide))).astype(dtype)
    yield Stack.of(np.moveaxis(S, 0, 2)), S.astype(f8)
    yield Stack.of(np.ascontiguousarray(np.moveaxis(S, 0, 2))), S.astype(f8)
    yield Stack.of(np.asfortranarray(np.moveaxis(S, 0, 2))), S.astype(f8)


@pytest.mark.parametrize("few", [0, _stack.FEW_ENTRIES])
@pytest.mark.parametrize("n, wide, M", [(1, 1, 1), (5, 9, 3), (20, 13, 4), (9, 530, 6), (11, 257, 9)])
@pytest.mark.parametrize("dtype", [f4, f8])
def test_sums_and_products_of_a_stack_are_those_of_its_matrices(dtype, n, wide, M, few, monkeypatch):
    """Rows in blocks of 7 with a rest, columns in runs of 256 with a rest, four kernels at a time; and NumPy."""
    monkeypatch.setattr(_stack, "STACK_ROWS", 7)
    monkeypatch.setattr(_stack, "FEW_ENTRIES", few)
    rng = np.random.default_rng(n)
    close = dict(rtol=0, atol=(1e-5 if dtype == f4 else 1e-13) * 40 * M)
    for stack, S in stacks(n, wide, M, dtype, rng):
        assert stack.shape == (n, wide, M)
        np.testing.assert_array_equal(stack.first_rows(), S[:, 0].T)
        own, shift = choices(wide, rng), rng.normal(size=M)
        weights = rng.normal(size=M), np.where(np.arange(M) == M - 1, 1.5, 0.0), np.zeros(M)
        for which, some in (("all", np.arange(n)), ("mixed", rng.permutation(n)[: max(1, 2 * n // 3)])):
            for name, cols in own.items():
                block = S[:, some][:, :, cols]
                for w in weights if which == "mixed" else weights[:1]:
                    for by, out in ((None, dtype), (shift, f8)):
                        found = stack.combined(w, some, cols, np.dtype(out), n_jobs=2, shift=by)
                        expected = np.tensordot(w, block - (0.0 if by is None else by[:, None, None]), 1)
                        assert found.dtype == out
                        np.testing.assert_allclose(found, expected, err_msg=name, **close)
                A, kernels = rng.normal(size=(2, len(cols))), rng.permutation(M)[: max(1, M // 2)]
                for part in (np.arange(M), kernels):
                    found = stack.products(A, cols, some, part, shift.astype(f8), 2)
                    np.testing.assert_allclose(found, np.einsum("mij,tj->tmi", block[part], A), err_msg=name, **close)


@pytest.mark.parametrize("few", [0, _stack.FEW_ENTRIES])
@pytest.mark.parametrize("n", [1, 6, 33, 70])
@pytest.mark.parametrize("dtype", [f4, f8])
def test_the_half_of_a_symmetric_stack_is_the_whole(dtype, n, few, monkeypatch):
    """`mirror` works on tiles of 32; rows and columns are the same examples."""
    monkeypatch.setattr(_stack, "STACK_ROWS", 7)
    monkeypatch.setattr(_stack, "FEW_ENTRIES", few)
    rng, M = np.random.default_rng(n), 9
    for stack, S in stacks(n, n, M, dtype, rng):
        S = S + np.swapaxes(S, 1, 2)
        stack.array[...] = np.moveaxis(S, 0, 2) if stack.last else S
        S, w, shift = np.asarray(S, dtype).astype(f8), rng.normal(size=M), rng.normal(size=M)
        kernels = rng.permutation(M)[:3]
        for name, some in choices(n, rng).items():
            found = stack.combined(w, some, some, np.dtype(f8), symmetric=True, n_jobs=2, shift=shift)
            block = S[:, some][:, :, some]
            expected = np.tensordot(w, block - shift[:, None, None], 1)
            np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12, err_msg=name)
            for few in (kernels, kernels[:1]):
                np.testing.assert_array_equal(stack.copied(few, some, 2), block[few])
        np.testing.assert_array_equal(stack.diagonals(), np.einsum("mii->mi", S))


@pytest.mark.parametrize("last", [False, True])
@pytest.mark.parametrize("n, dtype", [(17, f8), (34, f4), (301, f8), (301, f4)])
def test_the_survey_of_many_examples_has_the_variance_and_sees_every_skewed_entry(n, dtype, last, monkeypatch):
    """Runs of 256, sums of 32 rows, pairs of columns in steps of 16, each with a rest."""
    monkeypatch.setattr(dense, "MAX_FLOAT64_EXAMPLES", 10)
    rng, w = np.random.default_rng(n), np.random.default_rng(1).random(n) + 0.5
    X = rng.normal(size=(3, n, 4))
    S = np.einsum("mij,mkj->mik", X, X) + np.array([0.0, 5.0, 50.0])[:, None, None]
    S = np.ascontiguousarray(np.moveaxis(S, 0, 2) if last else S, dtype)
    given = S if last else np.moveaxis(S, 0, 2)
    bank = DenseBank(given, weights=w, n_jobs=2)
    w = w / w.sum()
    K = given.astype(f8)
    variance = np.einsum("iim,i->m", K, w) - np.einsum("ijm,i,j->m", K, w, w)
    np.testing.assert_allclose(bank.scale, 1 / variance, rtol=2e-5 if dtype == f4 else 1e-11)
    ends = [(0, 1), (n - 2, n - 1), (0, n - 1), (15, 16), *rng.integers(0, n, size=(4, 2))]
    for i, j in ends:
        if i == j:
            continue
        for at in ((i, j, 1), (j, i, 2)):
            bad = given.copy(order="C" if last else "K")
            bad[at] += 3.0
            with pytest.raises(ValueError, match=f"not symmetric in kernel 'kernel {at[2]}'"):
                DenseBank(bad, weights=w)


@pytest.mark.parametrize("n", [1, 2, 9])
@pytest.mark.parametrize("kinked", [False, True])
def test_single_steps_end_where_no_single_move_lowers_the_objective(n, kinked):
    rng = np.random.default_rng(n)
    for case in range(30):
        X = rng.normal(size=(n, 3))
        K, linear, diagonal = X @ X.T, rng.normal(size=n), rng.random(n) * (case % 2)
        K[np.diag_indices(n)] += 0.1
        kink = rng.random(n) if kinked else np.zeros(n)
        lo, hi = -rng.random(n), rng.random(n) * (rng.random(n) < 0.8)
        start = np.clip(rng.normal(size=n), lo, hi)
        a = start.copy()
        gradient = K @ a + linear + diagonal * a

        def value(x, K=K, linear=linear, diagonal=diagonal, kink=kink):
            return 0.5 * x @ K @ x + linear @ x + 0.5 * diagonal @ x**2 + kink @ np.abs(x)

        steps, violation, beta = single_steps(K, a, gradient, diagonal, kink, lo, hi, 1e-10, 10_000)
        assert violation <= 1e-10 and steps < 10_000 and beta == 0.0
        assert (a >= lo).all() and (a <= hi).all()
        np.testing.assert_allclose(gradient, K @ a + linear + diagonal * a, atol=1e-9)
        for i in range(n):
            for to in (lo[i], hi[i], 0.0, a[i] - 1e-4, a[i] + 1e-4):
                x = a.copy()
                x[i] = np.clip(to, lo[i], hi[i])
                assert value(x) >= value(a) - 1e-9
        # a limit of steps is kept, and each step lowers the objective
        before, a = np.inf, start.copy()
        for limit in range(4):
            a = start.copy()
            single_steps(K, a, K @ a + linear + diagonal * a, diagonal, kink, lo, hi, 0.0, limit)
            assert value(a) <= before + 1e-12
            before = value(a)
