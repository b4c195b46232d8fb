"""Matched negatives, the training set, folds by chromosome."""

from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone

from manykernels.datasets import make_genome
from manykernels.genome import ChromosomeSplit, Reference, matched_negatives, read_bed, training_set, windows
from manykernels.genome import training as room
from manykernels.genome.reference import composition

pytest.importorskip("pyfaidx")


@pytest.fixture(scope="module")
def genome(tmp_path_factory):
    return make_genome(tmp_path_factory.mktemp("genome"), peaks=80, length=40_000)


def overlap(a, b):
    """Pairs (i, j) of windows of a and b that share a letter, by brute force."""
    return [
        (i, j) for i in range(len(a)) for j in range(len(b))
        if a.chrom[i] == b.chrom[j] and a.start[i] < b.stop[j] and b.start[j] < a.stop[i]
    ]  # fmt: skip


def shares(reference, found):
    texts = [reference.fetch(*at) for at in zip(found.chrom.tolist(), found.start, found.stop, strict=True)]
    gc = [sum(c in "CGcg" for c in text) / sum(c in "ACGTacgt" for c in text) for text in texts]
    return np.array(gc), np.array([sum(c.islower() for c in text) / len(text) for text in texts])


@pytest.mark.parametrize("width, ratio", [(101, 2), (None, 1)])
def test_negatives_match_their_positives_and_overlap_nothing(genome, width, ratio, monkeypatch):
    monkeypatch.setattr(room, "LETTERS_AT_ONCE", 7_000)  # so that contigs are read in pieces
    peaks = read_bed(genome.peaks)
    if width is None:  # of many lengths
        peaks.stop[:] -= np.arange(len(peaks)) % 7
    positives = windows(peaks, genome.reference, width)
    found = matched_negatives(positives, genome.reference, ratio, exclude=peaks)
    negatives = found.windows
    assert len(found) == found.wanted == ratio * len(positives)
    assert np.array_equal(np.bincount(found.positive), np.full(len(positives), ratio))
    assert not overlap(negatives, peaks) and not overlap(negatives, positives)
    assert overlap(negatives, negatives) == [(k, k) for k in range(len(negatives))]
    assert np.array_equal(negatives.stop - negatives.start, (positives.stop - positives.start)[found.positive])
    with Reference(genome.reference) as reference:
        for mine, theirs in zip(shares(reference, negatives), shares(reference, positives), strict=True):
            assert np.abs(mine - theirs[found.positive]).max() <= 0.02
    assert np.allclose(negatives.gc, shares(Reference(genome.reference), negatives)[0])
    assert (negatives.unknown <= 0.1).all() and set(negatives.chrom) == set(positives.chrom)


def test_gc_is_a_share_of_the_known_letters():
    """Windows with N are matched by it."""
    letters = np.frombuffer(b"ACGTNNgcATNN", np.uint8)
    gc, masked, unknown = composition(letters, np.array([0, 4, 4, 10]), np.array([4, 8, 10, 12]))
    assert gc.tolist() == [0.5, 1.0, 0.5, 0.0] and unknown.tolist() == [0.0, 0.5, 1 / 3, 1.0]
    assert masked.tolist() == [0.0, 0.5, 1 / 3, 0.0]


def test_the_matching_is_reported(genome):
    positives = windows(genome.peaks, genome.reference, 101)
    found = matched_negatives(positives, genome.reference)
    assert np.allclose(found.columns["gc_positives"], np.quantile(positives.gc, found.columns["quantile"]))
    assert np.abs(found.columns["gc_positives"] - found.columns["gc_negatives"]).max() <= 0.02
    found.to_csv("match.csv")
    assert len(Path("match.csv").read_text().splitlines()) == 8
    assert found.summary().startswith("80 negatives of 80 wanted, 0 without a match; medians of positives")


