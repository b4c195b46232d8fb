"""What every string kernel promises; one exported from manykernels.strings joins by being given an example here."""

import inspect
import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from covering import covering
from naive_strings import matrix, mismatch_counts
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone

from manykernels import strings as ms
from manykernels.kernels import Constant, Kernel
from manykernels.kernels._protocol import BaseKernel

PLACED = [
    ms.Degree(1),
    ms.Degree(3),
    ms.Degree(2, 3, 9),
    ms.Degree(5, stop=1),
    ms.WeightedDegree(1),
    ms.WeightedDegree(4),
    ms.WeightedDegree(20),
    ms.WeightedDegree(3, start=5),
    ms.WeightedDegree(3, 2, 4),
    ms.WeightedDegreeShift(3, 0),
    ms.WeightedDegreeShift(3, 2),
    ms.WeightedDegreeShift(2, 30),
    ms.WeightedDegreeShift(3, 2, start=2, stop=9),
    ms.Degree(2) * ms.WeightedDegree(3) + ms.Degree(1),
    ms.Degree(2, reverse_complement=True),
    ms.WeightedDegree(4, reverse_complement=True),
    ms.WeightedDegreeShift(3, 2, reverse_complement=True),
    ms.WeightedDegreeShift(2, 3, start=2, stop=9, reverse_complement=True),
]
ANYWHERE = [
    ms.Spectrum(1),
    ms.Spectrum(2),
    ms.Spectrum(6),
    ms.Spectrum((1, 3)),
    ms.Spectrum(2, start=2, stop=8),
    ms.Spectrum(2, start=-5),
    ms.GappedKmer(3, 3),
    ms.GappedKmer(4, 2),
    ms.GappedKmer(7, 6, stop=9),
    ms.Mismatch(2, 0),
    ms.Mismatch(3, 1),
    ms.Mismatch(3, 2, start=1),
    ms.Mismatch(2, 2),
    2 * ms.Spectrum(2) + ms.Spectrum(3) + 1,
    ms.Spectrum((1, 4), reverse_complement=True),
    ms.Spectrum(2, start=1, stop=8, reverse_complement=True),
    ms.Spectrum((1, 3), counts="sqrt"),
    ms.Spectrum(2, start=1, counts="binary"),
    ms.GappedKmer(4, 2, reverse_complement=True),
    ms.GappedKmer(5, 3, start=-7, reverse_complement=True),
    ms.Mismatch(3, 1, reverse_complement=True),
    ms.Mismatch(2, 2, start=1, reverse_complement=True),
]
BY_PAIRS = [k for k in PLACED if "reverse_complement=True" in repr(k)]
FEATURED = [k for k in PLACED + ANYWHERE if type(k).features is not BaseKernel.features and k not in BY_PAIRS]
LETTERS = {"dna": "ACGTN", "rna": "ACGUN", "protein": ms.PROTEIN.letters + "X", "bytes": "aA\0\xff-7", "ab": "ab?"}
LETTERS |= {"own opposites": "acb?"}
ALPHABETS = {name: name for name in LETTERS} | {"ab": ms.Alphabet("ab", "ab", "?", complement="ba")}
ALPHABETS |= {"own opposites": ms.Alphabet("own opposites", "abc", "?", complement="cba")}
ONE_STRAND = ["protein", "bytes"]
rng = np.random.default_rng(0)


def strings(letters, lengths, seed=0):
    """Random strings, with a common part so that long words match."""
    rng = np.random.default_rng(seed)
    core = rng.integers(len(letters), size=max(lengths))
    mixed = [np.where(rng.random(n) < 0.5, rng.integers(len(letters), size=n), core[:n]) for n in lengths]
    return ["".join(letters[c] for c in x) for x in mixed]


def with_alphabet(kernel, alphabet):
    return clone(kernel).set_params(**{key: alphabet for key in kernel.get_params() if key.endswith("alphabet")})


def close(actual, expected):
    assert_allclose(actual, expected, rtol=1e-12, atol=1e-12)


