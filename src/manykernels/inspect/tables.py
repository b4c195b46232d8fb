"""Kernel weights as tables, and the columns that count in a learned metric."""

from collections import Counter, defaultdict
from typing import Any

import numpy as np
from sklearn.base import is_classifier, is_outlier_detector
from sklearn.utils.validation import check_is_fitted

from .._pictures import short
from .._validation import one_line
from ..estimators import MKLSurvival
from ..estimators.check_inputs import optional
from ..estimators.cross_validated import CrossValidated


def column_shares(metric: dict[str, dict[str, Any]] | None) -> dict[str, dict[str, float]]:
    """{source: {column: share}}, greatest first, of the `metric_` of a model; {} for None.

    The share of a column in the mean distance between examples; numbers made of one column, such as the indicators of
    its categories, count together.
    """
    found = {}
    for source, table in (metric or {}).items():
        own: Any = Counter()
        for column, share in zip(table["column"], table["share"], strict=True):
            own[column] += float(share)
        found[source] = dict(own.most_common())
    return found


def mean_shares(several: list[dict[str, dict[str, float]]]) -> dict[str, dict[str, float]]:
    """The mean of `column_shares` over folds, greatest first."""
    found: defaultdict[str, Any] = defaultdict(Counter)
    for shares in several:
        for source, own in shares.items():
            for column, share in own.items():
                found[source][column] += share / len(several)
    return {source: dict(own.most_common()) for source, own in found.items()}


def said(source: str, shares: dict[str, float]) -> str:
    """A sentence on the five columns that count most."""
    some = ", ".join(f"{short(column, 24)} {share:.0%}" for column, share in list(shares.items())[:5])
    rest = len(shares) - 5
    return f"learned metric of {source}: {some}{f', {rest} more columns' if rest > 0 else ''} of the distances"


def check_model(model):
    """A ValueError unless `model` learns kernel weights itself."""
    if not hasattr(model, "kernels"):  # scikit-learn's pipeline or search
        raise ValueError(
            f"model is a {type(model).__name__}, which has no kernel weights itself: give best_estimator_, or the last "
            "step of the pipeline"
        )


def check_plain(model):
    """A ValueError unless `model` learns kernel weights at a given C."""
    check_model(model)
    if isinstance(model, CrossValidated):
        raise ValueError(
            f"model is a {type(model).__name__}, which chooses C in every fit: give its best_estimator_, or an "
            "estimator with the C and the regularizer that it chose."
        )


def kind_of(model: Any) -> str:
    """The kind of problem that a model solves."""
    if is_outlier_detector(model):
        return "one-class"
    if isinstance(model, MKLSurvival):
        return "survival"
    return "classification" if is_classifier(model) else "regression"


def chosen_model(model):
    """The estimator that a fitted `MKLClassifierCV` or `MKLRegressorCV` chose; any other model itself."""
    searched = isinstance(model, CrossValidated) and optional(model, "C_") is not None
    return model.best_estimator_ if searched else model


def chosen_C(model):
    """{"C": the number that the fit of the model chose for C="auto"}, {} for any other model."""
    C = optional(model, "C_")
    return {} if C is None else {"C": C}


def heaviest(size, top=None):
    """The numbers of the positive entries of `size` (M,), the largest first, at most `top`."""
    order = np.argsort(-size, kind="stable")
    return order[size[order] > 0][:top]


def evenly(n, most):
    """At most `most` of the numbers 0 … n − 1, evenly spread, with both ends."""
    return np.unique(np.linspace(0, max(n - 1, 0), min(n, most)).astype(int))


def check_place(i, n, what):
    """A ValueError unless i is the number of one of n."""
    if not isinstance(i, int | np.integer) or not -n <= i < n:
        raise ValueError(f"i={i!r}: give the number of one of {n} {what}.")


def numbers_table(title, first, others, rows):
    """A table for `rich.print`: a column of texts, and columns of numbers."""
    from rich.table import Table
    from rich.text import Text

    table = Table(title=title)
    table.add_column(first)
    for column in others:
        table.add_column(column, justify="right")
    for text, *numbers in rows:
        table.add_row(Text(one_line(text)), *numbers)
    return table


def top_weights(model, top=20):
    """Names, weights and shares of the `top` heaviest kernels, heaviest first.

    Weights lie on the p-norm ball and need not sum to 1; the shares θ / Σθ do. One-vs-rest weights are averaged over
    the classes.
    """
    check_model(model)
    check_is_fitted(model)
    theta = np.mean(np.atleast_2d(model.kernel_weights_), axis=0)
    order = heaviest(theta, top)
    return [model.kernel_names_[m] for m in order], theta[order], theta[order] / (theta.sum() or 1.0)


def weights_table(model: Any, top: int = 20) -> Any:
    """The heaviest kernels of a fitted model: weight, share and cumulative share, for `rich.print`.

    Parameters
    ----------
    model : estimator
        Fitted.
    top : int, default 20
        The largest number of kernels.

    Returns
    -------
    rich.table.Table

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels import MKLClassifier
    >>> from manykernels.inspect import weights_table
    >>> X, y = np.arange(12.0).reshape(6, 2), [0, 0, 0, 1, 1, 1]
    >>> [column.header for column in weights_table(MKLClassifier().fit(X, y)).columns]
    ['kernel', 'weight', 'share', 'cumulative']
    """
    names, weights, shares = top_weights(model, top)
    alive = int(np.any(np.atleast_2d(model.kernel_weights_) > 0, axis=0).sum())
    title = f"{alive} of {len(model.kernel_names_)} kernels have weight; the heaviest {len(names)}"
    rows = zip(names, weights, shares, np.cumsum(shares), strict=True)
    cells = [(name, f"{weight:.4f}", f"{share:.1%}", f"{total:.1%}") for name, weight, share, total in rows]
    return numbers_table(title, "kernel", ("weight", "share", "cumulative"), cells)
