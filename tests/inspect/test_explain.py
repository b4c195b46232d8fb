"""Values of single letters: mutagenesis against decisions of mutated copies, gkmexplain against pairs of windows."""

import numpy as np
import pandas as pd
import pytest

from manykernels import MKLClassifier, MKLOneClass, MKLRegressor, inspect, load
from manykernels.kernels import RBF, Linear, On
from manykernels.strings import (
    Degree,
    GappedKmer,
    Mismatch,
    Spectrum,
    WeightedDegree,
    WeightedDegreeShift,
)

LETTERS = "ACGT"
rng = np.random.default_rng(3)


def draw(lengths):
    return ["".join(rng.choice(list(LETTERS), n)) for n in lengths]


X = draw([16] * 40)
X = [x[:5] + "TGACT" + x[10:] if i % 2 else x for i, x in enumerate(X)]
y = np.arange(40) % 2
NEW = draw([16, 16, 16])
NEW[0] = "ACACACACGTGTACGT"  # windows that overlap themselves and their reverse complement
BOTH = {"reverse_complement": True}
KERNELS = {
    "spectrum": Spectrum(3),
    "spectra, both strands": Spectrum((1, 3), **BOTH),
    "roots of counts": Spectrum((1, 3), counts="sqrt", **BOTH),
    "mismatch": Mismatch(4, 1),
    "mismatch, both strands": Mismatch(3, 1, start=2, stop=14, **BOTH),
    "gapped": GappedKmer(5, 3),
    "truncated, both strands": GappedKmer(6, 4, d=1, filter="truncated", **BOTH),
    "full": GappedKmer(5, 3, filter="full"),
    "centre": GappedKmer(5, 3, centre=(5, 3.0), **BOTH),
    "gamma": GappedKmer(5, 3, gamma=2.0, filter="truncated", **BOTH),
    "degree": Degree(2),
    "weighted degree": WeightedDegree(3),
    "shift": WeightedDegreeShift(3, 2),
    "sum": Spectrum(2) + WeightedDegree(2),
}


def mutated(decide, x, letters=LETTERS):
    """decide(x with letter a at p) − decide(x), (L, letters), from copies."""
    copies = [x[:p] + a + x[p + 1 :] for p in range(len(x)) for a in letters]
    found = decide([*copies, x])
    return (found[:-1] - found[-1]).reshape(len(x), len(letters))


def check_mutagenesis(model, X, decide=None, **options):
    found = inspect.explain_sequences(model, X, **options)
    decide = decide or (lambda Z: model.decision_function(Z))
    for i, x in enumerate(X):
        expected = mutated(decide, x)
        np.testing.assert_allclose(found.values[i, : len(x)], expected, atol=1e-9, err_msg=f"sequence {i}")
        assert np.isnan(found.values[i, len(x) :]).all()
    np.testing.assert_allclose(found.decision, decide(list(X)), atol=1e-9)
    return found


@pytest.mark.parametrize("normalize", ["multiplicative", "spherical"])
@pytest.mark.parametrize("name", KERNELS)
def test_mutagenesis_is_the_decision_of_mutated_copies(name, normalize):
    """Every kernel, normalised or not, trained by pairs."""
    model = MKLClassifier([KERNELS[name]], C=1.0, normalize=normalize).fit(X, y)
    check_mutagenesis(model, NEW)


@pytest.mark.parametrize("features", ["never", "auto", "map", "sorted", "hash"])
def test_mutagenesis_of_models_trained_by_features(features):
    kernels = [Spectrum(3, **BOTH), Mismatch(4, 1)]
    for normalize in ("multiplicative", "spherical"):
        model = MKLClassifier(kernels, C=1.0, normalize=normalize, features=features).fit(X, y)
        check_mutagenesis(model, NEW[:2])


@pytest.mark.filterwarnings("ignore:X has")
@pytest.mark.filterwarnings("ignore:some sequences")
def test_unknown_letters_unequal_lengths_and_short_sequences():
    kernels = [GappedKmer(5, 3), GappedKmer(4, 2, d=1, filter="truncated", **BOTH), Spectrum(2)]
    odd = [NEW[0], NEW[1][:11], "ACNTTGACTA", "AC", "N" + NEW[2]]
    for support in (X, [x[:3] + "N" + x[4:] if i % 5 == 0 else x for i, x in enumerate(X)]):
        model = MKLClassifier(kernels, C=1.0, normalize="spherical").fit(support, y)
        found = check_mutagenesis(model, odd)
        assert found.values.shape == (5, 17, 4) and found.one_hot.sum() == sum(map(len, odd)) - 2


