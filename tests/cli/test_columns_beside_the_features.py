"""Columns that say whom rows are of, what is adjusted for, or what rows are called, are never learned from."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from manykernels import MKLClassifier, load
from manykernels.cli._models import prepare
from manykernels.cli._talk import Wrong
from manykernels.kernels import RBF
from tables import done, json_of, refused, run

N = 40
rng = np.random.default_rng(0)
IDS = [f"P{k:02}" for k in range(N)]
SITE = np.array(["north", "south", "west", "east"])[np.arange(N) % 4]
TABLE = pd.DataFrame({"age": rng.normal(size=N), "dose": rng.normal(size=N)})
ILL = np.where(TABLE.age + 0.4 * rng.normal(size=N) > 0, "yes", "no")


def job_of(path, **given):
    return prepare(path, None, {"target": "ill"} | given)


@pytest.mark.parametrize("people", [np.arange(N) % 8, [f"p{k % 8}" for k in range(N)]], ids=["numbers", "names"])
def test_groups_are_no_features(people, capsys):
    TABLE.assign(patient=people, ill=ILL).to_csv("t.csv", index=False)
    job = job_of("t.csv", groups="patient")
    assert set(job.X.columns) == {"age", "dose"} and list(job.groups) == list(people)
    assert "patient" not in job.chosen
    says = "rows of the same 'patient' (8 groups) are held out together; the column is not a feature."
    assert says in capsys.readouterr().err


def test_no_column_of_the_labels_is_a_feature():
    """The others are other targets, and tell the one that is asked for."""
    TABLE.assign(who=IDS).to_csv("t.csv", index=False)
    labels = pd.DataFrame({"who": IDS, "ill": ILL, "worse": np.where(ILL == "yes", 2.5, 0.5), "stage": ILL})
    labels.to_csv("labels.csv", index=False)
    job = job_of("t.csv", id="who", labels="labels.csv")
    assert set(job.X.columns) == {"age", "dose"} and list(job.y) == list(ILL)


def test_tables_of_a_folder_are_matched_by_the_column_that_was_named():
    """The ids stand in the last column, and rows in another order in each table."""
    Path("data").mkdir()
    TABLE.assign(who=IDS).to_csv("data/a.csv", index=False)
    other = pd.DataFrame({"code": 100 + np.arange(N), "ill": ILL, "who": IDS})
    other.iloc[rng.permutation(N)].to_csv("data/b.csv", index=False)
    job = job_of("data", target="b.ill", id="who")
    assert job.X.index.tolist() == IDS and list(job.y) == list(ILL)
    np.testing.assert_allclose(job.X["a.age"], TABLE.age)
    assert not any("who" in name for name in job.X.columns)


def test_columns_without_a_name_are_called_by_their_places_and_are_no_group():
    """Two such columns shared one kernel, 'Unnamed'."""
    path, rows = Path("t.csv"), TABLE.assign(more=rng.normal(size=N), ill=ILL).to_csv(index=False, header=False)
    path.write_text("age,,,ill\n" + rows)
    assert [spec[0] for spec in job_of("t.csv").kernels[-3:]] == ["age", "Unnamed: 1", "Unnamed: 2"]
    path.write_text("age,dose,more,\n" + rows)
    assert list(job_of("t.csv", target="Unnamed: 3").y) == list(ILL)
    with pytest.raises(Wrong, match="--target '' is not a column of .*'age', 'dose', 'more', 'Unnamed: 3'"):
        job_of("t.csv", target="")
    path.write_text("age,,Unnamed: 1,ill\n" + rows)
    with pytest.raises(Wrong, match="has several columns called 'Unnamed: 1': rename them"):
        job_of("t.csv")


def test_ids_of_the_fit_are_kept():
    """`predict -o` lost them, and so did the commands that repeat a report."""
    TABLE.assign(who=IDS, y=ILL).to_csv("d.csv", index=False)
    done("fit d.csv -t y --id who -C 1 -o m.mk")
    done("predict m.mk d.csv -o p.csv")
    assert pd.read_csv("p.csv")["who"].tolist() == IDS
    TABLE.to_csv("other.csv", index=False)
    assert done("predict m.mk other.csv").stdout.startswith("prediction,")
    done("report m.mk d.csv -o r.html --cv 0 --relevance fast --stability 0")
    lines = json.loads(Path("r.json").read_text())["reproduce"]
    assert ["--id who" in line for line in lines if line.startswith("manykernels ")] == [True, True]


@pytest.mark.parametrize("kernels", ["auto", [RBF()], [("x", RBF(), [0], "zero")]], ids=["auto", "list", "zero"])
def test_whole_numbers_beyond_floats_are_infinite(kernels):
    frame = pd.DataFrame({"x": pd.Series([10**400, *range(1, N)], dtype=object), "z": rng.normal(size=N)})
    with pytest.raises(ValueError, match="X contains infinity in column ('x'|0);.*Numbers beyond 1.8e308 are infinite"):
        MKLClassifier(kernels, C=1.0).fit(frame, np.arange(N) % 2)


@pytest.mark.parametrize("groups", ["place", "who --id who"])
def test_each_group_of_a_report_is_held_out_in_turn(groups):
    TABLE.assign(place=SITE, who=IDS, ill=ILL).to_csv("d.csv", index=False)
    Path("k.toml").write_text('C = 1.0\n[[kernel]]\nkernel = "RBF"\ngamma = 0.5\ncolumns = ["age", "dose"]\n')
    done("fit d.csv -t ill --config k.toml -o m.mk")
    report = "report m.mk {} -t ill -o r.html --cv 4 --relevance fast --stability 0 --groups "
    done(report.format("d.csv") + groups)
    found = json.loads(Path("r.json").read_text())
    assert [row["name"] for row in found["sources"]["sites"]] == (sorted(set(SITE)) if groups == "place" else [])
    again = [line for line in found["reproduce"] if line.startswith("manykernels report")]
    assert f"--groups {groups.split()[0]}" in again[0]
    TABLE.assign(place=np.where(np.arange(N) < 3, None, SITE), ill=ILL).to_csv("gaps.csv", index=False)
    says = "--groups 'place' is empty in 3 rows: fill it in or remove them"
    assert says in refused(report.format("gaps.csv") + "place")
    said = refused(report.format("gaps.csv") + "plaze")
    assert "--groups 'plaze' is not a column" in said and "'place'" in said


@pytest.fixture
def batches():
    """A table whose target depends on the batch, a number that is a code."""
    batch, x = rng.integers(1, 4, 60), rng.normal(size=(60, 2))
    frame = pd.DataFrame(x, columns=["gene", "other"]).assign(
        batch=batch, sex=rng.choice(["f", "m"], 60), age=rng.normal(50, 9, 60), y=3 * x[:, 0] + 5 * (batch == 2)
    )
    frame.to_csv("t.csv", index=False)
    return frame


def test_covariates_are_read_by_name(batches):
    result = done("fit t.csv -t y --adjust age,sex,batch:category -C 10 -o m.mk --json")
    assert "adjusted for: 'age', 'sex', 'batch', without a penalty; these columns are not features" in result.stderr
    rows = {row["covariate"]: row["coefficient"] for row in json.loads(result.stdout)["covariates"]}
    fitted = load("m.mk")
    assert list(rows) == ["age", "sex=m", "batch=2", "batch=3"] == list(fitted.covariate_names_)
    assert list(rows.values()) == pytest.approx(fitted.covariate_coef_[0])
    assert list(fitted.feature_names_in_) == ["gene", "other"]
    batches[["age", "batch", "other", "sex", "gene", "y"]].to_csv("new.csv", index=False)
    assert run("predict m.mk new.csv").stdout == done("predict m.mk t.csv").stdout
    assert json_of("score m.mk t.csv")["R2"] > 0.9
    done("report m.mk t.csv --cv 2 --stability 0 --relevance fast -o r.html -q")
    assert "adjusts for" in Path("r.html").read_text()
    assert "--adjust age,sex:category,batch:category" in Path("r.json").read_text()
    batches.drop(columns="batch").to_csv("less.csv", index=False)
    assert "covariate 'batch' is not a column" in refused("predict m.mk less.csv")


def test_cv_adjusts_and_numbers_that_may_be_codes_are_named(batches):
    cv = "cv t.csv -t y -C 1,10 -p 1 --folds 3"
    plain, coded = (json_of(cv, *more)["scores"] for more in ([], ["--adjust", "batch:category"]))
    assert max(row["score"] for row in coded) > max(row["score"] for row in plain)
    codes = {"ten": np.arange(60) % 10, "eleven": np.arange(60) % 11, "half": np.arange(60) % 5 / 2}
    batches.assign(**codes, two=np.arange(60) % 2).to_csv("t.csv", index=False)
    said = done("fit t.csv -t y --adjust batch,ten,eleven,half,two -C 1 -o m.mk").stderr
    few = "has few whole numbers and is taken as a number; --adjust"
    assert [line.split()[0] for line in said.splitlines() if few in line] == ["'batch'", "'ten'"]
    assert f"'batch' {few} batch:category makes it a category" in said
