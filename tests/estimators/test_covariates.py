"""`fit(X, y, covariates=Z)`: what is read, fitted, predicted, saved and refused."""

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import GridSearchCV, cross_validate

from manykernels import MKLClassifier, MKLClassifierCV, MKLOneClass, MKLRegressor, MKLRegressorCV
from manykernels.banks import DenseBank
from manykernels.estimators.choose_c import leave_one_out
from manykernels.estimators.covariates import check_covariates
from manykernels.kernels import RBF, Linear
from manykernels.losses import Squared
from manykernels.problem import Problem
from manykernels.regularizers import EmpiricalBayes, Fixed
from manykernels.solvers import solve
from manykernels.streaming import ArrayFile
from manykernels.weighting import Align, Uniform

rng = np.random.default_rng(0)
N = 90
X = rng.normal(size=(N, 4))
Z = pd.DataFrame({
    "age": 50 + 10 * rng.normal(size=N), "sex": rng.choice(["f", "m"], N),
    "batch": pd.Categorical(rng.choice(["a", "b", "c"], N), categories=["c", "a", "b"]),
})  # fmt: skip
LEVEL = 0.1 * (Z.age - 50) + (Z.sex == "m") + 2.0 * (Z.batch == "b")
REAL = np.asarray(X[:, 0] + LEVEL + 0.1 * rng.normal(size=N))
CLASS = np.where(REAL > np.median(REAL), "yes", "no")
KERNELS = [("signal", RBF("scale"), [0, 1]), ("rest", RBF("scale"), [2, 3])]
NAMES = ["age", "sex=m", "batch=a", "batch=b"]


def test_coefficients_are_those_of_the_covariates_and_have_names():
    model = MKLRegressor(KERNELS, C=10.0).fit(X, REAL, covariates=Z)
    assert model.covariate_names_ == NAMES
    np.testing.assert_allclose(model.covariate_coef_, [[0.1, 1.0, 0.0, 2.0]], atol=0.25)
    numbers = np.column_stack([Z.age, Z.sex == "m", Z.batch == "a", Z.batch == "b"]).astype(float)
    expected = model.decision_parts(X).sum(axis=1) + numbers @ model.covariate_coef_[0] + model.intercept_
    np.testing.assert_allclose(model.predict(X, covariates=Z), expected, atol=1e-10)
    plain = MKLRegressor(KERNELS, C=10.0).fit(X, REAL, covariates=numbers)  # an array, by position
    assert plain.covariate_names_ == ["z0", "z1", "z2", "z3"]
    np.testing.assert_allclose(plain.predict(X, covariates=numbers), expected, rtol=1e-8)


def test_parts_with_covariates_sum_to_the_decision():
    """The last part is that of the covariates, for one output and for several."""
    y = np.where(REAL > 2, "high", CLASS)
    for target, kind in ((REAL, MKLRegressor), (y, MKLClassifier)):
        model = kind(KERNELS, C=1.0).fit(X, target, covariates=Z)
        parts, f = model.decision_parts(X[:9], covariates=Z[:9]), model._decide(X[:9], covariates=Z[:9])
        assert parts.shape[-1] == 3
        np.testing.assert_allclose(parts.sum(axis=-1).reshape(f.shape) + model.intercept_, f, atol=1e-10)
        np.testing.assert_array_equal(parts[..., :2], model.decision_parts(X[:9]))
    with pytest.raises(ValueError, match="fitted without them"):
        MKLRegressor(KERNELS, C=1.0).fit(X, REAL).decision_parts(X, covariates=Z)


def test_models_of_one_class_refuse_covariates_with_a_cure():
    with pytest.raises(ValueError, match="MKLOneClass takes no covariates: it has no targets.*subtract what they"):
        MKLOneClass(KERNELS).fit(X, covariates=Z)


