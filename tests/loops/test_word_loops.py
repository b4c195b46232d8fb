"""Loops over words against counts by NumPy, for strings so long that each loop holds two or three of them at a time."""

from functools import cache
from itertools import combinations

import numpy as np
import pytest
from compiled import compiled_only

from manykernels.banks.words.linadd import WordBank
from manykernels.kernels import KernelList
from manykernels.strings import Degree, GappedKmer, Mismatch, Spectrum, WeightedDegree

LETTERS = "ACGTN"
n = 9


def strings(length, unequal, seed=0):
    rng = np.random.default_rng(seed)
    lengths = rng.integers(length // 2, length, n) if unequal else np.full(n, length)
    lengths[1] = 3 if unequal else length
    X = [rng.choice(5, size=size, p=[0.4, 0.3, 0.2, 0.1, 0.0]) for size in lengths]
    X[0][[7, -1]] = 4
    X[5][: len(X[5]) // 2] = X[0][: len(X[5]) // 2]
    X[6] = np.concatenate([X[6][: len(X[6]) // 2], 3 - X[6][: len(X[6]) - len(X[6]) // 2][::-1]])  # its own opposite
    return [np.array(x) for x in X]


def codes(x, places, span):
    """The words at these places of all windows of x, −1 with an unknown letter there."""
    windows = np.lib.stride_tricks.sliding_window_view(x, span)[:, list(places)] if len(x) >= span else np.empty((0, 1))
    number = windows @ 4 ** np.arange(windows.shape[1])[::-1]
    return np.where((windows < 4).all(axis=1), number, -1).astype(int)


def counted(words, k):
    return np.bincount(words[words >= 0], minlength=4**k).astype(float)


def turned(x):
    return np.where(x < 4, 3 - x, 4)[::-1]


def features(kernel, x):
    """φ(x) from the definition."""
    x = x[kernel.start : kernel.stop]
    if isinstance(kernel, Spectrum) and kernel.counts != "all":
        k, power = kernel.k, {"sqrt": 0.5, "binary": 0.0}[kernel.counts]
        words = codes(x, range(k), k)
        if kernel.reverse_complement:
            words = np.minimum(words, codes(turned(x), range(k), k)[::-1])
        found = counted(words, k)
        return np.where(found > 0, found**power, 0.0)
    if kernel.reverse_complement:
        one = type(kernel)(**{**kernel.get_params(), "reverse_complement": False, "start": None, "stop": None})
        return (features(one, x) + features(one, turned(x))) / np.sqrt(2)
    if isinstance(kernel, Spectrum):
        low, high = kernel.k if isinstance(kernel.k, tuple) else (kernel.k, kernel.k)
        return np.concatenate([counted(codes(x, range(k), k), k) for k in range(low, high + 1)])
    if isinstance(kernel, GappedKmer):
        return np.concatenate([
            counted(codes(x, at, kernel.l), kernel.k) for at in combinations(range(kernel.l), kernel.k)
        ])  # fmt: skip
    return near(kernel.k, kernel.m) @ counted(codes(x, range(kernel.k), kernel.k), kernel.k)


@cache
def near(k, m):
    """Whether two words differ in at most m letters, (4^k, 4^k)."""
    every = np.array(list(np.ndindex(*(4,) * k)), np.int8)
    return ((every[:, None] != every).sum(axis=2) <= m).astype(float)


def check(bank, F, root, seed=0):
    """The bank against F_m (n, ·), and with rows and deltas in any order."""
    rng, M = np.random.default_rng(seed), len(F)
    K = np.array([f @ f.T for f in F])
    K = K if root is None else K * root[:, :, None] * root[:, None]
    theta, a, rows = rng.random(M) + 0.1, rng.normal(size=n), rng.permutation(n)[:7]
    size = np.abs(K).max()

    def close(found, expected, by=1.0):
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-11 * size * by)

    close(bank.diagonals(), np.einsum("mii->mi", K))
    close(bank.block(rows, theta), np.tensordot(theta, K, 1)[np.ix_(rows, rows)], by=M)
    vectors = bank.vectors()
    vectors.add(np.arange(n), np.zeros(n), a)
    vectors.add(rows, a[rows], -0.5 * a[rows])
    a[rows] *= 0.5
    outputs = K @ a
    close(vectors.q, outputs @ a, by=10)
    close(vectors.parts(rows, a[rows]), outputs[:, rows].T, by=5)
    close(vectors.outputs(rows, theta, a[rows]), theta @ outputs[:, rows], by=5 * M)
    close(vectors.at(bank.kernels.views(bank.views[0].X), theta), theta @ outputs, by=5 * M)
    vectors.add(np.arange(n), a, -a)
    close(vectors.q, np.zeros(M), by=10)


@compiled_only
@pytest.mark.parametrize("both, store, normalize", [
    (False, "map", None), (False, "sorted", "spherical"), (True, "map", "spherical"), (True, "sorted", None)
])  # fmt: skip
def test_words_at_any_place_are_counted_in_every_string(both, store, normalize):
    own = dict(reverse_complement=both, unknown="ignore")
    specs = [
        Spectrum(8, **own), Spectrum((6, 7), start=5, stop=-7, **own), Spectrum(7, counts="sqrt", **own),
        GappedKmer(7, 6, **own), Mismatch(5, 1, start=-500, **own), Spectrum(6, counts="binary", stop=900, **own),
    ]  # fmt: skip
    X = strings(4000, unequal=True)
    texts = ["".join(LETTERS[c] for c in x) for x in X]
    bank = WordBank.from_list(KernelList.from_spec(specs, texts), texts, store=store, normalize=normalize, n_jobs=2)
    F = [np.array([features(kernel, x) for x in X]) for kernel in specs]
    root = np.array([1 / np.maximum(np.sqrt((f * f).sum(axis=1)), 1e-300) for f in F])
    check(bank, F, None if normalize is None else np.where(root < 1e200, root, 0.0))


@compiled_only
@pytest.mark.parametrize("store, normalize", [("map", "spherical"), ("sorted", None)])
def test_words_at_their_places_are_counted_in_every_string(store, normalize):
    length = 30_000
    specs = [Degree(2, 0, 11_000, unknown="ignore"), WeightedDegree(2, 11_000, None, unknown="ignore")]
    X = strings(length, unequal=False)
    texts = ["".join(LETTERS[c] for c in x) for x in X]
    bank = WordBank.from_list(KernelList.from_spec(specs, texts), texts, store=store, normalize=normalize, n_jobs=2)
    letters = np.array(X)
    same = (letters[:, None] == letters) & (letters < 4)[:, None]
    pairs = same[:, :, :-1] & same[:, :, 1:]
    K = np.array([pairs[:, :, :11_000].sum(axis=2),
                  2 / 3 * same[:, :, 11_000:].sum(axis=2) + 1 / 3 * pairs[:, :, 11_000:].sum(axis=2)])  # fmt: skip
    F = []
    for k in K:  # features with these products
        values, vectors = np.linalg.eigh(k)
        F.append(vectors * np.sqrt(np.maximum(values, 0.0)))
    root = 1 / np.sqrt(np.einsum("mii->mi", K))
    check(bank, F, None if normalize is None else root)


@compiled_only
@pytest.mark.parametrize("both", [False, True])
def test_a_whole_window_with_an_unknown_letter_anywhere_does_not_count(both):
    """Also where the unknown letter is in the last letters of the window, beyond those that its word has."""
    own = dict(unknown="ignore", reverse_complement=both)
    specs = [GappedKmer(6, 4, d=1, **own), GappedKmer(6, 4, filter="full", **own), Mismatch(4, 1, **own)]
    rng = np.random.default_rng(5)
    texts = ["".join(rng.choice(list("ACGTN"), p=[0.3, 0.25, 0.2, 0.15, 0.1], size=14)) for _ in range(n)]
    texts[0] = texts[1][:7] + "N"  # one window that counts, then one with the unknown letter last
    bank = WordBank.from_list(KernelList.from_spec(specs, texts), texts, normalize=None)
    rows, letters = np.arange(n), [np.array(["ACGTN".index(letter) for letter in text]) for text in texts]
    for m, kernel in enumerate(specs):
        K = kernel(texts)
        np.testing.assert_allclose(bank.block(rows, np.eye(3)[m]), K, atol=1e-9 * np.abs(K).max())
        window, mine = getattr(kernel, "l", kernel.k), [x for x in letters if len(x) >= 6]
        counts = [(np.lib.stride_tricks.sliding_window_view(x, window) < 4).all(axis=1).any() for x in mine]
        np.testing.assert_array_equal(np.diag(K)[: len(counts)] > 0, counts)
