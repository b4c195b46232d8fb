"""One pass over a stack sees every pair: its sums are exact, and no skew goes unnoticed. Issue 11, point 24."""

import numpy as np
import pytest

from manykernels.banks import DenseBank, _stack, dense
from manykernels.banks._stack import Stack
from manykernels.kernels import RBF, KernelStack
from manykernels.loops.stack import survey_first, survey_last

rng = np.random.default_rng(0)


def surveyed(S, w, last):
    """(Σ w_i w_j (k_ij − middle), skew) of each kernel of S (n, n, M), over blocks as banks make them."""
    n, _, M = S.shape
    middle = S[0].mean(axis=0).astype(S.dtype)
    if last:
        total, skew = np.zeros(M), np.zeros(M, S.dtype)
        for start in range(0, n, 16):
            survey_last(S, w, middle, start, min(start + 16, n), total, skew)
        return total, skew
    u, found = np.where(rng.random(n) < 0.5, -1, 1).astype(S.dtype), np.zeros((M, 2))
    for m in range(M):
        survey_first(np.ascontiguousarray(S[..., m]), w, middle[m], u, found[m])
    return found.T


@pytest.mark.parametrize("last", [True, False], ids=["last", "first"])
@pytest.mark.parametrize("n", [2, 16, 17, 33, 34])
def test_each_pair_is_seen_by_itself(n, last):
    """A skew of one pair, wherever it lies and whichever of its two entries is larger, and of no other kernel."""
    base = rng.normal(size=(n, n, 3))
    base += base.transpose(1, 0, 2)
    w = rng.random(n)
    pairs = [(i, j) for i in range(n) for j in range(i + 1, n)]
    for i, j in [pairs[k] for k in rng.permutation(len(pairs))[:200]]:
        S = base.copy()
        S[(i, j, 1) if (i + j) % 2 else (j, i, 1)] += 0.25 if i % 2 else -0.25
        total, skew = surveyed(S, w, last)
        exact = np.einsum("i,j,ijm->m", w, w, S - S[0].mean(axis=0))
        np.testing.assert_allclose(total, exact, atol=1e-10)
        np.testing.assert_allclose(skew, [0.0, 0.25, 0.0], atol=1e-10)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("form", [np.asarray, lambda S: KernelStack(np.moveaxis(S, 2, 0))], ids=["last", "first"])
def test_one_skew_pair_of_a_large_stack_is_refused_by_the_name_of_its_kernel(form, dtype, monkeypatch):
    monkeypatch.setattr(dense, "MAX_FLOAT64_EXAMPLES", 8)
    X = rng.normal(size=(50, 2))
    S = np.stack([RBF(g)(X) for g in (0.1, 1.0, 3.0)], axis=2).astype(dtype)
    assert DenseBank(form(S)).M == 3
    for i, j in ((0, 1), (1, 0), (0, 2), (7, 8), (8, 7), (15, 16), (16, 18), (48, 49), (49, 47), (0, 49), (30, 3)):
        T = S.copy()
        T[i, j, 1] += 0.01
        with pytest.raises(ValueError, match="not symmetric in kernel 'kernel 1';"):
            DenseBank(form(T))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(("n", "M", "share"), [(150, 3, 1), (301, 1, 0.7), (300, 5, 0.1), (20, 200, 0.4), (9, 2, 0.1)])
def test_products_among_the_support_are_those_of_the_definition(dtype, n, M, share):
    """A stack (M, n, n) reads one triangle, whole runs or single columns; the diagonal counts once."""
    rng = np.random.default_rng(n)
    S = rng.normal(size=(M, n, n))
    S = (S + S.transpose(0, 2, 1)).astype(dtype)
    support, shift, kernels = np.sort(rng.permutation(n)[: int(share * n) + 1]), rng.normal(size=M), np.arange(M)[::2]
    A = rng.normal(size=(3, len(support)))
    expected = np.einsum("mij,tj->tmi", S[kernels][:, support][:, :, support].astype(float), A)
    for stack in (Stack(S), Stack(np.ascontiguousarray(S.transpose(1, 2, 0)), last=True)):
        np.testing.assert_allclose(stack.products(A, support, support, kernels, shift), expected, atol=1e-11)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("form", [np.asarray, lambda S: KernelStack(np.moveaxis(S, 2, 0))], ids=["last", "first"])
