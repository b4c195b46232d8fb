"""Cases of reports with made-up targets, for tests of single facts."""

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from manykernels import MKLClassifier, MKLRegressor
from manykernels.report._case import Case


def a_case(y, kind="classification", classes=None, **options):
    """A `Case` of a model that knows its classes only."""
    model: Any = MKLClassifier() if kind == "classification" else MKLRegressor()
    model.classes_ = np.unique(y) if classes is None else np.array(classes)
    plain = dict(model=model, X=np.zeros((len(y), 1)), y=y, kind=kind, sources=None, scoring=None, n_jobs=None, seed=3,
                 tick=lambda *a: None)  # fmt: skip
    return Case(**plain | options)


class Search(BaseEstimator):
    """A search of two candidates that always takes the second."""

    n_splits_ = 3

    def __init__(self, Cs=(0.1, 7.0), regularizer=(1,), cv=3, verbose=False):
        self.Cs, self.regularizer, self.cv, self.verbose = Cs, regularizer, cv, verbose

    def fit(self, X, y):
        self.C_, self.regularizer_ = 7.0, 1
        return self
