"""MKLClassifierCV and MKLRegressorCV are GridSearchCV over the plain estimators, from kernels computed once."""

import copy

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone, is_classifier
from sklearn.datasets import load_wine
from sklearn.kernel_approximation import Nystroem
from sklearn.metrics import brier_score_loss
from sklearn.model_selection import GridSearchCV, GroupKFold, KFold, ShuffleSplit, StratifiedKFold, cross_validate
from sklearn.preprocessing import scale
from sklearn.utils.estimator_checks import parametrize_with_checks
from sklearn.utils.validation import check_is_fitted

from manykernels import KernelStack, MKLClassifier, MKLClassifierCV, MKLRegressor, MKLRegressorCV, _limits, load
from manykernels.banks.subset import SubsetBank
from manykernels.estimators import shared_kernels
from manykernels.kernels import RBF, Features, Linear, multi_task
from manykernels.regularizers import ElasticNet
from manykernels.strings import degree_kernels

CS, NORMS = [0.1, 10.0], [1, 2]
WIDTHS = [RBF(gamma=g) for g in (0.01, 0.1, 1.0)]
X, LABELS = load_wine(return_X_y=True)
X, LABELS = scale(X)[::3], LABELS[::3]
Y = (LABELS > 0).astype(int)
RNG = np.random.default_rng(0)


def letters(n=60):
    """Sequences of 12 letters whose class shows in the fourth."""
    codes, y = RNG.integers(0, 4, (n, 12)), RNG.integers(0, 2, n)
    codes[:, 4] = np.where(RNG.random(n) < 0.8, y, codes[:, 4])
    return ["".join("ACGT"[c] for c in row) for row in codes], y


STACK = np.stack([k(X) for k in WIDTHS], axis=2)
CASES = {
    "fixed widths": (WIDTHS, X, Y),
    "several classes": (WIDTHS, X, LABELS),
    "widths from the data": ([RBF(gamma="scale"), ("two", RBF(gamma="scale"), [0, 1]), Linear()], X, Y),
    "sums of kernels": ([RBF(gamma=0.1) + Linear(), Linear()], X, Y),
    "auto": ("auto", X[:, :3], Y),
    "views": ([("a", RBF(gamma=0.1), "left"), ("b", Linear(), "right")], {"left": X[:, :6], "right": X[:, 6:]}, Y),
    "precomputed": ("precomputed", STACK, Y),
    "precomputed, kernels first": ("precomputed", KernelStack(np.moveaxis(STACK, 2, 0)), Y),
    "strings": (degree_kernels(3), *letters()),
    "transformers": ([Features(Nystroem(gamma=0.1, n_components=5, random_state=0)), Linear()], X, Y),
    "weights": ([RBF(gamma="scale"), Linear()], X, Y),
    "weights of matrices": ("precomputed", STACK, Y),
    "examples twice": (WIDTHS, X, Y),
    "no room": (WIDTHS, X, Y),
}


class Naive:
    """Every candidate fitted by the plain estimator on the examples of each fold alone."""

    def __init__(self, model, X, y, splits, weight=None):
        self.scores = np.zeros((len(CS) * len(NORMS), len(splits)))
        for k, (train, test) in enumerate(splits):
            at = [(C, p) for C in CS for p in NORMS]
            for c, (C, p) in enumerate(at):
                own = clone(model).set_params(C=C, regularizer=p)
                fold = {} if weight is None else {"sample_weight": weight[train]}
                own.fit(cut(X, train, train), y[train], **fold)
                self.scores[c, k] = own.decision_function(cut(X, test, train)).sum()


def cut(X, rows, cols):
    if isinstance(X, dict):
        return {name: x[rows] for name, x in X.items()}
    if len(getattr(X, "shape", ())) == 3:
        return X[np.ix_(rows, cols)]
    return [X[i] for i in rows] if isinstance(X, list) else X[rows]


def total(model, X, y):
    """A score in which every decision counts: equal totals are no luck."""
    return float(np.sum(model.decision_function(X)))


def scores_of(model):
    """Of the folds, (candidates, folds)."""
    found = model.cv_results_
    return np.array([found[f"split{k}_test_score"] for k in range(model.n_splits_)]).T


SPHERICAL = ("fixed widths", "widths from the data", "precomputed, kernels first", "strings")