def test_as_C_vanishes_the_fit_is_the_regression_on_the_covariates_alone():
    """They are not penalised: the kernels vanish, and the coefficients become those of least squares."""
    model = MKLRegressor(KERNELS, C=1e-7, tol=1e-8).fit(X, REAL, covariates=Z[["age"]])
    alone = LinearRegression().fit(Z[["age"]], REAL)
    np.testing.assert_allclose(model.covariate_coef_[0], alone.coef_, rtol=1e-3)
    np.testing.assert_allclose(model.intercept_[0], alone.intercept_, rtol=1e-3)


def test_columns_of_far_units_keep_their_coefficients():
    """A column in tiny units stands beside one in huge units that says nothing."""
    age, noise = Z.age.to_numpy(), np.random.default_rng(5).normal(size=N)
    far, near = np.column_stack([1e9 * noise, 1e-4 * age]), np.column_stack([noise, age])
    one, other = (MKLRegressor(KERNELS, C=1.0, tol=1e-7).fit(X, REAL, covariates=z) for z in (far, near))
    np.testing.assert_allclose(one.covariate_coef_ * [1e9, 1e-4], other.covariate_coef_, atol=1e-3)
    assert np.abs(other.covariate_coef_[0, 1]) > 0.01


def test_covariates_by_name_are_found_in_any_order():
    given = {"age": Z.age.to_numpy(), "noise": np.random.default_rng(5).normal(size=N)}
    model = MKLRegressor(KERNELS, C=1.0).fit(X, REAL, covariates=given)
    other = dict(reversed(given.items()))
    np.testing.assert_array_equal(model.predict(X, covariates=other), model.predict(X, covariates=given))


@pytest.mark.parametrize("options", [
    dict(C="auto"), dict(C=1.0, loss="logistic"), dict(C=1.0, calibrate="sigmoid"),
    dict(C=1.0, class_weight="balanced"),
    dict(C=1.0, slack=True), dict(C=1.0, regularizer=Uniform()), dict(C=1.0, regularizer=2, solver="hessian"),
    dict(C=1.0, fit_intercept=False), dict(C=1.0, normalize="spherical"),
], ids=str)  # fmt: skip
def test_the_options_of_a_classifier_go_with_covariates(options):
    weight = rng.integers(0, 3, N) / 2
    model = MKLClassifier(KERNELS, **options).fit(X, CLASS, weight, covariates=Z)
    assert model.duality_gap_ <= 1e-3
    assert model.score(X, CLASS, weight, covariates=Z) > 0.85
    if options.get("loss") == "logistic" or "calibrate" in options:
        assert model.predict_proba(X, covariates=Z).shape == (N, 2)


def test_several_classes_and_several_targets_have_coefficients_each():
    three = np.digitize(REAL, np.quantile(REAL, [1 / 3, 2 / 3]))
    for multi_class in ("ovr", "shared"):
        model = MKLClassifier(KERNELS, C=1.0, multi_class=multi_class).fit(X, three, covariates=Z)
        assert model.covariate_coef_.shape == (3, 4) and model.score(X, three, covariates=Z) > 0.75
    both = MKLRegressor(KERNELS, C=1.0).fit(X, np.column_stack([REAL, -REAL]), covariates=Z)
    np.testing.assert_allclose(both.covariate_coef_[0], -both.covariate_coef_[1], atol=1e-6)


def test_a_search_scores_folds_with_their_covariates():
    """Without them the kernels cannot predict y; the folds of the search and of scikit-learn agree."""
    model = MKLRegressorCV(KERNELS, Cs=[0.1, 10.0], regularizer=1, cv=3).fit(X, REAL, covariates=Z)
    assert model.best_score_ > 0.8 > MKLRegressorCV(KERNELS, Cs=[0.1, 10.0], cv=3).fit(X, REAL).best_score_
    assert model.best_estimator_.score(X, REAL, covariates=Z) == model.score(X, REAL, covariates=Z)
    for cv, scoring in (("loo", None), (3, "roc_auc")):
        found = MKLClassifierCV(KERNELS, Cs=[1.0, 10.0], regularizer=1, cv=cv, scoring=scoring)
        assert found.fit(X, CLASS, covariates=Z).best_score_ > 0.8
        assert found.score(X, CLASS, covariates=Z) > 0.85


