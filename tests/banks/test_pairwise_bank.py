"""The on-the-fly bank equals the naive stack, whatever path computes it."""

import warnings

import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from naive_kernels import matrix, normalised
from sklearn.gaussian_process import kernels as gp

from manykernels import kernels as mk
from manykernels.banks.pairwise import PairwiseBank
from manykernels.kernels import RBF, KernelList, Linear, Polynomial
from manykernels.kernels.pair_blocks import TooLarge

rng = np.random.default_rng(0)
X = np.abs(rng.normal(size=(40, 3)))
NEW = np.abs(rng.normal(size=(7, 3)))
SPEC = [
    *(RBF(g) for g in (0.01, 0.1, 0.5, 1.0, 3.0)),
    Linear(),
    Polynomial(2),
    Polynomial(3, gamma=0.1),
    mk.Laplacian(0.2),
    mk.Chi2(0.5),
    mk.HistogramIntersection(),
    mk.Tanimoto(),
    mk.Cosine(),
    mk.Identity(),
    mk.Constant(2.0),
    RBF(0.1) * Linear() + mk.Identity(),
    RBF(0.1) + RBF(0.2),
    lambda A, B: (A @ B.T + 1) ** 2,
    ("one", RBF(1.0), [0]),
    ("two", Linear(), [1, 2]),
]
TOLERANCE = {np.float32: 3e-6, np.float64: 1e-11}
DTYPES = pytest.mark.parametrize("dtype", TOLERANCE)
NORMALISATIONS = pytest.mark.parametrize("normalize", ["multiplicative", "spherical", "trace", None])
W = rng.integers(0, 4, size=40).astype(float)


def naive(kernels, X, normalize, weights=None, new=None):
    """The normalised stacks (M, n, n) and (M, n_new, n), and the scales."""
    train, test, scales = [], [], []
    for kernel, columns in zip(kernels.kernels, kernels.columns, strict=True):
        x, z = (v if columns is None or v is None else v[:, columns] for v in (X, new))
        how = None if kernel.exempt else normalize
        K, scale, factor = normalised(matrix(kernel, x), how, weights)
        train.append(K)
        scales.append(scale)
        if new is not None:
            own = np.array([normalised(matrix(kernel, v[None]), how if how == "spherical" else None)[2][0] for v in z])
            test.append(scale * own[:, None] * matrix(kernel, z, x) * factor)
    return np.array(train), np.array(test), np.array(scales)


@pytest.fixture(autouse=True)
def same_numbers_in_any_order():
    rng.bit_generator.state = np.random.default_rng(1).bit_generator.state


def close(actual, expected, dtype, size=None):
    """Errors relative to the largest entry, or to `size` where sums cancel."""
    np.testing.assert_allclose(actual, expected, rtol=0, atol=TOLERANCE[dtype] * (size or np.abs(expected).max()))


def close_products(actual, S, A, dtype):
    """Errors of K_m a are relative to |K_m| |a|, whatever cancels."""
    size = np.einsum("mij,tj->tmi", np.abs(S), np.abs(A)).max()
    close(actual, np.einsum("mij,tj->tmi", S, A), dtype, size)


@DTYPES
@NORMALISATIONS
@pytest.mark.parametrize("weights", [None, W], ids=["", "weighted"])
def test_equals_the_naive_stack(dtype, normalize, weights):
    kernels = KernelList.from_spec(SPEC, X)
    bank = PairwiseBank(kernels, X, weights=weights, normalize=normalize, dtype=dtype)
    S, N, scale = naive(kernels, X, normalize, weights, NEW)
    theta = rng.random(bank.M) * (rng.random(bank.M) < 0.8)
    rows, cols = rng.permutation(40)[:11], np.arange(5, 29)
    A = rng.normal(size=(2, cols.size))
    some = np.array([7, 2, 13, 18])
    np.testing.assert_allclose(bank.scale, scale, rtol=20 * TOLERANCE[dtype])
    close(bank.diagonals(), np.einsum("mii->mi", S), dtype)
    close(bank.combined(theta), np.tensordot(theta, S, 1), dtype)
    close(bank.combined(theta, rows, cols), np.tensordot(theta, S, 1)[np.ix_(rows, cols)], dtype)
    close_products(bank.products(A, cols), S[:, :, cols], A, dtype)
    close_products(bank.products(A, cols, rows, some), S[some][:, rows][:, :, cols], A, dtype)
    cross = bank.predictor(cols)
    thetas = np.stack([theta, rng.random(bank.M)])
    parts = np.einsum("mij,tj->tim", N[:, :, cols], A)
    close(cross.combined(NEW, theta), np.tensordot(theta, N[:, :, cols], 1), dtype)
    close(cross.decision(NEW, A, theta), parts @ theta, dtype)
    close(cross.decision(NEW, A, thetas), np.einsum("tim,tm->ti", parts, thetas), dtype)
    close(cross.parts(NEW, A, thetas), parts * thetas[:, None], dtype)
    close(cross.gram(X, None, theta), np.tensordot(theta, S, 1), dtype)


