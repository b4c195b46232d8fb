"""Relevance against plain loops over fits: every score, measure, share and alignment, for every kind of data.

The references fit a fresh model for each score, permute the data of a source, and compare by formulas of the docstring.
"""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import t
from sklearn.base import clone
from sklearn.model_selection import KFold

from manykernels import MKLClassifier, MKLRegressor, MKLSurvival
from manykernels.inspect import bootstrap_weights, column_relevance, fold, held_out, relevance
from manykernels.kernels import RBF, KernelStack, Linear

rng = np.random.default_rng(7)
n = 41
X = rng.normal(size=(n, 6)) * [1, 2, 1, 1, 3, 1] + 0.5
signal = X[:, 0] + np.sin(X[:, 1]) - 0.7 * X[:, 2] + 0.4 * X[:, 4] + 0.3 * rng.normal(size=n)
weight = rng.uniform(0.2, 3.0, n)
Z = np.column_stack([X[:, 2] + 0.3 * rng.normal(size=n), rng.integers(0, 2, n)])
KERNELS = [("a", RBF(0.2), [0, 1]), ("b", RBF(0.1), [2, 3]), ("a, linear", Linear(), [0, 1]), ("c", Linear(), [4])]
SOURCES = {"columns 0, 1": [0, 2], "b": [1], "c": [3]}  # "a" and "a, linear" see the same columns
ROWS = SOURCES | {"a": [0], "a, linear": [2]}
DRAWS = 2


def judged(f, y, w=None):
    """R², or minus the mean of Σ_t log(1 + exp(−y_t f_t)), of decisions f (n, T): every change of one changes it."""
    if y.dtype.kind == "f":
        y = y.reshape(len(y), -1)
        left, all_of_it = (np.average((y - g) ** 2, axis=0, weights=w) for g in (f, np.average(y, axis=0, weights=w)))
        return np.mean(1 - left / all_of_it)
    known = np.unique(y)
    sign = np.where(y[:, None] == (known if f.shape[1] > 1 else known[1:]), 1, -1)
    return -np.average(np.logaddexp(0, -sign * f).sum(axis=1), weights=w)


def loss_of(model, X, y, sample_weight=None):
    return judged(model.decision_function(X).reshape(len(y), -1), y, sample_weight)


def cut(data, rows):
    if isinstance(data, dict):
        return {name: x[rows] for name, x in data.items()}
    return data.iloc[rows] if isinstance(data, pd.DataFrame) else data[rows]


def moved(data, columns, order):
    """The data of some examples, with these columns of others."""
    if isinstance(data, dict):  # view "one" has the first four columns
        return {name: moved(x, [c - at for c in columns if 0 <= c - at < x.shape[1]], order)
                for (name, x), at in zip(data.items(), (0, 4), strict=True)}  # fmt: skip
    out = np.array(data, float)
    out[:, columns] = out[order][:, columns]
    return pd.DataFrame(out, columns=data.columns) if isinstance(data, pd.DataFrame) else out


def columns_of(members):
    return sorted({c for m in members for c in KERNELS[m][2]})


