"""`fit --adjust` and `cv --adjust`; other commands read the columns by name. Issue 15, point 1."""

import json

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import manykernels
from manykernels.cli import app

rng = np.random.default_rng(0)
N = 60


@pytest.fixture
def table(tmp_path):
    batch, x = rng.integers(1, 4, N), rng.normal(size=(N, 2))
    frame = pd.DataFrame(x, columns=["gene", "other"]).assign(
        batch=batch, sex=rng.choice(["f", "m"], N), age=rng.normal(50, 9, N), y=3 * x[:, 0] + 5 * (batch == 2)
    )
    frame.to_csv(tmp_path / "t.csv", index=False)
    return tmp_path, frame


def run(*words):
    found = CliRunner().invoke(app, list(map(str, words)))
    return found.exit_code, found.stdout, found.stderr


def test_fit_predict_score_and_report_read_the_columns_by_name(table):
    folder, frame = table
    data, model = folder / "t.csv", folder / "m.mk"
    code, out, err = run("fit", data, "-t", "y", "--adjust", "age,sex,batch:category", "-C", 10, "-o", model, "--json")
    assert code == 0 and "adjusted for: 'age', 'sex', 'batch'" in err
    names = [row["covariate"] for row in json.loads(out)["covariates"]]
    assert names == ["age", "sex=m", "batch=2", "batch=3"]
    fitted = manykernels.load(model)
    assert list(fitted.feature_names_in_) == ["gene", "other"]
    shuffled = frame[["age", "batch", "other", "sex", "gene", "y"]]
    shuffled.to_csv(folder / "new.csv", index=False)
    assert run("predict", model, folder / "new.csv")[1] == run("predict", model, data)[1]
    code, out, _ = run("score", model, data, "--json")
    assert code == 0 and json.loads(out)["R2"] > 0.9
    page = folder / "r.html"
    code, _, _ = run("report", model, data, "--cv", 2, "--stability", 0, "--relevance", "fast", "-o", page, "-q")
    assert code == 0 and "adjusts for" in page.read_text()
    assert "--adjust age,sex:category,batch:category" in (folder / "r.json").read_text()
    code, _, err = run("predict", model, _without(folder, frame, "batch"))
    assert code != 0 and "covariate 'batch' is not a column" in err


def test_cv_adjusts_and_numbers_that_may_be_codes_are_named(table):
    folder, _ = table
    asked = folder / "t.csv", "-t", "y", "-C", "1,10", "-p", "1", "--folds", 3, "--json"
    plain, coded = (json.loads(run("cv", *asked, *more)[1]) for more in ([], ["--adjust", "batch:category"]))
    assert max(row["score"] for row in coded["scores"]) > max(row["score"] for row in plain["scores"])
    _, _, err = run("fit", folder / "t.csv", "-t", "y", "--adjust", "batch", "-C", 1, "-o", folder / "m.mk")
    assert "'batch' has few whole numbers and is taken as a number; --adjust batch:category" in err


@pytest.mark.parametrize(("words", "says"), [
    (["--adjust", "agee"], "--adjust 'agee' is not a column of the data besides the target: did you mean 'age'"),
    (["--adjust", ","], "--adjust ',' names no column"),
    (["--adjust", "age", "--task", "one-class"], "--adjust needs targets"),
])  # fmt: skip
def test_wrong_columns_get_a_sentence(table, words, says):
    folder, _ = table
    code, _, err = run("fit", folder / "t.csv", "-t", "y", "-o", folder / "m.mk", *words)
    assert code != 0 and says in err


def _without(folder, frame, column):
    path = folder / "less.csv"
    frame.drop(columns=column).to_csv(path, index=False)
    return path
