"""What a report is of, and its bounds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import is_classifier, is_outlier_detector

from ..estimators.check_inputs import is_precomputed, take_examples

LIMIT = 4e9  # entries of kernels, times fits
FIT = 5e6  # entries that a fit of a few examples costs as much as
SOURCES, KERNELS, ALIGNED, POINTS, STEPS = 40, 40, 30, 300, 60  # rows and marks at most
CLASSES, PARTS, EXAMPLES = 12, 6, 6

Tick = Callable[[str, int, int], None]


class Case(NamedTuple):
    """A fitted model with the data that it is measured on, and what was asked for."""

    model: Any
    X: Any
    y: Any
    kind: str
    sources: dict[str, Any] | None
    scoring: Any
    n_jobs: int | None
    seed: int
    tick: Tick
    groups: Any = None  # (n,): examples of one group are held out together
    search: Any = None  # that chose the model's C and regularizer
    threshold: float = 0.0  # decisions above it count as the second of two classes

    @property
    def outputs(self):
        return len(self.model.intercept_)

    def part(self, rows):
        """(X, y) of some examples; of matrices their rows and columns."""
        X = self.X[np.ix_(rows, rows)] if is_precomputed(self.model) else take_examples(self.X, rows)
        return X, None if self.y is None else self.y[rows]


def kind_of(model: Any) -> str:
    """What a model does."""
    if is_outlier_detector(model):
        return "one-class"
    return "classification" if is_classifier(model) else "regression"
