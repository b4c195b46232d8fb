"""Every bank is the stack of its kernels in small blocks too, with two threads, and where examples lack a source."""

import numpy as np
import pytest
import test_banks
from covering import covering

from manykernels.banks import (
    PairwiseBank,
    _degree_walks,
    _feature_rows,
    _stack,
    _tiled_sums,
    explicit,
    low_rank,
    pairwise,
)  # fmt: skip
from manykernels.banks.choice import explicit_bank
from manykernels.banks.words import degree_predictor, linadd, tables, trie
from manykernels.kernels import RBF, Cosine, KernelList, Linear, Nystroem, RandomFeatures
from manykernels.strings import Spectrum, WeightedDegree, WeightedDegreeShift

SIZES = {  # of blocks, none of which divides the number of examples
    (_stack, "STACK_ROWS"): 7, (explicit, "EXAMPLES_PER_BLOCK"): 5, (_feature_rows, "FEATURE_ROWS"): 9,
    (low_rank, "ROWS_PER_THREAD"): 9, (pairwise, "KERNELS_PER_PASS"): 2, (linadd, "LOOK_UP_ROWS"): 5,
    (tables, "LOOK_UP_ROWS"): 5, (tables, "COLUMNS"): 3, (tables, "MIN_LANE_LETTERS"): 50, (trie, "PACKED_ROWS"): 7,
    (degree_predictor, "NEW_SEQUENCES_PER_TILE"): 5, (_degree_walks, "_SUM_ENTRIES"): 300,
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
    "pairs": [("a", RBF(0.3), [0, 1], "zero"), ("b", RBF("scale"), [2, 3], "zero"), ("c", RBF(0.1), [4])],
    "words": [("a", Spectrum(2), None, "zero"), ("b", Spectrum(3), None, "zero")],
    "degrees": [("a", WeightedDegree(3), None, "zero"), ("b", WeightedDegreeShift(2, 1), None, "zero")],
}


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
