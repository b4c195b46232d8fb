"""Messy data give the right answer or an error with the cure, and NumPy's warnings stay inside."""

import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer
from sklearn.datasets import make_classification
from sklearn.inspection import permutation_importance
from sklearn.model_selection import GridSearchCV
from sklearn.multioutput import MultiOutputClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from manykernels import KernelStack, MKLClassifier, MKLOneClass, MKLRegressor
from manykernels.kernels import RBF, Laplacian, Linear, Polynomial
from manykernels.regularizers import ElasticNet

X, y = make_classification(80, 6, n_informative=4, random_state=0)
FRAME = pd.DataFrame(X, columns=list("uvwxyz"))
KERNELS = [RBF(gamma=0.1), Linear()]
MODELS = {"classifier": MKLClassifier, "regressor": MKLRegressor, "one class": MKLOneClass}
EACH = pytest.mark.parametrize("Model", MODELS.values(), ids=MODELS)


@pytest.fixture(autouse=True)
def no_warnings():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


@EACH
@pytest.mark.parametrize(
    "data, match",
    [
        (X.astype(complex), "(?i)complex"),
        (np.ma.array(X, mask=X > 2), r"masked.*filled\(np.nan\)"),
        ([[1.0, 2.0], [3.0]] * 40, "rows of different lengths"),
        (None, "X is None"),
        ("table.csv", r"X is one text \('table.csv'\).*read_csv"),
        (X[0], "(?i)reshape"),
        (FRAME["u"], "2-dimensional"),
        (X[:1], "two examples"),
        (X[:, :0], "0 feature"),
        (X * 1e200, "values of about .*overflow.*Rescale"),
        (np.where(X > 1, np.inf, X), "infinity"),
    ],
)
def test_tables_that_cannot_be_used_are_told_why(Model, data, match):
    with pytest.raises(ValueError, match=match):
        Model(KERNELS).fit(data, y[: len(data)] if data is not None else y)


@EACH
def test_numbers_of_every_kind_are_the_same_numbers(Model):
    def found(kernels, data):
        model = Model(kernels, tol=1e-7).fit(data, y)
        return model.predict(data) if Model is MKLRegressor else model.decision_function(data)

    whole = np.round(20 * X)
    kernels = [RBF("scale"), Polynomial(3), Laplacian(0.01), Linear()]
    expected = found(kernels, whole)
    frame = pd.DataFrame(whole, columns=FRAME.columns)
    kinds = [whole.astype(t) for t in ("int8", "int64", "float32", object)] + [whole.tolist(), list(map(tuple, whole))]
    for data in [*kinds, frame.astype("int8"), frame.astype("Int16"), frame.astype(object), np.asfortranarray(whole)]:
        np.testing.assert_allclose(found(kernels, data), expected, atol=2e-3)
    np.testing.assert_allclose(found(KERNELS, X > 0), found(KERNELS, 1.0 * (X > 0)), atol=2e-3)
    thin = [RBF("scale"), Linear()]
    np.testing.assert_allclose(found(thin, sp.csr_array(whole.astype("int8"))), found(thin, whole), atol=2e-3)


@EACH
@pytest.mark.parametrize("kernels", ["auto", KERNELS], ids=["auto", "listed"])
def test_two_examples_and_one_column_are_enough(Model, kernels):
    warnings.filterwarnings("ignore", 'C="auto": examples of the rarest class: 1')
    assert Model(kernels).fit(X[:2], [0, 1]).predict(X).shape == (80,)
    assert Model(kernels).fit(X[:, :1], y).predict(X[:, :1]).shape == (80,)


@pytest.mark.parametrize(
    "target, match",
    [
        (np.c_[y, 1 - y, y + 1], r"\(80, 3\).*other entries than 0 and 1.*MultiOutputClassifier"),
        (np.c_[y, y, 0 * y], r"same label .* in the columns \[2\]"),
        (np.zeros((80, 2, 2)), r"\(80, 2, 2\): give one target"),
        (np.where(y, None, "a"), "40 missing values \\(None\\)"),
        (np.where(y, "b", None).tolist(), "40 missing|[0-9]+ missing values"),
        (np.where(y, "b", np.array(np.nan, object)), r"[0-9]+ missing values \(nan\): leave these examples out"),
        (np.where(y, "b", np.array(np.nan, object)).tolist(), r"[0-9]+ missing values \(nan\)"),
        (np.where(y, np.nan, 1.0), "NaN"),
        (np.full(80, 3.0), r"one class only \(3.0\)"),
        (X[:, 0], "continuous"),
        (y[:70], "inconsistent"),
    ],
)
def test_labels_that_cannot_be_learned_are_told_why(target, match):
    with pytest.raises(ValueError, match=match):
        MKLClassifier(KERNELS).fit(X, target)


