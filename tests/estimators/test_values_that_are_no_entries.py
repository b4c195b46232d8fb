"""Arguments with an entry for each example refuse what is no entry: missing values, texts, dicts, complex numbers."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from manykernels import MKLClassifier, MKLRegressor, survival_targets
from manykernels.kernels import RBF, KernelStack, Linear, Precomputed, multi_task

rng = np.random.default_rng(0)
N = 40
X = rng.normal(size=(N, 3))
R = X[:, 0] + X[:, 1]
Y = (X[:, 0] > 0).astype(int)
KERNELS = [("r", RBF(gamma=0.3)), ("l", Linear())]
TIMES = np.exp(X[:, 0])
CLASSIFIER = MKLClassifier(KERNELS, C=1.0).fit(X, Y)
REGRESSOR = MKLRegressor(KERNELS, C=1.0).fit(X, R)


def objects(values, first):
    """`values` as objects, the fourth of them `first`."""
    found = np.array(values).astype(object)
    found[3] = first
    return found


def fit(X, y, kernels=KERNELS, **also):
    model = MKLClassifier if y is Y else MKLRegressor
    return model(kernels, C=1.0).fit(X, y, **also)


ONES, TASK = np.ones(N), np.array(["a", "b"] * (N // 2))
WEIGHTS = {
    "NA": (objects(ONES, pd.NA), "sample_weight has 1 missing value"),
    "nullable": (pd.Series([None] + [1] * (N - 1), dtype="Int64"), "sample_weight has 1 missing value"),
    "None": ([None] + [1.0] * (N - 1), "sample_weight has 1 missing value"),
    "texts": (ONES.astype(str), "sample_weight holds texts"),
    "list of texts": (list(ONES.astype(str)), "sample_weight holds texts"),
    "dict": (dict.fromkeys(range(N), 1.0), "sample_weight is a dict: give an array"),
    "complex": (ONES + 1j, "sample_weight holds complex numbers"),
}


@pytest.mark.parametrize("weight,sentence", WEIGHTS.values(), ids=WEIGHTS)
def test_weights_are_numbers_in_fit_and_in_score(weight, sentence):
    for ask in (lambda: fit(X, Y, sample_weight=weight), lambda: CLASSIFIER.score(X, Y, sample_weight=weight)):
        with pytest.raises(ValueError, match=sentence):
            ask()


STACK = X @ X.T + 1j
AGES = pd.DataFrame(X[:, :2], columns=["age", "age"])
REFUSED = {
    "task": (lambda: fit(X, R, multi_task(KERNELS), task=objects(TASK, pd.NA)), "task has 1 missing value"),
    "event": (lambda: survival_targets(objects(Y, pd.NA), TIMES), "event has 1 missing value"),
    "time": (lambda: survival_targets(Y, objects(TIMES, pd.NA)), "time has 1 missing value"),
    "text of time": (lambda: survival_targets(Y, objects(TIMES.astype(str), "nan")), "time has 1 missing value"),
    "complex time": (lambda: survival_targets(Y, TIMES + 1j), "time holds complex numbers"),
    "complex event": (lambda: survival_targets(Y + 1j, TIMES), "event holds complex numbers"),
    "complex matrices": (lambda: KernelStack([STACK]), "matrices holds complex numbers"),
    "complex table": (lambda: Precomputed.table(STACK), "K holds complex numbers"),
    "complex y": (lambda: fit(X, R + 1j), "y holds complex numbers"),
    "text of y": (lambda: fit(X, objects(R, "nan")), "y has 'nan' in row 3"),
    "score, NA": (lambda: REGRESSOR.score(X, objects(R, pd.NA)), "y has 1 missing value"),
    "score, text": (lambda: REGRESSOR.score(X, objects(R, "NA")), "y has 'NA' in row 3"),
    "score of classes, NA": (lambda: CLASSIFIER.score(X, objects(Y, pd.NA)), "y has 1 missing value"),
    "sparse covariates": (lambda: fit(X, R, covariates=sp.csr_matrix(X[:, :1])), "give covariates.toarray()"),
    "covariates of one name": (lambda: fit(X, R, covariates=AGES), "covariates has 2 columns called 'age'"),
    "large covariates": (lambda: fit(X, R, covariates=X[:, :1] * 1e200), "'z0' has .e.200: rescale it"),
}


@pytest.mark.parametrize("ask,sentence", REFUSED.values(), ids=REFUSED)
def test_what_is_no_entry_is_named(ask, sentence):
    with pytest.raises(ValueError, match=sentence.replace("(", "\\(").replace(")", "\\)")):
        ask()


def test_whole_numbers_are_classes_whatever_the_dtype():
    given = pd.Series(Y, dtype=object)
    model = MKLClassifier(KERNELS, C=1.0).fit(X, given)
    assert model.classes_.dtype.kind == "i"
    np.testing.assert_array_equal(model.decision_function(X), CLASSIFIER.decision_function(X))
    assert model.score(X, given) == CLASSIFIER.score(X, given) == CLASSIFIER.score(X, Y)


def test_new_rows_may_be_sparse_where_those_of_fit_were_dense():
    table = X * (rng.uniform(size=X.shape) < 0.4)
    model = MKLClassifier(C=1.0).fit(table, Y)
    expected = model.decision_function(table)
    np.testing.assert_array_equal(model.decision_function(sp.csr_matrix(table)), expected)
