"""The commands `manykernels gkm`: from peaks to scores of variants, with the letters and files of LS-GKM. Issue 14."""

import json
from itertools import product

import numpy as np
import pandas as pd
import pytest
from benchmarks.lsgkm_scorer import scores as naive_scores
from sklearn.metrics import roc_auc_score

import manykernels
from manykernels.datasets import make_genome
from manykernels.strings import GappedKmer
from tables import run


def said(*arguments):
    result = run("gkm", *arguments)
    assert result.exit_code == 0, result.output
    return result


def refused(*arguments):
    result = run("gkm", *arguments)
    assert result.exit_code == 1, result.output
    return result.stderr.splitlines()[-1]


GENOME = 'a genome is not read without pyfaidx: pip install ".[bio]"'


def write(path, texts, ids=None):
    names = range(len(texts)) if ids is None else ids
    path.write_text("".join(f">{name}\n{text}\n" for name, text in zip(names, texts, strict=True)))


def random_texts(n, length=30, seed=0, letters="ACGT"):
    return ["".join(row) for row in np.random.default_rng(seed).choice(list(letters), (n, length))]


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A genome of 60 peaks, windows around their summits and others, and a cross-validated model of them."""
    place = tmp_path_factory.mktemp("gkm")
    genome = make_genome(place, peaks=60)
    contigs = dict(zip(headers(place / "genome.fa"), manykernels.sequences.read_fasta(genome.reference), strict=True))
    peaks = [(row[0], int(row[1]) + int(row[9])) for row in map(str.split, open(genome.peaks))]
    for name, off in (("pos", 0), ("neg", -400)):
        windows = [(chrom, summit + off - 50, summit + off + 51) for chrom, summit in peaks]
        texts = [contigs[chrom][start:stop] for chrom, start, stop in windows]
        write(place / f"a.{name}.fa", texts, [f"{chrom}:{start}-{stop}" for chrom, start, stop in windows])
    given = (place / "a.pos.fa", place / "a.neg.fa", place / "a", "-l", 6, "-k", 4, "-d", 2, "-x", 3, "--json")
    facts = json.loads(said("train", *given).stdout)
    assert facts["positives"] == facts["negatives"] == 60 and facts["auROC"] > 0.95 and facts["gap"] <= 1e-3
    return place


def headers(path):
    return [line[1:].split()[0] for line in path.read_text().splitlines() if line.startswith(">")]


def test_peaks_lead_to_a_training_set_a_model_scores_weights_and_variants(place):
    pytest.importorskip("pyfaidx", reason=GENOME)
    found = said("peaks", place / "peaks.narrowPeak", place / "genome.fa", place / "p", "--width", 101)
    assert "60 negatives of 60 wanted" in found.stdout and (place / "p.matching.tsv").exists()
    assert [name.split()[0] for name in headers(place / "p.pos.fa")] == headers(place / "a.pos.fa")
    for model in ("a.model.mk", "a.model.txt"):
        said("predict", place / "a.pos.fa", place / model, place / f"{model}.scores")
    ours, theirs = (
        pd.read_csv(place / f"{name}.scores", sep="\t", header=None) for name in ("a.model.mk", "a.model.txt")
    )
    assert list(ours[0]) == headers(place / "a.pos.fa") and (ours[1] > 0).mean() > 0.95
    np.testing.assert_allclose(ours[1], theirs[1], atol=2e-5)
    said("weights", place / "a.model.mk", 6, place / "weights.txt")
    assert (place / "weights.txt").read_text().startswith("kmer\tscore\nAAAAAA\t")
    given = (place / "a.model.mk", place / "variants.vcf", place / "genome.fa", place / "variants.tsv")
    found = said("variants", *given, "--width", 101, "--weights", place / "weights.txt", "--shuffles", 2)
    assert "30 variants; left out: none" in found.stdout
    table = pd.read_csv(place / "variants.tsv", sep="\t")
    broken = table.id.str.startswith("broken")
    assert roc_auc_score(broken, -table.delta) > 0.9 and {"p", "q", "deltasvm", "delta:gkm"} <= set(table.columns)


def test_held_out_scores_have_the_format_of_lsgkm(place):
    rows = [line.split("\t") for line in (place / "a.cvpred.txt").read_text().splitlines()]
    ids, scores, labels, folds = zip(*rows, strict=True)
    assert list(ids) == headers(place / "a.pos.fa") + headers(place / "a.neg.fa")  # positives first, as given
    assert labels == ("1",) * 60 + ("-1",) * 60 and set(folds) == {"1", "2", "3"}
    assert all(f"{float(score):g}" == score for score in scores)


def test_a_single_fold_has_the_scores_of_this_fold_and_no_model(place):
    given = (place / "a.pos.fa", place / "a.neg.fa", place / "one", "-l", 6, "-k", 4, "-d", 2, "-x", 3)
    said("train", *given, "-i", 2)
    rows = (place / "a.cvpred.txt").read_text().splitlines(keepends=True)
    wanted = [line for line in rows if line.endswith("\t2\n")]
    assert (place / "one.cvpred.2.txt").read_text() == "".join(wanted)
    assert not (place / "one.model.mk").exists() and not (place / "one.cvpred.txt").exists()


KERNELS = {
    "-t 0": GappedKmer(6, 4, d=2, filter="counts"),
    "-t 1 -d 1 -R": GappedKmer(6, 4, d=1, filter="full"),
    "-t 2": GappedKmer(6, 4, d=2, filter="truncated"),
    "-t 3": GappedKmer(6, 4, d=2, filter="truncated", gamma=1.0),
    "-t 4 -M 20 -H 9": GappedKmer(6, 4, d=2, filter="truncated", centre=(20, 9.0)),
    "-t 5 -g 2": GappedKmer(6, 4, d=2, filter="truncated", gamma=2.0, centre=(50, 50.0)),
}


@pytest.mark.parametrize("options", KERNELS)
def test_the_letters_have_the_meaning_of_lsgkm(tmp_path, options):
    rng = np.random.default_rng(0)
    for name, core in (("p", "TGACTCA"), ("n", "")):
        texts = ["".join(rng.choice(list("ACGT"), 12)) + core + "ACGTA" for _ in range(8)]
        (tmp_path / f"{name}.fa").write_text("".join(f">{name}{k} x\n{text}\n" for k, text in enumerate(texts)))
    given = (tmp_path / "p.fa", tmp_path / "n.fa", tmp_path / "m", "-l", 6, "-k", 4, "-w", 2, "-T", 1)
    found = said("train", *given, *options.split())
    model = manykernels.load(tmp_path / "m.model.mk")
    wanted = KERNELS[options].set_params(unknown="ignore", reverse_complement="-R" not in options, nearest=False)
    assert model.kernels[0][1].get_params() == wanted.get_params()
    assert (model.C, model.normalize, model.class_weight) == (1.0, "spherical", {1: 2.0, -1: 1.0})
    assert "is not positive semidefinite" not in found.stderr and (tmp_path / "m.model.txt").exists()


def test_words_are_written_as_fasta(tmp_path):
    said("kmers", 2, tmp_path / "words.fa")
    words = ["AA", "AC", "AG", "AT", "CA", "CC", "CG", "GA", "GC", "TA"]
    assert (tmp_path / "words.fa").read_text() == "".join(f">{word}\n{word}\n" for word in words)


def test_columns_of_sequences_are_recognised_and_their_model_scores_fasta(place):
    texts = {kind: list(manykernels.sequences.read_fasta(place / f"a.{kind}.fa")) for kind in ("pos", "neg")}
    rows = [(kind, x.lower(), k % 3, "ACG"[k % 3]) for kind, own in texts.items() for k, x in enumerate(own)]
    table = pd.DataFrame(rows, columns=["y", "dna", "dose", "allele"])
    for name, columns in (("both", ["y", "dna", "dose", "allele"]), ("alone", ["y", "dna"])):
        table[columns].to_csv(place / f"{name}.tsv", sep="\t", index=False)
        result = run("fit", place / f"{name}.tsv", "--target", "y", "-C", 1, "-o", place / f"{name}.mk")
        assert result.exit_code == 0 and "dna, 120 sequences of 101 letters, taken as dna" in result.stderr
    model = manykernels.load(place / "both.mk")
    assert {"dna", "dose"} <= set(model.feature_names_in_) and "dna, 6 letters anywhere" in model.kernel_names_
    assert "uses 3 columns" in refused("predict", place / "a.pos.fa", place / "both.mk", place / "x.txt")
    said("predict", place / "a.pos.fa", place / "alone.mk", place / "alone.txt")
    scores = pd.read_csv(place / "alone.txt", sep="\t", header=None)[1]
    assert (scores > 0).mean() > 0.9
    pytest.importorskip("pyfaidx", reason=GENOME)
    given = (place / "alone.mk", place / "variants.vcf", place / "genome.fa", place / "alone.csv", "--width", 101)
    said("variants", *given, "--shuffles", 0)
    assert "delta:dna, 6 letters anywhere" in pd.read_csv(place / "alone.csv").columns


def test_errors_name_the_option_and_its_cure(place, tmp_path):
    both = (place / "a.pos.fa", place / "a.neg.fa", tmp_path / "x")
    assert "-g 2 has no meaning for -t 2: it belongs to -t 3 and 5" in refused("train", *both, "-g", 2)
    assert "-M 9 has no meaning for -t 3" in refused("train", *both, "-t", 3, "-M", 9)
    assert "-x 3 -i 4: give" in refused("train", *both, "-x", 3, "-i", 4)
    assert "-x 0 -i 1: give" in refused("train", *both, "-i", 1)
    assert "-x 99 is more than the 60 sequences" in refused("train", *both, "-x", 99)
    assert "-c 'much' is not a number" in refused("train", *both, "-c", "much")
    assert "-w 0 is not positive" in refused("train", *both, "-w", 0)
    assert "d=5" in refused("train", *both, "-d", 5)
    assert "would overwrite" in refused("predict", place / "a.pos.fa", place / "a.model.mk", place / "a.pos.fa")
    assert "have the same score" in refused("weights", place / "a.model.mk", 4, tmp_path / "w.txt")
    assert not list(tmp_path.iterdir())


def test_a_table_of_sequences_and_scores_is_learned_and_predicted(place, tmp_path):
    """Issue 14, Build 9: by `gkm train --scores` and by `fit`."""
    X, names = manykernels.sequences.read_fasta(place / "a.pos.fa"), headers(place / "a.pos.fa")
    share = np.array([(str(x).count("C") + str(x).count("G")) / len(x) for x in X])
    table = pd.DataFrame({"name": names, "sequence": map(str, X), "score": 10 * share})
    table.to_csv(tmp_path / "t.tsv", sep="\t", index=False)
    given = ("--scores", tmp_path / "t.tsv", tmp_path / "r", "-l", 4, "-k", 2, "-d", 2, "-c", 100, "-x", 3, "--json")
    facts = json.loads(said("train", *given).stdout)
    assert facts["sequences"] == 60 and facts["pearson"] > 0.8 and facts["R2"] > 0.5 and facts["gap"] <= 1e-3
    rows = pd.read_csv(tmp_path / "r.cvpred.txt", sep="\t", header=None)
    assert list(rows[0]) == names and np.allclose(rows[2], table.score, rtol=1e-5) and set(rows[3]) == {1, 2, 3}
    assert np.corrcoef(rows[1], rows[2])[0, 1] == pytest.approx(facts["pearson"], abs=1e-4)
    assert not (tmp_path / "r.model.txt").exists()
    result = run("fit", tmp_path / "t.tsv", "--target", "score", "--id", "name", "-C", 10, "-o", tmp_path / "f.mk")
    assert result.exit_code == 0 and "regression" in result.stdout, result.output
    for model in ("r.model.mk", "f.mk"):
        said("predict", place / "a.pos.fa", tmp_path / model, tmp_path / "out.txt")
        found = pd.read_csv(tmp_path / "out.txt", sep="\t", header=None)
        assert list(found[0]) == names and np.corrcoef(found[1], table.score)[0, 1] > 0.9
    result = run("score", tmp_path / "f.mk", tmp_path / "t.tsv", "--json")
    assert result.exit_code == 0 and json.loads(result.stdout)["R2"] > 0.8, result.output
    said("weights", tmp_path / "r.model.mk", 4, tmp_path / "w.txt")
    weights = manykernels.genome.read_kmer_weights(tmp_path / "w.txt")
    assert weights["GCGC"] > weights["ATAT"]


def test_wrong_uses_of_scores_name_their_cure(place, tmp_path):
    pd.DataFrame({"sequence": ["ACGTACGTAC"] * 2, "a": [1, 2], "b": [1, 2]}).to_csv(tmp_path / "t.csv", index=False)
    assert "1 columns of DNA and 2 of numbers" in refused("train", "--scores", tmp_path / "t.csv", tmp_path / "x")
    pd.DataFrame({"sequence": ["ACGTACGTAC"] * 2, "a": [1, None]}).to_csv(tmp_path / "u.csv", index=False)
    assert "rows without a sequence" in refused("train", "--scores", tmp_path / "u.csv", tmp_path / "x")
    both = (place / "a.pos.fa", place / "a.neg.fa", tmp_path / "x")
    assert "takes the place of both" in refused("train", *both, "--scores", tmp_path / "t.csv")
    assert "-w 2 has no meaning" in refused("train", tmp_path / "x", "--scores", tmp_path / "t.csv", "-w", 2)
    assert "--loss huber has no meaning" in refused("train", *both, "--loss", "huber")
    assert "POSITIVES NEGATIVES PREFIX" in refused("train", *both[:2])


def test_sequences_that_tell_nothing_apart_are_named(place, tmp_path):
    """Issue 14: the same sequences on both sides, and sequences of N, were learned in silence."""
    pos = place / "a.pos.fa"
    assert "have the same sequences" in refused("train", pos, pos, tmp_path / "x", "-l", 6, "-k", 4)
    (tmp_path / "some.fa").write_text((place / "a.neg.fa").read_text() + ">n\n" + "N" * 101 + "\n")
    (tmp_path / "mixed.fa").write_text(pos.read_text() + (tmp_path / "some.fa").read_text())
    found = said("train", tmp_path / "mixed.fa", tmp_path / "some.fa", tmp_path / "y", "-l", 6, "-k", 4, "-d", 2)
    assert "61 sequences are positives and negatives at once" in found.stderr
    assert "2 sequences have fewer than 4 letters A, C, G and T" in found.stderr
    for name, n in (("one", 40), ("two", 50)):
        (tmp_path / f"{name}.fa").write_text("".join(f">{k}\n{'N' * n}\n" for k in range(9)))
    assert "No sequence has 7 letters" in refused("train", tmp_path / "one.fa", tmp_path / "two.fa", tmp_path / "x")


@pytest.mark.parametrize("model", ["a.model.mk", "a.model.txt"])
def test_letters_that_match_nothing_are_an_error_if_many_and_a_warning_with_q(place, tmp_path, model):
    """Issue 18: a file of proteins, or of RNA, was scored, explained and searched for motifs without a word."""
    texts = random_texts(12, 60)
    write(tmp_path / "dna.fa", texts)
    write(tmp_path / "rna.fa", [text.replace("T", "u") for text in texts])
    write(tmp_path / "protein.fa", random_texts(12, 60, 1, "ACDEFGHIKLMNPQRSTVWY"))
    write(tmp_path / "few.fa", [texts[0][:-1] + "E", *texts[1:]])
    commands = {"predict": [], "explain": ["--mutagenesis"], "motifs": []}
    for command, options in commands.items():
        for name in ("dna", "rna", "few"):
            given = tmp_path / f"{name}.fa", place / model, tmp_path / f"{command}.{name}"
            found = said(command, *given, "-q", *options)
            odd = "1 of 720 letters are none of alphabet 'dna' (ACGTN), the first 'E' at position 59 of sequence 0"
            assert (odd in found.stderr) == (name == "few") and found.stderr.count("\n") == (name == "few")
        wrong = refused(command, tmp_path / "protein.fa", place / model, tmp_path / "x", *options)
        assert "letters are none of alphabet 'dna' (ACGTN)" in wrong and "protein.fa: they match nothing" in wrong
    for one, other in (("predict.dna", "predict.rna"), ("explain.dna", "explain.rna")):
        assert (tmp_path / one).read_text() == (tmp_path / other).read_text()
    assert "letters are none" in refused("train", tmp_path / "protein.fa", tmp_path / "dna.fa", tmp_path / "m")
    loaded = manykernels.load(place / model)
    with pytest.raises(ValueError, match="none of alphabet|not a letter of alphabet"):
        loaded.predict(random_texts(12, 60, 1, "ACDEFGHIKLMNPQRSTVWY"))


def test_a_default_run_writes_a_model_for_gkmpredict_whose_scores_anyone_can_compute(tmp_path):
    """Issue 18, must show 3, with generated sequences: -t 2 -l 11 -k 7 -d 3 is LS-GKM's kernel, not the nearest one."""
    texts = random_texts(160, 60)
    core = [text[:25] + "TGACTCATGG" + text[35:] for text in texts[:80]]
    write(tmp_path / "p.fa", core)
    write(tmp_path / "n.fa", texts[80:])
    found = said("train", tmp_path / "p.fa", tmp_path / "n.fa", tmp_path / "m")
    assert "semidefinite" not in found.stderr and f"{tmp_path / 'm.model.txt'} is written" in found.stderr
    assert "kernel_type gkm_esttrunc\nL 11\nk 7\nd 3\n" in (tmp_path / "m.model.txt").read_text()
    write(tmp_path / "new.fa", core[:5] + random_texts(9, 70, 1))
    wanted = naive_scores(tmp_path / "m.model.txt", core[:5] + random_texts(9, 70, 1))
    for model in ("m.model.mk", "m.model.txt"):
        said("predict", tmp_path / "new.fa", tmp_path / model, tmp_path / "out")
        np.testing.assert_allclose(pd.read_csv(tmp_path / "out", sep="\t", header=None)[1], wanted, atol=1e-5)


