"""Explanations of sequences as tracks of a genome, and their short form."""

import builtins

import numpy as np
import pytest

from manykernels import MKLClassifier, inspect
from manykernels.strings import Spectrum

X = ["ACGTACGT", "AAGTCC", "TTGCAACC"]
PLACES = ["chr1:10-18", "peak7::chr1:16-22(-)", "chr2:0-8 a comment"]


@pytest.fixture(scope="module")
def model():
    return MKLClassifier([("words", Spectrum(2)), ("long", Spectrum(3))], C=1.0).fit([*X, "CCCCCC"], [1, 0, 1, 0])


@pytest.fixture(scope="module")
def found(model):
    return inspect.explain_sequences(model, X)


def test_the_representation_is_one_line(found, model):
    assert repr(found) == "SequenceExplanation(3 sequences of 6 to 8 letters, method='mutagenesis')"
    other = inspect.explain_sequences(model, X[:1], "gkmexplain", mode=1, by_kernel=True)
    assert repr(other) == "SequenceExplanation(1 sequences of 8 letters, method='gkmexplain', mode=1, by 2 kernels)"


def test_behind_the_end_values_are_nan_and_what_is_made_of_them_is_0(found):
    assert np.isnan(found.values[1, 6:]).all() and not np.isnan(found.values[1, :6]).any()
    assert (found.contributions[1, 6:] == 0).all() and (found.hypothetical[1, 6:] == 0).all()


def test_without_the_package_the_error_names_the_cure(found, tmp_path, monkeypatch):
    before = builtins.__import__

    def without(name, *more):
        if name == "pyBigWig":
            raise ImportError(name)
        return before(name, *more)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(ImportError, match=r"pip install manykernels\[bigwig\]"):
        found.to_bigwig(tmp_path / "a.bw", PLACES)
