"""The seed, the covariates and the limits of a report reach each of its parts."""

import numpy as np
import pytest
from sklearn.model_selection import StratifiedKFold, cross_val_score

from manykernels import MKLClassifier, MKLRegressor
from manykernels.inspect import AlignmentDisplay, bootstrap_weights, relevance
from manykernels.kernels import RBF, Linear

rng = np.random.default_rng(17)
X = rng.normal(size=(60, 3))
y = np.where(X[:, 0] + 0.5 * rng.normal(size=60) > 0, "yes", "no")
KERNELS = [("a", RBF(0.3), [0]), ("b", RBF(0.3), [1]), ("c", Linear(), [2])]


@pytest.mark.parametrize("covariates", [False, True])
def test_folds_permutations_and_samples_come_from_the_seed(covariates):
    Z = rng.normal(size=(60, 1)) if covariates else None
    own = {} if Z is None else {"covariates": Z}
    model = MKLClassifier(KERNELS, C=1.0, tol=1e-6).fit(X, y, **own)
    facts = model.report(X, y, cv=3, relevance="full", stability=3, random_state=7, **own).facts
    cut = StratifiedKFold(3, shuffle=True, random_state=7)
    splits = list(cut.split(X, y))
    if not covariates:
        np.testing.assert_allclose(facts["score"]["folds"], cross_val_score(model, X, y, cv=cut))
    judged = relevance(model, X, y, cv=splits, kernels=False, scoring="roc_auc", random_state=7, **own)
    found = {row["name"]: row for row in judged.table()}
    for row in facts["sources"]["rows"]:
        for key in ("relevance", "permute", "gain", "drop", "relevance_low"):
            assert row[key] == pytest.approx(found[row["name"]][key], abs=1e-9)
    boot = bootstrap_weights(model, X, y, 3, 7, covariates=Z)
    shares = boot / boot.sum(axis=1, keepdims=True)
    for row in facts["stability"]["rows"]:
        assert row["median"] == pytest.approx(np.median(shares[:, "abc".index(row["name"])]))


def test_alignments_of_many_examples_are_those_of_the_sample_of_the_seed():
    Z = rng.normal(size=(450, 2))
    target = Z[:, 0] + rng.normal(size=450)
    model = MKLRegressor([("one", Linear(), [0]), ("two", Linear(), [1])], loss="squared", C=1.0).fit(Z, target)
    facts = model.report(Z, target, cv=None, stability=0, examples=0, random_state=9).facts["alignment"]
    shown = AlignmentDisplay.measured(model, Z, target, 30, 400, 9)
    np.testing.assert_allclose(facts["target"], shown.target[shown.order])
    other = AlignmentDisplay.measured(model, Z, target, 30, 400, 0)
    assert np.abs(other.target - shown.target).max() > 1e-6
