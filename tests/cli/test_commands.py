"""From a table to predictions: each command, each kind of data, each kind of task."""

import io
import json
import tomllib
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import balanced_accuracy_score

import manykernels
from tables import done, json_of, patients, refused, run, table_of


def test_fit_says_on_stderr_what_it_chose_and_shows_results_on_stdout(folder):
    result = done("fit data.csv --target y -o m.mk --json")
    facts = json.loads(result.stdout)
    assert facts["task"] == "classification" and facts["examples"] == 40 and facts["gap"] <= 1e-3
    kernels = {row["kernel"] for row in facts["weights"]}
    assert kernels > {"age", "dose", "sex", "all columns, RBF 1", "all columns, Laplacian 1"} and len(kernels) == 9
    assert sum(row["share"] for row in facts["weights"]) == pytest.approx(1)
    for text in (
        "task: classification",
        "'name' is left out (40 different texts, whose words hardly repeat): a config",
        "Categorical on 'sex'",
        "'dose' is missing in 2 of 40",
    ):
        assert text in result.stderr
    quiet = run("fit data.csv --target y -o m.mk --quiet")
    assert quiet.stderr == "" and "classification" in quiet.stdout


def test_pipes_and_files_say_the_same(folder):
    text = Path("new.csv").read_text()
    plain = run("predict model.mk new.csv").stdout
    assert run("predict model.mk -", input=text).stdout == plain
    assert run("predict model.mk -", input=text.replace(",", "\t")).stdout == plain
    assert run("predict model.mk new.csv -o out.csv").stdout == ""
    assert Path("out.csv").read_text() == plain
    rows = json_of("predict model.mk new.csv")
    assert len(rows) == 10 and set(rows[0]) == {"prediction", "decision"}


@pytest.mark.parametrize("kind", ["csv.gz", "tsv", "parquet"])
def test_kinds_of_tables_give_the_same_predictions(folder, kind):
    new, path = pd.read_csv("new.csv"), f"new.{kind}"
    if kind == "parquet":
        pl = pytest.importorskip("polars", reason="polars is not installed: no Parquet")
        pl.read_csv("new.csv").write_parquet(path)
    else:
        new.to_csv(path, index=False, sep="\t" if kind == "tsv" else ",")
    found, plain = (table_of("predict model.mk", given) for given in (path, "new.csv"))
    pd.testing.assert_frame_equal(found, plain, rtol=1e-12)  # readers of numbers differ in the last digit


def test_inspect_tells_weights_and_with_data_relevance(folder):
    plain = json_of("inspect model.mk")
    assert plain["model"] == "MKLClassifier" and plain["C"] in (0.1, 1, 10, 100) and "relevance" not in plain
    assert sum(row["share"] for row in plain["weights"]) == pytest.approx(1)
    full = json_of("inspect model.mk data.csv -t y")
    assert full["relevance"][-1]["name"] == "dose" and full["relevance"][0]["relevance"] > 0.1


def test_cv_scores_every_candidate_and_names_the_best(folder):
    result = run("cv data.csv -t y -C 0.1,10 -p 1,2 --folds 3 --json")
    facts = json.loads(result.stdout)
    assert [(row["C"], row["p"]) for row in facts["scores"]] == [(0.1, 1), (0.1, 2), (10, 1), (10, 2)]
    best = max(facts["scores"], key=lambda row: row["score"])
    assert (facts["C"], facts["p"]) == (best["C"], best["p"])
    assert "the best" in result.stderr


def test_C_is_chosen_on_demand(folder):
    Path("k.toml").write_text('C = "auto"\n[[kernel]]\nkernel = "Linear"\ncolumns = ["dose"]\nmissing = "zero"\n')
    for given in (("-C", "auto"), ("--config", "k.toml")):
        result = done("fit data.csv -t y", *given, "-o", "m.mk", "--json")
        model = manykernels.load("m.mk")
        assert model.C == "auto" and json.loads(result.stdout)["C"] == model.C_
        assert json_of("inspect m.mk")["C"] == model.C_


def test_init_writes_what_fit_would_choose(folder):
    result = done("init data.csv -t y -o kernels.toml")
    assert result.stdout == ""
    settings = tomllib.loads(Path("kernels.toml").read_text())
    assert settings["target"] == "y" and [table["kernel"] for table in settings["kernel"]] == [
        *["RBF"] * 3,  # on both, gaps at their means
        *["Laplacian"] * 3,
        "RBF",
        "RBF",
        "Categorical",
    ]
    done("fit data.csv --config kernels.toml -o m.mk")
    one, two = (manykernels.load(path) for path in ("model.mk", "m.mk"))
    np.testing.assert_array_equal(one.kernel_weights_, two.kernel_weights_)