@pytest.mark.parametrize(
    ("case", "normalize"), [(case, "multiplicative") for case in CASES] + [(case, "spherical") for case in SPHERICAL]
)
def test_scores_are_those_of_fits_on_each_fold_alone(case, normalize, monkeypatch):
    """Weights of 0 remove examples; folds that cannot share kernels have banks of their own."""
    kernels, X, y = CASES[case]
    splits = list(KFold(2, shuffle=True, random_state=0).split(y))
    weight = RNG.integers(0, 3, len(y)).astype(float) if case.startswith("weights") else None
    if case == "examples twice":
        splits = [(np.r_[train, train[:9]], test) for train, test in splits]
    if case == "no room":
        monkeypatch.setitem(_limits.SHARES, "matrices of folds", _limits.Share(1, 100))
    plain = MKLClassifier(kernels, normalize=normalize, tol=1e-7)
    model = MKLClassifierCV(kernels, Cs=CS, regularizer=NORMS, cv=splits, scoring=total, normalize=normalize, tol=1e-7)
    model.fit(X, y, sample_weight=weight)
    np.testing.assert_allclose(scores_of(model), Naive(plain, X, y, splits, weight).scores, rtol=2e-3, atol=2e-3)
    assert model.cv_results_["max_duality_gap"].max() <= 1e-7
    alone = clone(plain).set_params(**model.best_params_).fit(X, y, sample_weight=weight)
    np.testing.assert_allclose(model.kernel_weights_, alone.kernel_weights_, atol=2e-3)
    np.testing.assert_allclose(model.kernel_scale_, alone.kernel_scale_, rtol=1e-9)
    np.testing.assert_allclose(model.decision_function(X), alone.decision_function(X), atol=2e-3)


def test_choice_and_scores_are_those_of_grid_search():
    grid = GridSearchCV(MKLClassifier(WIDTHS, tol=1e-6), {"C": CS, "regularizer": NORMS}).fit(X, LABELS)
    model = MKLClassifierCV(WIDTHS, Cs=CS, regularizer=NORMS, tol=1e-6).fit(X, LABELS)
    assert model.best_params_ == grid.best_params_ and model.best_index_ == grid.best_index_
    assert set(grid.cv_results_) <= set(model.cv_results_)
    for key in ("mean_test_score", "std_test_score", "rank_test_score"):
        np.testing.assert_allclose(model.cv_results_[key], grid.cv_results_[key], atol=1e-12)
    assert model.C_ == model.best_params_["C"] and model.regularizer_ == model.best_params_["regularizer"]


def test_the_folds_of_a_regression_do_not_follow_the_order_of_the_rows():
    """Folds of a table that is sorted by groups would choose for groups that no row is known of."""
    rng = np.random.default_rng(0)
    group = np.repeat(np.arange(10.0), 8)
    X, y = group[:, None], rng.normal(size=10)[group.astype(int)] + 0.05 * rng.normal(size=80)
    model = MKLRegressorCV([RBF(gamma=10.0)], Cs=[0.001, 10.0], regularizer=2).fit(X, y)
    assert model.C_ == 10.0 and model.best_score_ > 0.9
    assert MKLRegressorCV([RBF(gamma=10.0)], Cs=[0.001, 10.0], regularizer=2, cv=5).fit(X, y).best_score_ < 0.1


def test_kernels_are_computed_once_where_they_do_not_depend_on_the_fold(monkeypatch):
    computed = []
    true = shared_kernels.SharedKernels._compute
    monkeypatch.setattr(shared_kernels.SharedKernels, "_compute", lambda *a: computed.append(1) or true(*a))
    MKLClassifierCV(WIDTHS, Cs=CS, regularizer=NORMS, cv=4).fit(X, Y)
    assert len(computed) == 1
    MKLClassifierCV([RBF(gamma="scale")], Cs=CS, regularizer=NORMS, cv=4).fit(X, Y)
    assert len(computed) == 1 + 4 + 1


