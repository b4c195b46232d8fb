"""Columns that say whom rows are of, what is to be predicted, or what rows are called, are never learned from."""

import numpy as np
import pandas as pd
import pytest

from manykernels.cli._models import prepare
from manykernels.cli._talk import Wrong

N = 40
rng = np.random.default_rng(0)
IDS = [f"P{k:02}" for k in range(N)]
TABLE = pd.DataFrame({"age": rng.normal(size=N), "dose": rng.normal(size=N)})
ILL = np.where(rng.random(N) > 0.5, "yes", "no")


def seen(job):
    """The columns that the kernels of a job look at."""
    return set(job.X.columns)


def quiet(text):
    pass


@pytest.mark.parametrize("people", [np.arange(N) % 8, [f"p{k % 8}" for k in range(N)]], ids=["numbers", "names"])
def test_groups_are_no_features(tmp_path, people):
    """Issue 11, point 24."""
    TABLE.assign(patient=people, ill=ILL).to_csv(tmp_path / "t.csv", index=False)
    said = []
    job = prepare(str(tmp_path / "t.csv"), None, {"target": "ill", "groups": "patient"}, said.append)
    assert seen(job) == {"age", "dose"} and list(job.groups) == list(people)
    assert "patient" not in job.chosen and any("the column is not a feature" in text for text in said)


def test_no_column_of_the_labels_is_a_feature(tmp_path):
    """Issue 11, point 24. The others are other targets, and tell the one that is asked for."""
    TABLE.assign(who=IDS).to_csv(tmp_path / "t.csv", index=False)
    labels = pd.DataFrame({"who": IDS, "ill": ILL, "worse": np.where(ILL == "yes", 2.5, 0.5), "stage": ILL})
    labels.to_csv(tmp_path / "labels.csv", index=False)
    given = {"target": "ill", "id": "who", "labels": str(tmp_path / "labels.csv")}
    job = prepare(str(tmp_path / "t.csv"), None, given, quiet)
    assert seen(job) == {"age", "dose"} and list(job.y) == list(ILL)


def test_tables_of_a_folder_are_matched_by_the_column_that_was_named(tmp_path):
    """Issue 11, point 24. The ids stand in the last column, and rows in another order in each table."""
    folder = tmp_path / "data"
    folder.mkdir()
    order = rng.permutation(N)
    TABLE.assign(who=IDS).to_csv(folder / "a.csv", index=False)
    other = pd.DataFrame({"code": 100 + np.arange(N), "ill": ILL, "who": IDS})
    other.iloc[order].to_csv(folder / "b.csv", index=False)
    job = prepare(str(folder), None, {"target": "b.ill", "id": "who"}, quiet)
    assert job.X.index.tolist() == IDS and list(job.y) == list(ILL)
    np.testing.assert_allclose(job.X["a.age"], TABLE.age)
    assert not any("who" in name for name in seen(job))


def test_columns_without_a_name_are_called_by_their_places_and_are_no_group(tmp_path):
    """A leftover of issue 11: two such columns shared one kernel, 'Unnamed'."""
    path = tmp_path / "t.csv"
    rows = TABLE.assign(more=rng.normal(size=N), ill=ILL).to_csv(index=False, header=False)
    path.write_text("age,,,ill\n" + rows)
    job = prepare(str(path), None, {"target": "ill"}, quiet)
    assert [spec[0] for spec in job.kernels[-3:]] == ["age", "Unnamed: 1", "Unnamed: 2"]
    path.write_text("age,dose,more,\n" + rows)
    assert list(prepare(str(path), None, {"target": "Unnamed: 3"}, quiet).y) == list(ILL)
    with pytest.raises(Wrong, match="--target '' is not a column of .*'age', 'dose', 'more', 'Unnamed: 3'"):
        prepare(str(path), None, {"target": ""}, quiet)
    path.write_text("age,,Unnamed: 1,ill\n" + rows)
    with pytest.raises(Wrong, match="has several columns called 'Unnamed: 1': rename them"):
        prepare(str(path), None, {"target": "ill"}, quiet)
