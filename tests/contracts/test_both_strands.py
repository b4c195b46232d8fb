"""What every kernel of both strands promises, in every bank and store."""

import numpy as np
import pytest
from covering import covering
from naive_strings import matrix, reverse_complement
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone

import manykernels
from manykernels import MKLClassifier
from manykernels import strings as ms
from manykernels.banks.words.linadd import WordBank
from manykernels.kernels import KernelList
from manykernels.sequences import DNA, RNA, Alphabet, Sequences
from manykernels.streaming import FastaFiles

OWN = Alphabet("own opposites", "abc", "?", complement="cba")
KERNELS = [ms.Spectrum(4), ms.Spectrum((1, 3)), ms.GappedKmer(5, 3), ms.GappedKmer(4, 2), ms.Mismatch(4, 1)]
KERNELS += [ms.Spectrum(2, counts="sqrt"), ms.Spectrum((1, 3), counts="binary")]
PLACED = [ms.Degree(2), ms.WeightedDegree(4), ms.WeightedDegreeShift(3, 2)]
BOTH, BOTH_PLACED = ([k.set_params(reverse_complement=True) for k in kernels] for kernels in (KERNELS, PLACED))
every_kernel = pytest.mark.parametrize("kernel", BOTH, ids=repr)
STORES = ["auto", "map", "sorted", "hash"]
ALPHABETS = {"dna": ("dna", "ACGT", "N"), "rna": ("rna", "ACGU", "N"), "own": (OWN, "abc", "?")}


def texts(n, letters="ACGT", unknown="N", seed=0):
    """Strings of unequal lengths that share words of both strands, one with an unknown letter, one palindromic."""
    rng = np.random.default_rng(seed)
    X = ["".join(rng.choice(list(letters), size=size)) for size in rng.integers(3, 40, n)]
    X[0] = X[0] + unknown + X[1]
    X[1] = X[2] * 2
    return X


def dna(n, seed=0):
    X = texts(n, seed=seed)
    return [*X[:-1], X[0] + reverse_complement(X[0])]


def other(X):
    return [reverse_complement(x) for x in X]


@pytest.mark.parametrize("kernel, name, store", covering(BOTH, ALPHABETS, STORES))
def test_every_store_counts_the_words_of_both_strands(kernel, name, store):
    alphabet, letters, unknown = ALPHABETS[name]
    kernel = clone(kernel).set_params(alphabet=alphabet)
    X, new = texts(9, letters, unknown), texts(5, letters, unknown, 1)
    bank = WordBank.from_list(KernelList.from_spec([kernel], X), X, store=store, normalize=None)
    K, N, one, a = matrix(kernel, X), matrix(kernel, new, X), np.ones(1), np.random.default_rng(0).normal(size=9)
    close = 1e-11 if store != "hash" else 0.15  # the hash is another kernel, near this one

    def check(found, expected):
        assert_allclose(found, expected, atol=close * np.abs(K).max(), rtol=0)

    check(bank.block(np.arange(9), one), K)
    check(bank.diagonals()[0], np.diag(K))
    vectors = bank.vectors()
    vectors.add(np.arange(9), np.zeros(9), a)
    check(vectors.outputs(np.arange(9), one, a) / 9, K @ a / 9)
    check(vectors.at(bank.kernels.views(new), one) / 9, N @ a / 9)
    assert_allclose(vectors.q[0], a @ bank.block(np.arange(9), one) @ a, rtol=1e-9)


def test_long_words_of_both_strands_that_are_their_own_opposites_count_twice_alone():
    """The others of the sequence count once; so many words are sorted, not looked up."""
    own, kernel = "ACGTATACGT", ms.Spectrum(10, reverse_complement=True)
    X = ["GGA" + own + "CCATTGA", "TTGACCATGCATTTGACCATGCA", own]
    bank = WordBank.from_list(KernelList.from_spec([kernel], X), X, normalize=None)
    assert_array_equal(bank.diagonals()[0], np.diag(matrix(kernel, X)))
    assert_array_equal(kernel.diag(X), np.diag(kernel(X)))


