"""Ids of the fit come back, and paths and columns that cannot be meant have one right sentence."""

import json

import numpy as np
import pandas as pd
import pytest

from manykernels import MKLClassifier
from manykernels.kernels import RBF
from tables import run

N = 40
rng = np.random.default_rng(0)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    frame = pd.DataFrame({"who": [f"P{k:02}" for k in range(N)], "x": rng.normal(size=N), "z": rng.normal(size=N)})
    frame.assign(y=np.where(np.arange(N) % 2, "b", "a")).to_csv("d.csv", index=False)
    return tmp_path


def test_ids_of_the_fit_are_kept(folder):
    """Issue 18, point 10: `predict -o` lost them, and so did the commands that repeat a report."""
    assert run("fit", "d.csv", "-t", "y", "--id", "who", "-C", "1", "-o", "m.mk").exit_code == 0
    assert run("predict", "m.mk", "d.csv", "-o", "p.csv").exit_code == 0
    assert pd.read_csv("p.csv")["who"].tolist() == [f"P{k:02}" for k in range(N)]
    pd.read_csv("d.csv").drop(columns="who").to_csv("other.csv", index=False)
    assert run("predict", "m.mk", "other.csv").stdout.startswith("prediction,")
    options = "--cv", "0", "--relevance", "fast", "--stability", "0"
    assert run("report", "m.mk", "d.csv", "-o", "r.html", *options).exit_code == 0
    lines = json.loads((folder / "r.json").read_text())["reproduce"]
    assert ["--id who" in line for line in lines if line.startswith("manykernels ")] == [True, True]


@pytest.mark.parametrize("arguments, said", [
    (["fit", "", "-t", "y"], "The path of the data is empty: give a file"),
    (["fit", "d.csv", "-t", "y", "--adjust", "y"], "--adjust 'y' is not a column of the data besides the target: give"),
    (["fit", "d.csv", "-t", "y", "--adjust", "x,y"], "--adjust 'y' is not a column of the data besides the target: gi"),
])  # fmt: skip
def test_what_cannot_be_meant_has_one_right_sentence(folder, arguments, said):
    """Issue 18, point 10: the empty path was the current folder, all of whose tables were joined."""
    result = run(*arguments, "-o", "m.mk")
    assert result.exit_code == 1 and said in result.stderr.splitlines()[-1]


@pytest.mark.parametrize("kernels", ["auto", [RBF()], [("x", RBF(), [0], "zero")]], ids=["auto", "list", "zero"])
@pytest.mark.parametrize("form", ["frame", "array", "lists"])
def test_whole_numbers_beyond_floats_are_infinite(kernels, form):
    """Issue 18, point 10."""
    frame = pd.DataFrame({"x": pd.Series([10**400, *range(1, N)], dtype=object), "z": rng.normal(size=N)})
    X = frame if form == "frame" else frame.to_numpy(object) if form == "array" else frame.to_numpy(object).tolist()
    with pytest.raises(ValueError, match="X contains infinity in column ('x'|0);.*Numbers beyond 1.8e308 are infinite"):
        MKLClassifier(kernels, C=1.0).fit(X, np.arange(N) % 2)
