"""Scores, sources, columns and groups of `relevance` against their definitions, mostly without a fit."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.metrics import accuracy_score, log_loss, r2_score, roc_auc_score
from sklearn.model_selection import KFold

from manykernels import MKLClassifier, MKLOneClass, MKLRegressor
from manykernels.inspect import fold, held_out, relevance, relevance_result
from manykernels.inspect._interchangeable import _joins, find_groups
from manykernels.inspect.columns import (
    column_sources,
    columns_seen,
    mixed,
    seeing_only,
    specs_of,
    spreads,
    with_one_value,
)
from manykernels.inspect.held_out import _accuracy, _r2, _roc_auc, most_refits, name_of, scorer_of, small_enough
from manykernels.inspect.relevance_result import Relevance
from manykernels.inspect.sources import Row, Shared, default_sources, given_sources, joined_sources, together
from manykernels.kernels import RBF, KernelList, Linear
from manykernels.regularizers import Fixed

rng = np.random.default_rng(11)


class Told:
    """A model with these predictions or decisions."""

    def __init__(self, f, classes=()):
        self.f, self.classes_ = np.asarray(f), np.array(classes)

    def predict(self, X):
        return self.f

    decision_function = predict


def test_own_scores_are_those_of_scikit_learn():
    n, w = 31, rng.uniform(0.1, 2, 31)
    label, several = rng.choice(list("abc"), n), rng.integers(0, 2, (n, 3))
    for y in (label, several):
        f = np.where(rng.random(y.shape) < 0.6, y, np.roll(y, 1, axis=0))
        for weight in (None, w):
            assert _accuracy(Told(f), None, y, weight) == pytest.approx(accuracy_score(y, f, sample_weight=weight))
    for y in (rng.normal(size=n), rng.normal(size=(n, 2))):
        f = y + rng.normal(size=y.shape)
        for weight in (None, w):
            assert _r2(Told(f), None, y, weight) == pytest.approx(r2_score(y, f, sample_weight=weight))
    constant = np.column_stack([np.ones(4), [1.0, 2, 3, 4]])
    for f in (constant, constant + [1, 0]):
        assert _r2(Told(f), None, constant) == pytest.approx(r2_score(constant, f))
    with pytest.raises(ValueError, match="single held-out example"):
        _r2(Told([1.0]), None, np.ones(1))
    y, f = np.where(rng.random(n) < 0.3, "no", "yes"), rng.normal(size=n).round(1)  # with equal decisions
    assert len(np.unique(f)) < n
    assert _roc_auc(Told(f, ["no", "yes"]), None, y) == pytest.approx(roc_auc_score(y == "yes", f))
    assert np.isnan(_roc_auc(Told(f, ["no", "yes"]), None, np.full(n, "no")))
    X = rng.normal(size=(n, 2))
    model = MKLClassifier([RBF(0.3)], C=1.0).fit(X, y)
    expected = roc_auc_score(y == "yes", model.decision_function(X), sample_weight=w)
    assert _roc_auc(model, X, y, w) == pytest.approx(expected)
    assert expected != pytest.approx(_roc_auc(model, X, y), abs=1e-4)


def test_names_of_scores():
    assert name_of(None, MKLClassifier()) == "accuracy" and name_of(None, MKLRegressor()) == "R²"
    assert name_of("roc_auc", MKLClassifier()) == "roc_auc" and name_of(r2_score, MKLRegressor()) == "r2_score"
    assert name_of(lambda model, X, y: 0.0, MKLRegressor()) == "lambda"
    assert name_of("roc_auc", MKLOneClass()) == "roc_auc"
    assert scorer_of(MKLClassifier(), None) is _accuracy and scorer_of(MKLRegressor(), None) is _r2
    assert scorer_of(MKLClassifier(), "roc_auc") is _roc_auc and scorer_of(MKLOneClass(), "roc_auc") is not _roc_auc
    assert scorer_of(MKLRegressor(loss="poisson"), None) is not _r2  # its score is another
    assert most_refits(5) == 13 and most_refits(40) == 3
    one = SimpleNamespace(kernel_bytes=lambda: 2**24)
    assert small_enough(one, held_out.MAX_KEPT_BYTES // 2**24)
    assert not small_enough(one, held_out.MAX_KEPT_BYTES // 2**24 + 1)


def frame_of(n=8):
    return pd.DataFrame({"a": np.arange(n) * 1.0, "b": list("xyzw" * 2)[:n], "c": np.arange(n)[::-1] * 2.0})


def test_tables_with_columns_of_others_and_with_one_value():
    one, order = frame_of(), rng.permutation(8)
    other = one.iloc[order].reset_index(drop=True)
    found = mixed(one, other, [0, 2])
    assert found["b"].tolist() == one["b"].tolist() and one["a"].tolist() == list(range(8))
    assert found["a"].tolist() == order.tolist() and found["c"].tolist() == one["c"].to_numpy()[order].tolist()
    X = np.asfortranarray(rng.normal(size=(5, 3)))
    Y, before = rng.normal(size=(5, 3)), X.copy()
    np.testing.assert_array_equal(mixed(X, Y, (1,)), np.column_stack([X[:, 0], Y[:, 1], X[:, 2]]))
    np.testing.assert_array_equal(X, before)
    X[0, 1] = X[1, 1] = np.nan
    np.testing.assert_array_equal(with_one_value(X), np.tile([X[0, 0], X[2, 1], X[0, 2]], (5, 1)))
    one.loc[0, "b"] = None
    plain = with_one_value(one)
    assert set(plain["a"]) == {0.0} and set(plain["b"]) == {"y"} and set(plain["c"]) == {14.0} and len(plain) == 8


SPECS = [("all", RBF(0.1)), ("one", RBF(0.5), [0]), ("two", RBF(0.25), [1, 2]), ("linear", Linear(), [0, 1]),
         ("scaled", RBF("scale"), [1, 3])]  # fmt: skip


def test_columns_are_sources_where_kernels_overlap():
    X = rng.normal(size=(20, 5)) * [1, 2, 3, 1, 1]
    kernels = KernelList.from_spec(SPECS[:4], X[:, :4])
    assert columns_seen(kernels, 4) == [{0, 1, 2, 3}, {0}, {1, 2}, {0, 1}]
    usual = default_sources(kernels, [name for name, *_ in SPECS[:4]])
    found = column_sources(X[:, :4], kernels, usual)
    assert found == {"one": (0,), "column 1": (1,), "column 2": (2,), "column 3": (3,)}
    apart = KernelList.from_spec([("a", RBF(0.1), [0, 1]), ("b", Linear(), [3])], X)
    assert column_sources(X, apart, default_sources(apart, ["a", "b"])) == {}
    partly = KernelList.from_spec([("a", RBF(0.1), [0, 1, 2]), ("b", Linear(), [2, 3])], X)
    assert column_sources(X, partly, default_sources(partly, ["a", "b"])) == {
        "columns 0, 1": (0, 1), "column 2": (2,), "column 3": (3,)}  # fmt: skip


def test_a_kernel_that_sees_fewer_columns_is_as_wide_as_before():
    """gamma · V / V′ with the sums of the variances of its columns before and after; "scale" stays as it is."""
    X = rng.normal(size=(30, 4)) * [1, 2, 3, 1]
    kernels, specs = KernelList.from_spec(SPECS, X), specs_of(SPECS)
    V = spreads(specs, kernels, X, range(5))
    variance = X.var(axis=0)
    np.testing.assert_allclose(V, [variance.sum(), variance[0], variance[1:3].sum(), np.nan, np.nan])
    assert np.isnan(spreads(specs, kernels, X, [0, 3])[[1, 2, 3, 4]]).all()
    less = mixed(X, with_one_value(X), [1])
    found = seeing_only(specs, kernels, less, {0, 2, 3}, V)
    assert [spec.columns for spec in found] == [[0, 2, 3], [0], [2], [0], [3]]
    gammas = [spec.kernel.get_params().get("gamma") for spec in found]
    expected = [0.1 * V[0] / variance[[0, 2, 3]].sum(), 0.5, 0.25 * V[2] / variance[2], None, "scale"]
    assert gammas == [pytest.approx(g) if isinstance(g, float) else g for g in expected]


@pytest.mark.parametrize("entries", [2**22, 1])
def test_a_column_is_taken_from_every_kernel_that_sees_it(entries, monkeypatch):
    """Columns as sources: left out, alone and permuted, by fits with kernels that see fewer columns."""
    monkeypatch.setattr(fold, "MAX_MOVED_ENTRIES", entries)  # one row of a table at a time
    n = 40
    X = rng.normal(size=(n, 3)) * [1, 2, 1]
    y = X[:, 0] + 0.5 * X[:, 1] * X[:, 0] + 0.2 * rng.normal(size=n)
    kernels = [("all", RBF(0.2)), ("first", Linear(), [0]), ("last", RBF(0.5), [1, 2])]
    model = MKLRegressor(kernels, C=1.0, tol=1e-8)
    splits, draw = list(KFold(2).split(X)), np.random.RandomState(2)
    orders = [[draw.permutation(len(test)) for _ in range(2)] for _, test in splits]
    found = relevance(model, X, y, cv=splits, n_permutations=2, random_state=2)
    names = [name for name, kind in zip(found.names, found.kinds, strict=True) if kind == "source"]
    assert names == ["first", "last"] and found.shared == [Shared("all", ["first", "last"], True)]
    sources = {"first": [0], "last": [1, 2]}
    seen = [[0, 1, 2], [0], [1, 2]]
    for k, (train, test) in enumerate(splits):

        def fitted(kept, train=train):
            """A fit whose kernels see these columns only."""
            specs = []
            for (name, kernel, *_), columns in zip(kernels, seen, strict=True):
                left = [c for c in columns if c in kept]
                if left and isinstance(kernel, RBF):
                    V = X[train].var(axis=0)
                    kernel = RBF(kernel.gamma * V[columns].sum() / V[left].sum())
                specs += [(name, kernel, left)] if left else []
            return clone(model).set_params(kernels=specs).fit(X[train], y[train])

        whole = clone(model).fit(X[train], y[train])
        for name, columns in sources.items():
            m = found.names.index(name)
            without, alone = fitted({0, 1, 2} - set(columns)), fitted(set(columns))
            assert found.score_without[k, m] == pytest.approx(without.score(X[test], y[test]), abs=2e-4)
            assert found.score_alone[k, m] == pytest.approx(alone.score(X[test], y[test]), abs=2e-4)
            for key, one in (("score_permuted", whole), ("score_alone_permuted", alone)):
                scores = []
                for order in orders[k]:
                    moved = X[test].copy()
                    moved[:, columns] = moved[order][:, columns]
                    scores.append(one.score(moved, y[test]))
                assert vars(found)[key][k, m] == pytest.approx(np.mean(scores), abs=2e-4)
    theta = whole.kernel_weights_  # of the last fold; a source has the kernels that see nothing else
    assert 0 < theta[1] / theta.sum() < 1 and found.weights[0] < 1 - found.weights[1]


def test_groups_are_joined_by_alignment_until_a_joint_drop_counts():
    """Made-up scores of 6 folds: sources 0 and 1 replace each other, 2 is needed, 3 is worthless, 4 joins nobody."""
    J, rows = 6, [Row(f"s{m}", "source", np.arange(5) == m) for m in range(5)]
    rows.append(Row("kernel", "kernel", np.arange(5) == 0))
    noise = 0.001 * rng.normal(size=(J, 6))
    all_of = np.full(J, 0.9)
    drop, gain = np.array([0, 0, 0.3, 0, 0, 0]), np.array([0.4, 0.38, 0.3, 0.0, 0.2, 0.4])
    without = all_of[:, None] - drop
    alone = 0.5 + gain + noise
    between = np.eye(6)
    between[0, 1] = between[1, 0] = 0.95
    between[0, 4] = between[4, 0] = between[1, 4] = between[4, 1] = 0.3
    near = np.array([between + 0.001 * k for k in range(J)])
    result = Relevance([r.name for r in rows], [r.kind for r in rows], all_of, all_of - 0.4, without, without, alone,
                       np.full((J, 6), 0.5), np.zeros(6), np.zeros(6), 0.2, 0.0)  # fmt: skip
    found = [{"all": 0.9, "between": near[k], "every": k} for k in range(J)]
    asked = []

    def fold_of(k, every):
        def refits(joint):
            asked.append([row.wanted.tolist() for row in joint])
            return [(None, 0.9 - (0.25 if row.wanted[0] and row.wanted[1] else 0.0) - 0.001 * k, None) for row in joint]

        assert every == k
        return SimpleNamespace(refits=refits, score=float)

    (group,) = find_groups(result, rows, found, fold_of, None)
    assert group.names == ["s0", "s1"] and group.alignment == pytest.approx(0.95 + 0.0025)
    lost = 0.25 + 0.001 * np.arange(J)
    assert (group.drop, group.drop_se) == (
        pytest.approx(lost.mean()),
        pytest.approx(lost.std(ddof=1) * np.sqrt(1 / 6 + 0.2)),
    )
    assert asked[0] == [[True, True, False, False, False], [True, True, False, False, True]] and len(asked) == J
    shared = [row._replace(wanted=row.wanted | (np.arange(5) == 0)) for row in rows]
    assert find_groups(result, shared, found, fold_of, None) == []  # sources that share kernels are not joined
    assert find_groups(result, rows[:1] + rows[2:4], found, fold_of, None) == []


def test_joins_are_those_of_average_linkage():
    S = np.array([[1, 0.9, 0.2, 0.1], [0.9, 1, 0.4, 0.1], [0.2, 0.4, 1, 0.6], [0.1, 0.1, 0.6, 1]])
    joins = _joins(S + np.triu(0.02 * np.ones((4, 4)), 1))  # the mean of both triangles counts
    assert [members for members, _ in joins] == [[0, 1], [2, 3], [0, 1, 2, 3]]
    np.testing.assert_allclose([near for _, near in joins], [0.91, 0.61, 0.21])


def test_sources_are_joined_by_half_of_the_columns_of_the_smaller_one():
    X = rng.normal(size=(10, 8))
    columns = [[0, 1, 2, 3], [3, 4], [4, 5, 6], [7]]
    kernels = KernelList.from_spec([(f"k{m}", RBF(0.1), own) for m, own in enumerate(columns)], X)
    rows = [Row(f"k{m}", "source", np.arange(4) == m) for m in range(4)]
    assert joined_sources(kernels, rows, {}) == [[0, 1, 2], [3]]  # 3 is half of (3, 4), and so is 4
    assert joined_sources(kernels, rows, {7: 0}) == [[0, 1, 2, 3]]  # column 7 has the values of column 0
    some = [rows[0], rows[2], rows[3]]
    assert joined_sources(kernels, some, {}) == [[0], [1], [2]]
    assert joined_sources(kernels, [rows[0], rows[0]._replace(name="again")], {}) == [[0], [1]]
    assert joined_sources(None, rows, {}) == [[0], [1], [2], [3]]
    by_columns = [Row(str(c), "source", np.zeros(4, bool), c) for c in ((0, 1, 2), (2, 3, 4), (4,))]
    assert joined_sources(kernels, by_columns, {}) == [[0], [1, 2]]
    both = together(
        [Row("a", "source", np.array([True, False]), (3, 1)), Row("b", "source", np.array([False, True]), (1, 2))]
    )
    assert both.columns == (1, 2, 3) and both.wanted.all() and together(rows[:2]).columns is None
    np.testing.assert_array_equal(together(rows[:2]).wanted, [True, True, False, False])


def test_sources_are_given_by_names_numbers_and_default_sources():
    names = ["a", "b", "c", "d"]
    usual = {"both": np.array([1, 3]), "a": np.array([2])}
    given = {"x": "both", "y": [0, -1, "b"], "z": "a", 5: np.int64(2), "w": ["both", 3]}
    found = given_sources(given, names, usual)
    assert {k: v.tolist() for k, v in found.items()} == {"x": [1, 3], "y": [0, 1, 3], "z": [0], "5": [2], "w": [1, 3]}
    for bad in ({"x": 4}, {"x": -5}, {"x": [True]}, {"x": "e"}):
        with pytest.raises(ValueError, match="numbered from 0 to 3"):
            given_sources(bad, names, usual)


def made_up(J=3, rows=4, **options):
    kinds = ["source"] * (rows - 1) + ["kernel"]
    scores = {name: rng.random((J, rows)) for name in "wpaq"}
    return Relevance([f"r{m}" for m in range(rows)], kinds, rng.random(J), rng.random(J), *scores.values(),
                     rng.random(rows), rng.random(rows), 0.5, 1e-4, **options)  # fmt: skip


def test_a_table_as_text_says_what_was_measured():
    found = made_up(scoring="R²", covariates=["age"])
    text = str(found).splitlines()
    assert text[0].split() == ["source", "relevance", "drop", "permute", "alone", "weight", "alignment"]
    for line, row in zip(text[1:5], found.table(), strict=True):
        cells = line.split("  ")
        cells = [cell.strip() for cell in cells if cell.strip()]
        expected = [row["name"], *(f"{row[m]:+.3f} ± {row[m + '_se']:.3f}" for m in ("relevance", "drop", "permute"))]
        expected += [f"{row['alone']:.3f} ± {row['alone_se']:.3f}", f"{row['weight']:.2f}", f"{row['alignment']:.2f}"]
        assert cells == expected and line.startswith("  ") == (row["kind"] == "kernel")
    assert len({len(line) for line in text[:5]}) == 1 and text[5].startswith("R² of all sources")
    assert "of the covariates alone" in text[5] and "3 folds" in text[5] and "1.0e-04" in text[5]
    found.score_without[:, [1, 2]] = np.nan
    assert found.refitted.tolist() == [True, False, False, True]
    assert "1 of 3 sources, those with the largest permute" in str(found)
    names = [row["name"] for row in found.table()]
    permute = found.measure("permute").mean
    assert names == ["r0", *(["r1", "r2"] if permute[1] >= permute[2] else ["r2", "r1"]), "r3"]
    row = found.table()[1]
    assert np.isnan(row["drop"]) and "nan" not in str(found)
    found.score_without[:] = np.nan
    assert "Sources were only permuted" in str(found)
    assert found.row("r2") == 2 and found.of_kind("kernel") == [3]
    with pytest.raises(ValueError, match="has no row 'r9'"):
        found.row("r9")
    found.names[1] = "nancy"  # a name is no missing value
    assert "nancy" in str(found)


def test_what_shares_columns_is_told_in_part(monkeypatch):
    monkeypatch.setattr(relevance_result, "SHARED_SHOWN", 2)
    found = made_up(rows=9)
    place = {found.names[m]: k for k, m in enumerate(found.order())}
    found.shared = [Shared(f"r{m}", [f"r{m + 1}"]) for m in range(5)]
    found.overlapping = [["r0", "r1"], ["r5", "r2", "r3"], ["r6", "r7"], ["r4", "r8"]]
    groups = sorted((sorted(g, key=place.get) for g in found.overlapping), key=lambda g: place[g[0]])
    lines = str(found).splitlines()[-4:]
    for names, line in zip(groups, lines, strict=False):
        assert line.startswith(f"{', '.join(names[:-1])} and {names[-1]} share half") == (names in groups[:2])
    assert lines[2].startswith("2 more groups of sources") and lines[3].startswith("5 sources have some columns")
    found.shared = [one._replace(taken=True) for one in found.shared]
    lines = str(found).splitlines()[-3:]
    assert [line.split(" also")[0] for line in lines[:2]] == ["r0", "r1"] and lines[2].startswith("3 more sources see")
    found.shared = found.shared[:2]
    assert [line.split(" also")[0] for line in str(found).splitlines()[-2:]] == ["r0", "r1"]


def test_probabilities_of_held_out_examples_are_calibrated_on_the_training_examples():
    X, y = rng.normal(size=(60, 3)), rng.integers(0, 2, 60)
    y[X[:, 0] > 0.3] = 1
    model = MKLClassifier([("a", RBF(0.3), [0, 1]), ("b", Linear(), [2])], C=1.0, calibrate="sigmoid", random_state=4)
    splits = list(KFold(2).split(X))
    found = relevance(model, X, y, cv=splits, scoring="neg_log_loss", refits=0, kernels=False)
    for k, (train, test) in enumerate(splits):
        fitted = clone(model).fit(X[train], y[train])
        assert found.score_all[k] == pytest.approx(-log_loss(y[test], fitted.predict_proba(X[test])), abs=1e-3)


def test_theta_given_by_the_user_is_shared_among_what_is_left():
    """With fixed weights the shares are the user's, and a source that has no weight changes nothing."""
    X = rng.normal(size=(30, 3))
    kernels = [("a", RBF(0.3), [0]), ("b", Linear(), [1]), ("c", Linear(), [2])]
    model = MKLRegressor(kernels, C=1.0, regularizer=Fixed([0.6, 0.2, 0.0]))
    found = relevance(model, X, X[:, 0], cv=2, n_permutations=1)
    np.testing.assert_allclose(found.weights, [0.75, 0.25, 0.0])
    pairs = ((found.score_without, found.score_all), (found.score_permuted, found.score_all),
             (found.score_alone, found.score_nothing))  # fmt: skip
    for scores, expected in pairs:
        np.testing.assert_allclose(scores[:, 2], expected, atol=1e-12)
    assert (found.score_alone[:, 0] > found.score_nothing + 0.1).all()


