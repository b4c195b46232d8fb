"""Numeric features in one matrix: the same kernels as called directly, and the same fits as on matrices."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.kernel_approximation import Nystroem, RBFSampler

from manykernels.banks.dense import DenseBank
from manykernels.banks.features import FeatureBank
from manykernels.kernels import (
    RBF,
    Cosine,
    Features,
    KernelList,
    Linear,
    group_kernels,
    per_column,
    rank_one_kernels,
    spherical,
)

WORDS = [f"w{j}" for j in range(10)]
SAMPLER = RBFSampler(gamma=0.1, n_components=30, random_state=0)


def dense(n=40, seed=0):
    return np.random.default_rng(seed).normal(size=(n, 10)) + 0.3


def sparse(n=40, seed=0):
    return sp.csr_array(dense(n, seed) * (np.random.default_rng(seed + 1).random((n, 10)) < 0.15))


def frame(n=40, seed=0):
    return pd.DataFrame(dense(n, seed), columns=WORDS)


def views(n=40, seed=0):
    return {"text": sparse(n, seed), "numbers": dense(n, seed + 7)}


GROUPS = group_kernels({"a": [0, 3, 4], "b": [1, 2], "c": slice(5, 10)})
CASES = {
    "groups": (GROUPS, dense),
    "groups of CSR": (GROUPS, sparse),
    "overlapping groups": ([Linear(), *group_kernels([[0, 3, 4], [4, 3, 9], [1]])], dense),
    "overlapping groups of CSR": ([Linear(), *group_kernels([[0, 3, 4], [4, 3, 9], [1]])], sparse),
    "named columns": ([("f", Linear(), ["w4", "w1"]), ("g", Cosine(), ["w9", "w1"]), ("h", Linear(), ["w0"])], frame),
    "views": (
        [("t", Linear(), "text"), ("n", Linear(), ("numbers", [3, 2])), ("u", Linear(), ("text", [3, 2])),
         ("r", Features(SAMPLER), "numbers"), ("c", Cosine(), "text")],
        views,
    ),
    "rank one": (rank_one_kernels(10), dense),
    "rank one of CSR": (rank_one_kernels(WORDS), sparse),
    "random features": ([Features(SAMPLER), Features(Nystroem(n_components=9, random_state=1)), Linear()], dense),
}  # fmt: skip
every_case = pytest.mark.parametrize("case", CASES)
every_normalize = pytest.mark.parametrize("normalize", ["multiplicative", "spherical", "trace", None])


def matrices(kernels, X, Y=None):
    """k_m(X, Y) of every kernel, called directly, (M, n, n')."""
    left, right = kernels.views(X), kernels.views(X if Y is None else Y)
    return np.stack([k(left[v].X, right[v].X) for v, k in zip(kernels.view_of, kernels.kernels, strict=True)])


def bank_and_matrices(case, normalize=None, weights=None, **options):
    specs, data = CASES[case]
    kernels = KernelList.from_spec(specs, data())
    Ks = matrices(kernels, data())
    scale = DenseBank(np.moveaxis(Ks, 0, 2), normalize=normalize, weights=weights).scale
    Ks = np.stack([spherical(K) for K in Ks]) if normalize == "spherical" else Ks
    return FeatureBank.from_list(kernels, data(), normalize=normalize, weights=weights, **options), Ks, scale


@every_case
@every_normalize
def test_features_give_the_kernels_themselves_of_any_columns_and_sources(case, normalize):
    bank, Ks, scale = bank_and_matrices(case, normalize, np.arange(40) % 3 + 1.0)
    assert bank.phi.sparse == (case.endswith("CSR"))
    np.testing.assert_allclose(bank.scale, scale, rtol=1e-10)
    specs, data = CASES[case]
    kernels, new, rng = KernelList.from_spec(specs, data()), data(15, seed=5), np.random.default_rng(0)
    Ns = matrices(kernels, new, data())
    if normalize == "spherical":
        own = [np.einsum("mii->mi", matrices(kernels, X)) for X in (new, data())]
        Ns = np.stack([spherical(K, d, e) for K, d, e in zip(Ns, *own, strict=True)])
    Ks, Ns = Ks * scale[:, None, None], Ns * scale[:, None, None]
    theta, a = rng.random(bank.M), rng.normal(size=(2, 40))
    close = {"atol": 1e-9 * max(1.0, np.abs(Ks).max())}
    np.testing.assert_allclose(bank.diagonals(), np.einsum("mii->mi", Ks), **close)
    np.testing.assert_allclose(bank.combined(theta), np.tensordot(theta, Ks, 1), **close)
    np.testing.assert_allclose(bank.products(a, np.arange(40)), np.einsum("mij,tj->tmi", Ks, a), **close)
    parts = np.einsum("m,mij,tj->tim", theta, Ns, a)
    np.testing.assert_allclose(bank.predictor(np.arange(40)).parts(new, a, theta), parts, **close)


@pytest.mark.parametrize("ordered", [True, False])
def test_entries_that_stand_twice_count_as_their_sum(ordered):
    columns, values = np.array([0, 0, 1, 2, 2, 9]), np.array([1.0, 2.0, 3.0, 1.0, 1.0, 5.0])
    columns = columns if ordered else columns[[2, 0, 1, 3, 4, 5]]
    values = values if ordered else values[[2, 0, 1, 3, 4, 5]]
    F = sp.csr_array((values, columns, np.array([0, 3, 4, 5, 6])), shape=(4, 10))
    for normalize in (None, "spherical", "multiplicative"):
        found, whole = (
            FeatureBank.from_list(KernelList.from_spec([Linear()], X), X, normalize=normalize)
            for X in (F, sp.csr_array(F.toarray()))
        )
        np.testing.assert_allclose(found.combined(np.ones(1)), whole.combined(np.ones(1)), atol=1e-12)


def test_rank_one_kernels_are_called_after_their_columns():
    texts = ["the car is red", "the ball is round", "red ball"]
    vectorizer = CountVectorizer()
    X, words = vectorizer.fit_transform(texts), list(vectorizer.get_feature_names_out())
    for columns in (vectorizer, words, pd.DataFrame(X.toarray(), columns=words)):
        assert KernelList.from_spec(rank_one_kernels(columns), X).names == words
    kernels = KernelList.from_spec(rank_one_kernels(X), X)
    assert kernels.names == KernelList.from_spec(per_column(Linear(), len(words)), X).names
    x = X.toarray()
    np.testing.assert_array_equal(matrices(kernels, X), np.einsum("im,jm->mij", x, x))
    assert rank_one_kernels(2, view="text")[1].columns == ("text", [1])
    with pytest.raises(ValueError, match="no column"):
        rank_one_kernels([])


def test_what_has_no_features_or_is_too_large_is_left_to_others():
    X = dense()
    assert FeatureBank.from_list(KernelList.from_spec([Linear(), RBF(0.1)], X), X) is None
    assert FeatureBank.from_list(KernelList.from_spec([Linear()], X), X, memory_limit=1000) is None
