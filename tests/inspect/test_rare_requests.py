"""Requests that are rare: several labels, a view of several, columns without weight, pictures of one example."""

from itertools import combinations, permutations, product

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import KFold

from manykernels import MKLClassifier, MKLOneClass, MKLRegressor, inspect
from manykernels.inspect import FeatureShares, approximation_error, column_relevance, feature_shares, relevance
from manykernels.inspect._games import GameAtom, GamePart, GameTerm, divided
from manykernels.kernels import RBF, Gower, Linear, Nystroem, RandomFeatures
from manykernels.strings import Spectrum, degree_kernels

rng = np.random.default_rng(11)
LETTERS = "ACGT"


def draw(n, length):
    return ["".join(row) for row in rng.choice(list(LETTERS), (n, length))]


def changed(decide, x):
    """decide(x with letter a at p) − decide(x), (L, 4)."""
    copies = [x[:p] + a + x[p + 1 :] for p in range(len(x)) for a in LETTERS]
    return (decide(copies) - decide([x])).reshape(len(x), 4)


def test_each_of_two_labels_is_read_with_its_own_weights():
    X = draw(50, 5)
    Y = np.array([[x[1] == "A", x[2:4] in ("GT", "CA", "TT")] for x in X]).astype(int)
    Y[:3] = 1
    model = MKLClassifier(degree_kernels(2), C=1.0).fit(X, Y)
    theta = model.kernel_weights_
    assert theta.shape == (2, 2) and np.abs(theta[0] / theta[0].sum() - theta[1] / theta[1].sum()).max() > 0.05
    every = ["".join(x) for x in product(LETTERS, repeat=5)]
    for label in (0, 1):
        s = model.decision_function(every)[:, label]
        Q = inspect.poim(model, 1, label=label).values
        expected = [[s[[x[p] == a for x in every]].mean() - s.mean() for a in LETTERS] for p in range(5)]
        np.testing.assert_allclose(Q, expected, atol=1e-9)
        found = inspect.explain_sequences(model, X[:2], label=label)
        for i in range(2):
            own = changed(lambda Z, label=label: model.decision_function(Z)[:, label], X[i])
            np.testing.assert_allclose(found.values[i], own, atol=1e-9)
        word, place, q = inspect.top_kmers(model, 1, n=1, label=label)[0]
        assert abs(q) == pytest.approx(np.abs(Q).max()) and Q[place, LETTERS.index(word)] == pytest.approx(q)


@pytest.mark.parametrize("method", ["mutagenesis", "gkmexplain"])
def test_one_of_two_views_of_sequences_is_explained_beside_covariates_and_classes(method):
    one, two, Z = draw(45, 7), draw(45, 6), rng.normal(size=(45, 1))
    y = np.array(["u", "v", "w"])[np.arange(45) % 3]
    kernels = [("first", Spectrum(2), "one"), ("second", Spectrum(2), "two"), ("third", Spectrum((1, 2)), "two")]
    model = MKLClassifier(kernels, C=1.0, regularizer=2).fit({"one": one, "two": two}, y, covariates=Z)
    new = {"one": one[:3], "two": two[3:6]}
    found = inspect.explain_sequences(
        model, new, method, view="two", label="v", covariates=Z[6:9], by_kernel=method == "gkmexplain"
    )
    assert list(found.sequences) == two[3:6]
    f = model.decision_function(new, covariates=Z[6:9])[:, 1]
    np.testing.assert_allclose(found.decision, f, atol=1e-9)
    if method == "gkmexplain":
        assert found.values.shape == (3, 3, 6, 4) and not found.values[:, 0].any()
        parts = model.decision_parts(new)[:, 1]
        np.testing.assert_allclose(found.values.sum(axis=(2, 3))[:, 1:], parts[:, 1:], atol=1e-9)
        np.testing.assert_allclose(found.base + found.values.sum(axis=(1, 2, 3)), f, atol=1e-9)
        return
    for i in range(3):

        def decide(copies, i=i):
            given = {"one": [new["one"][i]] * len(copies), "two": copies}
            return model.decision_function(given, covariates=np.repeat(Z[6 + i : 7 + i], len(copies), axis=0))[:, 1]

        np.testing.assert_allclose(found.values[i], changed(decide, new["two"][i]), atol=1e-9)
    left = f - model.decision_parts(new)[:, 1, 1:].sum(axis=1)
    np.testing.assert_allclose(found.base, left, atol=1e-9)
    with pytest.raises(ValueError, match="view=None: give one of 'one', 'two'"):
        inspect.explain_sequences(model, new, label="v", covariates=Z[6:9])