def test_values_by_kernel_are_those_of_the_decision_parts():
    model = MKLClassifier([Spectrum(3), WeightedDegree(2), GappedKmer(5, 3)], C=1.0, regularizer=2).fit(X, y)
    found = inspect.explain_sequences(model, NEW, by_kernel=True)
    assert found.values.shape == (3, 3, 16, 4) and found.kernel_names == model.kernel_names_
    for m in range(3):
        expected = mutated(lambda Z, m=m: model.decision_parts(Z)[:, m], NEW[0])
        np.testing.assert_allclose(found.values[0, m], expected, atol=1e-9)
    summed = inspect.explain_sequences(model, NEW)
    np.testing.assert_allclose(found.values.sum(axis=1), summed.values, atol=1e-12)


@pytest.mark.parametrize("kind", ["dict", "frame", "product"])
def test_numbers_of_a_mixture_are_held_fixed(kind):
    numbers = rng.normal(size=(40, 2))
    kernels = [("words", Spectrum(3), "dna"), ("numbers", RBF(gamma=0.5), "energy")]
    make = dict
    if kind == "frame":

        def make(dna, energy):
            return pd.DataFrame({"dna": list(dna), "a": energy[:, 0], "b": energy[:, 1]})

        kernels[1] = ("numbers", Linear(), ["a", "b"])
    elif kind == "product":
        kernels.append(("both", On("dna", Spectrum(2)) * On("energy", RBF(gamma=0.5))))
    model = MKLClassifier(kernels, C=1.0, regularizer=2).fit(make(dna=X, energy=numbers), y)
    found = inspect.explain_sequences(model, make(dna=NEW, energy=numbers[:3]))
    for i in range(3):
        expected = mutated(
            lambda Z, i=i: model.decision_function(make(dna=Z, energy=np.repeat(numbers[i : i + 1], len(Z), 0))), NEW[i]
        )
        np.testing.assert_allclose(found.values[i], expected, atol=1e-9)
    parts = model.decision_parts(make(dna=NEW, energy=numbers[:3]))
    np.testing.assert_allclose(found.base, parts[:, 1] + model.intercept_[0], atol=1e-9)


def test_classes_and_regressions():
    classes = np.array(["a", "b", "c"])[np.arange(40) % 3]
    for multi_class in ("ovr", "shared"):
        model = MKLClassifier([Spectrum(3), GappedKmer(4, 2)], C=1.0, multi_class=multi_class).fit(X, classes)
        check_mutagenesis(model, NEW, lambda Z, model=model: model.decision_function(Z)[:, 1], label="b")
        with pytest.raises(ValueError, match="label=None"):
            inspect.explain_sequences(model, NEW)
    check_mutagenesis(MKLOneClass([Spectrum(2), WeightedDegree(2)]).fit(X), NEW[:1])
    model = MKLRegressor([GappedKmer(4, 2)], C=1.0).fit(X, rng.normal(size=40))
    check_mutagenesis(model, NEW, model.predict)
    model = MKLRegressor([GappedKmer(4, 2)], C=1.0).fit(X, rng.normal(size=(40, 2)))
    check_mutagenesis(model, NEW, lambda Z: model.predict(Z)[:, 1], label=1)


@pytest.mark.parametrize("normalize", ["multiplicative", "spherical"])
def test_other_alphabets(normalize):
    amino = "ACDEFGHIKLMNPQRSTVWY"
    proteins = ["".join(row) for row in rng.choice(list(amino), (30, 9))]
    model = MKLClassifier([Mismatch(3, 1, alphabet="protein")], C=1.0, normalize=normalize)
    model.fit(proteins, np.arange(30) % 2)
    found = inspect.explain_sequences(model, proteins[:2])
    np.testing.assert_allclose(found.values[0], mutated(model.decision_function, proteins[0], amino), atol=1e-9)
    assert found.letters == amino


