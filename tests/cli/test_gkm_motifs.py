"""The commands `gkm explain` and `gkm motifs`, and the whole way from peaks to variants."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from benchmarks.grammar import similarity

import manykernels
from manykernels.datasets.genome import MOTIFS
from manykernels.sequences import read_fasta
from tables import done, fasta, json_of, refused


@pytest.fixture(scope="module")
def made(genome):
    return genome


def test_explanations_lead_to_the_planted_motifs(folder):
    done("gkm explain a.pos.fa a.model.mk a.txt")
    lines = [line.split("\t") for line in Path("a.txt").read_text().splitlines()]
    done("gkm predict a.pos.fa a.model.mk scores.txt")
    assert [line[:2] for line in lines] == [line.split("\t") for line in Path("scores.txt").read_text().splitlines()]
    first = np.array([[float(v) for v in letter.split(",")] for letter in lines[0][2].split(";")])
    model = manykernels.load("a.model.mk")
    assert first.shape == (101, 4) and (np.count_nonzero(first, axis=1) <= 1).all()
    assert first.sum() + model.intercept_[0] == pytest.approx(float(lines[0][1]), abs=1e-4)

    facts = json_of("gkm motifs a.pos.fa a.model.mk a")
    blocks = Path("a.meme").read_text().split("MOTIF ")[1:]
    found = [np.array([line.split() for line in block.splitlines()[2:] if line.strip()], float) for block in blocks]
    assert len(found) == len(facts["motifs"]) == 3 and facts["sequences"] == 60
    for motif in MOTIFS.values():
        planted = np.array([[letter == one for letter in "ACGT"] for one in motif], float)
        assert max(similarity(planted, table) for table in found) > 0.9
    hits, words = (pd.read_csv(f"a.{name}.tsv", sep="\t") for name in ("hits", "words"))
    assert list(hits.columns) == ["id", "start", "stop", "strand", "motif", "contribution"]
    assert len(hits) == sum(motif["seqlets"] for motif in facts["motifs"]) and set(hits.strand) == {"+", "-"}
    assert set(hits.id) <= {line[0] for line in lines} and "CACGTG" in set(words.word)
    assert Path("a.motifs.html").read_text().count("<svg") == 6


def test_explanations_by_mutagenesis_and_for_other_programs(folder, monkeypatch):
    monkeypatch.setattr("manykernels.cli.gkm_use.ROWS_AT_ONCE", 30)  # several blocks are joined
    found = done("gkm explain a.neg.fa a.model.txt b.txt --mutagenesis --modisco b")
    assert "30 of 60 sequences explained." in found.stderr
    X = read_fasta("a.neg.fa", "dna", "ignore")
    model = manykernels.load("a.model.txt")
    wanted = manykernels.inspect.explain_sequences(model, X)
    shown = Path("b.txt").read_text().splitlines()[3].split("\t")[2].split(";")
    np.testing.assert_allclose([[float(v) for v in one.split(",")] for one in shown], wanted.values[3], atol=1e-5)
    assert np.load("b.shap.npz")["arr_0"].shape == (60, 4, 101)


def test_tracks_of_the_genome(folder):
    pyBigWig = pytest.importorskip("pyBigWig", reason='no tracks without pyBigWig: pip install ".[bigwig]"')
    pytest.importorskip("pyfaidx", reason='a genome is not read without pyfaidx: pip install ".[bio]"')
    done("gkm explain a.pos.fa a.model.mk c.txt --bigwig c.bw --genome genome.fa")
    with pyBigWig.open("c.bw") as file:
        assert file.chroms()["chr1"] == 60_000 and file.header()["nBasesCovered"] > 5_000


def test_messages_name_options_and_not_arguments_of_python(folder):
    pytest.importorskip("pyfaidx", reason='a genome is not read without pyfaidx: pip install ".[bio]"')
    wrong = Path("variants.vcf").read_text().replace("\tbroken0\t", "\tbroken0\tACGTACGT", 1)
    Path("wrong.vcf").write_text(wrong)
    given = "wrong.vcf genome.fa out.tsv --shuffles 0"
    message = refused(f"gkm variants a.model.mk {given}")
    assert message.endswith("or --skip") and "invalid" not in message
    assert "1 reference mismatch (broken0)" in done(f"gkm variants a.model.mk {given} --skip").stdout
    texts = [str(x)[: 60 + k] for k, x in enumerate(read_fasta("a.pos.fa")[:8])]
    fasta("p.fa", texts[:4]), fasta("n.fa", texts[4:])
    done("gkm train p.fa n.fa m -l 4 -k 3 -d 1")
    message = refused(f"gkm variants m.model.mk {given}")
    assert "give --width" in message and "width=None" not in message
