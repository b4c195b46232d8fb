"""The model and the data of a report, and the limits of the work."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import is_classifier, is_outlier_detector

from ..estimators import MKLSurvival
from ..estimators.check_inputs import is_precomputed, optional, take_examples

MAX_ENTRIES = 4e9  # kernel entries that all fits of a section read
FIT_ENTRIES = 5e6  # the overhead of one fit, as a number of entries
KERNEL_ENTRIES = 5e5  # the overhead of one kernel whose width is chosen anew
CONFIDENCE = 0.95  # of intervals over the folds
MAX_SOURCES, MAX_KERNELS, MAX_ALIGNED, MAX_POINTS, MAX_STEPS = 40, 40, 30, 300, 60  # rows and points on the page
MAX_INSIDE = 10  # sources whose columns are shown, the heaviest
MAX_CLASSES, MAX_PARTS, DEFAULT_EXAMPLES = 12, 6, 6

Tick = Callable[[str, int, int], None]


class Case(NamedTuple):
    """A fitted model, the data on which it is measured, and the options of the report."""

    model: Any
    X: Any
    y: Any
    kind: str
    sources: dict[str, Any] | None
    scoring: Any
    n_jobs: int | None
    seed: int
    tick: Tick
    groups: Any = None  # (n,): examples of the same group are held out together
    search: Any = None  # the estimator that chose C and the regularizer
    threshold: float = 0.0  # decisions above it are predicted as the second of two classes
    covariates: Any = None  # that the model adjusts for

    @property
    def outputs(self):
        return len(self.model.intercept_)

    @property
    def several_tasks(self):
        return optional(self.model, "tasks_") is not None

    def part(self, rows):
        """(X, y) of some examples; for kernel matrices, their rows and columns."""
        X = self.X[np.ix_(rows, rows)] if is_precomputed(self.model) else take_examples(self.X, rows)
        return X, None if self.y is None else self.y[rows]

    def adjusted(self, rows: np.ndarray) -> dict[str, Any]:
        """{"covariates": those of these rows} if the model adjusts for some, else {}."""
        return {} if self.covariates is None else {"covariates": self.covariates.take(rows)}


def kind_of(model: Any) -> str:
    """The kind of problem that a model solves."""
    if is_outlier_detector(model):
        return "one-class"
    if isinstance(model, MKLSurvival):
        return "survival"
    return "classification" if is_classifier(model) else "regression"
