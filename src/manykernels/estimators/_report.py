"""`report`, for every estimator."""

from __future__ import annotations

from os import PathLike
from typing import TYPE_CHECKING, Any

from .._offers import OFFERS

if TYPE_CHECKING:
    from ..report import Report


class HasReport:
    """Adds `report` to an estimator."""

    def report(self, X: Any, y: Any = None, path: str | PathLike[str] | None = None, **options: Any) -> Report:
        """Write a page of this fitted model, measured on X and y: one HTML file that loads nothing from anywhere.

        What was fitted, how well held-out examples are predicted, which sources matter and how stably, what single
        decisions are made of, the data and the settings. The numbers are beside it, as JSON.

        Parameters
        ----------
        X, y : as in fit
        path : where the page is written; None: it is only returned
        options : `cv`, `relevance`, `stability`, `examples` and others, of `manykernels.report.make_report`

        Returns
        -------
        Report
            With its `facts`, `html()`, `json()` and `write(path)`.

        Examples
        --------
        >>> from sklearn.datasets import load_wine
        >>> from manykernels import MKLClassifier
        >>> from manykernels.kernels import RBF
        >>> X, y = load_wine(return_X_y=True)
        >>> model = MKLClassifier([("acids", RBF("median"), [1, 2]), ("colour", RBF("median"), [9, 10])]).fit(X, y)
        >>> report = model.report(X, y, cv=3, relevance="fast", stability=0)
        >>> report.facts["score"]["measure"], len(report.facts["score"]["folds"])
        ('accuracy', 3)
        """
        return OFFERS["report"]()(self, X, y, path, **options)
