"""What newcomers stumbled over: tables as people have them, and what is said of them."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from manykernels import load
from tables import done, json_of, refused, run


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Numbers with words among them, dates, remarks, ids, a nearly empty column, categories with gaps."""
    rng, n = np.random.default_rng(0), 90
    frame = pd.DataFrame({"who": [f"R{i:03d}" for i in range(n)], "age": rng.normal(50, 9, n)})
    frame["income"] = rng.normal(2000, 300, n).round(2).astype(str)
    frame.loc[::30, "income"] = "refused"
    frame["day"] = pd.date_range("2026-01-01", periods=n).strftime("%Y-%m-%d")
    frame["visit"] = pd.to_datetime("2026-01-01") + pd.to_timedelta(rng.integers(0, 600, n), unit="D")
    frame["born"] = pd.date_range("1960-01-01", periods=n).strftime("%d.%m.%Y")
    frame["remark"] = [f"said {i} things" for i in range(n)]
    frame["rare"] = np.where(np.arange(n) < 5, rng.normal(size=n), np.nan)
    frame["smokes"] = np.where(np.arange(n) % 9 == 0, None, rng.choice(["yes", "no"], n))
    frame["outcome"] = np.where(frame.age + rng.normal(0, 2, n) > 50, "sick", "well")
    home = tmp_path_factory.mktemp("survey")
    frame.to_csv(home / "survey.csv", index=False)
    result = done(f"fit {home}/survey.csv -t outcome -o {home}/m.mk")
    (home / "said.txt").write_text(result.stderr)
    return home


def test_what_is_left_out_says_why_and_what_to_do(folder):
    said = Path("said.txt").read_text()
    for text in (
        "'who' is left out (90 different texts, one a row as ids are): name it with --id if it holds ids",
        "'income' is left out (numbers, but none in 3 of 90 rows, 'refused' for example): correct or empty",
        "an RBF on days and cycles of 'visit'",
        "'day' is left out (days that count the rows): a configuration may name it",
        "'born' is left out (dates in another form than 2024-03-01): to use them, write them as 2024-03-01",
        "'remark' is left out (90 different texts, whose words hardly repeat): a configuration",
        "left out 'rare' (empty in 85 of 90 rows)",
        "'smokes' is missing in 10 of 90 examples",
    ):
        assert text in said


def test_the_target_of_the_fit_is_known_later(folder):
    found = json_of("score m.mk survey.csv")
    frame = pd.read_csv("survey.csv")
    assert found["commonest"] == pytest.approx(frame.outcome.value_counts(normalize=True).max())
    assert found["accuracy"] > found["commonest"] and load("m.mk").target_name_ == "outcome"


@pytest.mark.parametrize("command", ["score", "inspect", "report"])
def test_data_without_the_target_of_the_fit_are_told_what_they_lack(folder, command):
    pd.read_csv("survey.csv").drop(columns="outcome").to_csv("new.csv", index=False)
    assert "the data lack the column 'outcome' of the fit" in refused(f"{command} m.mk new.csv")


def test_ids_may_repeat_where_nothing_is_matched(folder):
    frame = pd.read_csv("survey.csv")
    pd.concat([frame, frame[:2]]).to_csv("twice.csv", index=False)
    result = done("predict m.mk twice.csv --id who")
    assert result.stdout.splitlines()[-1].startswith("R001,")
    assert "ids must differ; name another column with --id" in refused("fit twice.csv -t outcome --id who -o m.mk")


def test_the_page_shows_the_columns_of_the_table_and_those_not_used(folder):
    done("report m.mk survey.csv -o r.html --cv 2 --relevance fast --stability 0 --groups who")
    facts = json.loads(Path("r.json").read_text())
    assert facts["data"]["form"] == "a table of 9 columns" and facts["target"] == "outcome"
    assert facts["data"]["unused"] == ["who", "income", "day", "born", "remark", "rare"]
    assert "Not used by the model" in Path("r.html").read_text()


def test_columns_in_large_units_hide_no_other_of_their_group():
    rng, n = np.random.default_rng(0), 80
    y = np.arange(n) % 2
    frame = pd.DataFrame({"body.hue": y + 0.3 * rng.normal(size=n), "body.proline": rng.normal(750, 300, n), "y": y})
    frame.loc[3, "body.hue"] = np.nan
    frame.to_csv("d.csv", index=False)
    said = done("fit d.csv -t y -C 1 -o m.mk").stderr
    assert "'body' has gaps in 1 of 80 examples, which are filled with means" in said
    assert json_of("score m.mk d.csv")["accuracy"] > 0.9
    found = json_of("cv d.csv -t y -C 1 -p 2")
    assert found["scores"][0]["score"] > 0.9  # without scaling it is that of a coin
    text = run("init d.csv -t y").stdout
    assert 'columns = ["body.hue", "body.proline"]\nscale = true\nmissing = "zero"' in text


def test_numbers_of_rows_are_no_source():
    """An index that was written into the file, and ids that count the patients: of sorted rows they tell the class."""
    rng, n = np.random.default_rng(2), 60
    frame = pd.DataFrame({"x": rng.normal(size=n), "visits": rng.integers(0, 9, n), "id": 101 + rng.permutation(n)})
    frame["y"] = np.repeat(["a", "b"], n // 2)
    frame.to_csv("d.csv")
    result = done("fit d.csv -t y -C 1 -o m.mk --json")
    assert {row["kernel"] for row in json.loads(result.stdout)["weights"]} > {"x", "visits", "all numbers, RBF 1"}
    assert "'Unnamed: 0', 'id' are left out (numbers of the rows): a configuration may name it" in result.stderr
