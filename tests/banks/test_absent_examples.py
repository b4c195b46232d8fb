"""Examples that lack a view, while training and later: every bank is the naive stack, in which their entries are 0."""

import numpy as np
import pytest

from manykernels.banks import DenseBank, PairwiseBank, _tiled_sums
from manykernels.banks.choice import explicit_bank
from manykernels.banks.subset import SubsetBank
from manykernels.kernels import (
    RBF,
    Cosine,
    KernelList,
    KernelStack,
    Laplacian,
    Linear,
    Polynomial,
    RandomFeatures,
)
from manykernels.strings import Degree, GappedKmer, Mismatch, Spectrum, WeightedDegreeShift

n, NEW = 26, 11
rng = np.random.default_rng(8)
weights = np.arange(n) % 4 + 0.5
u, v = rng.normal(size=(n + NEW, 3)), 2.0 + rng.normal(size=(n + NEW, 2))
letters = ["".join(rng.choice(list("ACGT"), size=9)) for _ in range(n + NEW)]
LATER = np.isin(np.arange(n + NEW), [n + 1, n + 4, n + 10])
OFTEN = LATER | np.isin(np.arange(n + NEW), [0, 5, 6, 20])
ELSEWHERE = np.isin(np.arange(n + NEW), [3, 5, n, n + 4])
NUMBERS = [("wide", RBF(0.3), "u", "zero"), ("line", Linear(), "u", "zero"), ("narrow", RBF(2.0), "u", "zero"),
           ("other", Laplacian(0.4), "v", "zero"), ("cube", Polynomial(3, 0.5, 1.0), "v", "zero")]  # fmt: skip
FEATURES = [("line", Linear(), "u", "zero"), ("angle", Cosine(), "v", "zero"), ("plain", Linear(), "v", "zero")]
LOW = [("a", RandomFeatures(RBF(0.3), 6, random_state=1), "u", "zero"),
       ("b", RandomFeatures(RBF(2.0), 4, random_state=2), "v", "zero")]  # fmt: skip


def words(*kernels):
    return [(str(k), kernel, "s", "zero") for k, kernel in enumerate(kernels)]


def pairwise(dtype):
    def make(kernels, data, **options):
        return PairwiseBank(kernels, data, dtype=dtype, **options)

    return make


def features(kernels, data, **options):
    bank = explicit_bank(kernels, data, **options)
    assert bank is None or bank.explicit
    return bank


gone = {"u": OFTEN, "v": ELSEWHERE, "s": LATER}
CASES = {  # kernels, the bank, the examples that lack each view, the precision
    "pairs": (NUMBERS, pairwise(np.float64), gone, 1e-11),
    "pairs, float32": (NUMBERS, pairwise(np.float32), gone, 2e-5),
    "pairs of words": (
        words(Spectrum(2), Degree(2), WeightedDegreeShift(3, 1), Mismatch(3, 1)),
        pairwise(np.float64), gone | {"s": OFTEN}, 1e-11,
    ),
    "pairs of words that all had": (
        words(Spectrum(2), Degree(2), GappedKmer(4, 2)), pairwise(np.float64), gone, 1e-11
    ),
    "features": (FEATURES, features, gone, 1e-11),
    "low rank": (LOW, features, gone, 1e-11),
    "joined": ([*FEATURES[:2], *LOW[1:], *words(Spectrum(2))], features, gone, 1e-11),
    "degrees": (words(Degree(1), Degree(3)), features, gone, 2e-5),
    "trie": (words(WeightedDegreeShift(2, 1), WeightedDegreeShift(3, 1)), features, gone, 2e-5),
    "words": (words(Spectrum(2), Spectrum(3)), features, gone, 1e-11),
    "tables": (words(Mismatch(3, 1), Mismatch(2, 1)), features, gone, 1e-11),
}  # fmt: skip


def data_of(gone, rows):
    views = {"u": np.where(gone["u"][:, None], np.nan, u), "v": np.where(gone["v"][:, None], np.nan, v)}
    views["s"] = np.array([None if lacks else x for x, lacks in zip(letters, gone["s"], strict=True)], object)
    return {name: view[rows] for name, view in views.items()}


