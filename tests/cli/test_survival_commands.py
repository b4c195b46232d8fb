"""Issue 15, build 2: the commands take an event and a time; and, build 3, quantiles and counts."""

import json

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from manykernels import load
from manykernels.cli import app
from manykernels.datasets import make_survival


def run(*arguments):
    return CliRunner().invoke(app, [str(word) for word in arguments], env={"COLUMNS": "140"})


@pytest.fixture
def table(tmp_path):
    X, y = make_survival(90, seed=4)
    frame = pd.DataFrame(X["clinical"], columns=["age", "b", "c", "d", "e"])
    frame["dead"], frame["days"] = y["event"].astype(int), y["time"]
    frame["site"] = np.where(np.arange(90) % 2, "north", "south")
    frame.to_csv(tmp_path / "patients.csv", index=False)
    return tmp_path / "patients.csv"


def test_a_risk_is_fitted_scored_predicted_and_reported(table, tmp_path):
    model = tmp_path / "risk.mk"
    done = run("fit", table, "--event", "dead", "--time", "days", "-C", "0.1", "-o", model, "--json")
    assert done.exit_code == 0, done.output
    facts = json.loads(done.stdout)
    assert facts["task"] == "survival" and facts["gap"] <= 1e-3
    scored = json.loads(run("score", model, table, "--json").stdout)
    assert 0.5 < scored["concordance"] < 1 and scored["events"] > 20
    told = pd.DataFrame(json.loads(run("predict", model, table, "--json").stdout))
    assert list(told.columns) == ["risk"] and len(told) == 90
    shown = run("inspect", model, table, "--json")
    assert shown.exit_code == 0 and json.loads(shown.stdout)["relevance"]
    page = tmp_path / "page.html"
    written = run("report", model, table, "-o", page, "--cv", "2", "--stability", "0")
    assert written.exit_code == 0, written.output
    text = page.read_text()
    assert "high risk" in text and "--target dead,days" in text


def test_candidates_are_scored_by_concordance_and_strata_are_kept_apart(table, tmp_path):
    found = run("cv", table, "--event", "dead", "--time", "days", "-C", "0.1,1", "-p", "2", "--folds", "3", "--json")
    assert found.exit_code == 0, found.output
    assert json.loads(found.stdout)["measure"] == "concordance"
    done = run(
        "fit", table, "--event", "dead", "--time", "days", "--strata", "site", "-C", "0.1", "-o", tmp_path / "s.mk"
    )
    assert done.exit_code == 0, done.output


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--event", "dead"], "--event and --time"),
        (["--event", "dead", "--time", "days", "--target", "age"], "leave it out"),
        (["--event", "dead", "--time", "day"], "--time 'day'"),
        (["--event", "days", "--time", "dead"], "event has the values"),
        (["--event", "site", "--time", "days"], "is not a number: give 1 for events and 0 for censored times"),
        (["--event", "dead", "--time", "age"], "negative value"),
    ],
)
def test_wrong_uses_name_the_cure(table, options, says):
    done = run("fit", table, *options)
    assert done.exit_code != 0 and says in " ".join(done.output.split())


@pytest.mark.filterwarnings("default")  # a command shows them as notes
def test_quantiles_and_counts_by_command(table, tmp_path):
    frame = pd.read_csv(table).drop(columns=["dead", "site"])
    frame.to_csv(tmp_path / "numbers.csv", index=False)
    for options in (["--loss", "quantile", "--q", "0.9"], ["--loss", "poisson"]):
        model = tmp_path / "model.mk"
        done = run(
            "fit", tmp_path / "numbers.csv", "-t", "days", "--task", "regression", "-C", "1", *options, "-o", model
        )
        assert done.exit_code == 0, done.output
        assert "D2" in json.loads(run("score", model, tmp_path / "numbers.csv", "--json").stdout)


def test_a_loss_of_counts_says_that_few_whole_numbers_are_no_classes(table, tmp_path):
    frame = pd.read_csv(table).drop(columns=["dead", "site"])
    frame["days"] = np.arange(len(frame)) % 6
    frame.to_csv(tmp_path / "counts.csv", index=False)
    done = run("fit", tmp_path / "counts.csv", "-t", "days", "-C", "1", "--loss", "poisson", "-o", tmp_path / "m.mk")
    assert done.exit_code == 0, done.output
    assert type(load(tmp_path / "m.mk")).__name__ == "MKLRegressor"
