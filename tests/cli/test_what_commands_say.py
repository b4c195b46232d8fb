"""Messages of the commands with their numbers and names, from the functions that make them."""

import tomllib
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import GroupKFold, KFold, StratifiedGroupKFold, StratifiedKFold

from manykernels import MKLClassifier, MKLRegressor, survival_targets
from manykernels.cli import gkm
from manykernels.cli._config import _toml, write_config
from manykernels.cli._data import read_data, read_npz
from manykernels.cli._matrices import columns_of_matrix, fault, looks_square, with_places
from manykernels.cli._models import Job, read_target, split_covariates, split_groups, split_target, target_of
from manykernels.cli._talk import Wrong, show_rows
from manykernels.cli.learn import CVOptions, _numbers, _splits, coefficients, read_C, summary, times_of
from manykernels.kernels import RBF
from manykernels.sequences import Sequences
from manykernels.strings import Spectrum

rng = np.random.default_rng(4)


def job(task, y, groups=None, X=None):
    X = np.zeros((len(y), 1)) if X is None else X
    return Job(task, [], X, y, {}, "", groups)


def test_what_cannot_be_folded_is_an_error_and_what_is_lowered_a_warning():
    groups = np.array(list("uuvvwwuu"))
    assert len(_splits(job("regression", np.arange(8.0), groups), 3)) == 3
    with pytest.raises(Wrong, match="--folds 4 is more than the 3 groups: give fewer folds"):
        _splits(job("regression", np.arange(8.0), groups), 4)
    with pytest.raises(Wrong, match="--folds 2 needs two events, two groups or two examples of two classes"):
        _splits(job("classification", np.array(["a", "b", "b"])), 2)
    times = survival_targets([1, 1, 0, 0, 1, 0, 1, 0], np.arange(1.0, 9))
    assert len(_splits(job("survival", times), 4)) == 4
    for own, least in ((job("survival", times), 4), (job("classification", np.array(list("aaaaabbb"))), 3)):
        with pytest.warns(UserWarning, match=f"cv=5: there are {least} folds"):
            assert len(_splits(own, 5)) == least
    with pytest.warns(UserWarning, match="classes have fewer examples than there are folds"):
        assert len(_splits(job("classification", np.repeat(list("abc"), [8, 8, 2])), 5)) == 5


def test_folds_are_stratified_shuffled_and_keep_groups():
    label, groups = np.arange(12) % 2, np.repeat(np.arange(6), 2)
    mixed = dict(shuffle=True, random_state=0)
    for task, own, splitter in (
        ("classification", None, StratifiedKFold(3, **mixed)),
        ("classification", groups, StratifiedGroupKFold(3, **mixed)),
        ("regression", None, KFold(3, **mixed)),
        ("regression", groups, GroupKFold(3)),
    ):
        found = _splits(job(task, label, own), 3)
        for (train, test), (one, other) in zip(found, splitter.split(label, label, own), strict=True):
            assert train.tolist() == one.tolist() and test.tolist() == other.tolist()


def test_targets_are_said_with_what_is_left_out():
    frame = pd.DataFrame({"x": np.arange(6.0), "y": [1.0, 2.0, np.nan, 1.0, 2.0, np.nan], "z": list("aababb")})
    said = []
    task, y, rest = split_target(frame, None, "y", "data", said.append)
    assert said == ["'y' is empty in 2 of 6 rows, which are left out.",
                    "task: classification, from the 2 different values of 'y'; --task changes it."]  # fmt: skip
    assert task == "classification" and y.tolist() == [1, 2, 1, 2] and rest.index.tolist() == [0, 1, 3, 4]
    assert list(rest.columns) == ["x", "z"]
    said.clear()
    assert split_target(frame, "regression", "y", "data", said.append)[1].tolist() == [1.0, 2.0, 1.0, 2.0]
    assert len(said) == 1
    assert split_target(frame, "one-class", None, "data", said.append)[2] is frame
    assert list(split_target(frame, "one-class", "z", "data", said.append)[2].columns) == ["x", "y"]
    with pytest.raises(Wrong, match="--target 'z' has 'a', which is not a number: give --task classification"):
        split_target(frame, "regression", "z", "data", said.append)
    with pytest.raises(Wrong, match="'n' is empty in all rows"):
        split_target(frame.assign(n=np.nan), None, "n", "data", said.append)
    column = pd.Series(np.arange(22) % 21, name="k")
    with pytest.raises(Wrong, match="'k' has 21 different values in 22 rows, too many for classes"):
        read_target(column, "classification")
    assert len(set(read_target(pd.Series(np.arange(40) % 20, name="k"), "classification"))) == 20
    assert read_target(pd.Series([0.5, 1.5, 0.5], name="k"), "classification").tolist() == ["0.5", "1.5", "0.5"]
    with pytest.raises(Wrong, match="'k' has True, which is not a number"):
        read_target(pd.Series([True, False], name="k"), "regression")
    with pytest.raises(Wrong, match="'k' has only one class, 3: a classifier needs two"):
        read_target(pd.Series([3, 3], name="k"), "classification")


