"""The relevance of single columns inside a source, on held-out examples."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike
from sklearn.base import clone, is_classifier
from sklearn.utils import check_random_state

from .._validation import check_choice, check_integer
from ..estimators.check_inputs import open_annotated, take_examples
from ..estimators.check_targets import make_splits
from ..kernels.annotated import NamedMatrix
from ..kernels.view_data import n_examples
from ..kernels.views import Views
from .columns import mixed
from .fold import Fold
from .held_out import covariates_for, name_of, scorer_of, targets
from .relevance_result import Relevance
from .sources import Row, default_sources
from .tables import check_plain, chosen_C


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
    check_plain(model)
    check_integer("n_permutations", n_permutations)
    X, y, covariates, groups = open_annotated(X, y, covariates, groups=groups)
    y, n = targets(model, y, scoring), n_examples(X)
    splits = make_splits(cv, np.zeros((n, 1)), y, is_classifier(model), groups)
    rng, score = check_random_state(random_state), scorer_of(model, scoring)
    own, Z = clone(model).set_params(**chosen_C(model)), covariates_for(model, covariates, n)
    found = []
    for train, test in splits:
        fold = Fold(own, X, y, None, train, test, score, covariates=Z)
        orders = [rng.permutation(len(test)) for _ in range(n_permutations)]
        rows, measured = _measure(fold, source, orders)
        found.append(measured)
    result = Relevance.of(rows, found, 0.95, name_of(scoring, model))
    result.covariates = [] if Z is None else list(Z.columns)
    return result


def _measure(fold, source, orders):
    """(rows, measurements) of one fold, see `Relevance.of`; what needs refits is NaN."""
    kernels, every = fold.kernel_list, fold.every
    if kernels is None or kernels.tasks is not None:
        raise ValueError("model has precomputed kernels or tasks, whose columns are unknown: fit kernels on columns.")
    sources = default_sources(kernels, fold.names)
    check_choice("source", source, (None, *sources))
    chosen = np.ones(fold.M, bool) if source is None else np.isin(np.arange(fold.M), sources[source])
    places = _places(kernels, chosen, fold.X)
    decision, nothing = fold.decisions([every, fold.solve(np.zeros(fold.M, bool))])
    parts = fold.parts(every)
    again, order = np.tile(np.arange(fold.n_test), len(orders)), np.concatenate(orders)
    rows, permuted, same = [], [], fold.score(decision)
    for (view, column, label), sees in places.items():
        rows.append(Row(label, "column", sees))
        if not every.theta[:, sees].any():
            permuted.append(same)
            continue
        X = _moved(fold.X, view, column, again, order)
        zero = np.zeros(len(every.b))
        f = fold.plan.decide(every.a, every.theta * sees, zero, fold.plan.read(fold.model, X))
        others = decision - fold.adjustment.rest(parts[:, :, sees].sum(axis=2).T)
        anew = fold.adjustment.rest(f.T.reshape(len(orders), fold.n_test, -1))
        permuted.append(np.mean([fold.score(others + one) for one in anew]))
    unknown = np.full(len(rows), np.nan)
    return rows, dict(
        all=same, nothing=fold.score(nothing), permuted=np.array(permuted), without=unknown, alone=unknown,
        alone_permuted=unknown, alignment=unknown, weight=fold.shares([row.wanted for row in rows]),
        overlap=fold.n_test / fold.n_train, gap=every.gap, short=int(not every.converged), metric={},
    )  # fmt: skip


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
        return _mixed(take_examples(X, rows), take_examples(X, order), column)
    if not isinstance(X, Views):
        one = _mixed(take_examples(X[view], rows), take_examples(X[view], order), column)
        return {name: one if name == view else take_examples(x, rows) for name, x in X.items()}
    parts = {name: X[rows][name] for name in X.names}  # each draw has all examples, with and without the view
    parts[view] = _mixed(parts[view], X[order][view], column)
    return Views(
        parts, ids={name: np.flatnonzero(X.present[name][rows]) for name in parts}, examples=np.arange(len(rows))
    )


def _mixed(X, other, column):
    if isinstance(X, NamedMatrix):
        return NamedMatrix(_mixed(X.matrix, other.matrix, column), X.columns)
    if not sp.issparse(X):
        return mixed(X, other, [column])
    out = X.tolil()
    out[:, [column]] = other.tolil()[:, [column]]
    return out.tocsr()
