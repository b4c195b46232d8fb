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
from tables import patients, run


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("data")
    patients().to_csv(folder / "data.csv", index=False)
    assert run("fit", folder / "data.csv", "-t", "y", "-o", folder / "model.mk").exit_code == 0
    return folder


def says(result, *texts, code=1):
    assert result.exit_code == code, result.output
    last = result.stderr.strip().splitlines()[-1]
    assert result.stdout == "" and "Traceback" not in result.stderr and last.startswith("manykernels: "), result.output
    for text in texts:
        assert text in last


def fit(folder, *arguments, data="data.csv"):
    return run("fit", folder / data, "-o", folder / "other.mk", *arguments)


def configured(folder, text):
    (folder / "k.toml").write_text(text)
    return fit(folder, "-t", "y", "--config", folder / "k.toml")


def test_missing_file(folder):
    says(fit(folder, "-t", "y", data="none.csv"), "none.csv does not exist")


def test_missing_target_column_names_the_nearest(folder):
    says(fit(folder, "-t", "agee"), "--target 'agee' is not a column", "'age'")


def test_no_target(folder):
    says(fit(folder), "--target is missing", "'age'", "--task one-class")


def test_unknown_task(folder):
    says(fit(folder, "-t", "y", "--task", "guess"), "--task 'guess' is unknown", "regression")


def test_numbers_asked_of_a_text_target(folder):
    says(fit(folder, "-t", "y", "--task", "regression"), "'y' has 'ill', which is not", "--task classification")


def test_one_class_only(folder):
    frame = patients()
    frame[frame.y == "ill"].to_csv(folder / "ill.csv", index=False)
    says(fit(folder, "-t", "y", data="ill.csv"), "only one class, 'ill'")


def test_unreadable_files(folder):
    (folder / "bytes.parquet").write_bytes(b"\x00\xffnothing")
    reader = find_spec("polars") or find_spec("pyarrow")
    wrong = "bytes.parquet cannot be read as parquet" if reader else "Reading Parquet needs polars or pyarrow"
    says(fit(folder, "-t", "y", data="bytes.parquet"), wrong)
    (folder / "bytes.npz").write_bytes(b"nothing")
    says(fit(folder, "-t", "y", data="bytes.npz"), "bytes.npz cannot be read as npz")
    (folder / "empty.csv").write_text("")
    says(fit(folder, "-t", "y", data="empty.csv"), "empty.csv cannot be read as csv")
    (folder / "head.csv").write_text("a,y\n")
    says(fit(folder, "-t", "y", data="head.csv"), "has no rows")


def test_unknown_kind_of_file(folder):
    (folder / "data.xlsx").write_text("")
    says(fit(folder, "-t", "y", data="data.xlsx"), "data.xlsx has an unknown file type", ".parquet")


def test_unknown_kernel(folder):
    says(configured(folder, '[[kernel]]\nkernel = "RFB"\ncolumns = ["age"]'), "'RFB' is unknown", "'RBF'?")


def test_unknown_parameter_of_a_kernel(folder):
    text = '[[kernel]]\nkernel = "RBF"\ngama = 1\ncolumns = ["age"]'
    says(configured(folder, text), "the key 'gama' is unknown", "'gamma'?")


def test_typing_error_in_toml_names_the_line(folder):
    says(configured(folder, "C = 1\np == 2\n"), "k.toml is not valid TOML", "line 2")


def test_unknown_setting_and_wrong_type(folder):
    says(configured(folder, 'targt = "y"\n'), "the setting 'targt' is unknown", "'target'?")
    says(configured(folder, 'C = "much"\n'), "C = 'much' should be a number")


def test_unknown_column_of_a_kernel(folder):
    says(configured(folder, '[[kernel]]\nkernel = "RBF"\ncolumns = ["aeg"]'), "column 'aeg' is not a column", "'age'")


def test_text_in_a_numeric_column(folder):
    frame = patients().astype({"age": object})
    frame.loc[7, "age"] = "unknown"
    frame.to_csv(folder / "text.csv", index=False)
    (folder / "k.toml").write_text('[[kernel]]\nkernel = "RBF"\ncolumns = ["age"]')
    result = fit(folder, "-t", "y", "--config", folder / "k.toml", data="text.csv")
    says(result, "column 'age' has 'unknown'", "Categorical")
    says(run("predict", folder / "model.mk", folder / "text.csv"), "'age' has 'unknown' in row 8")


def test_gaps_in_a_kernel_that_does_not_allow_for_them(folder):
    says(
        configured(folder, '[[kernel]]\nkernel = "RBF"\ncolumns = ["dose"]'),
        "'dose' is empty in 2 rows",
        'missing = "zero"',
    )
    frame = patients()
    frame.loc[:3, "age"] = np.nan
    frame.to_csv(folder / "gaps.csv", index=False)
    own = configured(folder, '[[kernel]]\nkernel = "RBF"\ncolumns = ["age"]')
    assert own.exit_code == 0, own.output
    result = run("predict", folder / "other.mk", folder / "gaps.csv")
    says(result, "Column 'age' is empty in 4 rows", 'missing = "error"')


def test_missing_columns_at_prediction(folder):
    patients().drop(columns=["age", "sex"]).to_csv(folder / "less.csv", index=False)
    says(run("predict", folder / "model.mk", folder / "less.csv"), "lack the columns 'age', 'sex'")