def test_loops_survey_a_stack_of_few_examples_as_exactly_as_numpy(form, dtype, monkeypatch):
    """In float64 sums for entries of any type, and by the largest skew of a pair: many skews of no account are none."""
    rng = np.random.default_rng(1)
    X, most = rng.normal(size=(200, 2)), 2e-4 if dtype == np.float32 else 6e-7
    S = np.stack([1e3 + RBF(g)(X) for g in (0.1, 1.0, 3.0)], axis=2).astype(dtype)
    exact = DenseBank(form(S))
    monkeypatch.setattr(dense, "FEW_ENTRIES", 0)
    np.testing.assert_allclose(DenseBank(form(S)).scale, exact.scale, rtol=1e-9)
    skewed = S + (0.5 * most * 1e3 * np.sign(rng.normal(size=S.shape))).astype(dtype)
    monkeypatch.setattr(dense, "warn_indefinite", lambda names: None)
    assert DenseBank(form(skewed)).M == 3
    skewed[7, 100, 2] += 1.0
    with pytest.raises(ValueError, match="not symmetric in kernel 'kernel 2';"):
        DenseBank(form(skewed))


@pytest.mark.parametrize("shifted", [False, True])
def test_a_sum_in_float32_is_less_its_shift_only_where_that_is_allowed(shifted):
    X = rng.normal(size=(90, 2))
    bank = DenseBank(np.stack([5.0 + RBF(g)(X) for g in (0.1, 1.0)], axis=2), normalize=None).summed(np.ones(2))
    exact = bank.combined(np.ones(1))
    single = bank.matrix(np.ones(1), None, np.float32, shifted)
    assert single.dtype == np.float32
    np.testing.assert_allclose(exact - single, exact[0].min() if shifted else 0.0, atol=2e-6)


@pytest.mark.parametrize("form", [np.asarray, lambda S: KernelStack(np.moveaxis(S, 2, 0))], ids=["last", "first"])
def test_entries_near_0_are_no_subnormal_numbers_in_sums(form, monkeypatch):
    """Which some processors multiply a hundred times slower; what is taken from the entries has no effect else."""
    monkeypatch.setattr(dense, "MAX_FLOAT64_EXAMPLES", 8)
    X = np.random.default_rng(2).normal(size=(60, 2))
    S = np.stack([np.where(np.eye(60, dtype=bool), 1.0, 1e-40), RBF(90.0)(X)], axis=2).astype(np.float32)
    tiny = np.finfo(np.float32).tiny
    assert np.any((S > 0) & (S < tiny))
    bank = DenseBank(form(S), normalize=None)
    for theta in ([1.0, 0.0], [0.5, 0.5]):
        single = bank.combined(np.array(theta), dtype=np.float32, shifted=True)
        assert np.abs(single[single != 0]).min() >= tiny
        np.testing.assert_allclose(single, S @ np.array(theta), atol=1e-7)


@pytest.mark.parametrize(("T", "kernels"), [(1, [7]), (1, [0, 39]), (2, [11]), (2, [3, 4, 30]), (1, list(range(40)))])
def test_few_kernels_of_a_stack_with_kernels_last_have_the_products_of_the_definition(T, kernels, monkeypatch):
    """One by one, or all of them at once."""
    monkeypatch.setattr(_stack, "FEW_ENTRIES", 0)
    rng = np.random.default_rng(T)
    S, A, shift = rng.normal(size=(30, 30, 40)), rng.normal(size=(T, 13)), rng.normal(size=40)
    rows, cols = np.sort(rng.permutation(30)[:17]), np.sort(rng.permutation(30)[:13])
    found = Stack(S, last=True).products(A, cols, rows, np.array(kernels), shift)
    expected = np.einsum("ijm,tj->tmi", S[rows][:, cols][..., kernels], A)
    np.testing.assert_allclose(found, expected, atol=1e-11)
