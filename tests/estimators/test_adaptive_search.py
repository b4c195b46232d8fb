"""A search over a number of Cs runs a part of the grid; fits whose weights are known have a single kernel."""

from threading import current_thread

import numpy as np
import pytest
from sklearn.datasets import load_wine
from sklearn.preprocessing import scale

from manykernels import MKLClassifier, MKLClassifierCV, MKLRegressorCV, _limits
from manykernels.estimators.choose_c import SCORED_TOL, ScoredFits
from manykernels.estimators.search import Search, choose_candidate, finer
from manykernels.kernels import RBF
from manykernels.regularizers import Fixed, LpNorm

WIDTHS = [RBF(gamma=g) for g in (0.01, 0.1, 1.0)]
X, LABELS = load_wine(return_X_y=True)
X, LABELS = scale(X)[::3], LABELS[::3]
STACK = np.stack([k(X) for k in WIDTHS], axis=2)


def searched(mean):
    """The candidates that ran when the scores (K, R) are known, round by round."""
    ran, rounds = np.zeros(mean.shape, bool), []
    while (todo := finer(mean, ran)).any():
        assert not (todo & ran).any()
        ran |= todo
        rounds.append(todo)
    return ran, rounds


def peak(K, at):
    return -np.abs(np.arange(K) - at) / K


@pytest.mark.parametrize("at", range(10))
def test_the_best_C_of_one_peak_is_found_with_every_regularizer(at):
    ran, _ = searched(np.stack([peak(10, 5) - 1, peak(10, at), peak(10, 5) - 2], axis=1))
    assert ran[at, 1] and ran[:, 1].sum() <= 7 and ran.sum() <= 16


def test_a_path_stops_where_the_scores_fall():
    ran, rounds = searched(np.stack([peak(10, 8), peak(10, 1) - 1], axis=1))
    assert rounds[0][[7, 4]].all() and rounds[0].sum() == 4
    assert not ran[1, 0] and ran[1, 1]  # the first falls from the greatest C down, the second rises
    ran = np.isin(np.arange(10), [7, 4, 1])[:, None]
    assert np.flatnonzero(finer(np.where(ran, 1.0, np.nan), ran)).tolist() == [3, 5]  # of equal ones the middle


@pytest.mark.parametrize("K", range(2, 13))
def test_every_search_ends_also_without_scores(K):
    for mean in (np.full((K, 2), np.nan), np.zeros((K, 2)), np.random.default_rng(K).random((K, 3))):
        ran, _ = searched(mean)
        assert ran.any(axis=0).all()


def test_what_was_not_run_is_nan_and_the_rest_is_a_plain_search():
    some = MKLClassifierCV(WIDTHS, Cs=10, regularizer=[2, np.inf], cv=3).fit(X, LABELS > 0)
    every = MKLClassifierCV(WIDTHS, Cs=list(some.Cs_), regularizer=[2, np.inf], cv=3).fit(X, LABELS > 0)
    found, ran = some.cv_results_, np.isfinite(some.cv_results_["mean_test_score"])
    assert some.searched_ == ran.sum() < len(ran) == every.searched_ == 20
    for key in ("mean_fit_time", "split2_test_score", "split0_duality_gap", "mean_n_iter"):
        assert np.array_equal(np.isfinite(found[key]), ran)
    assert set(found) == set(every.cv_results_) and found["params"] == every.cv_results_["params"]
    assert found["rank_test_score"][~ran].min() > found["rank_test_score"][ran].max()
    apart = found["mean_test_score"][ran] - every.cv_results_["mean_test_score"][ran]
    assert np.abs(apart).max() < 0.05 and abs(some.best_score_ - every.best_score_) < 0.02
    assert found["max_duality_gap"][ran].max() <= SCORED_TOL and some.duality_gap_ <= 1e-3
    assert every.cv_results_["max_duality_gap"].max() <= 1e-3


@pytest.mark.parametrize("refit", ["1se", lambda results: 3])
def test_other_choices_than_the_best_see_the_whole_grid(refit):
    model = MKLClassifierCV(WIDTHS, Cs=4, regularizer=[2, np.inf], cv=2, refit=refit).fit(X, LABELS)
    assert np.isfinite(model.cv_results_["mean_test_score"]).all()


def test_rounds_without_room_for_the_kernels_of_all_folds_give_the_same_scores(monkeypatch):
    search = MKLRegressorCV([RBF(gamma="scale")], Cs=10, regularizer=2, cv=3)
    kept = search.fit(X, X[:, 0]).cv_results_["mean_test_score"]
    monkeypatch.setitem(_limits.SHARES, "matrices of folds", _limits.Share(1, 2 * 8 * len(X) ** 2))
    np.testing.assert_array_equal(search.fit(X, X[:, 0]).cv_results_["mean_test_score"], kept)