def test_an_old_text_model_does_not_stay_beside_a_new_model(tmp_path):
    """Issue 18: `-q` left it there without a word."""
    write(tmp_path / "p.fa", ["TGACTCA" + text for text in random_texts(8, 12)])
    write(tmp_path / "n.fa", random_texts(8, 19, 1))
    given = (tmp_path / "p.fa", tmp_path / "n.fa", tmp_path / "m", "-l", 6, "-k", 4, "-q")
    said("train", *given)
    assert (tmp_path / "m.model.txt").exists()
    write(tmp_path / "n.fa", [text + "N" for text in random_texts(8, 19, 1)])  # which LS-GKM would read as A
    said("train", *given)
    assert (tmp_path / "m.model.mk").exists() and not (tmp_path / "m.model.txt").exists()


@pytest.mark.parametrize("kind, advice", [(0, "-d 2 or -t 2"), (1, "-d 11 or -t 2"), (2, "-d 2")])
def test_an_indefinite_kernel_is_repaired_or_refused_with_advice_that_helps(tmp_path, kind, advice):
    """Issue 18: -t 1 trained a nearly diagonal kernel, and the message advised -d 4, which is no cure."""
    words = ["".join(word) for word in product("AC", repeat=6)]  # the whole matrix of words of two letters
    texts, sizes = (random_texts(120, 1500), ()) if kind == 1 else (words, ("-l", 6, "-k", 4, "-d", 1))
    write(tmp_path / "p.fa", texts[::2])
    write(tmp_path / "n.fa", texts[1::2])
    given = ("train", tmp_path / "p.fa", tmp_path / "n.fa", tmp_path / "m", "-t", kind, *sizes)
    found = run("gkm", *given)
    said = "is not positive semidefinite: its matrix of the training sequences has an eigenvalue of -"
    assert said in found.stderr and advice in found.stderr, found.output
    assert found.exit_code == (kind == 1) and ("nearly diagonal" in found.stderr) == (kind == 1)
    assert not (tmp_path / "m.model.txt").exists()
    for option in advice.split(" or ") if kind == 1 else [advice.split(" or ")[0]]:
        better = run("gkm", *given, *option.split())
        assert better.exit_code == 0 and "semidefinite" not in better.stderr, better.output


