"""What people who tried the library for the first time ran into; each of it is a sentence or works now."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_diabetes
from sklearn.preprocessing import StandardScaler

from manykernels import KernelStack, MKLClassifier, MKLClassifierCV, MKLRegressor, MKLSurvival, Views, survival_targets
from manykernels.datasets import make_splice
from manykernels.estimators.check_targets import make_splits
from manykernels.inspect import relevance, suggest
from manykernels.kernels import RBF, Linear
from manykernels.pairs import Pairs

rng = np.random.default_rng(0)
A = rng.normal(size=(60, 4))
y = (A[:, 0] > 0).astype(int)
IDS = [f"p{i}" for i in range(60)]
FRAME = pd.DataFrame(A, index=IDS)


def test_targets_in_another_order_than_the_examples_are_refused():
    X, target = Views({"a": FRAME}, ids="index"), pd.Series(y, index=IDS)
    other = target.sample(frac=1, random_state=0)
    for model in (MKLClassifier([("a", RBF())]), MKLRegressor([("a", RBF())]), MKLClassifierCV([("a", RBF())], Cs=2)):
        with pytest.raises(ValueError, match=r"y has the ids of X in another order: give y.loc\[X.ids\]"):
            model.fit(X, other)
    MKLClassifier([("a", RBF())]).fit(X, other.loc[X.ids])
    MKLClassifier([("a", RBF())]).fit(X, y)


def test_rows_that_are_all_nan_are_absent_after_a_scaler_too():
    holes = A.copy()
    holes[::7] = np.nan
    X = Views({"a": holes, "g": A[:, 1:]})
    kernels = [("a", StandardScaler(), RBF(), "a", "zero"), ("g", RBF(), "g")]
    model = MKLClassifier(kernels).fit(X, y)
    parts = model.decision_parts(X)
    assert np.all(parts[::7, 0] == 0) and np.any(parts[1::7, 0] != 0)
    holes[3, 2] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        MKLClassifier(kernels).fit(Views({"a": holes, "g": A[:, 1:]}), y)


def test_values_are_not_taken_for_classes():
    X, target = load_diabetes(return_X_y=True)
    found = suggest(X[:80], target[:80], [RBF(gamma="scale"), Linear()], Cs=[1], cv=3)
    assert found.mixing in ("sparse", "dense", "either")
    again = suggest(X[:80], target[:80].astype(int), [RBF(gamma="scale"), Linear()], Cs=[1], cv=3, regression=True)
    np.testing.assert_allclose(again.scores, found.scores, atol=0.05)


def test_views_without_a_common_id_are_named():
    one, two = pd.DataFrame({"id": [1, 2], "x": [1.0, 2]}), pd.DataFrame({"id": ["1", "2"], "x": [1.0, 2]})
    with pytest.warns(UserWarning, match="'a' and 'b' have no id in common .*the same type"):
        Views({"a": one, "b": two}, ids="id")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Views({"a": one, "b": one[1:]}, ids="id")


def test_what_is_given_in_the_wrong_place_is_named():
    with pytest.raises(ValueError, match="'rnaa' names no view of X"):
        MKLClassifier([("rnaa", RBF())]).fit(Views({"rna": A, "b": A}), y)
    with pytest.raises(ValueError, match="X holds pairs of objects.*Pairwise"):
        MKLClassifier([RBF()]).fit(Pairs.grid(A[:12], A[:10]), rng.integers(0, 2, 120))
    with pytest.raises(ValueError, match="best_estimator_"):
        relevance(MKLClassifierCV([("a", RBF(), [0]), ("b", RBF(), [1])], Cs=2), A, y)


def test_read_only_data_go_to_a_device():
    pytest.importorskip("torch", reason="PyTorch is not installed: nothing runs on a device")
    still = A.copy()
    still.flags.writeable = False
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        MKLClassifier([Linear(), RBF(0.1)], device="torch").fit(still, y)


def test_kernels_of_a_stack_are_told_apart_by_name():
    matrices = {"rbf": RBF(0.1)(A), "line": Linear()(A)}
    model = MKLClassifier("precomputed").fit(KernelStack(matrices.values(), names=list(matrices)), y)
    with pytest.raises(ValueError, match="X has the kernels line, rbf, but the model was fitted on rbf, line: give"):
        model.predict(KernelStack(list(matrices.values())[::-1], names=["line", "rbf"]))
    same = KernelStack(matrices.values(), names=list(matrices))
    np.testing.assert_array_equal(model.predict(same), model.predict(np.stack(list(matrices.values()), axis=2)))


def test_sequences_have_default_kernels_and_short_texts_need_a_list():
    X, labels = make_splice(40, positives=0.5, random_state=0)
    assert "dna sequences" in MKLClassifier().fit(X, labels).kernels_chosen_
    with pytest.raises(ValueError, match=r"sequences a string kernel such as Spectrum\(4\)"):
        MKLClassifier().fit(["ACGT", "ACGA", "TTTT", "TTTA"], [0, 0, 1, 1])


def test_folds_keep_groups_whole():
    """Rows of a patient that lie in training and test tell nothing about new patients."""
    draw = np.random.default_rng(4)
    patients, groups = draw.normal(size=(40, 3)), np.tile(np.arange(40), 4)
    rows, labels = patients[groups] + 0.01 * draw.normal(size=(160, 3)), draw.integers(0, 2, 40)[groups]
    model, chance = MKLClassifier([RBF(1.0), Linear()], C=1.0), (0.25, 0.75)
    assert np.mean(relevance(model, rows, labels).score_all) > 0.9
    assert chance[0] < np.mean(relevance(model, rows, labels, groups=groups).score_all) < chance[1]
    search = MKLClassifierCV([RBF(1.0)], Cs=[1.0], cv=4).fit(rows, labels, groups=groups)
    assert chance[0] < search.best_score_ < chance[1]
    for train, test in make_splits(None, rows, rows[:, 0], False, groups):
        assert not set(groups[train]) & set(groups[test])


def test_distances_are_no_kernel():
    D = np.sum((A[:, None] - A[None]) ** 2, axis=2)
    with pytest.raises(ValueError, match=r"'kernel 1' of X is 0 on its diagonal and not elsewhere, .* np\.exp\(-D"):
        MKLClassifier("precomputed").fit(np.stack([A @ A.T, D], axis=2), y)
    with pytest.raises(ValueError, match="'far' of X is 0 on its diagonal"):
        MKLClassifier("precomputed").fit(KernelStack([np.exp(-D), D], names=["near", "far"]), y)


def test_one_value_of_C_is_given_as_a_list():
    with pytest.raises(ValueError, match=r"Cs=1 is not allowed: give their number, at least 2, or .* \[1\]"):
        MKLClassifierCV([RBF()], Cs=1).fit(A, y)


def test_a_gap_that_hardly_falls_has_no_time_left():
    from manykernels.estimators.progress import show_progress

    with show_progress("fit", 1e-9) as bar:
        for k in range(8):
            bar.record({"time": float(k), "gap": 1e-2 * 0.3**k})
        assert "left" in bar.left
        for k in range(8, 16):
            bar.record({"time": float(k), "gap": 2e-6 * 0.999**k})
        assert bar.left == "the gap hardly falls"


def test_a_suggestion_says_how_sure_it_is():
    found = suggest(A, A.sum(axis=1), [("one", RBF(0.5), [0]), ("all", Linear())], Cs=[10.0], cv=3)
    assert "standard errors" in str(found).splitlines()[0] and "likely" not in str(found)


def test_pandas_rows_in_another_order_are_refused():
    """Clinical tables are often sorted in another way; numbers of rows that pandas made up do not count."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(30, 2)), index=[f"P{k}" for k in range(30)])
    y, Z = pd.Series(X[0] > 0, index=X.index), X[[1]].rename(columns={1: "age"})
    times = pd.DataFrame({"event": y, "time": rng.exponential(size=30)}, index=X.index)
    for data, cure in ((X, r"y.loc\[X.index\]"), (Views({"x": X}), "y in the order of X")):
        with pytest.raises(ValueError, match=f"y has the index of X in another order: give {cure}"):
            MKLClassifier(C=1.0).fit(data, y[::-1])
        with pytest.raises(ValueError, match="covariates has the index of X in another order"):
            MKLClassifier(C=1.0).fit(data, y, covariates=Z[::-1])
        with pytest.raises(ValueError, match="y has the index of X in another order"):
            MKLSurvival(C=1.0).fit(data, times[::-1])
    model = MKLClassifier(C=1.0).fit(X, y, covariates=Z)
    numbered = MKLClassifier(C=1.0).fit(X, y.reset_index(drop=True), covariates=Z.reset_index(drop=True))
    np.testing.assert_array_equal(model.dual_coef_, numbered.dual_coef_)