def naive(model, data, y, splits, orders, weight=None, covariates=None):
    """{measure: (J, rows) or (J,)} by a fresh fit for each score."""
    found = {key: [] for key in ("all", "nothing", "without", "permuted", "alone", "alone_permuted", "weight")}
    number, specs = y.dtype.kind == "f", model.kernels
    for (train, test), draws in zip(splits, orders, strict=True):
        w, here = (None, None) if weight is None else (weight[train], weight[test]), cut(data, test)
        of = [{} if covariates is None else {"covariates": covariates[rows]} for rows in (train, test)]
        E = np.ones((n, 1)) if covariates is None else np.column_stack([np.ones(n), covariates])

        def fit(which, w=w, train=train, of=of):
            twin = clone(model).set_params(kernels=[specs[m] for m in which])
            return list(which), twin.fit(cut(data, train), y[train], sample_weight=w[0], **of[0])

        def decision(fitted, here=here, of=of):
            f = fitted.predict(here, **of[1]) if number else fitted.decision_function(here, **of[1])
            return f.reshape(len(f), -1)

        def plain(one, test=test, w=w, decision=decision):
            return judged(decision(one[1]), y[test], w[1])

        def shuffled(one, members, order, test=test, w=w, here=here, E=E, decision=decision):
            """The score if some kernels see the data in another order; covariates keep what they explain."""
            which, fitted = one
            places = [which.index(m) for m in members]

            def part(data):
                own = fitted.decision_parts(data)[..., places].sum(axis=-1).reshape(len(test), -1)
                return own if E.shape[1] == 1 else own - E[test] @ np.linalg.lstsq(E[test], own, rcond=None)[0]

            new = part(moved(here, columns_of(members), order)) if E.shape[1] == 1 else part(here)[order]
            return judged(decision(fitted) + new - part(here), y[test], w[1])

        whole, alone = fit(range(4)), [fit(members) for members in ROWS.values()]
        found["all"].append(plain(whole))
        found["without"].append([plain(fit(sorted(set(range(4)) - set(members)))) for members in ROWS.values()])
        found["alone"].append([plain(one) for one in alone])
        found["permuted"].append([np.mean([shuffled(whole, m, o) for o in draws]) for m in ROWS.values()])
        pairs = list(zip(alone, ROWS.values(), strict=True))
        found["alone_permuted"].append([np.mean([shuffled(one, m, o) for o in draws]) for one, m in pairs])
        theta = np.atleast_2d(whole[1].kernel_weights_).mean(axis=0)
        found["weight"].append([theta[m].sum() / theta.sum() for m in ROWS.values()])
        own = np.ones(len(train)) if weight is None else w[0]
        if number:  # the best constant, or the covariates alone
            root = np.sqrt(own)[:, None]
            b = np.linalg.lstsq(root * E[train], root * y[train].reshape(len(train), -1), rcond=None)[0]
        else:
            share = np.array([own @ (y[train] == label) / own.sum() for label in np.unique(y)])
            b = np.log(share / (1 - share))[None][:, 0 if len(share) > 2 else 1 :]
        found["nothing"].append(judged(E[test] @ b, y[test], w[1]))
    return {key: np.array(values) for key, values in found.items()}


def regressor(**options):
    return MKLRegressor(KERNELS, C=1.0, tol=1e-8, **options)


classes = np.array(["low", "middle", "up"])[np.digitize(signal, np.quantile(signal, [0.3, 0.75]))]
two = np.where(signal > np.quantile(signal, 0.65), "yes", "no")
logistic = MKLClassifier(KERNELS, C=1.0, tol=1e-8, loss="logistic")
frame = pd.DataFrame(X, columns=list("uvwxyz"))
views = {"one": np.asfortranarray(X[:, :4]), "two": X[:, 4:]}
in_views = [("a", RBF(0.2), ("one", [0, 1])), ("b", RBF(0.1), ("one", [2, 3])),
            ("a, linear", Linear(), ("one", [0, 1])),
            ("c", Linear(), ("two", [0]))]  # fmt: skip
CASES = {
    "weights that differ by fold": (regressor(), np.asfortranarray(X), signal, dict(sample_weight=weight)),
    "covariates": (regressor(), X, signal, dict(covariates=Z, sample_weight=weight)),
    "several targets": (regressor(regularizer=1.5), X, np.column_stack([signal, X[:, 3] ** 2 + X[:, 0]]), {}),
    "two classes": (logistic, frame, two, dict(scoring=loss_of, sample_weight=weight)),
    "three classes": (clone(logistic).set_params(multi_class="ovr"), X, classes, dict(scoring=loss_of)),
    "views": (clone(logistic).set_params(kernels=in_views), views, two, dict(scoring=loss_of)),
}