@pytest.fixture(scope="module")
def overlapping(tmp_path_factory):
    """Random labels of windows that overlap by half, some on the other strand, without places in their ids."""
    place, X = tmp_path_factory.mktemp("overlapping"), random_texts(1, 6100)[0]
    windows = [X[at : at + 100] for at in range(0, 6000, 50)]
    turned = [w if k % 3 else w[::-1].translate(str.maketrans("ACGT", "TGCA")) for k, w in enumerate(windows)]
    sides = np.repeat(np.random.default_rng(0).integers(2, size=30), 4)  # four neighbours have one label
    for side, name in ((1, "p"), (0, "n")):
        rows = np.flatnonzero(sides == side)
        for kind, ids in (("", rows), ("chr", [f"chr{k // 24}:{k * 50}-{k * 50 + 100}" for k in rows])):
            write(place / f"{name}{kind}.fa", [turned[k] for k in rows], ids)
    return place


def test_folds_keep_overlapping_sequences_and_chromosomes_together(overlapping, tmp_path):
    """Issue 18: windows that overlap gave an area of 0.994 for random labels."""
    options = ("-l", 6, "-k", 4, "-d", 2, "-x", 3, "--json")
    one = (overlapping / "p.fa", overlapping / "n.fa", tmp_path / "m", *options)
    assert "-x 3 is more than the 1 sets of sequences that do not overlap" in refused("train", *one)
    two = (overlapping / "pchr.fa", overlapping / "nchr.fa", tmp_path / "m", *options)
    found = said("train", *two, "--by-chromosome")
    rows = pd.read_csv(tmp_path / "m.cvpred.txt", sep="\t", header=None)
    assert (rows.groupby(rows[0].str.partition(":")[0])[3].nunique() == 1).all() and rows[3].nunique() == 3
    assert json.loads(found.stdout)["auROC"] < 0.8 and "neighbours in a genome" not in found.stderr
    assert "--by-chromosome reads chromosomes from ids such as chr1:100-201, and '" in refused(
        "train", *one, "--by-chromosome"
    )
    assert "--by-chromosome belongs to -x" in refused("train", *two[:3], "--by-chromosome")