def test_strata_without_a_value_are_named():
    times = survival_targets([True, False, True], [1.0, 2.0, 3.0], ["a", "b", "a"])
    assert times["stratum"].tolist() == ["a", "b", "a"]
    with pytest.raises(ValueError, match="strata has 1 missing values"):
        survival_targets([True, False, True], [1.0, 2.0, 3.0], ["a", None, "a"])
    with pytest.raises(ValueError, match="strata='site' is not a column"):
        survival_targets([True, False, True], [1.0, 2.0, 3.0], "site")


def test_an_unknown_loss_is_answered_with_those_that_are_possible_there():
    times = survival_targets(y == 1, np.arange(1.0, 61.0))
    with pytest.raises(ValueError, match="loss='rank' is unknown: choose one of 'log_time', 'cox', 'ranking', or a"):
        MKLSurvival(loss="rank").fit(A, times)
    for model, possible, other in ((MKLClassifier, "'hinge'", "'cox'"), (MKLRegressor, "'quantile'", "'hinge'")):
        with pytest.raises(ValueError, match=rf"loss='rank' is unknown: choose one of .*{possible}") as caught:
            model(loss="rank").fit(A, y)
        assert other not in str(caught.value)
    with pytest.raises(ValueError, match="loss=3 is unknown"):
        MKLRegressor(loss=3).fit(A, y)
