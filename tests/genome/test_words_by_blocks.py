"""Weights of words, scored some at a time, and the format of their files."""

from itertools import product

import numpy as np
import pytest

from manykernels import MKLClassifier
from manykernels.genome import (
    KmerWeights,
    Variants,
    kmer_weights,
    kmers,
    read_kmer_weights,
    score_variants,
    write_kmer_weights,
)
from manykernels.strings import Spectrum

rng = np.random.default_rng(3)
TEXTS = ["".join(row) for row in rng.choice(list("ACGT"), (40, 9))]
OPPOSITE = str.maketrans("ACGT", "TGCA")


@pytest.mark.parametrize("most", [1, 7, 64, 1000])
@pytest.mark.parametrize("both", [True, False])
def test_every_word_has_its_own_decision_however_many_are_scored_at_a_time(both, most, monkeypatch):
    monkeypatch.setattr(kmers, "WORDS_AT_ONCE", most)
    model = MKLClassifier([Spectrum(2)], C=1.0).fit(TEXTS, np.arange(40) % 2)
    found = kmer_weights(model, 3, reverse_complement=both)
    words = ["".join(word) for word in product("ACGT", repeat=3)]
    asked = [min(word, word.translate(OPPOSITE)[::-1]) if both else word for word in words]
    with pytest.warns(UserWarning):
        np.testing.assert_allclose(found.values, model.decision_function(asked), atol=1e-12)
    assert found["CAT"] == found.values[words.index("CAT")]


def test_files_of_weights_have_one_word_of_a_pair_or_all(tmp_path):
    even, odd = np.zeros(16), np.arange(16.0)
    words = ["".join(word) for word in product("ACGT", repeat=2)]
    for word in words:
        pair = {word, word.translate(OPPOSITE)[::-1]}
        even[words.index(word)] = sum(odd[words.index(one)] for one in pair)
    for values, many in ((even, 10), (odd, 16)):
        write_kmer_weights(tmp_path / "w.txt", KmerWeights(2, values))
        lines = (tmp_path / "w.txt").read_text().splitlines()
        assert len(lines) == many + 1 and lines[0] == "kmer\tscore"
        np.testing.assert_allclose(read_kmer_weights(tmp_path / "w.txt").values, values)
    rows = [f"{a} {b} {v}" for a, b, v in (("A", "T", 2.5), ("C", "G", -1))]
    (tmp_path / "v.txt").write_text("\n".join(["first", "#note 3", "bias 7.0", "", *rows]) + "\n")
    assert read_kmer_weights(tmp_path / "v.txt").values.tolist() == [2.5, -1, -1, 2.5]
    (tmp_path / "v.txt").write_text("C 1\nA 2\n")
    assert read_kmer_weights(tmp_path / "v.txt", header=False).values.tolist() == [2, 1, 1, 2]
    assert read_kmer_weights(tmp_path / "v.txt", missing=0.5).values.tolist() == [2, 0.5, 0.5, 2]
    with pytest.raises(ValueError, match="no weight for 2 of the 4 words, the first C: give header=False"):
        read_kmer_weights(tmp_path / "v.txt")


def test_a_window_may_be_as_short_as_the_longest_word_that_has_weight(tmp_path):
    pytest.importorskip("pyfaidx")
    (tmp_path / "g.fa").write_text(">chr1\nACGTACGTTGCA\n")
    model = MKLClassifier([("three", Spectrum(3)), ("four", Spectrum(4))], C=1.0).fit(TEXTS, np.arange(40) % 2)
    one = Variants(["v"], np.array(["chr1"]), np.array([6]), ["C"], ["T"])
    with pytest.warns(UserWarning):
        found = score_variants(model, one, tmp_path / "g.fa", 4, n_shuffles=0)
    assert found["score_ref"] == pytest.approx(model.decision_function(["ACGT"]))
    assert found["score_alt"] == pytest.approx(model.decision_function(["ATGT"]))
    with pytest.raises(ValueError, match="width=3 is less than the 4 letters of a word of 'four'"):
        score_variants(model, one, tmp_path / "g.fa", 3, n_shuffles=0)
    model.kernel_weights_ = model.kernel_weights_ * [1.0, 0.0]  # a kernel without weight asks for nothing
    with pytest.warns(UserWarning):
        short = score_variants(model, one, tmp_path / "g.fa", 3, n_shuffles=0)
    assert short["delta"] == pytest.approx(np.diff(model.decision_function(["ACG", "ATG"])))