@pytest.mark.parametrize("kept_bytes", [0, 2**29])
def test_the_rows_of_the_largest_mean_permute_are_refitted_in_every_fold(kept_bytes, monkeypatch):
    """Made-up scores of two folds: the first fold alone would choose other rows."""
    monkeypatch.setattr(held_out, "MAX_KEPT_BYTES", kept_bytes)
    monkeypatch.setattr(held_out, "find_groups", lambda result, rows, found, fold, n_jobs: [])
    permuted = np.array([[0.1, 0.5, 0.4, 0.2, 0.3], [0.8, 0.5, 0.1, 0.9, 0.2]])  # of 0.9 and 0.95
    asked, made = [], []

    def shuffled(fold, rows, orders):
        assert orders == ["order", fold.k]
        return dict(all=0.9 + 0.05 * fold.k, nothing=0.1, permuted=permuted[fold.k], weight=np.arange(5.0), overlap=0.5,
                    every=f"fit {fold.k}", gap=0.01 * fold.k, short=fold.k, metric={})  # fmt: skip

    def refitted(fold, rows, chosen, orders):
        asked.append((fold.k, chosen.tolist(), fold.every))
        values = {key: np.where(np.isin(np.arange(5), chosen), at + fold.k, np.nan)
                  for at, key in enumerate(("without", "alone", "alignment", "alone_permuted"))}  # fmt: skip
        return values | dict(between=np.zeros((5, 5)), gap=0.5, short=2)  # with the fit of all kernels

    monkeypatch.setattr(held_out, "shuffled", shuffled)
    monkeypatch.setattr(held_out, "refitted", refitted)

    def fold_of(k, every=None):
        made.append((k, every))
        return SimpleNamespace(k=k, kernel_bytes=lambda: 1600, every=every)

    rows = [Row(f"r{m}", "source" if m < 3 else "kernel", np.ones(2, bool)) for m in range(5)]
    orders, seen = [["order", 0], ["order", 1]], []
    first = SimpleNamespace(k=0, kernel_bytes=lambda: 1600, every=None)
    found = held_out.measure_rows(rows, fold_of, {0: first}, orders, 1, 0.9, "score", None, lambda *a: seen.append(a))
    again = [None, None] if kept_bytes else ["fit 0", "fit 1"]  # a fold that is made again starts from its fit
    assert asked == [(k, [2, 4], again[k]) for k in range(2)] and seen == [(1, 2), (2, 2)]
    assert made == ([(1, None)] if kept_bytes else [(1, None), (0, "fit 0"), (1, "fit 1")])
    assert found.short == 2 * 2 and found.gap == 0.5 and found.level == 0.9
    np.testing.assert_array_equal(found.score_permuted, permuted)
    np.testing.assert_array_equal(found.score_alone[:, [2, 4]], [[1, 1], [2, 2]])
    assert found.refitted.tolist() == [False, False, True, False, True]
    asked.clear()
    held_out.measure_rows(rows, fold_of, {0: first}, orders, None)
    assert [one[:2] for one in asked] == [(0, [0, 1, 2, 3, 4]), (1, [0, 1, 2, 3, 4])]


def test_columns_that_are_left_out_have_the_value_of_the_training_examples_everywhere():
    one = fold.Fold.__new__(fold.Fold)
    one.given, one.X, one.n_test = (rng.normal(size=(6, 3)), None), rng.normal(size=(4, 3)), 4
    train, test = one._one
    np.testing.assert_array_equal(train, np.tile(one.given[0][0], (6, 1)))
    np.testing.assert_array_equal(test, np.tile(one.given[0][0], (4, 1)))