def test_metadata_routing_passes_covariates_on():
    with sklearn.config_context(enable_metadata_routing=True):
        model = MKLRegressor(KERNELS, C=10.0).set_fit_request(covariates=True).set_score_request(covariates=True)
        found = cross_validate(model, X, REAL, params={"covariates": Z}, cv=3)["test_score"]
        own = MKLRegressorCV(KERNELS, Cs=[1.0, 10.0], regularizer=1, cv=3).fit(X, REAL, covariates=Z)
        search = GridSearchCV(model, {"C": [1.0, 10.0]}, cv=3).fit(X, REAL, covariates=Z)
    np.testing.assert_allclose(found, [own.cv_results_[f"split{k}_test_score"][1] for k in range(3)], atol=1e-2)
    assert search.best_params_ == {"C": own.C_}


def test_leave_one_out_decisions_are_exact_for_least_squares():
    """C="auto" and cv="loo" use them: each equals the decision of a fit without the example, at the same weights."""
    K = np.exp(-0.5 * ((X[:, None] - X[None]) ** 2).sum(axis=2))[:30, :30]
    numbers = np.column_stack([Z.age, Z.sex == "m"]).astype(float)[:30]

    def fitted(rows):
        bank = DenseBank(K[np.ix_(rows, rows)][:, :, None], normalize=None)
        problem = Problem(bank, REAL[rows], Squared(), Fixed([1.0]), 2.0, covariates=numbers[rows])
        return problem, solve(problem, tol=1e-10)

    found = leave_one_out(*fitted(np.arange(30)))[0]
    for i in (0, 7, 29):
        rest = np.delete(np.arange(30), i)
        problem, solution = fitted(rest)
        b, w = problem.coefficients(solution.b)
        assert found[i] == pytest.approx(K[i, rest] @ solution.a[0] + b[0] + numbers[i] @ w[0], abs=1e-6)


def test_columns_that_say_nothing_new_are_named_and_dropped():
    more = Z.assign(double=2 * Z.age - 3, one=1.0)
    with pytest.warns(UserWarning, match="dropped 'double', 'one', constant or a combination"):
        model = MKLClassifier(KERNELS, C=1.0).fit(X, CLASS, covariates=more)
    assert model.covariate_names_ == NAMES
    assert model.predict(X, covariates=more).shape == (N,)


def test_digits_as_texts_are_categories_and_nullable_numbers_are_numbers():
    site, age = np.array(list("123"))[rng.integers(0, 3, N)], pd.array([40, 50, 60] * 30, dtype="Int64")
    model = MKLRegressor(KERNELS, C=1.0).fit(X, REAL, covariates={"site": site, "age": age})
    assert model.covariate_names_ == ["site=2", "site=3", "age"]
    model = MKLRegressor(KERNELS, C=1.0).fit(X, REAL, covariates=Z.sex)
    assert model.covariate_names_ == ["sex=m"]


@pytest.mark.parametrize(("given", "says"), [
    (Z.assign(age=Z.age.where(Z.age > 45)), "'age' has .* missing values: leave these examples out, fill them in"),
    (Z.assign(sex=[None, *Z.sex[1:]]), "'sex' has 1 missing values"),
    (Z.assign(age=np.inf), "'age' has infinite"),
    (Z[:5], r"'age' has shape \(5,\), expected \(90,\)"),
    (np.ones(N), "no column that varies"),
    (np.zeros((N, 0)), "no columns"),
    (Z.assign(seen=pd.Timestamp("2020")), "'seen' holds dates or durations, and numbers need a unit"),
    (Z.assign(seen=[f"2020-{1 + k // 28}-{1 + k % 28}" for k in range(N)]), "'seen' has 90 levels in 90 examples"),
    (Z.assign(sex=["", *Z.sex[1:]]), "'sex' has the level '', which looks like a missing value"),
    (2.0, "covariates=2.0 is no column"),
], ids=range(10))  # fmt: skip
def test_bad_covariates_get_a_sentence_with_the_cure(given, says):
    with pytest.raises(ValueError, match=says):
        MKLClassifier(KERNELS, C=1.0).fit(X, CLASS, covariates=given)


