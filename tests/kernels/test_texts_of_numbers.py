"""Columns of texts that hold numbers are read as numbers, at fit and later, by Python and the command line alike."""

import io
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from covering import covering

import manykernels
from manykernels import MKLClassifier, Views
from manykernels.kernels.column_kinds import describe
from tables import run

N = 60
rng = np.random.default_rng(4)
y = np.arange(N) % 2
VALUES = np.round(y + 0.5 * rng.normal(size=N), 2)
OTHER = np.round(rng.normal(size=N), 3)
GAPS = np.where(np.arange(N) % 7 == 3, np.nan, VALUES)
MARKS = ["NA", "?", "-", "<null>", " n/a ", ".", "", "None"]


def spelled(values, decimal="."):
    """Numbers as texts, with a mark for each missing one."""
    return np.array([
        MARKS[k % len(MARKS)] if np.isnan(v) else f"{v:.2f}".replace(".", decimal) for k, v in enumerate(values)
    ], object)  # fmt: skip


def table(column, form):
    frame = pd.DataFrame({"x": column, "z": OTHER})
    if form == "array":
        return frame.to_numpy(object)
    if form == "lists":
        return frame.to_numpy(object).tolist()
    if form == "views":
        return Views({"t": frame, "u": OTHER[:, None] ** 2})
    return pl.DataFrame({"x": list(column), "z": OTHER}, strict=False) if form == "polars" else frame


def fit(X):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return MKLClassifier(C=1.0).fit(X, y)


@pytest.mark.parametrize("form, gaps, decimal", covering(["pandas", "polars", "array", "lists", "views"], [0, 1], ".,"))
def test_texts_of_numbers_are_those_numbers(tmp_path, form, gaps, decimal):
    """The only informative column was left out, or became categories, without a word."""
    values = GAPS if gaps else VALUES
    whole = "pandas" if form in ("array", "lists") else form  # arrays of numbers with gaps are refused
    plain, model = fit(table(values, whole)), fit(table(spelled(values, decimal), form))
    assert model.kernels_chosen_ == plain.kernels_chosen_ or form != whole
    model.save(tmp_path / "m.mk")
    read = manykernels.load(tmp_path / "m.mk")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for new in (values, np.where(np.arange(N) < 5, np.nan, values)):
            wanted = plain.decision_function(table(new, whole))
            for own in (model, read, plain) if decimal == "." and form == whole else (model, read):
                np.testing.assert_allclose(own.decision_function(table(spelled(new, decimal), form)), wanted, atol=1e-5)
            if form == whole:
                np.testing.assert_allclose(read.decision_function(table(new, form)), wanted, atol=1e-5)
        for wrong in ("high", "0.5" if decimal == "," else "0,5", "1_0"):
            column = spelled(values, decimal)
            column[4] = wrong
            with pytest.raises(ValueError, match=rf"not numeric in column '?(t: )?(x|0)'? .'{wrong}'"):
                read.predict(table(column, form))


@pytest.mark.parametrize("decimal", [".", ","], ids=["points", "commas"])
def test_the_command_line_reads_them_alike(tmp_path, decimal):
    column = spelled(GAPS, decimal)
    frame = pd.DataFrame({"x": column, "z": OTHER})
    frame.assign(y=np.where(y, "b", "a")).to_csv(tmp_path / "d.csv", index=False)
    result = run("fit", tmp_path / "d.csv", "-t", "y", "-C", "1", "-o", tmp_path / "m.mk")
    assert result.exit_code == 0, result.output
    assert ("the commas in 'x' are read as decimal points" in result.stderr) == (decimal == ",")
    found = pd.read_csv(io.StringIO(run("predict", tmp_path / "m.mk", tmp_path / "d.csv").stdout))
    np.testing.assert_allclose(found.decision, fit(frame).decision_function(frame), atol=1e-5)
    frame.assign(x=np.where(np.arange(N) == 4, "high", column)).to_csv(tmp_path / "new.csv", index=False)
    result = run("predict", tmp_path / "m.mk", tmp_path / "new.csv")
    assert result.exit_code == 1 and "Column 'x' has 'high' in row 5, which is not a number" in result.stderr
    text = run("init", tmp_path / "d.csv", "-t", "y", "-o", tmp_path / "k.toml")
    assert text.exit_code == 0, text.output
    config = "--config", tmp_path / "k.toml", "-C", "1", "-o", tmp_path / "n.mk"
    again = run("fit", tmp_path / "d.csv", "-t", "y", *config)
    assert again.exit_code == 0, again.output
    other = pd.read_csv(io.StringIO(run("predict", tmp_path / "n.mk", tmp_path / "d.csv").stdout))
    np.testing.assert_allclose(other.decision, found.decision, atol=1e-5)


def test_a_covariate_of_texts_is_a_number_where_it_holds_numbers(tmp_path):
    frame = pd.DataFrame({"x": OTHER, "dose": spelled(VALUES, ","), "y": np.where(y, "b", "a")})
    frame.to_csv(tmp_path / "d.csv", index=False)
    result = run("fit", tmp_path / "d.csv", "-t", "y", "--adjust", "dose", "-C", "1", "-o", tmp_path / "m.mk")
    assert result.exit_code == 0, result.output
    assert manykernels.load(tmp_path / "m.mk").covariate_names_ == ["dose"]
    assert run("predict", tmp_path / "m.mk", tmp_path / "d.csv").exit_code == 0


