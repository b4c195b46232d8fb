"""A page shows some of many rows: its facts say how many there are in all, and which ones it shows."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from report_cases import a_case

from manykernels import MKLClassifier, MKLRegressor
from manykernels.inspect.sources import Row
from manykernels.kernels import RBF, KernelList, Linear
from manykernels.report import _joined, _measure, _worth, describe

rng = np.random.default_rng(3)


def test_texts_and_tables_are_read_up_to_a_row(monkeypatch):
    monkeypatch.setattr(describe, "MAX_ROWS", 6)
    monkeypatch.setattr(describe, "MAX_COLUMNS", 3)
    texts = ["a" * k for k in (3, 1, 4, 1, 5, 9, 2, 6)]
    (lengths,), total = describe._columns(texts)
    assert (lengths["name"], lengths["low"], lengths["high"], total) == ("length", 1.0, 9.0, 1)
    assert lengths["mean"] == pytest.approx(23 / 6) and sum(lengths["counts"]) == 6
    table = np.arange(40.0).reshape(8, 5)
    for X in (table, sp.csr_array(table), sp.coo_array(table), pd.DataFrame(table)):
        columns, total = describe._columns(X)
        assert total == 5 and len(columns) == 3
        assert [(c["low"], c["high"]) for c in columns] == [(0.0 + j, 25.0 + j) for j in range(3)]
    found = describe._target(MKLClassifier(), np.array([0, 1, 1, 2, 2, 2, 3, 3, 3, 3, 4]))
    assert found["total"] == 5 and [(c["name"], c["count"]) for c in found["classes"]] == [("3", 4), ("2", 3), ("1", 2)]
    views = {name: np.zeros((4, k + 1)) for k, name in enumerate("pqrs")}
    model = MKLClassifier([(name, Linear(), name) for name in "pq"])
    model.predictor_ = SimpleNamespace(kernel_list=None)
    found = describe.describe_data(model, views, np.array([0, 1, 0, 1]))
    assert (found["total"], found["what"], found["examples"]) == (4, "view", 4)
    assert [(v["name"], v["kind"]) for v in found["parts"]] == [
        ("p", "1 columns"),
        ("q", "2 columns"),
        ("r", "3 columns"),
    ]


def test_weights_name_the_heaviest_kernels_and_open_the_heaviest_sources(monkeypatch):
    X = rng.normal(size=(50, 8))
    y = X @ [3.0, 0.5, 2.0, 0.1, 1.0, 0.3, 0.2, 0.4] + 0.1 * rng.normal(size=50)
    pairs = [(f"s{j}, {kind}", kernel, [2 * j, 2 * j + 1]) for j in range(4)
             for kind, kernel in (("rbf", RBF(0.05)), ("line", Linear()))]  # fmt: skip
    model = MKLRegressor(pairs, C=1.0).fit(X, y)
    monkeypatch.setattr(_measure, "MAX_KERNELS", 3)
    monkeypatch.setattr(_measure, "MAX_INSIDE", 2)
    monkeypatch.setattr(_measure, "MAX_COLUMNS", 1)
    found = _measure._weights(a_case(y, "regression", model=model, X=X))
    share = model.kernel_weights_ / model.kernel_weights_.sum()
    order = np.argsort(-share)
    assert (found["kernels"], found["alive"]) == (8, np.count_nonzero(share))
    assert [row["name"] for row in found["rows"]] == [pairs[m][0] for m in order[:3]]
    assert [row["source"] for row in found["rows"]] == [f"s{m // 2}" for m in order[:3]]
    assert [row["share"] for row in found["rows"]] == pytest.approx(share[order[:3]])
    sums = share.reshape(4, 2).sum(axis=1)
    assert {name: own["share"] for name, own in found["sources"].items()} == pytest.approx(
        {f"s{j}": sums[j] for j in range(4)}
    )
    assert all(own["kernels"] == 2 for own in found["sources"].values())
    assert list(found["columns"]) == [f"s{j}" for j in np.argsort(-sums)[:2]]
    assert all(len(own) == 1 for own in found["columns"].values()) and "metric" not in found
    names = [f"column {k}" for k in range(8)]
    model.metric_ = {"s": {"column": names, "scale": np.ones(8), "share": np.arange(8.0) / 28}}
    found = _measure._weights(a_case(y, "regression", model=model, X=X))["metric"]["s"]
    assert found == [("column 7", pytest.approx(7 / 28)), ("column 6", pytest.approx(6 / 28)),
                     ("column 5", pytest.approx(5 / 28))]  # fmt: skip


def test_units_beyond_the_limit_are_one_with_all_their_sources():
    X = rng.normal(size=(20, 7))
    columns = {"a": [0, 1], "b": [1, 0], "c": [2], "d": [3, 4], "e": [4, 3, 5], "f": [6]}
    kernels = KernelList.from_spec([(name, RBF(0.1), own) for name, own in columns.items()], X)
    rows = [Row(name, "source", np.arange(6) == m) for m, name in enumerate(columns)]
    share = np.array([0.05, 0.05, 0.3, 0.02, 0.08, 0.5])
    units = _joined.find_units(kernels, rows, share, {}, 4)
    assert [unit.name for unit in units] == ["f", "c", "a and b", "e and d"]
    assert [unit.members for unit in units] == [["f"], ["c"], ["a", "b"], ["e", "d"]]
    assert [unit.why for unit in units] == ["", "", "columns", "columns"]
    few = _joined.find_units(kernels, rows, share, {}, 3)
    assert [unit.name for unit in few] == ["f", "c", "4 other sources"] and few[2].why == "rest"
    assert few[2].members == ["a", "b", "e", "d"] and few[2].wanted.tolist() == [1, 1, 0, 1, 1, 0]
    one = _joined.find_units(kernels, rows, share, {2: 6}, 9)  # columns 2 and 6 have the same values
    assert sorted(map(sorted, (unit.members for unit in one))) == [["a", "b"], ["c", "f"], ["d", "e"]]


@pytest.mark.parametrize("mode", ["fast", "auto", "full"])
def test_work_on_columns_is_shared_by_folds_and_outputs(mode, monkeypatch):
    """The number of refits counts a fit for each class, in each fold, of all kernels."""
    X, y = rng.normal(size=(40, 3)), np.arange(40) % 3
    kernels = [("all", RBF(0.1)), ("one", Linear(), [0]), ("two", Linear(), [1])]
    model = MKLClassifier(kernels, C=1.0).fit(X, y)
    asked = {}
    monkeypatch.setattr(_worth, "most_refits", lambda *own: asked.update(refits=own) or 7)
    monkeypatch.setattr(_worth, "most_shuffled", lambda *own: asked.update(shuffled=own) or 5)
    from manykernels.inspect.fold import Fold
    from manykernels.inspect.held_out import scorer_of

    fold = Fold(model, X, y, None, np.arange(30), np.arange(30, 40), scorer_of(model, None))
    case = a_case(y, model=model, X=X)
    plan = _worth.make_plan(case, fold, mode, 4)
    assert plan.refits == {"fast": 0, "auto": 7, "full": 28}[mode]
    assert asked.get("refits") == (None if mode == "fast" else (4, 40, 3, 3))
    assert asked["shuffled"] == (5, 40, 1, 3)
    assert [unit.columns for unit in sorted(plan.units, key=lambda u: u.columns)] == [(0,), (1,), (2,)]