@pytest.mark.parametrize("case", CASES)
def test_scores_measures_and_shares_are_those_of_fresh_fits(case, monkeypatch):
    model, data, y, options = CASES[case]
    halves = list(KFold(3, shuffle=True, random_state=2).split(X))[:2]
    splits = [(rng.permutation(train), test) for train, test in halves]
    draw = np.random.RandomState(5)
    orders = [[draw.permutation(len(test)) for _ in range(DRAWS)] for _, test in splits]
    given = dict(cv=splits, n_permutations=DRAWS, random_state=5, level=0.8, kernels=True, sources=SOURCES)
    found = relevance(model, data, y, **given, **options)
    assert found.names == list(ROWS) and found.kinds == 3 * ["source"] + 2 * ["kernel"] and found.gap <= 1e-8
    own = {{"sample_weight": "weight"}.get(k, k): v for k, v in options.items() if k != "scoring"}
    true = naive(model, data, y, splits, orders, **own)
    close = dict(atol=3e-4, rtol=0)
    for key, value in true.items():
        if key == "weight":
            np.testing.assert_allclose(found.weights, value.mean(axis=0), atol=1e-3)
        elif len(value):
            np.testing.assert_allclose(vars(found)[f"score_{key}"], value, err_msg=key, **close)
    drop, permute = true["all"][:, None] - true["without"], true["all"][:, None] - true["permuted"]
    gain = true["alone"] - true["alone_permuted"]
    overlap = np.mean([len(test) / len(train) for train, test in splits])
    each = dict(drop=drop, permute=permute, gain=gain, relevance=(drop + gain) / 2, alone=true["alone"])
    table = {row["name"]: row for row in found.table()}
    for measure, values in each.items():
        se = values.std(axis=0, ddof=1) * np.sqrt(1 / 2 + overlap)
        half = t.ppf(0.9, 1) * se
        ends = (values.mean(axis=0), se, values.mean(axis=0) - half, values.mean(axis=0) + half)
        for end, value in zip(("", "_se", "_low", "_high"), ends, strict=True):
            np.testing.assert_allclose([table[name][measure + end] for name in ROWS], value, atol=2e-3)
    worth = each["relevance"].mean(axis=0)
    expected = sorted(range(5), key=lambda m: (m > 2, -worth[m]))
    assert [row["name"] for row in found.table()] == [list(ROWS)[m] for m in expected]
    assert found.refitted.all() and found.overlap == pytest.approx(overlap)

    if case not in ("weights that differ by fold", "three classes"):
        return
    # the same if the folds are not kept; of one refit of each kind the others have only what permutations say
    monkeypatch.setattr(held_out, "MAX_KEPT_BYTES", 0)
    seen = []
    some = relevance(model, data, y, **given | {"refits": 1}, **options, callback=lambda *a: seen.append(a))
    assert seen == [(1, 2), (2, 2)] and some.short == 0
    lost = permute.mean(axis=0)
    kept = {int(np.argmax(lost[:3])), 3 + int(np.argmax(lost[3:]))}
    assert set(np.flatnonzero(some.refitted).tolist()) == kept
    np.testing.assert_allclose(some.score_permuted, found.score_permuted, atol=1e-9)
    for key in ("score_without", "score_alone", "score_alone_permuted"):
        mine, whole = vars(some)[key], vars(found)[key]
        np.testing.assert_allclose(mine[:, sorted(kept)], whole[:, sorted(kept)], atol=3e-4)
        assert np.isnan(np.delete(mine, sorted(kept), axis=1)).all()
    order = sorted(range(5), key=lambda m: (m > 2, m not in kept, -worth[m] if m in kept else -lost[m]))
    assert [row["name"] for row in some.table()] == [list(ROWS)[m] for m in order]


def off(K):
    return K[~np.eye(len(K), dtype=bool)]


