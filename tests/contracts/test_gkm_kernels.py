"""The kernels of gkm-SVM and LS-GKM: GappedKmer with d, filter and gamma."""

import json
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from naive_strings import gkm_weights, matrix, reverse_complement
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone

import manykernels
from manykernels import MKLClassifier
from manykernels._state import TAGS
from manykernels.sequences import Alphabet
from manykernels.strings import GappedKmer, word_table

# values of the compiled kernel of LS-GKM 0.1.2
VECTORS = json.loads((Path(__file__).parents[1] / "oracles" / "gkm_vectors.json").read_text())
FILTERS = {0: "counts", 1: "full"}  # of the types; the others are truncated
RULES = ["counts", "full", "truncated"]
THREE = Alphabet("three", "abc", "?", complement="cba")
every_rule = pytest.mark.parametrize("rule", RULES)


def texts(n, letters="ACGT", unknown="N", seed=0):
    rng = np.random.default_rng(seed)
    X = ["".join(rng.choice(list(letters), size=size)) for size in rng.integers(2, 16, n)]
    return [X[0] + unknown + X[1], *X[1:]]


def other(X):
    return [reverse_complement(x) for x in X]


@pytest.mark.parametrize("vector", VECTORS, ids=lambda v: f"{v['type']}-{v['l']}-{v['k']}-{v['d']}-{v['a'][:2]}")
def test_kernels_equal_those_of_the_compiled_program(vector):
    sizes = {name: vector[name] for name in ("l", "k", "d", "reverse_complement")}
    centre = (vector["M"], vector["H"]) if "M" in vector else None
    kernel = GappedKmer(**sizes, filter=FILTERS.get(vector["type"], "truncated"), nearest=False, centre=centre)
    pair = [vector["a"], vector["b"]]
    assert_allclose(kernel.mismatches(4)[1], vector["c"], rtol=1e-13)
    raw = [[vector["raw_aa"], vector["raw_ab"]], [vector["raw_ab"], vector["raw_bb"]]]
    assert_allclose(kernel(pair), raw, rtol=1e-12, atol=1e-13)
    assert_allclose(kernel.diag(pair), np.diag(raw), rtol=1e-12)
    if "rbf" in vector:
        found = clone(kernel).set_params(gamma=vector["gamma"])(pair)
        assert_allclose(found, [[1, vector["rbf"]], [vector["rbf"], 1]], rtol=1e-12)
    for name in ("a", "b") if centre else ():
        assert_array_equal(kernel.window_weights(len(vector[f"wt_{name}"])), vector[f"wt_{name}"])


@pytest.mark.parametrize("both", [False, True])
@pytest.mark.parametrize("alphabet, letters, unknown", [("dna", "ACGT", "N"), (THREE, "abc", "?")])
@pytest.mark.parametrize("sizes", [(4, 2, 2), (4, 2, 1), (4, 3, 0), (3, 3, 0), (3, 1, 2)])
@every_rule
def test_every_filter_equals_its_definition_by_sums_over_all_words(rule, sizes, alphabet, letters, unknown, both):
    size, k, d = sizes
    X, Y = texts(5, letters, unknown), texts(3, letters, unknown, 1)
    kernel = GappedKmer(size, k, d=d, filter=rule, alphabet=alphabet, reverse_complement=both)
    centred = clone(kernel).set_params(centre=(7, 1.5))  # weights of windows towards the centre
    others = (clone(kernel).set_params(nearest=False), clone(kernel).set_params(gamma=0.7))
    for one in (kernel, *others, centred, clone(centred).set_params(gamma=0.7)):
        if (rule, d) == ("counts", size - k):
            one.set_params(d=None)
        assert_allclose(one(X), matrix(one, X), rtol=1e-11, atol=1e-12)
        assert_allclose(one(X, Y), matrix(one, X, Y), rtol=1e-11, atol=1e-12)
        assert_allclose(one.diag(X), np.diag(matrix(one, X)), rtol=1e-11, atol=1e-12)
        assert_array_equal(one(X), one(X).T)


