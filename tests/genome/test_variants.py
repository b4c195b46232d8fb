"""Variants from files, and the model's difference between their alleles."""

import gzip
from pathlib import Path

import numpy as np
import pytest
from genomes import random_variants, write_genome
from scipy.stats import false_discovery_control, kstest
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.metrics import roc_auc_score
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC

from manykernels import MKLClassifier
from manykernels.datasets import make_genome
from manykernels.genome import KmerWeights, Variants, deltasvm, read_variants, score_variants, scores, training_set
from manykernels.strings import GappedKmer, Spectrum, WeightedDegree

pytest.importorskip("pyfaidx")

VCF = "\n".join([
    "##fileformat=VCFv4.2", "#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO", "chr1\t5\trs1\tA\tc\t.\t.\t.",
    "chr1\t6\t.\tC\tG,T,*\t.\t.\t.", "chr1\t7\trs3\tG\t<DEL>\t.\t.\t.", "chr1\t8\trs4\tTA\tT\t.\t.\t.",
    "chr1\t9\trs5\tA\tN[chr2:3[\t.\t.\t.", "chr1\t9\trs6\tA\t.\t.\t.\t.", "chr1\t9\trs7\tA\tR,n\t.\t.\t.", "",
])  # fmt: skip


@pytest.mark.parametrize("zipped", [False, True])
def test_vcf_files_are_read_and_what_has_no_letters_is_named(zipped):
    path = Path("some.vcf")
    path.write_bytes(gzip.compress(VCF.encode()) if zipped else VCF.encode())
    found = read_variants(path)
    assert found.id == ["rs1", "chr1:6:C:G", "chr1:6:C:T", "rs4"] and found.pos.tolist() == [5, 6, 6, 8]
    assert found.ref == ["A", "C", "C", "TA"] and found.alt == ["C", "G", "T", "T"]
    assert found.skipped == {
        "allele *": ["chr1:6:C:*"], "symbolic allele": ["rs3", "rs5"], "without an alternative": ["rs6"],
        "letters other than A, C, G, T and N": ["rs7:R"], "alternative with N": ["rs7:n"],
    }  # fmt: skip


TABLES = {
    "chrombpnet": "chr1\t12\tA\tG\trs1\n", "bed": "chr1\t11\t12\tA\tG\trs1\n",
    "plink": "chr1\trs1\t0\t12\tA\tG\n", "original": "chr1\t12\trs1\tA\tG\n",
}  # fmt: skip


@pytest.mark.parametrize("format", TABLES)
def test_tables_of_variant_scorer_are_read(format):
    Path("t.tsv").write_text(TABLES[format] + TABLES[format].replace("\tG", "\t-"))
    found = read_variants("t.tsv", format)
    assert (found.id, found.chrom[0], found.ref, found.alt) == (["rs1"] * 2, "chr1", ["A"] * 2, ["G", ""])
    assert found.pos.tolist() == [12, 12]
    with pytest.raises(ValueError, match="format of .* is unknown"):
        read_variants("t.tsv")
    Path("t.tsv").write_text("chr1\tx\n")
    with pytest.raises(ValueError, match="line 1 has 2 columns"):
        read_variants("t.tsv", format)


class PlacedLetters:
    """A model whose decision is a sum of weights of letters at their places."""

    def __init__(self, width, seed=0):
        self.weight = np.random.default_rng(seed).normal(size=(width, 5))
        self.weight[:, 4] = 0  # N

    def decision_function(self, X):
        return np.array([sum(self.weight[j, "ACGTN".index(c)] for j, c in enumerate(x)) for x in X])


def expected_window(letters, start, stop, allele, width):
    """The window by the stated rule, in a contig that has the allele instead of letters[start:stop]."""
    changed = "N" * width + letters[:start] + allele + letters[stop:] + "N" * width
    first = width + start - (width - len(allele)) // 2
    return changed[first : first + width].upper()


@pytest.mark.parametrize("width", [11, 20])
def test_scores_are_those_of_the_changed_genome(width, monkeypatch):
    monkeypatch.setattr(scores, "VARIANTS_AT_ONCE", 30)  # several blocks
    rng = np.random.default_rng(1)
    contigs = {name: "".join(rng.choice(list("ACGTacgt"), size=90)) for name in ("chr1", "chr2")}
    path, variants = write_genome("g.fa", contigs), random_variants(contigs, 80, rng)
    model = PlacedLetters(width)
    found = score_variants(model, variants, path, width, n_shuffles=0)
    ends = []
    for k in range(len(variants)):
        start, ref, alt = variants.changed(k)
        letters = contigs[str(variants.chrom[k])]
        assert letters[start : start + len(ref)].upper() == ref
        texts = [expected_window(letters, start, start + len(ref), allele, width) for allele in (ref, alt)]
        score = model.decision_function(texts)
        assert found["score_ref"][k] == pytest.approx(score[0]) and found["score_alt"][k] == pytest.approx(score[1])
        assert found["delta"][k] == pytest.approx(score[1] - score[0])
        ends += [variants.id[k]] * any("N" in text for text in texts)
    assert found.at_ends == ends and ends and "p" not in found.columns