@DTYPES
@pytest.mark.parametrize("normalize", ["multiplicative", "spherical"])
def test_short_cuts_for_few_columns_and_many_widths_are_exact(dtype, normalize):
    """Series of single columns, views of few columns side by side, and tables of many exponentials."""
    x = rng.normal(size=(260, 6))
    x[:, 1], x[:20, 2] = np.round(x[:, 1]), x[0, 2]
    each = [(RBF, np.geomspace(0.01, 4000, 24)), (mk.Laplacian, np.geomspace(0.01, 9, 12)), (Polynomial, (2, 3))]
    spec = [(f"{c} {kind} {g}", kind(g), c) for c in ([0], [1], [2, 3], [3, 4, 5]) for kind, some in each for g in some]
    kernels = KernelList.from_spec(spec, x)
    bank = PairwiseBank(kernels, x, dtype=dtype, normalize=normalize, n_jobs=2)
    pairs = zip(kernels.kernels, kernels.columns, strict=True)
    S = np.array([normalised(kernel(x[:, c]), normalize)[0] for kernel, c in pairs])
    A, theta, every = rng.normal(size=(2, 260)), rng.random((2, bank.M)), np.arange(260)
    some, few = rng.permutation(260)[:200], np.arange(100, 190)
    K = np.tensordot(theta[0], S, 1)
    close(bank.combined(theta[0]), K, dtype)
    close(bank.combined(theta[0], some, few), K[np.ix_(some, few)], dtype)
    moved = K - bank.combined(theta[0], shifted=True)
    assert moved.std() < 20 * TOLERANCE[dtype] * bank.combined(theta[0], shifted=True).std()
    close(bank.predictor(few).decision(x, A[:, few], theta), np.einsum("tm,mij,tj->ti", theta, S[:, :, few], A[:, few]),
          dtype, np.abs(K).max() * np.abs(A).sum())  # fmt: skip
    for rows in (every, few):
        for k, own in enumerate(np.moveaxis(bank.products(A, every, rows), 1, 0)):
            tolerance = TOLERANCE[dtype] * np.abs(S[k]).max() * np.abs(A).sum()
            np.testing.assert_allclose(own, A @ S[k][rows].T, rtol=0, atol=tolerance, err_msg=bank.names[k])


def test_threads_and_memory_limit_do_not_change_the_result():
    x = rng.normal(size=(300, 12))
    kernels = KernelList.from_spec([*mk.rbf_grid(x), Linear(), mk.Cosine()], x)
    one = PairwiseBank(kernels, x)
    theta, A, all_ = rng.random(one.M), rng.normal(size=(1, 300)), np.arange(300)
    two = PairwiseBank(kernels, x, n_jobs=2)
    np.testing.assert_array_equal(one.combined(theta), two.combined(theta))
    np.testing.assert_array_equal(one.products(A, all_), two.products(A, all_))
    small = PairwiseBank(kernels, x, memory_limit=300_000)
    assert all(side.cache is None for side in small.sides)
    close(small.combined(theta), one.combined(theta), np.float32)
    close(small.products(A, all_), one.products(A, all_), np.float32)


class Graphs:
    """Stands for GraKeL: fit_transform and transform return Gram matrices of lists of anything."""

    def fit_transform(self, X):
        self.X = X
        return self.transform(X)

    def transform(self, X):
        return np.array([[len(set(a) & set(b)) for b in self.X] for a in X], float)


