"""TableScaler: each column counts as one, whatever it holds; priors scale kernels after their normalisation."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.preprocessing import StandardScaler

import manykernels
from manykernels import MKLClassifier, MKLClassifierCV, MKLRegressor
from manykernels.kernels import RBF, KernelList, KernelSpec, Linear
from manykernels.kernels.table_scaler import TableScaler, days

N = 80
rng = np.random.default_rng(0)
FRAME = pd.DataFrame({
    "age": rng.normal(50, 9, N), "site": rng.choice(["north", "south", "west"], N, p=[0.1, 0.3, 0.6]),
    "seen": pd.date_range("2020-01-01", periods=N, freq="11D"), "smokes": rng.random(N) < 0.3,
})  # fmt: skip
PARTS = [("numbers", 1), ("categories", 1), ("dates", 1), ("categories", 1)]
y = ((FRAME.site == "north") + rng.normal(size=N) > 0.3).astype(int).to_numpy()


def widths(scaler):
    return np.cumsum([len(mean) for mean in scaler.mean_])[:-1]


@pytest.mark.parametrize("weight", [None, rng.uniform(0.1, 3, N)], ids=["equal", "weighted"])
def test_every_part_has_mean_0_and_a_total_variance_of_1(weight):
    scaler = TableScaler(PARTS)
    Z = scaler.fit_transform(FRAME, sample_weight=weight)
    for z in np.split(Z, widths(scaler), axis=1):
        mean = np.average(z, axis=0, weights=weight)
        np.testing.assert_allclose(mean, 0, atol=1e-9)
        assert np.average((z - mean) ** 2, axis=0, weights=weight).sum() == pytest.approx(1)


@pytest.mark.parametrize("weight", [None, rng.uniform(0.1, 3, N)], ids=["equal", "weighted"])
def test_gaps_count_neither_in_the_mean_nor_in_the_variance(weight):
    gaps, known = FRAME.copy(), np.arange(N) % 3 > 0
    gaps.loc[~known, "age"] = np.nan
    own = np.ones(N) if weight is None else weight
    z = TableScaler(PARTS).fit_transform(gaps, sample_weight=weight)[:, 0]
    alone = TableScaler(PARTS).fit_transform(FRAME[known], sample_weight=own[known])[:, 0]
    np.testing.assert_allclose(z[known], alone, atol=1e-9)
    assert (z[~known] == 0).all()


@pytest.mark.parametrize("weight", [None, rng.uniform(0.1, 3, N)], ids=["equal", "weighted"])
def test_columns_of_their_own_variance_are_those_of_scikit_learns_scaler(weight):
    """Gaps become 0 afterwards, and a column that varies by rounding alone keeps its unit."""
    X = rng.normal(1e3, [1, 1e-2, 50], size=(N, 3))
    X = np.column_stack([X, np.full(N, 0.1), np.full(N, 0.3)])
    X[::5, 2], X[3, 4] = np.nan, np.nextafter(0.3, 1)
    Z = TableScaler([("columns", 5)]).fit_transform(X, sample_weight=weight)
    expected = np.nan_to_num(StandardScaler().fit(X, sample_weight=weight).transform(X))
    np.testing.assert_allclose(Z, expected, atol=1e-9)


def test_two_categories_are_as_far_apart_as_two_standardised_numbers():
    """The squared distance of a truth value is that of the column of 0 and 1, standardised."""
    smokes = FRAME[["smokes"]]
    Z = TableScaler([("categories", 1)]).fit_transform(smokes)
    z = TableScaler([("numbers", 1)]).fit_transform(smokes.astype(float))
    np.testing.assert_allclose(np.square(Z[:, None] - Z).sum(axis=2), np.square(z[:, None] - z).sum(axis=2), atol=1e-9)


def test_gaps_and_new_values():
    scaler = TableScaler(PARTS).fit(FRAME)
    new = FRAME.astype({"smokes": object}).head(3).copy()
    new.loc[0, "age"], new.loc[1, "site"], new.loc[2, "seen"] = np.nan, "east", pd.NaT
    parts = np.split(scaler.transform(new), widths(scaler), axis=1)
    assert (parts[0][0] == 0).all() and (parts[2][2] == 0).all() and parts[0][1] != 0
    none = TableScaler(PARTS[1:2]).fit(FRAME[["site"]]).transform(np.array([[None], ["east"]], object))
    np.testing.assert_array_equal(parts[1][1], none[0])
    np.testing.assert_array_equal(none[0], none[1])


def test_dates_have_a_trend_and_the_cycles_that_they_span():
    def cycles(frequency, periods=N):
        dates = pd.DataFrame({"t": pd.date_range("2020-01-01", periods=periods, freq=frequency)})
        return TableScaler([("dates", 1)]).fit(dates).learned_[0]

    assert cycles("11D") == ["year", "week"] and cycles("1D", 40) == ["week"] and cycles("1D", 8) == []
    assert cycles("5h", 40) == ["day"] and cycles("37h") == ["week", "day"]
    texts = np.array(["2020-01-02", "2020-01-01 12:00", None], object)
    np.testing.assert_allclose(days(texts), [18263.0, 18262.5, np.nan])
    a, b, c = (
        TableScaler([("dates", 1)])
        .fit(FRAME[["seen"]])
        .transform(pd.DataFrame({"seen": pd.to_datetime(["2021-06-01", "2022-06-01", "2021-12-01"])}))[:, 1:3]
    )  # the place in the year
    assert np.linalg.norm(a - b) < 0.1 * np.linalg.norm(a - c)


def test_parts_that_do_not_fit_are_refused():
    with pytest.raises(ValueError, match="parts=.* have 1 columns, X has 4"):
        TableScaler([("numbers", 1)]).fit(FRAME)
    with pytest.raises(ValueError, match="X has 3 columns, but TableScaler saw 4"):
        TableScaler(PARTS).fit(FRAME).transform(FRAME.iloc[:, :3])


@pytest.mark.parametrize("normalize", ["multiplicative", "trace", "spherical", None])
@pytest.mark.parametrize("kernel", [RBF(0.1), Linear()], ids=["pairs", "features"])
def test_a_prior_is_a_factor_of_the_normalised_kernel(normalize, kernel):
    """With p = 2, a factor s on a kernel is the cost s**-2 of its weight in the norm."""
    X = rng.normal(size=(N, 4))
    specs = [KernelSpec("a", kernel, [0, 1]), KernelSpec("b", kernel, [2, 3], prior=0.2)]
    plain = MKLClassifier([spec._replace(prior=1.0) for spec in specs], normalize=normalize, tol=1e-8, C=1.0)
    weighted = clone(plain).set_params(regularizer=manykernels.regularizers.WeightedLpNorm(2, [1.0, 25.0])).fit(X, y)
    model = clone(plain).set_params(kernels=specs).fit(X, y)
    np.testing.assert_allclose(model.kernel_scale_, plain.fit(X, y).kernel_scale_ * [1, 0.2], rtol=1e-6)
    np.testing.assert_allclose(model.decision_function(X), weighted.decision_function(X), atol=1e-3)
    search = MKLClassifierCV(specs, Cs=[1.0], regularizer=2, normalize=normalize, tol=1e-8, cv=2).fit(X, y)
    np.testing.assert_allclose(search.decision_function(X), model.decision_function(X), atol=1e-3)


def test_a_prior_must_be_positive():
    for prior in (0, -1.0, np.inf, True, "much"):
        with pytest.raises(ValueError, match="prior=.* must be a number"):
            KernelList.from_spec([KernelSpec("a", RBF(), prior=prior)], FRAME[["age"]])


def test_no_rows_are_refused_with_the_reason():
    """`predict` of an empty table ended in NumPy's error about shapes."""
    frame = pd.DataFrame({"a": rng.normal(size=30), "b": rng.choice(["x", "y"], 30)})
    model = MKLRegressor(C=1.0).fit(frame, frame.a)
    with pytest.raises(ValueError, match="no examples"):
        model.predict(frame[:0])


def test_columns_are_saved_with_a_factor_each():
    X = rng.normal(size=(9, 3)) * [1, 10, 100]
    scaler = TableScaler([("columns", 3)]).fit(X)
    state = scaler.to_state()
    np.testing.assert_array_equal(TableScaler.from_state(state).transform(X), scaler.transform(X))
    for factor in (np.ones(2), np.ones((3, 1)), 1.0):
        with pytest.raises(ValueError, match="factor"):
            TableScaler.from_state(state | {"factor": [factor]})