def test_the_target_of_a_model_is_the_column_that_it_does_not_use():
    X = pd.DataFrame(rng.normal(size=(30, 2)), columns=["age", "dose"])
    site = np.array(["u", "v"])[np.arange(30) % 2]
    model = MKLRegressor([("a", RBF(0.5), ["age", "dose"])], C=1.0).fit(X, X["age"], covariates={"site": site})
    said, frame = [], X.assign(site=site, y=X["age"])
    assert target_of(model, frame, None, said.append).name == "y"
    assert said == ["target: 'y', the only column that the model does not use."]
    with pytest.raises(Wrong, match=r"--target is missing: name the column to compare with \('y', 'other'\)"):
        target_of(model, frame.assign(other=1), None, said.append)
    model.target_name_ = "dose"
    assert target_of(model, frame, None, said.append).name == "dose" and len(said) == 1
    assert target_of(model, frame, "y", said.append).name == "y"
    with pytest.raises(Wrong, match="--target 'y' is empty in 2 rows: fill it in or remove them"):
        target_of(model, frame.assign(y=[np.nan] * 2 + [1.0] * 28), "y", said.append)
    rows = coefficients(model)["covariates"]
    assert [row["covariate"] for row in rows] == ["site=v"]
    assert [row["coefficient"] for row in rows] == pytest.approx(model.covariate_coef_[0])
    facts = summary(job("regression", X["age"], X=X), model)
    assert facts["examples"] == 30 and facts["kernels"] == 1 and facts["weights"] == [{"kernel": "a", "share": 1.0}]


def test_groups_and_covariates_leave_the_other_columns():
    frame = pd.DataFrame({"g": list("uvuv"), "x": [1.0, 2, 3, 4], "code": [1, 2, 3, 1], "two": [0, 1, 0, 1]})
    said = []
    groups, rest = split_groups(frame, "g", said.append)
    assert groups.tolist() == list("uvuv") and list(rest.columns) == ["x", "code", "two"]
    assert said == ["rows of the same 'g' (2 groups) are held out together; the column is not a feature."]
    own, same = split_groups(frame.set_index("g"), "g", said.append)
    assert own.tolist() == list("uvuv") and len(said) == 1 and list(same.columns) == ["x", "code", "two"]
    said.clear()
    found, rest = split_covariates(frame.assign(wide=[1, 11, 3, 5]), "code, two,g:category,wide", said.append)
    assert list(found) == ["code", "two", "g", "wide"] and list(rest.columns) == ["x"]
    assert found["code"].tolist() == [1.0, 2.0, 3.0, 1.0] and found["g"].tolist() == list("uvuv")
    assert said[0] == "adjusted for: 'code', 'two', 'g', 'wide', without a penalty; these columns are not features."
    assert [line.split()[0] for line in said[1:]] == ["'code'", "'wide'"]  # two values may be anything
    many = pd.DataFrame({"ten": np.arange(40) % 10, "eleven": np.arange(40) % 11, "half": np.arange(40) % 5 / 2})
    said.clear()
    split_covariates(many, "ten,eleven,half", said.append)
    assert [line.split()[0] for line in said[1:]] == ["'ten'"]
    found, _ = split_covariates(many, "ten:category", said.append)
    assert found["ten"].tolist()[:3] == ["0", "1", "2"]
    with pytest.raises(Wrong, match="--adjust ' , ' names no column"):
        split_covariates(many, " , ", said.append)


def test_options_of_times_numbers_and_C():
    assert times_of(CVOptions("d", event="e", time="t", strata="s")) == {"target": "e,t,s", "task": "survival"}
    assert times_of(CVOptions("d", event="e", time="t"))["target"] == "e,t" and times_of(CVOptions("d")) == {}
    for wrong in (dict(event="e"), dict(time="t"), dict(strata="s"), dict(event="e", strata="s")):
        with pytest.raises(Wrong, match="belong together"):
            times_of(CVOptions("d", **wrong))
    with pytest.raises(Wrong, match="--target is the column of a class or a number"):
        times_of(CVOptions("d", event="e", time="t", target="y"))
    assert _numbers("0.1,1,inf", "-p") == [0.1, 1.0, np.inf] and read_C("2.5") == 2.5 and read_C("auto") == "auto"
    assert read_C(None) is None
    with pytest.raises(Wrong, match="-p '1;2' is not a list of numbers: give -p 0.1,1,10"):
        _numbers("1;2", "-p")
    with pytest.raises(Wrong, match="-c 'big' is not a number: give -c 10, for example, or -c auto"):
        read_C("big", "-c")


