"""The relevance of each source on held-out examples: left out, permuted, alone."""

from collections.abc import Callable
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone, is_classifier, is_outlier_detector
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from .. import losses
from .._callers import warn
from .._validation import check_integer, check_number
from ..estimators import MKLClassifier, MKLRegressor, MKLSurvival
from ..estimators.check_inputs import open_annotated, optional
from ..estimators.check_targets import check_weight, make_splits
from ..estimators.check_views import among_themselves
from ..estimators.covariates import Covariates, check_covariates
from ..estimators.survival_times import read_times
from ..kernels.pairs import Pairs
from ..kernels.view_data import n_examples
from .fold import Fold
from .relevance_result import Group, Relevance
from .sources import overlapping_sources, read_sources, shared_columns, together
from .tables import check_plain, chosen_C, column_shares

MAX_KEPT_BYTES = 2**29  # of the kernels of all folds, kept until groups are found
MAX_REFIT_ENTRIES = 2**26  # of the kernels of all folds, up to which all sources are refitted by default
MAX_REFITS = 200  # fits that compute kernels anew, by default
MIN_REFITTED = 3  # sources that are refitted, whatever the number of folds
MAX_CANDIDATES = 20  # sources
NEVER_JOINED = -1e3  # in place of the alignment of sources that share kernels


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
    refits: int | None = None,
    level: float = 0.95,
    random_state: Any = 0,
    n_jobs: int | None = None,
    callback: Callable[[int, int], None] | None = None,
    covariates: Any = None,
) -> Relevance:
    """The relevance of each source of a model on held-out examples, with standard errors; a `Relevance`.

    In every fold of a cross-validation the model is fitted on all sources, without each source (started from the
    solution of all, to the same duality gap) and on each source alone. Each fold computes its kernels once, with widths
    and scales from its training examples. On the held-out examples

        drop      = score of all − score without the source, refitted
        permute   = score of all − score with the rows of the source permuted among the held-out examples
        alone     = score of the source by itself
        gain      = alone − score of the source by itself with its rows permuted
        relevance = ½ (drop + gain): the mean of what the source adds as the last and as the first source

    Permuting pure noise changes no score on average, whatever its weight, and a model without it is as good or better:
    relevance, permute and gain are about 0, drop is 0 or less. Interchangeable sources have drops of 0 and gains above
    0; `groups` of the result lists sets of them whose joint drop is above 0.

    Standard errors are paired over the J folds: s √(1/J + n_test/n_train) with the standard deviation s of the
    differences, corrected for overlapping training sets (Nadeau and Bengio 2003). Intervals are Student's, with J − 1
    degrees of freedom. They hold for one source at a time: of twenty sources of pure noise, expect one outside.

    Parameters
    ----------
    model : MKLClassifier, MKLRegressor, MKLSurvival, or MKLOneClass (with y = 1 and −1 for its inliers and outliers,
        and scoring); fitted or not; it is cloned
    X, y : as in `fit`: arrays, frames, sequences, views, or kernel matrices if kernels="precomputed"; y may hold
        several targets or labels
    sources : {name: kernels}, with names or indices of kernels; None: the kernels of a view are a source, or, in one
        table, the kernels of the same columns; where kernels of a table share columns, the columns are the sources, or
        the smallest sets of columns that kernels see, each taken away from every kernel that sees it
    cv : a number of folds, a splitter of scikit-learn, such as RepeatedStratifiedKFold, or an iterable of splits
    groups : (n,), labels of examples that belong together, such as rows of one patient: folds keep groups whole; with
        no more groups than folds, such as a few sites, each group is held out in turn; a column of obs by its name
    scoring : the name of a scorer of scikit-learn or a function (model, X, y); None for `score` of the model: accuracy,
        R² or concordance
    sample_weight : (n,), for fits and scores
    kernels : whether each kernel has a row too; None: if there are at most 50
    n_permutations : the number of permutations that `permute` averages over
    refits : the number of sources, and of kernels, that are also left out and tried alone, those with the largest
        `permute` first; of the others only `permute` and `weight` are measured. 0: no fits besides those of the folds.
        None: all; of columns, and of many kernels on many examples, such as hundreds of gene sets (folds × kernels ×
        examples² above 2²⁶), as many as some 200 fits allow, at least three
    level : of the intervals
    random_state : for the permutations
    n_jobs : folds in parallel, in separate processes
    callback : called after each fold with the number of finished folds and their total
    covariates : (n, q), as in `fit`: every fit adjusts for them, those without a source too, and permutations move
        only what they do not explain, so that the relevance of a source is what it is worth beyond them

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
    if refits is not None:
        check_integer("refits", refits, 0)
    check_number("level", level, 0, 1)
    examples = X, y, covariates, groups, sample_weight
    fold, orders, names = read_folds(model, examples, cv, scoring, n_permutations, random_state)
    first = fold(0)
    rows = read_sources(model, first, sources, kernels)
    shared, overlapping = shared_columns(first, rows), overlapping_sources(first, rows)
    anew = rows[0].columns is not None or float(first.M) * first.n_train**2 * len(orders) > MAX_REFIT_ENTRIES
    many = most_refits(len(orders)) if refits is None and anew else refits
    kept = {0: first}
    del first
    result = measure_rows(rows, fold, kept, orders, many, level, name_of(scoring, model), n_jobs, callback)
    result.shared, result.overlapping, result.covariates = shared, overlapping, names
    if result.short:
        warn(
            f"{result.short} fits stopped above tol={model.tol:g}, the farthest at a gap of {result.gap:.1e}: raise "
            "max_iter.",
            ConvergenceWarning,
        )
    return result


def read_folds(
    model: Any, examples: tuple, cv: Any, scoring: Any, n_permutations: int, random_state: Any, kind: type[Fold] = Fold
) -> tuple[Callable, list, list[str]]:
    """(the folds of a model as fold(k, every=None), the orders of the held-out examples, the names of covariates).

    `examples` are X, y, covariates, groups and sample_weight.
    """
    X, y, covariates, groups, sample_weight = examples
    check_plain(model)
    check_integer("n_permutations", n_permutations)
    X, y, covariates, groups, sample_weight = open_annotated(
        X, y, covariates, groups=groups, sample_weight=sample_weight
    )
    X = among_themselves(X)
    y, n = targets(model, y, scoring), n_examples(X)
    if y.ndim not in (1, 2) or len(y) != n:
        raise ValueError(f"y has shape {y.shape} for {n} examples: give one target per example, or a row of targets.")
    weight = None if sample_weight is None else check_weight(sample_weight, n)
    Z = covariates_for(model, covariates, n, weight)
    splits = make_splits(cv, X if isinstance(X, Pairs) else np.zeros((n, 1)), y, is_classifier(model), groups)
    rng, score = check_random_state(random_state), scorer_of(model, scoring)
    orders = [[rng.permutation(len(test)) for _ in range(n_permutations)] for _, test in splits]
    own = clone(model).set_params(**chosen_C(model))  # C="auto" is chosen once, on all examples

    def fold(k, every=None):
        return kind(own, X, y, weight, *splits[k], score, every, Z)

    return fold, orders, [] if Z is None else list(Z.columns)


def covariates_for(model: Any, given: Any, n: int, weight: np.ndarray | None = None) -> Covariates | None:
    """The covariates of all examples; a ValueError if the model was fitted with covariates and none are given."""
    known = optional(model, "covariate_columns_")
    if given is None and known is not None:
        raise ValueError(
            f"the model was fitted with the covariates {', '.join(map(repr, known))}: give covariates=, as in fit."
        )
    return None if given is None else check_covariates(given, n, np.ones(n) if weight is None else weight)


def most_refits(folds: int) -> int:
    """The number of sources of columns that are left out, tried alone and joined by default."""
    return max(MAX_REFITS // (3 * folds), MIN_REFITTED)


def measure_rows(
    rows: list[Any], fold: Callable, kept: dict[int, Fold], orders: list, refits: int | None, level: float = 0.95,
    scoring: str = "score", n_jobs: int | None = None, callback: Callable[[int, int], None] | None = None,
) -> Relevance:  # fmt: skip
    """The `Relevance` of these rows in the folds fold(k, every=None), of which some are `kept`.

    All rows are permuted. `refits` rows of each kind, those with the largest mean of permute, are left out and tried
    alone; None for all. Folds stay in `kept` for the refits and the joint drops, if they are small.
    """
    from joblib import Parallel, delayed, effective_n_jobs

    folds, found = len(orders), []
    if 0 not in kept:
        kept[0] = fold(0)
    keeps = effective_n_jobs(n_jobs) == 1 and small_enough(kept[0], folds)
    some = np.arange(0 if refits == 0 else len(rows))
    at_once = not refits or max(sum(row.kind == kind for row in rows) for kind in ("source", "kernel")) <= refits

    def again(k, fit=None):
        return kept[k] if k in kept else fold(k, fit)

    def measure(k):
        here = again(k)
        if keeps:
            kept[k] = here
        return shuffled(here, rows, orders[k]) | (refitted(here, rows, some, orders[k]) if at_once else {})

    begun = [measure(0)]
    if not keeps:
        kept.clear()
    jobs = [delayed(measure)(k) for k in range(1, folds)]
    for measured in chain(begun, Parallel(n_jobs, return_as="generator")(jobs)):
        found.append(measured)
        if callback is not None:
            callback(len(found), folds)
    if not at_once:
        worth = np.mean([one["all"] - one["permuted"] for one in found], axis=0)
        ranked = np.argsort(-worth, kind="stable")
        best = [[k for k in ranked if rows[k].kind == kind][:refits] for kind in ("source", "kernel")]
        chosen = np.sort(sum(best, [])).astype(int)

        def refit(k):
            return refitted(again(k, found[k]["every"]), rows, chosen, orders[k])

        for one, more in zip(found, Parallel(n_jobs)(delayed(refit)(k) for k in range(folds)), strict=True):
            one |= more  # gap and short include the fit of all kernels
    result = Relevance.of(rows, found, level, scoring)
    result.groups = find_groups(result, rows, found, again, n_jobs)
    return result


def find_groups(result: Any, rows: list, found: list[dict], fold: Any, n_jobs: int | None) -> list[Group]:
    """The smallest sets of sources whose joint drop is above 0 and above the sum of their single drops, by intervals.

    Candidates have gains above 0 and no drop. They are joined by alignment, the best aligned first, and each join is
    tested by a fit without its members, until one passes. Sources that share kernels, such as the drugs' and the
    targets' sides of products, are not joined, since the shared kernels make them alike.
    """
    from joblib import Parallel, delayed

    sources = np.array([m for m, row in enumerate(rows) if row.kind == "source"])
    own, gain = result.measure("drop"), result.measure("gain")
    chosen = [m for m in sources if own.low[m] <= 0 < gain.low[m]]
    chosen = sorted(sorted(chosen, key=lambda m: -gain.mean[m])[:MAX_CANDIDATES])
    if len(chosen) < 2:
        return []
    between = np.mean([measured["between"] for measured in found], axis=0)[np.ix_(chosen, chosen)]
    masks = np.array([rows[m].wanted for m in chosen])
    joins = _joins(np.where(masks @ masks.T, NEVER_JOINED, between))
    joins = [(members, near) for members, near in joins if masks[members].sum(axis=0).max() == 1]
    if not joins:
        return []
    joint = [together([rows[chosen[i]] for i in members]) for members, _ in joins]

    def scores(k):
        here = fold(k, found[k]["every"])
        return [here.score(f) for _, f, _ in here.refits(joint)]

    without = np.array(Parallel(n_jobs)(delayed(scores)(k) for k in range(len(found))))  # (J, joins)
    whole = np.array([measured["all"] for measured in found])
    groups: list[Group] = []
    done: set[int] = set()
    for (members, alignment), scored in zip(joins, without.T, strict=True):
        if done & set(members):
            continue
        lost = whole - scored
        single = np.sum([result.differences("drop")[:, chosen[i]] for i in members], axis=0)
        spread, excess = (result.spread(values[:, None]) for values in (lost, lost - single))
        if spread.low[0] > 0 and excess.low[0] > 0:
            done |= set(members)
            names = [rows[chosen[i]].name for i in members]
            drop, se, low, high = (float(values[0]) for values in spread)
            groups.append(Group(names, drop, se, low, high, alignment))
    return groups


def _joins(between):
    """[(members, mean alignment)] of the joins of average linkage, the best aligned first."""
    from scipy.cluster.hierarchy import linkage
    from scipy.spatial.distance import squareform

    distance = np.maximum(1.0 - between, 0.0)
    np.fill_diagonal(distance, 0.0)
    members = [[i] for i in range(len(between))]
    joins = []
    for left, right, far, _ in linkage(squareform(distance, checks=False), "average"):
        members.append(sorted(members[int(left)] + members[int(right)]))
        joins.append((members[-1], float(1.0 - far)))
    return joins


def small_enough(fold, folds):
    """Whether this many folds can stay in memory with their kernels."""
    return fold.kernel_bytes() * folds <= MAX_KEPT_BYTES


def shuffled(fold, rows, orders):
    """The measurements of one fold without refits: arrays (rows,), and the scores of all and of no kernels."""
    scores = [fold.score(f) for f in fold.ends]
    lost = scores[0] - fold.permuted(rows, orders)  # the mean of equal scores may differ from them by rounding
    return dict(
        all=scores[0], nothing=scores[1], permuted=scores[0] - lost.mean(axis=1),
        weight=fold.shares([row.wanted for row in rows]), overlap=fold.n_test / fold.n_train, every=fold.every,
        gap=fold.every.gap, short=int(not fold.every.converged), metric=column_shares(fold.plan.metric),
    )  # fmt: skip


def refitted(fold, rows, chosen, orders):
    """The measurements of one fold by refits of the rows `chosen`: a dict of arrays (rows,), NaN for other rows."""
    some = [rows[k] for k in chosen]
    without, alone = fold.refits(some), fold.refits(some, alone=True)
    machines = [fold.every, *(one[0] for one in (*without, *alone))]
    alignment, between = fold.alignments([flat for _, _, flat in alone])
    values = dict(
        without=[fold.score(f) for _, f, _ in without], alone=[fold.score(f) for _, f, _ in alone], alignment=alignment,
        alone_permuted=[np.mean([fold.score(fold.adjustment.moved(f, m.b, o)) for o in orders]) for m, f, _ in alone],
    )  # fmt: skip
    found: dict[str, Any] = {key: np.full(len(rows), np.nan) for key in values}
    for key, own in values.items():
        found[key][chosen] = own
    if len(chosen):
        found["between"] = np.full((len(rows), len(rows)), np.nan)
        found["between"][np.ix_(chosen, chosen)] = between
    return found | dict(gap=max(m.gap for m in machines), short=sum(not m.converged for m in machines))


def targets(model, y, scoring):
    """The targets as an array; a ValueError if there are none."""
    if is_outlier_detector(model) and (y is None or scoring is None):
        raise ValueError(
            f"{type(model).__name__} has no method score: give y, 1 for inliers and -1 for outliers, and scoring, "
            'such as "roc_auc".'
        )
    if y is None:
        raise ValueError("y=None: relevance measures how well y is predicted; give a target for each example.")
    return read_times(y) if isinstance(model, MKLSurvival) else np.asarray(y)


def scorer_of(model, scoring):
    """The scorer (model, X, y, sample_weight=None) of scikit-learn's `scoring`, or of the model's `score`."""
    from sklearn.metrics import check_scoring

    if scoring is None and type(model).score is MKLClassifier.score:  # the same score, without checks of y
        return _accuracy
    if scoring is None and type(model).score is MKLRegressor.score and not losses.get(model.loss).own_score:
        return _r2
    if isinstance(scoring, str) and scoring == "roc_auc" and is_classifier(model):
        return _roc_auc
    return check_scoring(model, scoring=scoring)


def name_of(scoring, model):
    """The name of a score: of a metric, a scorer, a function or the loss of the model."""
    if isinstance(scoring, str):
        return scoring
    own = own_measure(model) if scoring is None and not is_outlier_detector(model) else ""
    metric = getattr(scoring, "_score_func", scoring)  # scikit-learn's scorer
    return own or getattr(metric, "__name__", "score").strip("<>")  # the user's function


def own_measure(model: Any) -> str:
    """The name of what `score` of a classifier or regressor measures."""
    return "accuracy" if is_classifier(model) else losses.get(model.loss).own_score or "R²"


def _accuracy(model, X, y, sample_weight=None):
    right = model.predict(X) == y
    return np.average(right if right.ndim == 1 else right.all(axis=1), weights=sample_weight)


def _roc_auc(model, X, y, sample_weight=None):
    """The share of pairs of both classes in the right order, equal decisions as half; as scikit-learn, but faster."""
    from scipy.stats import rankdata
    from sklearn.metrics import get_scorer

    f, y = model.decision_function(X), np.asarray(y)
    if f.ndim > 1 or y.ndim > 1 or sample_weight is not None or len(model.classes_) != 2:
        extra = {} if sample_weight is None else {"sample_weight": sample_weight}
        return get_scorer("roc_auc")(model, X, y, **extra)
    second = y == model.classes_[1]
    many, pairs = second.sum(), second.sum() * (~second).sum()
    return (rankdata(f)[second].sum() - many * (many + 1) / 2) / pairs if pairs else np.nan


def _r2(model, X, y, sample_weight=None):
    if len(y) < 2:
        raise ValueError("R² of a single held-out example has no value: take fewer folds, or another scoring.")
    mean = np.average(y, axis=0, weights=sample_weight)
    spread, left = (np.average((y - f) ** 2, axis=0, weights=sample_weight) for f in (mean, model.predict(X)))
    return np.mean(np.where(spread > 0, 1.0 - left / np.where(spread > 0, spread, 1.0), left == 0))
