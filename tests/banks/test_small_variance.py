"""A kernel that varies little but honestly is kept by every bank, with its own scale."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from manykernels import MKLClassifier
from manykernels.banks import choice, features
from manykernels.banks.dense import DenseBank
from manykernels.banks.features import FeatureBank
from manykernels.banks.pairwise import PairwiseBank
from manykernels.banks.words.linadd import WordBank
from manykernels.banks.words.trie import TrieBank
from manykernels.kernels import RBF, Constant, Identity, KernelList, Linear, Polynomial
from manykernels.strings import Degree, Spectrum, WeightedDegree

rng = np.random.default_rng(0)
X = rng.normal(size=(50, 3))


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("dtype, far", [(np.float64, 1e2), (np.float64, 1e4), (np.float64, 1e8), (np.float32, 1e4)])
@pytest.mark.parametrize("normalize", ["multiplicative", "trace", None])
def test_a_constant_beside_a_matrix_takes_neither_its_weight_nor_its_scale(dtype, far, normalize):
    """variance / mean diagonal is about 1 / far, above the rounding of the matrix."""
    K = RBF(gamma=0.5)(X)
    near, moved = (
        DenseBank(np.stack([K + shift, 2 * K], axis=2).astype(dtype), normalize=normalize) for shift in (0, far)
    )
    assert moved.usable.all()
    if normalize == "multiplicative":  # the variance does not see the constant
        np.testing.assert_allclose(moved.scale, near.scale, rtol=20 * far * np.finfo(dtype).eps)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("dtype, far", [(np.float64, 1e8), (np.float32, 1e4)])
def test_a_constant_beside_a_kernel_computed_on_the_fly(dtype, far):
    kernels = KernelList.from_spec([RBF(gamma=0.5) + Constant(far), RBF(gamma=0.5)], X)
    bank = PairwiseBank(kernels, X, dtype=dtype)
    assert bank.usable.all()
    np.testing.assert_allclose(bank.scale[0], bank.scale[1], rtol=20 * far * np.finfo(dtype).eps)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("far", [1e3, 1e4, 1e5])
@pytest.mark.parametrize("normalize", ["multiplicative", "trace", None])
def test_explicit_features_and_pairs_draw_the_line_at_the_same_place(far, normalize, monkeypatch):
    """The variance is 1 / far² of the squares: all of it is float64 arithmetic, and all keep the column."""
    monkeypatch.setattr(features, "MIN_VARIANCE_SHARE", 0.0)
    Z, w = X + [0.0, far, 0.0], np.arange(50) % 3 + 1.0
    wide = np.hstack([Z, np.zeros((50, 30))])
    lists = []
    for data in (Z, csr_array(wide)):
        near = [0, *range(2, data.shape[1])]
        lists.append((KernelList.from_spec([("far", Linear(), [1]), ("near", Linear(), near)], data), data))
    K = np.stack([np.outer(Z[:, 1], Z[:, 1]), Z[:, [0, 2]] @ Z[:, [0, 2]].T], axis=2)
    banks = [FeatureBank.from_list(*each, weights=w, normalize=normalize) for each in lists]
    assert [bank.phi.sparse for bank in banks] == [False, True]
    banks.append(PairwiseBank(*lists[0], weights=w, normalize=normalize, dtype=np.float64))
    banks.append(DenseBank(K, weights=w, normalize=normalize))
    centred = Z[:, 1] - np.average(Z[:, 1], weights=w)
    exact = 1 / np.average(centred**2, weights=w)
    for bank, rounding in zip(banks, (1e-12, 1e-12, 1e-14 * far**2, 1e-14 * far**2), strict=True):
        assert bank.usable.all()
        if normalize == "multiplicative":  # explicit features are centred first
            np.testing.assert_allclose(bank.scale[0], exact, rtol=max(rounding, 1e-16 * far + 1e-12))


def test_columns_far_from_the_origin_are_kept_whatever_the_number_of_examples(monkeypatch):
    """Explicit features, which many examples ask for, leave them to pairs, and say what would help."""
    y, Z = X[:, 0] > 0, X + [2000.0, 0.0, 0.0]
    kernels = [("far", Linear(), [0]), ("near", Linear(), [1, 2])]
    few = MKLClassifier(kernels, tol=1e-6).fit(Z, y)
    monkeypatch.setattr(choice, "MAX_PAIRWISE", 10)
    with pytest.warns(UserWarning, match="'far' see columns far from the origin.*centre"):
        many = MKLClassifier(kernels, tol=1e-6).fit(Z, y)
    np.testing.assert_allclose(many.kernel_weights_, few.kernel_weights_, atol=1e-2)
    assert many.kernel_weights_[0] > 0.9 and many.score(Z, y) > 0.9


@pytest.mark.parametrize("value", [0.1, 3.7e5])
def test_a_constant_column_has_no_variance_however_many_examples(value):
    """Sums of 0.1 drift: 1e-11 of them after a million."""
    n = 200_000
    Z = np.zeros((n, 8))
    Z[:, 0], Z[::20, 1:] = value, value
    for data in (Z[:, :2], csr_array(Z)):
        kernels = KernelList.from_spec([("flat", Linear(), [0]), ("steps", Linear(), slice(1, None))], data)
        bank = FeatureBank.from_list(kernels, data)
        assert bank.usable.tolist() == [False, True] and bank.phi.sparse == (data.shape[1] == 8)


@pytest.mark.filterwarnings("ignore:kernels without variance")
@pytest.mark.parametrize("value", [-0.10888781, 1e-3, 1e3, 0.0])
@pytest.mark.parametrize("degree", [2, 4, 7])
def test_a_polynomial_of_a_constant_column_has_no_variance(value, degree):
    """The series of one column had errors of its values near x ± 1 (fuzz, seed 20261121, 10570)."""
    column = np.full((45, 1), value)
    kernels = KernelList.from_spec([Identity(), Polynomial(coef0=0.0, degree=degree, gamma=1.0)], column)
    bank = PairwiseBank(kernels, column, dtype=np.float64, normalize=None)
    assert bank.usable.tolist() == [True, False]


@pytest.mark.parametrize("weights", [None, np.random.default_rng(1).choice([0.5, 1.0, 2.0, 1e-3], 45)])
@pytest.mark.parametrize("make", [np.asarray, csr_array])
def test_gamma_scale_of_a_constant_column_is_1(weights, make):
    """The rounding of the weighted mean was its variance, and gamma was 5e33."""
    for value in (-0.10888781, 0.1, 1e5 / 3):
        assert RBF(gamma="scale").resolve(make(np.full((45, 1), value)), weights).gamma == 1.0


@pytest.mark.parametrize("bank, kernels", [(WordBank, [Spectrum(3), Degree(2)]), (TrieBank, [WeightedDegree(3)])])
def test_one_light_sequence_among_equal_ones_is_variance(bank, kernels):
    words = ["ACGTTGCAAC"] * 2999 + ["ACGTTGCAAG"]
    w = np.r_[np.full(2999, 1e5), 1.0]  # its share of the weight is 3e-9
    specs = KernelList.from_spec(kernels, words)
    assert bank.from_list(specs, words, weights=w).usable.all()
    assert not bank.from_list(specs, words[:-1] + words[:1], weights=w).usable.any()


@pytest.mark.parametrize("order", ["first", "last"])
def test_products_of_some_kernels_have_their_own_shifts(order):
    """Kernels that vary little are summed as differences from a constant of their own."""
    K = RBF(gamma=0.5)(X)
    S = np.stack([K + far for far in (0.0, 3e3, 1e3)], axis=2).astype(np.float32)
    stack = S if order == "last" else np.ascontiguousarray(np.moveaxis(S, 2, 0)).transpose(1, 2, 0)
    bank = DenseBank(stack, normalize=None)
    some, a = np.array([2, 1]), rng.normal(size=(1, len(X)))
    found = bank.products(a, np.arange(len(X)), kernels=some)
    expected = np.einsum("ijm,tj->tmi", S.astype(float), a)[:, some]
    np.testing.assert_allclose(found, expected, atol=1e-3 * np.abs(expected).max())