def test_groups_reach_the_splitter():
    groups = np.arange(len(Y)) % 6
    seen = []

    class Watch(GroupKFold):
        def split(self, X, y=None, groups=None):
            for train, test in super().split(X, y, groups):
                seen.append(set(groups[train]) & set(groups[test]))
                yield train, test

    MKLClassifierCV(WIDTHS, Cs=[1.0], regularizer=2, cv=Watch(3)).fit(X, Y, groups=groups)
    assert seen == [set()] * 3
    with pytest.raises(ValueError, match="groups"):
        MKLClassifierCV(WIDTHS, Cs=[1.0], cv=GroupKFold(3)).fit(X, Y)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (dict(Cs=0), "Cs=0"),
        (dict(Cs=[]), "Cs="),
        (dict(Cs=[1, 1]), "twice"),
        (dict(Cs=[1, -1]), "C in Cs"),
        (dict(Cs="many"), "Cs='many'"),
        (dict(regularizer=[]), "empty list"),
        (dict(regularizer=[1, 0.5]), "p"),
        (dict(refit="least"), "refit='least'"),
        (dict(tol=0), "tol"),
    ],
)
def test_what_is_not_allowed_is_named(options, message):
    with pytest.raises(ValueError, match=message):
        MKLClassifierCV(WIDTHS, **options).fit(X, Y)


def test_it_is_cloned_saved_and_nested(tmp_path):
    model = MKLClassifierCV(WIDTHS, Cs=[0.1, 1], regularizer=[1, ElasticNet(0.5)], cv=ShuffleSplit(2, random_state=0))
    assert clone(model).get_params()["Cs"] == [0.1, 1]
    model.fit(X, LABELS).save(tmp_path / "model.mk")
    again = load(tmp_path / "model.mk")
    assert type(again) is MKLClassifier and again.C == model.C_
    for other in (again, model.best_estimator_):
        np.testing.assert_array_equal(other.decision_function(X), model.decision_function(X))
    assert model.decision_parts(X[:5]).shape == (5, 3, 3)
    outer = cross_validate(model, X, LABELS, cv=2, return_estimator=True)
    assert all(fold.C_ in (0.1, 1) for fold in outer["estimator"]) and outer["test_score"].min() > 0.8


def test_tasks_are_those_of_each_fold():
    task = np.arange(len(Y)) % 2
    kernels = multi_task([RBF(gamma=0.1)])
    model = MKLClassifierCV(kernels, Cs=[1.0], regularizer=2, cv=2, scoring=total, tol=1e-7).fit(X, Y, task=task)
    for k, (train, test) in enumerate(StratifiedKFold(2).split(X, Y)):
        alone = MKLClassifier(kernels, tol=1e-7, C=1.0).fit(X[train], Y[train], task=task[train])
        expected = alone.decision_function(X[test], task=task[test]).sum()
        assert model.cv_results_[f"split{k}_test_score"][0] == pytest.approx(expected, abs=2e-3)


QUICK = dict(Cs=[1.0], regularizer=2, cv=2, tol=1e-9)  # the checks of weights compare predictions to 1e-7


@pytest.mark.filterwarnings("ignore::UserWarning")
@parametrize_with_checks([MKLClassifierCV([RBF()], **QUICK), MKLRegressorCV([RBF()], **QUICK)])
def test_estimator_passes_scikit_learns_checks(estimator, check):
    check(estimator)


def test_verbose_counts_the_fits(capsys):
    search = MKLClassifierCV(WIDTHS, Cs=[0.1, 1], regularizer=[1, 2], cv=2, verbose=True).fit(X, Y)
    assert "cross-validation" in (said := capsys.readouterr().out) and "8/8" in said
    silent = MKLClassifierCV(WIDTHS, Cs=[0.1, 1], regularizer=[1, 2], cv=2).fit(X, Y)
    assert capsys.readouterr().out == "" and silent.best_score_ == search.best_score_


@pytest.mark.parametrize("kernels", [WIDTHS, "precomputed"], ids=["computed", "precomputed"])
def test_several_targets_and_labels_share_the_search(kernels):
    data = STACK if kernels == "precomputed" else X
    targets, labels = X[:, :2], np.stack([Y, X[:, 0] > 0], axis=1).astype(int)
    splits = list(KFold(3, shuffle=True, random_state=0).split(Y))
    params = {"C": CS, "regularizer": NORMS}
    for one, plain, y in ((MKLRegressorCV, MKLRegressor, targets), (MKLClassifierCV, MKLClassifier, labels)):
        model = one(kernels, Cs=CS, regularizer=NORMS, cv=splits, tol=1e-6).fit(data, y)
        grid = GridSearchCV(plain(kernels, tol=1e-6), params, cv=splits).fit(data, y)
        np.testing.assert_allclose(model.cv_results_["mean_test_score"], grid.cv_results_["mean_test_score"], atol=1e-3)
        assert model.best_params_ == grid.best_params_ and model.predict(data).shape == y.shape


