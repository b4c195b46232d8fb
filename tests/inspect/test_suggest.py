"""`suggest` tells a planted sparse truth from a dense one, says why, and does not say more than the scores do."""

import sys

import numpy as np
import pytest

from manykernels.inspect import suggest
from manykernels.kernels import RBF, per_column

RNG = np.random.default_rng(0)
Z = RNG.standard_normal((150, 40))
KERNELS = per_column(RBF(gamma=0.5), 12)


def test_a_sum_over_all_columns_asks_for_dense_mixing():
    found = suggest(Z[:, :12], Z[:, :12].sum(axis=1), KERNELS, Cs=[1.0, 10.0], cv=3)
    assert found.mixing == "dense" and found.p > 1 and found.difference > found.error > 0
    assert found.informative > 6 and "Dense mixing" in str(found) and "not a promise" in str(found)
    assert found.to_frame().shape == (4, 4)


def test_one_column_among_many_asks_for_sparse_mixing():
    y = np.sin(2 * Z[:, 0]) + 0.1 * RNG.standard_normal(150)
    found = suggest(Z, y, per_column(RBF(gamma=0.5), 40), Cs=[1.0, 10.0], cv=3)
    assert found.mixing == "sparse" and found.p < 2 and -found.difference > found.error
    assert found.informative < 8 and np.argmax(found.alignments) == 0
    assert found.redundancy < 0.1


def test_equal_kernels_are_called_alike_and_redundant():
    y = np.arange(150) % 2
    kernels = [("a", RBF(gamma=0.01)), ("b", RBF(gamma=0.01))]
    found = suggest(Z + 9 * y[:, None], y, kernels, Cs=[1.0], cv=3, max_examples=90)
    assert found.mixing == "either" and found.redundancy == pytest.approx(1.0)


def test_a_suggestion_of_a_sample_keeps_rows_together(monkeypatch):
    seen = {}

    def make_splits(cv, X, y, classes, groups):
        seen.update(X=X, y=y, classes=classes, groups=groups)
        raise RuntimeError

    monkeypatch.setattr(sys.modules[suggest.__module__], "make_splits", make_splits)
    X, y = np.arange(60.0)[:, None], np.arange(60) % 2
    with pytest.raises(RuntimeError):
        suggest(X, y, [RBF(0.1)], groups=np.arange(60) // 3, max_examples=30, random_state=1)
    rows = np.asarray(seen["groups"])
    assert (
        len(rows) == 30
        and seen["classes"]
        and (np.asarray(seen["y"]) == y[np.asarray(seen["X"])[:, 0].astype(int)]).all()
    )
    assert (rows == np.asarray(seen["X"])[:, 0].astype(int) // 3).all()
    for target, classes in ((np.linspace(0, 1, 60), False), (y, True), (np.round(np.linspace(0, 24, 60)), False),
                            (np.round(np.linspace(0, 12, 60)), True)):  # fmt: skip
        with pytest.raises(RuntimeError):
            suggest(X, target, [RBF(0.1)])
        assert seen["classes"] == classes


def test_a_suggestion_scores_two_classes_by_their_order_and_numbers_by_their_own_score(monkeypatch):
    seen = []

    def search(kernels, scoring=None, **options):
        seen.append(scoring)
        raise RuntimeError

    for name in ("MKLClassifierCV", "MKLRegressorCV"):
        monkeypatch.setattr(sys.modules[suggest.__module__], name, search)
    for options in ({}, {"regression": True}, {"scoring": "f1"}):
        with pytest.raises(RuntimeError):
            suggest(np.arange(60.0)[:, None], np.arange(60) % 2, [RBF(0.1)], **options)
    assert seen == ["roc_auc", None, "f1"]