def test_a_configuration_asks_for_a_learned_metric_or_gives_one():
    X = np.random.default_rng(0).normal(size=(120, 6))
    frame = pd.DataFrame(X, columns=list("abcdef")).assign(y=np.where(X[:, 0] * X[:, 1] > 0, "yes", "no"))
    frame.to_csv("d.csv", index=False)
    for metric in ('"learn"', "[2.0, 2.0, 0.1, 0.1, 0.1, 0.1]"):
        kernel = f'[[kernel]]\nkernel = "RBF"\nscale = true\nmetric = {metric}\ncolumns = {list("abcdef")}\n'
        Path("k.toml").write_text('target = "y"\n' + kernel)
        done("fit d.csv --config k.toml -o m.mk")
        shown = json_of("inspect m.mk")
        assert ("metric" in shown) == (metric == '"learn"')
        if "metric" in shown:
            assert {row["column"] for row in shown["metric"][:2]} == {"a", "b"}
        done("predict m.mk d.csv")


def test_options_win_over_the_configuration(folder):
    config = 'target = "y"\nC = 3\np = 1.5\n[[kernel]]\nkernel = "Laplacian"\ngamma = 0.1\ncolumns = ["age"]\n'
    Path("k.toml").write_text(config)
    run("fit data.csv --config k.toml -C 7 -o m.mk")
    model = manykernels.load("m.mk")
    assert model.C == 7 and model.regularizer == 1.5 and model.kernel_names_ == ["Laplacian 1"]


def test_regression_is_guessed_and_does_not_mind_the_unit():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.uniform(-2, 2, 60), "b": rng.normal(size=60)})
    for unit in (1.0, 1e6):
        frame["y"] = unit * np.sin(frame.a)
        frame.to_csv("d.csv", index=False)
        result = done("fit d.csv -t y -C 10 -o m.mk")
        assert "task: regression" in result.stderr
        assert json_of("score m.mk d.csv")["R2"] > 0.9


def test_one_class():
    rng = np.random.default_rng(0)
    pd.DataFrame({"a": rng.normal(size=50), "b": rng.normal(size=50)}).to_csv("d.csv", index=False)
    Path("far.csv").write_text("a,b\n0,0\n50,50\n")
    done("fit d.csv --task one-class -o m.mk")
    found = table_of("predict m.mk far.csv")
    assert list(found.prediction) == [1, -1] and manykernels.load("m.mk").nu == 0.1


def test_arrays_of_npz_are_views_with_a_kernel_each():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], 15)
    np.savez("d.npz", rna=rng.normal(size=(45, 4)) + y[:, None], image=rng.normal(size=(45, 3)), y=y)
    done("fit d.npz -t y -o m.mk --json")
    names = manykernels.load("m.mk").kernel_names_
    assert len(names) == 12 and {name.partition(",")[0] for name in names} == {"rna", "image"}
    found = table_of("predict m.mk d.npz")
    assert list(found.columns) == ["prediction", "decision:0", "decision:1", "decision:2"]
    assert (found.prediction == found.iloc[:, 1:].to_numpy().argmax(axis=1)).all()


