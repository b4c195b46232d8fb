"""The commands take an event and a time; and quantiles and counts."""

import numpy as np
import pandas as pd
import pytest

from manykernels import load
from manykernels.datasets import make_survival
from tables import done, json_of


@pytest.fixture(autouse=True)
def table(cwd):
    X, y = make_survival(90, seed=4)
    frame = pd.DataFrame(X["clinical"], columns=["age", "b", "c", "d", "e"])
    frame.assign(days=y["time"]).to_csv("numbers.csv", index=False)
    frame.assign(days=np.arange(90) % 6).to_csv("counts.csv", index=False)
    frame["dead"], frame["days"] = y["event"].astype(int), y["time"]
    frame["site"] = np.where(np.arange(90) % 2, "north", "south")
    frame.to_csv("patients.csv", index=False)


def test_a_risk_is_fitted_scored_predicted_and_reported(tmp_path):
    found = json_of("fit patients.csv --event dead --time days -C 0.1 -o risk.mk")
    assert found["task"] == "survival" and found["gap"] <= 1e-3
    scored = json_of("score risk.mk patients.csv")
    assert 0.5 < scored["concordance"] < 1 and scored["events"] > 20
    rows = json_of("predict risk.mk patients.csv")
    assert [list(row) for row in rows] == [["risk"]] * 90
    assert json_of("inspect risk.mk patients.csv")["relevance"]
    done("report risk.mk patients.csv -o page.html --cv 2 --stability 0")
    text = (tmp_path / "page.html").read_text()
    assert "high risk" in text and "--target dead,days" in text


def test_candidates_are_scored_by_concordance_and_strata_are_kept_apart():
    found = json_of("cv patients.csv --event dead --time days -C 0.1,1 -p 2 --folds 3")
    assert found["measure"] == "concordance"
    done("fit patients.csv --event dead --time days --strata site -C 0.1 -o s.mk")
    assert load("s.mk").target_name_ == "dead,days,site"


@pytest.mark.parametrize("loss", ["quantile --q 0.9", "poisson"])
def test_quantiles_and_counts_by_command(loss):
    done(f"fit numbers.csv -t days --task regression -C 1 --loss {loss} -o m.mk")
    assert "D2" in json_of("score m.mk numbers.csv")


def test_a_loss_of_counts_says_that_few_whole_numbers_are_no_classes():
    done("fit counts.csv -t days -C 1 --loss poisson -o m.mk")
    assert type(load("m.mk")).__name__ == "MKLRegressor"
