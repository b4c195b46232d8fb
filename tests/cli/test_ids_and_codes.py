"""Ids and classes stay what the file says: texts, zeros before numbers included."""

import io

import numpy as np
import pandas as pd
import pytest

from tables import run

N = 40
rng = np.random.default_rng(0)
KINDS = np.where(np.arange(N) % 2, "02", "01")
ODD = {0: "NA", 1: "1e5", 2: "1.10", 3: "nan"}  # ids that pandas would read as something else
IDS = [ODD.get(k, f"{k:03}") for k in range(N)]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    frame = pd.DataFrame({"id": IDS, "x": rng.normal(size=N) + 2 * (KINDS == "02"), "y": KINDS})
    frame.to_csv("d.csv", index=False)
    frame.to_csv("d.txt", index=False, sep=" ")  # a separator that is detected
    frame.drop(columns="y").to_csv("x.csv", index=False)
    frame[["id", "y"]].to_csv("y.csv", index=False)
    return tmp_path


def predictions(*arguments):
    """The predictions of a command as texts."""
    result = run("predict", *arguments)
    assert result.exit_code == 0, result.output
    return pd.read_csv(io.StringIO(result.stdout), dtype=str, keep_default_na=False)


@pytest.mark.parametrize("data", ["d.csv", "d.txt"])
def test_ids_and_classes_come_back_as_they_are_written(folder, data):
    assert run("fit", data, "-t", "y", "--id", "id", "-C", "1", "-o", "m.mk").exit_code == 0
    for given in (["m.mk", data], ["m.mk", data, "--id", "id"]):  # the model knows the column of ids
        found = predictions(*given)
        assert found["id"].tolist() == IDS
        assert set(found["prediction"]) == {"01", "02"}
    assert run("score", "m.mk", data).exit_code == 0


def test_labels_are_matched_by_the_written_ids(folder):
    result = run("fit", "x.csv", "--id", "id", "--labels", "y.csv", "-C", "1", "-o", "m.mk")
    assert result.exit_code == 0 and "no label" not in result.stderr, result.output
    assert set(predictions("m.mk", "x.csv")["prediction"]) == {"01", "02"}
    assert run("score", "m.mk", "x.csv", "--id", "id", "--labels", "y.csv").exit_code == 0
    labels = pd.read_csv("y.csv", dtype=str, keep_default_na=False)
    labels["id"] = [id.lstrip("0") for id in labels["id"]]  # 7 is another id than 007
    labels.to_csv("y.csv", index=False)
    result = run("fit", "x.csv", "--id", "id", "--labels", "y.csv", "-C", "1", "-o", "m.mk")
    assert f"{N - len(ODD)} of {N} examples have no label there ('004', ...)" in result.output


def test_tables_of_a_folder_are_matched_by_the_written_ids(folder):
    (folder / "study").mkdir()
    for name in ("x.csv", "y.csv"):
        (folder / name).rename(folder / "study" / name)
    assert run("fit", "study", "-t", "y", "-C", "1", "-o", "m.mk").exit_code == 0
    found = predictions("m.mk", "study")
    assert found["id"].tolist() == IDS and set(found["prediction"]) == {"01", "02"}


@pytest.mark.parametrize("lost", [[3], [3, 7]])
def test_an_id_that_is_empty_is_said_with_its_row(folder, lost):
    labels = pd.read_csv("y.csv", dtype=str, keep_default_na=False)
    labels.loc[lost, "id"] = ""
    labels.to_csv("y.csv", index=False)
    result = run("fit", "x.csv", "--id", "id", "--labels", "y.csv", "-o", "m.mk")
    assert result.exit_code == 1
    assert "y.csv has no id in column 'id' of row 4: add it, or remove the row." in result.output


def test_numbers_with_zeros_before_them_are_classes_unless_the_task_is_a_regression(folder):
    frame = pd.DataFrame({"x": np.arange(N) % 9, "y": [f"{k:03}" for k in range(N)]})
    frame.to_csv("n.csv", index=False)
    assert run("fit", "n.csv", "-t", "y", "--task", "regression", "-C", "1", "-o", "m.mk").exit_code == 0
    assert run("score", "m.mk", "n.csv").exit_code == 0
    frame.loc[5, "y"] = "many"
    frame.to_csv("n.csv", index=False)
    result = run("fit", "n.csv", "-t", "y", "--task", "regression", "-o", "m.mk")
    assert "--target 'y' has 'many', which is not a number: give --task classification." in result.output


def test_classes_in_headers_keep_their_zeros(folder):
    letters = rng.choice(list("ACGT"), (N, 20))
    lines = [f">s{k} kind={KINDS[k]}\n{'GATTACA' * (k % 2)}{''.join(letters[k])}\n" for k in range(N)]
    (folder / "d.fa").write_text("".join(lines))
    assert run("fit", "d.fa", "-t", "kind", "-C", "1", "-o", "m.mk").exit_code == 0
    assert set(predictions("m.mk", "d.fa")["prediction"]) == {"01", "02"}


@pytest.mark.parametrize("names, said", [(["1", "2", "3"], "3.0, which is not among 1, 2"), (["a", "b", "c"], "'c'")])
def test_a_class_that_fit_never_saw_is_refused(folder, names, said):
    frame = pd.DataFrame({"x": np.arange(N) % 2, "y": np.where(np.arange(N) % 2, *names[:2])})
    frame.to_csv("d.csv", index=False)
    assert run("fit", "d.csv", "-t", "y", "-C", "1", "-o", "m.mk").exit_code == 0
    frame.loc[3, "y"] = names[2]
    frame.to_csv("new.csv", index=False)
    result = run("score", "m.mk", "new.csv")
    assert result.exit_code == 1 and f"--target 'y' has {said}" in result.output


def test_sequences_with_the_same_id_cannot_have_labels(folder):
    (folder / "d.fa").write_text(">s1\nGATTACA\n>s2\nGATTACC\n>s1\nGATTACG\n")
    (folder / "y.csv").write_text("id,y\ns1,a\ns2,b\n")
    result = run("fit", "d.fa", "--labels", "y.csv", "-o", "m.mk")
    assert result.exit_code == 1
    assert "d.fa: several headers have the same id, which --labels matches: make the ids differ." in result.output
