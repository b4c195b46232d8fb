"""Gaps among categories stay missing, and labels, strata, masks and dates that would be lost are refused by name."""

import re

import numpy as np
import pandas as pd
import pytest

from manykernels import MKLClassifier, MKLRegressor, MKLSurvival, survival_targets
from manykernels.genome import read_kmer_weights
from manykernels.inspect import relevance
from manykernels.kernels import RBF, Categorical, Gower, Linear, Views
from manykernels.kernels.new_data import NewDataWarning
from manykernels.regularizers import Fixed, WeightedLpNorm
from manykernels.sequences import read_fasta

N = 40
Y = np.arange(N) % 2
GAP = pd.DataFrame({"p": np.arange(N) % 7, "stage": pd.Categorical([None if i == 3 else i % 4 for i in range(N)])})
PLAIN = pd.DataFrame(np.random.default_rng(0).normal(size=(N, 3)), columns=list("abc"))
DAYS = pd.DataFrame({"t": pd.date_range("2024-01-01", periods=N)})


@pytest.mark.parametrize("kernels", [[Gower()], [("zeros", RBF(gamma=0.1), slice(0, 2), "zero")]])
def test_a_gap_among_whole_numbers_is_missing_whatever_the_column_is(kernels):
    fits = [MKLClassifier(kernels, C=1.0).fit(X, Y).decision_function(X) for X in (GAP, GAP.astype(float))]
    np.testing.assert_allclose(*fits)


def fitted(kernels, X=PLAIN, y=Y, **options):
    return MKLClassifier(kernels, C=1.0, **options).fit(X, y)


TIMES = np.arange(N) + 1.0
STRATA = MKLSurvival([RBF(gamma=0.1)], C=1.0).fit(PLAIN, survival_targets(Y, TIMES, np.arange(N) % 3))
WEIGHTS = pd.Series({"l": 1.0, "g": 0.5})
MASK = np.ma.masked_array(np.ones(N, bool), mask=np.arange(N) > 20)
TWO = [("g", RBF(gamma=0.1)), ("l", Linear())]

REFUSED = {
    "gap": (lambda: fitted([RBF(gamma=0.05)], GAP), "NaN in column 'stage'"),
    "gap in a target": (lambda: MKLRegressor([RBF(gamma=1)]).fit(PLAIN, GAP), "y has 1 missing values"),
    "weights": (lambda: fitted(TWO, regularizer=Fixed(WEIGHTS)), "weights has labels .'l', 'g', .* are not matched"),
    "prior": (lambda: fitted(TWO, regularizer=WeightedLpNorm(1.5, WEIGHTS)), "weights has labels"),
    "metric": (lambda: RBF(gamma=1, metric=WEIGHTS)(PLAIN[["a", "b"]]), "metric has labels"),
    "strata": (lambda: STRATA.score(PLAIN, survival_targets(Y, TIMES)), "3 strata, .* give strata, or y ="),
    "gap in classes": (lambda: relevance(MKLClassifier(TWO), PLAIN, [None, *"01" * 19, "1"]), "y has 1 missing values"),
    "short groups": (lambda: relevance(MKLClassifier(TWO), PLAIN, Y, groups=Y[1:]), "groups has 39 entries, and X 40"),
    "mask of Views": (lambda: Views({"a": PLAIN})[MASK], "the mask of 19 entries would be lost"),
    "Views in Views": (lambda: Views({"a": Views({"x": PLAIN})}), "views.'a'. is a Views"),
    "groups": (lambda: relevance(MKLClassifier(TWO), PLAIN, Y, groups=np.c_[Y, Y]), "groups has 2 axes"),
    "view of dates": (lambda: fitted([RBF()], {"t": DAYS["t"].to_numpy()}), "times in column 't: 0'"),
    "dates as categories": (lambda: Categorical()(DAYS), "dates or durations"),
    "dates of Gower": (lambda: Gower()(DAYS), "dates or durations"),
    "text for a number": (lambda: fitted([Gower()]).predict(PLAIN.assign(a="yes")), "not numeric in column 0"),
}


@pytest.mark.parametrize("case", REFUSED)
@pytest.mark.filterwarnings("ignore:X has values of a kind:UserWarning")
def test_what_would_be_lost_is_refused(case):
    call, words = REFUSED[case]
    with pytest.raises(ValueError, match=words):
        call()


def test_a_category_that_gower_has_not_seen_is_told():
    table = pd.DataFrame({"g": list("uvwv") * 10, "p": np.arange(N)})
    with pytest.warns(NewDataWarning, match="'zz'"):
        fitted([Gower()], table).predict(table.assign(g="zz"))


LABELS = {
    "k=01 k=1": ["01", "1"], "k=1 k=2": [1, 2], "k=1_0 k=2": ["1_0", "2"], "k=0.5 k=-1e3": [0.5, -1000.0],
}  # fmt: skip


@pytest.mark.parametrize("labels", LABELS)
def test_labels_of_headers_are_numbers_where_no_spelling_is_lost(labels, tmp_path):
    (tmp_path / "a.fa").write_text("".join(f">s {label}\nACGT\n" for label in labels.split()))
    assert read_fasta(tmp_path / "a.fa", labels="k")[1].tolist() == LABELS[labels]


def test_files_that_say_two_things_are_refused(tmp_path):
    (tmp_path / "a.fa").write_text(">s k=1 k=2\nACGT\n")
    with pytest.raises(ValueError, match=re.escape("'s k=1 k=2' of sequence 0")):
        read_fasta(tmp_path / "a.fa", labels="k")
    (tmp_path / "w.txt").write_text("A 1.0\nC 1.0\nG 1.0\nT 1.0\nA 5.0\n")
    with pytest.raises(ValueError, match="two scores of the word 'A'"):
        read_kmer_weights(tmp_path / "w.txt", header=False)


def test_labels_may_be_strings_of_numpy():
    words = np.where(Y, "a", "b").astype(np.dtypes.StringDType()) if hasattr(np.dtypes, "StringDType") else Y
    assert set(fitted(TWO, y=words).predict(PLAIN)) == set(words.tolist())


def test_a_category_of_pandas_is_one_whatever_its_levels_are():
    ward = np.arange(N) % 5
    X = pd.DataFrame({"age": PLAIN["a"], "ward": pd.Categorical([None, *ward[1:]])})
    words = X.assign(ward=np.array([None, *np.array(list("abcde"))[ward[1:]]]))
    model, named = (MKLClassifier(C=1.0).fit(one, Y) for one in (X, words))
    np.testing.assert_allclose(model.decision_function(X), named.decision_function(words))
    with pytest.warns(NewDataWarning, match="40"):
        model.predict(X.assign(ward=40))
