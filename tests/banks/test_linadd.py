"""Words as explicit features: linadd in its stores gives the kernels themselves, and solvers find the same on it."""

import numpy as np
import pytest

from manykernels.banks.words import linadd
from manykernels.banks.words.linadd import WordBank
from manykernels.kernels import KernelList
from manykernels.strings import (
    Degree,
    GappedKmer,
    Mismatch,
    Spectrum,
    WeightedDegree,
    degree_kernels,
    degree_position_kernels,
)  # fmt: skip

EXACT = ["map", "sorted", "auto"]
PROTEIN = dict(alphabet="protein", unknown="ignore")
LISTS = {
    "spectrum": ("ACGT", [Spectrum(3), Spectrum((1, 4), start=2, stop=-3), Spectrum(8), Spectrum(2, stop=9)]),
    "gapped": ("ACGT", [GappedKmer(5, 3), GappedKmer(4, 4, start=-12), GappedKmer(6, 1)]),
    "mismatch": ("ACGT", [Mismatch(4, 1), Mismatch(3, 2, start=1), Mismatch(2, 2), Mismatch(3, 0)]),
    "protein": (
        "ARNDCQEGHILKMFPSTWYV",
        [Spectrum(2, **PROTEIN), GappedKmer(4, 2, **PROTEIN), Mismatch(3, 1, **PROTEIN), Spectrum(4, **PROTEIN)],
    ),
    "placed": ("ACGT", [*degree_kernels(5), WeightedDegree(4), WeightedDegree(3, 4, 11), Degree(2, 3)]),
    "both": ("ACGT", [Spectrum(3), *degree_position_kernels(20, 3, 7), GappedKmer(4, 2)]),
}
every_list = pytest.mark.parametrize("kind", LISTS)


def strings(kind, n=30, seed=0):
    """Strings that share words, some with an unknown letter; where places do not matter, of unequal length."""
    letters, rng = LISTS[kind][0], np.random.default_rng(seed)
    S = ["".join(row) for row in rng.choice(list(letters), p=_uneven(len(letters)), size=(n, 20))]
    S[1], S[2], S[3] = S[0], S[2][:7] + "X" * (letters[1] == "R") + "N" + S[2][8:], "N" * 20
    S[2] = S[2][:20]
    if kind not in ("placed", "both"):
        S[4:8] = [S[4][:1], S[5][:3], S[6][:12], S[7] + S[8]]
    return S


def _uneven(n):
    p = np.arange(1.0, n + 1)
    return p / p.sum()


def make(kind, store="auto", S=None, **options):
    S = strings(kind) if S is None else S
    kernels = KernelList.from_spec(LISTS[kind][1], S)
    return WordBank.from_list(kernels, S, store=store, **options), kernels


@pytest.mark.parametrize("store", EXACT)
@every_list
def test_exact_stores_give_the_kernels_themselves(kind, store, monkeypatch):
    monkeypatch.setattr(linadd, "MIN_MAP_WORDS", 100)  # so that "auto" mixes
    S, new, a = strings(kind), strings(kind, 12, seed=1), np.random.default_rng(0).normal(size=(2, 30))
    bank, kernels = make(kind, store, S, normalize=None)
    (K, N), every = (np.stack([k(Z, S) for k in kernels.kernels]) for Z in (S, new)), np.arange(30)
    size = dict(rtol=1e-10, atol=1e-11 * np.abs(K).max() * 30)
    np.testing.assert_allclose(bank.products(a, every), np.einsum("mij,tj->tmi", K, a), **size)
    np.testing.assert_allclose(bank.combined(np.ones(bank.M)), K.sum(axis=0), **size)
    found = bank.predictor(every).parts(new, a, np.ones(bank.M))
    np.testing.assert_allclose(found, np.einsum("mij,tj->tim", N, a), **size)


