"""Searches, leave-one-out decisions, sigmoids, paths, covariates and times against plain loops."""

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import minimize
from scipy.stats import norm
from sklearn.base import clone
from sklearn.model_selection import KFold, StratifiedKFold

from manykernels import MKLClassifier, MKLClassifierCV, MKLRegressor, MKLRegressorCV, survival_targets
from manykernels.estimators import choose_c, search, survival_times
from manykernels.estimators.calibration import fit_sigmoid
from manykernels.estimators.covariates import check_covariates, new_covariates
from manykernels.estimators.leave_one_out import spans
from manykernels.estimators.outputs import choose_multi_class, probabilities
from manykernels.estimators.plan import Examples
from manykernels.estimators.scored_fits import apart, distance
from manykernels.kernels import RBF, Linear
from manykernels.losses import Squared
from manykernels.regularizers import EmpiricalBayes, LpNorm
from manykernels.solution import Solution

rng = np.random.default_rng(17)
n = 37
X = rng.normal(size=(n, 4)) * [1, 2, 1, 1]
f = X[:, 0] - 0.6 * X[:, 1] + np.sin(2 * X[:, 2]) + 0.3 * rng.normal(size=n)
three = np.array(["c", "a", "b"])[np.digitize(f, [-0.8, 0.9])]
weight = rng.uniform(0.1, 3.0, n)
Z = np.column_stack([X[:, 1] + rng.normal(size=n), rng.integers(0, 2, n)])
KERNELS = [("r", RBF(0.3), [0, 1]), ("s", RBF("scale"), [2, 3]), ("l", Linear(), [0, 3])]
MATRICES = np.stack([RBF(0.3)(X[:, :2]), Linear()(X[:, 2:])], axis=2)


def squares(model, X, y):
    return -np.mean((model.predict(X) - y) ** 2)


def margins(model, X, y):
    """Minus the mean of log(1 + exp(−yf)) of all outputs."""
    sign = np.where(np.asarray(y)[:, None] == model.classes_, 1, -1)
    return -np.mean(np.logaddexp(0, -sign * model.decision_function(X)))


CASES = {
    "weights": (MKLRegressorCV, KERNELS, X, f, squares, dict(sample_weight=weight)),
    "covariates": (MKLRegressorCV, KERNELS[::2], np.asfortranarray(X), f, squares, dict(covariates=Z)),
    "classes": (MKLClassifierCV, KERNELS, pd.DataFrame(X), three, margins, dict(sample_weight=weight)),
    "matrices": (MKLRegressorCV, "precomputed", np.asfortranarray(MATRICES), f, squares, dict(sample_weight=weight)),
}


