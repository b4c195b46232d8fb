"""The commands `manykernels gkm`: from peaks to scores of variants, with the letters and files of LS-GKM."""

import json
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from benchmarks.lsgkm_scorer import scores as naive_scores
from scipy.stats import spearmanr
from sklearn.metrics import average_precision_score, r2_score, roc_auc_score

import manykernels
from manykernels.strings import GappedKmer
from tables import done, fasta, headers, json_of, refused, run

GENOME = 'a genome is not read without pyfaidx: pip install ".[bio]"'


def random_texts(n, length=30, seed=0, letters="ACGT"):
    return ["".join(row) for row in np.random.default_rng(seed).choice(list(letters), (n, length))]


@pytest.fixture(scope="module")
def made(genome):
    return genome


def test_peaks_lead_to_a_training_set_a_model_scores_weights_and_variants(folder):
    pytest.importorskip("pyfaidx", reason=GENOME)
    found = done("gkm peaks peaks.narrowPeak genome.fa p --width 101")
    assert "60 negatives of 60 wanted" in found.stdout and Path("p.matching.tsv").exists()
    assert [name.split()[0] for name in headers("p.pos.fa")] == headers("a.pos.fa")
    for model in ("a.model.mk", "a.model.txt"):
        done(f"gkm predict a.pos.fa {model} {model}.scores")
    ours, theirs = (pd.read_csv(f"{name}.scores", sep="\t", header=None) for name in ("a.model.mk", "a.model.txt"))
    assert list(ours[0]) == headers("a.pos.fa") and (ours[1] > 0).mean() > 0.95
    np.testing.assert_allclose(ours[1], theirs[1], atol=2e-5)
    done("gkm weights a.model.mk 7 weights.txt")
    assert Path("weights.txt").read_text().startswith("kmer\tscore\nAAAAAAA\t")
    given = "a.model.mk variants.vcf genome.fa variants.tsv --width 101"
    found = done(f"gkm variants {given} --weights weights.txt --shuffles 2")
    assert "30 variants; left out: none" in found.stdout
    table = pd.read_csv("variants.tsv", sep="\t")
    broken = table.id.str.startswith("broken")
    assert roc_auc_score(broken, -table.delta) > 0.9 and {"p", "q", "deltasvm", "delta:gkm"} <= set(table.columns)


def test_held_out_scores_have_the_format_of_lsgkm(folder):
    rows = [line.split("\t") for line in Path("a.cvpred.txt").read_text().splitlines()]
    ids, scores, labels, folds = zip(*rows, strict=True)
    assert list(ids) == headers("a.pos.fa") + headers("a.neg.fa")  # positives first, as given
    assert labels == ("1",) * 60 + ("-1",) * 60 and set(folds) == {"1", "2", "3"}
    assert all(f"{float(score):g}" == score for score in scores)


def test_a_single_fold_has_the_scores_of_this_fold_and_no_model(folder):
    result = done("gkm train a.pos.fa a.neg.fa one -l 7 -k 5 -d 2 -x 3 -i 2 --json")
    assert "note: folds mix 4 chromosomes" in result.stderr
    rows = Path("a.cvpred.txt").read_text().splitlines(keepends=True)
    wanted = [line for line in rows if line.endswith("\t2\n")]
    assert Path("one.cvpred.2.txt").read_text() == "".join(wanted)
    found, (_, scores, labels, _) = json.loads(result.stdout), zip(*map(str.split, wanted), strict=True)
    for name, score in (("auROC", roc_auc_score), ("auPRC", average_precision_score)):
        assert found[name] == pytest.approx(score(np.array(labels, int), np.array(scores, float)))
    assert not Path("one.model.mk").exists() and not Path("one.cvpred.txt").exists()


