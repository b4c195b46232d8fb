"""`ReportOptions`: what a report may be asked for, with the defaults."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .._validation import check_choice, check_integer


@dataclass(frozen=True)
class ReportOptions:
    """What a report measures and shows; `make_report` and `report` of an estimator take these as keywords.

    Parameters
    ----------
    cv : int, splitter or None, default 5
        Folds; a number is lowered to the size of the rarest class. None: nothing is held out.
    relevance : {"auto", "full", "fast"}
        Sources that see a column in common are joined, since the others make up for one that is left out. "fast"
        refits without each source or joined sources and with them alone, in every fold; "full" also without each
        single one of those joined; "auto" is "full" where that is within the bound. The verdict is the same.
    stability : int, optional
        Bootstrap samples; 0 for none. None: 100, or as many as the bound allows, ten at least.
    examples : int or list of int, optional
        Rows of X whose decisions are taken apart, or how many; None: six, some clear, some close, some mistaken. They
        are decisions of models that had not learned from the example, where it was held out.
    sources : dict, optional
        {name: kernels}, as in `inspect.relevance`; None: as there, and each kernel where all see the same.
    scoring : str or callable, optional
        As in scikit-learn; None for accuracy or R², and for the worth of sources of two classes "roc_auc".
    groups : array (n,), optional
        Whom each example is of, a patient say: those of one are held out together, or scores are too good.
    threshold : float, optional
        Of two classes, the decision above which an example counts as the second class; sensitivity, specificity and
        the table of classes are those at it. None: 0, as in `predict`.
    max_examples : int, optional
        That are looked at, drawn at random; None: as many as the bound allows.
    title, target : str, optional
        Of the page, and the name of what is predicted.
    data : bool, default True
        Whether the numbers are written beside the page, as JSON.
    random_state : int, default 0
        For folds, samples and orders.
    n_jobs : int, optional
        Fits at a time, each in a process of its own.
    verbose : bool, optional
        Whether progress is shown; None: as the model does.

    Examples
    --------
    >>> from manykernels.report import ReportOptions
    >>> ReportOptions(cv=3, stability=0).changed()
    {'cv': 3, 'stability': 0}
    """

    cv: Any = 5
    relevance: str = "auto"
    stability: int | None = None
    examples: int | ArrayLike | None = None
    sources: dict[str, Any] | None = None
    scoring: Any = None
    groups: ArrayLike | None = None
    max_examples: int | None = None
    title: str | None = None
    target: str | None = None
    data: bool = True
    random_state: int = 0
    threshold: float | None = None
    n_jobs: int | None = None
    verbose: bool | None = None

    def __post_init__(self) -> None:
        check_choice("relevance", self.relevance, ("auto", "full", "fast"))
        if self.stability is not None:
            check_integer("stability", self.stability, 0)
        if isinstance(self.examples, int | np.integer):
            check_integer("examples", self.examples, 0)
        if self.max_examples is not None:
            check_integer("max_examples", self.max_examples, 10)

    def changed(self) -> dict[str, Any]:
        """The options that are not the default and change the page, by name."""
        found = {
            f.name: (getattr(self, f.name), f.default) for f in fields(self) if f.name not in ("n_jobs", "verbose")
        }
        return {
            name: value
            for name, (value, default) in found.items()
            if not (value is default or type(value) is type(default) and value == default)
        }