def test_positives_that_nothing_matches_are_counted():
    rng = np.random.default_rng(0)
    letters = "".join(rng.choice(list("AT"), size=4000))
    Path("g.fa").write_text(f">c\n{letters[:1000] + 'GC' * 20 + letters[1000:]}\n")
    Path("p.bed").write_text("c\t1000\t1040\tonly_gc\nc\t100\t140\tplain\n")
    found = matched_negatives("p.bed", "g.fa", 2)
    assert len(found) == 2 and found.wanted == 4 and found.positive.tolist() == [1, 1]
    assert "2 negatives of 4 wanted, 2 without a match" in found.summary()
    Path("p.bed").write_text("c\t1000\t1040\tonly_gc\n")
    with pytest.raises(ValueError, match="raise tolerance=0.02"):
        matched_negatives("p.bed", "g.fa")
    with pytest.raises(ValueError, match="ratio=0"):
        matched_negatives("p.bed", "g.fa", 0)


def test_positives_that_are_equal_find_different_negatives():
    """All windows of this genome have the same GC content, and there is hardly more room than they take."""
    Path("g.fa").write_text(f">c\n{'ACGT' * 5000}\n")
    Path("p.bed").write_text("".join(f"c\t{k * 40}\t{k * 40 + 20}\n" for k in range(150)))
    found = matched_negatives("p.bed", "g.fa", tolerance=0.2)
    assert len(found) == 150


def test_a_training_set_is_written_as_fasta_and_as_a_table(genome):
    data = training_set(genome.peaks, genome.reference, 101, ratio=2)
    n = len(data.positives)
    assert len(data.X) == len(data) == 3 * n and data.y.tolist() == [1] * n + [-1] * 2 * n
    paths = data.write("set")
    assert paths == ("set.pos.fa", "set.neg.fa")
    for path, part in zip(paths, (data.positives, data.negatives.windows), strict=True):
        lines = open(path).read().splitlines()
        assert lines[1::2] == list(part.sequences)
        assert lines[0] == f">{part.chrom[0]}:{part.start[0]}-{part.stop[0]}"
    data.to_csv("set.tsv")
    head, first, *_ = Path("set.tsv").read_text().splitlines()
    assert head.split("\t") == ["chrom", "start", "stop", "name", "y", "gc", "repeats"] and first.startswith("chr1\t")


CHROMOSOMES = np.repeat(["chr1", "chr2", "chr3", "chr10", "chrX"], [9, 7, 5, 4, 3])


def test_folds_are_whole_chromosomes_of_similar_size():
    split = ChromosomeSplit(n_splits=3)
    folds = [set(CHROMOSOMES[test]) for _, test in split.split(CHROMOSOMES, groups=CHROMOSOMES)]
    assert folds == [{"chr1"}, {"chr2", "chrX"}, {"chr10", "chr3"}] and split.get_n_splits() == 3
    for train, test in split.split(CHROMOSOMES, groups=CHROMOSOMES):
        assert sorted([*train, *test]) == list(range(28)) and not set(CHROMOSOMES[train]) & set(CHROMOSOMES[test])


def test_folds_that_are_named():
    one = list(ChromosomeSplit(test=["chr1", "chrX"]).split(CHROMOSOMES, groups=CHROMOSOMES))
    assert len(one) == 1 and set(CHROMOSOMES[one[0][1]]) == {"chr1", "chrX"}
    two = ChromosomeSplit(test=[["chr1"], ["chr2", "chr3"]])
    assert two.get_n_splits() == 2 and clone(two, safe=False) == two and "chr2" in repr(two)
    assert [len(test) for _, test in two.split(CHROMOSOMES, groups=CHROMOSOMES)] == [9, 12]
    for wrong, word in [
        (dict(test=["chr7"]), "chr7"), (dict(test=sorted(set(CHROMOSOMES))), "leaves 0"),
        (dict(n_splits=6), "n_splits=6"),
    ]:  # fmt: skip
        with pytest.raises(ValueError, match=word):
            list(ChromosomeSplit(**wrong).split(CHROMOSOMES, groups=CHROMOSOMES))
    for wrong in (dict(test="chr1"), dict(test=[]), dict(test=[["chr1"], []]), dict(n_splits=1)):
        with pytest.raises(ValueError):
            ChromosomeSplit(**wrong)
    with pytest.raises(ValueError, match="groups is missing"):
        next(ChromosomeSplit().split(CHROMOSOMES))
