"""Models of LS-GKM: their text files loaded, scored, saved in both formats, and refused."""

import gzip
from itertools import product

import numpy as np
import pytest
from naive_strings import centre_weights, gkm_weights, words
from sklearn.base import clone

import manykernels
from manykernels import MKLClassifier, MKLRegressor
from manykernels.kernels import RBF
from manykernels.sequences import Sequences
from manykernels.strings import GappedKmer, Spectrum

TYPES = ("gkm_cnt", "gkm_estfull", "gkm_esttrunc", "gkmrbf", "wgkm", "wgkmrbf")
RULES = {"gkm_cnt": "counts", "gkm_estfull": "full"}
OPPOSITE = str.maketrans("ACGT", "TGCA")
COEFS = (1.0, 0.25, 0.0625, 0.1234567890123456, -1.0, -0.4375, -1e-05)
RHO = -0.0312345


def texts(n, seed=0):
    rng = np.random.default_rng(seed)
    return ["".join(rng.choice(list("ACGT"), size=size)) for size in rng.integers(7, 16, n)]


SUPPORT, NEW = texts(len(COEFS)), [*texts(5, 1), "acgtNNACGTAC", "ACGTRYACGTACC"]
READ = [x.upper().translate(str.maketrans("NRY", "AAA")) for x in NEW]  # as their program reads them


def model_text(kind="gkm_esttrunc", both=True, without=(), labels="1 -1", ends="\n"):
    """A model of windows of 5 letters, 3 of which are compared, and up to 1 mismatch."""
    lines = ["svm_type c_svc", f"kernel_type {kind}", "L 5", "k 3", "d 1", f"norc {int(not both)}"]
    lines += ["gamma 1.5"] * kind.endswith("rbf") + ["M 7", "H 2.5"] * kind.startswith("w")
    lines += ["nr_class 2", f"total_sv {len(COEFS)}", f"rho {RHO:g}", f"label {labels}", "nr_sv 4 3", "SV"]
    lines = [line for line in lines if line.split()[0] not in without]
    lines += [f"{coef:.16g} {x}" for coef, x in zip(COEFS, SUPPORT, strict=True)]
    return "".join(line + ends for line in lines)


def compared(x, y, kind, both):
    """Their kernel of two sequences, window by window, before it is normalised."""
    c, _ = gkm_weights(5, 3, 1, RULES.get(kind, "truncated"), 4, False)
    centre, total = (7, 2.5) if kind.startswith("w") else None, 0.0
    strands = [(y, 1)] + [(y.translate(OPPOSITE)[::-1], -1)] * both
    for z, way in strands:
        left = zip(words(x, 5), centre_weights(len(x) - 4, centre), strict=True)
        right = zip(words(z, 5), centre_weights(len(z) - 4, centre)[::way], strict=True)
        for (one, w), (other, v) in product(left, right):
            far = sum(a != b for a, b in zip(one, other, strict=True))
            total += w * v * c[far] if far <= 1 else 0.0
    return total


def scores(kind="gkm_esttrunc", both=True):
    """Σ coef k − rho for the new sequences."""
    found, own = [], {x: compared(x, x, kind, both) for x in (*READ, *SUPPORT)}
    for x in READ:
        K = np.array([compared(x, y, kind, both) / np.sqrt(own[x] * own[y]) for y in SUPPORT])
        found.append(np.array(COEFS) @ (np.exp(1.5 * (K - 1)) if kind.endswith("rbf") else K) - float(f"{RHO:g}"))
    return np.array(found)


def load(folder, text, **options):
    path = folder / "x.model.txt"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return manykernels.load(path, **options)


