"""A refusal names the true cause: of kernels that do not vary, of sequences in other forms, of weights and groups."""

import numpy as np
import pytest
import scipy.sparse as sp

from manykernels import MKLClassifier, MKLClassifierCV, MKLRegressor
from manykernels.kernels import RBF, Linear
from manykernels.sequences import Sequences
from manykernels.strings import Spectrum

rng = np.random.default_rng(0)
N = 40
X = rng.normal(size=(N, 3))
Y = (X[:, 0] > 0).astype(int)
DNA = ["".join(rng.choice(list("ACGT"), 30)) for _ in range(N)]
LABELS = np.array([1, "1", 2, "2"] * (N // 4), dtype=object)
EMPTY = np.full((N, 1), np.nan)


def fit(kernels, X, **parameters):
    return MKLClassifier(kernels, C=1.0, **parameters).fit(X, Y)


REFUSED = {
    "overflow": (lambda: MKLRegressor([Linear()], C=1.0).fit(X * 1e200, X[:, 0]), "overflow: rescale the columns of X"),
    "beyond": (lambda: fit([Spectrum(3, start=40, stop=50)], DNA), "positions, which lie beyond the sequences"),
    "empty column": (lambda: fit([("a", RBF(), [0], "zero")], EMPTY), "columns, which are constant or missing"),
    "class_weight NaN": (lambda: fit([RBF()], X, class_weight={0: np.nan, 1: 5}), "class_weight={0: nan, 1: 5} must"),
    "class_weight below 0": (lambda: fit([RBF()], X, class_weight={0: -1, 1: 5}), "class_weight={0: -1, 1: 5} must"),
    "groups": (
        lambda: MKLClassifierCV([RBF()], Cs=[1.0], regularizer=[2], cv=3).fit(X, Y, groups=LABELS),
        "groups mixes numbers and texts",
    ),
    "one text": (lambda: fit([Spectrum(3)], DNA).predict(np.array(DNA[0])), "X is one text"),
    "generator in fit": (lambda: fit([Spectrum(3)], iter(DNA)), "read only once: give list\\(X\\)"),
    "generator in predict": (lambda: fit([Spectrum(3)], DNA).predict(iter(DNA)), "read only once: give list\\(X\\)"),
    "sequences as numbers": (
        lambda: fit([RBF()], Sequences.encode(DNA)),
        "X holds sequences, which a kernel of numbers",
    ),
}


@pytest.mark.parametrize("ask,sentence", REFUSED.values(), ids=REFUSED)
def test_a_refusal_names_its_cause(ask, sentence):
    with pytest.raises(ValueError, match=sentence):
        ask()


@pytest.mark.parametrize("kernels", ["auto", [Spectrum(3)]], ids=["auto", "spectrum"])
@pytest.mark.parametrize("form", ["StringDType", "pyarrow"])
def test_texts_of_any_library_are_sequences(form, kernels):
    if form == "pyarrow":
        given = pytest.importorskip("pyarrow").array(DNA)
    elif hasattr(np.dtypes, "StringDType"):  # of NumPy 2
        given = np.array(DNA, dtype=np.dtypes.StringDType())
    else:
        pytest.skip("this NumPy has no texts of any length")
    model, expected = fit(kernels, given), fit(kernels, DNA).decision_function(DNA)
    for new in (given, DNA):
        np.testing.assert_array_equal(model.decision_function(new), expected)


def test_the_kernels_of_a_sparse_table_are_listed_without_a_source():
    table = sp.csr_matrix(X * (rng.uniform(size=X.shape) < 0.4))
    assert fit("auto", table).kernels_chosen_.startswith("4 kernels: RBF of 3 widths")
