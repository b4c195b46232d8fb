"""Ids and classes stay what the file says: texts, zeros before numbers included."""

import io
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from tables import done, refused

N = 40
rng = np.random.default_rng(0)
KINDS = np.where(np.arange(N) % 2, "02", "01")
ODD = {0: "NA", 1: "1e5", 2: "1.10", 3: "nan"}  # ids that pandas would read as something else
IDS = [ODD.get(k, f"{k:03}") for k in range(N)]


@pytest.fixture
def folder(tmp_path, cwd):
    frame = pd.DataFrame({"id": IDS, "x": rng.normal(size=N) + 2 * (KINDS == "02"), "y": KINDS})
    frame.to_csv("d.csv", index=False)
    frame.to_csv("d.txt", index=False, sep=" ")  # a separator that is detected
    frame.drop(columns="y").to_csv("x.csv", index=False)
    frame[["id", "y"]].to_csv("y.csv", index=False)
    return tmp_path


def predictions(data):
    """The predictions as texts."""
    result = done(f"predict m.mk {data}")
    return pd.read_csv(io.StringIO(result.stdout), dtype=str, keep_default_na=False)


@pytest.mark.parametrize("data", ["d.csv", "d.txt"])
def test_ids_and_classes_come_back_as_they_are_written(folder, data):
    done(f"fit {data} -t y --id id -C 1 -o m.mk")
    for given in ("", "--id id"):  # the model knows the column of ids
        found = predictions(f"{data} {given}")
        assert found["id"].tolist() == IDS
        assert set(found["prediction"]) == {"01", "02"}
    done(f"score m.mk {data}")


def test_labels_are_matched_by_the_written_ids(folder):
    result = done("fit x.csv --id id --labels y.csv -C 1 -o m.mk")
    assert "no label" not in result.stderr
    assert set(predictions("x.csv")["prediction"]) == {"01", "02"}
    done("score m.mk x.csv --id id --labels y.csv")
    labels = pd.read_csv("y.csv", dtype=str, keep_default_na=False)
    labels["id"] = [id.lstrip("0") for id in labels["id"]]  # 7 is another id than 007
    labels.to_csv("y.csv", index=False)
    result = done("fit x.csv --id id --labels y.csv -C 1 -o m.mk")
    assert f"{N - len(ODD)} of {N} examples have no label there ('004', ...)" in result.output


def test_numbers_that_are_the_ids_of_an_archive_find_their_labels():
    np.savez("d.npz", id=np.arange(N), x=rng.normal(size=N))
    pd.DataFrame({"id": np.arange(N), "y": KINDS}).to_csv("y.csv", index=False)
    assert "no label" not in done("fit d.npz --id id --labels y.csv -C 1 -o m.mk").stderr


def test_tables_of_a_folder_are_matched_by_the_written_ids(folder):
    Path("study").mkdir()
    for name in ("x.csv", "y.csv"):
        (folder / name).rename(folder / "study" / name)
    done("fit study -t y -C 1 -o m.mk")
    found = predictions("study")
    assert found["id"].tolist() == IDS and set(found["prediction"]) == {"01", "02"}


@pytest.mark.parametrize("lost", [[3], [3, 7]])
def test_an_id_that_is_empty_is_said_with_its_row(folder, lost):
    labels = pd.read_csv("y.csv", dtype=str, keep_default_na=False)
    labels.loc[lost, "id"] = ""
    labels.to_csv("y.csv", index=False)
    said = refused("fit x.csv --id id --labels y.csv -o m.mk")
    assert "y.csv has no id in column 'id' of row 4: add it, or remove the row." in said


def test_numbers_with_zeros_before_them_are_classes_unless_the_task_is_a_regression(folder):
    frame = pd.DataFrame({"x": np.arange(N) % 9, "y": [f"{k:03}" for k in range(N)]})
    frame.to_csv("n.csv", index=False)
    done("fit n.csv -t y --task regression -C 1 -o m.mk")
    done("score m.mk n.csv")
    frame.loc[5, "y"] = "many"
    frame.to_csv("n.csv", index=False)
    said = refused("fit n.csv -t y --task regression -o m.mk")
    assert "--target 'y' has 'many', which is not a number: give --task classification." in said


def test_classes_in_headers_keep_their_zeros(folder):
    letters = rng.choice(list("ACGT"), (N, 20))
    lines = [f">s{k} kind={KINDS[k]}\n{'GATTACA' * (k % 2)}{''.join(letters[k])}\n" for k in range(N)]
    Path("d.fa").write_text("".join(lines))
    done("fit d.fa -t kind -C 1 -o m.mk")
    assert set(predictions("d.fa")["prediction"]) == {"01", "02"}


@pytest.mark.parametrize("names, said", [(["1", "2", "3"], "3.0, which is not among 1, 2"), (["a", "b", "c"], "'c'")])
def test_a_class_that_fit_never_saw_is_refused(folder, names, said):
    frame = pd.DataFrame({"x": np.arange(N) % 2, "y": np.where(np.arange(N) % 2, *names[:2])})
    frame.to_csv("d.csv", index=False)
    done("fit d.csv -t y -C 1 -o m.mk")
    frame.loc[3, "y"] = names[2]
    frame.to_csv("new.csv", index=False)
    assert f"--target 'y' has {said}" in refused("score m.mk new.csv")


def test_sequences_with_the_same_id_cannot_have_labels(folder):
    Path("d.fa").write_text(">s1\nGATTACA\n>s2\nGATTACC\n>s1\nGATTACG\n")
    Path("y.csv").write_text("id,y\ns1,a\ns2,b\n")
    said = refused("fit d.fa --labels y.csv -o m.mk")
    assert "d.fa: several headers have the same id, which --labels matches: make the ids differ." in said
