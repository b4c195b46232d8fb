"""Tables as the commands read them: columns of models, categories, ids, folders and archives, value by value."""

import gzip
import tomllib
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from manykernels import MKLClassifier
from manykernels.cli import gkm_use
from manykernels.cli._columns import as_numbers, encode, guess_task
from manykernels.cli._config import build, kinds_of, write_config
from manykernels.cli._data import read_data
from manykernels.cli._models import read_target, split_target, target_of
from manykernels.cli._sources import columns_of_matrix, looks_square, with_places
from manykernels.cli._talk import Wrong, show_rows
from manykernels.kernels import RBF
from manykernels.strings import Spectrum
from tables import fasta

rng = np.random.default_rng(3)


def test_columns_of_a_model_are_made_in_its_order():
    frame = pd.DataFrame({"c": [2.0, np.nan, 3.0], "x": [1, 2, 3], "flag": [True, False, True]}, index=["u", "v", "w"])
    frame["colour"], frame["text"] = ["red", None, "blue"], ["ab", None, "c"]
    frame["day"], frame["digits"] = ["2024-03-01", "1970-01-02", None], ["1.5", None, "2"]
    names = ["x", "colour=red", "text", "c=3", "day", "colour=green", "c", "digits", "flag", "half"]
    kinds = {"text": "sequences", "day": "dates", "flag": "categories", "half": "categories"}
    made = encode(frame.assign(half=frame.x / 2), names, kinds)
    assert list(made.columns) == names and list(made.index) == ["u", "v", "w"]
    assert made["x"].tolist() == [1, 2, 3] and made["colour=red"].tolist() == [1, 0, 0]
    assert made["c=3"].tolist() == [0, 0, 1] and made["colour=green"].tolist() == [0, 0, 0]
    np.testing.assert_array_equal(made["c"], [2, np.nan, 3])
    np.testing.assert_array_equal(made["digits"].astype(float), [1.5, np.nan, 2])
    assert [None if pd.isna(t) else t for t in made["day"]] == ["2024-03-01", "1970-01-02", None]
    assert [None if pd.isna(t) else t for t in made["text"]] == ["AB", None, "C"]
    assert made["flag"].tolist() == ["True", "False", "True"] and made["half"].tolist() == ["0.5", "1.0", "1.5"]
    plain = encode(frame, ["c", "x"], {})
    np.testing.assert_array_equal(plain.to_numpy(), [[2, 1], [np.nan, 2], [3, 3]])
    with pytest.raises(Wrong, match="lack the columns 'y', 'z', which"):
        encode(frame, ["y=1", "z", "y=2", "x"], {})
    with pytest.raises(Wrong, match="'colour' has 'red' in row 1"):
        as_numbers(frame["colour"])
    with pytest.raises(Wrong, match="'x' has infinite numbers"):
        encode(frame.assign(x=[1.0, np.inf, 2.0]), ["c", "x"], {})


@pytest.mark.parametrize(
    ("values", "task"),
    [
        (["a", "b"] * 5, "classification"), ([0.5, 1.0] * 5, "regression"), ([0, 1] * 5, "classification"),
        (list(range(10)), "regression"), ([0, 1, 2] * 5, "classification"), ([0, 1, 2, 3] * 4, "regression"),
        (list(range(20)) * 5, "classification"), (list(range(21)) * 10, "regression"), ([0, 1, 2], "regression"),
        ([1.0, 2.0] * 2, "classification"), ([True, False], "classification"),
    ],
)  # fmt: skip
def test_a_task_is_guessed_by_the_number_of_different_whole_values(values, task):
    """At most 20 of them, and at most a fifth of the examples, or two."""
    assert guess_task(pd.Series(values)) == task


def test_a_folder_is_joined_by_id(capsys):
    Path("a.csv").write_text("id,p,q\n1,10,20\n2,11,21\n4,13,23\n")
    with gzip.open("b.tsv.gz", "wt") as file:
        file.write("id\tr\n2\t5.5\n1\t4.5\n3\t6.5\n")
    np.savez("c.npz", id=np.array([1, 2, 3, 4]), M=np.arange(8.0).reshape(4, 2))
    frame = read_data(".").sort_index()
    assert list(frame.columns) == ["a.p", "a.q", "r", "c.M.0", "c.M.1"] and frame.index.name == "id"
    expected = [[10, 20, 4.5, 0, 1], [11, 21, 5.5, 2, 3], [np.nan, np.nan, 6.5, 4, 5], [13, 23, np.nan, 6, 7]]
    np.testing.assert_array_equal(frame.to_numpy(float), expected)
    said = capsys.readouterr().err.splitlines()
    assert said == ["a: 1 of 4 examples lack it.", "b: 1 of 4 examples lack it."]
    assert frame.attrs["lacking"] == {"a": 1, "b": 1} and frame.attrs["matrices"] == {}


def test_a_column_is_read_as_numbers_if_one_of_its_kernels_takes_numbers():
    frame = pd.DataFrame({"code": [1, 2] * 9, "sex": ["f", "m", "f"] * 6})
    tables = [
        {"kernel": "RBF", "columns": ["code"], "missing": "zero"},
        {"kernel": "RBF", "name": "both", "columns": ["code", "sex"], "scale": True},
        {"kernel": "Categorical", "columns": ["code", "sex"]},
    ]
    for which, kinds in ((tables, {"sex": "categories"}), (tables[2:], {"code": "categories", "sex": "categories"})):
        specs, names = build(which, frame)
        assert names == ["code", "sex"] and kinds_of(specs) == kinds