KERNELS = {
    "-t 0": GappedKmer(6, 4, d=2, filter="counts"),
    "-t 1 -d 1 -R": GappedKmer(6, 4, d=1, filter="full"),
    "-t 2": GappedKmer(6, 4, d=2, filter="truncated"),
    "-t 3": GappedKmer(6, 4, d=2, filter="truncated", gamma=1.0),
    "-t 4 -M 20 -H 9": GappedKmer(6, 4, d=2, filter="truncated", centre=(20, 9.0)),
    "-t 5 -g 2": GappedKmer(6, 4, d=2, filter="truncated", gamma=2.0, centre=(50, 50.0)),
}


@pytest.mark.parametrize("options", KERNELS)
def test_the_letters_have_the_meaning_of_lsgkm(options):
    rng = np.random.default_rng(0)
    for name, core in (("p", "TGACTCA"), ("n", "")):
        fasta(f"{name}.fa", ["".join(rng.choice(list("ACGT"), 12)) + core + "ACGTA" for _ in range(8)])
    found = done(f"gkm train p.fa n.fa m -l 6 -k 4 -w 2 -T 1 {options}")
    model = manykernels.load("m.model.mk")
    wanted = KERNELS[options].set_params(unknown="ignore", reverse_complement="-R" not in options, nearest=False)
    assert model.kernels[0][1].get_params() == wanted.get_params()
    assert (model.C, model.normalize, model.class_weight) == (1.0, "spherical", {1: 2.0, -1: 1.0})
    assert "is not positive semidefinite" not in found.stderr and Path("m.model.txt").exists()


def test_columns_of_sequences_are_recognised_and_their_model_scores_fasta(folder):
    texts = {kind: list(manykernels.sequences.read_fasta(f"a.{kind}.fa")) for kind in ("pos", "neg")}
    rows = [(kind, x.lower(), k % 3, "ACG"[k % 3]) for kind, own in texts.items() for k, x in enumerate(own)]
    table = pd.DataFrame(rows, columns=["y", "dna", "dose", "allele"])
    for name, columns in (("both", ["y", "dna", "dose", "allele"]), ("alone", ["y", "dna"])):
        table[columns].to_csv(f"{name}.tsv", sep="\t", index=False)
        result = done(f"fit {name}.tsv --target y -C 1 -o {name}.mk")
        assert "dna, 120 sequences of 101 letters, taken as dna" in result.stderr
    model = manykernels.load("both.mk")
    assert {"dna", "dose"} <= set(model.feature_names_in_) and "dna, 6 letters anywhere" in model.kernel_names_
    assert "uses 3 columns" in refused("gkm predict a.pos.fa both.mk x.txt")
    done("gkm predict a.pos.fa alone.mk alone.txt")
    scores = pd.read_csv("alone.txt", sep="\t", header=None)[1]
    assert (scores > 0).mean() > 0.9
    pytest.importorskip("pyfaidx", reason=GENOME)
    done("gkm explain a.pos.fa alone.mk alone.txt --mutagenesis")
    assert len(Path("alone.txt").read_text().splitlines()) == 60
    done("gkm variants alone.mk variants.vcf genome.fa alone.csv --shuffles 0")  # the width of the training sequences
    assert "delta:dna, 6 letters anywhere" in pd.read_csv("alone.csv").columns


