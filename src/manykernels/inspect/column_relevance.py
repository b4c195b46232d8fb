"""The relevance of single columns inside a source, on held-out examples."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from .._validation import check_choice
from ..estimators.check_inputs import take_examples
from ..kernels.views import Views
from .fold import Fold
from .held_out import measure_rows, name_of, read_folds
from .relevance_result import Relevance
from .sources import default_sources, mixed


def column_relevance(
    model: Any, X: Any, y: Any, source: str | None = None, *, cv: Any = 5, groups: ArrayLike | None = None,
    scoring: str | Callable | None = None, n_permutations: int = 5, random_state: Any = 0, covariates: Any = None,
) -> Relevance:  # fmt: skip
    """What each column of a source is worth on held-out examples: the score that is lost if it is permuted.

    In every fold of a cross-validation the model is fitted once. On the held-out examples

        permute = score − score with the entries of the column permuted among the held-out examples,

    in the kernels of the source alone; the other kernels see the column as it is. Standard errors and intervals are
    those of `relevance`. A small value does not say that the column is worthless: others may replace it.

    It costs one fit per fold, and columns × n_permutations times the decisions of the held-out examples by the kernels
    that see the column. `feature_shares` says what a column does in the decision of a single example.

    Parameters
    ----------
    model : MKLClassifier, MKLRegressor or MKLOneClass
        Fitted or not; it is cloned.
    X, y : as in `relevance`
    source : str, optional
        A source of `relevance`: a view, or the kernels of the same columns. None: all kernels.
    cv, groups, scoring, n_permutations, random_state, covariates : as in `relevance`

    Returns
    -------
    Relevance
        A row for each column, of the kind "column"; only `permute` is measured.

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels import MKLRegressor
    >>> from manykernels.inspect import column_relevance
    >>> from manykernels.kernels import RBF
    >>> X = np.random.default_rng(0).normal(size=(80, 3))
    >>> found = column_relevance(MKLRegressor([RBF(0.1)], C=1.0), X, X[:, 1])
    >>> found.table()[0]["name"], found.table()[0]["permute_low"] > 0
    ('column 1', True)
    """
    examples = X, y, covariates, groups, None
    fold, orders, names = read_folds(model, examples, cv, scoring, n_permutations, random_state, _ColumnFold)
    first = fold(0)
    kernels = first.kernel_list
    if kernels is None or kernels.tasks is not None:
        raise ValueError("model has precomputed kernels or tasks, whose columns are unknown: fit kernels on columns.")
    sources = default_sources(kernels, first.names)
    check_choice("source", source, (None, *sources))
    chosen = np.ones(first.M, bool) if source is None else np.isin(np.arange(first.M), sources[source])
    rows = [_Column(label, sees, view, at) for (view, at, label), sees in _places(kernels, chosen, first.X).items()]
    result = measure_rows(rows, fold, {0: first}, orders, 0, scoring=name_of(scoring, model))
    result.covariates, result.metric = names, {}
    return result


class _Column(NamedTuple):
    """A `Row` for a column of a view, by its position `at`; `wanted` are the chosen kernels that see it."""

    name: str
    wanted: np.ndarray
    view: str | None
    at: int
    kind: str = "column"


class _ColumnFold(Fold):
    def moves(self, row):
        return row.wanted & False, row.wanted

    def recomputed(self, rows, cuts, again, order):
        a, theta, found = self.every.a, self.every.theta, {}
        for k, row in enumerate(rows):
            if cuts[k].any():
                f = self.decide(self.plan, a, theta * cuts[k], _moved(self.X, row.view, row.at, again, order))
                found[k] = f.reshape(-1, self.n_test, f.shape[1])
        return found


def _places(kernels, chosen, X):
    """{(view, position, name): mask (M,) of the chosen kernels that see the column}."""
    arrays, found = kernels.arrays(X), {}
    for m in np.flatnonzero(chosen):
        for plan in kernels.plans(m):
            if plan.sees_nothing or plan.encoding is not None or plan.takes_objects:
                continue
            labels = arrays.labels(plan.name)
            for k in range(len(labels)) if plan.columns is None else plan.columns.tolist():
                label = labels[k] if isinstance(labels[k], str) else f"column {labels[k]}"
                found.setdefault((plan.name, k, label), np.zeros(kernels.M, bool))[m] = True
    if not found:
        raise ValueError("the kernels see no columns: sequences and objects have explain_sequences and relevance.")
    return found


def _moved(X, view, column, rows, order):
    """The examples `rows` of X, with this column of a view, None for the only table, of the examples `order`."""
    if view is None:
        return mixed(take_examples(X, rows), take_examples(X, order), [column])
    if not isinstance(X, Views):
        one = _moved(X[view], None, column, rows, order)
        return {name: one if name == view else take_examples(x, rows) for name, x in X.items()}
    parts = {name: X[rows][name] for name in X.names}  # each draw has all examples, with and without the view
    parts[view] = mixed(parts[view], X[order][view], [column])
    return Views(
        parts, ids={name: np.flatnonzero(X.present[name][rows]) for name in parts}, examples=np.arange(len(rows))
    )