@pytest.mark.parametrize("sizes", [(10, 2), (14, 2), (10, 3)], ids=str)
def test_windows_of_many_mismatches_are_weighted_too(sizes):
    """Seven, eight and twelve mismatches lie in groups of four of their own."""
    X, kernel = ["ACGTTGCATGGACCATTG", "CCGGTTAACAGTCATGCA", "ACCATGAAGTCC"], GappedKmer(*sizes, centre=(7, 1.5))
    assert_allclose(kernel(X), matrix(kernel, X), rtol=1e-12)


def test_long_words_are_weighted_too():
    X = ["ACGTTGCATGGACCATTGCATTGAC", "ACGTTGCATGCACCATTGCATTGACA"]
    kernel = GappedKmer(20, 19, filter="truncated", centre=(9, 2.0), reverse_complement=True)
    plain = clone(kernel).set_params(centre=None)
    assert_allclose(clone(kernel).set_params(centre=(1, 2.0))(X), plain(X), rtol=1e-12)
    assert (kernel(X) > plain(X)).all()


def test_models_with_weights_towards_the_centre_are_fitted_and_saved(tmp_path):
    X, y, new = texts(40), np.arange(40) % 2, texts(20, seed=1)
    kernels = [GappedKmer(5, 3, centre=(20, 5)), GappedKmer(4, 2, filter="truncated", centre=(20, 5.0), gamma=2.0)]
    model = MKLClassifier(kernels, C=1.0, normalize="spherical").fit(X, y)
    assert model.duality_gap_ <= 1e-3
    model.save(tmp_path / "m.mk")
    again = manykernels.load(tmp_path / "m.mk")
    assert_array_equal(again.decision_function(new), model.decision_function(new))
    assert again.kernels[0].centre == (20, 5)


def test_states_without_weights_of_windows_are_read():
    state = GappedKmer(5, 3, d=1).to_state()
    del state["centre"]
    assert TAGS["kernel/gapped_kmer", 2].from_state(state).get_params() == GappedKmer(5, 3, d=1).get_params()


@pytest.mark.parametrize("d", [0, 1, 2])
@every_rule
def test_the_nearest_kernel_has_the_smallest_eigenvalue_zero_where_theirs_is_negative(rule, d):
    every = ["".join(word) for word in np.array(np.meshgrid(*[list("ACGT")] * 4)).reshape(4, -1).T]
    kernel = GappedKmer(4, 2, d=d, filter=rule)
    least = gkm_weights(4, 2, d, rule, 4, False)[1]
    found = np.linalg.eigvalsh(kernel(every))
    assert_allclose(found[0], max(least, 0), atol=1e-12 * found[-1])
    assert kernel.psd and clone(kernel).set_params(nearest=False).psd == (least > -1e-12)


def test_their_default_is_indefinite_and_four_mismatches_are_not():
    for size, k, least in ((10, 6, -0.048), (11, 7, -0.0048)):
        theirs = GappedKmer(size, k, d=3, filter="truncated", nearest=False)
        ours = clone(theirs).set_params(nearest=True)
        added = ours.mismatches(4)[1] - theirs.mismatches(4)[1]
        assert_allclose(added, [-least, 0, 0, 0], rtol=0.02)
        assert not theirs.psd and ours.psd and clone(theirs).set_params(d=4).psd


@pytest.mark.parametrize("pairs", [1500, 1], ids=["pairs", "tables"])
@pytest.mark.parametrize("both", [False, True])
@pytest.mark.parametrize("words", [32, 0], ids=["indefinite", "definite"])
def test_their_kernel_is_fitted_where_its_matrix_is_positive_definite(words, both, pairs, monkeypatch):
    """Equal sequences, and those without a word, do not count."""
    monkeypatch.setattr(word_table, "PAIRS", pairs)
    others = [text + text[::-1] for text in texts(20) if len(text) > 4]
    X = ["".join(word) for word in product("AC", repeat=5)][:words] + others
    kernel = GappedKmer(5, 3, d=1, nearest=False, reverse_complement=both)
    K = kernel(X)
    least = np.linalg.eigvalsh(K / np.sqrt(np.outer(np.diag(K), np.diag(K))))[0]
    assert (least < 0) == (words > 0)
    X += [X[0], other([X[1]])[0] if both else X[1], "ACG"]
    y, options = np.arange(len(X)) % 2, dict(C=1.0, normalize="spherical")
    if words:
        with pytest.raises(ValueError, match="nearest=False.*eigenvalue of -.* or less.*nearest=True"):
            MKLClassifier([kernel], **options).fit(X, y)
        return
    assert_allclose(word_table.least_eigenvalue(kernel, kernel.encode(X)), least, rtol=1e-6)
    assert not kernel.psd and kernel.resolve(X).psd and not clone(kernel.resolve(X)).psd
    found = MKLClassifier([kernel], **options).fit(X, y)
    K = kernel(X)
    root = np.divide(1, np.sqrt(np.diag(K)), where=np.diag(K) > 0, out=np.zeros(len(X)))
    wanted = MKLClassifier("precomputed", C=1.0, normalize=None, tol=1e-8).fit((K * root * root[:, None])[..., None], y)
    assert_allclose(found.objective_, wanted.objective_, rtol=2e-3)
    assert found.duality_gap_ <= found.tol