BOTH = "gkm train a.pos.fa a.neg.fa x"
REFUSED = {
    f"{BOTH} -g 2": "-g 2 has no meaning for -t 2: it belongs to -t 3 and 5",
    f"{BOTH} -t 3 -M 9": "-M 9 has no meaning for -t 3",
    f"{BOTH} -x 3 -i 4": "-x 3 -i 4: give",
    f"{BOTH} -i 1": "-x 0 -i 1: give",
    f"{BOTH} -x 99": "-x 99 is more than the 60 sequences",
    f"{BOTH} -c much": "-c 'much' is not a number",
    f"{BOTH} -w 0": "-w 0 is not positive",
    f"{BOTH} -d 5": "d=5",
    f"{BOTH} --scores two.csv": "takes the place of both",
    f"{BOTH} --loss huber": "--loss huber has no meaning",
    f"{BOTH} --by-chromosome": "--by-chromosome belongs to -x",
    "gkm train a.pos.fa a.neg.fa": "POSITIVES NEGATIVES PREFIX",
    "gkm train a.pos.fa a.neg.fa -": "PREFIX - would be stdout",
    "gkm train a.pos.fa a.pos.fa x": "have the same sequences",
    "gkm train one.fa two.fa x": "No sequence has 7 letters",
    "gkm train --scores two.csv x": "1 columns of DNA and 2 of numbers",
    "gkm train --scores lost.csv x": "rows without a sequence",
    "gkm train x --scores two.csv -w 2": "-w 2 has no meaning",
    "gkm predict a.pos.fa a.model.mk a.pos.fa": "would overwrite",
    "gkm weights a.model.mk 4 w.txt": "have the same score",
    "gkm motifs a.pos.fa a.model.mk -": "PREFIX - would be stdout",
    "gkm explain a.neg.fa a.model.mk b.txt --modisco b": "give -m 1",
    "gkm explain a.neg.fa a.model.mk b.txt --mutagenesis -m 1": "without --mutagenesis",
    "gkm explain a.neg.fa a.model.mk b.txt --genome genome.fa": "only with --bigwig",
}


@pytest.mark.parametrize("command", REFUSED)
def test_wrong_uses_name_the_option_and_its_cure(folder, command):
    for name, n in (("one", 40), ("two", 50)):
        fasta(f"{name}.fa", ["N" * n] * 9)
    Path("two.csv").write_text("sequence,a,b\n" + "ACGTACGTAC,1,2\n" * 2)
    Path("lost.csv").write_text("sequence,a\nACGTACGTAC,1\nACGTACGTAC,\n")
    before = {path: path.read_bytes() for path in folder.iterdir()}
    assert REFUSED[command] in refused(command)
    assert {path: path.read_bytes() for path in folder.iterdir()} == before


def test_a_table_of_sequences_and_scores_is_learned_and_predicted(folder):
    X, names = manykernels.sequences.read_fasta("a.pos.fa"), headers("a.pos.fa")
    share = np.array([(str(x).count("C") + str(x).count("G")) / len(x) for x in X])
    table = pd.DataFrame({"name": names, "sequence": map(str, X), "score": 10 * share})
    table.to_csv("t.tsv", sep="\t", index=False, decimal=",")
    facts = json_of("gkm train --scores t.tsv r -l 4 -k 2 -d 2 -c 100 -x 3")
    assert facts["sequences"] == 60 and facts["pearson"] > 0.8 and facts["R2"] > 0.5 and facts["gap"] <= 1e-3
    rows = pd.read_csv("r.cvpred.txt", sep="\t", header=None)
    assert list(rows[0]) == names and np.allclose(rows[2], table.score, rtol=1e-5) and set(rows[3]) == {1, 2, 3}
    assert np.corrcoef(rows[1], rows[2])[0, 1] == pytest.approx(facts["pearson"], abs=1e-4)
    assert spearmanr(rows[1], rows[2])[0] == pytest.approx(facts["spearman"], abs=1e-4)
    assert r2_score(rows[2], rows[1]) == pytest.approx(facts["R2"], abs=1e-4)
    assert not Path("r.model.txt").exists()
    done("gkm predict a.pos.fa r.model.mk out.txt")
    found = pd.read_csv("out.txt", sep="\t", header=None)
    assert list(found[0]) == names and np.corrcoef(found[1], table.score)[0, 1] > 0.9
    done("gkm weights r.model.mk 4 w.txt")
    weights = manykernels.genome.read_kmer_weights("w.txt")
    assert weights["GCGC"] > weights["ATAT"]


