"""What a fit has chosen, and what a seed draws, reaches the tools that read a model; rows stay with their examples."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import KFold
from sklearn.utils import check_random_state

from manykernels import MKLClassifier, MKLRegressor
from manykernels.inspect import (
    AlignmentDisplay,
    DecisionDisplay,
    PathDisplay,
    bootstrap,
    bootstrap_weights,
    column_relevance,
    feature_shares,
    relevance,
    weights_table,
)
from manykernels.inspect.shares import source_columns
from manykernels.kernels import RBF, Linear, Views, multi_task

plt = pytest.importorskip("matplotlib.pyplot")
plt.switch_backend("Agg")
rng = np.random.default_rng(21)
X = rng.normal(size=(60, 4))
y = X[:, 0] + np.sin(2 * X[:, 1]) + 0.3 * rng.normal(size=60)
KERNELS = [("a", RBF(0.3), [0]), ("b", RBF(0.3), [1]), ("c", Linear(), [2]), ("d", Linear(), [3])]


def test_a_C_that_a_fit_has_chosen_is_that_of_folds_and_samples():
    model = MKLRegressor(KERNELS, C="auto").fit(X, y)
    model.C_ = 0.0625  # as if it were the choice
    given = MKLRegressor(KERNELS, C=0.0625)
    one, two = (column_relevance(m, X, y, cv=KFold(2), n_permutations=1) for m in (model, given))
    np.testing.assert_allclose(one.score_all, two.score_all)
    one, two = (bootstrap_weights(m, X, y, 2) for m in (model, given))
    np.testing.assert_allclose(one, two)
    one, two = (relevance(m, X, y, cv=KFold(2), n_permutations=1, refits=0) for m in (model, given))
    np.testing.assert_allclose(one.score_all, two.score_all)


def test_kernels_that_are_in_no_source_are_one_by_themselves():
    model = MKLRegressor(KERNELS, C=1.0, regularizer=2).fit(X, y)
    found = feature_shares(model, X[:5], sources={"first": [0], "last": ["d"]})
    assert found.sources == ["first", "last", "other kernels"]
    np.testing.assert_allclose(found.base + found.values.sum(axis=1), model.predict(X[:5]), atol=1e-10)
    parts = model.decision_parts(X[:5])
    whole = found.parts.sum(axis=2) + found.part_base
    np.testing.assert_allclose(whole, [parts[:, 0], parts[:, 3], parts[:, 1] + parts[:, 2]], atol=1e-10)
    np.testing.assert_allclose(found.data, X[:5, [int(name[-1]) for name in found.names]])


@pytest.mark.parametrize("classes", [0, 2, 3])
def test_decisions_of_chosen_rows_have_their_own_covariates(classes):
    Z = rng.normal(size=(60, 2))
    target = y if not classes else np.digitize(y, [0.0] if classes == 2 else [-0.5, 0.5])
    model = (MKLClassifier if classes else MKLRegressor)(KERNELS, C=1.0).fit(X, target, covariates=Z)
    rows = [7, 2, -1]
    found = DecisionDisplay.from_estimator(model, X, rows, covariates=Z, **({"output": 1} if classes == 3 else {}))
    f = model.decision_function(X, covariates=Z) if classes else model.predict(X, covariates=Z)
    f = f[:, 1] if classes == 3 else f
    np.testing.assert_allclose(found.decisions, f[[7, 2, 59]], atol=1e-10)
    assert found.names[-1] == "covariates" and [text.split()[0] for text in found.examples] == ["7", "2", "59"]


def test_decisions_of_chosen_rows_have_their_own_task():
    task = np.tile([0, 1], 30)
    model = MKLRegressor(multi_task([RBF(0.2)]), C=1.0).fit(X, y * np.where(task, 1, -1), task=task)
    found = DecisionDisplay.from_estimator(model, X, [1, 3, 4], task=task)
    np.testing.assert_allclose(found.decisions, model.predict(X, task=task)[[1, 3, 4]], atol=1e-10)


@pytest.mark.parametrize("width", ["scale", 0.3])
def test_samples_share_matrices_unless_each_has_its_own_widths(width, monkeypatch):
    """A far example widens a kernel of width "scale" as often as it is drawn; other matrices would help no sample."""
    shared, fold = [], bootstrap.SharedFold
    monkeypatch.setattr(bootstrap, "SharedFold", lambda *given: shared.append(1) or fold(*given))
    far, seed = X.copy(), check_random_state(2)
    far[7, 0] = 50.0
    copies = [np.repeat(np.arange(60), seed.multinomial(60, np.full(60, 1 / 60))) for _ in range(2)]
    model = MKLRegressor([("a", RBF(width), [0]), ("b", RBF(width), [1])], C=1.0, regularizer=2, tol=1e-5)
    expected = [clone(model).fit(far[rows], y[rows]).kernel_weights_ for rows in copies]
    np.testing.assert_allclose(bootstrap_weights(model, far, y, 2, 2), expected, atol=1e-2)
    assert len(shared) == (0 if width == "scale" else 2)


@pytest.mark.parametrize("seed", [0, 4])
def test_alignments_of_a_sample_take_the_targets_of_its_rows(seed):
    model = MKLRegressor([(f"k{k}", Linear(), [k]) for k in range(4)])
    found = AlignmentDisplay.measured(model, X, y, max_examples=25, random_state=seed)
    rows = check_random_state(seed).permutation(60)[:25]
    x, t = X[rows] - X[rows].mean(axis=0), y[rows] - y[rows].mean()
    expected = (x.T @ t) ** 2 / ((x**2).sum(axis=0) * (t @ t))
    np.testing.assert_allclose(found.target, expected, atol=1e-9)
    cosine = (x.T @ x) ** 2 / np.outer((x**2).sum(axis=0), (x**2).sum(axis=0))
    np.testing.assert_allclose(found.alignments, cosine, atol=1e-9)


def test_a_path_is_scored_on_the_test_examples_that_are_given():
    model, Cs = MKLRegressor(KERNELS, loss="squared"), [0.01, 10.0]
    test = X[40:], y[40:]
    found = PathDisplay.from_estimator(model, X[:40], y[:40], Cs=Cs, test=test)
    fits = [clone(model).set_params(C=C).fit(X[:40], y[:40]) for C in Cs]
    np.testing.assert_allclose(np.ravel(found.path.score), [fit.score(*test) for fit in fits], atol=2e-2)


@pytest.mark.parametrize("classes", [False, True])
def test_the_table_of_weights_has_shares_of_all_kernels(classes):
    model, target = (MKLClassifier, np.digitize(y, [-0.5, 0.5])) if classes else (MKLRegressor, y)
    model = model(KERNELS, C=1.0, regularizer=2).fit(X, target)
    theta = np.atleast_2d(model.kernel_weights_).mean(axis=0)
    order = np.argsort(-theta)[:2]
    table = weights_table(model, top=2)
    cells = [list(map(str, column.cells)) for column in table.columns]
    share = theta[order] / theta.sum()
    assert cells[0] == [model.kernel_names_[m] for m in order] and cells[1] == [f"{theta[m]:.4f}" for m in order]
    assert cells[2] == [f"{s:.1%}" for s in share] and cells[3] == [f"{s:.1%}" for s in np.cumsum(share)]
    assert table.title == "4 of 4 kernels have weight; the heaviest 2"


def test_rows_of_a_background_without_a_view_say_nothing_of_it():
    """Of the kernels of a view, absent columns have the values of the rows that have the view."""
    there = np.arange(60) % 4 != 1
    data = Views({"u": X[:, :2], "v": X[there][:, 2:]}, ids={"u": np.arange(60), "v": np.flatnonzero(there)})
    model = MKLRegressor([("p", RBF(0.3), "u"), ("q", RBF(0.3), "v", "zero")], C=1.0, regularizer=2).fit(data, y)
    rows = np.array([0, 1, 2, 4, 5])  # 1 and 5 lack the view v
    found = feature_shares(model, data[np.arange(8)], background=data[rows])
    some = feature_shares(model, data[np.arange(8)], background=data[np.array([0, 2, 4])])
    p, q = found.sources.index("u"), found.sources.index("v")
    np.testing.assert_allclose(found.parts[q], some.parts[q], atol=1e-12)
    np.testing.assert_allclose(found.part_base[q], some.part_base[q], atol=1e-12)
    assert np.abs(found.parts[p] - some.parts[p]).max() > 1e-6
    assert not found.parts[q][[1, 5]].any() and not found.part_base[q][[1, 5]].any()
    np.testing.assert_allclose(found.base + found.values.sum(axis=1), model.predict(data[np.arange(8)]), atol=1e-10)


def test_columns_of_one_kernel_have_their_own_entries_and_a_report_reads_examples_from_all_over():
    model = MKLRegressor([("pair", RBF(0.2), [3, 1]), ("one", Linear(), [0])], C=1.0, regularizer=2).fit(X, y)
    found = feature_shares(model, X[:6])
    np.testing.assert_allclose(found.data, X[:6, [int(name[-1]) for name in found.names]])
    assert sorted(found.names) == ["column 0", "column 1", "column 3"]
    support = model.predictor_.sizes()[0]
    shown = source_columns(model, X, np.array([0]), 12 * 2 * support)  # twelve examples
    rows = np.linspace(0, 59, 12).astype(int)
    size = np.abs(feature_shares(model, X[rows]).of("pair")).mean(axis=0)
    expected = {name: v / size.sum() for name, v in zip(found.names, size, strict=True) if v > 0}
    assert dict(shown) == pytest.approx(expected) and sorted(expected, key=expected.get)[::-1] == list(dict(shown))
    assert (
        source_columns(model, X, np.array([0]), 9 * 2 * support) == source_columns(model, X, np.array([1]), 1e9) == []
    )


def test_refits_keep_the_slack():
    """Scores of fits without each source, and of each alone, are those of fresh fits with slack."""
    model = MKLRegressor(KERNELS[:3], loss="squared", C=2.0, slack=True, tol=1e-6)

    def score(model, X, y):
        return -float(np.mean((model.predict(X) - y) ** 2))

    found = relevance(model, X, y, cv=KFold(2), scoring=score, n_permutations=1, kernels=False)
    apart = 0.0
    for j, (a, b) in enumerate(KFold(2).split(X)):
        for m in range(3):
            rest = [spec for k, spec in enumerate(KERNELS[:3]) if k != m]
            for own, kernels in ((found.score_without, rest), (found.score_alone, [KERNELS[m]])):
                fresh = clone(model).set_params(kernels=kernels).fit(X[a], y[a])
                assert own[j, m] == pytest.approx(score(fresh, X[b], y[b]), abs=2e-3)
                hard = clone(fresh).set_params(slack=False).fit(X[a], y[a])
                apart = max(apart, abs(score(hard, X[b], y[b]) - own[j, m]))
    assert apart > 0.02
