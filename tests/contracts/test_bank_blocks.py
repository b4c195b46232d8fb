"""Every bank is the stack of its kernels in small blocks too, with two threads, and where examples lack a source."""

from types import SimpleNamespace

import numpy as np
import pytest
import test_banks
from covering import covering

from manykernels.banks import (
    DenseBank,
    PairwiseBank,
    _degree_walks,
    _feature_rows,
    _lazy_rows,
    _stack,
    _tiled_sums,
    dense,
    explicit,
    pairwise,
)  # fmt: skip
from manykernels.banks.choice import explicit_bank
from manykernels.banks.joined import JoinedPredictor
from manykernels.banks.subset import SubsetBank
from manykernels.banks.words import _trie_stores, degree, degree_predictor, linadd, tables, trie
from manykernels.kernels import RBF, Cosine, KernelList, Linear, Nystroem, RandomFeatures
from manykernels.kernels.spec import KernelSpec
from manykernels.strings import Spectrum, WeightedDegree, WeightedDegreeShift, word_table

SIZES = {  # of blocks, none of which divides the number of examples
    (_stack, "STACK_ROWS"): 7, (_stack, "FEW_ENTRIES"): 0, (_stack, "HALF_BLOCKS"): 5, (dense, "STACK_ROWS"): 7,
    (dense, "FEW_ENTRIES"): 0, (explicit, "EXAMPLES_PER_BLOCK"): 5, (degree, "EXAMPLES_PER_BLOCK"): 5,
    (_feature_rows, "FEATURE_ROWS"): 9, (_trie_stores, "ROWS_COMPARED"): 5,
    (_lazy_rows, "ROWS_PER_THREAD"): 9, (pairwise, "KERNELS_PER_PASS"): 2, (linadd, "LOOK_UP_ROWS"): 5,
    (tables, "LOOK_UP_ROWS"): 5, (word_table, "COLUMNS"): 3, (word_table, "MIN_LANE_LETTERS"): 50,
    (trie, "PACKED_ROWS"): 7,
    (degree_predictor, "NEW_SEQUENCES_PER_TILE"): 11, (_degree_walks, "_SUM_ENTRIES"): 300,
}  # fmt: skip


def small_tile(n_rows, n_cols, *args, **options):
    return max(1, min(n_rows, 7)), max(1, min(n_cols, 9))


@pytest.fixture(autouse=True)
def small(monkeypatch):
    for (module, name), size in SIZES.items():
        assert isinstance(getattr(module, name), int)
        monkeypatch.setattr(module, name, size)
    monkeypatch.setattr(_feature_rows.blocks, "__defaults__", (9,))
    for module in (_tiled_sums, pairwise):
        monkeypatch.setattr(module, "tile_shape", small_tile)
    monkeypatch.setattr(test_banks, "rng", np.random.default_rng(5))


def two_threads(monkeypatch, name):
    specs, data, make, dtype = test_banks.BANKS[name]
    monkeypatch.setitem(test_banks.BANKS, name, (specs, data, lambda *a, **o: make(*a, n_jobs=2, **o), dtype))


HERE = [name for name in test_banks.BANKS if not name.startswith("device")]
every_bank = pytest.mark.parametrize("name, normalize", covering(HERE, test_banks.NORMALIZE))
ignored = pytest.mark.filterwarnings("ignore:kernels without variance")


@ignored
@every_bank
def test_a_bank_in_small_blocks_is_the_stack_of_its_kernels(name, normalize, monkeypatch):
    two_threads(monkeypatch, name)
    test_banks.test_a_bank_is_the_stack_of_its_kernels(name, normalize)
    test_banks.test_a_bank_gives_its_matrices_and_holds_them(name, normalize)
    test_banks.test_a_predictor_is_the_stack_with_new_examples(name, normalize)