def test_sequences_that_tell_nothing_apart_are_named(folder):
    """The same sequences on both sides, and sequences of N, were learned in silence."""
    some, mixed = Path("some.fa"), Path("mixed.fa")
    some.write_text(Path("a.neg.fa").read_text() + ">n\n" + "N" * 101 + "\n")
    mixed.write_text(Path("a.pos.fa").read_text() + some.read_text())
    found = done("gkm train mixed.fa some.fa y -l 6 -k 4 -d 2")
    assert "61 sequences are positives and negatives at once" in found.stderr
    assert "202 letters are not A, C, G or T: they match nothing here; LS-GKM reads them as A." in found.stderr
    assert "2 sequences have fewer than 4 letters A, C, G and T" in found.stderr


def test_letters_that_match_nothing_are_an_error_if_many_and_a_warning_with_q(folder, model="a.model.txt"):
    """A file of proteins, or of RNA, was scored, explained and searched for motifs without a word."""
    texts = random_texts(12, 60)
    fasta("dna.fa", texts)
    fasta("rna.fa", [text.replace("T", "u") for text in texts])
    fasta("protein.fa", random_texts(12, 60, 1, "ACDEFGHIKLMNPQRSTVWY"))
    fasta("few.fa", [texts[0][:-1] + "E", *texts[1:]])
    commands = {"predict": "", "explain": "--mutagenesis", "motifs": ""}
    for command, options in commands.items():
        for name in ("dna", "rna", "few"):
            found = done(f"gkm {command} {name}.fa {model} {command}.{name} -q {options}")
            odd = "1 of 720 letters are none of alphabet 'dna' (ACGTN), the first 'E' at position 59 of sequence 0"
            assert (odd in found.stderr) == (name == "few") and found.stderr.count("\n") == (name == "few")
        wrong = refused(f"gkm {command} protein.fa {model} x {options}")
        assert "letters are none of alphabet 'dna' (ACGTN)" in wrong and "protein.fa: they match nothing" in wrong
    for one, other in (("predict.dna", "predict.rna"), ("explain.dna", "explain.rna")):
        assert Path(one).read_text() == Path(other).read_text()
    assert "letters are none" in refused("gkm train protein.fa dna.fa m")
    loaded = manykernels.load(model)
    with pytest.raises(ValueError, match="none of alphabet|not a letter of alphabet"):
        loaded.predict(random_texts(12, 60, 1, "ACDEFGHIKLMNPQRSTVWY"))


def test_a_default_run_writes_a_model_for_gkmpredict_whose_scores_anyone_can_compute():
    """Generated sequences: -t 2 -l 11 -k 7 -d 3 is LS-GKM's kernel, not the nearest one."""
    texts = random_texts(160, 60)
    core = [text[:25] + "TGACTCATGG" + text[35:] for text in texts[:80]]
    fasta("p.fa", core)
    fasta("n.fa", texts[80:])
    found = done("gkm train p.fa n.fa m")
    assert "semidefinite" not in found.stderr and "m.model.txt is written" in found.stderr
    assert "kernel_type gkm_esttrunc\nL 11\nk 7\nd 3\n" in Path("m.model.txt").read_text()
    fasta("new.fa", core[:5] + random_texts(9, 70, 1))
    wanted = naive_scores("m.model.txt", core[:5] + random_texts(9, 70, 1))
    for model in ("m.model.mk", "m.model.txt"):
        done(f"gkm predict new.fa {model} out")
        np.testing.assert_allclose(pd.read_csv("out", sep="\t", header=None)[1], wanted, atol=1e-5)


def test_an_old_text_model_does_not_stay_beside_a_new_model():
    """`-q` left it there without a word."""
    fasta("p.fa", ["TGACTCA" + text for text in random_texts(8, 12)])
    fasta("n.fa", random_texts(8, 19, 1))
    train = "gkm train p.fa n.fa m -l 6 -k 4 -q"
    done(train)
    assert Path("m.model.txt").exists()
    fasta("n.fa", [text + "N" for text in random_texts(8, 19, 1)])  # which LS-GKM would read as A
    done(train)
    assert Path("m.model.mk").exists() and not Path("m.model.txt").exists()


