"""Reading models of sequences: weights by position, positional oligomer importance, top words, bands and pictures."""

from itertools import product

import numpy as np
import pytest

from manykernels import MKLClassifier, MKLRegressor, inspect, load
from manykernels import strings as ms

L = 6
LETTERS = "ACGT"
rng = np.random.default_rng(0)
X = ["".join(rng.choice(list(LETTERS), L)) for _ in range(60)]
X[3] = X[3][:2] + "N" + X[3][3:]
X[10] = "N" + X[10][1:]
y = np.array([1 if x[2] == "A" or x[3:5] == "GT" else -1 for x in X])
EVERY = np.array(list(product(range(4), repeat=L)))
STRINGS = ["".join(LETTERS[c] for c in x) for x in EVERY]
FREQUENCIES = np.array([0.1, 0.2, 0.3, 0.4])
CHAIN = rng.dirichlet(np.ones(4), 4)
LISTS = {
    "degrees": ms.degree_kernels(4),
    "positions": ms.position_kernels(L, 3, 2),
    "both": ms.degree_position_kernels(L, 3, 2),
    "long": [ms.WeightedDegree(9)],
    "shifts": [ms.WeightedDegreeShift(3, 2), ms.WeightedDegree(2), ms.WeightedDegreeShift(2, 9, start=1, stop=5)],
}


def enumerated(s, k, P):
    """E[s(X) | X[p:p+k] = z] − E[s(X)] from the values s of all 4^L strings and their probabilities P."""
    Q = []
    for p in range(L - k + 1):
        z = EVERY[:, p : p + k] @ 4 ** np.arange(k)[::-1]
        Q.append(np.bincount(z, P * s) / np.bincount(z, P) - P @ s)
    return np.array(Q)


def stationary(T):
    return np.linalg.matrix_power(T, 200)[0]


BACKGROUNDS = {
    "uniform": (None, np.full(4**L, 4.0**-L)),
    "letters": (FREQUENCIES, FREQUENCIES[EVERY].prod(axis=1)),
    "chain": (CHAIN, stationary(CHAIN)[EVERY[:, 0]] * CHAIN[EVERY[:, :-1], EVERY[:, 1:]].prod(axis=1)),
}


@pytest.fixture(scope="module")
def models():
    fits = {name: MKLClassifier(kernels, C=1.0).fit(X, y) for name, kernels in LISTS.items()}
    for name in ("degrees", "both", "shifts"):  # as explicit features
        fits[name + ", coordinate"] = MKLClassifier(LISTS[name], C=1.0, solver="coordinate").fit(X, y)
    return fits


@pytest.mark.parametrize("background", BACKGROUNDS)
def test_poim_is_the_enumerated_expectation(models, background):
    given, P = BACKGROUNDS[background]
    for name, model in models.items():
        s = model.decision_function(STRINGS)
        for k in (1, 2, 3, L):
            Q = inspect.poim(model, k, background=given)
            np.testing.assert_allclose(Q.values, enumerated(s, k, P), atol=1e-9, err_msg=f"{name}, k={k}")
    assert Q.words[:5] == ["AAAAAA", "AAAAAC", "AAAAAG", "AAAAAT", "AAAACA"]


@pytest.mark.parametrize("solver", ["auto", "coordinate"])
def test_spherical_models_of_known_letters_are_read_too(solver):
    known = ["".join(x).replace("N", "A") for x in X]
    model = MKLClassifier(LISTS["positions"], normalize="spherical", solver=solver).fit(known, y)
    expected = enumerated(model.decision_function(STRINGS), 2, BACKGROUNDS["uniform"][1])
    np.testing.assert_allclose(inspect.poim(model, 2).values, expected, atol=1e-9)
    model.fit(X, y)  # with N
    with pytest.raises(ValueError, match="spherical"):
        inspect.poim(model, 2)


def test_poim_of_one_class_of_three_and_of_a_regression():
    P, classes = BACKGROUNDS["uniform"][1], np.array(["none", "left", "right"])[np.arange(60) % 3]
    for multi_class in ("ovr", "shared"):
        model = MKLClassifier(LISTS["degrees"], multi_class=multi_class).fit(X, classes)
        for s, label in zip(model.decision_function(STRINGS).T, model.classes_, strict=True):
            np.testing.assert_allclose(inspect.poim(model, 2, label=label).values, enumerated(s, 2, P), atol=1e-9)
        with pytest.raises(ValueError, match=r"label=None.*left"):
            inspect.poim(model, 2)
    model = MKLRegressor(LISTS["degrees"]).fit(X, y + rng.normal(size=60))
    np.testing.assert_allclose(inspect.poim(model, 3).values, enumerated(model.predict(STRINGS), 3, P), atol=1e-9)


