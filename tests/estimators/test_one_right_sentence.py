"""Data that cannot be meant, or may not be, have one sentence that is true and names the cure."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import permutation_test_score
from sklearn.preprocessing import StandardScaler

from manykernels import MKLClassifier, MKLClassifierCV, MKLRegressor, MKLSurvival, survival_targets
from manykernels.kernels import RBF

rng = np.random.default_rng(0)
N = 40
FRAME = pd.DataFrame(rng.normal(size=(N, 3)), columns=list("abc"), index=[f"p{k}" for k in range(N)])
CLASSES = pd.Series(np.where(FRAME.a > 0, "ill", "well"), index=FRAME.index)
TIMES = survival_targets(np.arange(N) % 3 > 0, rng.exponential(size=N))


def with_entry(value, row=5):
    """The frame as objects, one of which is `value`."""
    frame = FRAME.astype(object)
    frame.iloc[row, 1] = value
    return frame


def test_permuted_labels_need_no_ids():
    model = MKLClassifier([RBF()], C=1.0)
    with pytest.raises(ValueError, match="y.to_numpy\\(\\) to match rows by position"):
        permutation_test_score(model, FRAME, CLASSES, n_permutations=2)
    score, others, _ = permutation_test_score(model, FRAME, CLASSES.to_numpy(), n_permutations=2)
    assert score > others.max()


@pytest.mark.parametrize("model", [MKLClassifier([RBF()]), MKLRegressor([RBF()])])
def test_survival_times_are_for_another_model(model):
    with pytest.raises(ValueError, match="y has the fields 'event', 'time': fit MKLSurvival to times"):
        model.fit(FRAME, TIMES)


@pytest.mark.parametrize("form", [pd.DataFrame, np.asarray], ids=["frame", "array"])
def test_the_first_text_among_numbers_is_named_with_its_row(form):
    with pytest.raises(ValueError, match="in column ('b'|1) \\('high' in row 5, for example\\)"):
        MKLRegressor([RBF()]).fit(form(with_entry("high")), FRAME.a.to_numpy())


def test_the_first_text_among_targets_is_named_with_its_row_and_its_id():
    for y in (with_entry("high")["b"], with_entry("high")):
        with pytest.raises(ValueError, match="y has 'high' in row 5, of 'p5', which is not a number: give numbers"):
            MKLRegressor([RBF()]).fit(FRAME, y)
    with pytest.raises(ValueError, match="y has 'high' in row 5, which is not a number: give numbers"):
        MKLRegressor([RBF()]).fit(FRAME, with_entry("high")["b"].tolist())


@pytest.mark.parametrize("kernels", [
    [RBF()], [("k", StandardScaler(), RBF(), [0, 1])], [("k", StandardScaler(), RBF(), [0, 1], "zero")], "auto",
], ids=["list", "scaled", "zero", "auto"])  # fmt: skip
@pytest.mark.parametrize("form", [lambda frame: frame, pd.DataFrame.to_numpy], ids=["frame", "array"])
def test_na_of_pandas_among_objects_is_read_as_nan(kernels, form):
    found = []
    for value in (np.nan, pd.NA):
        try:
            model = MKLRegressor(kernels, C=1.0).fit(form(with_entry(value)), FRAME.a.to_numpy())
            found.append(model.predict(form(with_entry(value, 7))).tolist())
        except ValueError as error:
            found.append(str(error))
    assert found[0] == found[1]


def test_times_of_a_zone_are_dates_in_utc():
    when = pd.Series(pd.date_range("2020-01-01", periods=N, freq="401h"), index=FRAME.index)
    when = pd.Series(when.to_numpy()[rng.permutation(N)], index=FRAME.index)
    y = FRAME.a + 0.001 * (when - when.min()).dt.days
    plain = MKLRegressor(C=1.0).fit(FRAME.assign(when=when), y)
    for zone in ("UTC", "Europe/Berlin"):
        zoned = FRAME.assign(when=when.dt.tz_localize("UTC").dt.tz_convert(zone))
        model = MKLRegressor(C=1.0).fit(zoned, y)
        assert model.kernels_chosen_ == plain.kernels_chosen_ and "'when'" in model.kernels_chosen_
        np.testing.assert_array_equal(model.predict(zoned), plain.predict(FRAME.assign(when=when)))


SURVIVAL = "score", "predict_survival_function", "predict_cumulative_hazard_function"


@pytest.mark.parametrize("model, y, asked", [
    (MKLSurvival([RBF()], C=1.0), TIMES, SURVIVAL), (MKLRegressor([RBF()], C=1.0), TIMES["time"], ["score"]),
    (MKLClassifier([RBF()], C=1.0), CLASSES.to_numpy(), ["score"]),
    (MKLClassifierCV([RBF()], Cs=[1.0], cv=2, scoring="accuracy"), CLASSES.to_numpy(), ["score"]),
], ids=["survival", "regression", "classes", "cv"])  # fmt: skip
def test_a_warning_about_covariates_comes_once(model, y, asked):
    X = FRAME.reset_index(drop=True)
    model = model.fit(X, y, covariates=X[["c"]] ** 2)
    for ask in asked:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            getattr(model, ask)(X, *([y] if ask == "score" else []), covariates=X[["c"]].iloc[::-1])
        assert [str(w.message).split(",")[0] for w in caught] == ["X and covariates are numbered alike"]
