"""Suggestions and bootstrap samples from scores and draws that are made up."""

import sys

import numpy as np
import pytest

from manykernels.inspect import suggest
from manykernels.inspect.suggest import _read
from manykernels.kernels import RBF


def test_a_suggestion_of_a_sample_keeps_rows_together(monkeypatch):
    seen = {}

    def make_splits(cv, X, y, classes, groups):
        seen.update(X=X, y=y, classes=classes, groups=groups)
        raise RuntimeError

    monkeypatch.setattr(sys.modules[_read.__module__], "make_splits", make_splits)
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
        monkeypatch.setattr(sys.modules[_read.__module__], name, search)
    for options in ({}, {"regression": True}, {"scoring": "f1"}):
        with pytest.raises(RuntimeError):
            suggest(np.arange(60.0)[:, None], np.arange(60) % 2, [RBF(0.1)], **options)
    assert seen == ["roc_auc", None, "f1"]
