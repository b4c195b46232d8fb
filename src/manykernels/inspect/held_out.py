"""What each source is worth on examples that were held out: left out, permuted, alone."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import is_classifier, is_outlier_detector
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from .._validation import check_integer, check_number
from ..estimators import MKLClassifier, MKLRegressor
from ..estimators.check_inputs import among_themselves
from ..estimators.check_targets import check_weight, make_splits
from ..kernels.pairs import Pairs
from ..kernels.view_data import n_examples
from ._interchangeable import find_groups
from .fold import Fold
from .relevance_result import Relevance
from .sources import read_sources, shared_columns
from .tables import check_model

KEPT = 2**29  # bytes of kernels of all folds that are held until groups are found


def relevance(
    model: Any,
    X: Any,
    y: Any,
    *,
    sources: dict[str, Any] | None = None,
    cv: Any = 5,
    groups: ArrayLike | None = None,
    scoring: str | Callable | None = None,
    sample_weight: ArrayLike | None = None,
    kernels: bool | None = None,
    n_permutations: int = 5,
    level: float = 0.95,
    random_state: Any = 0,
    n_jobs: int | None = None,
    callback: Callable[[int, int], None] | None = None,
) -> Relevance:
    """What each source of a model is worth on held-out examples, with standard errors; a `Relevance`.

    In every fold of a cross-validation the model is fitted on all sources, without each of them (from the solution of
    all on, to the same duality gap) and on each alone; kernels are computed once a fold, widths and scales from its
    training examples. On the held-out examples

        drop      = score of all − score without the source, refitted
        permute   = score of all − score when the rows of the source change places among the held-out examples
        alone     = score of the source by itself
        gain      = alone − score of the source by itself when its rows change places
        relevance = ½ (drop + gain): what the source adds when it comes last and when it comes first, the mean

    Pure noise changes nothing on average when it is permuted, however much a model has made of it, and a model
    without it is as good or better: relevance, permute and gain are about 0, drop is 0 or less. Sources that stand in
    for each other have drops of 0 and gains above 0; `groups` of the result names those whose joint drop is above 0.

    Standard errors are over the J folds, paired: s √(1/J + n_test/n_train), s the standard deviation of the
    differences, corrected for training sets that overlap (Nadeau and Bengio 2003); intervals are Student's, J − 1
    degrees of freedom. They hold for one source; of twenty pure noises one will lie beyond.

    Parameters
    ----------
    model : MKLClassifier, MKLRegressor, or MKLOneClass (with y = 1 and −1 for its inliers and outliers, and scoring);
        fitted or not, it is cloned
    X, y : as in `fit`: arrays, frames, sequences, views, or kernel matrices where kernels="precomputed"; y may hold
        several targets, or labels that may hold together
    sources : {name: kernels}, by their names or numbers, or one of them; None: the kernels of a view, and of one array
        those of the same columns, are a source
    cv : a number of folds or a splitter of scikit-learn, such as RepeatedStratifiedKFold, or an iterable of splits
    groups : (n,) of examples that belong together, such as rows of one patient: folds keep them whole
    scoring : the name of a scorer of scikit-learn or a function (model, X, y); None for accuracy or R²
    sample_weight : (n,), for fits and scores
    kernels : whether each kernel has a row as well; None: where there are at most 50
    n_permutations : orders of the held-out examples, over which `permute` is a mean
    level : of the intervals
    random_state : for the orders
    n_jobs : folds at a time, each in a process of its own
    callback : called after each fold with how many are done, and of how many

    Returns
    -------
    Relevance
        A row for each source and kernel: `table()`, `to_frame()`, `plot()`, `groups`.

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels import MKLClassifier
    >>> from manykernels.inspect import relevance
    >>> from manykernels.kernels import RBF
    >>> X = np.random.default_rng(0).normal(size=(120, 42))
    >>> y = X[:, 0] + X[:, 1] > 0
    >>> model = MKLClassifier([("signal", RBF("scale"), [0, 1]), ("noise", RBF("scale"), slice(2, None))])
    >>> found = relevance(model, X, y)
    >>> [row["name"] for row in found.table()]
    ['signal', 'noise']
    """
    from joblib import Parallel, delayed, effective_n_jobs

    check_model(model)
    if hasattr(model, "Cs"):
        raise ValueError(
            f"model is a {type(model).__name__}, which chooses C in every fit: give its best_estimator_, or an "
            "estimator with the C and the regularizer that it chose."
        )
    check_integer("n_permutations", n_permutations)
    check_number("level", level, 0, 1)
    X = among_themselves(X)
    y, n = _targets(model, y, scoring), n_examples(X)
    if y.ndim not in (1, 2) or len(y) != n:
        raise ValueError(f"y has shape {y.shape} for {n} examples: give one target an example, or a row of them.")
    weight = None if sample_weight is None else check_weight(sample_weight, n)
    examples = X if isinstance(X, Pairs) else np.zeros((n, 1))
    splits = make_splits(cv, examples, y, is_classifier(model), groups)
    rng = check_random_state(random_state)
    orders = [[rng.permutation(len(test)) for _ in range(n_permutations)] for _, test in splits]
    score = scorer_of(model, scoring)

    kept: dict[int, Fold] = {}  # with their kernels, for the joint drops

    def fold(k, every=None):
        return kept[k] if k in kept else Fold(model, X, y, weight, *splits[k], score, every)

    def measure(k):
        here = fold(k)
        if keeps:
            kept[k] = here
        return measure_sources(here, rows, orders[k])

    first = fold(0)
    rows = read_sources(model, first, sources, kernels)
    shared = shared_columns(first.kernel_list, rows)
    keeps = effective_n_jobs(n_jobs) == 1 and 8.0 * first.M * first.n_train**2 * len(splits) <= KEPT
    begun = [measure_sources(first, rows, orders[0])]
    if keeps:
        kept[0] = first
    del first
    found = []
    jobs = [delayed(measure)(k) for k in range(1, len(splits))]
    for measured in chain(begun, Parallel(n_jobs, return_as="generator")(jobs)):
        found.append(measured)
        if callback is not None:
            callback(len(found), len(splits))
    result = Relevance.of(rows, found, level, _name_of(score, scoring))
    result.groups, result.shared = find_groups(result, rows, found, fold, n_jobs), shared
    short = sum(measured["short"] for measured in found)
    if short:
        warnings.warn(
            f"{short} fits stopped above tol={model.tol:g}, the farthest at a gap of {result.gap:.1e}: raise max_iter.",
            ConvergenceWarning,
            stacklevel=2,
        )
    return result


def measure_sources(fold, rows, orders):
    """What one fold has to say of each row, a dict of arrays (rows,), and of all and of no kernels."""
    wanted = [row.wanted for row in rows]
    machines = [fold.every, fold.solve(np.zeros(fold.M, bool))]
    machines += [fold.solve(~mask) for mask in wanted] + [fold.solve(mask) for mask in wanted]
    decisions = fold.decisions(machines)
    scores = np.array([fold.score(f) for f in decisions])
    own = decisions[2 + len(rows) :]
    alignment, between = fold.alignments(wanted)
    return dict(
        all=scores[0], nothing=scores[1], without=scores[2 : 2 + len(rows)], alone=scores[2 + len(rows) :],
        permuted=fold.permuted(wanted, orders).mean(axis=1),
        alone_permuted=np.array([np.mean([fold.score(f[order]) for order in orders]) for f in own]),
        weight=fold.shares(wanted), alignment=alignment, between=between, gap=max(m.gap for m in machines),
        short=sum(not m.converged for m in machines), overlap=fold.n_test / fold.n_train, every=fold.every,
    )  # fmt: skip


def _targets(model, y, scoring):
    if is_outlier_detector(model) and (y is None or scoring is None):
        raise ValueError(
            f"{type(model).__name__} has no score of its own: give y, 1 for inliers and -1 for outliers, and scoring, "
            'such as "roc_auc".'
        )
    if y is None:
        raise ValueError("y=None: relevance is measured by how well y is predicted; give one for each example.")
    return np.asarray(y)


def scorer_of(model, scoring):
    """A function (model, X, y, sample_weight=None): what scikit-learn calls `scoring`, or the model's own."""
    from sklearn.metrics import check_scoring

    if scoring is None and type(model).score is MKLClassifier.score:  # the same, without a thousand checks of y
        return _accuracy
    if scoring is None and type(model).score is MKLRegressor.score:
        return _r2
    return check_scoring(model, scoring=scoring)


def _name_of(score, scoring):
    """What a score is called: that of a metric, a scorer's name, or a function's."""
    if isinstance(scoring, str):
        return scoring
    own = {_accuracy: "accuracy", _r2: "R²"}.get(score)
    metric = getattr(scoring, "_score_func", scoring)  # of what make_scorer gives
    return own or getattr(metric, "__name__", "score").strip("<>")


def _accuracy(model, X, y, sample_weight=None):
    right = model.predict(X) == y
    return np.average(right if right.ndim == 1 else right.all(axis=1), weights=sample_weight)


def _r2(model, X, y, sample_weight=None):
    if len(y) < 2:
        raise ValueError("R² of a single held-out example has no value: take fewer folds, or another scoring.")
    mean = np.average(y, axis=0, weights=sample_weight)
    spread, left = (np.average((y - f) ** 2, axis=0, weights=sample_weight) for f in (mean, model.predict(X)))
    return np.mean(np.where(spread > 0, 1.0 - left / np.where(spread > 0, spread, 1.0), left == 0))
