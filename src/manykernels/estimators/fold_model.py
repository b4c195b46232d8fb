"""The model of a fold as scorers see it."""

from collections.abc import Callable
from types import MethodType
from typing import Any

from .._parts import declared

FROM_DECISIONS = (  # methods of the estimators that ask `_decide` for the decisions
    "predict", "decision_function", "predict_proba", "predict_log_proba", "score", "score_samples", "centre_distances",
)  # fmt: skip


@declared
class FoldModel:
    """A fitted model and the decisions decide(X, task), (n, T), that its predictions and scores come from.

    `decide` knows the covariates of its own examples.

    All other attributes are those of the model, which does not change.
    """

    model: Any
    decide: Callable[..., Any]

    def _decide(self, X, task=None, covariates=None):
        return self.decide(X, task) if covariates is None else self.decide(X, task, covariates)

    def __sklearn_is_fitted__(self):
        return True

    def __getattr__(self, name):
        if name == "model":  # of a copy that is not complete
            raise AttributeError(name)
        found = getattr(self.model, name)  # what the model has depends on its parameters
        return MethodType(found.__func__, self) if name in FROM_DECISIONS else found
