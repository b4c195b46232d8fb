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
