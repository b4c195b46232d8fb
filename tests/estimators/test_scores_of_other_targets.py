"""Scores say which classes fit never saw, and take the targets of a frame by name."""

import warnings

import numpy as np
import pandas as pd
import pytest

from manykernels import MKLClassifier, MKLClassifierCV, MKLRegressor, MKLRegressorCV, load
from manykernels.kernels import RBF

rng = np.random.default_rng(0)
N = 40
X = rng.normal(size=(N, 2))
CLASSES = {"texts": np.where(X[:, 0] > 0, "ill", "well"), "numbers": (X[:, 0] > 0).astype(int)}
OTHERS = {"texts": "dead", "numbers": 7}
TARGETS = pd.DataFrame({"low": X[:, 0], "high": X[:, 1] + 1})


@pytest.mark.parametrize("form", [np.asarray, list, pd.Series], ids=["array", "list", "column"])
@pytest.mark.parametrize("kind", CLASSES)
@pytest.mark.parametrize("model", [
    MKLClassifier([RBF()], C=1.0), MKLClassifierCV([RBF()], Cs=[1.0], cv=2),
    MKLClassifierCV([RBF()], Cs=[1.0], cv=2, scoring="accuracy"),
], ids=["plain", "cv", "scoring"])  # fmt: skip
def test_examples_of_a_class_that_fit_never_saw_count_as_wrong_and_are_named(model, kind, form):
    y = CLASSES[kind]
    model = model.fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        known = model.score(X, form(y))
    other = y.astype(object)
    other[[3, 5]] = OTHERS[kind]
    right = model.predict(X) == y
    said = f"y has {OTHERS[kind]!r}, which fit never saw, in 2 of {N} examples: they count as wrong"
    with pytest.warns(UserWarning, match=said) as caught:
        score = model.score(X, form(np.array(other.tolist())))
    assert caught[0].filename == __file__
    assert score == pytest.approx(known - right[[3, 5]].sum() / N)


def test_a_score_that_needs_the_classes_of_fit_names_the_other():
    y = CLASSES["texts"]
    model = MKLClassifierCV([RBF()], loss="logistic", Cs=[1.0], cv=2, scoring="neg_log_loss").fit(X, y)
    said = f"y has 'dead', which fit never saw, in 1 of {N} examples, and this score needs the classes of fit: leave"
    with pytest.raises(ValueError, match=said):
        model.score(X, np.where(np.arange(N) == 3, "dead", y))
    with pytest.raises(ValueError, match="inconsistent numbers"):  # another fault keeps its own sentence
        model.score(X, y[:-1])


@pytest.mark.parametrize("model", [
    MKLRegressor([RBF()], C=1.0), MKLRegressor([RBF()], C=1.0, loss="quantile"),
    MKLRegressorCV([RBF()], Cs=[1.0], cv=2),
], ids=["plain", "quantile", "cv"])  # fmt: skip
def test_targets_in_another_order_than_in_fit_are_refused(model, tmp_path):
    model = model.fit(X, TARGETS)
    model.save(tmp_path / "m.mk")
    for one in (model, load(tmp_path / "m.mk")):
        assert one.score(X, TARGETS) == one.score(X, TARGETS.to_numpy())
        said = "y has the targets 'high', 'low', but fit had 'low', 'high': give these, in this order, or y.to_numpy"
        with pytest.raises(ValueError, match=said):
            one.score(X, TARGETS[["high", "low"]])
    model.fit(X, TARGETS.to_numpy())  # has no names
    assert model.score(X, TARGETS[["high", "low"]]) < model.score(X, TARGETS)


def test_labels_in_another_order_than_in_fit_are_refused():
    labels = (TARGETS > 0).astype(int)
    model = MKLClassifier([RBF()], C=1.0).fit(X, labels)
    with pytest.raises(ValueError, match="y has the targets 'high', 'low', but fit had 'low', 'high'"):
        model.score(X, labels[["high", "low"]])
    assert model.score(X, labels) > 0.8