def test_targets_of_a_regression():
    assert MKLRegressor(KERNELS).fit(X, X[:, :2]).predict(X).shape == (80, 2)
    with pytest.raises(ValueError, match=r"\(80, 2, 1\): give one target"):
        MKLRegressor(KERNELS).fit(X, X[:, :2, None])
    with pytest.raises(ValueError, match="missing"):
        MKLRegressor(KERNELS).fit(X, np.where(y, None, 1.0))
    np.testing.assert_allclose(MKLRegressor(KERNELS).fit(X, np.ones(80)).predict(X), 1.0)
    assert MultiOutputClassifier(MKLClassifier(KERNELS)).fit(X, np.c_[y, 1 - y]).predict(X).shape == (80, 2)


@pytest.mark.parametrize(
    "kernels, match",
    [
        ({"a": RBF()}, "dict.*list\\(kernels.items"),
        ([RBF], "RBF is a class.*RBF\\(\\)"),
        ([RBF("auto")], "gamma='auto'.*None.*scale"),
        ([RBF("scale")], "variance of X is too large.*rescale"),
    ],
)
def test_kernels_that_are_none_are_told_why(kernels, match):
    with pytest.raises(ValueError, match=match):
        MKLClassifier(kernels).fit(X * 1e200, y)


def test_stacks_in_the_wrong_form_are_told_the_right_one():
    matrices = np.array([RBF(gamma=g)(X) for g in (0.1, 1.0)])
    for stack, match in (
        (matrices, "first axis.*KernelStack\\(X\\)"),
        (list(matrices), "first axis.*KernelStack\\(X\\)"),
        (np.moveaxis(matrices, 0, 2) + 0j, "complex"),
        (np.full((80, 80, 1), "a"), "type <U1"),
        (matrices[0], "np.stack"),
    ):
        with pytest.raises(ValueError, match=match):
            MKLClassifier("precomputed").fit(stack, y)
    assert MKLClassifier("precomputed").fit(KernelStack(matrices), y).predict(KernelStack(matrices)).shape == (80,)


def test_what_overflows_at_prediction_is_an_error():
    model = MKLClassifier([Polynomial(3), Linear()]).fit(X, y)
    for ask in (model.predict, model.decision_parts, model.combined_kernel):
        with pytest.raises(ValueError, match="overflow"):
            ask(X * 1e200)


@pytest.mark.parametrize("output", ["default", "pandas", "polars"])
def test_pipelines_hand_on_columns_by_name(output):
    if output == "polars":
        pytest.importorskip("polars")
    table = FRAME.assign(colour=np.where(y, "red", "blue"), kind=pd.Categorical(["a", "b"] * 40))
    steps = [("n", StandardScaler(), list("uvwxyz")), ("c", OneHotEncoder(sparse_output=False), ["colour", "kind"])]
    named, plain = (ColumnTransformer(steps).set_output(transform=how) for how in (output, "default"))
    names = [("size", RBF(gamma=0.1), ["n__u", "n__v"]), ("kind", Linear(), slice("c__kind_a", "c__kind_b"))]
    places = [("size", RBF(gamma=0.1), [0, 1]), ("kind", Linear(), slice(8, 10))]
    model = make_pipeline(named, MKLClassifier(places if output == "default" else names, tol=1e-8, C=1.0)).fit(table, y)
    expected = make_pipeline(plain, MKLClassifier(places, tol=1e-8, C=1.0)).fit(table, y)
    np.testing.assert_allclose(model.decision_function(table), expected.decision_function(table), atol=1e-3)


def test_the_tools_of_scikit_learn_take_the_model():
    named = MKLClassifier([("size", RBF(gamma=0.1), ["u", "v"]), ("rest", Linear(), slice("w", "z"))], C=1.0)
    assert CalibratedClassifierCV(named, cv=3).fit(FRAME, y).predict_proba(FRAME).shape == (80, 2)
    lone = MKLClassifier([("size", RBF(gamma=0.1), ["u", "v"])], C=1.0).fit(FRAME, y)
    found = permutation_importance(lone, FRAME, y, n_repeats=3, random_state=0).importances_mean
    assert found[:2].max() > 0 and (found[2:] == 0).all()
    grid = {"C": [0.1, 1.0], "regularizer": [1, np.inf, ElasticNet(0.5)], "kernels": ["auto", named.kernels]}
    search = GridSearchCV(named, grid, cv=3, error_score="raise").fit(FRAME, y)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all() and search.predict(FRAME).shape == (80,)
