"""The model and the data of a report, its options, and the limits of the work."""

from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from .._validation import check_choice, check_integer
from ..estimators.check_inputs import is_precomputed, optional, take_examples

MAX_ENTRIES = 4e9  # kernel entries that all fits of a section read
FIT_ENTRIES = 5e6  # the overhead of one fit, as a number of entries
KERNEL_ENTRIES = 5e5  # the overhead of one kernel whose width is chosen anew
CONFIDENCE = 0.95  # of intervals over the folds
MAX_SOURCES, MAX_KERNELS, MAX_ALIGNED, MAX_POINTS, MAX_STEPS = 40, 40, 30, 300, 60  # rows and points on the page
MAX_INSIDE = 10  # sources whose columns are shown, the heaviest
MAX_CLASSES, MAX_PARTS, DEFAULT_EXAMPLES = 12, 6, 6
Tick = Callable[[str, int, int], None]
Facts = dict[str, Any]  # numbers and names, which JSON can hold


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

    def take(self, rows):
        """The case of some examples; for kernel matrices, their rows and columns."""
        X = self.X[np.ix_(rows, rows)] if is_precomputed(self.model) else take_examples(self.X, rows)
        y, groups = (None if own is None else own[rows] for own in (self.y, self.groups))
        Z = None if self.covariates is None else self.covariates.take(rows)
        return self._replace(X=X, y=y, groups=groups, covariates=Z)


@dataclass(frozen=True)
class ReportOptions:
    """The options of a report, which `make_report` and the method `report` of an estimator take as keywords.

    Parameters
    ----------
    cv : int, splitter or None, default 5
        Folds; a class with fewer examples is not in the test part of every fold. None: no example is held out.
    relevance : {"auto", "full", "fast"}
        Sources are those of `inspect.relevance`: columns where the kernels of a table share columns. Sources that still
        share half of their columns, or the values, are joined, since the others make up for one that is left out. In
        every fold, the model is fitted without each unit (a source, or joined sources) and with it alone, and likewise
        each source of a unit that shares columns, as many as the limit allows; "full" has no limit for these. Columns,
        and more than 40 sources, are all shuffled, and "fast" does nothing else. "auto" also refits without those that
        matter most, as many as the limit allows; "full" four times as many.
    stability : int, optional
        Bootstrap samples; 0 for none. None: 100, or as many as the limit allows, but at least ten.
    examples : int or list of int, optional
        Rows of X whose decisions are split into parts, or their number. None: six rows, some clear, some close, some
        mistaken. If a row was held out, the decision is that of a model that did not learn from the row.
    sources : dict, optional
        {name: kernels}, as in `inspect.relevance`. None: its default, or each kernel if all kernels see the same data.
    scoring : str or callable, optional
        As in scikit-learn. None: accuracy or R²; the relevance of sources for two classes is then in "roc_auc".
    groups : array (n,), optional
        The group of each example, such as the patient. Groups are held out together; else scores may be too good. With
        no more groups than folds, such as a few sites, each is held out in turn, and the page has its scores.
    threshold : float, optional
        For two classes: decisions above the threshold are predicted as the second class, in sensitivity, specificity
        and the confusion matrix. None: 0, as in `predict`.
    covariates : (n, q), optional
        As in `fit`, if the model was fitted with them. The page says what the sources are worth beyond them.
    max_examples : int, optional
        The size of the random sample of examples that are measured. None: as many as the limit allows.
    title, target : str, optional
        The title of the page, and the name of the target.
    data : bool, default True
        Whether to write the numbers to a JSON file next to the page.
    random_state : int, default 0
        The seed of folds, samples and permutations.
    n_jobs : int, optional
        Fits at the same time, each in a separate process.
    verbose : bool, optional
        Whether to show progress; None: the model's `verbose`.

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
    covariates: Any = None
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
        """{name: value} of the options that differ from their default and change the page."""
        found = [(f.name, vars(self)[f.name], f.default) for f in fields(self) if f.name not in ("n_jobs", "verbose")]
        return {
            name: value
            for name, value, default in found
            if not (value is default or type(value) is type(default) and value == default)
        }
