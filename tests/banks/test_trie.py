"""Words at their positions in tables and tries: other alphabets, several views, and memory."""

import numpy as np
import pytest

from manykernels.banks.words.trie import TrieBank
from manykernels.datasets import make_splice
from manykernels.kernels import KernelList
from manykernels.strings import (
    Degree,
    Spectrum,
    WeightedDegree,
    WeightedDegreeShift,
    degree_kernels,
    position_kernels,
)  # fmt: skip

L = 24


def shift(d, s, *window, **options):
    return (f"{d} {s} {window}", WeightedDegreeShift(d, s, *window, **options))


def lists(**options):
    return {
        "degrees": degree_kernels(7, **options),
        "positions": position_kernels(L, 7, block=5, **options),
        "overlap": [
            ("a", WeightedDegree(4, **options)),
            ("b", WeightedDegree(9, 3, 12, **options)),
            ("c", Degree(3, **options)),
        ],
        "shift 0": [shift(7, 0, **options)],
        "shift 1": [shift(20, 1, **options)],
        "shift 3": [shift(7, 3, **options)],
        "all": [
            shift(6, 2, 4, 17, **options),
            ("wd", WeightedDegree(7, stop=20, **options)),
            shift(3, 40, **options),
            ("k", Degree(24, **options)),
        ],
    }  # fmt: skip


def strings(n=40, seed=0, letters="ACGT", unknown="N"):
    """Strings that share words, some twice, some with unknown letters."""
    rng = np.random.default_rng(seed)
    p = np.linspace(3, 1, len(letters))
    S = ["".join(row) for row in rng.choice(list(letters), p=p / p.sum(), size=(n, L))]
    S[1], S[5] = S[0], S[6][:15] + S[5][15:]
    if unknown:
        S[2], S[3] = S[2][:7] + unknown + S[2][8:], S[4][:20] + 4 * unknown
    return S


def close(actual, expected, size=None):
    """Errors relative to the largest entry, or to `size`, the sum of the sizes of its terms, where these cancel."""
    np.testing.assert_allclose(actual, expected, atol=1e-12 * max(1, np.abs(expected).max() if size is None else size))


@pytest.mark.parametrize("kind", ["degrees", "overlap", "shift 1", "all"])
@pytest.mark.parametrize(
    "alphabet, letters, unknown", [("protein", "ACDEFGHIKLMNPQRSTVWY", "*"), ("bytes", "abxyz", "")]
)
def test_other_alphabets(kind, alphabet, letters, unknown):
    S, new = (strings(n, n, letters[:6], unknown) for n in (40, 15))
    kernels = KernelList.from_spec(lists(alphabet=alphabet, unknown="ignore" if unknown else "error")[kind], S)
    bank, every = TrieBank.from_list(kernels, S, normalize=None), np.arange(40)
    K, N = (np.stack([kernel(Z, S) for kernel in kernels.kernels]) for Z in (S, new))
    a, ones = np.random.default_rng(0).normal(size=(2, 40)), np.ones(bank.M)
    close(bank.products(a, every), np.einsum("mij,tj->tmi", K, a))
    close(bank.combined(ones), K.sum(axis=0))
    close(bank.predictor(every).parts(new, a, ones), np.einsum("mij,tj->tim", N, a))


def test_kernels_of_several_views():
    S, T = strings(), [s[:13] for s in strings(seed=3)]
    X, new = {"left": S, "right": T}, {"left": strings(15, seed=1), "right": [s[:13] for s in strings(15, seed=2)]}
    kernels = KernelList.from_spec([("s", WeightedDegreeShift(5, 2), "left"), ("w", WeightedDegree(6), "right")], X)
    vectors, a = TrieBank.from_list(kernels, X, normalize=None).vectors(), np.random.default_rng(0).normal(size=40)
    vectors.add(np.arange(40), np.zeros(40), a)
    expected = [WeightedDegreeShift(5, 2)(new["left"], S) @ a, WeightedDegree(6)(new["right"], T) @ a]
    close(vectors.at(kernels.views(new)).T, expected)


def test_memory_follows_the_support_and_the_limit():
    X, _ = make_splice(400, random_state=0)
    kernels = KernelList.from_spec([("s", WeightedDegreeShift(20, 1))], X)
    bank = TrieBank.from_list(kernels, X)
    vectors = bank.vectors()
    vectors.add(np.arange(50), np.zeros(50), np.ones(50))
    used = sum(store.used for store in vectors.stores[0])
    assert 0 < used <= 2 * 50 * 141
    vectors.add(np.arange(50), np.ones(50), np.ones(50))
    assert sum(store.used for store in vectors.stores[0]) == used
    assert bank.groups[0].direct == 6
    assert TrieBank.from_list(kernels, X, memory_limit=4 * 12 * 141 * 90).groups[0].direct == 3


def test_kernels_without_positions_are_refused():
    S = strings()
    assert TrieBank.from_list(KernelList.from_spec([Spectrum(3, unknown="ignore"), WeightedDegree(3)], S), S) is None