def test_fits_that_stop_early_are_counted_in_a_warning():
    X = rng.normal(size=(60, 4))
    y = X[:, 0] + np.sin(X[:, 1]) + 0.1 * rng.normal(size=60)
    given = dict(cv=2, n_permutations=1, refits=0)
    kernels = [(f"k{k}", RBF(0.5), [k]) for k in range(4)]
    with pytest.warns(ConvergenceWarning, match=r"2 fits stopped above tol=1e-09, the farthest at a gap of .*max_iter"):
        found = relevance(MKLRegressor(kernels, C=1.0, tol=1e-9, max_iter=1), X, y, **given)
    assert found.short == 2 and found.gap > 1e-9
    assert relevance(MKLRegressor(kernels, C=1.0), X, y, **given).short == 0


def brute(worth, players):
    """Shapley values of the worth of sets, by all orders of the players."""
    found, orders = np.zeros(players), list(permutations(range(players)))
    for order in orders:
        for k, player in enumerate(order):
            found[player] += (worth(set(order[: k + 1])) - worth(set(order[:k]))) / len(orders)
    return found


@pytest.mark.parametrize("base", ["dot", "sqdist"])
@pytest.mark.parametrize("scaled", [False, True])
@pytest.mark.parametrize("rows", [0, 3])
def test_numbers_made_of_one_column_are_one_player(base, scaled, rows):
    """Five numbers of three columns, in an order of their own; a metric multiplies each number."""
    names, X, Z, B = ["b", "a", "b", "c", "a"], *(rng.normal(size=(n, 5)) for n in (2, 4, rows))
    scales = np.array([0.5, 2.0, 1.0, 1.5, 0.8]) if scaled else None
    A = rng.normal(size=(2, 4))
    degree, rate, shift = (1, 0.7, 0.3) if base == "dot" else (0, -0.2, 0.0)
    term = GameTerm(1.5, (GameAtom(0, base, degree, rate, shift, scales),))
    players, values, worth = divided(term, [GamePart(X, Z, B, names, False)], A, "k", 1)
    assert sorted(players) == ["a", "b", "c"] and values.shape == (2, 3, 2) and worth.shape == (2, 2)
    s = np.ones(5) if scales is None else scales

    def kernel(x, z):
        x, z = x * s, z * s
        return 1.5 * (rate * (x @ z) + shift if base == "dot" else np.exp(rate * ((x - z) ** 2).sum()))

    for t, i in product(range(2), range(2)):

        def of(some, t=t, i=i):
            there = np.array([players.index(name) in some for name in names])
            total = 0.0
            for a, z in zip(A[t], Z, strict=True):
                absent = B if rows else [np.zeros(5) if base == "dot" else z]
                total += a * np.mean([kernel(np.where(there, X[i], b), z) for b in absent])
            return total

        np.testing.assert_allclose(values[t, :, i], brute(of, 3), atol=1e-12)
        assert worth[t, i] == pytest.approx(of(set()))


def shares(values, data=None, names=("a", "b")):
    n = len(values)
    data = np.zeros((n, 2)) if data is None else data
    return FeatureShares(
        values[None], np.zeros((1, n)), 0.5, values.sum(axis=1) + 0.5, list(names), ["s"], data, [], ""
    )


def test_a_beeswarm_has_the_colours_of_its_columns_and_a_bar_their_mean_size():
    pytest.importorskip("matplotlib").use("Agg")
    values = np.array([[0.1, -2.0], [0.3, 1.0], [-0.2, 3.0]])
    data = np.array([[5.0, 1.0], [4.0, 3.0], [9.0, 2.0]])
    found = shares(values, data)
    ax = found.plot("beeswarm")
    heavy, light = ax.collections[:2]
    np.testing.assert_allclose(np.asarray(heavy.get_offsets())[:, 0], values[:, 1])  # the largest on top
    np.testing.assert_allclose(heavy.get_array(), [0.0, 1.0, 0.5])
    np.testing.assert_allclose(light.get_array(), [0.5, 0.0, 1.0])
    bars = [bar.get_width() for bar in found.plot("bar").patches]
    assert bars == pytest.approx([2.0, 0.2]) and [t.get_text() for t in found.plot().get_yticklabels()] == ["b", "a"]