def test_all_mismatches_of_the_full_filter_are_a_projection():
    """c = f(0) … f(l): the matrix of all words has the eigenvalues 0 and 1, and a fit takes it as it is."""
    every = ["".join(word) for word in product("ACGT", repeat=4)]
    kernel = GappedKmer(4, 2, d=4, filter="full", nearest=False)
    values = np.linalg.eigvalsh(kernel(every))
    assert_allclose(values, np.round(values), atol=1e-12)
    assert kernel.psd and set(np.round(values)) == {0.0, 1.0}


@pytest.mark.parametrize("features", [None, "map", "sorted"])
def test_both_strands_have_the_same_decision_to_the_last_bit_and_models_are_saved(features, tmp_path):
    X, y, new = texts(40), np.arange(40) % 2, texts(20, seed=1)
    kernels = [GappedKmer(5, 3, d=d, filter=rule, reverse_complement=True) for rule in RULES[1:] for d in (1, 2)]
    route = {} if features is None else {"features": features, "solver": "coordinate"}
    kernels += [] if features else [GappedKmer(4, 2, filter="truncated", gamma=1.0, reverse_complement=True)]
    model = MKLClassifier(kernels, C=1.0, normalize="spherical", tol=1e-3, **route).fit(X, y)
    assert model.duality_gap_ <= 1e-3
    assert_array_equal(model.decision_function(other(new)), model.decision_function(new))
    model.save(tmp_path / "m.mk")
    again = manykernels.load(tmp_path / "m.mk")
    assert_array_equal(again.decision_function(new), model.decision_function(new))
    assert [kernel.get_params() for kernel in again.kernels] == [kernel.get_params() for kernel in kernels]


def test_all_mismatches_of_the_counts_are_the_kernel_of_gapped_words():
    X = texts(9)
    assert_array_equal(GappedKmer(5, 3, d=2)(X), GappedKmer(5, 3)(X))
    assert_array_equal(GappedKmer(5, 3, d=2).features(X).toarray(), GappedKmer(5, 3).features(X).toarray())


@pytest.mark.parametrize(
    "options, said",
    [
        ({"d": 3}, "d=3"),
        ({"d": -1}, "d=-1"),
        ({"filter": "half"}, "filter='half'.*'truncated'"),
        ({"nearest": None}, "nearest=None"),
        ({"gamma": 0}, "gamma=0"),
        ({"centre": 50}, r"centre=50.*\(M, H\)"),
        ({"centre": (0, 5.0)}, "M=0"),
        ({"centre": (50, 0)}, "H=0"),
        ({"l": 40, "d": 1}, "shorter words"),
    ],
)
def test_parameters_out_of_range_are_named(options, said):
    with pytest.raises(ValueError, match=said):
        GappedKmer(**({"l": 5, "k": 3} | options))(["ACGTACGT"])


def test_what_has_no_features_says_so():
    X, y = texts(20), np.arange(20) % 2
    for kernel in (GappedKmer(5, 3, d=1), GappedKmer(5, 3, filter="full"), GappedKmer(5, 3, gamma=1.0)):
        with pytest.raises(ValueError, match="no product of counts.*filter='counts'"):
            kernel.features(X)
    with pytest.raises(ValueError, match="features='hash'.*features='auto'"):
        MKLClassifier([GappedKmer(5, 3, filter="full")], C=1.0, features="hash").fit(X, y)
