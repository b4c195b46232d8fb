"""The command line and Python choose the same kernels for the same table, say the same of it, and predict the same."""

import tomllib
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import manykernels
from manykernels import MKLClassifier
from tables import done, table_of

N = 60


def table(kind):
    """A table of 60 examples by what its columns hold, and y."""
    rng = np.random.default_rng(3)
    y = np.tile(["ill", "well"], N // 2)
    shift = (y == "ill").astype(float)
    numbers = pd.DataFrame({"age": 50 + 9 * rng.normal(size=N) + 9 * shift, "dose": 1000 * rng.exponential(size=N)})
    groups = pd.DataFrame(rng.normal(size=(N, 4)) + shift[:, None], columns=["rna.a", "rna.b", "x:1", "x:2"])
    gaps = numbers.mask(rng.random((N, 2)) < 0.15)
    texts = [
        f"seen on {i}: {rng.choice(['fever', 'cough', 'tired'])} {'ill' if s else 'fine'}" for i, s in enumerate(shift)
    ]
    others = pd.DataFrame({"sex": rng.choice(["f", "m"], N), "smokes": rng.random(N) < 0.4 + 0.3 * shift})
    others["site"] = np.where(rng.random(N) < 0.2, None, rng.choice(["north", "south", "west"], N))
    useless = pd.DataFrame({"id": np.arange(N), "code": [f"c{i}" for i in range(N)], "same": 1})
    useless["day"] = pd.date_range("2026-01-01", periods=N).strftime("%Y-%m-%d")
    letters = {
        name: ["".join(rng.choice(list(own), rng.integers(20, 30))) for _ in range(N)]
        for name, own in (("promoter", "acgt"), ("enzyme", "ACDEFGHIKLMNPQRSTVWY"))
    }
    found = {
        "sequences": [pd.DataFrame(letters).mask(rng.random((N, 2)) < 0.1), numbers],
        "proteins": [pd.DataFrame({"enzyme": letters["enzyme"]})],
        "numbers": [numbers],
        "groups": [groups, numbers],
        "gaps": [gaps],
        "categories": [others],
        "texts": [pd.DataFrame({"note": texts})],
        "mixed": [useless, gaps, others, pd.DataFrame({"note": np.where(rng.random(N) < 0.1, None, texts)})],
        "many": [
            pd.DataFrame(rng.normal(size=(N, 130)) + shift[:, None], columns=[f"g{j}" for j in range(130)]),
            others,
        ],
    }
    return pd.concat(found[kind], axis=1), y


@pytest.mark.parametrize(
    "kind", ["numbers", "groups", "gaps", "categories", "texts", "mixed", "many", "sequences", "proteins"]
)
def test_a_file_and_its_frame_have_the_same_kernels_and_predictions(kind):
    """Python left columns of sequences out, and the command line left out proteins."""
    frame, y = table(kind)
    frame.assign(y=y).to_csv("d.csv", index=False)
    X = pd.read_csv("d.csv").drop(columns="y")
    model = MKLClassifier().fit(X, y)
    result = done("fit d.csv -t y -o m.mk")
    own = manykernels.load("m.mk")
    assert own.kernel_names_ == model.kernel_names_
    assert own.kernels_chosen_ == model.kernels_chosen_ and own.kernels_chosen_ in result.stderr
    assert result.stderr.count("manykernels init") == 1
    found = table_of("predict m.mk d.csv")
    # kernel values are float32, and categories are texts in a file: the last digits may differ
    np.testing.assert_allclose(found.decision, model.decision_function(X), atol=2e-6)
    assert list(found.prediction) == list(model.predict(X))


def test_rounding_does_not_choose_between_equal_classes():
    """Where no class has half of a category, 63 % of the predictions were not the same."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 6, 150)
    site = np.where(rng.random(150) < 0.3, y, rng.integers(0, 6, 150))
    X = pd.DataFrame({"site": [f"s{k}" for k in site], "b": rng.choice(list("xyz"), 150)})
    X.assign(y=[f"k{k}" for k in y]).to_csv("d.csv", index=False)
    model = MKLClassifier(C=0.1).fit(X, [f"k{k}" for k in y])
    done("fit d.csv -t y -C 0.1 -o m.mk")
    found = table_of("predict m.mk d.csv")
    f = np.sort(model.decision_function(X))
    assert np.mean(f[:, -1] - f[:, -2] < 1e-9) > 0.3
    assert list(found.prediction) == list(model.predict(X))


def test_texts_are_written_down_to_be_changed():
    frame, y = table("mixed")
    frame.assign(y=y).to_csv("d.csv", index=False)
    done("init d.csv -t y -o k.toml")
    tables = tomllib.loads(Path("k.toml").read_text())["kernel"]
    assert tables[-1] == {"name": "note", "kernel": "Tfidf", "columns": ["note"], "missing": "zero"}
    for way in ([], ["--config", "k.toml"]):
        done("fit d.csv -t y -o m.mk", *way)
    assert manykernels.load("m.mk").kernel_names_ == MKLClassifier().fit(frame, y).kernel_names_