def test_targets_are_said_with_what_is_left_out(capsys):
    frame = pd.DataFrame({"x": np.arange(6.0), "y": [1.0, 2.0, np.nan, 1.0, 2.0, np.nan], "z": list("aababb")})
    task, y, rest = split_target(frame, None, "y", "data")
    lost, guessed = ["'y' is missing in 2 of 6 rows, which are left out.",
                    "task: classification, from the 2 different values of 'y'; --task changes it."]  # fmt: skip
    assert capsys.readouterr().err.splitlines() == [lost, guessed]
    assert task == "classification" and y.tolist() == [1, 2, 1, 2] and rest.index.tolist() == [0, 1, 3, 4]
    assert list(rest.columns) == ["x", "z"]
    assert split_target(frame, "regression", "y", "data")[1].tolist() == [1.0, 2.0, 1.0, 2.0]
    assert capsys.readouterr().err.splitlines() == [lost]
    assert split_target(frame, "one-class", None, "data")[2] is frame
    assert list(split_target(frame, "one-class", "z", "data")[2].columns) == ["x", "y"]
    with pytest.raises(Wrong, match="'k' has 21 different values in 22 rows, too many for classes"):
        read_target(pd.Series(np.arange(22) % 21, name="k"), "classification")
    assert len(set(read_target(pd.Series(np.arange(40) % 20, name="k"), "classification"))) == 20
    assert read_target(pd.Series([0.5, 1.5, 0.5], name="k"), "classification").tolist() == ["0.5", "1.5", "0.5"]
    with pytest.raises(Wrong, match="'k' has True, which is not a number"):
        read_target(pd.Series([True, False], name="k"), "regression")


def test_targets_are_those_of_the_fit_the_named_or_the_only_other_column(capsys):
    frame = pd.DataFrame({"x": [1.0, 2.0] * 5, "c": list("uv") * 5, "y": ["1", "2"] * 5, "z": [0.5, np.nan] * 5})
    model = MKLClassifier([("x", RBF(0.5), ["x"])], C=1.0).fit(frame[["x"]], frame["y"])
    model.target_name_ = "y"
    assert target_of(model, frame, None).tolist() == ["1", "2"] * 5
    assert target_of(model, frame, "x").tolist() == [1.0, 2.0] * 5 and capsys.readouterr().err == ""
    model.target_name_ = "elsewhere"
    with pytest.raises(Wrong, match=r"lack the column 'elsewhere' of the fit: add it, or name .*\('y'\)"):
        target_of(model, frame[["x", "y"]], None)
    del model.target_name_
    assert target_of(model, frame[["x", "y"]], None).name == "y"
    assert capsys.readouterr().err == "target: 'y', the only column that the model does not use.\n"
    with pytest.raises(Wrong, match=r"name the column to compare with \('c', 'y', 'z'\)"):
        target_of(model, frame, None)
    model.covariate_columns_ = {"c": None}
    assert target_of(model, frame[["x", "c", "y"]], None).name == "y"


def test_matrices_share_half_of_their_ids_and_have_places():
    half = pd.DataFrame(np.zeros((4, 5)), index=list("abcd"), columns=list("abxyz"))
    assert not looks_square(half) and looks_square(half.rename(columns={"x": "c"}))
    whole = pd.DataFrame(np.eye(3), index=list("abc"), columns=["K.a", "K.b", "K.c"]).assign(other=1.0)
    whole.loc["d"] = [np.nan] * 3 + [2.0]
    whole.attrs["matrices"] = {"K": None}
    assert columns_of_matrix(whole, "K") == ["K.#", "K.a", "K.b", "K.c"]
    made = with_places(whole.rename(index={"b": "new"}), ["K.#", "K.b", "K.a", "K.c"])
    np.testing.assert_array_equal(made["K.#"], [1, -1, 2, np.nan])


def test_scores_of_a_file_are_written_in_blocks_with_their_ids(monkeypatch, capsys):
    texts = ["".join(row) for row in rng.choice(list("ACGT"), (9, 12))]
    model = MKLClassifier([Spectrum(3)], C=1.0).fit(texts, np.arange(9) % 2)
    model.save("m.mk")
    fasta("n.fa", texts, [f"id{k} of {k}" for k in range(9)])
    monkeypatch.setattr(gkm_use, "SCORED_AT_ONCE", 4)
    gkm_use.predict("n.fa", "m.mk", "out")
    found = pd.read_csv("out", sep="\t", header=None, index_col=0)[1]
    assert list(found.index) == [f"id{k}" for k in range(9)]
    assert "out is written with 9 scores." in capsys.readouterr().err
    np.testing.assert_allclose(found, model.decision_function(texts), rtol=1e-4)


def test_configurations_and_tables_are_written_as_they_are_read(capsys):
    tables = [{"name": 'a "b"', "kernel": "RBF", "gamma": 0.5, "columns": ["ä", "x\ny\x7f"], "scale": True}]
    text = write_config({"target": "y", "id": None, "task": "regression"}, tables, "d.csv")
    found = tomllib.loads(text)
    assert found == {"target": "y", "task": "regression", "C": "auto", "p": 2.0, "kernel": tables}
    show_rows("rows", [{"a": "x", "score": 0.123456}, {"a": "longer", "score": 2.0}])
    assert capsys.readouterr().out.splitlines() == ["rows:", "  a       score", "  x       0.1235", "  longer  2"]
    show_rows("none", [])
    assert capsys.readouterr().out == ""
