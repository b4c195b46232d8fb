"""The page of a model that adjusts for covariates says what the sources are worth beyond them."""

import numpy as np
import pandas as pd
import pytest
from report_cases import a_case

from manykernels import MKLClassifier, MKLRegressor, MKLRegressorCV
from manykernels.kernels import Linear
from manykernels.report._measure import _sample

rng = np.random.default_rng(1)
N = 90
BATCH = rng.integers(0, 3, N)
X = np.hstack([rng.normal(size=(N, 2)), 2 * np.eye(3)[BATCH] + 0.3 * rng.normal(size=(N, 3))])
Z = pd.DataFrame({"age": 50 + 10 * rng.normal(size=N), "batch": np.array(list("abc"))[BATCH]})
REAL = 1.5 * X[:, 0] + np.array([-2, 0, 2])[BATCH] + 0.3 * rng.normal(size=N)
KERNELS = [("genes", Linear(), [0, 1]), ("proteins", Linear(), [2, 3, 4])]


def test_a_report_adjusts_for_covariates_compares_with_them_alone_and_repeats_them():
    y = REAL > 0
    model = MKLClassifier(KERNELS, C=1.0).fit(X, y, covariates=Z)
    facts = model.report(X, y, covariates=Z, cv=3, stability=0, relevance="fast", examples=[4, 9]).facts
    assert facts["score"]["baseline"] > 0.7  # a constant has about 0.5
    assert facts["model"]["covariates"]["names"] == ["age", "batch=b", "batch=c"]
    assert facts["reproduce"][-2] == "model.fit(X, y, covariates=covariates)"
    assert facts["reproduce"][-1].endswith("examples=[4, 9], covariates=covariates)")
    with pytest.raises(ValueError, match="fitted with the covariates 'age', 'batch': give covariates="):
        model.report(X, y)


def test_the_worst_of_drawn_examples_is_found_with_their_own_covariates():
    """Without folds: the errors are those of `predict`, among the rows that were drawn."""
    model = MKLRegressor(KERNELS, C=1.0).fit(X, REAL, covariates=Z)
    facts = model.report(X, REAL, covariates=Z, cv=None, stability=0, max_examples=50, random_state=5).facts
    rows = _sample(a_case(REAL, "regression", seed=5)._replace(X=X), 50)
    error = (model.predict(X, covariates=Z) - REAL)[rows]
    found = {row["why"]: row["row"] for row in reversed(facts["examples"]["rows"])}  # the first of each kind
    assert found["the largest overestimate"] == rows[error.argmax()]
    assert found["the largest underestimate"] == rows[error.argmin()]


def test_nested_searches_and_samples_take_their_covariates():
    search = MKLRegressorCV(KERNELS, Cs=[0.1, 1.0], regularizer=1, cv=3).fit(X, REAL, covariates=Z)
    facts = search.report(X, REAL, covariates=Z, cv=3, stability=0, relevance="fast", max_examples=60).facts
    assert facts["score"]["nested"]["done"] and facts["sampled"]["used"] == 60
    assert facts["score"]["mean"] > facts["score"]["baseline"] > 0.2