@pytest.mark.parametrize("kernels", [WIDTHS, "precomputed"], ids=["computed", "precomputed"])
def test_a_device_gives_the_same_scores(kernels):
    pytest.importorskip("torch")
    data = STACK if kernels == "precomputed" else X
    here, there = (
        MKLClassifierCV(kernels, Cs=[0.1, 1.0], regularizer=2, cv=2, scoring=total, device=device, tol=1e-6).fit(
            data, Y
        )
        for device in ("cpu", "torch")
    )
    ours, theirs = (model.cv_results_["mean_test_score"] for model in (here, there))
    np.testing.assert_allclose(ours, theirs, rtol=1e-2, atol=1e-2)
    with pytest.raises(ValueError, match="device=3"):
        MKLClassifierCV(kernels, device=3).fit(data, Y)


def test_a_fit_of_a_path_begins_with_the_matrix_at_which_the_last_one_ended(monkeypatch):
    computed = []
    true = SubsetBank.combined

    def counted(self, *args, **options):
        computed.append(1)
        return true(self, *args, **options)

    monkeypatch.setattr(SubsetBank, "combined", counted)
    model = MKLClassifierCV(WIDTHS, Cs=CS, regularizer=np.inf, cv=2).fit(X, Y)
    assert (model.cv_results_["mean_n_iter"][:-1] == 1).all()  # but for the greatest C, where it begins
    assert len(computed) <= 2 + 1 + 2  # the same weights throughout: once a fold, and in the last fit and its warning


def test_a_scorer_sees_the_model_of_a_fold():
    seen = []

    def scorer(model, test, labels):
        check_is_fitted(model)
        other = model.predict(np.array(test))  # not the held-out examples themselves: computed anew
        np.testing.assert_array_equal(model.predict(test), other)
        assert is_classifier(model) and not hasattr(model, "predict_proba")
        assert type(clone(model)) is MKLClassifier and copy.copy(model).C == model.C
        seen.append(model.kernel_weights_.shape)
        return model.score(test, labels)

    found = MKLClassifierCV(WIDTHS, Cs=[1.0], regularizer=2, cv=2, scoring=scorer).fit(X, Y)
    plain = MKLClassifierCV(WIDTHS, Cs=[1.0], regularizer=2, cv=2).fit(X, Y)
    assert seen[0][-1] == len(WIDTHS) and found.best_score_ == plain.best_score_


def test_the_score_by_a_scorer_counts_the_weights():
    model = MKLClassifierCV(WIDTHS, Cs=[1.0], regularizer=2, scoring="neg_brier_score", loss="logistic").fit(X, Y)
    weight = np.where(np.arange(len(Y)) % 2, 9.0, 0.5)
    wanted = -brier_score_loss(Y, model.predict_proba(X)[:, 1], sample_weight=weight)
    assert model.score(X, Y, sample_weight=weight) == pytest.approx(wanted)
    assert model.score(X, Y) != pytest.approx(wanted, rel=1e-6)


def test_a_search_that_is_fitted_again_forgets_the_fit_before():
    search = MKLClassifierCV([RBF(gamma=0.1)], Cs=[0.1, 1.0], regularizer=2, cv=2)
    rng = np.random.default_rng(0)
    X, y, age = rng.normal(size=(30, 2)), np.arange(30) % 2, rng.normal(size=(30, 1))
    anew = vars(clone(search).fit(X, y))
    search.fit(pd.DataFrame(X, columns=["a", "b"]), y, covariates=age)
    assert "covariate_coef_" in vars(search) and "feature_names_in_" in vars(search)
    search.fit(X, y)
    assert vars(search).keys() == anew.keys()
    np.testing.assert_array_equal(search.predict(X), search.best_estimator_.predict(X))


def test_a_fit_forgets_the_fit_before():
    model = MKLClassifier([RBF(gamma=0.1)], slack=True)
    X, y = np.random.default_rng(0).normal(size=(30, 2)), np.arange(30) % 2
    model.fit({"view": pd.DataFrame(X, columns=["a", "b"])}, y)
    assert {"C_", "slack_weight_", "view_feature_names_in_"} <= vars(model).keys()
    model.set_params(C=1.0, slack=False).fit(X, y)
    assert vars(model).keys() == vars(clone(model).fit(X, y)).keys()
