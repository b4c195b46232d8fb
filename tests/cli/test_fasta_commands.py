"""FASTA and FASTQ on the command line: labels from headers or from a table by id, kernels of words unasked."""

import gzip
import io
import json
import tomllib

import numpy as np
import pandas as pd
import pytest
from naive_strings import reverse_complement

import manykernels
from tables import run


def sites(n=40, seed=0, even=True):
    """Sequences of 20 letters with TATA in the middle or not, and which."""
    rng = np.random.default_rng(seed)
    y = np.tile(["site", "none"], n // 2)
    core = [("TATA" if label == "site" else "GCGC") for label in y]
    tail = [8 if even else 4 + k % 7 for k in range(n)]
    head, end = ([rng.choice(list("ACGT"), size) for size in sizes] for sizes in ([8] * n, tail))
    return ["".join([*a, c, *b]) for a, c, b in zip(head, core, end, strict=True)], y


def fasta(text, y=None):
    return "".join(f">s{k}{'' if y is None else f' kind={y[k]}'} chr=1\n{s}\n" for k, s in enumerate(text))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("sequences")
    text, y = sites()
    (folder / "sites.fa").write_text(fasta(text, y))
    kinds = pd.DataFrame({"id": [f"s{k}" for k in range(39)], "kind": y[:39]})
    kinds.to_csv(folder / "kinds.tsv", sep="\t", index=False)
    new, truth = sites(10, 1)
    (folder / "new.fa").write_text(fasta(new))
    (folder / "test.fa").write_text(fasta(new, truth))
    result = run("fit", folder / "sites.fa", "--target", "kind", "-o", folder / "model.mk")
    assert result.exit_code == 0, result.output
    return folder


def test_a_model_of_sequences_says_what_it_took_them_for(folder):
    result = run("fit", folder / "sites.fa", "-t", "kind", "-o", folder / "again.mk", "--json")
    assert "40 sequences of 20 letters, taken as dna" in result.stderr and "at the same place" in result.stderr
    names = [row["kernel"] for row in json.loads(result.stdout)["weights"]]
    assert any("at a place" in name for name in names)
    model = manykernels.load(folder / "again.mk")
    assert list(model.feature_names_in_) == ["sequence"] and model.classes_.tolist() == ["none", "site"]


def test_predictions_carry_the_ids(folder):
    found = pd.read_csv(io.StringIO(run("predict", folder / "model.mk", folder / "new.fa").stdout))
    assert list(found.columns) == ["id", "prediction", "decision"] and list(found.id) == [f"s{k}" for k in range(10)]
    assert (found.prediction == sites(10, 1)[1]).mean() >= 0.9
    facts = json.loads(run("score", folder / "model.mk", folder / "test.fa", "-t", "kind", "--json").stdout)
    assert facts["examples"] == 10 and facts["accuracy"] == (found.prediction == sites(10, 1)[1]).mean()


def test_ids_that_repeat_stay_in_predictions(folder, tmp_path):
    text, y = sites()
    lines = [f">s{k // 2} kind={y[k]}\n{s}\n" for k, s in enumerate(text)]
    (tmp_path / "twice.fa").write_text("".join(lines))
    model = tmp_path / "m.mk"
    assert run("fit", tmp_path / "twice.fa", "-t", "kind", "-C", "1", "-o", model).exit_code == 0
    found = pd.read_csv(io.StringIO(run("predict", model, tmp_path / "twice.fa").stdout))
    (tmp_path / "once.fa").write_text(fasta(text, y))
    once = pd.read_csv(io.StringIO(run("predict", model, tmp_path / "once.fa").stdout))
    assert list(found.id) == [f"s{k // 2}" for k in range(40)]
    assert found.drop(columns="id").equals(once.drop(columns="id"))
    for command in ("score", "inspect"):
        assert run(command, model, tmp_path / "twice.fa").exit_code == 0
    page = run("report", model, tmp_path / "twice.fa", "-o", tmp_path / "r.html", "--stability", "0", "--cv", "2")
    assert page.exit_code == 0, page.output


def test_a_byte_order_mark_is_no_letter(folder, tmp_path):
    data = b"\xef\xbb\xbf" + (folder / "new.fa").read_bytes()
    (tmp_path / "new.fa").write_bytes(data)
    known = run("predict", folder / "model.mk", folder / "new.fa").stdout
    assert run("predict", folder / "model.mk", tmp_path / "new.fa").stdout == known
    assert run("predict", folder / "model.mk", "-", input=data).stdout == known


def test_packed_files_and_pipes_say_the_same(folder, tmp_path):
    plain = run("predict", folder / "model.mk", folder / "new.fa").stdout
    data = (folder / "new.fa").read_bytes()
    (tmp_path / "new.fasta.gz").write_bytes(gzip.compress(data))
    text, _ = sites(10, 1)
    (tmp_path / "new.fq").write_text("".join(f"@s{k}\n{s}\n+\n{'I' * len(s)}\n" for k, s in enumerate(text)))
    assert run("predict", folder / "model.mk", tmp_path / "new.fasta.gz").stdout == plain
    assert run("predict", folder / "model.mk", tmp_path / "new.fq").stdout == plain
    assert run("predict", folder / "model.mk", "-", input=data).stdout == plain
    assert run("predict", folder / "model.mk", "-", input=gzip.compress(data)).stdout == plain


def test_labels_of_a_table_are_found_by_id(folder, tmp_path):
    given = (folder / "sites.fa", "--labels", folder / "kinds.tsv")
    result = run("fit", *given, "-o", tmp_path / "m.mk", "--json")
    assert result.exit_code == 1 and "both have a column 'kind'" in result.stderr
    pd.read_csv(folder / "kinds.tsv", sep="\t").rename(columns={"kind": "y"}).to_csv(tmp_path / "y.csv", index=False)
    result = run("fit", folder / "sites.fa", "--labels", tmp_path / "y.csv", "-o", tmp_path / "m.mk", "--json")
    assert json.loads(result.stdout)["examples"] == 39
    assert "1 of 40 examples have no label there ('s39'" in result.stderr
    given = (folder / "sites.fa", "--labels", tmp_path / "y.csv", "-C", "1", "-p", "1,2", "--folds", "3")
    found = run("cv", *given, "--json")
    assert max(row["score"] for row in json.loads(found.stdout)["scores"]) > 0.8


def test_lengths_that_differ_have_words_anywhere(tmp_path):
    (tmp_path / "d.fa").write_text(fasta(*sites(even=False)))
    result = run("fit", tmp_path / "d.fa", "-t", "kind", "-o", tmp_path / "m.mk", "--json")
    assert "since lengths differ" in result.stderr
    assert all("anywhere" in row["kernel"] for row in json.loads(result.stdout)["weights"])


def test_init_writes_kernels_of_sequences_and_fit_reads_them(folder, tmp_path):
    text = run("init", folder / "sites.fa", "-t", "kind").stdout
    tables = tomllib.loads(text)["kernel"]
    kinds = {"Degree", "GappedKmer", "Spectrum", "WeightedDegreeShift"}
    assert {table["kernel"] for table in tables} == kinds and tables[0]["alphabet"] == "dna"
    (tmp_path / "k.toml").write_text(
        'target = "kind"\n[[kernel]]\nkernel = "WeightedDegree"\nd = 4\ncolumns = ["sequence"]\n'
    )
    result = run("fit", folder / "sites.fa", "--config", tmp_path / "k.toml", "-o", tmp_path / "m.mk", "--json")
    assert json.loads(result.stdout)["kernels"] == 1


def test_a_configuration_takes_both_strands(folder, tmp_path):
    """Issue 14, point 1."""
    (tmp_path / "k.toml").write_text(
        'target = "kind"\nC = 1\n[[kernel]]\nkernel = "GappedKmer"\nl = 5\nk = 3\nreverse_complement = true\n'
        'columns = ["sequence"]\n'
    )
    run("fit", folder / "sites.fa", "--config", tmp_path / "k.toml", "-o", tmp_path / "m.mk", "--json")
    (tmp_path / "rc.fa").write_text("".join(f">s{k}\n{reverse_complement(s)}\n" for k, s in enumerate(sites(10, 1)[0])))
    assert run("predict", tmp_path / "m.mk", tmp_path / "rc.fa").stdout == (
        run("predict", tmp_path / "m.mk", folder / "new.fa").stdout
    )


def test_a_report_of_sequences_ranks_the_kinds_of_words(folder, tmp_path):
    page = tmp_path / "r.html"
    quick = ("--cv", "2", "--relevance", "fast", "--stability", "0")
    result = run("report", folder / "model.mk", folder / "sites.fa", "-t", "kind", "-o", page, *quick, "--json")
    facts = json.loads(result.stdout)
    assert facts["sources"]["total"] == facts["weights"]["kernels"] > 5 and facts["target"] == "kind"


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
def test_what_is_wrong_with_a_file_is_said(tmp_path, content, said):
    (tmp_path / "d.fa").write_text(content)
    result = run("fit", tmp_path / "d.fa", "-t", "kind", "-o", tmp_path / "m.mk")
    assert result.exit_code == 1 and result.stdout == "" and said in result.stderr.splitlines()[-1], result.stderr


def test_one_letter_does_not_make_proteins_of_dna(tmp_path):
    """Python and the command line, for FASTA and for a column of a table, took them all for proteins."""
    text, y = sites()
    for letter, said in (("X", "taken as dna"), ("E", "X[2] ('AGCG")):
        text[2] = f"AGCG{letter}" + text[2][5:]
        (tmp_path / "odd.fa").write_text(fasta(text, y))
        pd.DataFrame({"site": text, "kind": y}).to_csv(tmp_path / "odd.csv", index=False)
        for file in ("odd.fa", "odd.csv"):
            result = run("fit", tmp_path / file, "-t", "kind", "-C", "1", "-o", tmp_path / "odd.mk")
            assert said in result.stderr and result.exit_code == (letter == "E")
            assert letter == "X" or "has 'E' at position 4" in result.stderr and "alphabet='protein'" in result.stderr


def test_labels_that_do_not_match(folder, tmp_path):
    (tmp_path / "y.csv").write_text("id,y\nS0,1\nS1,2\n")
    result = run("fit", folder / "sites.fa", "--labels", tmp_path / "y.csv", "-o", tmp_path / "m.mk")
    assert result.exit_code == 1 and "has none of the ids of" in result.stderr and "'S0'" in result.stderr
