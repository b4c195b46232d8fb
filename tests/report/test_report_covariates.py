"""The page of a model that adjusts for covariates says what the sources are worth beyond them. Issue 15, point 1."""

import re

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import KFold

from manykernels import MKLClassifier, MKLRegressorCV
from manykernels.kernels import Linear

rng = np.random.default_rng(1)
N = 90
BATCH = rng.integers(0, 3, N)
X = np.hstack([rng.normal(size=(N, 2)), 2 * np.eye(3)[BATCH] + 0.3 * rng.normal(size=(N, 3))])
Z = pd.DataFrame({"age": 50 + 10 * rng.normal(size=N), "batch": np.array(list("abc"))[BATCH]})
REAL = 1.5 * X[:, 0] + np.array([-2, 0, 2])[BATCH] + 0.3 * rng.normal(size=N)
KERNELS = [("genes", Linear(), [0, 1]), ("proteins", Linear(), [2, 3, 4])]


def said(report):
    return re.sub(r"\s+", " ", re.sub("<[^>]+>", " ", report.html()))


def test_the_page_says_what_it_adjusts_for_and_compares_with_the_covariates_alone():
    y = REAL > 0
    model = MKLClassifier(KERNELS, C=1.0).fit(X, y, covariates=Z)
    report = model.report(X, y, covariates=Z, cv=3, stability=2, relevance="fast", examples=[4, 9])
    text, facts = said(report), report.facts
    assert "Every fit of this page adjusts for age and batch , without a penalty." in text
    assert "worth beyond them" in text and "the covariates alone would reach" in text
    assert facts["score"]["baseline"] > 0.7  # a constant has about 0.5
    assert facts["model"]["covariates"]["names"] == ["age", "batch=b", "batch=c"]
    assert "coefficient of batch=c" in text
    assert facts["reproduce"][-2] == "model.fit(X, y, covariates=covariates)"
    assert facts["reproduce"][-1].endswith("examples=[4, 9], covariates=covariates)")
    assert report.json()
    with pytest.raises(ValueError, match="fitted with the covariates 'age', 'batch': give covariates="):
        model.report(X, y)


def test_decisions_of_single_examples_have_the_part_of_the_covariates():
    """Without folds they are those of the fitted model; with folds, of models without the example."""
    model = MKLClassifier(KERNELS, C=1.0).fit(X, REAL > 0, covariates=Z)
    rows = model.report(X, REAL > 0, covariates=Z, cv=None, stability=0, examples=[4, 9]).facts["examples"]["rows"]
    decision = model.decision_function(X, covariates=Z)
    assert [row["sum"] for row in rows] == pytest.approx(decision[[4, 9]].tolist())
    options = dict(cv=KFold(3), stability=0, relevance="fast", examples=[4, 9])
    held = model.report(X, REAL > 0, covariates=Z, **options).facts["examples"]["rows"]
    without = MKLClassifier(KERNELS, C=1.0).fit(X[30:], REAL[30:] > 0, covariates=Z[30:])
    expected = without.decision_function(X[[4, 9]], covariates=Z.iloc[[4, 9]])
    assert all(row["held_out"] for row in held)
    assert [row["sum"] for row in held] == pytest.approx(expected.tolist(), abs=0.05)


def test_nested_searches_and_samples_take_their_covariates():
    search = MKLRegressorCV(KERNELS, Cs=[0.1, 1.0], regularizer=1, cv=3).fit(X, REAL, covariates=Z)
    facts = search.report(X, REAL, covariates=Z, cv=3, stability=0, relevance="fast", max_examples=60).facts
    assert facts["score"]["nested"]["done"] and facts["sampled"]["used"] == 60
    assert facts["score"]["mean"] > facts["score"]["baseline"] > 0.2
