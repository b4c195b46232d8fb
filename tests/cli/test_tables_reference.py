"""Tables as the commands read them: columns of models, categories, ids, folders and archives, value by value."""

import gzip
import io

import numpy as np
import pandas as pd
import pytest

from manykernels import MKLClassifier
from manykernels.cli._columns import as_numbers, as_texts, encode, guess_task, indicators, new_categories
from manykernels.cli._data import by_id, is_number, pick, read_data, read_npz, read_text, separator, with_labels
from manykernels.cli._models import as_classes, check_output, target_of
from manykernels.cli._talk import Wrong
from manykernels.cli.use import predictions
from manykernels.kernels import RBF

rng = np.random.default_rng(3)


def test_columns_of_a_model_are_made_in_its_order():
    frame = pd.DataFrame({"c": [2.0, np.nan, 3.0], "x": [1, 2, 3], "flag": [True, False, True]}, index=["u", "v", "w"])
    frame["colour"], frame["text"] = ["red", None, "blue"], ["ab", None, "c"]
    frame["day"], frame["digits"] = ["2024-03-01", "1970-01-02", None], ["1.5", None, "2"]
    assert indicators(frame, "c") == ["c=2", "c=3"] and indicators(frame, "colour") == ["colour=blue", "colour=red"]
    names = ["x", "colour=red", "text", "c=3", "day", "colour=green", "c", "digits"]
    made = encode(frame, names, {"text": "sequences", "day": "dates"})
    assert list(made.columns) == names and list(made.index) == ["u", "v", "w"]
    assert made["x"].tolist() == [1, 2, 3] and made["colour=red"].tolist() == [1, 0, 0]
    assert made["c=3"].tolist() == [0, 0, 1] and made["colour=green"].tolist() == [0, 0, 0]
    np.testing.assert_array_equal(made["c"], [2, np.nan, 3])
    np.testing.assert_array_equal(made["digits"].astype(float), [1.5, np.nan, 2])
    assert [None if pd.isna(t) else t for t in made["day"]] == ["2024-03-01", "1970-01-02", None]
    assert [None if pd.isna(t) else t for t in made["text"]] == ["AB", None, "C"]
    assert as_texts(frame["flag"]).tolist() == ["True", "False", "True"]
    assert as_texts(frame["x"] / 2).tolist() == ["0.5", "1.0", "1.5"]
    plain = encode(frame, ["c", "x"], {})
    np.testing.assert_array_equal(plain.to_numpy(), [[2, 1], [np.nan, 2], [3, 3]])
    with pytest.raises(Wrong, match="lack the columns 'y', 'z', which"):
        encode(frame, ["y=1", "z", "y=2", "x"], {})
    with pytest.raises(Wrong, match="'colour' has 'red' in row 1"):
        as_numbers(frame["colour"])
    with pytest.raises(Wrong, match="'x' has infinite numbers"):
        encode(frame.assign(x=[1.0, np.inf, 2.0]), ["c", "x"], {})


def test_new_and_missing_categories_are_counted_with_their_ids():
    frame = pd.DataFrame({"c": [1.0, 4.0, np.nan, 5.0, 2.0]}, index=list("abcde"))
    new, lost = new_categories(frame, ["c=1", "c=2", "x"])
    assert "in 2 of 5 examples (b, d; '4', for example)" in new and "in 1 of 5 examples (c)" in lost
    assert new_categories(frame.loc[["a", "e"]], ["c=1", "c=2"]) == []
    many = pd.DataFrame({"c": [9.0] * 7}, index=list("abcdefg"))
    assert "(a, b, c, d, e, ...; " in new_categories(many, ["c=1"])[0]
    assert new_categories(frame, ["c=1"], texts=["c=1"]) == []


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


