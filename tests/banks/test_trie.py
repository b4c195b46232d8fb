"""Words at their positions in tables and tries: the kernels themselves, with and without shifts, and the fits."""

from unittest.mock import patch

import numpy as np
import pytest

from manykernels.banks.words import _trie_stores, trie
from manykernels.banks.words.trie import TrieBank
from manykernels.datasets import make_splice
from manykernels.kernels import KernelList
from manykernels.kernels.normalize import inverse_root
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


LISTS = lists()
every_list = pytest.mark.parametrize("kind", LISTS)


def strings(n=40, seed=0, letters="ACGT", unknown="N"):
    """Strings that share words, some twice, some with unknown letters."""
    rng = np.random.default_rng(seed)
    p = np.linspace(3, 1, len(letters))
    S = ["".join(row) for row in rng.choice(list(letters), p=p / p.sum(), size=(n, L))]
    S[1], S[5] = S[0], S[6][:15] + S[5][15:]
    if unknown:
        S[2], S[3] = S[2][:7] + unknown + S[2][8:], S[4][:20] + 4 * unknown
    return S


def matrices(kernels, scale, normalize, X, Y):
    """The normalised kernels of X and Y, (M, n, m)."""
    Ks = np.stack([k(X, Y) for k in kernels.kernels]) * scale[:, None, None]
    if normalize == "spherical":
        left, right = (inverse_root([k.diag(Z) for k in kernels.kernels]) for Z in (X, Y))
        Ks = Ks * left[:, :, None] * right[:, None]
    return Ks


def close(actual, expected, size=None):
    """Errors relative to the largest entry, or to `size`, the sum of the sizes of its terms, where these cancel."""
    np.testing.assert_allclose(actual, expected, atol=1e-12 * max(1, np.abs(expected).max() if size is None else size))


def check(spec, S, new, normalize=None):
    """A bank and its vectors against the matrices."""
    kernels = KernelList.from_spec(spec, S)
    bank, n = TrieBank.from_list(kernels, S, normalize=normalize, n_jobs=2), len(S)
    Ks, N = (matrices(kernels, bank.scale, normalize, Z, S) for Z in (S, new))
    rng, every = np.random.default_rng(0), np.arange(n)
    theta, a, rows = rng.random(bank.M), rng.normal(size=(2, n)), np.array([0, 3, 17, 30])
    parts = np.einsum("mij,tj->tmi", Ks, a)
    close(bank.diagonals(), np.einsum("mii->mi", Ks))
    close(bank.combined(theta, rows, rows[:2]), np.einsum("m,mij->ij", theta, Ks)[np.ix_(rows, rows[:2])])
    rest = np.setdiff1d(every, rows)
    for cost in (0.0, 1e9):  # by look-ups; by pairs, if all positions count alike
        with patch.object(_trie_stores, "LOOK_UP_COST", cost):
            close(bank.products(a, every), parts)
            first = np.einsum("ij,tj->ti", Ks[0][np.ix_(rest, rows)], a[:, rows])[:, None]
            close(bank.products(a[:, rows], rows, rest, every[:1]), first)
    vectors = bank.vectors()
    for some in np.array_split(rng.permutation(n), 5):
        vectors.add(some, np.zeros(len(some)), a[1, some])
    vectors.add(rows, a[1, rows], a[0, rows] - a[1, rows])
    vectors.add(rest, a[1, rest], a[0, rest] - a[1, rest])
    size = np.einsum("ti,mij,tj->m", np.abs(a), np.abs(Ks), np.abs(a)).max()
    close(vectors.q, np.einsum("i,mi->m", a[0], parts[0]), size)
    close(vectors.outputs(rows, theta, a[0, rows]), theta @ parts[0][:, rows])
    close(vectors.at(kernels.views(new)), np.einsum("mij,j->im", N, a[0]))
    close(vectors.at(kernels.views(new), theta), np.einsum("m,mij,j->i", theta, N, a[0]))
    vectors.add(every, a[0], -a[0])
    close(vectors.q, np.zeros(bank.M), size)
    vectors.clear()
    assert not vectors.q.any() and not vectors.parts(rows, np.zeros(4)).any()
    vectors.add(every, np.zeros(n), a[1])
    close(vectors.parts(rows, a[1, rows]), parts[1][:, rows].T)


@every_list
@pytest.mark.parametrize("direct, unknown", [(4, "N"), (16, ""), (2**14, "N")])
def test_tables_and_tries_give_the_kernels_themselves(kind, direct, unknown, monkeypatch):
    monkeypatch.setattr(_trie_stores, "MAX_TABLE_WORDS", direct)
    monkeypatch.setattr(trie, "PACKED_ROWS", 9)
    check(LISTS[kind], strings(unknown=unknown), strings(15, seed=1))


@every_list
@pytest.mark.parametrize("normalize", ["spherical", "multiplicative", "trace"])
def test_every_normalisation(kind, normalize):
    check(LISTS[kind], strings(), strings(15, seed=1), normalize)


@pytest.mark.parametrize("kind", ["degrees", "overlap", "shift 1", "all"])
@pytest.mark.parametrize(
    "alphabet, letters, unknown", [("protein", "ACDEFGHIKLMNPQRSTVWY", "*"), ("bytes", "abxyz", "")]
)
def test_other_alphabets(kind, alphabet, letters, unknown):
    S, new = (strings(n, n, letters[:6], unknown) for n in (40, 15))
    check(lists(alphabet=alphabet, unknown="ignore" if unknown else "error")[kind], S, new)


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