@pytest.mark.parametrize("regularizer", [np.inf, Fixed([0.2, 0.0, 0.8])], ids=str)
def test_known_weights_make_one_kernel_and_the_same_model(regularizer):
    """`newton` by name learns with all kernels; "auto" takes their sum."""
    one, all_of_them = (
        MKLClassifier("precomputed", regularizer=regularizer, C=10.0, tol=1e-9, solver=solver).fit(STACK, LABELS)
        for solver in ("auto", "newton")
    )
    assert max(one.duality_gap_, all_of_them.duality_gap_) <= 1e-9
    np.testing.assert_allclose(one.kernel_weights_, all_of_them.kernel_weights_)
    np.testing.assert_allclose(one.objective_, all_of_them.objective_, rtol=1e-8)
    np.testing.assert_allclose(one.decision_function(STACK), all_of_them.decision_function(STACK), atol=1e-3)


@pytest.mark.parametrize("Cs", [10, [0.1, 1.0, 10.0]], ids=["a part of the grid", "a list"])
def test_folds_side_by_side_give_the_same_bits(Cs, monkeypatch):
    """Threads solve the candidates; the scorer stays in the thread that called fit."""
    threads, at = {"solve": set(), "score": set()}, ScoredFits.at
    monkeypatch.setattr(ScoredFits, "at", lambda *given: threads["solve"].add(current_thread().name) or at(*given))

    def scorer(model, X, y):
        threads["score"].add(current_thread().name)
        return model.score(X, y)

    alone, beside = (
        MKLClassifierCV(WIDTHS, Cs=Cs, regularizer=[1, 2], cv=4, scoring=scorer, n_jobs=n_jobs).fit(X, LABELS)
        for n_jobs in (1, 2)
    )
    assert any("manykernels" in name for name in threads["solve"]) and threads["score"] == {current_thread().name}
    for name in ("mean_test_score", "split3_test_score", "max_duality_gap", "mean_n_iter"):
        np.testing.assert_array_equal(alone.cv_results_[name], beside.cv_results_[name])
    for name in ("kernel_weights_", "dual_coef_", "intercept_"):
        np.testing.assert_array_equal(getattr(alone, name), getattr(beside, name))
    assert np.nanmin(beside.cv_results_["mean_fit_time"]) > 0


def test_folds_side_by_side_share_the_memory(monkeypatch):
    """Without room for the matrices of two folds, one fold is solved after the other."""
    seen, solve = [], Search._solve
    monkeypatch.setattr(
        Search, "_solve", lambda self, group, *rest: seen.append(len(group)) or solve(self, group, *rest)
    )
    room = 8 * len(X) ** 2 * len(WIDTHS)
    for limit in (3 * room, 40 * room):
        MKLClassifierCV(WIDTHS, Cs=[0.1, 1.0], regularizer=2, cv=4, n_jobs=2, memory_limit=limit).fit(X, LABELS)
    assert seen == [1, 1, 1, 1, 2, 2]


def test_an_error_names_the_fold_that_cannot_be_fitted():
    folds = [(np.arange(60), np.arange(60)), (np.flatnonzero(LABELS == 0), np.arange(60))]
    for n_jobs in (1, 2):
        with pytest.raises(ValueError, match="fold 1 of cv cannot be fitted: y has one class"):
            MKLClassifierCV(WIDTHS, Cs=[0.1, 1.0], regularizer=2, cv=folds, n_jobs=n_jobs).fit(X, LABELS)


def results_of(scores, Cs, found):
    mean = scores.mean(axis=1)
    params = [{"C": C, "regularizer": r} for C in Cs for r in found]
    low = np.where(np.isnan(mean), -np.inf, mean)
    split = {f"split{k}_test_score": s for k, s in enumerate(scores.T)}
    return split | {"mean_test_score": mean, "params": params, "param_C": np.array([p["C"] for p in params]),
                    "rank_test_score": np.array([1 + np.sum(low > v) for v in low])}  # fmt: skip


def test_a_candidate_is_chosen_by_its_score_its_error_or_a_function():
    Cs, found = [0.1, 1.0, 10.0], [LpNorm(1), LpNorm(2)]
    scores = np.array([[0.7, 0.72], [0.80, 0.82], [0.80, 0.82], [0.5, 0.5], [0.79, 0.85], [0.81, 0.83]])
    results = results_of(scores, Cs, found)
    assert choose_candidate(results, "best") == 4  # the first of two equal ones
    assert choose_candidate(results, "best", adaptive=True) == 4
    error = scores[4].std(ddof=1) / np.sqrt(2)
    able = [k for k in (0, 2, 4) if scores[k].mean() >= 0.82 - error]
    assert choose_candidate(results, "1se") == able[0] == 2  # not 1, which has another regularizer
    assert choose_candidate(results, lambda r: 3) == 3
    for bad in (6, -1, 0.5):
        with pytest.raises(ValueError, match="0 to 5"):
            choose_candidate(results, lambda r, bad=bad: bad)
    equal = results_of(np.full((6, 2), 0.5), Cs, found)
    assert choose_candidate(equal, "best") == 0 and choose_candidate(equal, "best", adaptive=True) == 2
    assert choose_candidate(equal, "1se") == 0
    scores[:4] = np.nan
    assert choose_candidate(results_of(scores, Cs, found), "best") == 4
    with pytest.raises(ValueError, match="not finite"):
        choose_candidate(results_of(np.full((6, 2), np.nan), Cs, found), "best")
