"""No command writes over what it reads, and what it writes over is said; names of columns differ."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from tables import done, patients, refused, run


@pytest.fixture
def files(folder, tmp_path):
    """Data, a model, labels and a configuration, each once more under another name."""
    Path("labels.csv").write_text("name,y\n" + "".join(f"patient {i},{'ab'[i % 2]}\n" for i in range(40)))
    Path("k.toml").write_text('[[kernel]]\nkernel = "RBF"\ncolumns = ["age"]\n')
    Path("soft").symlink_to("data.csv")
    os.link("data.csv", "hard")
    Path("study").mkdir()
    patients().to_csv("study/one.csv", index=False)
    return tmp_path


@pytest.mark.parametrize(
    "command",
    [
        "fit data.csv -t y -o data.csv",
        "fit data.csv -t y -o study/../data.csv",
        "fit data.csv -t y -o soft",
        "fit data.csv -t y -o hard",
        "fit soft -t y -o data.csv",
        "fit study -t y --id name -o study/one.csv",
        "fit data.csv -t y --config k.toml -o k.toml",
        "fit data.csv -t y --id name --labels labels.csv -o labels.csv",
        "predict model.mk data.csv -o data.csv",
        "predict model.mk data.csv -o model.mk",
        "report model.mk data.csv -o model.mk",
        "report model.mk data.csv -o data.csv",
        "init data.csv -t y --force -o data.csv",
    ],
)
def test_no_command_writes_over_what_it_reads(files, command):
    before = {path: path.read_bytes() for path in files.rglob("*") if path.is_file()}
    assert f"-o {command.split()[-1]} would overwrite" in refused(command)
    assert {path: path.read_bytes() for path in files.rglob("*") if path.is_file()} == before


def test_another_file_that_is_written_over_is_named(files):
    for command in (
        "fit data.csv -t y -C 1 -o other.mk",
        "predict model.mk data.csv -o p.csv",
        "init data.csv -t y -o new.toml --force",
        "report model.mk data.csv -o r.html --cv 0 --relevance fast --stability 0",
    ):
        first, again = done(command), done(command)
        assert "replacing an older file" not in first.stderr and "replacing an older file" in again.stderr


@pytest.mark.parametrize("end", ["csv", "tsv", "txt", "parquet", "stdin", "npz"])
def test_two_columns_of_one_name_are_refused(end):
    """Pandas calls the second y of a header y.1, and the target would be learned from."""
    path, text = Path(f"d.{end}"), "x,y,y\n" + "1,a,a\n2,b,b\n" * 10
    if end == "parquet":
        pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed: nothing writes such a file")
        import pyarrow.parquet

        pyarrow.parquet.write_table(pa.table([[1, 2], [1, 2], [1, 2]], names=["x", "y", "y"]), path)
    elif end == "npz":
        np.savez(path, **{"y": np.ones((4, 2)), "y.0": np.ones(4)})
    else:
        path.write_text(text if end != "tsv" else text.replace(",", "\t"))
    given = ("-",) if end == "stdin" else (path,)
    result = run("fit", *given, "-t", "y", "-o", "m.mk", input=text if end == "stdin" else None)
    name = "y.0" if end == "npz" else "y"
    assert result.exit_code == 1 and f"several columns called {name!r}: rename" in result.stderr, result.output


def test_names_with_numbers_behind_a_point_are_no_repetition():
    frame = patients().rename(columns={"age": "x", "dose": "x.1"})
    frame.to_csv("d.csv", index=False)
    done("fit d.csv -t y -C 1 -o m.mk")


@pytest.mark.parametrize("few", [True, False])
def test_whole_numbers_beyond_64_bits_are_numbers(few):
    frame = patients(80).drop(columns="dose")
    frame["mass"] = [str(10**25 + 10**20 * (i % 5 if few else i)) for i in range(80)]
    frame.to_csv("d.csv", index=False)
    result = done("fit d.csv -t y -o m.mk")
    assert "an RBF on each of 2 columns of numbers" in result.stderr
    done("predict m.mk d.csv")


@pytest.mark.skipif(sys.platform == "win32", reason="there signals are others")
def test_ctrl_c_while_it_imports(tmp_path):
    Path("typer.py").write_text("print('here', flush=True)\nimport time\ntime.sleep(60)\n")  # a slow import
    more = dict(preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))  # jobs of a shell may ignore it
    env = os.environ | {"PYTHONPATH": os.pathsep.join([str(tmp_path), *filter(None, sys.path)])}
    command = [sys.executable, "-m", "manykernels", "kernels"]
    pipes = dict(stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    running = subprocess.Popen(command, env=env, **pipes, **more)
    assert running.stdout.readline() == "here\n"
    running.send_signal(signal.SIGINT)
    _, err = running.communicate(timeout=60)
    assert (running.returncode, err) == (130, "manykernels: interrupted.\n")


def test_ten_thousand_columns_take_seconds():
    """49 to 75 s before, some 3 s now; processor time, which other programs leave alone."""
    frame = pd.DataFrame(np.random.default_rng(0).normal(size=(30, 10_000))).add_prefix("g").assign(y=np.arange(30) % 2)
    frame.to_csv("d.csv", index=False)
    begin = time.process_time()
    result = done("fit d.csv -t y -o m.mk")
    assert "on all 10000 columns of numbers" in result.stderr
    done("predict m.mk d.csv")
    assert time.process_time() - begin < 20


def test_names_of_columns_that_differ_by_spaces_are_refused():
    """In "y, u, y" the second target has the name " y"."""
    Path("d.csv").write_text("y, u, y\n" + "0,1.5,0\n1,2.5,1\n" * 10)
    assert "several columns called 'y'" in refused("fit d.csv -t y -o m.mk")
