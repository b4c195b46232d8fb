"""DeltaSVM's sum over windows, its tables of words, and shuffles that keep pairs of letters."""

from collections import Counter
from itertools import permutations, product
from pathlib import Path

import numpy as np
import pytest
from genomes import random_variants, write_genome
from scipy.stats import chisquare

from manykernels import MKLClassifier
from manykernels.genome import (
    KmerWeights,
    deltasvm,
    dinucleotide_shuffle,
    kmer_weights,
    kmers,
    non_redundant_kmers,
    read_kmer_weights,
    write_kmer_weights,
    write_kmers,
)
from manykernels.strings import Spectrum

pytest.importorskip("pyfaidx")


def opposite(word):
    return word[::-1].translate(str.maketrans("ACGT", "TGCA"))


def both_strands(k, seed=0):
    """Weights that are equal for reverse complements, and the same as a dict."""
    rng = np.random.default_rng(seed)
    weight = {}
    for word in map("".join, product("ACGT", repeat=k)):
        weight[word] = weight.get(opposite(word), round(float(rng.normal()), 6))
    return KmerWeights(k, np.array(list(weight.values()))), weight


@pytest.mark.parametrize("k", [1, 3, 6])
def test_scores_are_sums_over_the_words_that_overlap_the_variant(k):
    rng = np.random.default_rng(k)
    contigs = {name: "".join(rng.choice(list("ACGTacgtN"), size=80)) for name in ("a", "b")}
    variants = random_variants(contigs, 60, rng)
    weights, weight = both_strands(k)
    write_genome("g.fa", contigs)
    found = deltasvm(weights, variants, "g.fa")

    def total(text):
        return sum(weight.get(text[i : i + k].upper(), 0.0) for i in range(len(text) - k + 1))

    for n, (pos, ref, alt) in enumerate(zip(variants.pos, variants.ref, variants.alt, strict=True)):
        letters = contigs[str(variants.chrom[n])]  # the words that do not overlap cancel
        changed = letters[: pos - 1] + alt + letters[pos - 1 + len(ref) :]
        assert found.score[n] == pytest.approx(total(changed) - total(letters), abs=1e-9)
    found.write("out.txt")
    assert Path("out.txt").read_text().splitlines()[0] == f"v0\t{found.score[0]:.6f}"


def test_weights_are_written_and_read_in_the_format_of_deltasvm():
    path = Path("w.txt")
    weights, weight = both_strands(4)
    write_kmer_weights(path, weights)
    text = path.read_text().splitlines()
    assert len(text) == 1 + 136 and text[1].split("\t") == ["AAAA", f"{weight['AAAA']:.9g}"]
    assert np.array_equal(read_kmer_weights(path).values, weights.values)
    rows = [f"{word} {opposite(word)} {weight[word]}" for word in non_redundant_kmers(4)]
    path.write_text("\n".join(["AAAA 99", "#comment", "bias 3", *rows]))
    assert np.array_equal(read_kmer_weights(path).values, weights.values)
    path.write_text("\n".join(text[1:]))  # without a header, the first word is lost
    with pytest.raises(ValueError, match="no weight for 2 of the 256 words, the first AAAA"):
        read_kmer_weights(path)
    assert np.array_equal(read_kmer_weights(path, header=False).values, weights.values)
    lost = read_kmer_weights(path, missing=0.0)
    assert lost["AAAA"] == lost["TTTT"] == 0 and lost["CATG"] == weight["CATG"]
    one_strand = KmerWeights(2, np.arange(16.0))
    write_kmer_weights(path, one_strand)
    assert np.array_equal(read_kmer_weights(path).values, one_strand.values)
    for text, word in [
        ("h\nACGT\n", "line 2"), ("h\nAC 1\nACG 2\n", "several lengths"), ("h\n", "no words"), ("h\nAN 1\n", "'AN'"),
        ("h\nAC x\n", "line 2"),
    ]:  # fmt: skip
        path.write_text(text)
        with pytest.raises(ValueError, match=word):
            read_kmer_weights(path, missing=0.0)


@pytest.mark.parametrize("k", [1, 2, 3, 5])
def test_non_redundant_words_are_the_first_of_each_pair(k):
    words = list(map("".join, product("ACGT", repeat=k)))
    expected = [word for word in words if word <= opposite(word)]
    assert non_redundant_kmers(k) == expected
    write_kmers("w.fa", k)
    assert Path("w.fa").read_text() == "".join(f">{word}\n{word}\n" for word in expected)


@pytest.mark.parametrize("most", [1, 7, 2**19])
def test_weights_of_a_model_are_its_decisions_at_words(most, monkeypatch):
    """However many words are scored at a time."""
    monkeypatch.setattr(kmers, "WORDS_AT_ONCE", most)
    X = ["AACCGGTATCGGA", "ACGATTTTACGAC", "TTTTACGGACTAC", "GGCACACACTTGA"]
    model = MKLClassifier([Spectrum(k=2)], C=1.0, normalize="spherical").fit(X, [1, 1, 0, 0])
    every = kmer_weights(model, 3, reverse_complement=False)
    words = list(map("".join, product("ACGT", repeat=3)))
    assert np.allclose(every.values, model.decision_function(words))
    half = kmer_weights(model, 3)
    assert half.values.tolist() == [every[min(word, opposite(word))] for word in words]
    with pytest.raises(KeyError, match="no word of 3 letters"):
        half["AC"]
    with pytest.raises(ValueError, match="k=13"):
        kmer_weights(model, 13)


def pairs(text):
    return Counter(zip(text, text[1:], strict=False))


def test_shuffles_keep_the_letters_at_the_ends_and_the_pairs():
    rng = np.random.default_rng(0)
    X = ["".join(row) for row in rng.choice(list("ACGTN"), p=[0.4, 0.3, 0.2, 0.05, 0.05], size=(300, 80))]
    X += ["A" * 79 + "C", "A" * 40 + "G" * 39 + "C", "AC" * 40, "A" * 80]
    shuffled = list(dinucleotide_shuffle(X))
    for old, new in zip(X, shuffled, strict=True):
        assert pairs(old) == pairs(new) and (old[0], old[-1]) == (new[0], new[-1])
    assert np.mean([old != new for old, new in zip(X, shuffled, strict=True)]) > 0.98
    assert list(dinucleotide_shuffle(["AC", "GT"])) == ["AC", "GT"]


@pytest.mark.parametrize("text", ["AACAGATA", "ACGTACAGC", "CAANCAGN"])
def test_all_orders_with_the_same_pairs_are_equally_likely(text):
    orders = {"".join(order) for order in permutations(text) if order[0] == text[0]}
    orders = sorted(order for order in orders if pairs(order) == pairs(text))
    found = Counter(dinucleotide_shuffle([text] * 6000, random_state=1))
    assert set(found) == set(orders) and len(orders) > 3
    assert chisquare([found[order] for order in orders]).pvalue > 0.001