@pytest.mark.parametrize("both", [False, True])
@pytest.mark.parametrize("kind", TYPES)
def test_a_loaded_model_has_their_scores_and_both_formats_keep_it(kind, both, tmp_path):
    model, wanted = load(tmp_path, model_text(kind, both)), scores(kind, both)
    found = model.decision_function(NEW)
    np.testing.assert_allclose(found, wanted, rtol=1e-10, atol=1e-12)
    np.testing.assert_array_equal(model.predict(NEW), np.where(wanted > 0, 1, -1))
    packed = Sequences.encode([x.replace("R", "N").replace("Y", "N") for x in NEW])
    np.testing.assert_array_equal(model.decision_function(packed), found)
    model.save(tmp_path / "ours.mk")
    again = manykernels.load(tmp_path / "ours.mk")
    np.testing.assert_array_equal(again.decision_function(NEW), found)
    for one in (model, again):
        one.save(tmp_path / "again.txt", format="lsgkm")
        assert (tmp_path / "again.txt").read_text() == model_text(kind, both)


def test_older_files_and_those_of_windows_are_read(tmp_path):
    wanted = load(tmp_path, model_text()).decision_function(NEW)
    for text in (model_text(without=("norc", "label", "nr_sv")), model_text(ends="\r\n"), model_text() + "\n\n"):
        found = load(tmp_path, text)
        np.testing.assert_array_equal(found.decision_function(NEW), wanted)
        np.testing.assert_array_equal(found.classes_, [-1, 1])


def test_gzipped_models_and_those_of_its_regression_are_read(tmp_path):
    packed = gzip.compress(model_text().encode())
    wanted = scores()
    found = load(tmp_path, packed, format="lsgkm")
    np.testing.assert_allclose(found.decision_function(NEW), wanted, rtol=1e-10, atol=1e-12)
    for kind in ("epsilon_svr", "nu_svr"):
        text = model_text(without=("label", "nr_sv")).replace("c_svc", kind)
        model = load(tmp_path, gzip.compress(text.encode()))
        assert isinstance(model, MKLRegressor)
        np.testing.assert_allclose(model.predict(NEW), wanted, rtol=1e-10, atol=1e-12)
        model.save(tmp_path / "r.mk")
        np.testing.assert_array_equal(manykernels.load(tmp_path / "r.mk").predict(NEW), model.predict(NEW))
    with pytest.raises(ValueError, match="x.model.txt cannot be unpacked.*fetch it again"):
        load(tmp_path, packed[:-20])
    with pytest.raises(ValueError, match="more than 100 bytes: give a larger memory_limit"):
        load(tmp_path, packed, memory_limit=100)


def test_the_first_label_is_that_of_positive_scores(tmp_path):
    model = load(tmp_path, model_text(labels="3 8"))
    np.testing.assert_array_equal(model.predict(NEW), np.where(scores() > 0, 3, 8))


def test_probabilities_of_the_file_are_kept(tmp_path):
    text = model_text().replace("nr_sv", "probA -1.5\nprobB 0.25\nnr_sv")
    model = load(tmp_path, text)
    np.testing.assert_allclose(model.predict_proba(NEW)[:, 1], 1 / (1 + np.exp(-1.5 * scores() + 0.25)), rtol=1e-9)
    model.save(tmp_path / "again.txt", format="lsgkm")
    assert (tmp_path / "again.txt").read_text() == text


def test_a_loaded_model_is_split_by_kernel_and_shown_and_its_kernel_is_refused_by_fits(tmp_path):
    model = load(tmp_path, model_text())
    parts = model.decision_parts(NEW)
    np.testing.assert_allclose(parts[:, 0] + model.intercept_, model.decision_function(NEW), rtol=1e-12)
    assert model.kernel_names_ == ["gkm_esttrunc"] and "gkm_esttrunc" in model._repr_html_()
    (name, kernel) = model.kernels[0]
    assert not kernel.psd and kernel.unknown == "A"
    y = np.arange(len(SUPPORT)) % 2
    with pytest.raises(ValueError, match="unknown='A'.*load"):
        clone(model).fit(SUPPORT, y)
    kernel = clone(kernel).set_params(unknown="error")
    every = ["".join(word) for word in product("AC", repeat=5)]
    with pytest.raises(ValueError, match="(?s)nearest=False.*nearest=True"):
        MKLClassifier([kernel], C=1.0).fit(every, np.arange(len(every)) % 2)
    mixed = MKLClassifier([kernel.set_params(nearest=True), Spectrum(3)], C=1.0, normalize="spherical")
    assert mixed.fit(SUPPORT, y).kernel_weights_.shape == (2,)


