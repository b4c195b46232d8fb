"""The commands `gkm explain` and `gkm motifs`, and the whole way from peaks to variants. Issue 14, must show 5."""

import json

import numpy as np
import pandas as pd
import pytest
from benchmarks.grammar import similarity
from sklearn.metrics import roc_auc_score

import manykernels
from manykernels.datasets import make_genome
from manykernels.datasets.genome import MOTIFS
from tables import run

pytest.importorskip("pyfaidx", reason='a genome is not read without pyfaidx: pip install ".[bio]"')


def said(*arguments):
    result = run("gkm", *arguments)
    assert result.exit_code == 0, result.output
    return result


def refused(*arguments):
    result = run("gkm", *arguments)
    assert result.exit_code == 1, result.output
    return result.stderr.splitlines()[-1]


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A genome of 100 peaks, the training set, and a cross-validated model of it."""
    place = tmp_path_factory.mktemp("motifs")
    genome = make_genome(place, peaks=100)
    said("peaks", genome.peaks, genome.reference, place / "a", "--width", 101)
    given = (place / "a.pos.fa", place / "a.neg.fa", place / "a", "-l", 7, "-k", 5, "-d", 2, "-x", 3, "--json")
    assert json.loads(said("train", *given).stdout)["auROC"] > 0.95
    assert len((place / "a.cvpred.txt").read_text().splitlines()) == 200
    return place


def matrices(path):
    """The matrices of a MEME file."""
    blocks = path.read_text().split("MOTIF ")[1:]
    return [np.array([line.split() for line in block.splitlines()[2:] if line.strip()], float) for block in blocks]


def test_peaks_lead_to_explanations_motifs_and_variants(place):
    said("explain", place / "a.pos.fa", place / "a.model.mk", place / "a.txt")
    lines = [line.split("\t") for line in (place / "a.txt").read_text().splitlines()]
    said("predict", place / "a.pos.fa", place / "a.model.mk", place / "scores.txt")
    assert [line[:2] for line in lines] == [
        line.split("\t") for line in (place / "scores.txt").read_text().splitlines()
    ]
    first = np.array([[float(v) for v in letter.split(",")] for letter in lines[0][2].split(";")])
    model = manykernels.load(place / "a.model.mk")
    assert first.shape == (101, 4) and (np.count_nonzero(first, axis=1) <= 1).all()
    assert first.sum() + model.intercept_[0] == pytest.approx(float(lines[0][1]), abs=1e-4)

    facts = json.loads(said("motifs", place / "a.pos.fa", place / "a.model.mk", place / "a", "--json").stdout)
    found = matrices(place / "a.meme")
    assert len(found) == len(facts["motifs"]) == 3 and facts["sequences"] == 100
    for motif in MOTIFS.values():
        planted = np.array([[letter == one for letter in "ACGT"] for one in motif], float)
        assert max(similarity(planted, table) for table in found) > 0.9
    hits, words = (pd.read_csv(place / f"a.{name}.tsv", sep="\t") for name in ("hits", "words"))
    assert list(hits.columns) == ["id", "start", "stop", "strand", "motif", "contribution"]
    assert len(hits) == sum(motif["seqlets"] for motif in facts["motifs"]) and set(hits.strand) == {"+", "-"}
    assert set(hits.id) <= {line[0] for line in lines} and "CACGTG" in set(words.word)
    assert (place / "a.motifs.html").read_text().count("<svg") == 6

    given = (place / "a.model.mk", place / "variants.vcf", place / "genome.fa", place / "variants.tsv")
    said("variants", *given, "--shuffles", 2)
    table = pd.read_csv(place / "variants.tsv", sep="\t")
    assert roc_auc_score(table.id.str.startswith("broken"), table.delta.abs()) > 0.9


def test_explanations_by_mutagenesis_and_for_other_programs(place, monkeypatch):
    monkeypatch.setattr("manykernels.cli.gkm_explain.ROWS_AT_ONCE", 30)  # several blocks are joined
    given = (place / "a.neg.fa", place / "a.model.txt", place / "b.txt")
    found = said("explain", *given, "--mutagenesis", "--modisco", place / "b")
    assert "60 of 100 sequences explained." in found.stderr
    X = manykernels.sequences.read_fasta(place / "a.neg.fa", "dna", "ignore")
    model = manykernels.load(place / "a.model.txt")
    wanted = manykernels.inspect.explain_sequences(model, X)
    shown = (place / "b.txt").read_text().splitlines()[3].split("\t")[2].split(";")
    np.testing.assert_allclose([[float(v) for v in one.split(",")] for one in shown], wanted.values[3], atol=1e-5)
    assert np.load(place / "b.shap.npz")["arr_0"].shape == (100, 4, 101)
    assert "give -m 1" in refused("explain", *given, "--modisco", place / "b")
    assert "without --mutagenesis" in refused("explain", *given, "--mutagenesis", "-m", 1)
    assert "only with --bigwig" in refused("explain", *given, "--genome", place / "genome.fa")


def test_tracks_of_the_genome(place):
    pyBigWig = pytest.importorskip("pyBigWig", reason='no tracks without pyBigWig: pip install ".[bigwig]"')
    given = (place / "a.pos.fa", place / "a.model.mk", place / "c.txt", "--bigwig", place / "c.bw")
    said("explain", *given, "--genome", place / "genome.fa")
    with pyBigWig.open(str(place / "c.bw")) as file:
        assert file.chroms()["chr1"] == 60_000 and file.header()["nBasesCovered"] > 9_000


def test_a_model_of_a_table_is_explained_and_knows_its_width(place):
    rows = [
        (kind, str(x)) for kind in ("pos", "neg") for x in manykernels.sequences.read_fasta(place / f"a.{kind}.fa")[:40]
    ]
    pd.DataFrame(rows, columns=["y", "dna"]).to_csv(place / "t.csv", index=False)
    result = run("fit", place / "t.csv", "--target", "y", "-C", 1, "-o", place / "t.mk", "-q")
    assert result.exit_code == 0, result.output
    said("explain", place / "a.pos.fa", place / "t.mk", place / "t.txt", "--mutagenesis")
    assert len((place / "t.txt").read_text().splitlines()) == 100
    given = (place / "t.mk", place / "variants.vcf", place / "genome.fa", place / "t.tsv", "--shuffles", 0)
    said("variants", *given)
    before = (place / "t.tsv").read_text()
    said("variants", *given, "--width", 101)
    assert before == (place / "t.tsv").read_text()


def test_messages_name_options_and_not_arguments_of_python(place, tmp_path):
    wrong = (place / "variants.vcf").read_text().replace("\tbroken0\t", "\tbroken0\tACGTACGT", 1)
    (tmp_path / "wrong.vcf").write_text(wrong)
    given = (place / "a.model.mk", tmp_path / "wrong.vcf", place / "genome.fa", tmp_path / "out.tsv", "--shuffles", 0)
    message = refused("variants", *given)
    assert message.endswith("or --skip") and "invalid" not in message
    assert "1 reference mismatch (broken0)" in said("variants", *given, "--skip").stdout
    texts = [str(x)[: 60 + k] for k, x in enumerate(manykernels.sequences.read_fasta(place / "a.pos.fa")[:8])]
    for name, some in (("p", texts[:4]), ("n", texts[4:])):
        (tmp_path / f"{name}.fa").write_text("".join(f">{k}\n{text}\n" for k, text in enumerate(some)))
    said("train", tmp_path / "p.fa", tmp_path / "n.fa", tmp_path / "m", "-l", 4, "-k", 3, "-d", 1)
    message = refused("variants", tmp_path / "m.model.mk", *given[1:])
    assert "give --width" in message and "width=None" not in message