def pairs(model, kernel, x, mode):
    """The values of gkmexplain before the weights of the model, from all pairs of windows."""
    _, c = kernel.mismatches(4)
    l, d, c = kernel.l, len(c) - 1, np.append(c, [0.0, 0.0])  # noqa: E741 (the paper's name)
    support, total = X, np.zeros((len(x), 4))
    coef = np.zeros(40)
    coef[model.support_] = model.dual_coef_[0] * model.kernel_weights_[0] * model.kernel_scale_[0]
    plain = GappedKmer(**kernel.get_params() | {"gamma": None})
    root = 1 / np.sqrt(np.outer(plain.diag([x]), plain.diag(support)))[0]
    K = plain([x], support)[0] * root
    if model.normalize != "spherical" and kernel.gamma is None:
        root = np.ones(40)
    if kernel.gamma is not None:
        coef = coef * (np.exp(kernel.gamma * (K - 1)) - np.exp(-kernel.gamma)) / K
    n = len(x) - l + 1
    weights = kernel.window_weights(n)
    weights = np.ones(n) if weights is None else weights
    for i, other in enumerate(support):
        strands = [other, other[::-1].translate(str.maketrans("ACGT", "TGCA"))][: 1 + kernel.reverse_complement]
        for s, strand in enumerate(strands):
            for p in range(n):
                for r in range(n):
                    u, v = x[p : p + l], strand[r : r + l]
                    same = [a == b for a, b in zip(u, v, strict=True)]
                    m = l - sum(same)
                    if m > d + (mode in (2, 4)):
                        continue
                    f = coef[i] * root[i] * weights[p] * weights[n - 1 - r if s else r]
                    for q in range(l):
                        own, theirs = LETTERS.index(u[q]), LETTERS.index(v[q])
                        if mode <= 2:
                            if same[q] and m <= d:
                                total[p + q, own] += f * c[m] / (l - m)
                            if not same[q] and mode:
                                total[p + q, theirs] += f * c[m - 1] / (l - m + 1)
                        elif same[q]:
                            total[p + q, np.arange(4) != own] += f * (c[m + 1] - c[m])
                        else:
                            total[p + q, theirs] += f * (c[m - 1] - c[m])
    return total


GKM = {
    "counts": GappedKmer(4, 2, d=1, reverse_complement=True),
    "truncated": GappedKmer(5, 3, d=1, filter="truncated", **BOTH),
    "one strand": GappedKmer(5, 4, d=1, filter="full"),
    "centre": GappedKmer(4, 3, d=1, filter="truncated", centre=(5, 3.0), **BOTH),
    "gamma": GappedKmer(4, 3, d=1, filter="truncated", gamma=2.0, **BOTH),
    "both": GappedKmer(4, 3, d=1, filter="truncated", gamma=2.0, centre=(5, 3.0), **BOTH),
    "exact words": GappedKmer(3, 3, d=0),
}


@pytest.mark.parametrize("normalize", ["spherical", "multiplicative"])
@pytest.mark.parametrize("name", GKM)
def test_gkmexplain_is_the_sum_over_pairs_of_windows_and_complete(name, normalize):
    """Modes 0 to 4 of all types; mode 0 and the base sum to the decision."""
    kernel = GKM[name]
    model = MKLClassifier([kernel], C=1.0, normalize=normalize).fit(X, y)
    for mode in range(5):
        found = inspect.explain_sequences(model, NEW, "gkmexplain", mode=mode)
        np.testing.assert_allclose(found.values[0], pairs(model, kernel, NEW[0], mode), atol=1e-9, err_msg=mode)
        if mode == 0:
            np.testing.assert_allclose(found.values.sum(axis=(1, 2)) + found.base, found.decision, atol=1e-9)
            if kernel.gamma is None:
                np.testing.assert_allclose(found.base, model.intercept_[0], atol=1e-12)
            contributions = found.contributions
        if mode in (1, 2):
            np.testing.assert_allclose(found.contributions, contributions, atol=1e-12)


def test_mode_4_without_normalisation_is_mutagenesis():
    model = MKLClassifier([GappedKmer(5, 3, d=1, **BOTH), Spectrum((2, 3)), Mismatch(4, 1)], C=1.0).fit(X, y)
    found = inspect.explain_sequences(model, NEW, "gkmexplain", mode=4, by_kernel=True)
    exact = inspect.explain_sequences(model, NEW, by_kernel=True)
    np.testing.assert_allclose(found.values, exact.values, atol=1e-9)


TEXT = """svm_type c_svc
kernel_type {kind}
L 4
k 3
d 1
norc 0
{more}nr_class 2
total_sv 3
rho 0.125
SV
0.5 ACGTTGACTTGA
0.25 TTTGACCAGTGA
-0.75 CCAGTTTAGACA
"""