@pytest.mark.parametrize("small", [False, True])
def test_alignments_are_centred_and_without_the_diagonal(small, monkeypatch):
    """cos of the centred sum of a source's kernels, each divided by its variance, and of the centred targets."""
    if small:
        monkeypatch.setattr(fold, "MAX_ALIGNMENT_EXAMPLES", 17)
    train, test = np.arange(0, n, 2), np.arange(1, n, 2)
    for y, model in ((signal, regressor()), (classes, clone(logistic))):
        found = relevance(model, X, y, cv=[(train, test)], n_permutations=1, sources=SOURCES, kernels=True)
        Y = y[None] if y is signal else np.array([np.where(y == c, 1.0, -1.0) for c in np.unique(y)])
        rows = np.unique(np.linspace(0, len(train) - 1, 17).astype(int)) if small else np.arange(len(train))
        Y = Y[:, train][:, rows] - Y[:, train][:, rows].mean(axis=1, keepdims=True)
        for m, members in enumerate(ROWS.values()):
            K = np.zeros((len(rows), len(rows)))
            for k in members:
                full = KERNELS[k][1].resolve(X[train][:, KERNELS[k][2]])(X[train][:, KERNELS[k][2]])
                K += full[np.ix_(rows, rows)] / (full.diagonal().mean() - full.mean())
            H = np.eye(len(rows)) - 1 / len(rows)
            one, two = off(H @ K @ H), off(Y.T @ Y)
            assert found.alignments[m] == pytest.approx(one @ two / np.linalg.norm(one) / np.linalg.norm(two), abs=1e-5)
        assert np.isnan(found.measure("drop").se).all() and np.isnan(found.measure("drop").low).all()  # one fold


def test_precomputed_matrices_and_survival_times_are_the_same_as_kernels_and_fresh_fits():
    splits = list(KFold(3).split(X))
    given = dict(cv=splits, n_permutations=DRAWS, random_state=3, sources=SOURCES, kernels=True, sample_weight=weight)
    S = np.array([k(X[:, c]) for _, k, c in KERNELS])
    plain = relevance(regressor(normalize=None), X, signal, **given)
    for matrices in (KernelStack(list(S)), np.asfortranarray(S.transpose(1, 2, 0))):
        model = MKLRegressor("precomputed", C=1.0, tol=1e-8, normalize=None)
        found = relevance(model, matrices, signal, **given)
        for key in ("score_all", "score_nothing", "score_without", "score_permuted", "score_alone"):
            np.testing.assert_allclose(vars(found)[key], vars(plain)[key], atol=1e-5)
        np.testing.assert_allclose(found.alignments, plain.alignments, atol=1e-6)
    times = np.exp(0.5 * signal + 0.3 * rng.normal(size=n))
    y = np.array(list(zip(rng.random(n) < 0.7, times, strict=True)), dtype=[("event", bool), ("time", float)])
    model = MKLSurvival(KERNELS, C=1.0, tol=1e-7)
    found = relevance(model, X, y, cv=splits, n_permutations=1, sources=SOURCES, kernels=False)
    for k, (train, test) in enumerate(splits):
        for m, members in enumerate(SOURCES.values()):
            left = sorted(set(range(4)) - set(members))
            for key, which in (("score_without", left), ("score_alone", members)):
                fresh = clone(model).set_params(kernels=[KERNELS[j] for j in which]).fit(X[train], y[train])
                assert vars(found)[key][k, m] == pytest.approx(fresh.score(X[test], y[test]), abs=0.03)
    assert (found.score_nothing == 0.5).all()