def test_gower_reads_numbers_codes_and_texts_with_gaps():
    """Predictions equal those of the kernel in Python."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"age": rng.normal(60, 9, 40), "code": rng.integers(1, 4, 40), "sex": ["f", "m"] * 20})
    frame["y"] = np.where((frame.code == 2) ^ (frame.sex == "f"), "a", "b")
    frame = frame.astype({"code": object, "sex": object})
    frame.loc[3, "age"], frame.loc[5, "code"], frame.loc[7, "sex"] = np.nan, None, None
    frame.to_csv("d.csv", index=False)
    kernel = '[[kernel]]\nname = "all"\nkernel = "Gower"\ncolumns = ["age", "code", "sex"]\n'
    Path("k.toml").write_text(f'target = "y"\nC = 10\n{kernel}categories = ["code"]\n')
    done("fit d.csv --config k.toml -o m.mk")
    Path("new.csv").write_text("age,code,sex\n50,2,f\n,9,m\n61,,\n")
    result = done("predict m.mk new.csv")
    own = manykernels.MKLClassifier([("all", manykernels.kernels.Gower([1]), ["age", "code", "sex"])], C=10.0)
    new = pd.DataFrame({"age": [50, np.nan, 61], "code": [2, 9, None], "sex": ["f", "m", None]}, dtype=object)
    expected = own.fit(frame[["age", "code", "sex"]], frame.y).decision_function(new)
    np.testing.assert_allclose(pd.read_csv(io.StringIO(result.stdout)).decision, expected, atol=1e-3)
    for more, says in [
        ('categories = ["y"]\n', 'categories = [\'y\']: give names of its columns'),
        ("scale = true\n", "true only to kernels on numbers"),
    ]:  # fmt: skip
        Path("k.toml").write_text(f'target = "y"\n{kernel}{more}')
        assert says in " ".join(refused("fit d.csv --config k.toml -o m.mk").split())


def test_kernels_are_listed_with_their_parameters():
    rows = {row["kernel"]: row for row in json_of("kernels")["kernels"]}
    assert rows["Spectrum"]["parameters"]["k"] == "required" and "_empty" not in run("kernels").stdout
    assert rows["Polynomial"]["parameters"] == {"degree": 3, "gamma": None, "coef0": 1.0} and "RBF" in rows
    assert "Gaussian" in run("kernels").stdout


def test_categories_may_hold_any_sign():
    Path("d.csv").write_text("c.1,c.2,c,y\n" + '1,2,"x=1",a\n2,1,"x=2, é",b\n' * 10)
    result = run("fit d.csv -t y -o m.mk --json")
    assert {row["kernel"] for row in json.loads(result.stdout)["weights"]} > {"c", "c, RBF 1"}
    assert list(manykernels.load("m.mk").feature_names_in_) == ["c", "c.1", "c.2"]
    assert json_of("score m.mk d.csv")["accuracy"] == 1


@pytest.mark.parametrize("options", [("--loss", "logistic"), ("--probabilities",)], ids=["logistic", "hinge"])
def test_predict_writes_probabilities(folder, options):
    done("fit data.csv -t y -o m.mk", *options)
    found = table_of("predict m.mk data.csv")
    assert list(found.columns) == ["prediction", "decision", "probability:ill", "probability:well"]
    np.testing.assert_allclose(found["probability:ill"] + found["probability:well"], 1)
    truth = pd.read_csv("data.csv").y
    assert (
        found["probability:ill"][truth == "ill"].mean() > 0.6 > 0.4 > found["probability:ill"][truth == "well"].mean()
    )


def test_folds_of_cv_keep_groups_whole():
    """Four rows of each patient, whose label is a coin's."""
    rng = np.random.default_rng(4)
    patient = np.tile(np.arange(30), 4)
    frame = pd.DataFrame(rng.normal(size=(30, 3))[patient] + 0.01 * rng.normal(size=(120, 3)), columns=list("abc"))
    frame["who"], frame["y"] = [f"p{k}" for k in patient], rng.integers(0, 2, 30)[patient]
    frame.to_csv("d.csv", index=False)
    score = {}
    for groups in ((), ("--groups", "who")):
        result = done("cv d.csv -t y -C 10 -p 2 --folds 3 --json", *groups)
        score[groups] = json.loads(result.stdout)["scores"][0]["score"]
    assert score[()] > 0.85 and score["--groups", "who"] < 0.7
    assert "--folds 31 is more than the 30 groups" in refused("cv d.csv -t y --folds 31 --groups who")


def test_scores_are_those_of_scikit_learn(folder):
    """Of unequal classes and mistakes, so that it matters which of both is the truth."""
    other = patients(60, 3)
    other["y"] = np.where(other.age > 42, "ill", "well")
    other.to_csv("other.csv", index=False)
    guess = table_of("predict model.mk other.csv").prediction
    found = json_of("score model.mk other.csv")
    recalls = [(guess[other.y == label] == label).mean() for label in ("ill", "well")]
    assert (
        found["balanced"] == pytest.approx(np.mean(recalls)) == pytest.approx(balanced_accuracy_score(other.y, guess))
    )
    assert found["accuracy"] == pytest.approx((guess == other.y).mean()) and found["examples"] == 60
    assert found["commonest"] == pytest.approx((other.y == "ill").mean())
    assert abs(found["balanced"] - balanced_accuracy_score(guess, other.y)) > 0.05
