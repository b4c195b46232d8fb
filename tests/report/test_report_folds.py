"""What a report holds out: scores beside a guess, the table of classes, groups, and drawn examples."""

import numpy as np
from sklearn.dummy import DummyRegressor
from sklearn.model_selection import KFold, cross_val_score

from manykernels import MKLClassifier, MKLRegressor
from manykernels.estimators import plan
from manykernels.inspect import held_out
from manykernels.kernels import RBF

ONLY = dict(relevance="fast", stability=0)
rng = np.random.default_rng(3)
X = rng.normal(size=(90, 2))


def test_the_guess_beside_a_regression_knows_its_training_examples_only():
    """Rows are sorted by the target, so that folds have other means than what was fitted."""
    y = np.sort(X[:, 0] + 0.3 * rng.normal(size=90))
    rows, cut = X[np.argsort(X[:, 0])], KFold(3)
    model = MKLRegressor([("k", RBF(0.5))]).fit(rows, y)
    found = model.report(rows, y, cv=cut, examples=0, **ONLY).facts["score"]["baseline_folds"]
    expected = cross_val_score(DummyRegressor(), rows, y, cv=cut)
    np.testing.assert_allclose(found, expected)
    assert expected.min() < -1


def test_each_fold_chooses_C_once_even_if_it_is_made_again(monkeypatch):
    y = np.where(X[:, 0] + X[:, 1] > 0, "yes", "no")
    model = MKLClassifier().fit(X, y)
    chosen, choose = [], plan.with_chosen_C
    monkeypatch.setattr(plan, "with_chosen_C", lambda *given: chosen.append(0) or choose(*given))
    whole = model.report(X, y, cv=3, stability=0).facts["sources"]
    assert len(chosen) == 3
    monkeypatch.setattr(held_out, "MAX_KEPT_BYTES", 0)
    again = model.report(X, y, cv=3, stability=0).facts["sources"]
    assert len(chosen) == 6 and again["verdict"] == whole["verdict"]
    assert [row["name"] for row in again["units"]] == [row["name"] for row in whole["units"]]