X, Y = strings("ACGT", [13] * 9), strings("ACGT", [13] * 4, 1)
RAGGED = strings("ACGTN", [1, 2, 3, 5, 8, 13, 30])


def test_every_exported_kernel_has_an_example():
    exported = {k for k in vars(ms).values() if inspect.isclass(k) and issubclass(k, Kernel)}
    assert exported == {type(k) for k in PLACED + ANYWHERE if hasattr(k, "alphabet")}


@pytest.mark.parametrize("kernel, alphabet", covering(PLACED + ANYWHERE, LETTERS, steps=2))
def test_equals_the_definition_for_every_alphabet(kernel, alphabet):
    if "Mismatch" in repr(kernel) and len(LETTERS[alphabet]) > 10:
        kernel = ms.Mismatch(2, 1)  # 21 letters: the definition counts words one by one
    if "Mismatch" in repr(kernel) and alphabet == "bytes":
        kernel = ms.Mismatch(1, 1)
    kernel = with_alphabet(kernel, ALPHABETS[alphabet])
    if "reverse_complement=True" in repr(kernel) and alphabet in ONE_STRAND:
        pytest.skip("no second strand")
    x, y = strings(LETTERS[alphabet], [13] * 4), strings(LETTERS[alphabet], [13] * 2, 1)
    close(kernel(x), matrix(kernel, x))
    close(kernel(x, y), matrix(kernel, x, y))
    close(kernel.diag(y), np.diag(matrix(kernel, y)))


@pytest.mark.parametrize("kernel", ANYWHERE, ids=repr)
def test_strings_of_any_length_also_shorter_than_the_words(kernel):
    close(kernel(RAGGED), matrix(kernel, RAGGED))
    close(kernel(RAGGED, X), matrix(kernel, RAGGED, X))
    close(kernel.diag(RAGGED), np.diag(matrix(kernel, RAGGED)))


