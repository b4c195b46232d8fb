"""FASTA and FASTQ on the command line: labels from headers or from a table by id, kernels of words unasked."""

import gzip
import json
import tomllib
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from naive_strings import reverse_complement

import manykernels
from tables import done, fasta, json_of, refused, run, table_of


def sites(n=40, seed=0, even=True):
    """Sequences of 20 letters with TATA in the middle or not, and which."""
    rng = np.random.default_rng(seed)
    y = np.tile(["site", "none"], n // 2)
    core = [("TATA" if label == "site" else "GCGC") for label in y]
    tail = [8 if even else 4 + k % 7 for k in range(n)]
    head, end = ([rng.choice(list("ACGT"), size) for size in sizes] for sizes in ([8] * n, tail))
    return ["".join([*a, c, *b]) for a, c, b in zip(head, core, end, strict=True)], y


def write(path, text, y=None):
    fasta(path, text, [f"s{k}{'' if y is None else f' kind={y[k]}'} chr=1" for k in range(len(text))])


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    home = tmp_path_factory.mktemp("sequences")
    text, y = sites()
    write(home / "sites.fa", text, y)
    kinds = pd.DataFrame({"id": [f"s{k}" for k in range(39)], "kind": y[:39]})
    kinds.to_csv(home / "kinds.tsv", sep="\t", index=False)
    new, truth = sites(10, 1)
    write(home / "new.fa", new)
    write(home / "test.fa", new, truth)
    done(f"fit {home}/sites.fa --target kind -o {home}/model.mk")
    return home


def test_a_model_of_sequences_says_what_it_took_them_for(folder):
    result = done("fit sites.fa -t kind -C 1 -o again.mk --json")
    assert "40 sequences of 20 letters, taken as dna" in result.stderr and "at the same place" in result.stderr
    names = [row["kernel"] for row in json.loads(result.stdout)["weights"]]
    assert any("at a place" in name for name in names)
    model = manykernels.load("again.mk")
    assert list(model.feature_names_in_) == ["sequence"] and model.classes_.tolist() == ["none", "site"]


def test_predictions_carry_the_ids(folder):
    found = table_of("predict model.mk new.fa")
    assert list(found.columns) == ["id", "prediction", "decision"] and list(found.id) == [f"s{k}" for k in range(10)]
    assert (found.prediction == sites(10, 1)[1]).mean() >= 0.9
    scores = json_of("score model.mk test.fa -t kind")
    assert scores["examples"] == 10 and scores["accuracy"] == (found.prediction == sites(10, 1)[1]).mean()


def test_ids_that_repeat_stay_in_predictions(folder):
    text, y = sites()
    fasta("twice.fa", text, [f"s{k // 2} kind={y[k]}" for k in range(40)])
    done("fit twice.fa -t kind -C 1 -o m.mk")
    found, once = table_of("predict m.mk twice.fa"), table_of("predict m.mk sites.fa")
    assert list(found.id) == [f"s{k // 2}" for k in range(40)]
    assert found.drop(columns="id").equals(once.drop(columns="id"))
    for command in ("score", "inspect"):
        done(f"{command} m.mk twice.fa")
    done("report m.mk twice.fa -o r.html --stability 0 --cv 2 --relevance fast")


def test_a_byte_order_mark_is_no_letter(folder):
    data = b"\xef\xbb\xbf" + Path("new.fa").read_bytes()
    Path("marked.fa").write_bytes(data)
    known = done("predict model.mk new.fa").stdout
    assert run("predict model.mk marked.fa").stdout == known
    assert run("predict model.mk -", input=data).stdout == known


def test_packed_files_and_pipes_say_the_same(folder):
    plain = done("predict model.mk new.fa").stdout
    data = Path("new.fa").read_bytes()
    Path("new.fasta.gz").write_bytes(gzip.compress(data))
    text, _ = sites(10, 1)
    Path("new.fq").write_text("".join(f"@s{k}\n{s}\n+\n{'I' * len(s)}\n" for k, s in enumerate(text)))
    assert run("predict model.mk new.fasta.gz").stdout == plain
    assert run("predict model.mk new.fq").stdout == plain
    assert run("predict model.mk -", input=data).stdout == plain
    assert run("predict model.mk -", input=gzip.compress(data)).stdout == plain


def test_labels_of_a_table_are_found_by_id(folder):
    assert "both have a column 'kind'" in refused("fit sites.fa --labels kinds.tsv -o m.mk")
    pd.read_csv("kinds.tsv", sep="\t").rename(columns={"kind": "y"}).to_csv("y.csv", index=False)
    result = done("fit sites.fa --labels y.csv -C 1 -o m.mk --json")
    assert json.loads(result.stdout)["examples"] == 39
    assert "1 of 40 examples have no label there ('s39'" in result.stderr
    found = json_of("cv sites.fa --labels y.csv -C 1 -p 1,2 --folds 3")
    assert max(row["score"] for row in found["scores"]) > 0.8


def test_init_writes_kernels_of_sequences_and_fit_reads_them(folder):
    text = run("init sites.fa -t kind").stdout
    tables = tomllib.loads(text)["kernel"]
    kinds = {"Degree", "GappedKmer", "Spectrum", "WeightedDegreeShift"}
    assert {table["kernel"] for table in tables} == kinds and tables[0]["alphabet"] == "dna"
    Path("k.toml").write_text('target = "kind"\n[[kernel]]\nkernel = "WeightedDegree"\nd = 4\ncolumns = ["sequence"]\n')
    assert json_of("fit sites.fa --config k.toml -C 1 -o m.mk")["kernels"] == 1


def test_a_configuration_takes_both_strands(folder):
    Path("k.toml").write_text(
        'target = "kind"\nC = 1\n[[kernel]]\nkernel = "GappedKmer"\nl = 5\nk = 3\nreverse_complement = true\n'
        'columns = ["sequence"]\n'
    )
    done("fit sites.fa --config k.toml -o m.mk")
    write("rc.fa", [reverse_complement(text) for text in sites(10, 1)[0]])
    assert done("predict m.mk rc.fa").stdout == done("predict m.mk new.fa").stdout


def test_a_report_of_sequences_ranks_the_kinds_of_words(folder):
    found = json_of("report model.mk sites.fa -t kind -o r.html --cv 2 --relevance fast --stability 0")
    assert found["sources"]["total"] == found["weights"]["kernels"] > 5 and found["target"] == "kind"


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("", "holds no records"),
        ("ACGT\n", "neither FASTA nor FASTQ"),
        (">a kind=1\nAC!T\n>b kind=2\nACGT\n" * 1, "letter"),
        (">a kind=1\nACGT\n>b\nACGT\n", "give 'b' kind="),
        (">a\nACGT\n>b x=1\nACGT\n", "--target 'kind' is not a column"),
    ],
)
def test_what_is_wrong_with_a_file_is_said(content, said):
    Path("d.fa").write_text(content)
    assert said in refused("fit d.fa -t kind -o m.mk")
