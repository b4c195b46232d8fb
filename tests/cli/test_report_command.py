"""`manykernels report`: a page and its numbers beside it, from a model and a table."""

import json
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

import manykernels
from tables import patients, run

QUICK = ("--cv", "3", "--relevance", "fast", "--stability", "2")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("data")
    patients().to_csv(folder / "data.csv", index=False)
    assert run("fit", folder / "data.csv", "-t", "y", "-o", folder / "model.mk").exit_code == 0
    return folder


def test_a_page_is_written_and_its_path_is_the_result(folder, tmp_path):
    result = run("report", folder / "model.mk", folder / "data.csv", "-t", "y", "-o", tmp_path / "r.html", *QUICK)
    assert result.exit_code == 0, result.output
    assert result.stdout.strip() == str(tmp_path / "r.html") and "is written, in" in result.stderr
    page, facts = (tmp_path / "r.html").read_text(), json.loads((tmp_path / "r.json").read_text())
    assert "What predicts y" in page and len(page) < 500_000
    assert facts["score"]["measure"] == "accuracy"
    assert {row["name"] for row in facts["sources"]["rows"]} >= {"age", "dose"}
    assert any(line.startswith("manykernels report") for line in facts["reproduce"]) and "sha256" in "".join(
        facts["reproduce"]
    )


def test_json_and_quiet(folder, tmp_path):
    given = ("report", folder / "model.mk", folder / "data.csv", "-t", "y", "-o", tmp_path / "r.html", *QUICK)
    result = run(*given, "--json", "--quiet", "--examples", "3,5", "--title", "Mine")
    facts = json.loads(result.stdout)
    assert result.stderr == "" and facts["title"] == "Mine" and [r["row"] for r in facts["examples"]["rows"]] == [3, 5]


def test_regression_and_one_class(tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(50, 2)), columns=["a", "b"]).assign(y=lambda f: 2 * f.a + 0.1)
    frame.to_csv(tmp_path / "d.csv", index=False)
    for task, target in (("regression", ("-t", "y")), ("one-class", ())):
        assert run("fit", tmp_path / "d.csv", *target, "--task", task, "-o", tmp_path / f"{task}.mk").exit_code == 0
        given = (tmp_path / f"{task}.mk", tmp_path / "d.csv", *target, "-o", tmp_path / "r.html")
        result = run("report", *given, *QUICK, "--json")
        assert result.exit_code == 0, result.output
        facts = json.loads(result.stdout)
        assert facts["kind"] == task and ("why" in facts["score"]) == (task == "one-class")


def test_data_from_a_pipe(folder, tmp_path):
    text = (folder / "data.csv").read_text()
    result = run("report", folder / "model.mk", "-", "-t", "y", "-o", tmp_path / "r.html", *QUICK, input=text)
    assert result.exit_code == 0 and (tmp_path / "r.html").exists(), result.output


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (("-o", "-"), "give a path, for example -o report.html"),
        (("-o", "no/such/r.html"), "does not exist: make it first"),
        (("-t", "agee"), "--target 'agee' is not a column"),
        (("--examples", "x"), "--examples 'x' is not a list of row numbers"),
        (("--examples", "99"), "examples=[99]: give a number of examples"),
        (("--relevance", "much"), "relevance='much'"),
    ],
)
def test_wrong_uses(folder, tmp_path, monkeypatch, given, said):
    monkeypatch.chdir(tmp_path)
    given = given if "-t" in given else (*given, "-t", "y")
    result = run("report", folder / "model.mk", folder / "data.csv", "--cv", "0", "--stability", "0", *given)
    assert result.exit_code == 1 and result.stdout == "" and said in result.stderr.splitlines()[-1], result.output


def test_a_full_disk_leaves_the_old_page(folder, tmp_path, monkeypatch):
    (tmp_path / "r.html").write_text("old")
    write = type(tmp_path).write_text

    def full(self, *arguments, **options):
        write(self, "half")
        raise OSError(28, "No space left on device", str(self))

    monkeypatch.setattr(type(tmp_path), "write_text", full)
    given = ("--cv", "0", "--stability", "0", "--examples", "1")
    result = run("report", folder / "model.mk", folder / "data.csv", "-t", "y", "-o", tmp_path / "r.html", *given)
    assert result.exit_code == 1 and "No space left on device." in result.stderr
    assert (tmp_path / "r.html").read_text() == "old" and len(list(tmp_path.iterdir())) == 1


def test_interruption_writes_nothing(folder, tmp_path, monkeypatch):
    def interrupted(*arguments, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr(manykernels.MKLClassifier, "report", interrupted)
    result = run("report", folder / "model.mk", folder / "data.csv", "-t", "y", "-o", tmp_path / "r.html")
    assert result.exit_code == 130 and "interrupted" in result.stderr and not list(tmp_path.iterdir())


def test_how_to_repeat_runs_as_it_is_printed(tmp_path, monkeypatch):
    """Issue 11, points 5 and 8: with quotes and spaces, ids and what was asked for; in a process of its own."""
    monkeypatch.chdir(tmp_path)
    frame = patients().rename(columns={"y": "it's so"})
    frame["name"] = frame.name.str.replace(" ", "")
    frame.to_csv("my data.csv", index=False)
    target = ("-t", "it's so", "--id", "name")
    assert run("fit", "my data.csv", *target, "-C", "3", "-o", "a model.mk").exit_code == 0
    given = ("--cv", "2", "--relevance", "fast", "--stability", "0", "--title", "Who's ill", "--max-examples", "36")
    result = run("report", "a model.mk", "my data.csv", *target, *given, "-o", "a page.html", "--json")
    facts = json.loads(result.stdout)
    assert all(row["held_out"] and row["id"].startswith("patient") for row in facts["examples"]["rows"])
    lines = "\n".join(facts["reproduce"]).replace("manykernels ", f"{sys.executable} -m manykernels ")
    done = subprocess.run(["sh", "-e", "-c", lines], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "--id name" in lines and "fit 'my data.csv'" in lines and (tmp_path / "a model-again.mk").exists()
    again = json.loads((tmp_path / "a page-again.json").read_text())
    for key in ("score", "sources", "examples", "title"):
        assert again[key] == facts[key]


def test_columns_that_are_not_used_stand_at_the_top(folder, tmp_path):
    """Issue 11, point 8."""
    given = ("--cv", "0", "--stability", "0", "-o", tmp_path / "r.html")
    assert run("report", folder / "model.mk", folder / "data.csv", *given).exit_code == 0
    head = (tmp_path / "r.html").read_text().partition('<div class="lead">')[2].partition("</div>")[0]
    assert "Not used by the model:" in head and ">name<" in head
