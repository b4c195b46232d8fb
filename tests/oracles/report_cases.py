"""Cases of reports with made-up targets, for tests of single facts."""

from typing import Any

import numpy as np

from manykernels import MKLClassifier, MKLRegressor
from manykernels.report._case import Case


def a_case(y, kind="classification", classes=None, **options):
    """A `Case` of a model that knows its classes only."""
    model: Any = MKLClassifier() if kind == "classification" else MKLRegressor()
    model.classes_ = np.unique(y) if classes is None else np.array(classes)
    plain = dict(model=model, X=np.zeros((len(y), 1)), y=y, kind=kind, sources=None, scoring=None, n_jobs=None, seed=3,
                 tick=lambda *a: None)  # fmt: skip
    return Case(**plain | options)
