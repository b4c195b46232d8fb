"""Explanations of sequences as tracks of a genome, and their short form. Issue 14, build 5."""

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


def test_bigwig_has_the_contributions_at_their_places_and_means_where_windows_overlap(found, model, tmp_path):
    pyBigWig = pytest.importorskip("pyBigWig", reason='no tracks without pyBigWig: pip install ".[bigwig]"')
    found.to_bigwig(tmp_path / "a.bw", PLACES, {"chr1": 100, "chr2": 50, "chr3": 9})
    inspect.explain_sequences(model, X, by_kernel=True).to_bigwig(tmp_path / "b.bw", PLACES)
    c = found.contributions
    for name, sizes in (("a.bw", {"chr1": 100, "chr2": 50}), ("b.bw", {"chr1": 22, "chr2": 8})):
        with pyBigWig.open(str(tmp_path / name)) as file:
            assert file.chroms() == sizes
            np.testing.assert_allclose(file.values("chr1", 10, 16), c[0, :6], atol=1e-6)
            np.testing.assert_allclose(file.values("chr1", 16, 18), (c[0, 6:] + c[1, [5, 4]]) / 2, atol=1e-6)
            np.testing.assert_allclose(file.values("chr1", 18, 22), c[1, 3::-1], atol=1e-6)
            np.testing.assert_allclose(file.values("chr2", 0, 8), c[2], atol=1e-6)
            assert not file.intervals("chr1", 0, 10)
    with pytest.raises(ValueError, match="sizes has 20 for 'chr1'"):
        found.to_bigwig(tmp_path / "c.bw", PLACES, {"chr1": 20, "chr2": 50})
    for wrong in (PLACES[:2], ["a", *PLACES[1:]], ["chr1:10-19", *PLACES[1:]]):
        with pytest.raises(ValueError, match=r"give one each|give chrom:start-stop"):
            found.to_bigwig(tmp_path / "c.bw", wrong)


def test_without_the_package_the_error_names_the_cure(found, tmp_path, monkeypatch):
    before = builtins.__import__

    def without(name, *more):
        if name == "pyBigWig":
            raise ImportError(name)
        return before(name, *more)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(ImportError, match=r"pip install manykernels\[bigwig\]"):
        found.to_bigwig(tmp_path / "a.bw", PLACES)