def test_ids_labels_and_columns_are_found_by_name(tmp_path):
    frame = pd.DataFrame({"id": [3, 1, 2], "x": [1.0, 2.0, 3.0]})
    indexed = by_id(frame, "id", "file")
    assert indexed.index.tolist() == [3, 1, 2] and list(indexed.columns) == ["x"]
    with pytest.raises(Wrong, match="several rows have the id 3"):
        by_id(frame.assign(id=[3, 1, 3]), "id", "file")
    assert by_id(frame.assign(id=[3, 1, 3]), "id", "file", unique=False).index.tolist() == [3, 1, 3]
    with pytest.raises(Wrong, match="--target 'X' is not a column of the data: did you mean 'x'"):
        pick(frame, "X", "--target")
    with pytest.raises(Wrong, match="give one of 'id', 'x'"):
        pick(frame, "quite another", "--target")
    (tmp_path / "labels.csv").write_text("name,y,more\n2,b,0\n3,c,1\n9,z,2\n")
    said = []
    joined = with_labels(indexed, "file", str(tmp_path / "labels.csv"), said.append)
    assert [None if pd.isna(v) else v for v in joined["y"]] == ["c", None, "b"] and joined.attrs["aside"] == [
        "y",
        "more",
    ]
    assert joined["x"].tolist() == [1.0, 2.0, 3.0] and "1 of 3 examples have no label there ('1', ...)" in said[0]
    with pytest.raises(Wrong, match="has no ids"):
        with_labels(frame, "file", str(tmp_path / "labels.csv"), said.append)
    (tmp_path / "twice.csv").write_text("name,x\n2,b\n")
    with pytest.raises(Wrong, match="both have a column 'x'"):
        with_labels(indexed, "file", str(tmp_path / "twice.csv"), said.append)
    (tmp_path / "none.csv").write_text("name,y\n7,b\n")
    with pytest.raises(Wrong, match="has none of the ids"):
        with_labels(indexed, "file", str(tmp_path / "none.csv"), said.append)


def test_a_folder_is_joined_by_id(tmp_path):
    (tmp_path / "a.csv").write_text("id,p,q\n1,10,20\n2,11,21\n4,13,23\n")
    with gzip.open(tmp_path / "b.tsv.gz", "wt") as file:
        file.write("id\tr\n2\t5.5\n1\t4.5\n3\t6.5\n")
    np.savez(tmp_path / "c.npz", id=np.array([1, 2, 3, 4]), M=np.arange(8.0).reshape(4, 2))
    said = []
    other = tmp_path / "apart"
    other.mkdir()
    for k, stem in enumerate("uv"):
        (other / f"{stem}.csv").write_text(f"id,x{k}\n{k + 5},1\n{k + 7},2\n")
    with pytest.raises(Wrong, match="no id is in all of u, v \\('5' in one, '6' in another"):
        read_data(str(other))
    frame = read_data(str(tmp_path), say=said.append).sort_index()
    assert list(frame.columns) == ["a.p", "a.q", "r", "c.M.0", "c.M.1"] and frame.index.name == "id"
    expected = [[10, 20, 4.5, 0, 1], [11, 21, 5.5, 2, 3], [np.nan, np.nan, 6.5, 4, 5], [13, 23, np.nan, 6, 7]]
    np.testing.assert_array_equal(frame.to_numpy(float), expected)
    assert said == ["a: 1 of 4 examples lack it.", "b: 1 of 4 examples lack it."]
    assert frame.attrs["lacking"] == {"a": 1, "b": 1} and frame.attrs["matrices"] == {}


def test_archives_and_pipes_are_tables(tmp_path):
    np.savez(tmp_path / "t.npz", y=np.array(["u", "v"]), X=np.array([[1.0, 2.0], [3.0, 4.0]]))
    frame = read_npz(str(tmp_path / "t.npz"))
    assert list(frame.columns) == ["y", "X.0", "X.1"] and frame["X.1"].tolist() == [2.0, 4.0]
    np.savez(tmp_path / "k.npz", K=np.eye(2), ids=np.array(["u", "v"]), columns=np.array(["v", "u"]))
    frame = read_npz(str(tmp_path / "k.npz"))
    assert list(frame.columns) == ["id", "v", "u"] and frame["v"].tolist() == [1.0, 0.0]
    np.savez(tmp_path / "bad.npz", a=np.zeros(2), b=np.zeros(3))
    with pytest.raises(Wrong, match="different numbers of examples"):
        read_npz(str(tmp_path / "bad.npz"))
    np.savez(tmp_path / "cube.npz", a=np.zeros((2, 2, 2)))
    with pytest.raises(Wrong, match="give \\(n,\\) or \\(n, d\\)"):
        read_npz(str(tmp_path / "cube.npz"))
    assert separator(b"a\tb,c\td") == "\t" and separator(b"a,b\tc") == "," and separator(b"a") == ","
    for data in (b"a,b\n1,x\n2,y\n", b"a\tb\n1\tx\n2\ty\n"):
        frame = read_text(data)
        assert frame["a"].tolist() == [1, 2] and frame["b"].tolist() == ["x", "y"]
    with pytest.raises(Wrong, match="several columns called 'a'"):
        read_text(b"a,b,a\n1,2,3\n")
    assert is_number(pd.Series([1])) and is_number(pd.Series([1.5])) and not is_number(pd.Series([True]))
    assert not is_number(pd.read_csv(io.StringIO("a\nx\n"))["a"])