@pytest.mark.parametrize("length", [1, 2, 63, 64, 65, 129])
def test_places_beyond_one_machine_word(length):
    x = strings("ACGTN", [length] * 3)
    part = ms.WeightedDegree(20, start=length // 2, stop=length)
    for kernel in (ms.Degree(1), ms.Degree(3), ms.WeightedDegree(20), part, ms.WeightedDegreeShift(2, 70)):
        close(kernel(x), matrix(kernel, x))


@pytest.mark.parametrize("kernel", PLACED + ANYWHERE, ids=repr)
def test_symmetric_positive_semidefinite_and_diag_is_the_diagonal(kernel):
    x = strings("ACGTN", [13] * 300)
    K = kernel(x)
    assert_array_equal(K, K.T)
    assert kernel.psd
    assert np.linalg.eigvalsh(K).min() > -1e-10 * np.trace(K)
    assert_allclose(kernel.diag(x), np.diag(K), rtol=1e-13)
    assert_allclose(kernel(x[:20], x), K[:20], rtol=1e-13)


@pytest.mark.parametrize("kernel", FEATURED, ids=repr)
def test_features_give_the_kernel(kernel):
    for x in (X, *([RAGGED] if kernel in ANYWHERE else [])):
        F = kernel.features(x)
        assert sp.issparse(F) and F.format == "csr" and F.has_canonical_format
        used, at = np.unique(F.indices, return_inverse=True)
        F = sp.csr_array((F.data, at, F.indptr), shape=(len(x), used.size))
        close((F @ F.T).toarray(), kernel(x))


def test_columns_of_features_are_the_words():
    def number(word):
        return sum("ACGT".index(c) * 4**p for p, c in enumerate(reversed(word)))

    F = ms.Spectrum((2, 3)).features(["ACACG", "GGNGG"]).toarray()
    assert F.shape == (2, 16 + 64)
    assert F[0, number("AC")] == 2 and F[0, 16 + number("ACA")] == 1 and F[1, number("GG")] == 2 and F[1].sum() == 2
    F = ms.GappedKmer(3, 2).features(["ACG", "NCG"]).toarray()
    assert F.shape == (2, 3 * 16)
    assert_array_equal(np.flatnonzero(F[0]), [number("AC"), 16 + number("AG"), 32 + number("CG")])
    assert_array_equal(np.flatnonzero(F[1]), [32 + number("CG")])
    F = ms.Mismatch(3, 1).features(["ACGTTA"]).toarray()[0]
    near = mismatch_counts("ACGTTA", 3, 1, "ACGT")
    assert_array_equal(F[[number(w) for w in near]], list(near.values()))
    F = ms.Degree(2).features(["ACG"]).toarray()[0]
    assert_array_equal(np.flatnonzero(F), [number("AC"), 16 + number("CG")])


@pytest.mark.parametrize("kernel", [k for k in PLACED if hasattr(k, "degree_table") and k not in BY_PAIRS], ids=repr)
def test_degree_table_defines_the_kernel(kernel):
    coef = kernel.degree_table(13)
    x, y = X[0], X[1]
    hits = [[p + k <= 13 and x[p : p + k] == y[p : p + k] for k in range(1, coef.shape[1] + 1)] for p in range(13)]
    close((coef * hits).sum(), kernel([x], [y])[0, 0])
    assert all(coef[p, k - 1] == 0 for p in range(13) for k in range(1, coef.shape[1] + 1) if p + k > 13)


@pytest.mark.parametrize("kind", [ms.Degree, ms.WeightedDegree])
def test_degree_table_has_no_words_longer_than_the_strings(kind):
    for k in range(1, 12):
        table = kind(k).degree_table(4)
        fits = np.add.outer(np.arange(4), np.arange(1, k + 1)) <= 4
        assert not table[~fits].any() and (table[:, -1] > 0).sum() == max(0, 4 - k + 1)


def test_unknown_letters_match_nothing_not_even_themselves():
    for kernel in (ms.Degree(1), ms.WeightedDegree(2), ms.WeightedDegreeShift(2, 1), ms.Spectrum(1), ms.Mismatch(1, 1)):
        assert kernel(["NN"])[0, 0] == 0 and kernel.diag(["NN"])[0] == 0
    with pytest.raises(ValueError, match="'Z'.*position 1.*ignore"):
        ms.Spectrum(1)(["AZ"])
    assert ms.Spectrum(1, unknown="ignore")(["AZ"])[0, 0] == 1
    assert ms.Degree(1, unknown="ignore")(["AZ"])[0, 0] == 1


@pytest.mark.parametrize("kernel", PLACED + ANYWHERE, ids=repr)
def test_clone_pickle_and_params_keep_the_kernel(kernel):
    for twin in (clone(kernel), pickle.loads(pickle.dumps(kernel))):
        assert_array_equal(twin(X), kernel(X))
        assert repr(twin) == repr(kernel)


def test_sums_and_products_with_numbers():
    close((3 * ms.Spectrum(2) + 1)(X, Y), 3 * ms.Spectrum(2)(X, Y) + 1)
    close((ms.Degree(1) * Constant(2.0)).diag(X), 2 * ms.Degree(1).diag(X))
    with pytest.raises(ValueError, match="alphabet"):
        (ms.Spectrum(2) + ms.Spectrum(2, alphabet="protein"))(X)


@pytest.mark.parametrize("kernel", [k for k in PLACED if hasattr(k, "alphabet")], ids=repr)
def test_unequal_lengths_are_refused_where_places_matter(kernel):
    with pytest.raises(ValueError, match="length 13 .* length 12.*equal lengths"):
        kernel([X[0], X[1][:12]])
    with pytest.raises(ValueError, match="length 12.*length 13.*equal lengths"):
        kernel([x[:12] for x in X], X)


@pytest.mark.parametrize(
    "kernel, name",
    [
        (ms.Degree(0), "k=0"),
        (ms.Degree(1.5), "k=1.5"),
        (ms.Degree(True), "k=True"),
        (ms.Degree(2, -1), "start=-1"),
        (ms.Degree(2, 13), "start=13"),
        (ms.Degree(2, 3, 3), "stop=3"),
        (ms.Degree(2, stop=14), "stop=14"),
        (ms.WeightedDegree(0), "d=0"),
        (ms.WeightedDegree("3"), "d='3'"),
        (ms.WeightedDegree(3, 5, 4), "stop=4"),
        (ms.WeightedDegreeShift(0, 1), "d=0"),
        (ms.WeightedDegreeShift(2, -1), "shift=-1"),
        (ms.WeightedDegreeShift(2, 1, start=20), "start=20"),
        (ms.Spectrum(0), "k=0"),
        (ms.Spectrum((3, 1)), r"k=\(3, 1\).*\(shortest, longest\)"),
        (ms.Spectrum((0, 1)), "k=0"),
        (ms.Spectrum((1, 2, 3)), r"k=\(1, 2, 3\)"),
        (ms.Spectrum(2, start="a"), "start='a'"),
        (ms.Spectrum(2, start=30, stop=10), "start=30 of Spectrum is not below stop=10"),
        (ms.Spectrum(2, start=-3, stop=0), "start=-3 of Spectrum is not below stop=0"),
        (ms.Spectrum(2, counts="log"), "counts='log'.*'sqrt'"),
        (ms.Spectrum(32), "shorter words"),
        (ms.GappedKmer(3, 4), "k=4"),
        (ms.GappedKmer(0, 0), "l=0"),
        (ms.Mismatch(3, 4), "m=4"),
        (ms.Mismatch(3, -1), "m=-1"),
        (ms.Spectrum(2, unknown="skip"), "unknown='skip'"),
        (ms.Spectrum(2, alphabet="xyz"), "alphabet='xyz'"),
        (ms.Spectrum(2, reverse_complement="yes"), "reverse_complement='yes'"),
        (ms.Degree(2, 3, reverse_complement=True), "reverse_complement=True of Degree has no meaning with start=3"),
        (ms.WeightedDegree(2, stop=3, reverse_complement=True), "has no meaning.*window"),
    ],
)
def test_parameters_out_of_range_are_named(kernel, name):
    with pytest.raises(ValueError, match=name):
        kernel(X)
    with pytest.raises(ValueError, match=name):
        kernel.diag(X)


def test_sequences_of_another_alphabet_are_refused():
    with pytest.raises(ValueError, match="alphabet"):
        ms.Spectrum(2)(ms.Sequences.encode(X, "protein"))
    with pytest.raises(ValueError, match="alphabet"):
        ms.Spectrum(2, alphabet=None)(ms.Sequences.encode(X, "protein"), X)


def test_lists_made_for_longer_strings_say_so():
    for kernels in (ms.position_kernels(20, 3), ms.position_kernels(20, 3, 20), ms.degree_position_kernels(20, 2)):
        with pytest.raises(ValueError, match="length 13: the kernel was made for longer ones.*length=13"):
            kernels[-1][1](X)
    assert len(ms.position_kernels(5, 3)[-1][1](X)) == len(X)  # a part of the strings


def test_lists_of_kernels_add_up_to_the_whole():
    whole = ms.WeightedDegree(4)(X)
    for block in (1, 4, 13, 50):
        named = ms.position_kernels(13, 4, block)
        assert len({name for name, _ in named}) == len(named) == -(-13 // block)
        close(sum(kernel(X) for _, kernel in named), whole)
    degrees = ms.degree_kernels(20)
    assert len(degrees) == 20
    close(sum(2 * (4 - k) / 20 * kernel(X) for k, (_, kernel) in enumerate(degrees[:4])), whole)
    both = ms.degree_position_kernels(13, 3, 5)
    assert len(both) == 9 and len({name for name, _ in both}) == 9
    close(sum(kernel(X) for _, kernel in both), sum(kernel(X) for _, kernel in degrees[:3]))
    assert len(ms.degree_position_kernels(13, 13, 1)) == 13 * 14 / 2
    for bad in (lambda: ms.degree_kernels(0), lambda: ms.position_kernels(13, 4, 0), lambda: ms.position_kernels(0, 4)):
        with pytest.raises(ValueError, match="must be an integer >= 1"):
            bad()
