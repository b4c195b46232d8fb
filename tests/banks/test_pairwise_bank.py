"""The on-the-fly bank equals the naive stack, whatever path computes it."""


import numpy as np
import pytest
from naive_kernels import normalised
from sklearn.gaussian_process import kernels as gp

from manykernels import kernels as mk
from manykernels.banks.pairwise import PairwiseBank
from manykernels.kernels import RBF, KernelList, Polynomial

rng = np.random.default_rng(0)
X = np.abs(rng.normal(size=(40, 3)))
NEW = np.abs(rng.normal(size=(7, 3)))
TOLERANCE = {np.float32: 3e-6, np.float64: 1e-11}
DTYPES = pytest.mark.parametrize("dtype", TOLERANCE)


@pytest.fixture(autouse=True)
def same_numbers_in_any_order():
    rng.bit_generator.state = np.random.default_rng(1).bit_generator.state


def close(actual, expected, dtype, size=None):
    """Errors relative to the largest entry, or to `size` where sums cancel."""
    np.testing.assert_allclose(actual, expected, rtol=0, atol=TOLERANCE[dtype] * (size or np.abs(expected).max()))


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
