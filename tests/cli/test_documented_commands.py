"""The commands in the README and in docs/command-line.md work as they stand, one after the other."""

import re
import shlex
import tomllib
from pathlib import Path

import pytest
from sklearn.datasets import load_wine

from tables import patients, run

ROOT = Path(__file__).parents[2]


def commands(text):
    return [shlex.split(line)[1:] for line in re.findall(r"^    (manykernels [a-z].*)$", text, re.MULTILINE)]


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_commands_of_the_readme(here):
    wine = load_wine(as_frame=True).frame.sample(frac=1, random_state=0)
    wine[:120].to_csv("wine.csv", index=False)
    wine[120:].to_csv("new.csv", index=False)
    section = (ROOT / "README.md").read_text().split("## Three commands")[1].split("\n## ")[0]
    found = [run(*command) for command in commands(section)]
    assert len(found) == 3 and all(result.exit_code == 0 for result in found)
    shown = next(line.strip() for line in section.splitlines() if "kernels chosen" in line)
    assert shown in found[0].stderr and "flavanoids" in found[0].stdout
    assert len(Path("predictions.csv").read_text().splitlines()) == 59


def test_commands_of_the_page(here):
    patients().to_csv("data.csv", index=False)
    patients(10, 1).to_csv("new.csv", index=False)
    page = (ROOT / "docs" / "command-line.md").read_text()
    for command in commands(page):
        result = run(*command)
        assert result.exit_code == 0, result.output
    config = re.search(r"```toml\n(.*?)```", page, re.DOTALL)[1]
    assert len(tomllib.loads(config)["kernel"]) == 2
    Path("k.toml").write_text(config)
    result = run("fit", "data.csv", "--config", "k.toml")
    assert result.exit_code == 0 and "Categorical 2" in result.stdout, result.output


def few_wines(rows=60):
    frame = load_wine(as_frame=True).frame.sample(rows, random_state=0)
    frame["cultivar"] = frame["target"].map({0: "barolo", 1: "grignolino", 2: "barbera"})
    return frame.drop(columns="target")


def test_from_a_table_to_a_report_as_on_its_page(here):
    page = (ROOT / "docs" / "report.md").read_text()
    few_wines().to_csv("wine.csv", index=False)
    lines = commands(page)
    assert [line[0] for line in lines] == ["fit", "report"]
    for command in lines:
        quick = ("--cv", "2", "--relevance", "fast", "--stability", "1") if command[0] == "report" else ()
        result = run(*command, *quick)
        assert result.exit_code == 0, result.output
    assert Path("report.html").read_text().startswith("<!doctype html>") and Path("report.json").exists()
    code = re.search(r"```python\n(.*?)```", page, re.DOTALL)[1]
    assert len([line for line in code.splitlines() if line.strip()]) <= 10
    exec(code, {})


def test_report_of_the_readme(here):
    wine = load_wine(as_frame=True).frame.sample(60, random_state=0)
    wine.to_csv("wine.csv", index=False)
    assert run("fit", "wine.csv", "--target", "target", "-o", "model.mk").exit_code == 0
    section = (ROOT / "README.md").read_text().split("## Report")[1].split("\n## ")[0]
    for command in commands(section):
        assert run(*command, "--cv", "2", "--relevance", "fast", "--stability", "0").exit_code == 0
    assert Path("report.html").exists()