def test_folds_of_a_genome_without_by_chromosome_are_warned_of(place, tmp_path):
    given = (place / "a.pos.fa", place / "a.neg.fa", tmp_path / "m", "-l", 6, "-k", 4, "-d", 2, "-x", 3)
    assert "note: folds mix 4 chromosomes" in said("train", *given).stderr


def test_options_of_lsgkm_are_taken_with_a_note(place, tmp_path):
    given = ("-l", 6, "-k", 4, "-d", 2, "-e", 0.01, "-m", 100, "-v", 2, "-s", "-T", 1)
    found = said("train", place / "a.pos.fa", place / "a.neg.fa", tmp_path / "m", *given)
    assert "-e, -m, -v, -s: options of LS-GKM without effect" in found.stderr
    found = said("predict", place / "a.pos.fa", place / "a.model.mk", tmp_path / "out", "-T", 4, "-v", 1)
    assert "-T, -v: options of LS-GKM without effect" in found.stderr


def test_a_dash_is_stdout_in_all_commands_of_one_result(place, tmp_path):
    """Issue 18: explain, weights, kmers and variants made files of the name -."""
    model, fasta = place / "a.model.mk", place / "a.pos.fa"
    commands = {"predict": (fasta, model), "explain": (fasta, model), "weights": (model, 6), "kmers": (3,)}
    for command, given in commands.items():
        said(command, *given, tmp_path / "file")
        assert said(command, *given, "-").stdout == (tmp_path / "file").read_text() != ""
    both = (fasta, place / "a.neg.fa")
    for command, given in {"train": both, "motifs": (fasta, model)}.items():
        assert "PREFIX - would be stdout" in refused(command, *given, "-")


def test_a_model_with_covariates_is_refused_with_the_command_that_takes_it(place, tmp_path):
    texts = random_texts(40)
    table = pd.DataFrame({"dna": texts, "age": np.arange(40) % 7, "y": np.arange(40) % 2})
    table.to_csv(tmp_path / "t.csv", index=False)
    run("fit", tmp_path / "t.csv", "--target", "y", "--adjust", "age", "-C", 1, "-o", tmp_path / "m.mk")
    for command, given in {
        "predict": (place / "a.pos.fa", tmp_path / "m.mk", tmp_path / "o"), "weights": (tmp_path / "m.mk", 4, "-"),
        "variants": (tmp_path / "m.mk", place / "variants.vcf", place / "genome.fa", "-"),
    }.items():  # fmt: skip
        assert "is adjusted for age, of which these commands know nothing" in refused(command, *given)
