"""What goes wrong is said in one sentence on stderr, with the cure; nothing is on stdout, and the exit code tells."""

import json
import os
import signal
import subprocess
import sys
import time
import zipfile
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from manykernels import MKLClassifier
from tables import done, patients, refused, run

READER = find_spec("polars") or find_spec("pyarrow")
FILES = {
    "bytes.parquet": "\x00nothing", "bytes.npz": "nothing", "empty.csv": "", "head.csv": "a,y\n", "data.xlsx": "",
    "twice.csv": "name,age\npatient 1,b\n", "none.tsv": "name\ty\n7\tb\n",
    "cells.csv": "age,y\n1e999,a\n2,b\n",
}  # fmt: skip
TABLES = {  # the table of patients with changes
    "ill.csv": lambda frame: frame[frame.y == "ill"],
    "text.csv": lambda frame: frame.assign(age=["unknown" if k == 7 else age for k, age in enumerate(frame.age)]),
    "less.csv": lambda frame: frame.drop(columns=["age", "sex"]),
    "dead.csv": lambda frame: frame.assign(y="dead"),
    "gaps.csv": lambda frame: frame.assign(y=frame.y.where(frame.index > 1)),
    "rows.csv": lambda frame: frame.assign(y=np.nan),
    "one.csv": lambda frame: frame.assign(y=np.arange(len(frame)) == 3),
    "days.csv": lambda frame: frame.assign(dead=1 - frame.index % 2, days=frame.index + 1.0, dose=1.0),
}
REFUSED = [
    ("fit none.csv -t y", "none.csv does not exist"),
    ("fit data.csv -t agee", "--target 'agee' is not a column of data.csv", "did you mean 'age'"),
    ("fit data.csv -t Y", "did you mean 'y'?"),
    ("fit data.csv -t quite_another", "give one of 'age', 'dose', 'sex'"),
    ("fit data.csv", "--target is missing", "'age'", "--task one-class", "give a table of targets with --labels"),
    ("fit data.csv -t y --task guess", "--task 'guess' is unknown", "regression"),
    ("fit data.csv -t y --task regression", "'y' has 'ill', which is not", "--task classification"),
    ("fit data.csv -t name", "has 40 different values in 40 rows, too many for classes"),
    ("fit ill.csv -t y", "only one class, 'ill'"),
    ("fit rows.csv -t y", "--target 'y' is empty in all rows: name another column"),
    ("fit bytes.npz -t y", "bytes.npz cannot be read as npz"),
    ("fit bytes.parquet -t y", "parquet cannot be read as" if READER else "Reading Parquet needs polars or pyarrow"),
    ("fit empty.csv -t y", "empty.csv cannot be read as csv"),
    ("fit head.csv -t y", "has no rows"),
    ("fit cells.csv -t y", "X contains infinity in column 'age'"),
    ("fit data.xlsx -t y", "data.xlsx has an unknown file type", ".parquet"),
    ("fit study -t y", "no id is in all of a, b", "'p1'", "'P1'"),
    ("fit stems -t y", "several files called t: rename one"),
    ("fit data.csv -t y --id sex", "several rows have the id 'f' in column 'sex'"),
    ("fit data.csv --labels twice.csv", "data.csv has no ids, which --labels needs"),
    ("fit data.csv --id name --labels twice.csv", "data.csv and --labels twice.csv both have a column 'age'"),
    ("fit data.csv --id name --labels none.tsv", "--labels none.tsv has none of the ids of data.csv"),
    ("fit lengths.npz -t y", "arrays have different numbers of examples, 3 and others"),
    ("fit cube.npz -t y", "the array 'x' has shape (4, 2, 2): give (n,) or (n, d)"),
    ("fit data.csv -t y --nu 0.2", "nu is a setting of --task one-class"),
    ("fit data.csv --task one-class -C 1", "C is not a setting of --task one-class: give nu"),
    ("fit data.csv -t y --q 0.9", "q is a setting of --loss quantile, for --task regression"),
    ("fit data.csv -t y -C -1", "C=-1"),
    ("fit data.csv -t y -C one", "-C 'one' is not a number: give -C 10, for example, or -C auto"),
    ("fit data.csv -t y -p 0.5", "0.5"),
    ("fit data.csv -t y -o no/model.mk", "does not exist: make it first"),
    ("fit data.csv -t y -o study", "-o study cannot be written: give another path"),
    ("fit data.csv -t y -o -", "would write a model to the terminal: give a path"),
    ("fit data.csv -t y --adjust agee", "--adjust 'agee' is not a column of the data besides the target: did you mean"),
    ("fit data.csv -t y --adjust age,y", "--adjust 'y' is not a column of the data besides the target: give"),
    ("fit data.csv -t y --adjust ,", "--adjust ',' names no column"),
    ("fit data.csv -t y --adjust age --task one-class", "--adjust needs targets"),
    ("fit days.csv --event dead", "belong together: give --event and --time"),
    ("fit days.csv --strata sex --event dead", "belong together: give --event and --time"),
    ("fit days.csv --event dead --time days -t age", "--target is the column of a class or a number: leave it out"),
    ("fit days.csv --event dead --time day", "--time 'day'"),
    ("fit days.csv --event days --time dead", "event has the values"),
    ("fit days.csv --event sex --time days", "is not a number: give 1 for events and 0 for censored times"),
    ("fit days.csv --event dead --time negative", "--time 'negative'"),
    ("cv data.csv -t y -C 1;2", "-C '1;2' is not a list of numbers: give -C 0.1,1,10"),
    ("cv data.csv -t y -p 1;2", "-p '1;2' is not a list of numbers"),
    ("cv one.csv -t y --folds 2 --task classification", "--folds 2 needs two events, two groups or two examples"),
    ("cv data.csv --task one-class", "cv needs targets for its scores"),
    ("init data.csv -t y -o model.mk", "model.mk exists", "--force"),
    ("predict model.mk text.csv", "'age' has 'unknown' in row 8"),
    ("predict model.mk less.csv", "lack the columns 'age', 'sex'"),
    ("inspect half.mk", "half.mk is damaged or not a whole manykernels model"),
    ("score model.mk dead.csv -t y", "'dead'", "not among ill, well"),
    ("score model.mk gaps.csv", "--target 'y' is empty in 2 rows: fill it in or remove them"),
    ("report model.mk data.csv -o -", "give a path, for example -o report.html"),
    ("report model.mk data.csv -o no/such/r.html", "does not exist: make it first"),
    ("report model.mk data.csv -t agee", "--target 'agee' is not a column"),
    ("report model.mk data.csv --examples x", "--examples 'x' is not a list of row numbers"),
    ("report model.mk data.csv --cv 0 --stability 0 --examples 99", "examples=[99]: give a number of examples"),
    ("report model.mk data.csv --relevance much", "relevance='much'"),
]  # fmt: skip
CONFIGURATIONS = [  # the kernel or the whole text, and what is said
    ('kernel = "RFB"\ncolumns = ["age"]', "'RFB' is unknown", "'RBF'?"),
    ('kernel = "RBF"\ngama = 1\ncolumns = ["age"]', "the key 'gama' is unknown", "'gamma'?"),
    ('kernel = "RBF"\ncolumns = ["aeg"]', "column 'aeg' is not a column", "'age'"),
    ('kernel = "RBF"\ncolumns = ["dose"]', "'dose' is empty in 2 rows", 'missing = "zero"'),
    ('kernel = "RBF"\ncolumns = ["sex"]', "column 'sex' has 'f', which is not a number", "Categorical"),
    ('kernel = "Categorical"\ncolumns = ["sex"]\nscale = true', "has scale = True", "true only to kernels on numbers"),
    ("C = 1\np == 2", "k.toml is not valid TOML", "line 2"),
    ('targt = "y"', "the setting 'targt' is unknown", "'target'?"),
    ('C = "much"', "C = 'much' should be a number"),
]  # fmt: skip