def test_letters_that_match_nothing_are_counted(monkeypatch):
    asked, said = SimpleNamespace(compared=3), []
    monkeypatch.setattr(gkm, "complain", said.append)
    X = Sequences.encode(["ACGT", "ANNT", "NNNNN", "ACGN"], "dna", "ignore")
    gkm._check_letters(X, asked)
    assert said == ["8 letters are not A, C, G or T: they match nothing here; LS-GKM reads them as A.",
                    "2 sequences have fewer than 3 letters A, C, G and T: all of them look alike."]  # fmt: skip
    said.clear()
    gkm._check_letters(Sequences.encode(["ACGT", "ACG"], "dna"), asked)
    gkm._check_letters(Sequences.encode(["ACGN", "ANCG"], "dna", "ignore"), asked)
    assert len(said) == 1 and said[0].startswith("2 letters")
    with pytest.raises(Wrong, match="No sequence has 3 letters A, C, G and T: there is nothing to learn from"):
        gkm._check_letters(X[1:3], asked)


def test_scores_of_a_file_are_written_in_blocks_with_their_ids(tmp_path, monkeypatch, capsys):
    texts = ["".join(row) for row in rng.choice(list("ACGT"), (9, 12))]
    model = MKLClassifier([Spectrum(3)], C=1.0).fit(texts, np.arange(9) % 2)
    model.save(tmp_path / "m.mk")
    (tmp_path / "n.fa").write_text("".join(f">id{k} of {k}\n{text}\n" for k, text in enumerate(texts)))
    monkeypatch.setattr(gkm, "ROWS_AT_ONCE", 4)
    gkm.predict(str(tmp_path / "n.fa"), str(tmp_path / "m.mk"), str(tmp_path / "out"), quiet=False)
    rows = [line.split("\t") for line in (tmp_path / "out").read_text().splitlines()]
    assert [name for name, _ in rows] == [f"id{k}" for k in range(9)]
    np.testing.assert_allclose([float(value) for _, value in rows], model.decision_function(texts), rtol=1e-4)
    said = capsys.readouterr().err
    assert f"{tmp_path / 'out'} is written with 9 scores." in said
    assert gkm.first_words(["a b", "  ", "c", ""]) == ["a", "", "c", ""]


def test_tables_of_scores_have_one_column_of_dna_and_one_of_numbers(tmp_path):
    texts = ["".join(row) for row in rng.choice(list("acgt"), (6, 12))]
    frame = pd.DataFrame({"name": [f"p{k}" for k in range(6)], "seq": texts, "value": np.arange(6) / 2})
    frame.to_csv(tmp_path / "t.csv", index=False)
    ids, X, y = gkm.read_scores(str(tmp_path / "t.csv"))
    assert (
        ids == frame["name"].tolist()
        and list(X) == [t.upper() for t in texts]
        and y.tolist() == [0, 0.5, 1, 1.5, 2, 2.5]
    )
    frame.drop(columns="name").to_csv(tmp_path / "u.tsv", index=False, sep="\t")
    assert gkm.read_scores(str(tmp_path / "u.tsv"))[0] == list("123456")
    frame.assign(more=1).to_csv(tmp_path / "v.csv", index=False)
    with pytest.raises(Wrong, match="has 1 columns of DNA and 2 of numbers"):
        gkm.read_scores(str(tmp_path / "v.csv"))
    frame.assign(value=[np.inf, *range(5)]).to_csv(tmp_path / "w.csv", index=False)
    with pytest.raises(Wrong, match="rows without a sequence or without a finite number"):
        gkm.read_scores(str(tmp_path / "w.csv"))
    y, f = np.array([1, -1, 1, -1, 1]), np.array([0.5, 0.1, 0.4, 0.45, -1.0])
    assert gkm._measures(y, f, False)["auROC"] == pytest.approx(3 / 6)
    real = gkm._measures(np.array([1.0, 2, 3]), np.array([1.0, 2, 5]), True)
    assert real["spearman"] == pytest.approx(1) and real["R2"] == pytest.approx(1 - 4 / 2)
    assert real["pearson"] == pytest.approx(np.corrcoef([1, 2, 3], [1, 2, 5])[0, 1])


