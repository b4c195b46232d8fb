"""scikit-learn's tools on Views and on precomputed stacks, whatever the views hold."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import StackingClassifier
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.inspection import permutation_importance
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import (
    GridSearchCV,
    StratifiedKFold,
    cross_val_predict,
    cross_val_score,
    train_test_split,
)
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from manykernels import KernelStack, MKLClassifier, MKLClassifierCV, Views, inspect
from manykernels.kernels import RBF, Categorical, Features, Linear, On
from manykernels.strings import Spectrum

pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")

N = 48
rng = np.random.default_rng(3)
y = np.tile([0, 1, 1], N // 3)
A = rng.normal(size=(N, 4)) + 0.9 * y[:, None]
NOISE = rng.normal(size=(N, 3))
TEXT = [" ".join(rng.choice(["red", "fox", "blue", "sky"], 3)) for _ in range(N)]
SITE = ["".join(rng.choice(list("ACGT"), 12)) for _ in range(N)]
SEX = rng.choice(["f", "m"], N)
VIEWS = Views({
    "array": NOISE,
    "pandas": pd.DataFrame({"age": A[:, 0], "sex": SEX}, index=np.arange(N) + 100),
    "polars": pl.DataFrame({"u": A[:, 1], "v": A[:, 2], "sex": SEX}),
    "sparse": sp.csr_array(np.where(A > 0, A, 0)),
    "text": TEXT,
    "site": SITE,
})  # fmt: skip
KERNELS = [
    ("array", StandardScaler(), RBF(gamma=0.2)),
    ("age", RBF(gamma=0.5), ("pandas", "age")),
    ("age by sex", On(("pandas", ["age"]), RBF(gamma=0.5)) * On(("pandas", ["sex"]), Categorical())),
    ("polars", Linear(), ("polars", ["v", "u"])),
    ("sparse", Linear()),
    ("words", Features(TfidfVectorizer()), "text"),
    ("site", Spectrum(2)),
]
STACK = KernelStack([RBF(0.1)(A), Linear()(A), RBF(1.0)(NOISE)], names=["r", "l", "n"])
MODEL = MKLClassifier(KERNELS, C=1.0, tol=1e-6)
STACKED = MKLClassifier("precomputed", C=1.0, tol=1e-6)
CV = StratifiedKFold(3)
DATA = {"views": (MODEL, VIEWS), "stack": (STACKED, STACK), "examples": (STACKED, STACK.examples())}
EACH = pytest.mark.parametrize("model, X", DATA.values(), ids=DATA)


def by_hand(model, X, cv=CV):
    """Decisions on the test folds of models that were fitted on the others, indexed by hand."""
    decisions = np.empty(N)
    for train, test in cv.split(np.zeros(N), y):
        if model is MODEL:
            decisions[test] = model.fit(X[train], y[train]).decision_function(X[test])
        else:
            model.fit(STACK[np.ix_(train, train)], y[train])
            decisions[test] = model.decision_function(STACK[np.ix_(test, train)])
    return decisions


@EACH
def test_cross_validation_and_search_are_what_one_would_do_by_hand(model, X):
    decisions = by_hand(model, X)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = cross_val_predict(model, X, y, cv=CV, method="decision_function")
        search = GridSearchCV(model, {"C": [1.0, 0.1]}, cv=CV, error_score="raise").fit(X, y)
    np.testing.assert_allclose(found, decisions, atol=1e-9)
    hits = [np.mean((decisions[test] > 0) == y[test]) for _, test in CV.split(X, y)]
    assert search.cv_results_["mean_test_score"][0] == pytest.approx(np.mean(hits))
    assert cross_val_score(Pipeline([("mkl", model)]), X, y, cv=CV).tolist() == pytest.approx(hits)


@EACH
def test_a_split_is_fitted_and_predicted(model, X):
    train, test, y_train, y_test = train_test_split(X, y, random_state=0, stratify=y)
    rows, others = train_test_split(np.arange(N), random_state=0, stratify=y)
    decision = model.fit(train, y_train).decision_function(test)
    if model is STACKED:
        model.fit(STACK[np.ix_(rows, rows)], y[rows])
        np.testing.assert_allclose(model.decision_function(STACK[np.ix_(others, rows)]), decision, atol=1e-9)
        np.testing.assert_allclose(model.decision_function(STACK[others]), decision, atol=1e-9)
        train = train.square() if isinstance(train, KernelStack) else train  # a search wants it so
    search = GridSearchCV(model, {"C": [1.0]}, cv=2, error_score="raise").fit(train, y_train)
    np.testing.assert_allclose(search.decision_function(test), decision, atol=1e-9)


@EACH
def test_calibration_and_stacking_cut_rows(model, X):
    calibrated = CalibratedClassifierCV(model, cv=CV, ensemble=True).fit(X, y)
    for (train, _), pair in zip(CV.split(X, y), calibrated.calibrated_classifiers_, strict=True):
        expected = (model.fit(X[train], y[train])).decision_function(X)
        np.testing.assert_allclose(pair.estimator.decision_function(X), expected, atol=1e-9)
    assert calibrated.predict_proba(X).shape == (N, 2)
    stacking = StackingClassifier([("a", model)], final_estimator=LogisticRegression(), cv=CV).fit(X, y)
    expected = LogisticRegression().fit(by_hand(model, X)[:, None], y)
    np.testing.assert_allclose(stacking.final_estimator_.coef_, expected.coef_, rtol=1e-6)


def test_a_stack_that_was_cut_by_rows_is_no_square_for_a_search():
    with pytest.raises(ValueError, match="square kernel matrix"):
        GridSearchCV(STACKED, {"C": [1.0]}, cv=2, error_score="raise").fit(STACK[:30], y[:30])


@EACH
def test_a_search_of_its_own_knows_the_examples_of_a_split(model, X):
    train, test, y_train, y_test = train_test_split(X, y, random_state=0, stratify=y)
    search = MKLClassifierCV(model.kernels, Cs=[0.1, 1.0], regularizer=[1, 2], cv=3, tol=1e-6).fit(train, y_train)
    expected = search.best_estimator_.fit(train, y_train).decision_function(test)
    np.testing.assert_allclose(search.decision_function(test), expected, atol=1e-3)
    path = model.path(train, y_train, Cs=[search.C_], regularizer=search.regularizer_, test=(test, y_test))
    assert path.score.item() == search.score(test, y_test)
    search.set_params(Cs=[1.0], regularizer=2, tol=1e-3)  # what follows is about rows
    assert np.isfinite(cross_val_score(search, X, y, cv=2, error_score="raise")).all()


@pytest.mark.parametrize("kind", ["rows", "examples"])
def test_a_part_of_a_stack_is_looked_at_as_the_square_of_its_examples(kind, tmp_path):
    rows = np.flatnonzero(np.arange(N) % 4 > 0)
    part, square, labels = (STACK if kind == "rows" else STACK.examples())[rows], STACK[np.ix_(rows, rows)], y[rows]
    found, wanted = (inspect.relevance(STACKED, X, labels, cv=3).table() for X in (part, square))
    assert found == wanted
    few = dict(max_examples=20)
    found, wanted = (inspect.AlignmentDisplay.measured(STACKED, X, labels, **few).alignments for X in (part, square))
    np.testing.assert_array_equal(found, wanted)
    model = MKLClassifier("precomputed", C=1.0).fit(part, labels)
    assert model.report(part, labels, tmp_path / "report.html", cv=2, stability=0).path.exists()


def test_permutation_importance_shuffles_one_view_at_a_time():
    model = MKLClassifier([("signal", RBF(gamma=0.1)), ("noise", RBF(gamma=0.1))], regularizer=1)
    X = Views({"signal": A, "noise": NOISE})
    model.fit(X, y)
    found = permutation_importance(model, X, y, n_repeats=5, random_state=0, max_samples=0.9)
    assert found.importances_mean.shape == (2,) and found.importances_mean[0] > 0.1
    assert X["signal"] is A and X["noise"] is NOISE  # what was given is left as it was


@pytest.mark.parametrize("normalize", ["multiplicative", "spherical"])
def test_permutation_importance_shuffles_one_kernel_of_a_stack_at_a_time(normalize):
    train, test = np.arange(0, N, 2), np.arange(1, N, 2)
    model = MKLClassifier("precomputed", normalize=normalize).fit(STACK[train], y[train])
    for X in (STACK[test].by_kernel(), STACK.examples()[test].by_kernel()):
        assert X.shape == (N // 2, 3) and X.columns == ["r", "l", "n"]
        np.testing.assert_array_equal(model.decision_function(X), model.decision_function(STACK[test]))
        found = permutation_importance(model, X, y[test], n_repeats=3, random_state=0)
        assert found.importances.shape == (3, 3) and found.importances_mean[:2].max() > 0.05
    order = np.random.default_rng(0).permutation(len(test))
    X["l"] = X.iloc[order, 1]
    moved = STACK[np.ix_(test, train)].matrices.copy()
    moved[1] = moved[1][order]
    own = np.stack([np.diag(K)[test] for K in STACK.matrices])
    own[1] = own[1][order]
    expected = model.decision_function(KernelStack(moved, test_diagonals=own))
    np.testing.assert_allclose(model.decision_function(X), expected)
    assert permutation_importance(model, STACK[test].by_kernel(), y[test], max_samples=0.5).importances.shape == (3, 5)
    with pytest.raises(ValueError, match="no table.*permutation_importance.*by_kernel"):
        permutation_importance(model, STACK.examples(), y)
    with pytest.raises(ValueError, match="may have moved: fit on the stack"):
        MKLClassifier("precomputed").fit(X, y[test])
    with pytest.raises(ValueError, match="'z' is set to"):
        X["z"] = X[:, 0]


def test_a_step_that_wants_a_table_says_what_to_do():
    assert Pipeline([("same", FunctionTransformer()), ("mkl", MODEL)]).fit(VIEWS, y).predict(VIEWS).shape == (N,)
    with pytest.raises(ValueError, match="no table.*preprocess a view by"):
        make_pipeline(StandardScaler(), MODEL).fit(VIEWS, y)


def test_views_are_the_dict_of_them_for_every_method():
    given = VIEWS.to_dict()
    one, other = MKLClassifier(KERNELS, C=1.0).fit(VIEWS, y), MKLClassifier(KERNELS, C=1.0).fit(given, y)
    for method in ("decision_function", "decision_parts", "predict", "combined_kernel"):
        for X in (VIEWS, given):
            np.testing.assert_array_equal(getattr(one, method)(X), getattr(other, method)(VIEWS))
    assert one.n_features_in_ == 6 and one.score(VIEWS, y) == other.score(given, y)


@pytest.mark.parametrize("normalize", ["multiplicative", "spherical", "trace", None])
@pytest.mark.parametrize("kind", ["array", "pandas", "sparse", "list", "site"])
def test_an_example_that_lacks_a_view_has_kernel_value_0_with_all_others(kind, normalize):
    """The same as precomputed kernels whose rows and columns are put to 0."""
    lacks = np.arange(N) % 4 == 1
    data = {"array": A, "pandas": pd.DataFrame(A), "sparse": sp.csr_array(A), "list": TEXT, "site": SITE}[kind]
    kernel = {"list": Features(TfidfVectorizer()), "site": Spectrum(2)}.get(kind, RBF(gamma=0.2))
    have = np.flatnonzero(~lacks)
    part = [data[i] for i in have] if isinstance(data, list) else data.iloc[have] if kind == "pandas" else data[have]
    X = Views({"own": part, "all": NOISE}, ids={"own": have, "all": np.arange(N)}, examples=np.arange(N))
    assert X.missing["own"].tolist() == np.flatnonzero(lacks).tolist()
    model = MKLClassifier(
        [("own", kernel, "own", "zero"), ("all", RBF(gamma=0.2))], normalize=normalize, tol=1e-7, C=1.0
    )
    decision = model.fit(X, y).decision_function(X)
    K = np.zeros((N, N))
    K[np.ix_(have, have)] = kernel(part.to_numpy() if kind == "pandas" else part)
    stack = KernelStack([K, RBF(0.2)(NOISE)])
    expected = MKLClassifier("precomputed", normalize=normalize, tol=1e-7, C=1.0).fit(stack, y).decision_function(stack)
    np.testing.assert_allclose(decision, expected, atol=1e-3)
    none = X[np.flatnonzero(lacks)]  # no example has it
    np.testing.assert_allclose(model.decision_function(none), decision[lacks], atol=1e-9)
    assert (model.decision_parts(none)[:, 0] == 0).all()
    cross_val_score(model, X, y, cv=2, error_score="raise")
    with pytest.raises(ValueError, match=r"lacks the view 'own' in 12 of 48.*\"zero\".*X.present"):
        MKLClassifier([("own", kernel), ("all", RBF())], C=1.0).fit(X, y)


def test_kernels_that_are_chosen_leave_out_what_is_missing():
    X = Views({"a": A[:40], "b": NOISE}, ids={"a": range(40), "b": range(N)})
    model = MKLClassifier(C=0.1).fit(X, y)
    lacking = np.array([name.startswith("a, ") for name in model.kernel_names_])
    assert (model.decision_parts(X)[40:, lacking] == 0).all() and model.decision_parts(X)[:40, lacking].any()