def test_anchors_change_nothing_and_swapped_alleles_swap_the_scores():
    rng = np.random.default_rng(2)
    letters = "".join(rng.choice(list("ACGT"), size=60))
    letters = letters[:20] + "CATG" + letters[24:]

    def at(start, ref, alt, text=letters, name="g.fa"):
        one = Variants(["v"], np.array(["c"]), np.array([start + 1]), [ref], [alt])
        found = score_variants(PlacedLetters(15), one, write_genome(name, {"c": text}), 15, n_shuffles=0)
        return found["score_ref"][0], found["score_alt"][0]

    short = at(20, "CA", "C")
    assert short == at(20, "CATG", "CTG") == at(19, letters[19:24], letters[19:21] + "TG") == at(21, "A", "")
    assert at(20, "C", "CA", letters[:21] + letters[22:], "h.fa") == short[::-1]


def test_variants_that_do_not_fit_the_reference_are_named():
    path = write_genome("g.fa", {"c": "ACGTACGTACGTACGTACGT"})
    variants = Variants(
        ["good", "bad", "far", "none", "long"], np.array(["c", "c", "c", "d", "c"]), np.array([5, 5, 99, 5, 5]),
        ["A", "C", "A", "A", "A"], ["G", "G", "G", "G", "A" + "C" * 9],
    )  # fmt: skip
    with pytest.raises(ValueError, match=r"4 of 5 .* fit .*, whose contigs are 'c': 1 contig unknown \(none\); 2 re"):
        score_variants(PlacedLetters(7), variants, path, 7)
    found = score_variants(PlacedLetters(7), variants, path, 7, invalid="skip")
    assert list(found["id"]) == ["good"]
    assert found.skipped == {
        "contig unknown": ["none"], "reference mismatch": ["bad", "far"], "longer than the window": ["long"]
    }  # fmt: skip
    with pytest.raises(ValueError, match="invalid='keep'"):
        score_variants(PlacedLetters(7), variants, path, 7, invalid="keep")


class RandomWords:
    """A model that sums random weights of words."""

    def __init__(self, k=4, seed=0):
        self.weights = KmerWeights(k, np.random.default_rng(seed).normal(size=4**k))

    def decision_function(self, X):
        return self.weights.sums(list(X))


def test_p_values_are_uniform_where_flanks_are_random():
    """Eight genomes without signal, each with a model of its own: p values of both kinds, and their tails."""
    found = {True: [], False: []}
    for seed in range(8):
        rng = np.random.default_rng(seed)
        contigs = {"c": "".join(rng.choice(list("ACGT"), p=[0.3, 0.2, 0.2, 0.3], size=60_000))}
        path, variants = write_genome(f"{seed}.fa", contigs), random_variants(contigs, 400, rng)
        scores = score_variants(RandomWords(seed=seed), variants, path, 31)
        for ref, alt, p in zip(variants.ref, variants.alt, scores["p"], strict=True):
            found[len(ref) == len(alt)].append(p)
        assert np.allclose(scores["q"], false_discovery_control(scores["p"])) and scores["q"].min() > 0.05
    for p in map(np.array, found.values()):
        assert kstest(p, "uniform").pvalue > 0.01
        assert (p < 0.05).mean() == pytest.approx(0.05, abs=3 * np.sqrt(0.05 / len(p)))
    again = score_variants(RandomWords(seed=seed), variants, path, 31)
    assert np.array_equal(again["p"], scores["p"])


def test_null_changes_of_the_same_size_count_in_p():
    """Where flanks do not matter each null change is the change itself, but for rounding."""
    contig = "ACGTTGCATG" * 20
    path, places = write_genome("g.fa", {"c": contig}), np.arange(41, 141, 10)
    variants = Variants([f"v{k}" for k in range(10)], np.full(10, "c"), places, ["A"] * 10, ["C"] * 10)
    scores = score_variants(RandomWords(k=1), variants, path, 31)
    assert np.ptp(scores["delta"]) < 1e-9 and (scores["p"] == 1.0).all() and (scores["q"] == 1.0).all()


@pytest.fixture(scope="module")
def fitted(tmp_path_factory):
    genome = make_genome(tmp_path_factory.mktemp("genome"), peaks=120, length=40_000)
    data = training_set(genome.peaks, genome.reference, 61)
    model = MKLClassifier([("words", Spectrum(k=5)), ("places", WeightedDegree(d=4))], C=1.0).fit(data.X, data.y)
    return genome, data, model