@pytest.mark.parametrize("kind", ["gkm_cnt", "gkm_estfull", "gkm_esttrunc", "gkmrbf", "wgkm", "wgkmrbf"])
def test_loaded_models_of_lsgkm_are_complete(kind, tmp_path):
    """The values of mode 0 sum to score + rho, and with gamma up to exp(−gamma) Σ coef, here 0."""
    more = "gamma 1.5\n" * kind.endswith("rbf") + "M 5\nH 3.0\n" * kind.startswith("w")
    (tmp_path / "m.txt").write_text(TEXT.format(kind=kind, more=more))
    model = load(tmp_path / "m.txt")
    found = inspect.explain_sequences(model, [*NEW, "ACGTNACCA"], "gkmexplain")
    score = model.decision_function([*NEW, "ACGTNACCA"])
    np.testing.assert_allclose(np.nansum(found.values, axis=(1, 2)), score + 0.125, atol=1e-9)
    check_mutagenesis(model, NEW)


def test_files(tmp_path):
    model = MKLClassifier([GappedKmer(4, 2), Spectrum(2)], C=1.0, regularizer=2).fit(X, y)
    found = inspect.explain_sequences(model, [*NEW, "ACGTNA"], "mutagenesis", by_kernel=True)
    found.to_modisco(tmp_path / "ohe.npz", tmp_path / "shap.npz")
    hot, shap = (np.load(tmp_path / name)["arr_0"] for name in ("ohe.npz", "shap.npz"))
    assert hot.shape == shap.shape == (4, 4, 16) and hot[0, :, 0].tolist() == [1, 0, 0, 0] and not hot[3, :, 6:].any()
    np.testing.assert_allclose((hot * shap).sum(axis=1), found.contributions.sum(axis=1), atol=1e-6)
    assert not shap[3, :, 6:].any()
    found.to_gkmexplain(tmp_path / "scores.txt", ids=["a", "b", "c", "d"])
    lines = [line.split("\t") for line in (tmp_path / "scores.txt").read_text().splitlines()]
    assert [line[0] for line in lines] == ["a", "b", "c", "d"]
    np.testing.assert_allclose([float(line[1]) for line in lines], found.decision, rtol=1e-5)
    read = [[float(v) for v in place.split(",")] for place in lines[3][2].split(";")]
    np.testing.assert_allclose(read, found.values[3, :, :6].sum(axis=0), rtol=1e-5, atol=1e-12)


FRAME = pd.DataFrame({"s": X, "a": rng.normal(size=40), "b": rng.normal(size=40)})
VIEWS = {"s": FRAME["s"], "n": FRAME[["a", "b"]]}


@pytest.mark.parametrize(("known", "given", "said"), [
    (FRAME, FRAME[["s", "b", "a"]], "same order"), (FRAME, FRAME.rename(columns={"a": "q"}), "unseen at fit time"),
    (VIEWS, VIEWS | {"n": FRAME[["b", "a"]]}, r"X\['n'\] has the columns of fit in another order"),
    (VIEWS, VIEWS | {"n": FRAME[["a", "b"]][::-1]}, "different indices"),
])  # fmt: skip
def test_new_data_are_checked_as_those_of_predict(known, given, said):
    several = isinstance(known, dict)
    model = MKLClassifier([("s", Spectrum(2), "s"), ("n", RBF(0.5), "n" if several else ["a", "b"])], C=1.0).fit(
        known, y
    )
    for ask in (model.predict, lambda X: inspect.explain_sequences(model, X)):
        with pytest.raises(ValueError, match=said):
            ask(given)


def test_what_is_new_is_told_and_what_no_kernel_needs_may_be_missing():
    model = MKLClassifier([Spectrum(3)], C=1.0).fit(X, y)
    with pytest.warns(UserWarning, match="reads words of 3 letters"):
        inspect.explain_sequences(model, ["AC"])
    kernels = [("s", Spectrum(2), "s"), ("n", RBF(0.5), "n"), ("one", Linear(), "one")]
    with pytest.warns(UserWarning, match="without variance"):
        model = MKLClassifier(kernels, C=1.0).fit(VIEWS | {"one": np.zeros((40, 1))}, y)
    found = inspect.explain_sequences(model, VIEWS)
    np.testing.assert_allclose(found.decision, model.decision_function(VIEWS), atol=1e-12)