def test_archives_and_folders_name_what_does_not_fit(tmp_path):
    np.savez(tmp_path / "a.npz", x=np.zeros(4), z=np.zeros((3, 2)))
    with pytest.raises(Wrong, match="arrays have different numbers of examples, 3 and others"):
        read_npz(str(tmp_path / "a.npz"))
    np.savez(tmp_path / "b.npz", x=np.zeros((4, 2, 2)))
    with pytest.raises(Wrong, match=r"the array 'x' has shape \(4, 2, 2\): give \(n,\) or \(n, d\)"):
        read_npz(str(tmp_path / "b.npz"))
    np.savez(tmp_path / "c.npz", x=np.arange(3), z=np.arange(6).reshape(3, 2))
    assert read_npz(str(tmp_path / "c.npz")).to_dict("list") == {"x": [0, 1, 2], "z.0": [0, 2, 4], "z.1": [1, 3, 5]}
    folder = tmp_path / "f"
    folder.mkdir()
    for end in ("csv", "tsv"):
        sep = "," if end == "csv" else "\t"
        pd.DataFrame({"id": list("uvw"), "x": [1, 2, 3], "z": 0}).to_csv(folder / f"t.{end}", index=False, sep=sep)
    with pytest.raises(Wrong, match="several files called t: rename one"):
        read_data(str(folder))
    (folder / "t.tsv").rename(folder / "s.tsv")
    pd.DataFrame({"id": list("vwx"), "age": [5, 6, 7]}).to_csv(folder / "age.csv", index=False)
    said = []
    frame = read_data(str(folder), None, said.append)
    assert list(frame.columns) == ["age", "s.x", "s.z", "t.x", "t.z"] and frame.index.name == "id"
    assert said == ["age: 1 of 4 examples lack it.", "s: 1 of 4 examples lack it.", "t: 1 of 4 examples lack it."]
    assert frame.loc["w"].tolist() == [6, 3, 0, 3, 0] and frame.attrs["lacking"] == {"age": 1, "s": 1, "t": 1}


def test_matrices_are_square_symmetric_and_finite_or_the_entry_is_named():
    K = np.arange(9.0).reshape(3, 3)
    frame = pd.DataFrame(K + K.T, index=list("abc"), columns=list("abc"))
    assert looks_square(frame) and fault(frame) is None and fault(frame[list("cab")]) is None
    wrong = frame.copy()
    wrong.loc["b", "c"] = 0.0
    assert "it is not symmetric, 'b' with 'c' is 0 and 'c' with 'b' is 12: correct it" in fault(wrong)
    wrong.loc["c", "a"] = np.nan
    assert fault(wrong).startswith("the value of 'c' with 'a' is nan, not a finite number")
    assert fault(frame.drop(columns="b")).startswith("row 'b' has no column")
    assert fault(frame.drop(index="c")).startswith("column 'c' has no row")
    half = pd.DataFrame(np.zeros((4, 5)), index=list("abcd"), columns=list("abxyz"))
    assert not looks_square(half) and looks_square(half.rename(columns={"x": "c"}))
    whole = frame.add_prefix("K.").assign(other=1.0)
    whole.loc["d"] = [np.nan] * 3 + [2.0]
    whole.attrs["matrices"] = {"K": None}
    assert columns_of_matrix(whole, "K") == ["K.#", "K.a", "K.b", "K.c"]
    made = with_places(whole.rename(index={"b": "new"}), ["K.#", "K.b", "K.a", "K.c"])
    np.testing.assert_array_equal(made["K.#"], [1, -1, 2, np.nan])
    with pytest.raises(Wrong, match=r"lack the values of 'K' with 1 training examples \('q', for example\)"):
        with_places(whole, ["K.#", "K.a", "K.q"])
    gap = whole.copy()
    gap.loc["c", "K.a"] = np.nan
    with pytest.raises(Wrong, match="K: the value of 'c' with 'a' is missing"):
        with_places(gap, ["K.#", "K.b", "K.a", "K.c"])


def test_configurations_and_tables_are_written_as_they_are_read(capsys):
    tables = [{"name": 'a "b"', "kernel": "RBF", "gamma": 0.5, "columns": ["ä", "x\ny"], "scale": True, "prior": 0.2}]
    text = write_config({"target": "y", "id": None, "task": "regression"}, tables, "d.csv")
    found = tomllib.loads(text)
    assert found == {"target": "y", "task": "regression", "C": "auto", "p": 2.0, "kernel": tables}
    assert _toml(["\x7f"]) == '["\\u007f"]'
    show_rows("rows", [{"a": "x", "score": 0.123456}, {"a": "longer", "score": 2.0}])
    assert capsys.readouterr().out.splitlines() == ["rows:", "  a       score", "  x       0.1235", "  longer  2"]
    show_rows("none", [])
    assert capsys.readouterr().out == ""
