"""Where kernels share the columns of a table, the columns are the sources of relevance."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.model_selection import StratifiedKFold, cross_val_score

from manykernels import MKLClassifier, MKLRegressor
from manykernels.inspect import WeightsDisplay, relevance
from manykernels.inspect.fold import Fold
from manykernels.inspect.held_out import _accuracy
from manykernels.inspect.sources import Row, mixed, with_one_value
from manykernels.kernels import RBF, Laplacian
from manykernels.kernels.table_scaler import TableScaler
from manykernels.regularizers import WeightedLpNorm


def table(n=90, seed=0):
    """Two numbers, a category and a day; the number `a` and the category `site` decide y."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({"a": rng.normal(size=n), "b": 5 + rng.normal(size=n), "site": rng.choice(["n", "s", "w"], n)})
    frame["when"] = pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 90, n), unit="D")
    return frame, np.where(frame.a + 1.5 * (frame.site == "n") - 0.5 + 0.2 * rng.normal(size=n) > 0, "yes", "no")


def sources(found):
    return [name for name, kind in zip(found.names, found.kinds, strict=True) if kind == "source"]


def row(found, name):
    return next(row for row in found.table() if row["name"] == name)


def test_leaving_out_a_column_is_the_default_model_on_the_other_columns():
    """The oracle is a fit on a frame without the column, in which kernels="auto" chooses again."""
    frame, y = table()
    frame.loc[::9, "b"] = np.nan
    cv, model = StratifiedKFold(2), MKLClassifier(C=1.0, tol=1e-6)
    found = relevance(model, frame, y, cv=cv, kernels=False, scoring="roc_auc", n_permutations=1)
    assert found.names == ["a", "b", "site", "when"]
    fresh = [cross_val_score(model, frame.drop(columns=name), y, cv=cv, scoring="roc_auc") for name in frame]
    np.testing.assert_allclose(found.score_without, np.transpose(fresh), atol=2e-3)
    assert found.gap <= 1e-6