def test_a_column_that_is_a_source_by_itself_is_permuted_as_one():
    """Kernels of one column each: `column_relevance` and `permute` of `relevance` are the same numbers.

    With covariates, what they explain of the column's part stays with its examples, before and after.
    """
    kernels = [("x", RBF(0.2), [0]), ("y", Linear(), [2]), ("z", RBF(0.1), [4])]
    model, splits = MKLRegressor(kernels, C=1.0, tol=1e-7), list(KFold(2).split(X))
    given = dict(cv=splits, n_permutations=3, random_state=1)
    one, two = column_relevance(model, X, signal, **given), relevance(model, X, signal, **given)
    assert one.names == ["column 0", "column 2", "column 4"]
    for key in ("score_all", "score_permuted", "score_nothing", "weights"):
        np.testing.assert_allclose(vars(one)[key], vars(two)[key], atol=1e-9)
    found, draw = column_relevance(model, X, signal, covariates=Z, **given), np.random.RandomState(1)
    for k, (train, test) in enumerate(splits):
        fitted = clone(model).fit(X[train], signal[train], covariates=Z[train])
        f, parts = fitted.predict(X[test], covariates=Z[test]), fitted.decision_parts(X[test])
        E = np.column_stack([np.ones(len(test)), Z[test]])
        away = np.eye(len(test)) - E @ np.linalg.pinv(E)
        orders = [draw.permutation(len(test)) for _ in range(3)]
        for m, part in enumerate(parts.T):
            scores = [judged((f + away @ (part[o] - part))[:, None], signal[test]) for o in orders]
            assert found.score_permuted[k, m] == pytest.approx(np.mean(scores), abs=1e-5)


def test_a_column_is_permuted_in_the_kernels_of_the_source_alone():
    splits, draw = list(KFold(2).split(X)), np.random.RandomState(4)
    model = clone(logistic)
    found = column_relevance(
        model, X, two, "columns 0, 1", cv=splits, scoring=loss_of, n_permutations=2, random_state=4
    )
    assert found.names == ["column 0", "column 1"]
    for k, (train, test) in enumerate(splits):
        fitted = clone(model).fit(X[train], two[train])
        orders = [draw.permutation(len(test)) for _ in range(2)]
        f = fitted.decision_function(X[test])
        for column in (0, 1):
            scores = []
            for order in orders:
                changed = X[test].copy()
                changed[:, column] = changed[order, column]
                f_new = f + (fitted.decision_parts(changed) - fitted.decision_parts(X[test]))[:, [0, 2]].sum(axis=1)
                scores.append(-np.mean(np.logaddexp(0, -np.where(two[test] == "yes", 1, -1) * f_new)))
            assert found.score_permuted[k, column] == pytest.approx(np.mean(scores), abs=1e-4)
    theta = fitted.kernel_weights_
    assert found.weights[0] == pytest.approx(found.weights[1]) and 0 < found.weights[0] < 1 and theta.all()


@pytest.mark.parametrize("case", ["classes", "targets", "labels", "covariates"])
@pytest.mark.parametrize("scaled", [False, True])
def test_bootstrap_weights_are_those_of_weighted_fits(case, scaled):
    """Each class, or set of labels, is drawn by itself; shared kernels (fixed widths) and own ones (gamma="scale")."""
    kernels = [("a", RBF("scale" if scaled else 0.2), [0, 1]), ("b", Linear(), [2, 3])]
    y, model = {
        "classes": (classes, MKLClassifier(kernels, C=1.0, tol=1e-7)),
        "targets": (signal, MKLRegressor(kernels, C=1.0, tol=1e-7)),
        "covariates": (classes, MKLClassifier(kernels, C=1.0, tol=1e-7)),
        "labels": (np.column_stack([two == "yes", X[:, 3] > 0.5]).astype(int), MKLClassifier(kernels, C=1.0, tol=1e-7)),
    }[case]
    draw, seen, own = np.random.RandomState(9), [], {"covariates": Z} if case == "covariates" else {}
    found = bootstrap_weights(model, X, y, 2, 9, callback=lambda *a: seen.append(a), **own)
    assert seen == [(1, 2), (2, 2)]
    groups = [np.arange(n)] if case == "targets" else [
        np.flatnonzero((y == one).all(axis=1) if y.ndim > 1 else y == one) for one in np.unique(y, axis=0)]  # fmt: skip
    for weights in found:
        drawn = np.zeros(n)
        for rows in groups:
            drawn[rows] = draw.multinomial(len(rows), np.full(len(rows), 1 / len(rows)))
        fresh = clone(model).fit(X, y, sample_weight=drawn, **own).kernel_weights_
        np.testing.assert_allclose(weights, fresh, atol=3e-3)