@pytest.fixture
def files(folder):
    for name, text in FILES.items():
        Path(name).write_text(text)
    for name, change in TABLES.items():
        change(patients()).to_csv(name, index=False)
    for name, texts in {"study/a.csv": "id,y\np1,0\np2,1\n", "study/b.csv": "id,x,z\nP1,0,1\nP2,1,1\n",
                        "stems/t.csv": "id,y\n1,2\n", "stems/t.tsv": "id\tx\n1\t2\n"}.items():  # fmt: skip
        Path(name).parent.mkdir(exist_ok=True)
        Path(name).write_text(texts)
    np.savez("lengths.npz", x=np.ones(3), y=np.ones(4))
    np.savez("cube.npz", x=np.zeros((4, 2, 2)))
    Path("half.mk").write_bytes(Path("model.mk").read_bytes()[:500])


def check(command, says):
    said = refused(command)
    assert all(text in said for text in says), said


@pytest.mark.parametrize("case", REFUSED, ids=[case[0] for case in REFUSED])
def test_a_wrong_use_has_a_sentence_with_its_cure(files, monkeypatch, case):
    command, *says = case
    monkeypatch.setattr(MKLClassifier, "_keep", None)  # it is said before the work
    check(command, says)


@pytest.mark.parametrize("case", CONFIGURATIONS, ids=[case[0] for case in CONFIGURATIONS])
def test_a_wrong_configuration_has_a_sentence_with_its_cure(folder, case):
    text, *says = case
    Path("k.toml").write_text(f"[[kernel]]\n{text}\n" if "columns" in text else text)
    check("fit data.csv -t y --config k.toml", says)


