"""Suggestions and bootstrap samples from scores and draws that are made up."""

import sys
from types import SimpleNamespace

import numpy as np
import pytest

from manykernels import MKLClassifier
from manykernels.inspect import bootstrap, bootstrap_weights, suggest
from manykernels.inspect.suggest import NORMS, _read
from manykernels.kernels import RBF

rng = np.random.default_rng(21)


def test_bootstrap_samples_keep_the_sizes_of_sets_of_labels(monkeypatch):
    X = rng.normal(size=(12, 1))
    Y = np.array([[0, 1]] * 4 + [[1, 1]] * 5 + [[1, 0]] * 3)
    drawn = []
    monkeypatch.setattr(bootstrap, "_weights", lambda model, X, y, one, Z: drawn.append(one) or np.ones(1))
    bootstrap_weights(MKLClassifier([RBF(0.3)], C=1.0), X, Y, n_boot=3)
    assert len(drawn) == 3
    for one in drawn:
        assert (one[:4].sum(), one[4:9].sum(), one[9:].sum()) == (4, 5, 3)
    for wrong in (0, -1):
        with pytest.raises(ValueError, match=f"n_boot={wrong}"):
            bootstrap_weights(MKLClassifier([RBF(0.3)]), X, Y, n_boot=wrong)


def a_search(scores):
    """A search of two C and the norms of `suggest`, with scores (C, norm, fold)."""
    flat = np.asarray(scores, float).reshape(-1, np.shape(scores)[2])
    asked = []

    def path(X, y, Cs, regularizer):
        asked.append((Cs, regularizer))
        return SimpleNamespace(weights=np.array([0.5, 0.0, 0.5]))

    return SimpleNamespace(
        cv_results_={f"split{k}_test_score": flat[:, k] for k in range(flat.shape[1])}, n_splits_=flat.shape[1],
        Cs_=np.array([0.1, 10.0]), path=path, n_jobs=None, kernel_names_=["a", "b", "c"], asked=asked,
    )  # fmt: skip


def test_a_suggestion_compares_sparse_with_the_best_dense_norm(monkeypatch):
    monkeypatch.setattr(sys.modules[_read.__module__], "_alignments", lambda *own: (np.array([0.5, -0.5, 0.0]), 0.25))
    J = 4
    noise = 0.01 * np.arange(J)
    base = np.zeros((2, len(NORMS), J)) + noise
    for sparse, between, dense, mixing in (
        (0.9, 0.1, 0.5, "sparse"),
        (0.5, 0.1, 0.9, "dense"),
        (0.5, 0.9, 0.48, "either"),
    ):
        scores = base.copy()
        scores[1, 0] += sparse
        scores[0, 1] += between
        scores[0, 2] += dense + 0.05 * (np.arange(J) % 2)
        scores[0, 3] += 0.2
        search = a_search(scores)
        found = _read(search, None, np.zeros(3), True, 0.25)
        assert found.mixing == mixing and search.asked == [([10.0], 1)] and found.kept == 2
        np.testing.assert_allclose(found.Cs, [10.0, 0.1, 0.1, 0.1])
        apart = scores[0, 2] - scores[1, 0]
        assert found.difference == pytest.approx(apart.mean())
        assert found.error == pytest.approx(apart.std(ddof=1) * np.sqrt(1 / J + 0.25))
        assert found.informative == 1.0 and found.p == NORMS[int(np.argmax(found.scores))]
    single = _read(a_search(base[:, :, :1]), None, np.zeros(3), True, 0.25)
    assert single.mixing == "either" and np.isinf(single.errors).all()


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
