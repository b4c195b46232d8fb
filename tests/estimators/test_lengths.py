"""Kernels that count words warn where sequences differ in length and nothing makes up for it."""

import warnings

import numpy as np
import pandas as pd
import pytest

from manykernels import MKLClassifier, MKLClassifierCV, MKLOneClass
from manykernels.kernels import Linear, On
from manykernels.strings import Degree, GappedKmer, Mismatch, Spectrum, WeightedDegree, WeightedDegreeShift

rng = np.random.default_rng(0)
Y = np.arange(40) % 2
EQUAL = ["".join(rng.choice(list("ACGT"), 30, p=[0.4, 0.2, 0.2, 0.2] if y else [0.2, 0.2, 0.2, 0.4])) for y in Y]
UNEQUAL = [x if i % 5 else x * 2 for i, x in enumerate(EQUAL)]
WORDS = {
    "spectrum": Spectrum(2), "mismatch": Mismatch(3, 1), "gapped": GappedKmer(4, 3), "sum": Spectrum(1) + Spectrum(2),
    "product": Spectrum(1) * Spectrum(2), "window": Spectrum(2, start=3),
}  # fmt: skip


def said(function, *args, about="grow with the length"):
    """The warnings of lengths of one call."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        function(*args)
    return [str(w.message) for w in caught if about in str(w.message)]


@pytest.mark.parametrize("name", WORDS)
def test_words_of_unequal_sequences_warn_at_fit(name):
    chosen = MKLClassifier([("words", WORDS[name])], normalize="multiplicative", C=1.0)
    (text,) = said(chosen.fit, UNEQUAL, Y)
    assert "'words' counts words" in text and 'normalize="spherical"' in text
    assert said(MKLClassifier([("words", WORDS[name])], C=1.0).fit, EQUAL, Y) == []
    assert said(MKLClassifier([WORDS[name]], normalize="spherical", C=1.0).fit, UNEQUAL, Y) == []


@pytest.mark.parametrize("name", WORDS)
def test_a_new_sequence_of_another_length_warns_at_prediction(name):
    """A sequence repeated four times goes from −0.35 to −5.28."""
    new = [EQUAL[0], EQUAL[1] * 4, EQUAL[2][:15]]
    model = MKLClassifier([("words", WORDS[name])], C=1.0).fit(EQUAL, Y)
    one, four = np.abs(model.decision_function([EQUAL[1], EQUAL[1] * 4]))
    assert four > 2 * one
    (text,) = said(model.decision_function, new)
    assert "kernel 'words' counts words" in text and "in 2 of 3 examples (1, 2)" in text and "spherical" in text
    assert said(model.predict, EQUAL[:5] + [EQUAL[0] + "ACGT"]) == []
    model = MKLClassifier([WORDS[name]], normalize="spherical", C=1.0).fit(EQUAL, Y)
    assert said(model.predict, new) == []


def test_a_window_that_all_sequences_fill_does_not_grow():
    model = MKLClassifier([Spectrum(2, start=0, stop=20)])
    assert said(model.fit, UNEQUAL, Y) == [] == said(model.predict, [EQUAL[0] * 4])


def test_kernels_of_positions_need_equal_lengths_and_do_not_warn():
    for kernel in (WeightedDegree(3), Degree(2), WeightedDegreeShift(2, 1)):
        assert said(MKLClassifier([kernel]).fit, EQUAL, Y) == []
        with pytest.raises(ValueError, match="equal lengths|one length|length"):
            MKLClassifier([kernel]).fit(UNEQUAL, Y)
        with pytest.raises(ValueError, match="length"):
            MKLClassifier([kernel]).fit(EQUAL, Y).predict([EQUAL[0] * 4])


def test_examples_of_other_lengths_are_named_by_their_rows_among_examples_without_a_sequence():
    X = {"dna": np.array([*EQUAL[:38], None, ""], object), "rows": np.ones((40, 1)) * Y[:, None]}
    model = MKLClassifier([("dna", Spectrum(2), "dna", "zero"), ("rows", Linear(), "rows")]).fit(X, Y)
    new = np.array([None, EQUAL[0] * 4, "", EQUAL[1], EQUAL[2] * 4, None, EQUAL[3] * 4], object)
    (text,) = said(model.predict, {"dna": new, "rows": X["rows"][:7]})
    assert "in 3 of 7 examples (1, 4, 6)" in text


def test_products_across_views_and_searches_warn_too():
    X = {"dna": UNEQUAL, "rows": np.random.default_rng(1).normal(size=(40, 2))}
    assert len(said(MKLClassifier([On("dna", Spectrum(2)) * On("rows", Linear())]).fit, X, Y)) == 1
    search = MKLClassifierCV([Spectrum(2)], Cs=[0.1, 1], regularizer=[1, 2], cv=2, normalize="multiplicative")
    assert len(said(search.fit, UNEQUAL, Y)) == 1


@pytest.mark.parametrize("kernels", ["auto", [("words", Spectrum(2))]], ids=["auto", "listed"])
def test_unequal_lengths_are_made_up_for_unasked(kernels):
    """Without a choice decisions grew with the length, and a warning asked for normalize="spherical"."""
    model, given = MKLClassifier(kernels, C=1.0), MKLClassifier(kernels, C=1.0, normalize="spherical")
    assert said(model.fit, UNEQUAL, Y) == [] and model.normalize_ == "spherical"
    new = [EQUAL[0] * 4, EQUAL[1]]
    np.testing.assert_array_equal(model.decision_function(new), given.fit(UNEQUAL, Y).decision_function(new))
    assert said(model.predict, new) == []
    assert MKLClassifier(kernels, C=1.0).fit(EQUAL, Y).normalize_ == "multiplicative"
    search = MKLClassifierCV(kernels, Cs=[1.0], regularizer=[2], cv=2).fit(UNEQUAL, Y)
    assert search.normalize_ == "spherical"
    np.testing.assert_allclose(search.decision_function(new), given.fit(UNEQUAL, Y).decision_function(new), atol=0.02)


def test_only_lengths_are_made_up_for():
    """In a mixture with kernels whose k(x, x) means something the normalisation stays, and the fit warns."""
    frame = pd.DataFrame(
        {"dna": UNEQUAL, "kind": np.array(["a", "b"])[rng.integers(0, 2, 40)], "x": rng.normal(size=40)}
    )
    assert MKLClassifier(C=1.0).fit(frame, Y).normalize_ == "spherical"  # others have k(x, x) = 1
    numbers = MKLClassifier([("dna", Spectrum(2), "dna"), ("x", Linear(), "x")], C=1.0)
    assert len(said(numbers.fit, frame, Y)) == 1 and numbers.normalize_ == "multiplicative"
    assert MKLOneClass().fit(UNEQUAL).normalize_ == "spherical" and MKLOneClass().fit(EQUAL).normalize_ == "trace"


@pytest.mark.parametrize(
    "kernel", [GappedKmer(8, 6), GappedKmer(8, 6, centre=(9, 2.0)), Mismatch(8, 1), Spectrum((8, 9))]
)
def test_sequences_without_a_single_word_warn_at_fit_and_at_prediction(kernel):
    model, short = MKLClassifier([("words", kernel)], C=1.0, normalize="spherical"), [EQUAL[0][:7], *EQUAL[1:]]
    (text,) = said(model.fit, short, Y, about="letters")
    assert "'words' reads words of 8 letters" in text and "has 7" in text and "shorter words" in text
    assert said(model.fit, EQUAL, Y, about="letters") == []
    (text,) = said(model.predict, short[:3], about="letters")
    assert "kernel 'words' reads words of 8 letters, and 1 of 3 examples (0) have fewer, 7 in one of them" in text
    (text,) = said(model.predict, [*EQUAL[:2], "N" * 30], about="letters")  # N matches nothing
    assert "1 of 3 examples (2) have fewer, 0 in one of them" in text
    assert said(model.predict, EQUAL, about="letters") == []


def test_words_that_can_be_read_in_too_many_ways_are_refused_at_once():
    for kernel in (GappedKmer(24, 12), GappedKmer(24, 12, filter="truncated"), GappedKmer(10**9, 20), Mismatch(25, 9)):
        with pytest.raises(ValueError, match="in [0-9,]+ ways, more than 65,536"):
            MKLClassifier([kernel]).fit(EQUAL, Y)