@pytest.mark.parametrize("kernel", [Spectrum(6), GappedKmer(5, 3), WeightedDegree(6), Mismatch(5, 1)], ids=repr)
def test_the_error_of_hashing_has_the_mean_and_the_variance_that_are_stated(kernel):
    rng, apart = np.random.default_rng(0), ~np.eye(50, dtype=bool)
    S = ["".join(row) for row in rng.choice(list("ACGT"), size=(50, 50))]
    kernels, exact, F = KernelList.from_spec([kernel], S), kernel(S), kernel.features(S).power(2)
    bound = np.outer(np.diag(exact), np.diag(exact)) + exact**2
    variance = bound - 2 * (F @ F.T).toarray()
    for bits in (8, 11, 14):
        bank = WordBank.from_list(kernels, S, store="hash", normalize=None, memory_limit=16 * 2**bits)
        assert bank.bits == bits
        means, squares = [], []
        for _ in range(16):  # the bound is on the mean over hashes: one hash may lie above it
            error = (bank.block(np.arange(50), np.ones(1)) - exact)[apart]
            means.append(error.mean())
            squares.append(np.mean(error**2))
            for reader in bank.readers:
                reader.set_fields(salt=rng.integers(2**64, size=reader.table.max() + 1, dtype=np.uint64)[reader.table])
        assert abs(np.mean(means)) < 4 * np.std(means) / np.sqrt(16)
        assert np.mean(squares) == pytest.approx(variance[apart].mean() / 2**bits, rel=0.25)
        assert squares[0] < 2 * bound[apart].mean() / 2**bits  # the hash that is shipped is none of the bad ones


def test_several_views_each_with_its_own_alphabet():
    X = {"dna": strings("gapped"), "protein": strings("protein")}
    list_ = [("g", GappedKmer(4, 2), "dna"), ("p", Spectrum(2, **PROTEIN), "protein"), ("s", Spectrum(3), "dna")]
    kernels = KernelList.from_spec(list_, X)
    bank = WordBank.from_list(kernels, X, normalize=None)
    Ks = [kernel(X[name]) for _, kernel, name in list_]
    np.testing.assert_allclose(bank.products(np.ones((1, 30)), np.arange(30))[0], np.sum(Ks, axis=2), rtol=1e-12)


def test_stores_are_chosen_by_size_and_refused_where_they_do_not_fit(monkeypatch):
    kind = "spectrum"
    monkeypatch.setattr(linadd, "MIN_MAP_WORDS", 2**12)
    bank, _ = make(kind)  # 30 strings of about 20 letters: 4^8 words are far more than occur
    assert [sorted(set(reader.channels["kind"])) for reader in bank.readers] == [[0], [0], [1], [0]]
    assert bank.n_places < 2**10 + 600
    assert make(kind, "map")[0].n_places == 64 + 340 + 4**8 + 16
    with pytest.raises(ValueError, match="features='map'.*memory_limit.*'sorted'"):
        make(kind, "map", memory_limit=2**19)
    with pytest.raises(ValueError, match="features='auto'.*memory_limit.*'hash'"):
        make(kind, "auto", memory_limit=2**12)
    assert make(kind, "hash")[0].bits == 22
    with pytest.raises(ValueError, match="memory_limit"):
        make(kind, "hash", memory_limit=100)
    S = strings("placed")
    with pytest.raises(ValueError, match="features='sorted'.*40 letters"):
        WordBank.from_list(KernelList.from_spec([Degree(40)], [s * 2 for s in S]), [s * 2 for s in S], store="sorted")


def test_new_strings_that_do_not_fit_are_refused():
    bank, kernels = make("placed")
    with pytest.raises(ValueError, match="length"):
        bank.vectors().at(kernels.views([s[:15] for s in strings("placed")]))


def test_sorted_words_count_beside_their_values():
    """Each word that occurs takes a value and a code of eight bytes."""
    places = make("spectrum", "sorted")[0].n_places
    enough = next(limit for limit in range(2**10, 2**20, 2**9) if linadd._max_values(limit) >= 2 * places)
    assert make("spectrum", "sorted", memory_limit=enough)[0].n_places == places
    assert linadd._max_values(int(0.8 * enough)) > places
    with pytest.raises(ValueError, match="features='sorted'.*memory_limit"):
        make("spectrum", "sorted", memory_limit=int(0.8 * enough))


@pytest.mark.parametrize("store", ["map", "sorted", "hash"])
@pytest.mark.parametrize("place", range(12))
def test_an_unknown_letter_counts_wherever_it_stands_in_a_window(store, place):
    """The window begins behind as many letters as it has."""
    S = ["ACGTTGCAACGT"] * 2
    S[1] = S[1][:place] + "N" + S[1][place + 1 :]
    spec = [Spectrum(2, start=6, stop=10, unknown="ignore"), Spectrum(1, unknown="ignore")]
    bank = WordBank.from_list(KernelList.from_spec(spec, S), S, store=store, normalize=None)
    expected = [kernel(S)[1, 1] for kernel in spec]
    assert expected[0] == 3 - (6 <= place < 10) - (6 < place < 9)
    np.testing.assert_allclose(bank.own[1], expected)