def test_a_background_of_sequences_is_their_chain(models):
    sample = ["ACGTTA", "ACCA", "NACG"]
    pairs = np.ones((4, 4))
    for a, b in ["AC", "CG", "GT", "TT", "TA", "AC", "CC", "CA", "AC", "CG"]:
        pairs[LETTERS.index(a), LETTERS.index(b)] += 1
    counted = inspect.poim(models["degrees"], 2, background=sample).values
    given = inspect.poim(models["degrees"], 2, background=pairs / pairs.sum(axis=1, keepdims=True)).values
    np.testing.assert_allclose(counted, given, atol=1e-12)


def test_poim_survives_saving(models, tmp_path):
    for name in ("shifts", "degrees, coordinate"):
        models[name].save(tmp_path / "model.mk")
        again = load(tmp_path / "model.mk")
        np.testing.assert_array_equal(inspect.poim(again, 3).values, inspect.poim(models[name], 3).values)


def test_top_kmers_are_the_largest_entries(models):
    Q = inspect.poim(models["both"], 3)
    found = inspect.top_kmers(models["both"], 3, n=7)
    assert [abs(q) for _, _, q in found] == sorted(np.abs(Q.values).ravel())[:-8:-1]
    for word, position, q in found:
        assert q == Q.values[position, Q.words.index(word)]
    assert len(inspect.top_kmers(models["both"], 1, n=100)) == 4 * L
    assert inspect.top_kmers_table(models["both"], 3, n=7).row_count == 7
    np.testing.assert_allclose(Q.importance, np.abs(Q.values).max(axis=1))


def test_weights_are_laid_out_by_degree_and_position(models):
    theta = {name: model.kernel_weights_ / model.kernel_weights_.sum() for name, model in models.items()}
    by = {name: inspect.position_weights(models[name]) for name in ("degrees", "positions", "both")}
    for weights in by.values():
        for shares in (weights.shares, weights.degrees, weights.starts, weights.letters):
            assert shares.sum() == pytest.approx(1) and (shares >= 0).all()
    np.testing.assert_allclose(by["degrees"].degrees, theta["degrees"])
    np.testing.assert_allclose(by["positions"].starts.reshape(3, 2).sum(axis=1), theta["positions"])
    blocks = by["both"].shares.reshape(3, 3, 2).sum(axis=2)  # degree × block
    named = dict(zip(models["both"].kernel_names_, theta["both"], strict=True))
    assert blocks[1, 2] == pytest.approx(named["degree 2, positions 4-5"])
    assert blocks[2, 0] == pytest.approx(named["degree 3, positions 0-1"])


def test_a_word_is_shared_by_its_letters():
    model = MKLClassifier([("word", ms.Degree(3, 1, 2))]).fit(X, y)
    np.testing.assert_allclose(inspect.position_weights(model).letters, [0, 1 / 3, 1 / 3, 1 / 3, 0, 0])


def test_bootstrap_leaves_the_checkpoint_alone(tmp_path):
    file = tmp_path / "fit.npz"
    model = MKLClassifier(LISTS["degrees"], checkpoint=file)
    boot = inspect.bootstrap_weights(model, X, y, n_boot=2)
    assert not file.exists() and model.checkpoint is file
    np.testing.assert_array_equal(boot, inspect.bootstrap_weights(model.set_params(checkpoint=None), X, y, n_boot=2))


def test_a_background_without_two_known_letters_is_refused():
    model = MKLClassifier(ms.degree_kernels(2, unknown="ignore")).fit(X, y)
    known, mixed = (inspect.poim(model, 1, background=sample).values for sample in (["ACGGT"], ["ACGGT", "GRG"]))
    np.testing.assert_array_equal(known, mixed)
    with pytest.raises(ValueError, match="background has no two letters"):
        inspect.poim(model, 1, background=["MKV"])


@pytest.mark.parametrize("solver", ["coordinate", "chunking"])
def test_hashed_models_have_weights(solver):
    model = MKLClassifier(LISTS["degrees"], solver=solver, features="hash", C=1.0).fit(X, y)
    assert inspect.position_weights(model).shares.sum() == pytest.approx(1)


def test_relevance_calls_sequences_by_their_name():
    """It called them "all columns"."""
    found = inspect.relevance(MKLClassifier([ms.Spectrum(1), ms.Spectrum(2)], C=1.0), X, y, cv=2)
    assert "the sequences" in str(found) and "all columns" not in str(found)