@ignored
@pytest.mark.parametrize("name, normalize", covering(HERE, test_banks.NORMALIZE, first=1))
def test_a_part_of_a_bank_in_small_blocks_is_that_of_the_stack(name, normalize, monkeypatch):
    two_threads(monkeypatch, name)
    test_banks.test_a_restricted_bank_is_a_part_of_the_stack(name, normalize)


@ignored
@pytest.mark.parametrize("name, normalize", covering(HERE, test_banks.NORMALIZE, first=2))
def test_explicit_features_in_small_blocks_are_those_of_the_stack(name, normalize, monkeypatch):
    two_threads(monkeypatch, name)
    test_banks.test_explicit_features_are_those_of_the_stack(name, normalize)


@ignored
@pytest.mark.parametrize("name, normalize", covering(HERE, test_banks.NORMALIZE, first=3))
def test_kernels_between_new_examples_in_small_blocks_are_those_of_the_stack(name, normalize, monkeypatch):
    two_threads(monkeypatch, name)
    test_banks.test_a_predictor_has_the_kernel_between_new_examples(name, normalize)
    test_banks.test_a_predictor_has_what_a_posterior_needs_or_none(name, normalize)


n, N_NEW = 30, 13
rng = np.random.default_rng(0)
X = rng.normal(size=(n + N_NEW, 5))
X[[3, 17, n + 2, n + 7, n + 12], 0], X[[4, 17, n + 4, n + 7], 3] = np.nan, np.nan
words = ["".join(row) for row in rng.choice(list("ACGT"), p=[0.4, 0.3, 0.2, 0.1], size=(n + N_NEW, 12))]
for lost in (2, 11, n + 1, n + 6, n + 11):
    words[lost] = None


def low(kernel):
    return RandomFeatures(kernel, 6)


LACKING = {  # kernels on columns [0, 1], [2, 3] and [4], or on sequences
    "features": [("a", Linear(), [0, 1], "zero"), ("b", Cosine(), [2, 3], "zero"), ("c", Linear(), [4])],
    "low rank": [("a", low(RBF(0.3)), [0, 1], "zero"), ("b", low(RBF(1.0)), [2, 3], "zero"), ("c", low(RBF(0.2)), [4])],
    "landmarks": [("a", Nystroem(RBF(0.3), 7), [0, 1], "zero"), ("b", Linear(), [2, 3], "zero")],
    "both": [("a", low(RBF(0.3)), [0, 1], "zero"), ("b", Linear(), [2, 3], "zero"), ("c", Linear(), [4]),
             ("d", low(RBF(1.0)), [2, 3], "zero"), ("e", Linear(), [0, 1], "zero")],
    "pairs": [("a", RBF(0.3), [0, 1], "zero"), ("b", RBF("scale"), [2, 3], "zero"), ("c", RBF(0.1), [4])],
    "words": [("a", Spectrum(2), None, "zero"), ("b", Spectrum(3), None, "zero")],
    "degrees": [("a", WeightedDegree(3), None, "zero"), ("b", WeightedDegreeShift(2, 1), None, "zero")],
}  # fmt: skip


