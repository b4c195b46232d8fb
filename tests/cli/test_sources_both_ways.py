"""Named sources stay apart: a folder, Views, MuData and columns called SOURCE.x have the same kernels and scores."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn import datasets
from sklearn.preprocessing import scale

import manykernels
from manykernels import MKLClassifier, MKLRegressor, Views
from manykernels.inspect.sources import default_sources
from tables import done, refused, table_of

N = 60
IDS = [f"p{k}" for k in range(N)]
BUNDLED = {
    "wine": (datasets.load_wine, {"acids": slice(0, 5), "phenols": slice(5, 9), "colour": slice(9, 13)}),
    "breast": (datasets.load_breast_cancer, {"mean": slice(0, 10), "error": slice(10, 20), "worst": slice(20, 30)}),
    "iris": (datasets.load_iris, {"sepal": slice(0, 2), "petal": slice(2, 4)}),
    "digits": (lambda: datasets.load_digits(n_class=3), {"top": slice(0, 32), "bottom": slice(32, 64)}),
    "diabetes": (datasets.load_diabetes, {"person": slice(0, 4), "blood": slice(4, 10)}),
}
GENERATED = [f"generated {k}" for k in range(15)]
ALWAYS = {"wine", "diabetes", *(f"generated {k}" for k in (0, 1, 2, 4, 6, 13))}  # which have every kind of source


def study(name):
    """({source: frame with ids}, y) of a data set."""
    if name in BUNDLED:
        load, places = BUNDLED[name]
        found = load()
        rows = np.random.default_rng(0).permutation(len(found.target))[:N]
        X, y = found.data[rows], found.target[rows]
        tables = {key: frame(X[:, own], "c") for key, own in places.items()}
        return tables, scale(y) if name == "diabetes" else np.array([f"class {k}" for k in y])
    seed = int(name.split()[1])
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(N) % 2)
    tables = {"expr": frame(rng.normal(size=(N, 8)) + 0.6 * y[:, None], "g")}
    if seed % 2:
        tables["sparse"] = frame(rng.poisson(0.05 + 0.1 * y[:, None], (N, 40)).astype(float), "w")
    if seed % 3 == 0:
        clinic = frame(rng.normal(size=(N, 3)) * [1, 100, 1e4], "lab")
        tables["clinic"] = clinic.mask(rng.random(clinic.shape) < 0.1)
    if seed % 3 == 1:
        sex, stage = rng.choice(["f", "m"], N), np.where(rng.random(N) < 0.3, 1 - y, y)
        tables["clinic"] = frame(rng.normal(size=(N, 2)), "lab").assign(sex=sex, stage=[f"s{k}" for k in stage])
    if seed % 5 == 2:
        tables["site"] = pd.DataFrame({"site": rng.choice(["north", "south"], N)}, IDS)
    if seed % 5 == 3:
        words = [f"{rng.choice(['fever', 'cough'])} and {rng.choice(['pain', 'rash'])} {'x' if k else 'z'}" for k in y]
        tables["notes"] = pd.DataFrame({"note": [f"{w} {k}" for k, w in enumerate(words)]}, IDS)
    if seed % 4 == 0:
        tables["protein"] = frame(rng.normal(size=(N, 4)) + y[:, None], "P").iloc[: N - 12]
    if seed % 7 == 6:
        tables["age"] = pd.DataFrame({"age": rng.normal(60, 9, N)}, IDS)
    return tables, np.where(y == 1, "ill", "well")


def frame(x, stem):
    return pd.DataFrame(x, IDS, [f"{stem}{k}" for k in range(x.shape[1])])


def of_python(X, y):
    """(kernel names, weights, decisions, sources) of a model fitted in Python."""
    model = (MKLRegressor if y.dtype.kind == "f" else MKLClassifier)(C=1.0).fit(X, y)
    decide = model.predict if y.dtype.kind == "f" else model.decision_function
    return model.kernel_names_, np.atleast_2d(model.kernel_weights_), decide(X), sources_of(model)


def sources_of(model):
    """The sources of `relevance` and of the report."""
    return set(default_sources(model.predictor_.kernel_list, model.kernel_names_))


def of_commands(path, y):
    """The same of `fit` and `predict` on a folder or a file."""
    done(f"fit {path} -t outcome -C 1 -o m.mk")
    model = manykernels.load("m.mk")
    found = table_of("predict m.mk", path, "-q")
    columns = [c for c in found if c.startswith("prediction" if y.dtype.kind == "f" else "decision")]
    weights, decisions = np.atleast_2d(model.kernel_weights_), found[columns].to_numpy().squeeze()
    return model.kernel_names_, weights, decisions, sources_of(model)


@pytest.mark.parametrize(
    "name", [pytest.param(one, marks=[pytest.mark.slow] * (one not in ALWAYS)) for one in [*BUNDLED, *GENERATED]]
)
def test_a_folder_views_and_mudata_have_the_same_kernels_weights_and_scores(name):
    """The folder had kernels over all columns of all tables."""
    tables, y = study(name)
    Path("study").mkdir()
    for key, table in tables.items():
        table.to_csv(f"study/{key}.csv", index_label="id")
    tables = {key: tables[key] for key in sorted(tables)}  # as the files of a folder
    views = of_python(Views(tables, "index", IDS), y)
    assert {kernel.partition(",")[0] for kernel in views[0]} == set(tables) == views[3]
    ways = {"folder": lambda: of_commands("study", y)}
    pd.DataFrame({"outcome": y}, IDS).to_csv("study/zz.csv", index_label="id")
    if min(table.shape[1] for table in tables.values()) > 1:
        joined = pd.concat([table.add_prefix(f"{key}.") for key, table in tables.items()], axis=1).loc[IDS]
        joined.assign(outcome=y).to_csv("joined.csv", index=False)
        ways["joined, on the command line"] = lambda: of_commands("joined.csv", y)
        ways["joined"] = lambda: of_python(joined, y)
    if all(dtype.kind == "f" for table in tables.values() for dtype in table.dtypes):
        ways["MuData"] = lambda: of_python(mudata_of(tables), y)
    for way, fitted in ways.items():
        names, weights, decisions, sources = fitted()
        assert names == views[0] and sources == views[3], way
        np.testing.assert_allclose(weights, views[1], atol=1e-5, err_msg=way)
        np.testing.assert_allclose(decisions, views[2], atol=1e-4, err_msg=way)


def mudata_of(tables):
    anndata, mudata = pytest.importorskip("anndata"), pytest.importorskip("mudata")
    found = mudata.MuData({key: anndata.AnnData(table) for key, table in tables.items()})
    return found[IDS]


def dates(seed):
    days = np.random.default_rng(seed).integers(0, 900, N) // 2 * 2
    return (pd.Timestamp("2024-01-01") + pd.to_timedelta(days, "D")).strftime("%Y-%m-%d")


def test_dates_and_constant_sources_are_left_out_with_a_warning():
    tables, y = study("generated 0")
    tables["clinic"]["visit"] = dates(0)
    alone = {"when": pd.DataFrame({"day": dates(1)}, IDS), "same": pd.DataFrame({"a": 1, "b": "x"}, IDS)}
    with pytest.warns(UserWarning, match=r"left out 'same: a', 'same: b' \(one value only\)"):
        model = MKLClassifier(C=1.0).fit(Views(tables | alone, "index", IDS), y)
    assert {kernel.partition(",")[0] for kernel in model.kernel_names_} == set(tables)
    for key, table in (tables | alone).items():
        table.to_csv(f"{key}.csv", index_label="id")
    Path("clinic.csv").unlink()
    tables["clinic"].assign(outcome=y).to_csv("clinic.csv", index_label="id")
    result = done("fit . -t outcome -C 1 -o model.out")
    for part in ("; left out 'visit' (dates", "'when': left out 'day' (dates", "'same': left out 'a', 'b' (one value"):
        assert part in result.stderr
    assert manykernels.load("model.out").target_name_ == "clinic.outcome"


def test_a_target_in_one_table_needs_no_name_of_the_table():
    tables, y = study("generated 0")
    tables["clinic"]["outcome"], tables["expr"]["batch"] = y, [f"b{k % 6}" for k in range(N)]
    Path("study").mkdir()
    for key, table in tables.items():
        table.to_csv(f"study/{key}.csv", index_label="id")
    for command in (
        "fit study -t outcome -C 1 -o m.mk --adjust batch", "score m.mk study -t outcome", "score m.mk study",
        "cv study -t outcome -C 1 -p 2 --folds 2 --groups batch", "init study -t outcome",
    ):  # fmt: skip
        done(command)
    assert {"clinic.outcome", "expr.batch"}.isdisjoint(manykernels.load("m.mk").feature_names_in_)
    tables["expr"].assign(outcome=y).to_csv("study/expr.csv", index_label="id")
    assert "did you mean 'clinic.outcome', 'expr.outcome'?" in refused("fit study -t outcome -o m.mk")