def test_broken_motifs_come_first_and_parts_by_kernel_sum_to_delta(fitted):
    genome, _, model = fitted
    found = score_variants(model, genome.variants, genome.reference, 61)
    broken = np.char.startswith(found["id"], "broken")
    assert broken.sum() == 30 and roc_auc_score(broken, -found["delta"]) > 0.95
    assert np.median(found["q"][broken]) < 0.05 and np.median(found["p"][~broken]) > 0.2
    assert np.allclose(found["delta:words"] + found["delta:places"], found["delta"])
    found.to_csv("scores.tsv")
    head, first, *rest = Path("scores.tsv").read_text().splitlines()
    assert head.split("\t") == list(found.columns) and len(rest) == 59
    assert first.split("\t")[:5] == [str(found[name][0]) for name in ("id", "chrom", "pos", "ref", "alt")]
    assert float(first.split("\t")[7]) == pytest.approx(found["delta"][0])


def test_any_model_of_texts_is_scored_and_deltasvm_joins_the_table(fitted):
    genome, data, _ = fitted
    words = CountVectorizer(analyzer="char", ngram_range=(4, 4), lowercase=False)
    model = make_pipeline(words, LinearSVC()).fit(list(data.X), data.y)
    weights = RandomWords().weights
    found = score_variants(model, genome.variants, genome.reference, 61, weights=weights, n_shuffles=2)
    assert not [name for name in found.columns if name.startswith("delta:")]
    assert np.array_equal(found["deltasvm"], deltasvm(weights, genome.variants, genome.reference).score)


def test_a_model_of_several_outputs_needs_the_number_of_one(fitted):
    genome, data, _ = fitted
    y = np.arange(len(data)) % 3
    model = MKLClassifier([Spectrum(k=3)], C=1.0).fit(data.X, y)
    with pytest.raises(ValueError, match="output=None, but the decision of the model has 3 outputs"):
        score_variants(model, genome.variants, genome.reference, 61)
    found = score_variants(model, genome.variants, genome.reference, 61, n_shuffles=0, output=1)
    assert np.allclose(found["delta:spectrum(k=3)[all]"], found["delta"])


def test_the_width_is_that_of_the_training_windows_if_the_model_tells_it():
    """A width had to be given even where the model knows it."""
    rng = np.random.default_rng(4)
    contigs = {"chr1": "".join(rng.choice(list("ACGT"), 300))}
    reference = write_genome("genome.fa", contigs)
    some, y = random_variants(contigs, 6, rng), np.arange(20) % 2
    texts = ["".join(row) for row in rng.choice(list("ACGT"), (20, 31))]
    for kernels in ([Spectrum(k=3)], [GappedKmer(4, 2)]):
        model = MKLClassifier(kernels, C=1.0).fit(texts, y)
        found, wanted = (score_variants(model, some, reference, width, n_shuffles=0) for width in (None, 31))
        np.testing.assert_array_equal(found["delta"], wanted["delta"])
    unequal = MKLClassifier([Spectrum(k=3)], C=1.0).fit([text[: 20 + k % 5] for k, text in enumerate(texts)], y)
    for model in (unequal, make_pipeline(CountVectorizer(analyzer="char"), LinearSVC()).fit(texts, y)):
        with pytest.raises(ValueError, match="give width"):
            score_variants(model, some, reference)


def test_a_window_may_be_as_short_as_the_longest_word_that_has_weight():
    """Shorter ones have no windows of a word, and every difference was 0."""
    reference = write_genome("g.fa", {"chr1": "ACGTACGTTGCA"})
    texts = ["".join(row) for row in np.random.default_rng(3).choice(list("ACGT"), (40, 9))]
    model = MKLClassifier([("three", Spectrum(3)), ("four", Spectrum(4))], C=1.0).fit(texts, np.arange(40) % 2)
    one = Variants(["v"], np.array(["chr1"]), np.array([6]), ["C"], ["T"])
    with pytest.warns(UserWarning):
        found = score_variants(model, one, reference, 4, n_shuffles=0)
    assert found["score_ref"] == pytest.approx(model.decision_function(["ACGT"]))
    assert found["score_alt"] == pytest.approx(model.decision_function(["ATGT"]))
    with pytest.raises(ValueError, match="width=3 is less than the 4 letters of a word of 'four'"):
        score_variants(model, one, reference, 3, n_shuffles=0)
    model.kernel_weights_ = model.kernel_weights_ * [1.0, 0.0]  # a kernel without weight asks for nothing
    with pytest.warns(UserWarning):
        short = score_variants(model, one, reference, 3, n_shuffles=0)
    assert short["delta"] == pytest.approx(np.diff(model.decision_function(["ACG", "ATG"])))