@pytest.mark.parametrize("case", CASES)
def test_scores_and_the_chosen_model_are_those_of_single_fits(case):
    """Folds that are not sorted, a candidate for each C and regularizer, weights that differ between folds."""
    make, kernels, data, y, score, given = CASES[case]
    splits = [
        (rng.permutation(train), rng.permutation(test))
        for train, test in KFold(3, shuffle=True, random_state=1).split(X)
    ][:2]
    Cs, found = [2.0, 0.3], [2, 1.5]
    model = make(kernels, Cs=Cs, regularizer=found, cv=splits, scoring=score, tol=1e-8).fit(data, y, **given)
    plain = MKLRegressor if make is MKLRegressorCV else MKLClassifier

    def cut(rows, columns):
        if isinstance(data, pd.DataFrame):
            return data.iloc[rows]
        return data[np.ix_(rows, columns)] if kernels == "precomputed" else data[rows]

    scores = np.empty((4, 2))
    for at, (C, p) in enumerate((C, p) for C in Cs for p in found):
        assert model.cv_results_["params"][at] == {"C": C, "regularizer": p}
        for k, (train, test) in enumerate(splits):
            own = {name: values[train] for name, values in given.items()}
            one = plain(kernels, C=C, regularizer=p, tol=1e-8).fit(cut(train, train), y[train], **own)
            if "covariates" in given:
                scores[at, k] = -np.mean((one.predict(cut(test, train), covariates=Z[test]) - y[test]) ** 2)
            else:
                scores[at, k] = score(one, cut(test, train), y[test])
    results = model.cv_results_
    for k in range(2):
        np.testing.assert_allclose(results[f"split{k}_test_score"], scores[:, k], atol=3e-4)
        assert (results[f"split{k}_duality_gap"] <= 1e-8).all()
    np.testing.assert_allclose(results["mean_test_score"], scores.mean(axis=1), atol=3e-4)
    np.testing.assert_allclose(results["std_test_score"], scores.std(axis=1), atol=3e-4)
    best = int(np.argmax(scores.mean(axis=1)))
    assert model.best_index_ == best and model.best_params_ == {"C": Cs[best // 2], "regularizer": found[best % 2]}
    assert results["rank_test_score"].tolist() == [
        1 + sum(s > t for s in scores.mean(axis=1)) for t in scores.mean(axis=1)
    ]
    fresh = plain(kernels, **model.best_params_, tol=1e-8).fit(data, y, **given)
    np.testing.assert_allclose(model.kernel_weights_, fresh.kernel_weights_, atol=2e-3)
    assert model.objective_ == pytest.approx(fresh.objective_, rel=1e-6)


def results_of(scores, Cs, found):
    mean = scores.mean(axis=1)
    params = [{"C": C, "regularizer": r} for C in Cs for r in found]
    low = np.where(np.isnan(mean), -np.inf, mean)
    split = {f"split{k}_test_score": s for k, s in enumerate(scores.T)}
    return split | {"mean_test_score": mean, "params": params, "param_C": np.array([p["C"] for p in params]),
                    "rank_test_score": np.array([1 + np.sum(low > v) for v in low])}  # fmt: skip


def test_a_candidate_is_chosen_by_its_score_its_error_or_a_function():
    Cs, found = [0.1, 1.0, 10.0], [LpNorm(1), LpNorm(2)]
    scores = np.array([[0.7, 0.72], [0.6, 0.9], [0.80, 0.82], [0.5, 0.5], [0.79, 0.85], [0.81, 0.83]])
    results = results_of(scores, Cs, found)
    assert (
        search.choose_candidate(results, "best") == 4
    )  # the first of two equal ones: 0.82, with C = 10 and the first regularizer
    assert search.choose_candidate(results, "best", adaptive=True) == 4
    error = scores[4].std(ddof=1) / np.sqrt(2)
    able = [k for k in (0, 2, 4) if scores[k].mean() >= 0.82 - error]
    assert search.choose_candidate(results, "1se") == able[0] == 2
    assert search.choose_candidate(results, lambda r: 3) == 3
    for bad in (6, -1, 0.5):
        with pytest.raises(ValueError, match="0 to 5"):
            search.choose_candidate(results, lambda r, bad=bad: bad)
    equal = results_of(np.full((6, 2), 0.5), Cs, found)
    assert search.choose_candidate(equal, "best") == 0 and search.choose_candidate(equal, "best", adaptive=True) == 2
    assert search.choose_candidate(equal, "1se") == 0
    scores[:4] = np.nan
    assert search.choose_candidate(results_of(scores, Cs, found), "best") == 4
    with pytest.raises(ValueError, match="not finite"):
        search.choose_candidate(results_of(np.full((6, 2), np.nan), Cs, found), "best")


@pytest.mark.parametrize("K", range(2, 13))
def test_an_adaptive_search_refines_around_the_best(K):
    first = search.coarse(K)
    assert (np.diff(first) == -3).all() and len(first) == max(1, (K + 1) // 3)
    assert first[-1] <= 2 and K - 1 - first[0] <= 2 and abs(first[-1] - (K - 1 - first[0])) <= 1
    truth = rng.normal(size=(K, 3))
    ran, mean = np.zeros((K, 3), bool), np.full((K, 3), np.nan)
    for _ in range(3 * K):
        todo = search.finer(mean, ran)
        if not todo.any():
            break
        assert not (todo & ran).any()
        if not ran.any():
            assert set(np.flatnonzero(todo.any(axis=1))) == set(first[:2].tolist()) and todo[first[0]].all()
        ran |= todo
        mean = np.where(ran, truth, np.nan)
    assert not search.finer(mean, ran).any()
    low = np.where(ran, truth, -np.inf)
    for r in np.argsort(-low.max(axis=0))[:2]:  # of the two best regularizers the neighbours have run
        j = int(np.argmax(low[:, r]))
        assert ran[max(j - 1, 0) : j + 2, r].all()
    for above, here, below in zip(first, first[1:], first[2:], strict=False):  # down until the score falls
        assert ran[below][ran[here] & (truth[here] >= truth[above])].all()
    assert search.middle(np.array([0, 3, 4]), 8) == 3 and search.middle(np.array([0, 7]), 8) == 0
    assert sorted([10.0, 0.1, 3.0, 1.0, 1 / 3], key=distance) == [1.0, 1 / 3, 3.0, 0.1, 10.0]


def test_a_start_has_the_solution_of_the_last_fold_at_its_examples():
    train = rng.permutation(9)[:6]
    one = search.Search(np.array([0.5, 2.0]), [1, 2], [(np.arange(9), np.arange(9)), (train, np.arange(3))])
    a = rng.normal(size=(1, 6))
    found = {2.0: Solution(np.ones(3), a, np.zeros(1), 0.0, 0.0, 0.0), 0.5: None}
    one.found[1, 1] = 1, [found]
    (start,) = one.start(3, 9)  # C = 2, the second regularizer
    np.testing.assert_array_equal(start.a[:, np.sort(train)], a)
    assert start.a.shape == (1, 9) and np.count_nonzero(start.a) == 6
    one.found[1, 0] = 1, [{0.5: found[2.0]}]
    assert one.start(2, 9) == [] and len(one.start(0, 9)) == 1  # the other C was not solved
    both = Solution(np.ones(3), rng.normal(size=(2, 5)), np.array([1.0, 2.0]), 6.0, 0.0, 0.0)
    parts = apart([both], 2)
    assert [part.b.tolist() for part in parts] == [[1.0], [2.0]] and parts[0].primal == 3.0
    np.testing.assert_array_equal([part.a[0] for part in parts], both.a)


@pytest.mark.parametrize("equality", ["none", "intercept", "covariates"])
def test_spans_are_those_of_the_bordered_matrix(equality):
    """S_i = k_ii − (k_iG e_i) [K_GG + E_G  e_G; e_Gᵀ  0]⁻¹ (k_iG e_i)ᵀ with G the free examples without i."""
    m = 12
    A = rng.normal(size=(m, m + 3))
    K, E, free = A @ A.T / m, rng.uniform(0.1, 1, m), rng.random(m) < 0.7
    free[:5], free[5] = True, False
    border = {"none": np.zeros((m, 0)), "intercept": np.ones((m, 1)),
              "covariates": np.column_stack([np.ones(m), rng.normal(size=m)])}[equality]  # fmt: skip
    given = {"none": False, "intercept": True, "covariates": border}[equality]
    S = spans(K, E, free, given)
    k = border.shape[1]
    for i in range(m):
        G = np.flatnonzero(free & (np.arange(m) != i))
        B = np.block([[K[np.ix_(G, G)] + np.diag(E[G]), border[G]], [border[G].T, np.zeros((k, k))]])
        row = np.concatenate([K[i, G], border[i]])
        assert S[i] == pytest.approx(K[i, i] - row @ np.linalg.solve(B, row), rel=1e-6)
    np.testing.assert_allclose(spans(K, E, np.zeros(m, bool), given), K.diagonal())


def test_a_sigmoid_minimises_the_weighted_logistic_loss_of_platts_targets():
    g, t, w = 5 * rng.normal(size=40), np.where(rng.random(40) < 0.3, 1.0, -1.0), rng.uniform(0, 2, 40)
    g += 2 * t
    many, few = w[t > 0].sum(), w[t < 0].sum()
    target = np.where(t > 0, (many + 1) / (many + 2), 1 / (few + 2))

    def loss(ab):
        p = 1 / (1 + np.exp(-(ab[0] * g + ab[1])))
        return -np.sum(w * (target * np.log(p) + (1 - target) * np.log(1 - p)))

    best = minimize(loss, [0.1, 0.0], method="Nelder-Mead", options=dict(xatol=1e-9, fatol=1e-12, maxiter=4000)).x
    np.testing.assert_allclose(fit_sigmoid(g, t, w), best, rtol=1e-3)
    slope, offset = fit_sigmoid(-g, t, w)  # a larger decision does not make a class less likely
    share = w @ target / w.sum()
    assert slope == 0 and offset == pytest.approx(np.log(share / (1 - share)), rel=1e-4)


@pytest.mark.parametrize("given", ["weights", "covariates"])
def test_sigmoids_are_learned_from_decisions_without_the_example(given):
    y, w = np.where(f > 0.4, "yes", "no"), weight.copy()
    w[::9] = 0.0
    data = np.asfortranarray(X)
    more = {"sample_weight": w} if given == "weights" else {"covariates": Z}
    model = MKLClassifier(KERNELS[::2], C=1.0, tol=1e-6, calibrate="sigmoid").fit(data, y, **more)
    plain, decisions = clone(model).set_params(calibrate=None), np.zeros(n)
    for train, test in StratifiedKFold(5, shuffle=True, random_state=0).split(X, y):
        own = {name: values[train] for name, values in more.items()}
        at = {} if given == "weights" else {"covariates": Z[test]}
        decisions[test] = clone(plain).fit(X[train], y[train], **own).decision_function(X[test], **at)
    used = np.ones(n) if given == "covariates" else w
    expected = fit_sigmoid(decisions[used > 0], np.where(y == "yes", 1.0, -1.0)[used > 0], used[used > 0])
    np.testing.assert_allclose(model.calibration_[0], expected, rtol=2e-2, atol=2e-3)
    P = 1 / (1 + np.exp(-(model.calibration_[0, 0] * model.decision_function(X, **({} if given == "weights" else more))
                          + model.calibration_[0, 1])))  # fmt: skip
    asked = model.predict_proba(X, **({} if given == "weights" else more))
    np.testing.assert_allclose(asked, np.column_stack([1 - P, P]))


def test_C_is_chosen_by_weighted_scores_within_half_an_error():
    for seed in range(30):
        draw = np.random.default_rng(seed)
        scores, c = draw.normal(size=(4, 1)) * 0.05 + draw.normal(size=(4, 20)), draw.uniform(0, 2, 20)
        at, means = choose_c.best_C(scores, c)
        w = c / c.sum()
        expected = [np.sum(w * row) for row in scores]
        np.testing.assert_allclose(means, expected)
        best = scores[int(np.argmax(expected))]
        able = []
        for k, row in enumerate(scores):
            d = best - row
            error = np.sqrt(np.sum((w * (d - w @ d)) ** 2))
            able += [k] if w @ d <= 0.5 * error + 1e-12 else []
        near = {1: 0, 0: 1, 2: 2, 3: 3}  # 1, then 0.1 before 10, then 100
        assert at == min(able, key=near.__getitem__)


def test_scores_of_decisions_that_leave_one_out():
    Y = np.array([[1, -1, -1, 1], [-1, 1, -1, -1], [-1, -1, 1, -1]])
    F = rng.normal(size=(2, 3, 4))
    for K in range(2):
        for i in range(4):
            own = int(np.argmax(Y[:, i]))
            z = 0.5 * (F[K, own, i] - max(F[K, t, i] for t in range(3) if t != own))
            assert choose_c.margins(Y, F)[K, i] == pytest.approx(z)
    labels = np.array([[1, 1, -1, 1], [-1, 1, -1, -1]])  # that may hold together
    np.testing.assert_allclose(choose_c.margins(labels, F[:, :2]), (labels * F[:, :2]).min(axis=1))
    np.testing.assert_allclose(choose_c.margins(labels[:1], F[:, :1]), labels[0] * F[:, 0])
    plain = Examples(None, rng.normal(size=(2, 4)), np.ones(4), np.ones(4), Squared())
    value = np.mean([Squared().value(plain.Y[t], F[:, t]) for t in range(2)], axis=0)
    np.testing.assert_allclose(choose_c.score(plain, F[:, :2]), -value)


def test_a_sample_for_C_has_every_class_and_no_example_without_cost(monkeypatch):
    monkeypatch.setattr(choose_c, "MAX_EXAMPLES", 30)
    m = 200
    Y = np.array([np.where(np.arange(m) % 50 == 7, 1, -1), np.where(np.arange(m) < 20, 1, -1)])
    c = rng.uniform(0.5, 1, m)
    c[::5] = 0
    examples = Examples(None, Y, np.ones(m), c, Squared(), classes=["a", "b"])
    rows = choose_c.sample_rows(examples, 3, 10**6)
    assert (c[rows] > 0).all() and (np.diff(rows) > 0).all() and 30 <= len(rows) <= 70
    assert (Y[0, rows] > 0).sum() == 4 and (Y[1, rows] > 0).sum() >= 10
    np.testing.assert_array_equal(choose_c.sample_rows(examples, 3, 10**6), rows)
    assert not np.array_equal(choose_c.sample_rows(examples, 4, 10**6), rows)
    number = Examples(None, rng.normal(size=(1, m)), np.ones(m), np.ones(m), Squared())
    rows = choose_c.sample_rows(number, 0, 25)
    place = np.sort(np.argsort(np.argsort(number.Y[0]))[rows])
    assert len(rows) == 25 and np.diff(place).max() <= 9  # evenly spaced in the order of the targets
    few = Examples(None, number.Y[:, :25], np.ones(25), np.ones(25), Squared())
    np.testing.assert_array_equal(choose_c.sample_rows(few, 0, 25), np.arange(25))


def test_some_examples_are_those_rows_of_everything():
    covariates = check_covariates(Z, n, np.ones(n))
    task = np.array(list("uv"))[rng.integers(0, 2, n)]
    whole = Examples(X, rng.normal(size=(2, n)), weight, 2 * weight, Squared(), C=2.0, task=task, covariates=covariates)
    rows = rng.permutation(n)[:7]
    some = whole.take(rows)
    for one, every in (
        (some.X, X),
        (some.weight, weight),
        (some.c, 2 * weight),
        (some.task, task),
        (some.covariates.Z, Z),
    ):
        np.testing.assert_array_equal(one, every[rows])
    np.testing.assert_array_equal(some.Y, whole.Y[:, rows])
    assert whole.at(6.0).C == 6.0 and whole.uneven_weight() is weight and some.n == 7
    np.testing.assert_allclose(whole.at(6.0).c, 6 * weight)
    assert Examples(X, whole.Y, np.full(n, 0.7), weight, Squared()).uneven_weight() is None


def test_a_path_has_the_fits_at_each_C_scored_on_other_examples():
    own, other = np.arange(0, n, 2), np.arange(1, n, 2)
    model = MKLRegressor(KERNELS[::2], tol=1e-7)
    given = dict(sample_weight=weight[own], covariates=Z[own])
    path = model.path(X[own], f[own], Cs=[3.0, 0.2], regularizer=[1.5, 2], test=(X[other], f[other], Z[other]), **given)
    assert path.Cs.tolist() == [0.2, 3.0] and path.regularizers == [1.5, 2] and path.score_on == "test data"
    inside = model.path(X[own], f[own], Cs=[3.0], **given)
    for r, p in enumerate([1.5, 2]):
        for k, C in enumerate(path.Cs):
            one = clone(model).set_params(C=float(C), regularizer=p).fit(X[own], f[own], **given)
            np.testing.assert_allclose(path.weights[r, k], one.kernel_weights_, atol=2e-3)
            assert path.objective[r, k] == pytest.approx(one.objective_, rel=1e-5)
            assert path.score[r, k] == pytest.approx(one.score(X[other], f[other], covariates=Z[other]), abs=1e-3)
            assert path.n_support[r, k] == len(one.support_)
    expected = one.score(X[own], f[own], sample_weight=weight[own], covariates=Z[own])
    assert inside.score[0, 0] == pytest.approx(expected, abs=1e-3)
    frame = path.to_frame()
    assert frame["C"].tolist() == [0.2, 3.0, 0.2, 3.0] and frame["regularizer"].tolist() == ["1.5", "1.5", "2", "2"]
    np.testing.assert_allclose(frame[["r", "l"]], path.weights.reshape(4, 2))


def test_covariates_are_numbers_and_levels_in_the_order_of_the_fit():
    site, age = np.array(list("bcab"))[rng.integers(0, 4, n)], rng.normal(size=n)
    frame = pd.DataFrame({"age": age, "site": site, "double": 2 * age + 1, "one": 3})
    with pytest.warns(UserWarning, match="dropped 'double' and 'one'|dropped 'double', 'one'"):
        found = check_covariates(frame, n, np.ones(n))
    assert found.names == ["age", "site=b", "site=c"]
    np.testing.assert_array_equal(found.Z, np.column_stack([age, site == "b", site == "c"]))
    model = MKLRegressor()
    model.covariate_columns_, model.covariate_names_ = found.columns, found.names
    again = new_covariates(model, frame[["one", "site", "double", "age"]].iloc[::-1], n)
    np.testing.assert_array_equal(again, found.Z[::-1])
    by_place = new_covariates(model, frame.to_numpy(object), n)
    np.testing.assert_array_equal(by_place, found.Z)
    w = np.ones(n)
    w[site == "c"] = 0  # a level without weight says nothing
    with pytest.warns(UserWarning, match="dropped 'site=c'"):
        assert check_covariates(frame[["age", "site"]], n, w).names == ["age", "site=b"]
    with pytest.raises(ValueError, match="not seen in fit"):
        new_covariates(model, frame.assign(site="z"), n)


def test_probabilities_sum_to_one_where_classes_exclude_each_other():
    F, V = rng.normal(size=(5, 3)), rng.uniform(0.5, 2, (5, 1))
    P = 1 / (1 + np.exp(-F))
    np.testing.assert_allclose(probabilities(F, None, False), P)
    np.testing.assert_allclose(probabilities(F, None, True), P / P.sum(axis=1, keepdims=True))
    np.testing.assert_allclose(probabilities(F[:, :1], None, True), np.column_stack([1 - P[:, 0], P[:, 0]]))
    Q = norm.cdf(F / np.sqrt(V))
    np.testing.assert_allclose(probabilities(F, V, False), Q)
    np.testing.assert_allclose(probabilities(F[:, :1], V, True), np.column_stack([1 - Q[:, 0], Q[:, 0]]))


def test_weights_are_shared_where_a_class_is_small():
    Y = np.where(np.arange(3)[:, None] == np.repeat([0, 1, 2], [40, 31, 30]), 1, -1)
    w = np.ones(101)
    assert choose_multi_class(Y, w, 2)[0] == "ovr" and choose_multi_class(Y[:1], w, 2)[0] == "shared"
    w[-1] = 0
    assert choose_multi_class(Y, w, 2)[0] == "shared" and "29 examples" in choose_multi_class(Y, w, 2)[1]
    assert choose_multi_class(np.array([Y[0], -Y[1]]), w, 2)[0] == "ovr"
    assert choose_multi_class(Y, np.ones(101), EmpiricalBayes())[0] == "shared"


@pytest.mark.parametrize("pairs", [2**22, 1])
def test_concordance_counts_pairs(pairs, monkeypatch):
    monkeypatch.setattr(survival_times, "PAIRS", pairs)
    m = 25
    y = survival_targets(rng.random(m) < 0.6, rng.integers(1, 8, m), rng.choice(list("pq"), m))
    risk, w = rng.integers(0, 5, m) / 2.0, rng.uniform(0.1, 2, m)
    for targets in (y, y[["event", "time"]]):
        right = total = 0.0
        for i in range(m):
            for j in range(m):
                apart_ = "stratum" in targets.dtype.names and y["stratum"][i] != y["stratum"][j]
                later = y["time"][j] > y["time"][i] or y["time"][j] == y["time"][i] and not y["event"][j]
                if y["event"][i] and later and not apart_:
                    total += w[i] * w[j]
                    right += w[i] * w[j] * (1 if risk[i] > risk[j] else 0.5 if risk[i] == risk[j] else 0)
        assert survival_times.concordance(targets, risk, w) == pytest.approx(right / total)
    with pytest.raises(ValueError, match="no pair"):
        survival_times.concordance(survival_targets([0, 1], [3, 4]), np.zeros(2))


def test_times_are_read_from_every_form():
    event, time, site = np.array([True, False, True]), np.array([3.0, 0.0, 2.5]), np.array(["u", "v", "u"])
    plain, own = survival_targets(event, time), survival_targets(event, time, site)
    assert plain.dtype.names == ("event", "time") and own["stratum"].tolist() == site.tolist()
    forms = [np.column_stack([event, time]), pd.DataFrame({"Time": time, "Status": event.astype(int)}), plain,
             np.array(list(zip(event, time, strict=True)), [("died", bool), ("days", float)])]  # fmt: skip
    for form in forms:
        np.testing.assert_array_equal(survival_times.read_times(form), plain)
        np.testing.assert_array_equal(survival_times.read_times(form, site), own)
    frame = pd.DataFrame({"stratum": site, "t": time, "e": event})
    np.testing.assert_array_equal(survival_times.read_times(frame), own)
    np.testing.assert_array_equal(survival_times.read_times(own), own)
    for bad, words in ((time[:, None], "shape"), (np.column_stack([time, event]), "first column"), (None, "y=None")):
        with pytest.raises(ValueError, match=words):
            survival_times.read_times(bad)
    for bad_event, bad_time, words in (([0, 2], [1, 1], "1 for events"), ([0, 1], [1, -1], "negative"),
                                       ([0, 1], [1, np.inf], "infinite"), ([0, np.nan], [1, 1], "missing"),
                                       ([0, 1], [1, np.nan], "missing"), ([0, 1], [1, 2, 3], "entries")):  # fmt: skip
        with pytest.raises(ValueError, match=words):
            survival_targets(bad_event, bad_time)