def cut(data, rows):
    return data[rows] if isinstance(data, np.ndarray) else [data[i] for i in np.arange(n + N_NEW)[rows]]


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("kind, normalize", covering(LACKING, test_banks.NORMALIZE, steps=2))
def test_a_kernel_is_0_where_an_example_lacks_its_source_in_every_block(kind, normalize, weighted):
    data, specs = words if kind in ("words", "degrees") else X, LACKING[kind]
    train, new = cut(data, slice(n)), cut(data, slice(n, None))
    w = np.random.default_rng(1).random(n) + 0.2 if weighted else np.ones(n)
    kernels = KernelList.from_spec(specs, train, weights=w if weighted else None)
    options = dict(weights=w if weighted else None, normalize=normalize, n_jobs=2)
    bank = None if kind == "pairs" else explicit_bank(kernels, train, **options)
    if bank is None:
        bank = PairwiseBank(kernels, train, dtype=np.float64, **options)
    old, other = kernels.views(train), kernels.views(new)
    M, w = len(specs), w / w.sum()
    S, N, G = np.empty((M, n, n)), np.empty((M, N_NEW, n)), np.empty((M, N_NEW, N_NEW))
    for m, (kernel, v) in enumerate(zip(kernels.kernels, kernels.view_of, strict=True)):
        has, had = (np.ones(len(x)) if p is None else p for x, p in ((new, other[v].present), (train, old[v].present)))
        S[m] = kernel(old[v].X) * had[:, None] * had
        N[m] = kernel.between(other[v].X, old[v].X) * has[:, None] * had
        G[m] = kernel(other[v].X) * has[:, None] * has
        own, others = np.diag(S[m]).copy(), np.diag(G[m]).copy()
        if normalize == "spherical":
            root, there = (np.where(d > 0, 1 / np.sqrt(np.maximum(d, 1e-300)), 0.0) for d in (own, others))
            S[m], N[m], G[m] = (K * r[:, None] * c for K, r, c in ((S[m], root, root), (N[m], there, root),
                                                                   (G[m], there, there)))  # fmt: skip
        diagonal = w @ np.diag(S[m])
        by = {"multiplicative": diagonal - w @ S[m] @ w, "trace": diagonal}.get(normalize, 1.0)
        S[m], N[m], G[m] = S[m] / by, N[m] / by, G[m] / by
        np.testing.assert_allclose(bank.scale[m], 1 / by, rtol=1e-9)
    theta, A, support = np.linspace(0.3, 1.0, M), rng.normal(size=(2, n)), np.arange(1, n, 2)
    theta[-1] = 0.0
    close = dict(rtol=0, atol=1e-10 * np.abs(S).max() * n)
    np.testing.assert_allclose(bank.diagonals(), np.einsum("mii->mi", S), **close)
    np.testing.assert_allclose(bank.combined(theta), np.tensordot(theta, S, 1), **close)
    left, right = np.array([1, 4, 20]), np.array([0, 4, 29])
    np.testing.assert_allclose(
        bank.combined(theta, left, right), np.tensordot(theta, S[:, left][:, :, right], 1), **close
    )
    np.testing.assert_allclose(bank.products(A, np.arange(n)), np.einsum("mij,tj->tmi", S, A), **close)
    predictor, A = bank.predictor(support), A[:, support]
    parts, thetas = np.einsum("mij,tj->tim", N[:, :, support], A), np.stack([theta, theta[::-1]])
    for given in (theta, thetas):
        each = np.broadcast_to(given, thetas.shape)
        np.testing.assert_allclose(predictor.parts(new, A, given), parts * each[:, None], **close)
        np.testing.assert_allclose(predictor.decision(new, A, given), np.einsum("tim,tm->ti", parts, each), **close)
    found = predictor.prepared(A[:1], theta, 2**24)(new)
    np.testing.assert_allclose(found, parts[:1] @ theta, **close)
    np.testing.assert_allclose(predictor.gram(new, theta=theta), np.tensordot(theta, G, 1), **close)