def test_the_path_of_the_data_is_not_empty(folder):
    """The empty path was the current folder, all of whose tables were joined."""
    assert "The path of the data is empty: give a file" in refused("fit", "", "-t", "y", "-o", "m.mk")


def test_gaps_in_a_kernel_that_does_not_allow_for_them(folder):
    patients().assign(age=np.nan).to_csv("gaps.csv", index=False)
    Path("k.toml").write_text('[[kernel]]\nkernel = "RBF"\ncolumns = ["age"]')
    done("fit data.csv -t y --config k.toml -C 1 -o other.mk")
    check("predict other.mk gaps.csv", ["Column 'age' is empty in 40 rows", 'missing = "error"'])


def test_newer_model(folder):
    with zipfile.ZipFile("model.mk") as old, zipfile.ZipFile("newer.mk", "w") as new:
        for name in old.namelist():
            body = old.read(name)
            if name.endswith(".json"):
                body = json.dumps(json.loads(body) | {"format": 99}).encode()
            new.writestr(name, body)
    said = refused("predict newer.mk data.csv")
    assert "has format 99" in said and "upgrade manykernels" in said


def test_full_disk(folder, monkeypatch):
    def save(self, path):
        raise OSError(28, "No space left on device", str(path))

    monkeypatch.setattr(MKLClassifier, "save", save)
    assert refused("fit data.csv -t y -C 1 -o other.mk").endswith("other.mk: No space left on device.")
    if Path("/dev/full").exists():
        assert "No space left on device." in refused("predict model.mk data.csv -o /dev/full")


def test_interruption(folder, monkeypatch):
    def interrupted(*arguments, **options):
        raise KeyboardInterrupt

    for method, command in (("fit", "fit data.csv -t y -o new.mk"), ("report", "report model.mk data.csv -o r.html")):
        monkeypatch.setattr(MKLClassifier, method, interrupted)
        before = set(folder.iterdir())
        result = run(command)
        assert result.exit_code == 130 and result.stderr.endswith("manykernels: interrupted.\n")
        assert result.stdout == "" and set(folder.iterdir()) == before


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="named pipes are not of this system")
@pytest.mark.parametrize("seconds", [0, 0.5], ids=["opened", "parsed"])
def test_ctrl_c_while_data_are_read(seconds):
    os.mkfifo("pipe.csv")
    command = [sys.executable, "-m", "manykernels", "fit", "pipe.csv", "-t", "y"]
    heard = dict(preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))  # jobs of a shell may ignore it
    running = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **heard)
    with open("pipe.csv", "w"):  # waits until it is opened
        time.sleep(seconds)  # then the parser waits for its first bytes
        running.send_signal(signal.SIGINT)
        try:
            out, err = running.communicate(timeout=20)
        except subprocess.TimeoutExpired:  # it came just before a read, in C code, which then waits: pressed again
            running.send_signal(signal.SIGINT)
            out, err = running.communicate(timeout=60)
    assert (running.returncode, out, err) == (130, "", "manykernels: interrupted.\n")


@pytest.mark.parametrize("command", ["fit", "learn", "fit x.csv --cee 1", "cv x.csv --folds 1"])
def test_wrong_calls_have_exit_code_2(command):
    result = run(command)
    assert result.exit_code == 2 and result.stdout == "" and result.stderr


def test_traceback_with_debug_only(folder):
    result = run("fit data.csv -t nothing --debug")
    assert result.exit_code == 1 and type(result.exception).__name__ == "Wrong"


def test_without_pandas_the_cure_is_named(folder, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    assert 'pip install "manykernels[cli]"' in refused("fit data.csv -t y")