def stack_of(specs, kernels, gone):
    """k_m of all examples by calls, 0 where one lacks the view: (M, n + NEW, n + NEW)."""
    full = KernelList.from_spec(
        [(name, kernel, view) for name, kernel, view, _ in specs], {"u": u, "v": v, "s": letters}
    )
    seen = full.views({"u": u, "v": v, "s": letters})
    S = np.stack([k(seen[at].X) for k, at in zip(kernels.kernels, full.view_of, strict=True)])
    here = np.stack([~gone[view] for _, _, view, _ in specs])
    return S * here[:, :, None] * here[:, None]


def normalised(S, normalize, w):
    """(kernels, scale) by the definition, from the first len(w) examples."""
    if normalize == "spherical":
        d = np.einsum("mii->mi", S)
        root = np.divide(1.0, np.sqrt(d), out=np.zeros_like(d), where=d > 0)
        S = S * root[:, :, None] * root[:, None]
    k, w = len(w), w / w.sum()
    diagonal, mean = np.einsum("mii->mi", S)[:, :k] @ w, np.einsum("mij,i,j->m", S[:, :k, :k], w, w)
    scale = 1.0 / {"multiplicative": diagonal - mean, "trace": diagonal}.get(normalize, np.ones(len(S)))
    return S * scale[:, None, None], scale


@pytest.mark.parametrize("normalize", ["multiplicative", "spherical", "trace", None])
@pytest.mark.parametrize("compiled", [False, True], ids=["", "compiled"])
@pytest.mark.parametrize("name", CASES)
def test_a_bank_and_its_predictor_are_the_stack_with_zeros(name, compiled, normalize, monkeypatch):
    specs, make, gone, precision = CASES[name]
    if compiled and not name.startswith("pairs"):
        pytest.skip("it has no loops in NumPy")
    if compiled:
        monkeypatch.setattr(_tiled_sums, "few", lambda *size: False)
    old, new = data_of(gone, slice(n)), data_of(gone, slice(n, None))
    kernels = KernelList.from_spec(specs, old)
    bank = make(kernels, old, weights=weights, normalize=normalize)
    if bank is None:
        assert normalize == "spherical"
        return
    S, scale = normalised(stack_of(specs, kernels, gone), normalize, weights)
    close = dict(rtol=0, atol=precision * np.abs(S).max() * n)
    np.testing.assert_allclose(bank.scale, scale, rtol=1e-4 if precision > 1e-9 else 1e-9)
    theta, A = np.linspace(0.5, 1.5, bank.M), rng.normal(size=(2, n))
    K = np.tensordot(theta, S, 1)
    np.testing.assert_allclose(bank.diagonals(), np.einsum("mii->mi", S)[:, :n], **close)
    np.testing.assert_allclose(bank.combined(theta), K[:n, :n], **close)
    np.testing.assert_allclose(bank.products(A, np.arange(n)), np.einsum("mij,tj->tmi", S[:, :n, :n], A), **close)
    support, A = np.arange(1, n, 2), A[:, 1::2]
    predictor, both = bank.predictor(support), np.stack([theta, theta[::-1]])
    parts = np.einsum("tm,mij,tj->tim", both, S[:, n:, support], A)
    np.testing.assert_allclose(predictor.parts(new, A, both), parts, **close)
    np.testing.assert_allclose(predictor.decision(new, A, both), parts.sum(axis=2), **close)
    np.testing.assert_allclose(predictor.decision(new, A[:1], theta), A[:1] @ K[n:, support].T, **close)
    np.testing.assert_allclose(predictor.prepared(A, both, 2**20)(new), parts.sum(axis=2), **close)
    np.testing.assert_allclose(predictor.combined(new, theta), K[n:, support], **close)
    np.testing.assert_allclose(predictor.gram(new, None, theta), K[n:, n:], **close)
    some = data_of(gone, slice(n + 3, n + 8))
    np.testing.assert_allclose(predictor.gram(new, some, theta), K[n:, n + 3 : n + 8], **close)
    own = predictor.diagonal(new, theta)
    if own is not None:
        np.testing.assert_allclose(own, np.diagonal(K)[n:], **close)
    nobody = data_of({view: np.ones(n + NEW, bool) for view in gone}, slice(n, n + 3))
    assert not predictor.decision(nobody, A, both).any() and not predictor.parts(nobody, A, both).any()
    nothing = predictor.decision(new, A, np.zeros(bank.M))
    assert nothing.shape == (2, NEW) and not nothing.any()