@every_kernel
def test_features_of_both_strands_give_the_kernel(kernel):
    X = dna(9)
    F = kernel.features(X)
    assert_allclose((F @ F.T).toarray(), matrix(kernel, X), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("normalize", ["multiplicative", "spherical"])
@pytest.mark.parametrize("features", [None, *STORES])
def test_both_strands_of_a_sequence_have_the_same_decision_to_the_last_bit(features, normalize):
    X, new = dna(40), dna(30, seed=1)
    route = {} if features is None else {"features": features, "solver": "coordinate"}
    model = MKLClassifier(BOTH, C=1.0, normalize=normalize, tol=1e-2, **route).fit(X, np.arange(40) % 2)
    assert_array_equal(model.decision_function(other(new)), model.decision_function(new))
    assert_array_equal(model.decision_parts(other(new)), model.decision_parts(new))


@pytest.mark.parametrize("normalize", ["multiplicative", "spherical"])
def test_kernels_of_places_compare_both_strands_pair_by_pair_only(normalize):
    X, y = np.random.default_rng(0).choice(list("ACGTN"), (40, 12), p=[0.23] * 4 + [0.08]), np.arange(40) % 2
    X = ["".join(x) for x in X]
    for kernel in BOTH_PLACED:
        assert_allclose(kernel(X), matrix(kernel, X), rtol=1e-12, atol=1e-12)
        assert_array_equal(kernel(X, other(X)), kernel(X))
        with pytest.raises(ValueError, match="no explicit features.*Spectrum or GappedKmer"):
            kernel.features(X)
    model = MKLClassifier([*BOTH_PLACED, *BOTH], C=1.0, normalize=normalize, tol=1e-3).fit(X, y)
    assert_array_equal(model.decision_function(other(X)), model.decision_function(X))
    with pytest.raises(ValueError, match="features='map'.*take features='auto'"):
        clone(model).set_params(features="map").fit(X, y)


@every_kernel
def test_either_strand_of_either_argument_gives_the_same_value(kernel):
    X, Y = dna(6), dna(7, seed=1)
    K = kernel(X, Y)
    for x, y in ((other(X), Y), (X, other(Y)), (other(X), other(Y))):
        assert_array_equal(kernel(x, y), K)
    assert_array_equal(kernel.diag(other(X)), kernel.diag(X))


def test_streams_and_pairs_find_the_same_model_of_both_strands(tmp_path):
    X, y = dna(60), np.arange(60) % 2
    path = tmp_path / "x.fa"
    path.write_text("".join(f">s{i} label={label}\n{x}\n" for i, (x, label) in enumerate(zip(X, y, strict=True))))
    kernels = [ms.GappedKmer(4, 2, reverse_complement=True), ms.Spectrum(3, reverse_complement=True)]
    one = MKLClassifier(kernels, C=1.0, normalize="spherical", tol=1e-6).fit(X, y)
    two = MKLClassifier(kernels, C=1.0, normalize="spherical", tol=1e-6).fit(FastaFiles(path), "label")
    assert_allclose(two.decision_function(X), one.decision_function(X), atol=1e-2)
    assert_array_equal(two.decision_function(other(X)), two.decision_function(X))


def test_the_other_strand_of_sequences():
    X = Sequences.encode(["AACG", "NT", "acgtacgtaccc"])
    assert list(X.reverse_complement()) == ["CGTT", "AN", "GGGTACGTACGT"]
    assert X.reverse_complement().reverse_complement() == X
    assert list(X[1:2].reverse_complement()) == ["AN"]
    assert list(Sequences.encode(["AACU"], RNA).reverse_complement()) == ["AGUU"]


@pytest.mark.parametrize("alphabet", ["protein", "bytes", Alphabet("ab", "ab")])
def test_letters_without_a_second_strand_are_refused_with_the_reason(alphabet):
    for kernel in BOTH + BOTH_PLACED:
        kernel = clone(kernel).set_params(alphabet=alphabet)
        with pytest.raises(ValueError, match="reverse_complement=True needs the complement.*second strand"):
            kernel(["ab"] if isinstance(alphabet, Alphabet) else ["AC"])
    with pytest.raises(ValueError, match="second strand"):
        Sequences.encode(["AC"], "protein").reverse_complement()


def test_what_is_no_complement_is_refused():
    for complement in ("b", "bb", "bc", "bac"):
        with pytest.raises(ValueError, match=f"complement='{complement}'.*opposite each letter"):
            Alphabet("ab", "ab", complement=complement)


def test_models_of_both_strands_are_saved_and_files_without_strands_still_have_their_alphabet(tmp_path):
    X, y, path = dna(40), np.arange(40) % 2, tmp_path / "m.mk"
    model = MKLClassifier(BOTH, C=1.0, solver="coordinate", normalize="spherical", tol=1e-2).fit(X, y)
    model.save(path)
    again = manykernels.load(path)
    assert_array_equal(again.decision_function(other(X)), model.decision_function(X))
    assert [kernel.reverse_complement for kernel in again.kernels] == [True] * len(BOTH)
    former = {"name": "dna", "letters": "ACGT", "unknown": "N", "ignore_case": True}
    assert Alphabet.from_state(former) == DNA and not Alphabet.from_state(former | {"letters": "ACTG"}).complement


def test_names_of_kernels_show_strands_and_filters_only_where_they_are_not_the_default():
    kernels = [ms.GappedKmer(4, 2), ms.GappedKmer(4, 2, filter="full", reverse_complement=True)]
    names = KernelList.from_spec(kernels, dna(5)).names
    assert names[0] == "gappedkmer(k=2, l=4)[all]"
    assert names[1] == "gappedkmer(filter=full, k=2, l=4, reverse_complement=True)[all]"