@pytest.mark.parametrize("kind, advice", [(0, "-d 2 or -t 2"), (1, "-d 11 or -t 2"), (2, "-d 2")])
def test_an_indefinite_kernel_is_repaired_or_refused_with_advice_that_helps(kind, advice):
    """-t 1 trained a nearly diagonal kernel, and the message advised -d 4, which is no cure."""
    words = ["".join(word) for word in product("AC", repeat=6)]  # the whole matrix of words of two letters
    texts, sizes = (random_texts(120, 1500), "") if kind == 1 else (words, "-l 6 -k 4 -d 1")
    fasta("p.fa", texts[::2])
    fasta("n.fa", texts[1::2])
    train = f"gkm train p.fa n.fa m -t {kind} {sizes}"
    found = run(train)
    said = "is not positive semidefinite: its matrix of the training sequences has an eigenvalue of -"
    assert said in found.stderr and advice in found.stderr, found.output
    assert found.exit_code == (kind == 1) and ("nearly diagonal" in found.stderr) == (kind == 1)
    assert not Path("m.model.txt").exists()
    for option in advice.split(" or ") if kind == 1 else [advice.split(" or ")[0]]:
        assert "semidefinite" not in done(f"{train} {option}").stderr


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
            fasta(place / f"{name}{kind}.fa", [turned[k] for k in rows], ids)
    return place


def test_folds_keep_overlapping_sequences_and_chromosomes_together(overlapping):
    """Windows that overlap gave an area of 0.994 for random labels."""
    one, two = (
        f"gkm train {overlapping}/p{kind}.fa {overlapping}/n{kind}.fa m -l 6 -k 4 -d 2 -x 3" for kind in ("", "chr")
    )
    assert "-x 3 is more than the 1 sets of sequences that do not overlap" in refused(one)
    found = done(f"{two} --by-chromosome --json")
    rows = pd.read_csv("m.cvpred.txt", sep="\t", header=None)
    assert (rows.groupby(rows[0].str.partition(":")[0])[3].nunique() == 1).all() and rows[3].nunique() == 3
    assert json.loads(found.stdout)["auROC"] < 0.8 and "neighbours in a genome" not in found.stderr
    says = "--by-chromosome reads chromosomes from ids such as chr1:100-201, and '"
    assert says in refused(f"{one} --by-chromosome")


def test_options_of_lsgkm_are_taken_with_a_note(folder):
    found = done("gkm train a.pos.fa a.neg.fa m -l 6 -k 4 -d 2 -e 0.01 -m 100 -v 2 -s -T 1")
    assert "-e, -m, -v, -s: options of LS-GKM without effect" in found.stderr
    found = done("gkm predict a.pos.fa a.model.mk out -T 4 -v 1")
    assert "-T, -v: options of LS-GKM without effect" in found.stderr


def test_a_dash_is_stdout_in_all_commands_of_one_result(folder):
    """Explain, weights, kmers and variants made files of the name -."""
    for command in ("predict a.pos.fa a.model.mk", "explain a.pos.fa a.model.mk", "weights a.model.mk 7", "kmers 3"):
        done(f"gkm {command} file")
        assert done(f"gkm {command} -").stdout == Path("file").read_text() != ""


def test_a_model_with_covariates_is_refused_with_the_command_that_takes_it(folder):
    texts = random_texts(40)
    table = pd.DataFrame({"dna": texts, "age": np.arange(40) % 7, "y": np.arange(40) % 2})
    table.to_csv("t.csv", index=False)
    run("fit t.csv --target y --adjust age -C 1 -o m.mk")
    for command in ("predict a.pos.fa m.mk o", "weights m.mk 4 -", "variants m.mk variants.vcf genome.fa -"):
        assert "is adjusted for age, of which these commands know nothing" in refused(f"gkm {command}")
