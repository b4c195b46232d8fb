"""Scores, columns as sources, probabilities, given weights and the table of `relevance` against their definitions."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.metrics import accuracy_score, log_loss, r2_score, roc_auc_score
from sklearn.model_selection import KFold

from manykernels import MKLClassifier, MKLRegressor
from manykernels.inspect import fold, relevance
from manykernels.inspect.held_out import _accuracy, _r2, _roc_auc
from manykernels.inspect.relevance_result import Relevance
from manykernels.inspect.sources import Shared
from manykernels.kernels import RBF, Linear
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


@pytest.mark.parametrize("entries", [2**22, 1])
def test_a_column_is_taken_from_every_kernel_that_sees_it(entries, monkeypatch):
    """Columns as sources: left out, alone and permuted, by fits with kernels that see fewer columns."""
    monkeypatch.setattr(fold, "MAX_MOVED_ENTRIES", entries)  # one row of a table at a time
    n = 40
    X = rng.normal(size=(n, 3)) * [1, 2, 1]
    y = X[:, 0] + 0.5 * X[:, 1] * X[:, 0] + 0.2 * rng.normal(size=n)
    kernels = [("all", RBF(0.2)), ("first", Linear(), [0]), ("next", RBF(0.5), [1])]  # none goes without column 2
    model = MKLRegressor(kernels, C=1.0, tol=1e-8)
    splits, draw = list(KFold(2).split(X)), np.random.RandomState(2)
    orders = [[draw.permutation(len(test)) for _ in range(2)] for _, test in splits]
    found = relevance(model, X, y, cv=splits, n_permutations=2, random_state=2)
    names = [name for name, kind in zip(found.names, found.kinds, strict=True) if kind == "source"]
    assert names == ["first", "next", "column 2"] and found.shared == [Shared("all", names, True)]
    sources = {"first": [0], "next": [1], "column 2": [2]}
    seen = [[0, 1, 2], [0], [1]]
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
