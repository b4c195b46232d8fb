"""The method `report` of all estimators."""

from __future__ import annotations

from os import PathLike
from typing import TYPE_CHECKING, Any

from .._offers import OFFERS

if TYPE_CHECKING:
    from ..report import Report


class HasReport:
    """Adds `report` to an estimator."""

    def report(self, X: Any, y: Any = None, path: str | PathLike[str] | None = None, **options: Any) -> Report:
        """Write a report on this fitted model, measured on X and y: one HTML file that loads nothing from elsewhere.

        It shows the fit, the scores on held-out examples, the relevance and stability of the sources, the parts of
        single decisions, the data and the settings. A JSON file beside it has the numbers.

        Parameters
        ----------
        X, y : as in fit
        path : the file to write; None to only return the report
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