def test_predictions_without_their_covariates_say_what_to_give():
    model = MKLClassifier(KERNELS, C=1.0).fit(X, CLASS, covariates=Z)
    for given, says in (
        (None, "fitted with the covariates 'age', 'sex', 'batch': give covariates="),
        (Z[["age", "sex"]], "covariates lacks 'batch'"),
        (Z.assign(sex="x"), r"'sex' has \['x'\], not seen in fit: merge rare levels"),
        (Z.assign(age="old"), "'age' holds numbers, and 'old' is none"),
    ):
        for method in (model.predict, model.decision_function):
            with pytest.raises(ValueError, match=says):
                method(X, covariates=given)
    model.fit(X, CLASS)
    assert "covariate_coef_" not in vars(model) and model.predict(X).shape == (N,)
    with pytest.raises(ValueError, match="covariates is given, but the model was fitted without them"):
        model.predict(X, covariates=Z)


@pytest.mark.parametrize(("options", "says"), [
    (dict(regularizer=Align()), r"Align\(\) takes no covariates"),
    (dict(regularizer=EmpiricalBayes(noise="learn"), loss="squared"), "takes no covariates"),
    (dict(solver="coordinate"), "solver 'coordinate' cannot take this problem: it takes no covariates"),
    (dict(kernels=[RBF("scale", metric="learn")]), 'metric="learn" with covariates'),
], ids=str)  # fmt: skip
def test_what_cannot_adjust_says_so(options, says):
    with pytest.raises(ValueError, match=says):
        MKLClassifier(**{"kernels": KERNELS, "C": 1.0} | options).fit(X, CLASS, covariates=Z)


def test_streams_refuse_covariates(tmp_path):
    np.save(tmp_path / "x.npy", X)
    with pytest.raises(ValueError, match="covariates are for data in memory: load X"):
        MKLClassifier([Linear()], C=1.0).fit(ArrayFile(tmp_path / "x.npy"), (REAL > 0).astype(int), covariates=Z)


def test_levels_are_in_the_order_of_their_values_and_at_most_a_hundred():
    mixed = np.array([10, "b", 9, "a", 10, 9, 2.5, "b"], object)
    found = check_covariates({"c": mixed}, 8, np.ones(8))
    assert found.columns == {"c": [2.5, 9, 10, "a", "b"]} and found.names == ["c=9", "c=10", "c=a", "c=b"]
    np.testing.assert_array_equal(found.Z, [[level == one for one in (9, 10, "a", "b")] for level in mixed])
    assert [type(level) for level in found.columns["c"]] == [float, int, int, str, str]
    digits = np.array(["10", "9", "2", "9"] * 2)  # codes, as they repeat
    assert check_covariates(digits, 8, np.ones(8)).columns == {"z0": ["10", "2", "9"]}
    many = [f"{k:03}" for k in range(101)]
    assert len(check_covariates({"c": np.array(many[:100] * 2)}, 200, np.ones(200)).names) == 99
    with pytest.raises(ValueError, match="'c' has 101 levels, more than 100: give numbers, or merge levels"):
        check_covariates({"c": np.array(many)}, 101, np.ones(101))


def test_a_column_that_varies_only_without_weight_or_far_from_0_is_told_apart():
    weight = np.array([1.0, 1, 1, 1, 0])
    table = {"still": np.array([3.0, 3, 3, 3, 9]), "far": 1e6 + np.arange(5.0), "big": np.array([0.0, 1, 0, 2, 1e15])}
    with pytest.warns(UserWarning, match="dropped 'still', constant"):
        found = check_covariates(table, 5, weight)
    assert found.names == ["far", "big"] and found.Z.shape == (5, 2)
