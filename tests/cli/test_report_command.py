"""`manykernels report`: a page and its numbers beside it, from a model and a table."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from tables import done, json_of, patients, refused

REPORT = "report model.mk data.csv -t y -o r.html"
QUICK = "--cv 3 --relevance fast --stability 2"


def test_a_page_is_written_and_its_path_is_the_result(folder, tmp_path):
    result = done(f"{REPORT} {QUICK}")
    assert result.stdout.strip() == str(tmp_path / "r.html") and "is written, in" in result.stderr
    page, found = Path("r.html").read_text(), json.loads(Path("r.json").read_text())
    assert "What predicts y" in page and len(page) < 500_000
    assert found["score"]["measure"] == "accuracy"
    assert {row["name"] for row in found["sources"]["rows"]} >= {"age", "dose"}
    lines = found["reproduce"]
    assert any(line.startswith("manykernels report") for line in lines) and "sha256" in "".join(lines)


def test_json_and_quiet(folder):
    result = done(f"{REPORT} {QUICK} --json --quiet --examples 3,5 --title Mine")
    found = json.loads(result.stdout)
    assert result.stderr == "" and found["title"] == "Mine" and [r["row"] for r in found["examples"]["rows"]] == [3, 5]


@pytest.mark.parametrize("task, target", [("regression", "-t y"), ("one-class", "")])
def test_regression_and_one_class(task, target):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(50, 2)), columns=["a", "b"]).assign(y=lambda f: 2 * f.a + 0.1)
    frame.to_csv("data.csv", index=False)
    done(f"fit data.csv {target} --task {task} -o model.mk")
    found = json_of(f"report model.mk data.csv {target} -o r.html {QUICK}")
    assert found["kind"] == task and ("why" in found["score"]) == (task == "one-class")


def test_data_from_a_pipe(folder):
    done(f"report model.mk - -t y -o r.html {QUICK}", input=Path("data.csv").read_text())
    assert Path("r.html").exists()


def test_a_full_disk_leaves_the_old_page(folder, tmp_path, monkeypatch):
    Path("r.html").write_text("old")

    def full(_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    before = set(tmp_path.iterdir())
    assert "No space left on device." in refused(f"{REPORT} --cv 0 --stability 0 --examples 1")
    assert Path("r.html").read_text() == "old" and set(tmp_path.iterdir()) == before


def test_how_to_repeat_runs_as_it_is_printed():
    """With quotes and spaces, ids and what was asked for; in a process of its own."""
    frame = patients().rename(columns={"y": "it's so"})
    frame["name"] = frame.name.str.replace(" ", "")
    frame.to_csv("my data.csv", index=False)
    target = ("-t", "it's so", "--id", "name")
    done("fit", "my data.csv", *target, "-C", "3", "-o", "a model.mk")
    given = ("--cv", "2", "--relevance", "fast", "--stability", "0", "--title", "Who's ill", "--max-examples", "36")
    facts = json_of("report", "a model.mk", "my data.csv", *target, *given, "-o", "a page.html")
    assert all(row["held_out"] and row["id"].startswith("patient") for row in facts["examples"]["rows"])
    lines = "\n".join(facts["reproduce"]).replace("manykernels ", f"{sys.executable} -m manykernels ")
    again = subprocess.run(["sh", "-e", "-c", lines], capture_output=True, text=True)
    assert again.returncode == 0, again.stderr
    assert "--id name" in lines and "fit 'my data.csv'" in lines and Path("a model-again.mk").exists()
    again = json.loads(Path("a page-again.json").read_text())
    for key in ("score", "sources", "examples", "title"):
        assert again[key] == facts[key]