@pytest.mark.parametrize("kind", [list, np.array, pd.Series, pl.Series])
def test_python_reads_covariates_of_texts_as_the_command_line_does(kind):
    texts, model = [f"{v:.2f}" for v in VALUES], MKLClassifier(C=1.0)
    plain, found = (MKLClassifier(C=1.0).fit(OTHER[:, None], y, covariates={"dose": d}) for d in (VALUES, kind(texts)))
    assert found.covariate_names_ == ["dose"]
    for new in (kind(texts), VALUES, kind(texts * 2)[:N]):
        decisions = found.decision_function(OTHER[:, None], covariates={"dose": new})
        np.testing.assert_array_equal(decisions, plain.decision_function(OTHER[:, None], covariates={"dose": VALUES}))
    for wrong in ("0,5", "NA", "high", "1_0", "inf"):
        bad = {"dose": kind([wrong, *texts[1:]])}
        for call in (lambda bad: model.fit(OTHER[:, None], y, covariates=bad),
                     lambda bad: found.predict(OTHER[:, None], covariates=bad)):  # fmt: skip
            with pytest.raises(ValueError, match=f"'dose' holds numbers, and '{wrong}' is none: give finite numbers"):
                call(bad)
    for count, form in ((3, int), (3, float), (20, int)):  # as docs/covariates.md advises
        codes = kind([str(form(k % count)) for k in range(N)])
        assert len(model.fit(OTHER[:, None], y, covariates={"dose": codes}).covariate_names_) == count - 1
        model.predict(OTHER[:1, None], covariates={"dose": codes[1:2]})


@pytest.mark.parametrize("texts, kind, why", [
    ([f"{k},{100 + k}" for k in range(1, 41)], "spoiled", "commas may separate thousands, '1,101'"),
    ([f"{k}.5" if k % 2 else f"{k},5" for k in range(40)], "spoiled", "may separate thousands, '0,5'"),
    ([f"{k:05}" for k in range(40)], "spoiled", "zeros before them, as codes have"),
    ([f"{k}_1" for k in range(40)], "ids", "one a row"),
    ([f"{k / 7:.2f} mg/l" for k in range(40)], "spoiled", "numbers with a unit, '0.00 mg/l' for example"),
    ([f"{k},5 {'mg' if k % 3 else 'µg'}" for k in range(40)], "spoiled", "numbers with several units"),
    ([f"{k} letters of doctor {k % 7}" for k in range(40)], "many", "40 different texts"),
    ([str(k % 3) for k in range(40)], "categories", ""),  # codes, which someone has written as texts
    ([*[str(k % 3) for k in range(40)], "?"], "numbers", ""),  # as in a file without the mark
    ([f"{k % 3},5" for k in range(40)], "numbers", ""),
    ([str(k % 15) for k in range(40)], "numbers", ""),
    ([str(k) for k in range(40)], "rows", "numbers of the rows"),
    (["red", "?"] * 20, "categories", ""),
    (["?", "-"] * 20, "empty", "nothing in it"),
    (["0.5", "?"] * 20, "constant", "one value only"),
])  # fmt: skip
def test_texts_are_numbers_only_where_no_other_reading_is_possible(texts, kind, why):
    (found,) = describe([("x", np.array(texts, object))])
    assert (found.kind, why in found.why) == (kind, True), found


@pytest.mark.parametrize("form", ["pandas", "array", "views"])
def test_one_warning_names_every_column_that_is_left_out_and_the_commas(form):
    frame = pd.DataFrame({"x": spelled(VALUES, ","), "z": OTHER, "row": np.arange(N), "same": 1.0})
    frame["who"] = [f"p{k}" for k in range(N)]
    frame["note"] = [f"seen on {k}{k} by doctor {chr(97 + k % 26)}{k}" for k in range(N)]
    frame["day"] = pd.date_range("2026-01-01", periods=N).strftime("%Y-%m-%d")
    frame["bad"] = np.where(np.arange(N) == 3, "lost", spelled(OTHER))
    frame["gone"] = None
    X = Views({"t": frame, "u": OTHER[:, None] ** 2}) if form == "views" else frame
    with pytest.warns(UserWarning, match='kernels="auto" has left out') as told:
        MKLClassifier(C=1.0).fit(X if form != "array" else frame.to_numpy(object), y)
    (said,) = [str(one.message) for one in told if "left out" in str(one.message)]
    for k, (name, why) in enumerate({
        "row": "numbers of the rows", "same": "one value only", "who": "60 different texts, one a row as ids are",
        "note": "60 different texts, whose words hardly repeat", "day": "days that count the rows",
        "bad": "numbers, but none in 1 of 60 rows, 'lost' for example", "gone": "nothing in it",
    }.items()):  # fmt: skip
        assert f"{_called(name, k + 2, form)} ({why})" in said
    assert f"read the commas in {_called('x', 0, form)} as decimal points" in said and "'z'" not in said


def _called(name, k, form):
    return {"pandas": f"'{name}'", "array": f"'column {k}'", "views": f"'t: {name}'"}[form]


@pytest.mark.parametrize("end, sep", [("txt", "\t"), ("txt", ";"), ("txt", ","), ("csv", ","), ("tsv", "\t")])
def test_a_byte_order_mark_is_no_part_of_the_first_name(tmp_path, end, sep):
    """A .txt kept it."""
    pd.DataFrame({"x": VALUES, "z": OTHER, "y": np.where(y, "b", "a")}).to_csv(
        tmp_path / f"d.{end}", sep=sep, index=False, encoding="utf-8-sig"
    )
    result = run("fit", tmp_path / f"d.{end}", "-t", "y", "-C", "1", "-o", tmp_path / "m.mk")
    assert result.exit_code == 0, result.output
    assert manykernels.load(tmp_path / "m.mk").feature_names_in_.tolist() == ["x", "z"]
