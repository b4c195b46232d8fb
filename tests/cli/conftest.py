"""Each test of a command runs in an empty folder of its own, so that commands are written as in a terminal."""

import shutil

import pytest

from manykernels.datasets import make_genome
from manykernels.sequences import read_fasta
from tables import done, fasta, headers, json_of, patients


@pytest.fixture(autouse=True)
def cwd(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.fixture(scope="session")
def made(tmp_path_factory):
    """data.csv, a table of patients, new.csv, others without y, and model.mk; a file of tests may make others."""
    folder = tmp_path_factory.mktemp("patients")
    patients().to_csv(folder / "data.csv", index=False)
    patients(10, 1).drop(columns="y").to_csv(folder / "new.csv", index=False)
    done(f"fit {folder}/data.csv -t y -o {folder}/model.mk")
    return folder


@pytest.fixture(scope="session")
def genome(tmp_path_factory):
    """A genome of 60 peaks, windows around their summits and others, and a cross-validated model of them."""
    folder = tmp_path_factory.mktemp("gkm")
    reference, peaks, _ = make_genome(folder, peaks=60)
    contigs = dict(zip(headers(reference), read_fasta(reference), strict=True))
    summits = [(row[0], int(row[1]) + int(row[9])) for row in map(str.split, open(peaks))]
    for name, off in (("pos", 0), ("neg", -400)):
        windows = [(chrom, summit + off - 50, summit + off + 51) for chrom, summit in summits]
        texts = [contigs[chrom][start:stop] for chrom, start, stop in windows]
        fasta(folder / f"a.{name}.fa", texts, [f"{chrom}:{start}-{stop}" for chrom, start, stop in windows])
    found = json_of(f"gkm train {folder}/a.pos.fa {folder}/a.neg.fa {folder}/a -l 7 -k 5 -d 2 -x 3")
    assert found["positives"] == found["negatives"] == 60 and found["auROC"] > 0.95 and found["gap"] <= 1e-3
    return folder


@pytest.fixture
def folder(made, tmp_path, cwd):
    """The folder of the test, with a copy of what was made."""
    return shutil.copytree(made, tmp_path, dirs_exist_ok=True)
