"""The report says which columns inside a source carry its decisions."""

import numpy as np

from manykernels import MKLRegressor
from manykernels.inspect.shares import source_columns
from manykernels.kernels import RBF, Linear


def test_many_support_vectors_and_columns_leave_the_table_out():
    X = np.random.default_rng(0).normal(size=(40, 4))
    model = MKLRegressor([RBF(0.1)], C=1.0).fit(X, X[:, 1])
    assert source_columns(model, X, np.array([0]), 100.0) == []
    assert len(source_columns(model, X, np.array([0]), 1e6)) == 4


def test_of_many_sources_the_heaviest_have_a_table():
    X = np.random.default_rng(0).normal(size=(60, 40))
    kernels = [(f"set {k}", Linear(), [2 * k, 2 * k + 1]) for k in range(20)]
    model = MKLRegressor(kernels, C=1.0).fit(X, X[:, 1] + X[:, 39])
    report = model.report(X, X[:, 1] + X[:, 39], cv=None, stability=0)
    assert list(report.facts["weights"]["columns"])[:2] in (["set 0", "set 19"], ["set 19", "set 0"])
    assert len(report.facts["weights"]["columns"]) == 10 and "10 heaviest of 20 sources" in report.html()


def test_of_many_columns_the_ten_of_the_largest_shares_are_shown():
    X = np.random.default_rng(0).normal(size=(60, 14))
    y = 3 * X[:, 11] + X[:, 4]
    model = MKLRegressor([("many", Linear(), list(range(13))), ("one", Linear(), [13])], C=1.0).fit(X, y)
    shown = model.report(X, y, cv=None, stability=0, examples=0).facts["weights"]["columns"]["many"]
    shares = [share for _, share in shown]
    assert [name for name, _ in shown[:2]] == ["column 11", "column 4"]
    assert len(shown) == 10 and shares == sorted(shares, reverse=True)