@pytest.mark.parametrize("origin", [False, True])
@pytest.mark.parametrize("normalize", test_banks.NORMALIZE)
def test_a_subset_has_the_scales_of_its_own_examples(normalize, origin):
    """With weights, priors and a predictor; from matrices that were normalised for all examples, or not."""
    Z = rng.normal(size=(n + N_NEW, 3))
    specs = [KernelSpec("a", RBF(0.3), prior=2.0), KernelSpec("b", Linear()), KernelSpec("c", RBF(1.0), [1], prior=0.5)]
    kernels = KernelList.from_spec(specs, Z[:n])
    views = kernels.views(Z)
    raw = np.stack([k(views[v].X) for v, k in zip(kernels.view_of, kernels.kernels, strict=True)])
    index, w = np.sort(np.random.default_rng(2).permutation(n)[:17]), np.random.default_rng(3).random(17) + 0.2
    bank = PairwiseBank(kernels, Z[:n], normalize=normalize, dtype=np.float64)
    if origin:
        whole = DenseBank.holding(bank, bank.matrices())
        priors = kernels.priors
    else:
        whole, priors = DenseBank(np.moveaxis(raw[:, :n, :n], 0, 2), normalize=normalize), np.ones(3)
    small = SubsetBank(whole, index, origin=bank if origin else None, weights=w, normalize=normalize)
    own = np.einsum("mii->mi", raw)
    K = raw / np.sqrt(own[:, :, None] * own[:, None]) if normalize == "spherical" else raw
    S, share = K[:, index][:, :, index], w / w.sum()
    diagonal = np.einsum("mii,i->m", S, share)
    by = {"multiplicative": diagonal - np.einsum("mij,i,j->m", S, share, share), "trace": diagonal}.get(normalize, 1.0)
    S, N = (priors / by)[:, None, None] * S, (priors / by)[:, None, None] * K[:, n:, index]
    theta, rows, some = np.array([0.5, 0.0, 2.0]), np.array([0, 4, 5, 11]), np.array([0, 2])
    A, close = rng.normal(size=(2, 4)), dict(rtol=1e-9, atol=1e-10)
    np.testing.assert_allclose(small.diagonals(), np.einsum("mii->mi", S), **close)
    np.testing.assert_allclose(small.combined(theta), np.tensordot(theta, S, 1), **close)
    for _ in range(2):  # the second from memory
        for r in (None, rows, rows[:2]):
            found = small.matrix(theta, r, np.float64, False)
            part = np.arange(17) if r is None else r
            np.testing.assert_allclose(found, np.tensordot(theta, S[:, part][:, :, part], 1), **close)
            doubled = small.matrix(2 * theta, r, np.float64, False)
            np.testing.assert_allclose(doubled, 2 * found, **close)
    np.testing.assert_allclose(small.products(A, rows), np.einsum("mij,tj->tmi", S[:, :, rows], A), **close)
    part = S[some][:, rows][:, :, rows]
    np.testing.assert_allclose(small.products(A, rows, rows, some), np.einsum("mij,tj->tmi", part, A), **close)
    np.testing.assert_allclose(small.summed(theta).combined(np.ones(1)), np.tensordot(theta, S, 1), **close)
    np.testing.assert_allclose(small.summed(2 * theta).combined(np.ones(1)), np.tensordot(2 * theta, S, 1), **close)
    others = np.setdiff1d(np.arange(n), index)
    T = (priors / by)[:, None, None] * K[:, others][:, :, index[rows]]
    for thetas in (theta, np.stack([theta, theta[::-1]])):
        each = np.broadcast_to(thetas, (2, 3))
        expected = np.einsum("tm,mij,tj->ti", each, T, A)
        np.testing.assert_allclose(small.decision(others, A, rows, thetas), expected, **close)
    if origin:
        found = small.predictor(rows).parts(Z[n:], A, theta)
        np.testing.assert_allclose(found, np.einsum("mij,tj,m->tim", N[:, :, rows], A, theta), **close)
    if normalize != "spherical":
        compact = small.restrict(rows, some)
        assert compact is None or np.allclose(compact.matrices(), part, rtol=1e-9)


def test_factors_of_rows_are_1_for_the_kernels_of_a_family_without_them():
    def member(factors, M):
        return SimpleNamespace(row_factors=lambda: factors, sizes=lambda: (4, M))

    factors = np.random.default_rng(0).random((2, 4))
    found = JoinedPredictor.__new__(JoinedPredictor)
    found.which = [np.array([1]), np.array([2, 0])]
    found.members = [member(None, 1), member(factors, 2)]
    np.testing.assert_array_equal(found.row_factors(), [factors[1], np.ones(4), factors[0]])
    found.members = [member(None, 1), member(None, 2)]
    assert found.row_factors() is None
