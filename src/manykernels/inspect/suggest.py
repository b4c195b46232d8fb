"""Sparse or dense mixing of kernels, judged by alignments and a small cross-validated path.

A sparse mixture is better if few kernels are informative or many hold the same information, a dense one if many hold
different information (Kloft et al. 2011, Sections 6 and 7). A sample cannot decide for sure, so the suggestion comes
with its evidence.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..estimators import MKLClassifierCV, MKLRegressorCV
from ..estimators.check_inputs import open_annotated, take_examples
from ..estimators.check_targets import make_splits
from ..estimators.check_views import among_themselves
from ..estimators.plan import bank_of
from ..estimators.search import grid_of_C
from ..estimators.shared_kernels import views_or
from ..inner.systems import blas_for
from ..kernels.view_data import n_examples
from .displays.alignment_display import aligned, target_rows
from .relevance_result import spread_of

NORMS = (1.0, 4 / 3, 2.0, np.inf)
MAX_COMPARED_KERNELS = 40  # the best aligned ones


@dataclass(frozen=True)
class Suggestion:
    """The result of `suggest`.

    Parameters
    ----------
    mixing : "sparse", "dense" or "either", if the scores are too close
    p : the p of the best mean score, which need not be significantly better than the others
    ps, scores, errors : (R,), the norms, their best mean score over C, and its standard error over the folds
    Cs : (R,), the C of the best score
    difference, error : the mean score of the best p ≥ 2 minus that of p = 1 over the folds, and its standard error
    alignments : (M,), centred alignment of each kernel with the targets
    kernel_names : list of M
    informative : the effective number of aligned kernels, (Σ a)² / Σ a², from 1 to M
    redundancy : mean centred alignment between the best aligned kernels, at most 40; near 1 they are redundant
    kept : the number of kernels with weight at p = 1

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels.inspect import suggest
    >>> from manykernels.kernels import RBF, per_column
    >>> X = np.random.default_rng(0).standard_normal((90, 4))
    >>> found = suggest(X, X.sum(axis=1), per_column(RBF(gamma=0.5), 4), Cs=[10], cv=3)
    >>> found.ps.tolist() == [1.0, 4 / 3, 2.0, np.inf], found.scores.shape
    (True, (4,))
    """

    mixing: str
    p: float
    ps: np.ndarray
    scores: np.ndarray
    errors: np.ndarray
    Cs: np.ndarray
    difference: float
    error: float
    alignments: np.ndarray
    kernel_names: list[str]
    informative: float
    redundancy: float
    kept: int

    def __str__(self) -> str:
        lines = ["    p      C    score"]
        lines += [
            f"{p:5.3g} {C:6.3g}   {s:.4f} ± {e:.4f}"
            for p, C, s, e in zip(self.ps, self.Cs, self.scores, self.errors, strict=True)
        ]
        verdict = {
            "sparse": "Sparse mixing (p = 1) scored better",
            "dense": f"Dense mixing (p = {self.p:.3g}) scored better",
            "either": "Sparse and dense mixing scored alike",
        }[self.mixing]
        times = f", {abs(self.difference) / self.error:.1f} standard errors" if 0 < self.error < np.inf else ""
        return "\n".join([
            f"{verdict}: dense less sparse is {self.difference:+.4f} ± {self.error:.4f} over the same folds{times}.",
            *lines,
            f"Alignment with the targets is spread over {self.informative:.1f} of {len(self.alignments)} kernels; the "
            f"best aligned have a mean alignment of {self.redundancy:.2f} with each other; p = 1 keeps {self.kept}.",
            "This is what one sample says, not a promise: cross-validate what you choose.",
        ])  # fmt: skip

    def to_frame(self) -> Any:
        """A pandas DataFrame with a row for each p: C, score, standard error."""
        import pandas as pd

        return pd.DataFrame({"p": self.ps, "C": self.Cs, "score": self.scores, "error": self.errors})


def suggest(
    X: Any,
    y: ArrayLike,
    kernels: Any = "auto",
    *,
    Cs: Any = (0.1, 1.0, 10.0),
    cv: Any = 5,
    scoring: Any = None,
    groups: ArrayLike | None = None,
    max_examples: int = 1000,
    random_state: Any = 0,
    regression: bool | None = None,
    **options: Any,
) -> Suggestion:
    """Whether sparse or dense mixing of these kernels scores better on held-out examples, with the evidence.

    Mixtures of p = 1, 4/3, 2 and ∞ are compared on the same folds, each at its best C. The suggestion is dense (p ≥ 2)
    or sparse (p = 1) if the mean difference between the two exceeds its standard error, else "either". Standard errors
    are corrected for overlapping training sets, as in `relevance`. Alignments explain the result; they decide nothing.

    Parameters
    ----------
    X, y : the data
    kernels : as in `MKLClassifier`
    Cs, cv, scoring, groups : as in `MKLClassifierCV`; scoring=None is the area under the ROC curve for two classes
    max_examples : the size of a random sample, if there are more examples
    random_state : for the sample
    regression : whether y holds values, not classes; None: values if y has decimals, or if it has floats with more
        different values than 20 and than a tenth of the examples
    **options : other parameters of `MKLClassifierCV` or `MKLRegressorCV`

    Returns
    -------
    Suggestion
        `print` it, or read its attributes.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> from manykernels.inspect import suggest
    >>> from manykernels.kernels import RBF, per_column
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> found = suggest(scale(X)[:150], y[:150], per_column(RBF(gamma=0.5), 5), Cs=[1], cv=3)
    >>> found.mixing in ("sparse", "dense", "either"), found.alignments.shape
    (True, (5,))
    """
    from sklearn.utils import check_random_state
    from sklearn.utils.multiclass import type_of_target

    X, y, _, groups = open_annotated(X, y, None, groups=groups)
    X = among_themselves(X)
    y, n = np.asarray(y), n_examples(X)
    y = y[:, 0] if y.ndim == 2 and y.shape[1] == 1 else y
    if n > max_examples:
        rows = np.sort(check_random_state(random_state).permutation(n)[:max_examples])
        square = isinstance(kernels, str) and kernels == "precomputed"
        X, y = X[np.ix_(rows, rows)] if square else take_examples(X, rows), y[rows]
        groups = None if groups is None else np.asarray(groups)[rows]
    target = type_of_target(y)
    if regression is None:
        values = np.asarray(y)
        many = values.dtype.kind == "f" and len(np.unique(values)) > max(20, len(values) / 10)
        regression = target.startswith("continuous") or many
    real = bool(regression)
    scoring = "roc_auc" if scoring is None and target == "binary" and not real else scoring
    cls = MKLRegressorCV if real else MKLClassifierCV
    splits = make_splits(cv, views_or(X), y, not real, groups)
    model = cls(kernels, Cs=grid_of_C(Cs), regularizer=list(NORMS), cv=splits, scoring=scoring, **options).fit(X, y)
    return _read(model, X, y, real, float(np.mean([len(test) / len(train) for train, test in splits])))


def _read(model, X, y, real, overlap):
    """The `Suggestion` of a fitted search whose folds have n_test / n_train = `overlap`."""
    R, results = len(NORMS), model.cv_results_
    scores = np.array([results[f"split{k}_test_score"] for k in range(model.n_splits_)]).T.reshape(
        -1, R, model.n_splits_
    )
    best = scores.mean(axis=2).argmax(axis=0)  # of C, for each p
    scores = scores[best, np.arange(R)]
    mean = scores.mean(axis=1)
    dense = 2 + int(np.argmax(mean[2:]))
    apart = scores[dense] - scores[0]
    difference, error = float(apart.mean()), float(_errors(apart[None], overlap)[0])
    mixing = "either" if abs(difference) <= error else "dense" if difference > 0 else "sparse"
    path = model.path(X, y, Cs=[float(model.Cs_[best[0]])], regularizer=1)
    with blas_for(len(y), model.n_jobs):
        alignments, redundancy = _alignments(model, X, y, real)
    a = np.maximum(alignments, 0.0)
    return Suggestion(
        mixing, float(NORMS[int(np.argmax(mean))]), np.array(NORMS), mean, _errors(scores, overlap),
        model.Cs_[best], difference, error, alignments, list(model.kernel_names_),
        float(a.sum() ** 2 / (a @ a)) if a.any() else 0.0, redundancy, int((path.weights > 0).sum()),
    )  # fmt: skip


def _errors(scores, overlap):
    """Standard errors of the means over the folds of scores (R, J), corrected as in `relevance`."""
    se = spread_of(scores.T, overlap, 0.95).se
    return np.where(np.isnan(se), np.inf, se)


def _alignments(model, X, y, real):
    """(centred alignments with the targets (M,), their mean between the best aligned kernels)."""
    found, which, between = aligned(bank_of(model.best_estimator_, X), target_rows(y, not real), MAX_COMPARED_KERNELS)
    pairs = len(which) * (len(which) - 1)
    return found, float((between.sum() - np.trace(between)) / pairs) if pairs else 1.0