@pytest.mark.parametrize("alone", [False, True])
def test_kernels_see_only_the_columns_that_are_left(alone):
    """Fixed widths follow the columns, rules see the columns that are left, and each fit is certified."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(80, 4)) * [1, 1, 1, 30] + [0, 5, 0, 100]
    y = X[:, 0] * X[:, 1] > 0
    part, scaler = [2, 3] if alone else [0, 1], TableScaler([("columns", 4)])
    kernels = [("wide", RBF(0.1), None, "error", None, scaler), ("scale", RBF("scale")), ("first", RBF(0.3), [0, 1])]
    kernels = [kernels[1], kernels[2], ("last", Laplacian("median"), [2, 3])]
    model = MKLClassifier([*kernels, ("wide", scaler, RBF(0.1), [0, 1, 2, 3])], C=1.0, tol=1e-6)
    fold = Fold(model, X, y, None, np.arange(60), np.arange(60, 80), _accuracy)
    ((machine, f, _),) = fold.refits([Row("", "source", np.zeros(4, bool), (2, 3))], alone)
    own = ("last", Laplacian("median"), [2, 3]) if alone else ("first", RBF(0.3), [0, 1])
    fresh = clone(model).set_params(
        kernels=[("scale", RBF("scale"), part), own, ("wide", TableScaler([("columns", 2)]), RBF(0.2), part)]
    ).fit(X[:60], y[:60])  # fmt: skip
    assert machine.gap <= 1e-6
    np.testing.assert_allclose(f[:, 0], fresh.decision_function(X[60:]), atol=2e-2)
    assert machine.solutions[0].primal == pytest.approx(fresh.objective_, rel=3e-6)


def test_kernels_are_sources_where_the_user_asks():
    frame, y = table(60)
    asked = {"together": "all columns", "a": "a"}
    found = relevance(MKLClassifier(), frame, y, cv=2, sources=asked, kernels=False)
    assert found.names == ["together", "a"] and [one.name for one in found.shared] == ["together"]
    assert "does not take its columns away" in str(found)


def test_kernels_of_several_sources_are_named_and_pictures_leave_room_for_them():
    import matplotlib

    matplotlib.use("Agg")
    frame, y = table(60)
    model = MKLClassifier(C=1.0).fit(frame, y)
    found = relevance(model, frame, y, cv=2, kernels=False, n_permutations=1)
    assert [(one.name, one.others) for one in found.shared] == [("all columns", ["a", "b", "site", "when"])]
    assert "a source is taken away from it too" in str(found)
    weights = [row(found, name)["weight"] for name in found.names]
    assert sum(w for w, kind in zip(weights, found.kinds, strict=True) if kind == "source") < 1
    drawn = WeightsDisplay.from_estimator(model, by="source", relevance=found)
    assert len(drawn.axes_[0]) == 2


@pytest.mark.parametrize("frames", ["pandas", "polars", "array"])
def test_columns_are_exchanged_between_tables_of_any_kind(frames):
    frame, _ = table(6)
    frame.loc[0, "b"] = np.nan
    X = frame.to_numpy(object) if frames == "array" else frame
    if frames == "polars":
        X = pytest.importorskip("polars").DataFrame(frame.to_dict("list"))
    one = with_one_value(X)
    out = mixed(one, X, [0])
    cell = (lambda t, r, c: t[r, c]) if frames != "pandas" else (lambda t, r, c: t.iloc[r, c])
    for r in range(6):
        assert (
            cell(out, r, 0) == cell(X, r, 0) and cell(out, r, 1) == cell(X, 1, 1) and cell(out, r, 2) == cell(X, 0, 2)
        )


def test_regularizers_with_a_number_for_each_kernel_and_slack_keep_them():
    frame, y = table(60)
    model = MKLClassifier(regularizer=WeightedLpNorm(1.5, np.arange(1.0, 11.0)), C=1.0).fit(frame, y)
    assert len(model.kernel_names_) == 10
    found = relevance(model, frame, y, cv=2, kernels=False, n_permutations=1)
    assert found.names == ["a", "b", "site", "when"] and found.gap <= model.tol
    found = relevance(MKLRegressor(slack=True, C=1.0), frame[["a", "b"]], frame.a, cv=2, kernels=False)
    assert found.table()[0]["name"] == "a" and row(found, "a")["drop"] > 0.5


def test_a_quick_relevance_makes_no_fits_besides_those_of_the_folds(monkeypatch):
    frame, y = table(60)
    whole = relevance(MKLClassifier(C=1.0), frame, y, cv=2, kernels=False)
    monkeypatch.setattr(Fold, "_refit", None)
    quick = relevance(MKLClassifier(C=1.0), frame, y, cv=2, kernels=False, refits=0)
    np.testing.assert_array_equal(quick.differences("permute"), whole.differences("permute"))
    assert not quick.refitted.any() and whole.refitted.all() and np.isnan(quick.measure("drop").mean).all()
    means = [row["permute"] for row in quick.table()]
    assert means == sorted(means, reverse=True) and "nan" not in str(quick)
    assert "does not say that a source is worthless" in str(quick) and "only permuted" not in str(whole)


def test_by_default_the_number_of_refits_of_columns_is_bounded(monkeypatch):
    monkeypatch.setattr("manykernels.inspect.held_out.MAX_REFITS", 1)
    frame, y = table(60)
    assert relevance(MKLClassifier(C=1.0), frame, y, cv=2, kernels=False).refitted.sum() == 3


@pytest.mark.parametrize("alone", [False, True])
def test_kernels_in_memory_and_on_the_fly_give_the_same_refits(alone):
    frame, y = table(60)
    fold = Fold(MKLClassifier(tol=1e-6, C=1.0), frame, y, None, np.arange(40), np.arange(40, 60), _accuracy)
    rows = [Row("", "source", np.zeros(fold.M, bool), (k,)) for k in range(4)]
    held = fold.refits(rows, alone)
    fold.bank = fold.plan.bank
    for (one, f, flat), (other, g, same) in zip(held, fold.refits(rows, alone), strict=True):
        assert one.solutions[0].primal == pytest.approx(other.solutions[0].primal, rel=3e-6)
        np.testing.assert_allclose(f, g, atol=2e-2)
        assert flat is same or np.allclose(flat, same, atol=1e-5)