def test_newer_model(folder):
    with zipfile.ZipFile(folder / "model.mk") as old, zipfile.ZipFile(folder / "newer.mk", "w") as new:
        for name in old.namelist():
            body = old.read(name)
            if name.endswith(".json"):
                body = json.dumps(json.loads(body) | {"format": 99}).encode()
            new.writestr(name, body)
    says(run("predict", folder / "newer.mk", folder / "data.csv"), "has format 99", "upgrade manykernels")


def test_damaged_model(folder):
    (folder / "half.mk").write_bytes((folder / "model.mk").read_bytes()[:500])
    says(run("inspect", folder / "half.mk"), "half.mk is damaged or not a whole manykernels model")


def test_class_that_the_model_does_not_know(folder):
    patients().assign(y="dead").to_csv(folder / "dead.csv", index=False)
    says(run("score", folder / "model.mk", folder / "dead.csv", "-t", "y"), "'dead'", "not among ill, well")


def test_folder_for_the_model_is_missing_and_is_said_before_the_fit(folder, monkeypatch):
    monkeypatch.setattr(MKLClassifier, "fit", None)
    result = run("fit", folder / "data.csv", "-t", "y", "-o", folder / "no" / "model.mk")
    says(result, "does not exist: make it first")


def test_full_disk(folder, monkeypatch):
    def save(self, path):
        raise OSError(28, "No space left on device", str(path))

    monkeypatch.setattr(MKLClassifier, "save", save)
    says(fit(folder, "-t", "y"), "other.mk: No space left on device.")
    if Path("/dev/full").exists():
        says(run("predict", folder / "model.mk", folder / "data.csv", "-o", "/dev/full"), "No space left on device.")


def test_interruption(folder, monkeypatch):
    def interrupted(self, X, y):
        raise KeyboardInterrupt

    monkeypatch.setattr(MKLClassifier, "fit", interrupted)
    says(fit(folder, "-t", "y"), "interrupted", code=130)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="named pipes are not of this system")
@pytest.mark.parametrize("seconds", [0, 0.5], ids=["opened", "parsed"])
def test_ctrl_c_while_data_are_read(folder, seconds):
    pipe = folder / f"pipe{seconds}.csv"
    os.mkfifo(pipe)
    command = [sys.executable, "-m", "manykernels", "fit", str(pipe), "-t", "y", "-o", str(folder / "other.mk")]
    heard = dict(preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))  # jobs of a shell may ignore it
    running = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **heard)
    with open(pipe, "w"):  # waits until it is opened
        time.sleep(seconds)  # then the parser waits for its first bytes
        running.send_signal(signal.SIGINT)
        try:
            out, err = running.communicate(timeout=20)
        except subprocess.TimeoutExpired:  # it came just before a read, in C code, which then waits: pressed again
            running.send_signal(signal.SIGINT)
            out, err = running.communicate(timeout=60)
    assert (running.returncode, out, err) == (130, "", "manykernels: interrupted.\n")


def test_ids_that_do_not_match(folder):
    study = folder / "study"
    study.mkdir()
    (study / "a.csv").write_text("id,y\np1,0\np2,1\n")
    (study / "b.csv").write_text("id,x,z\nP1,0,1\nP2,1,1\n")
    says(run("fit", study, "-t", "y", "-o", folder / "other.mk"), "no id is in all of a, b", "'p1'", "'P1'")


def test_id_that_stands_twice(folder):
    says(fit(folder, "-t", "y", "--id", "sex"), "several rows have the id 'f' in column 'sex'")


def test_arrays_of_different_lengths(folder):
    (folder / "npz").mkdir()
    np.savez(folder / "npz" / "d.npz", x=np.ones(3), y=np.ones(4))
    says(run("fit", folder / "npz" / "d.npz", "-t", "y", "-o", folder / "other.mk"), "different numbers of examples")


def test_name_of_a_column_with_an_equals_sign(folder):
    patients().rename(columns={"age": "age=years"}).to_csv(folder / "equals.csv", index=False)
    says(fit(folder, "-t", "y", data="equals.csv"), "Column 'age=years' has = in its name", "rename it")


def test_candidates_that_are_no_numbers(folder):
    says(run("cv", folder / "data.csv", "-t", "y", "-C", "1;2"), "-C '1;2' is not a list of numbers")


def test_setting_of_another_task(folder):
    says(fit(folder, "-t", "y", "--nu", "0.2"), "nu is a setting of --task one-class")


def test_values_that_the_estimator_refuses(folder):
    says(fit(folder, "-t", "y", "-C", "-1"), "C=-1")
    says(fit(folder, "-t", "y", "-C", "one"), "-C 'one' is not a number: give -C 10, for example, or -C auto")
    says(fit(folder, "-t", "y", "-p", "0.5"), "0.5")


def test_init_does_not_write_over_a_file(folder):
    says(run("init", folder / "data.csv", "-t", "y", "-o", folder / "model.mk"), "model.mk exists", "--force")


@pytest.mark.parametrize(
    "arguments", [("fit",), ("learn",), ("fit", "x.csv", "--cee", "1"), ("cv", "x.csv", "--folds", "1")]
)
def test_wrong_calls_have_exit_code_2(arguments):
    result = run(*arguments)
    assert result.exit_code == 2 and result.stdout == "" and result.stderr


def test_traceback_with_debug_only(folder):
    result = fit(folder, "-t", "nothing", "--debug")
    assert result.exit_code == 1 and type(result.exception).__name__ == "Wrong"


def test_without_pandas_the_cure_is_named(folder, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "pandas", None)
    says(fit(folder, "-t", "y"), 'pip install "manykernels[cli]"')