@pytest.mark.filterwarnings("error")
def test_fitted_objects_process_kernels_and_functions_on_anything():
    words = np.array(["abc", "bcd", "xyz", "axy", "aaa", "cde"], dtype=object)
    data = {"words": words, "x": X[:6]}
    spec = [("g", Graphs(), "words"), ("p", gp.RBF(1.0) + gp.WhiteKernel(0.5), "x"), ("r", RBF(1.0), "x")]
    spec += [("f", lambda A, B: np.array([[float(a[0] == b[0]) for b in B] for a in A]), "words")]
    bank = PairwiseBank(KernelList.from_spec(spec, data), data, normalize=None)
    G = Graphs().fit_transform(words)
    first = np.array([[float(a[0] == b[0]) for b in words] for a in words])
    S = np.array([G, spec[1][1](X[:6]), RBF(1.0)(X[:6]), first])
    theta = np.array([0.1, 0.2, 0.3, 0.4])
    close(bank.combined(theta), np.tensordot(theta, S, 1), np.float32)
    rows = np.array([4, 0, 2])
    close(bank.restrict(rows).combined(theta), np.tensordot(theta, S, 1)[np.ix_(rows, rows)], np.float32)
    cross = bank.predictor(rows)
    new = {"words": words[:2], "x": NEW[:2]}
    expected = 0.1 * G[:2, rows] + 0.2 * gp.RBF(1.0)(NEW[:2], X[rows]) + 0.3 * RBF(1.0)(NEW[:2], X[rows])
    close(cross.combined(new, theta), expected + 0.4 * first[:2, rows], np.float32)
    with pytest.raises(ValueError, match="new"):
        cross.gram(new, None, theta)


def test_kernels_without_variance_are_named_and_left_out():
    x = np.column_stack([X, np.ones(40)])
    spec = [("good", RBF(1.0), [0]), ("flat", RBF(1.0), [3]), ("nought", lambda A, B: np.zeros((len(A), len(B))))]
    with pytest.warns(UserWarning, match="'flat', 'nought'"):
        bank = PairwiseBank(KernelList.from_spec(spec, x), x)
    assert list(bank.usable) == [True, False, False]
    assert list(bank.scale[1:]) == [0, 0]
    np.testing.assert_array_equal(bank.combined(np.array([0.0, 1.0, 1.0])), 0)
    with pytest.raises(ValueError, match="no kernel varies"):
        PairwiseBank(KernelList.from_spec(spec[1:], x), x)


@pytest.mark.parametrize("kernel", [lambda A, B: np.tanh(A @ B.T - 3), Polynomial(1, coef0=-5.0)], ids=["tanh", "poly"])
def test_indefinite_kernels_are_warned_about(kernel):
    with pytest.warns(UserWarning, match="'odd'.*semidefinite"):
        PairwiseBank(KernelList.from_spec([("odd", kernel), RBF()], X), X)


@pytest.mark.filterwarnings("error")
def test_nothing_is_warned_about_in_plain_use():
    PairwiseBank(KernelList.from_spec(mk.auto_kernels(X), X), X)


def test_bad_arguments_are_refused():
    kernels = KernelList.from_spec([RBF()], X)
    with pytest.raises(ValueError, match="normalize='sphere'"):
        PairwiseBank(kernels, X, normalize="sphere")
    with pytest.raises(ValueError, match="not finite"):
        PairwiseBank(KernelList.from_spec([Polynomial(12, gamma=1e6)], X), X)
    for weights in (np.ones(3), -np.ones(40), np.zeros(40)):
        with pytest.raises(ValueError, match="weights"):
            PairwiseBank(kernels, X, weights=weights)


@given(st.integers(2, 60), st.integers(1, 6), st.integers(0, 10**6))
@example(59, 1, 10362)
@settings(max_examples=25, deadline=None)
def test_any_size_equals_the_definition(n, d, seed):
    r = np.random.default_rng(seed)
    x = r.normal(size=(n, d)) * 10.0 ** r.integers(-2, 3)
    kernels = KernelList.from_spec([*(RBF(float(g)) for g in 10.0 ** r.uniform(-3, 2, size=9)), Polynomial(2)], x)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            bank = PairwiseBank(kernels, x, normalize=None)
        except TooLarge:  # for float32
            bank = PairwiseBank(kernels, x, normalize=None, dtype=np.float64)
        except ValueError as error:  # two near points and ten wide kernels: nothing varies
            assume("no kernel varies" not in str(error))
            raise
    centre = next(group.pairs.centre for group in bank.groups if group.pairs.kind == "sqdist")
    # float32 holds x - centre for distances and x for inner products: of these the kernels are right to float32,
    # of x itself a narrow RBF may be off by sqrt(gamma) |x| times that.
    apart, along = ((x - shift).astype(bank.dtype).astype(float) for shift in (centre, 0.0))
    S = np.array([kernel(apart if isinstance(kernel, RBF) else along) for kernel in kernels.kernels])
    S *= (bank.scale != 0)[:, None, None]
    theta, a = r.random(bank.M), r.normal(size=(1, n))
    for m in range(bank.M):
        close(bank.combined(np.eye(bank.M)[m]), S[m], np.float32, max(1, np.abs(S[m]).max()))
    close(bank.combined(theta), np.tensordot(theta, S, 1), np.float32, bank.M * np.abs(S).max())
    close_products(bank.products(a, np.arange(n)), S, a, np.float32)