@pytest.mark.parametrize("normalize", ["multiplicative", "spherical", "trace", None])
def test_precomputed_kernels_may_be_0_for_some_examples(normalize):
    """As for one that lacks the source: also in a part of the examples, and among new ones."""
    raw = np.stack([u @ u.T + 3.0, np.exp(-0.5 * ((v[:, None] - v) ** 2).sum(axis=2))])
    raw *= np.stack([np.outer(~OFTEN, ~OFTEN), np.outer(~ELSEWHERE, ~ELSEWHERE)])
    w, index = weights, np.arange(2, n)
    S, scale = normalised(raw, normalize, w)
    bank = DenseBank(np.moveaxis(raw[:, :n, :n], 0, 2), weights=w, normalize=normalize)
    np.testing.assert_allclose(bank.scale, scale, rtol=1e-10)
    np.testing.assert_allclose(bank.diagonals(), np.einsum("mii->mi", S)[:, :n], atol=1e-12)
    for m, one in enumerate(np.eye(2)):
        np.testing.assert_allclose(bank.combined(one), S[m, :n, :n], atol=1e-11)
    new = KernelStack(raw[:, n:, :n], test_diagonals=np.einsum("mii->mi", raw)[:, n:])
    support, A = np.array([0, 3, 4, 5, 9]), rng.normal(size=(2, 5))
    found = bank.predictor(support).parts(new, A, np.ones(2))
    np.testing.assert_allclose(found, np.einsum("mij,tj->tim", S[:, n:, support], A), atol=1e-11)
    part = SubsetBank(bank, index, weights=w[index], normalize=normalize)
    P, _ = normalised(raw[:, index][:, :, index], normalize, w[index])
    for m, one in enumerate(np.eye(2)):
        np.testing.assert_allclose(part.combined(one), P[m], atol=1e-11)


@pytest.mark.parametrize("normalize", ["multiplicative", "spherical"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_smooth_kernels_of_one_column_have_the_factors_of_their_own_example(dtype, normalize):
    """Some hundred examples of one column: products by series, of more terms the narrower the kernel."""
    size, line = 700, np.random.default_rng(3)
    x = line.uniform(-1.0, 1.0, size=(size, 1))
    x[::50] = np.nan
    specs = [(str(g), RBF(g), [0], "zero") for g in (0.01, 0.2, 3.0, 40.0)]
    specs += [("square", Polynomial(2, 1.0, 1.0), [0], "zero"), ("cube", Polynomial(3, 0.3, 2.0), [0], "zero")]
    kernels = KernelList.from_spec(specs, x)
    bank = PairwiseBank(kernels, x, dtype=dtype, normalize=normalize)
    here = ~np.isnan(x[:, 0])
    S = np.stack([k(np.nan_to_num(x)) for k in kernels.kernels]) * np.outer(here, here)
    S, scale = normalised(S, normalize, np.ones(size))
    loose = 1e-3 if dtype == np.float32 else 1e-8
    np.testing.assert_allclose(bank.scale, scale, rtol=loose)
    A, support = line.normal(size=(2, 300)), np.sort(line.permutation(size)[:300])
    for rows in (np.arange(size), support):
        expected = np.einsum("mij,tj->tmi", S[:, rows][:, :, support], A)
        found = bank.products(A, support, rows)
        limit = loose * np.abs(S).max(axis=(1, 2))[:, None] * np.abs(A).sum()
        assert (np.abs(found - expected) <= limit).all()