@pytest.mark.parametrize("kind", ["labels", "values"])
def test_several_targets_have_a_suggestion(kind):
    X = rng.normal(size=(60, 3))
    Y = X[:, :2] + 0.1 * rng.normal(size=(60, 2))
    Y = (Y > 0).astype(int) if kind == "labels" else Y
    kernels = [(f"k{k}", Linear(), [k]) for k in range(3)]
    found = inspect.suggest(X, Y, kernels, Cs=[1.0], cv=3)
    aims = np.where(Y > 0, 1.0, -1.0) if kind == "labels" else Y
    aims = aims - aims.mean(axis=0)
    expected = []
    for k in range(3):
        x = X[:, [k]] - X[:, k].mean()
        expected.append(((x.T @ aims) ** 2).sum() / ((x.T @ x).item() * np.linalg.norm(aims @ aims.T)))
    np.testing.assert_allclose(found.alignments, expected, atol=1e-9)


@pytest.mark.parametrize("kind", ["classes", "numbers", "inliers"])
def test_the_error_of_low_rank_is_that_of_two_fits_on_the_same_examples(kind):
    X, fast = rng.normal(size=(75, 3)), Nystroem(RBF(0.2), 4)
    y = {"classes": np.array(["u", "v"])[(X[:, 0] > 0).astype(int)], "numbers": X[:, 0] * X[:, 1]}.get(kind)
    cls = {"classes": MKLClassifier, "numbers": MKLRegressor, "inliers": MKLOneClass}[kind]
    options = {} if kind == "inliers" else {"C": 1.0}
    exact = [("a", RBF(0.2), [0, 1]), ("b", Linear(), [2])]
    rough = [("a", fast, [0, 1]), ("b", Linear(), [2])]
    found = approximation_error(cls(rough, **options), X, y, n=20, random_state=5)
    order = np.random.default_rng(5).permutation(75)
    train, test = np.sort(order[:20]), np.sort(order[20:60])
    own = [] if y is None else [y[train]]
    fits = [cls(kernels, **options).fit(X[train], *own) for kernels in (rough, exact)]
    f = [fit.predict(X[test]) if kind == "numbers" else fit.decision_function(X[test]) for fit in fits]
    assert (found.n, found.n_test) == (20, 40)
    np.testing.assert_allclose(found.objectives, [fit.objective_ for fit in fits], rtol=1e-9)
    np.testing.assert_allclose(found.weights, fits[0].kernel_weights_ - fits[1].kernel_weights_, atol=1e-12)
    assert found.decisions == pytest.approx(np.sqrt(np.mean((f[0] - f[1]) ** 2)) / np.std(f[1]))
    scores = None if kind == "inliers" else [fit.score(X[test], y[test]) for fit in fits]
    assert found.scores is None if scores is None else found.scores == pytest.approx(scores)
    assert found.gaps == pytest.approx([fit.duality_gap_ for fit in fits])
    few = approximation_error(cls([RandomFeatures(RBF(0.2), 8)], **options), X, y)
    assert (few.n, few.n_test) == (25, 50)


def test_positions_of_sparse_tables_are_permuted_column_by_column():
    X = rng.normal(size=(48, 3)) * (rng.random((48, 3)) < 0.7)
    y = X[:, 0] - X[:, 2]
    model = MKLRegressor([("all", Linear())], C=1.0)
    dense, thin = (column_relevance(model, data, y, cv=KFold(3), n_permutations=3) for data in (X, csr_array(X)))
    np.testing.assert_allclose(dense.score_permuted, thin.score_permuted, rtol=1e-6)
    other = column_relevance(model, X, y, cv=KFold(3), n_permutations=3, random_state=1)
    assert np.abs(other.score_permuted - dense.score_permuted).max() > 1e-3
    np.testing.assert_allclose(other.score_all, dense.score_all)


@pytest.mark.parametrize("intercept", [True, False])
def test_an_absent_column_of_a_gower_kernel_equals_that_of_the_support(intercept):
    """By brute force over all sets of columns; without an intercept Σa is not 0."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 3))
    model = MKLRegressor([Gower()], C=1.0, fit_intercept=intercept).fit(X, X @ [1, 2, -1] + np.abs(X[:, 0]))
    found = feature_shares(model, X[:4])
    a = model.dual_coef_[0] * model.kernel_weights_[0] * model.predictor_.scale[0]
    for x, values in zip(X, found.values, strict=False):
        alike = 1 - np.abs(x - X[model.support_]) / np.ptp(X, axis=0)
        worth = {S: np.where(np.isin(range(3), S), alike, 1.0).mean(axis=1) @ a for S in subsets(3)}
        for j in range(3):
            gains = {S: worth[tuple(sorted({*S, j}))] - worth[S] for S in worth if j not in S}
            wanted = sum(gain * (2 if len(S) in (0, 2) else 1) for S, gain in gains.items()) / 6
            assert values[j] == pytest.approx(wanted, abs=1e-9)


def subsets(d):
    return [S for size in range(d + 1) for S in combinations(range(d), size)]
