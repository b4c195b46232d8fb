"""Values of the right form that mean nothing, or not what is done with them, are refused in words."""

import numpy as np
import pandas as pd
import pytest

from manykernels import MKLClassifier, MKLClassifierCV, MKLRegressor, Views, survival_targets
from manykernels.kernels import RBF, Linear

N = 40
rng = np.random.default_rng(0)
X = rng.normal(size=(N, 3))
Y, R = (X[:, 0] > 0).astype(int), 2 * X[:, 0] + X[:, 1]
KERNELS = [("rbf", RBF(gamma=0.3)), ("linear", Linear())]
NEGATIVE = np.where(np.arange(N) < N // 2, -1.0, 1.1)


@pytest.mark.parametrize("weight, why", [(NEGATIVE, "negative entry -1"), (np.zeros(N), "zero everywhere")])
@pytest.mark.parametrize("model, y", [
    (MKLClassifier(KERNELS, C=1.0), Y),
    (MKLRegressor(KERNELS, C=1.0), R),
    (MKLRegressor(KERNELS, C=1.0, loss="quantile"), R),
    (MKLClassifierCV(KERNELS, Cs=[1.0], regularizer=[2], cv=3), Y),
    (MKLClassifierCV(KERNELS, Cs=[1.0], regularizer=[2], cv=3, scoring="roc_auc"), Y),
], ids=["accuracy", "R2", "quantile", "search", "scoring"])  # fmt: skip
def test_scores_refuse_the_weights_that_fit_refuses(model, y, weight, why):
    with pytest.raises(ValueError, match=why):
        model.fit(X, y, sample_weight=weight)
    model.fit(X, y)
    with pytest.raises(ValueError, match=why):
        model.score(X, y, sample_weight=weight)
    assert model.score(X, y, sample_weight=np.ones(N)) == model.score(X, y)


@pytest.mark.parametrize("ids", [{"a": "masked"}, "index"])
def test_masked_ids_of_views_are_refused(ids):
    masked = np.ma.array(np.arange(N), mask=np.arange(N) == 3)
    with pytest.raises(ValueError, match="mask of 1 entries would be lost"):
        if ids == "index":
            Views({"a": pd.DataFrame(X)}, ids="index", examples=masked)
        else:
            Views({"a": X}, ids={"a": masked})


@pytest.mark.parametrize("label", ["", " ", "nan", "NA", "n/a"])
@pytest.mark.parametrize("form", [np.asarray, list, lambda y: pd.Series(y, index=[f"p{i}" for i in range(N)])])
def test_labels_that_look_missing_are_no_class(label, form):
    y = np.array(["u", "v"], dtype=object)[Y]
    assert MKLClassifier(KERNELS, C=1.0).fit(X, form(y)).classes_.tolist() == ["u", "v"]
    y[3] = label
    where = "row 3, of 'p3'" if hasattr(form(y), "index") and not isinstance(form(y), list) else "row 3"
    with pytest.raises(ValueError, match=f"y has {label!r} in {where}, which looks like a missing value: leave this"):
        MKLClassifier(KERNELS, C=1.0).fit(X, form(y))


def test_signs_and_none_are_classes():
    for names in (["-", "+"], ["none", "some"], ["?", "!"]):
        assert set(MKLClassifier(KERNELS, C=1.0).fit(X, np.array(names)[Y]).classes_) == set(names)


@pytest.mark.parametrize("name", ["slack", "fit_intercept", "warm_start"])
@pytest.mark.parametrize("value", ["no", 1, None])
def test_switches_are_true_or_false(name, value):
    with pytest.raises(ValueError, match=f"{name}={value!r} is not allowed: give True or False"):
        MKLClassifier(KERNELS, C=1.0, **{name: value}).fit(X, Y)


def test_times_are_no_truth_values():
    event, time = Y, np.exp(X[:, 0])
    for wrong in (time > 1, list(time > 1), pd.Series(time > 1)):
        with pytest.raises(ValueError, match="time holds truth values.* give numbers, such as days"):
            survival_targets(event, wrong)
    assert survival_targets(event, time)["time"].tolist() == time.tolist()
