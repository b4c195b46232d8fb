"""Every model of pairs has a page; what it says can be checked, and repeated as printed."""

import json
import re
import subprocess
import sys
from html import unescape

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from manykernels import KernelStack, MKLClassifier, MKLRegressor
from manykernels.kernels import RBF, Categorical, Features, Linear
from manykernels.pairs import Pairs, PairSplit, Pairwise
from manykernels.regularizers import LpNorm
from manykernels.report._repeat import model_lines

rng = np.random.default_rng(0)
X = rng.normal(size=(60, 4))
y = np.where(X[:, 0] + 0.3 * rng.normal(size=60) > 0, "ill", "well")
KERNELS = [(f"k{j}", RBF(0.5), [j]) for j in range(4)]
QUICK = dict(cv=2, relevance="fast", stability=0)


def plain(report):
    return re.sub("<[^>]+>", "", report.html())


LEFT, RIGHT = rng.normal(size=(7, 3)), rng.normal(size=(6, 2))
PEOPLE = pd.DataFrame(LEFT, columns=list("abc"), index=[f"drug {k}" for k in range(7)])
STACKS = [KernelStack([RBF(0.3)(LEFT), Linear()(LEFT)]), KernelStack([RBF(0.3)(RIGHT)])]
SIDES = {
    "arrays": (LEFT, RIGHT, Pairwise([("one", RBF(0.3)), ("two", Linear())], [("other", RBF(0.3))])),
    "frames": (PEOPLE, RIGHT, Pairwise([("one", RBF(0.3), ["a", "b"])], [RBF(0.3)])),
    "views": ({"u": LEFT, "v": LEFT[:, :1]}, RIGHT, Pairwise([("u", RBF(0.3)), ("v", Linear())], [Linear()])),
    "matrices": (*STACKS, Pairwise("precomputed", "precomputed")),
}


COMBINE = ["kronecker", "cartesian", "sum", ["kronecker", "sum"]]


@pytest.mark.parametrize(
    ("sides", "combine"), [*(("arrays", c) for c in COMBINE), ("frames", "sum"), ("views", "cartesian"),
                           ("matrices", "kronecker")]
)  # fmt: skip
def test_every_form_of_pairs_has_a_page(sides, combine):
    left, right, kernels = SIDES[sides]
    pairs, kernels = Pairs.grid(left, right), kernels.set_params(combine=combine)
    value = np.outer(LEFT[:, 0], RIGHT[:, 0]).ravel() + LEFT[pairs.index[:, 0], 1]
    for model, target in (
        (MKLClassifier(kernels, C=1.0), np.where(value > 0, "yes", "no")),
        (MKLRegressor(kernels, loss="squared", C=1.0), value),
    ):
        found = model.fit(pairs, target).report(pairs, target, cv=2, relevance="fast", stability=0)
        page = plain(found)
        assert "pairs of 7 left and 6 right objects" in page and len(found.facts["examples"]["rows"]) == 6
        assert all(row["held_out"] for row in found.facts["examples"]["rows"])
    row = found.facts["examples"]["rows"][0]
    a, b = pairs.index[row["row"]]
    assert row["id"] == (f"drug {a} × {b}" if sides == "frames" else f"{a} × {b}")


def test_pairs_with_new_objects_held_out_have_a_page():
    pairs, kernels = Pairs.grid(LEFT, RIGHT), SIDES["arrays"][2].set_params(combine="kronecker")
    value = np.outer(LEFT[:, 0], RIGHT[:, 0]).ravel()
    model = MKLRegressor(kernels, loss="squared").fit(pairs, value)
    assert "R²" in plain(model.report(pairs, value, cv=PairSplit("left", n_splits=2), relevance="full", stability=0))


def test_how_to_repeat_runs_as_it_is_printed(tmp_path):
    """In a process of its own, with the data under their names."""
    frame = pd.DataFrame(X, columns=list("abcd")).assign(site=np.where(X[:, 1] > 0, "n  o", 'it\'s "so"'))
    frame.to_pickle(tmp_path / "x.pkl")
    scaled = Features(make_pipeline(StandardScaler()))
    kernels = [("all  of\u00a0them", scaled, list("abcd")), ("site", Categorical(), ["site"])]
    options = dict(cv=KFold(3), title="Mine's", examples=[1, 2], sources={"a": [0], "b": [1]}, stability=0)
    cases = [
        (MKLClassifier(kernels, C=np.float64(3)), y, QUICK),
        (MKLRegressor(kernels, regularizer=np.inf, C=2, loss="squared"), X[:, 0], options),
    ]
    script, reports = "import numpy as np, pandas as pd; X = pd.read_pickle('x.pkl')\n", []
    for k, (model, target, given) in enumerate(cases):
        reports.append(model.fit(frame, target).report(frame, target, **given))
        np.save(tmp_path / f"y{k}.npy", target)
        shown = re.search(r"How to repeat this\"><code>(.*?)</code>", reports[-1].html(), re.S).group(1)
        script += f"y = np.load('y{k}.npy')\n{unescape(shown)}\nimport os; os.rename('report.json', '{k}.json')\n"
    done = subprocess.run([sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    for k, report in enumerate(reports):
        again, facts = json.loads((tmp_path / f"{k}.json").read_text()), report.facts
        assert again["sources"]["verdict"] == facts["sources"]["verdict"] and again["title"] == facts["title"]
        assert again["score"]["mean"] == pytest.approx(facts["score"]["mean"])
        assert again["reproduce"] == facts["reproduce"]


def test_a_model_that_cannot_be_typed_is_loaded():
    own = model_lines(MKLClassifier([lambda A, B: A @ B.T]))
    assert own[-1] == "model = load('model.mk')" and "model.save('model.mk')" in own[-2]
    long = model_lines(MKLClassifier([(f"column {j}", RBF(0.5), [j]) for j in range(1000)]))
    assert long[-1] == own[-1] and model_lines(MKLRegressor(regularizer=LpNorm(2)))[-1].startswith("model = MKLR")


def test_bands_that_miss_the_fitted_share_are_explained_and_samples_are_counted(monkeypatch):
    monkeypatch.setattr("manykernels.report._measure.BOOTSTRAP_SAMPLES", (2, 7))
    model = MKLClassifier(KERNELS, C=1.0).fit(X, y)
    found = model.report(X, y, cv=2, relevance="fast")
    assert found.facts["stability"]["samples"] == 7 and "fitted again to 7 samples" in plain(found)
    rows = found.facts["stability"]["rows"]
    for row in rows:
        row["low"], row["high"] = row["share"] - 0.1, row["share"] + 0.1
    assert "lies outside the line" not in plain(found)
    rows[1]["low"] = rows[1]["share"] + 0.01
    assert f"lies outside the line of {rows[1]['name']}. A sample has some examples twice" in plain(found)