class Stub:
    """A fitted classifier as the commands see it."""

    def __init__(self, classes=None, **known):
        vars(self).update(known)
        if classes is not None:
            self.classes_ = np.array(classes)


def test_targets_are_those_of_the_fit_the_named_or_the_only_other_column():
    frame = pd.DataFrame({"x": [1.0, 2.0], "c": ["u", "v"], "y": ["1", "2"], "z": [0.5, np.nan]})
    said = []
    model = Stub(feature_names_in_=["x", "c=u", "c=v"], target_name_="y")
    assert target_of(model, frame, None, said.append).tolist() == ["1", "2"] and said == []
    assert target_of(model, frame, "x", said.append).tolist() == [1.0, 2.0]
    model.target_name_ = "elsewhere"
    assert target_of(model, frame[["x", "c", "y"]], None, said.append).name == "y" and "target: 'y'" in said[0]
    with pytest.raises(Wrong, match="name the column to compare with \\('y', 'z'\\)"):
        target_of(model, frame, None, said.append)
    model.covariate_columns_ = {"z": None}
    assert target_of(model, frame, None, said.append).name == "y"
    with pytest.raises(Wrong, match="'z' is empty in 1 rows"):
        target_of(model, frame, "z", said.append)
    assert as_classes(Stub(["1", "2"]), frame["y"]).tolist() == ["1", "2"]
    assert as_classes(Stub([1, 2]), frame["y"]).tolist() == [1.0, 2.0] and as_classes(Stub(), frame["x"]).tolist() == [
        1,
        2,
    ]
    with pytest.raises(Wrong, match="has '2', which is not among 1, 3"):
        as_classes(Stub(["1", "3"]), frame["y"])


def test_no_output_replaces_an_input(tmp_path):
    (tmp_path / "data").mkdir()
    inside, model = tmp_path / "data" / "a.csv", tmp_path / "model.mk"
    inside.write_text("x\n1\n")
    assert check_output(str(model), str(inside), "-", None) == ""
    model.write_text("")
    assert check_output(str(model), str(inside)) == ", replacing an older file"
    for given in (inside, tmp_path / "data"):
        with pytest.raises(Wrong, match="would overwrite"):
            check_output(str(inside), None, str(given))
    with pytest.raises(Wrong, match="does not exist"):
        check_output(str(tmp_path / "none" / "m.mk"))
    with pytest.raises(Wrong, match="cannot be written"):
        check_output(str(tmp_path))


@pytest.mark.parametrize("K", [2, 3])
def test_predictions_are_named_by_their_classes(K):
    X = pd.DataFrame({"x": rng.normal(size=30)}, index=[f"id{k}" for k in range(30)])
    y = np.array(list("uvw"))[np.digitize(X["x"], [-0.4, 0.5][: K - 1])]
    model = MKLClassifier([("x", RBF(0.5), ["x"])], C=1.0, loss="logistic").fit(X, y)
    found = predictions(model, X, {})
    assert found.index.tolist() == X.index.tolist() and found["prediction"].tolist() == model.predict(X).tolist()
    f, P = model.decision_function(X), model.predict_proba(X)
    for k, name in enumerate("uvw"[:K]):
        np.testing.assert_array_equal(found[f"probability:{name}"], P[:, k])
        if K > 2:
            np.testing.assert_array_equal(found[f"decision:{name}"], f[:, k])
    if K == 2:
        np.testing.assert_array_equal(found["decision"], f)
