"""Pieces of `relevance` on folds that are made up: each number stands in its own place."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from scipy.stats import t
from sklearn.metrics import make_scorer, mean_absolute_error
from sklearn.model_selection import StratifiedKFold

from manykernels import MKLClassifier, MKLOneClass, MKLRegressor
from manykernels.inspect import held_out, relevance, relevance_result
from manykernels.inspect._adjustment import Adjustment, without_kernels
from manykernels.inspect._interchangeable import find_groups
from manykernels.inspect.fold import Fold, FoldFit, _without
from manykernels.inspect.held_out import covariates_for, few_entries, name_of, refitted, shuffled, targets
from manykernels.inspect.relevance_result import Relevance, spread_of
from manykernels.inspect.sources import (
    Row,
    default_sources,
    given_sources,
    joined_sources,
    listed,
    read_sources,
    shared_columns,
)
from manykernels.kernels import RBF, Categorical, KernelList, Linear
from manykernels.losses import Squared
from manykernels.solution import Solution

rng = np.random.default_rng(21)


def machine(gap, converged=True):
    return SimpleNamespace(gap=gap, converged=converged)


def made_up_fold():
    """Four rows; a decision is its own score; the machine of row k alone has the gap 10⁻ᵏ."""

    def refits(rows, alone=False):
        return [(machine(10.0**-row.name, row.name != 2), 0.1 * row.name + 0.5 * alone, [row.name]) for row in rows]

    def alignments(flats):
        names = np.array([flat[0] for flat in flats], float)
        return names, np.add.outer(names, names)

    return SimpleNamespace(
        every=machine(1e-5, False), M=4, refits=refits, alignments=alignments, score=float, n_test=4, n_train=16,
        moved=lambda machine, f, order: f - 0.01 * order, solve=lambda wanted: wanted.sum(),
        decisions=lambda machines: [0.9, 0.3], permuted=lambda rows, orders: np.array([[0.5, 0.7]] * len(rows)),
        shares=lambda masks: np.arange(len(masks)), plan=SimpleNamespace(metric=None),
    )  # fmt: skip


def test_refits_of_some_rows_stand_in_their_places():
    rows = [SimpleNamespace(name=k) for k in range(4)]
    found = refitted(made_up_fold(), rows, np.array([1, 3]), [1, 3])
    nan = np.nan
    np.testing.assert_allclose(found["without"], [nan, 0.1, nan, 0.3])
    np.testing.assert_allclose(found["alone"], [nan, 0.6, nan, 0.8])
    np.testing.assert_allclose(found["alone_permuted"], [nan, 0.58, nan, 0.78])  # the mean of both orders
    np.testing.assert_allclose(found["alignment"], [nan, 1, nan, 3])
    np.testing.assert_allclose(found["between"][1], [nan, 2, nan, 4])
    np.testing.assert_allclose(found["between"][3], [nan, 4, nan, 6])
    assert np.isnan(found["between"][[0, 2]]).all()
    assert found["gap"] == 0.1 and found["short"] == 1  # of all machines, that of all kernels too
    assert refitted(made_up_fold(), rows, np.array([2, 3]), [1])["short"] == 3


def test_measurements_without_refits():
    rows = [SimpleNamespace(wanted=np.arange(4) == k) for k in range(3)]
    found = shuffled(made_up_fold(), rows, [None, None])
    assert (found["all"], found["nothing"], found["overlap"], found["gap"], found["short"]) == (0.9, 0.3, 0.25, 1e-5, 1)
    np.testing.assert_allclose(found["permuted"], [0.6] * 3)
    assert found["weight"].tolist() == [0, 1, 2] and found["metric"] == {}


def test_folds_of_few_entries_are_refitted_by_default(monkeypatch):
    fold = SimpleNamespace(M=10, n_train=100)
    monkeypatch.setattr(held_out, "MAX_REFIT_ENTRIES", 5 * 10**5)
    assert few_entries(fold, 5) and not few_entries(fold, 6)


def test_models_without_a_score_ask_for_targets_and_a_score():
    for y, scoring in ((None, "roc_auc"), (np.ones(3), None)):
        with pytest.raises(ValueError, match="has no method score"):
            targets(MKLOneClass(), y, scoring)
    assert targets(MKLOneClass(), [1, -1], "roc_auc").tolist() == [1, -1]
    scorer = make_scorer(mean_absolute_error, greater_is_better=False)
    assert name_of(scorer, MKLRegressor()) == "mean_absolute_error"
    assert name_of(None, MKLOneClass()) == "score"


def test_covariates_that_only_examples_without_weight_tell_apart_are_dropped():
    Z, w = pd.DataFrame({"age": np.arange(6.0), "site": [0.0] * 5 + [1.0]}), np.array([1.0] * 5 + [0.0])
    assert covariates_for(MKLRegressor(), Z, 6).names == ["age", "site"]
    with pytest.warns(UserWarning, match="site"):
        assert covariates_for(MKLRegressor(), Z, 6, w).names == ["age"]


def test_relevance_tells_its_covariates_its_groups_and_what_shares_columns():
    X = rng.normal(size=(36, 5))
    Z = pd.DataFrame({"site": list("abc") * 12})
    model = MKLRegressor([("all", RBF(0.1), [0, 1, 2, 3]), ("two", Linear(), [2, 3]), ("last", Linear(), [4])], C=1.0)
    sources = {"all": [0], "two": [1], "last": [2]}
    seen = []
    cut = dict(cv=3, groups=np.arange(36) % 6, n_permutations=1, sources=sources, kernels=False)
    found = relevance(model, X, X[:, 0], covariates=Z, refits=1, scoring=lambda m, X, y: seen.append(y) or -1.0, **cut)
    assert found.covariates == ["site"] and found.overlapping == [["all", "two"]] and found.scoring == "lambda"
    assert [one.name for one in found.shared] == ["all"] and found.refitted.sum() == 1
    place = {float(value): group for value, group in zip(X[:, 0], cut["groups"], strict=True)}
    assert {len({place[float(v)] for v in y}) for y in seen} == {2} and {len(y) for y in seen} == {12}


def test_a_single_weight_of_zero_is_no_fold_without_weight():
    X, w = rng.normal(size=(30, 2)), np.ones(30)
    w[0] = 0
    model = MKLRegressor([("a", Linear(), [0]), ("b", Linear(), [1])], C=1.0)
    found = relevance(model, X, X[:, 0], cv=3, sample_weight=w, refits=0, n_permutations=1)
    assert np.isfinite(found.score_all).all()
    plain = relevance(model, X, X[:, 0], cv=3, refits=0, n_permutations=1)
    assert (found.score_all != plain.score_all).any()


def test_spreads_are_those_of_overlapping_training_sets():
    values = rng.normal(size=(4, 3))
    found = spread_of(values, 0.25, 0.8)
    se = values.std(axis=0, ddof=1) * np.sqrt(1 / 4 + 0.25)
    np.testing.assert_allclose(found.se, se)
    np.testing.assert_allclose(found.high - found.mean, t.ppf(0.9, 3) * se)
    np.testing.assert_allclose(found.mean - found.low, t.ppf(0.9, 3) * se)
    one = spread_of(values[:1], 0.25, 0.8)
    assert (one.mean == values[0]).all() and np.isnan(one.se).all() and np.isnan(one.low).all()


def measured(k, rows=3, **own):
    scores = {
        key: rng.random(rows) for key in ("without", "permuted", "alone", "alone_permuted", "weight", "alignment")
    }
    plain = dict(all=0.5, nothing=0.1, overlap=0.2 + 0.1 * k, gap=10.0 ** -(k + 1), short=k, every=None,
                 metric={"s": {"x": 0.25 * k, "y": 1 - 0.25 * k}})  # fmt: skip
    return scores | plain | own


def test_folds_are_put_together():
    rows = [Row(n, kind, np.ones(1)) for n, kind in (("a", "source"), ("b", "source"), ("kernel a", "kernel"))]
    folds = [measured(k) for k in range(3)]
    found = Relevance.of(rows, folds, 0.9, "R²")
    assert (found.gap, found.short, found.level, found.scoring) == (0.1, 3, 0.9, "R²")
    assert found.overlap == pytest.approx(0.3) and found.metric["s"] == pytest.approx({"y": 0.75, "x": 0.25})
    np.testing.assert_allclose(found.weights, np.mean([fold["weight"] for fold in folds], axis=0))
    drop = 0.5 - np.array([fold["without"] for fold in folds])
    gain = np.array([fold["alone"] - fold["alone_permuted"] for fold in folds])
    np.testing.assert_allclose(found.differences("relevance"), 0.5 * (drop + gain))
    names = [row["name"] for row in found.table()]
    assert names[:2] == (["a", "b"] if (drop + gain)[:, 0].mean() > (drop + gain)[:, 1].mean() else ["b", "a"])
    assert found.row("a") == 0 and found.row("kernel a") == 2
    found.names[0] = "c"
    assert found.row("a") == 2  # a kernel that has the name of a source
    found.score_without[0, 1] = np.nan  # not in every fold
    assert found.refitted.tolist() == [True, False, True] and [row["name"] for row in found.table()][1] == "b"


def test_long_tables_count_what_they_leave_out(monkeypatch):
    monkeypatch.setattr(relevance_result, "ROWS_SHOWN", 2)
    rows = [Row(f"s{k}", "source", np.ones(1)) for k in range(4)] + [Row("k", "kernel", np.ones(1))]
    found = Relevance.of(rows, [measured(k, 5, metric={}) for k in range(3)], 0.95, "accuracy")
    lines = str(found).splitlines()
    assert len([line for line in lines if line.startswith("s") and line[1:2].isdigit()]) == 2
    assert "… and 2 more sources, which table() and to_frame() have" in lines and "more kernels" not in str(found)
    assert "of none 0.100" in str(found)
    found.score_without[:, 1:4] = np.nan
    assert "1 of 4 sources, those with the largest permute" in str(found)
    ax = found.plot()
    assert len(ax.containers) == 3 and ax.get_xlabel() == "change of the accuracy, 95% intervals over 3 folds"
    found.score_without[:] = np.nan
    ax = found.plot(top=3)
    assert len(ax.containers) == 1 and ax.get_title(loc="right") == "3 of 4 sources"
    monkeypatch.setattr(relevance_result, "SHARED_SHOWN", 2)
    found.shared = [relevance_result.Shared(f"s{k}", ["k"]) for k in range(2)]
    assert len(found._shared_lines()) == 2


def groups_of(drops, gains, joint, between, J=5):
    """`find_groups` of sources with these drops, (m,) or (J, m), and gains; a join loses joint(members)."""
    m = len(gains)
    rows = [Row(f"s{k}", "source", np.arange(m) == k) for k in range(m)]
    noise = 0.001 * np.arange(J)[:, None]
    whole = np.full(J, 0.9)
    without, alone, half = 0.9 - np.array(drops) - noise, 0.5 + np.array(gains) + noise, np.full((J, m), 0.5)
    names, none = [row.name for row in rows], np.zeros(m)
    result = Relevance(names, ["source"] * m, whole, whole, without, whole[:, None], alone, half, none, none, 0.2, 0.0)
    found = [{"all": 0.9, "between": np.array(between), "every": k} for k in range(J)]

    def fold_of(k, every):
        def refits(rows):
            return [(None, 0.9 - joint(np.flatnonzero(row.wanted)) - 0.001 * k, None) for row in rows]

        return SimpleNamespace(refits=refits, score=float)

    return [group.names for group in find_groups(result, rows, found, fold_of, None)]


def test_groups_have_a_joint_drop_above_the_sum_of_their_drops(monkeypatch):
    near = [[1, 0.9, 0.5], [0.9, 1, 0.5], [0.5, 0.5, 1]]
    lose = {2: 0.2, 3: 0.4}
    assert groups_of([-0.01] * 3, [0.3] * 3, lambda own: lose[len(own)], near) == [["s0", "s1"]]
    assert groups_of([0.0] * 3, [0.3] * 3, lambda own: lose[len(own)], near) == [["s0", "s1"]]  # no certain drops
    assert groups_of([-0.01] * 3, [0.3] * 3, lambda own: 0.4 * (len(own) == 3), near) == [["s0", "s1", "s2"]]
    assert groups_of([0.2] * 3, [0.3] * 3, lambda own: lose[len(own)], near) == []  # each is needed by itself
    assert groups_of([-0.01] * 3, [0.3] * 3, lambda own: -0.03 * (len(own) == 2), near) == []
    wide = np.array([[0.0, 0.6], [0.0, -0.3], [0.0, 0.5], [0.0, -0.2], [0.0, 0.4]])  # the second varies much
    assert groups_of(wide, [0.3] * 2, lambda own: 0.3, [[1, 0.9], [0.9, 1]]) == []
    needed = [0.5, -0.01, -0.01]  # the first is no candidate, and its drop not one of theirs
    assert groups_of(needed, [0.3] * 3, lambda own: 0.2, near) == [["s1", "s2"]]
    monkeypatch.setattr("manykernels.inspect._interchangeable.MAX_CANDIDATES", 2)
    assert groups_of([-0.01] * 3, [0.1, 0.3, 0.2], lambda own: lose[len(own)], near) == [["s1", "s2"]]


def test_sources_are_read_and_named():
    assert listed(["a"]) == "a" and listed(["a", "b"]) == "a and b" and listed(list("abc")) == "a, b and c"
    assert listed(list("abcde")) == "a, b, c and 2 more"
    assert given_sources({"x": [2, 0, "c", -1]}, list("abc"), {})["x"].tolist() == [0, 2]
    X = rng.normal(size=(12, 4))
    specs = [("g, thin", RBF(1.0), [0, 1]), ("g, wide", RBF(0.1), [0, 1]), ("l", Linear(), [2]), ("big", Linear())]
    kernels = KernelList.from_spec(specs, X)
    assert {k: v.tolist() for k, v in default_sources(kernels, kernels.names).items()} == {
        "g": [0, 1], "l": [2], "big": [3]}  # fmt: skip
    fold = SimpleNamespace(kernel_list=kernels, names=kernels.names, M=4, X=X, model=MKLRegressor(specs))
    rows = read_sources(MKLRegressor(specs), fold, {"g, thin": ["g"], "rest": [2, 3]}, None)
    assert [(row.name, row.kind) for row in rows] == [
        ("g, thin", "source"), ("rest", "source"), ("kernel g, thin", "kernel"), ("g, wide", "kernel"), ("l", "kernel"),
        ("big", "kernel")]  # fmt: skip
    assert [row.kind for row in read_sources(MKLRegressor(specs), fold, {"l": [2], "g": [0, 1, 3]}, True)] == [
        "source", "source", "kernel", "kernel", "kernel"]  # fmt: skip
    assert len(read_sources(MKLRegressor(specs), fold, {"l": [2]}, False)) == 1
    both = [Row("g", "source", np.array([1, 1, 0, 0], bool)), Row("big", "source", np.array([0, 0, 0, 1], bool)),
            Row("l", "source", np.array([0, 0, 1, 1], bool))]  # fmt: skip
    found = shared_columns(fold, both)  # big sees all columns; l has one of its kernels, which is no news
    assert [(one.name, one.others) for one in found][:1] == [("big", ["g"])]


def test_kernels_up_to_fifty_have_rows():
    X = rng.normal(size=(6, 2))
    for many in (50, 51):
        specs = [(f"k{m}", RBF(0.1 * (m + 1)), [m % 2]) for m in range(many)]
        kernels = KernelList.from_spec(specs, X)
        fold = SimpleNamespace(kernel_list=kernels, names=kernels.names, M=many, X=X, model=MKLRegressor(specs))
        assert len(read_sources(MKLRegressor(specs), fold, None, None)) == (52 if many == 50 else 2)


def test_constants_and_covariates_alone():
    def examples(**own):
        plain = dict(Y=np.array([[1.0, 2.0, 6.0], [0.0, 0.0, 3.0]]), c=np.array([1.0, 1.0, 2.0]), covariates=None,
                     intercept=True, loss=Squared())  # fmt: skip
        return SimpleNamespace(**plain | own)

    b, w = without_kernels(examples())
    np.testing.assert_allclose(b, [15 / 4, 6 / 4])
    assert w is None and not without_kernels(examples(intercept=False))[0].any()
    Z = rng.normal(size=(7, 2)) + 3.0
    own, f = Adjustment(Z), rng.normal(size=(7, 1))
    E = np.column_stack([np.ones(7), Z])
    rest = f - E @ np.linalg.lstsq(E, f, rcond=None)[0]
    np.testing.assert_allclose(own.rest(f), rest, atol=1e-12)
    order, level = rng.permutation(7), rng.normal(size=(1, 7))
    part = f - level.T
    part = part - E @ np.linalg.lstsq(E, part, rcond=None)[0]
    np.testing.assert_allclose(own.moved(f, level, order), f - part + part[order], atol=1e-12)
    plain = Adjustment(None)
    np.testing.assert_allclose(plain.moved(f, np.zeros(1), order), f[order])


def test_a_warm_start_keeps_the_sum_of_the_weights():
    solution = Solution(np.array([0.5, 1.0, 0.5]), np.zeros((1, 2)), np.zeros(1), 0.0, 0.0, 0.0, 1, [])
    found = _without(solution, np.array([True, False, True]))
    np.testing.assert_allclose(found.theta, [1.0, 0.0, 1.0])
    np.testing.assert_allclose(_without(solution, np.zeros(3, bool)).theta, 0)


def test_folds_measure_with_their_own_rows():
    X, Z = rng.normal(size=(40, 2)), rng.normal(size=(40, 1))
    y = np.where(X[:, 0] > 0, 1, np.where(X[:, 1] > 0, 2, 0))
    train, test = np.arange(0, 30), np.arange(39, 29, -1)
    model = MKLClassifier([("a", RBF(0.3), [0]), ("b", Linear(), [1])], C=1.0, warm_start=True, verbose=False)
    covariates = covariates_for(model, Z, 40)
    fold = Fold(model, X, y, None, train, test, lambda m, X, y: np.mean(m.predict(X) == y), covariates=covariates)
    np.testing.assert_array_equal(fold.adjustment.Z, covariates.Z[test])
    assert not fold.model.warm_start and fold.kernel_bytes() == 8.0 * 2 * 30**2
    theta = fold.every.theta.mean(axis=0)
    np.testing.assert_allclose(fold.shares([np.array([True, False])]), theta[0] / theta.sum())
    nothing = fold._nothing()
    assert nothing.gap == 0.0 and not nothing.a.any()
    solved = [SimpleNamespace(theta=np.ones(2), a=np.ones((1, 30)), b=np.zeros(1), w=None, gap=gap, stationarity=None,
                              converged=gap < 0.05) for gap in (0.01, 0.1)]  # fmt: skip
    fold.adjustment, fold.plan = Adjustment(None), SimpleNamespace(coefficients=lambda s: (np.zeros(2), None))
    found = fold._machine(solved)
    assert isinstance(found, FoldFit) and found.gap == 0.1 and not found.converged


def test_the_most_frequent_class_wins_ties_by_its_weight():
    """The hinge loss gives −1 to every class with less than half of the weight."""
    X, y = rng.normal(size=(9, 1)), np.array([0, 0, 0, 0, 1, 1, 1, 2, 2])
    weight = np.array([1.0, 1, 1, 1, 1, 1, 1, 2.5, 2.5])
    model = MKLClassifier([RBF(0.3)], C=1.0)
    for w, expected in ((None, 0), (weight, 2)):
        fold = Fold(model, X, y, w, np.arange(9), np.arange(9), None)
        assert fold._nothing().b.argmax() == expected


def test_rows_are_ordered_by_relevance():
    rows = [Row(n, "source", np.ones(1)) for n in "ab"]
    own = dict(without=np.array([0.1, 0.3]), alone=np.array([0.5, 0.9]), alone_permuted=np.array([0.5, 0.5]), metric={})
    found = Relevance.of(rows, [measured(k, 2, **own) for k in range(2)], 0.95, "R²")
    assert [row["name"] for row in found.table()] == ["b", "a"]  # the drop of a is larger, its gain is 0


def test_targets_and_scores_that_do_not_fit_are_refused():
    X, model = rng.normal(size=(12, 2)), MKLRegressor([Linear()], C=1.0)
    for wrong in (np.zeros(11), np.zeros(13), np.zeros((12, 2, 2))):
        with pytest.raises(ValueError, match="for 12 examples"):
            relevance(model, X, wrong, cv=2)
    with pytest.raises(ValueError, match="scoring gave nan on a fold of 6 examples"):
        relevance(model, X, X[:, 0], cv=2, scoring=lambda *own: np.nan)


def test_columns_that_are_sources_leave_their_kernels_rows_of_their_own():
    X = rng.normal(size=(12, 3))
    specs = [("all", RBF(0.1)), ("one", RBF(0.1), [0])]
    kernels = KernelList.from_spec(specs, X)
    fold = SimpleNamespace(kernel_list=kernels, names=kernels.names, M=2, X=X, model=MKLRegressor(specs))
    rows = read_sources(MKLRegressor(specs), fold, None, True)
    assert [row.name for row in rows if row.kind == "kernel"] == ["all", "kernel one"]


def test_sources_without_a_common_name_have_that_of_their_first_kernel():
    views = {"v": rng.normal(size=(8, 4))}
    specs = [("p", RBF(1.0), ("v", [0])), ("q", RBF(0.1), ("v", [0])), ("r", Linear(), ("v", [1, 2]))]
    kernels = KernelList.from_spec(specs, views)
    found = {name: which.tolist() for name, which in default_sources(kernels, kernels.names).items()}
    assert found == {"p": [0, 1], "r": [2]}
    kernels.chosen = "by us"  # the kernels of "auto" belong to their view
    assert list(default_sources(kernels, kernels.names).values())[0].tolist() == [0, 1, 2]


def test_groups_of_sources_are_joined_through_others():
    X = rng.normal(size=(6, 8))
    columns = [
        [0, 1],
        [4, 5],
        [5, 6],
        [1, 4],
        [6, 7],
    ]  # the fourth joins two groups
    kernels = KernelList.from_spec([(f"k{m}", RBF(0.1), own) for m, own in enumerate(columns)], X)
    rows = [Row(f"k{m}", "source", np.arange(5) == m) for m in range(5)]
    assert joined_sources(kernels, rows, {}) == [[0, 1, 2, 3, 4]]
    assert joined_sources(kernels, rows[:3], {}) == [[0], [1, 2]]


def test_rounding_does_not_choose_between_equal_classes():
    """Issue 11, point 1. The hinge loss gives −1 to each class where none has half of the examples of a category."""
    rng = np.random.default_rng(7)
    kind = np.repeat([0, 1, 2, 3, 4], [20, 20, 20, 20, 30])
    site = np.where(rng.random(110) < 0.4, kind, rng.integers(0, 5, 110))
    texts, other = pd.DataFrame({"site": [f"s{k}" for k in site]}), rng.normal(size=(110, 2))
    flags = pd.DataFrame({f"s{k}": (site == k) / 1.0 for k in (3, 0, 4, 1, 2)})
    cut, alone = list(StratifiedKFold(3).split(site, kind)), []
    for X, kernel in ((texts, Categorical()), (flags, Linear())):
        X = X.assign(a=other[:, 0] + kind, b=other[:, 1])
        kernels = [("site", kernel, list(X.columns[:-2])), ("a", RBF(1.0), ["a"]), ("b", RBF(1.0), ["b"])]
        model = MKLClassifier(kernels, C=1.0)
        alone.append(relevance(model, X, kind, cv=cut, kernels=False).score_alone[:, 0])
    np.testing.assert_array_equal(alone[0], alone[1])
    known = [np.bincount(kind[train][site[train] == k], minlength=5) for train, _ in cut for k in range(5)]
    best = np.array([seen.argmax() if 2 * seen.max() > seen.sum() else 4 for seen in known]).reshape(3, 5)
    excess = np.array([2 * seen.max() - seen.sum() for seen in known])
    assert excess.all() and 3 < np.sum(excess < 0) < 12
    for (_, test), found, told in zip(cut, alone[0], best, strict=True):
        assert found == pytest.approx(np.mean(told[site[test]] == kind[test]))