@pytest.mark.parametrize("options", [{}, {"solver": "coordinate"}, {"calibrate": "sigmoid"}])
def test_our_models_are_written_in_their_format(options, tmp_path):
    X, y = texts(40), np.arange(40) % 2
    model = MKLClassifier([GappedKmer(5, 3, reverse_complement=True)], C=1.0, normalize="spherical", **options).fit(
        X, y
    )
    model.save(tmp_path / "x.txt", format="lsgkm")
    again = manykernels.load(tmp_path / "x.txt")
    lines = (tmp_path / "x.txt").read_text().split("\n")
    assert lines[:6] == ["svm_type c_svc", "kernel_type gkm_cnt", "L 5", "k 3", "d 2", "norc 0"]
    assert f"label {model.classes_[1]} {model.classes_[0]}" in lines
    new = texts(9, 1)
    wanted, found = (one.decision_function(new) - one.intercept_ for one in (model, again))
    np.testing.assert_allclose(found, wanted, rtol=1e-11, atol=1e-11)
    np.testing.assert_allclose(again.intercept_, model.intercept_, rtol=1e-5)  # six digits


KMER = GappedKmer(5, 3)
REFUSED = {
    "two kernels": ([KMER, Spectrum(3)], {}, "2 kernels"),
    "another kernel": ([Spectrum(3)], {}, "Spectrum.*GappedKmer"),
    "normalisation": ([KMER], {"normalize": "trace"}, "normalize='trace'.*spherical"),
    "repaired": ([GappedKmer(5, 3, d=1)], {}, "nearest=True.*nearest=False"),
    "all mismatches": ([GappedKmer(5, 3, d=5, filter="full")], {}, "d=5 is more than"),
    "a part": ([GappedKmer(5, 3, start=1)], {}, "start=1"),
    "weighted counts": ([GappedKmer(5, 3, centre=(9, 2.0))], {}, "filter='counts'.*centre"),
    "counts under a Gaussian": ([GappedKmer(5, 3, gamma=1.0)], {}, "filter='counts'.*gamma"),
    "words too long": ([GappedKmer(13, 12, reverse_complement=True)], {}, "l=13.*12"),
    "RNA": ([GappedKmer(5, 3, alphabet="rna")], {}, "rna"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_their_format_cannot_hold_is_refused(name, tmp_path):
    kernels, options, said = REFUSED[name]
    X, y = [x + "ACGTACGACG" for x in texts(12)], np.arange(12) % 2
    X = [x.replace("T", "U") for x in X] if name == "RNA" else X
    model = MKLClassifier(kernels, **{"C": 1.0, "normalize": "spherical"} | options).fit(X, y)
    with pytest.raises(ValueError, match=f"(?s)lsgkm.*{said}"):
        model.save(tmp_path / "x.txt", format="lsgkm")
    assert not list(tmp_path.iterdir())


def test_other_refusals_of_the_format_name_the_reason(tmp_path):
    X, three, path = texts(12), np.arange(12) % 3, tmp_path / "x.txt"
    options = {"C": 1.0, "normalize": "spherical"}
    unknown = MKLClassifier([KMER], **options).fit([x + "N" for x in X], three % 2)
    named = MKLClassifier([KMER], **options).fit(X, np.array(["a", "b", "c"])[three % 2])
    numbers = MKLClassifier([RBF(1.0)], C=1.0).fit(np.arange(12.0)[:, None], three % 2)
    several = MKLClassifier([KMER], **options).fit(X, three)
    short = MKLClassifier([KMER], **options).fit([*X[:10], "ACGT", "ACG"], three % 2)
    each = [(unknown, "N"), (named, "'a'"), (numbers, "RBF"), (several, "3 classes"), (short, "fewer than l=5")]
    for model, said in each:
        with pytest.raises(ValueError, match=f"lsgkm.*{said}"):
            model.save(path, format="lsgkm")
    with pytest.raises(ValueError, match="format='onnx'.*'lsgkm'"):
        unknown.save(path, format="onnx")


WRONG = {
    "svm_type c_svc": ("svm_type nu_svc", 1, "nu_svc"),
    "kernel_type gkm_esttrunc": ("kernel_type rbf", 2, "rbf.*gkm_esttrunc"),
    "L 5": ("L 50", 3, "L 50.*12"),
    "k 3": ("k 3 4", 4, "one value"),
    "d 1": ("d 3", 5, "d 3.*0.*2"),
    "norc 0": ("norc yes", 6, "yes"),
    "nr_class 2": ("nr_class 3", 7, "3"),
    "total_sv 7": ("total_sv 8", 11, "nr_sv 4 3.*total_sv 8"),
    f"\n1 {SUPPORT[0]}\n": ("\n", 18, "7 support sequences.*6"),
    "rho -0.0312345": ("rho 1e999", 9, "1e999"),
    "label 1 -1": ("label 1 1", 10, "1 1"),
    "nr_sv 4 3": ("nr_sv 4 4", 11, "4 4"),
    "\nSV": ("\nVS", 12, "VS"),
    "0.0625 ": ("0_0625 ", 15, "0_0625"),
    "0.25 ": ("0.25 A ", 14, "coefficient"),
    f" {SUPPORT[0]}": (" ACGT", 13, "4 letters.*5"),
    f" {SUPPORT[1]}": (" ACG7TTTT", 14, "ACG7TTTT"),
    "svm_type c_svc\n": ("svm_type c_svc\nL 5\n", 4, "twice"),
    "L 5\n": ("", 11, "no line 'L'"),
}  # what is replaced: (by what, the line of the error, its words)


@pytest.mark.parametrize("old", WRONG, ids=repr)
def test_errors_name_the_file_the_line_and_what_is_wrong(old, tmp_path):
    new, line, said = WRONG[old]
    with pytest.raises(ValueError, match=f"(?s)x.model.txt, line {line}: .*{said}.*: "):
        load(tmp_path, model_text().replace(old, new, 1))


def test_a_text_beyond_the_limit_or_without_its_end_is_refused(tmp_path):
    with pytest.raises(ValueError, match="memory_limit"):
        load(tmp_path, model_text(), memory_limit=100)
    for cut in (30, 100, len(model_text()) - 40):
        with pytest.raises(ValueError, match="x.model.txt, line"):
            load(tmp_path, model_text()[:cut])
    rng = np.random.default_rng(0)
    for _ in range(200):  # no byte makes another error
        text = bytearray(model_text().encode())
        text[rng.integers(9, len(text))] = rng.integers(256)
        try:
            load(tmp_path, bytes(text)).decision_function(NEW[:1])
        except ValueError as error:
            assert "x.model.txt, line" in str(error)


def test_the_methods_of_a_loaded_model_answer_or_say_why_not(tmp_path):
    """`load(path, format=...)` was a TypeError, and the picture of the weights had a gap of nan."""
    (tmp_path / "m.txt").write_text(model_text())
    model = manykernels.load(tmp_path / "m.txt", format="lsgkm")
    assert "no certificate" in model._repr_html_() and "nan" not in model._repr_html_().partition("<style")[0]
    with pytest.raises(ValueError, match="reports and relevance, which fit folds, give a kernel with unknown='error'"):
        model.report(SUPPORT, np.array([1, -1, 1, -1, 1, -1, 1]))
    model.save(tmp_path / "m.mk")
    assert manykernels.load(tmp_path / "m.mk", format="manykernels").kernel_names_ == ["gkm_esttrunc"]
    with pytest.raises(ValueError, match="format='lsgkm', but .*m.mk is no text model of LS-GKM"):
        manykernels.load(tmp_path / "m.mk", format="lsgkm")
    with pytest.raises(ValueError, match="format='manykernels', but .*m.txt is a text model"):
        manykernels.load(tmp_path / "m.txt", format="manykernels")
    with pytest.raises(ValueError, match="format='text' is unknown"):
        manykernels.load(tmp_path / "m.txt", format="text")
