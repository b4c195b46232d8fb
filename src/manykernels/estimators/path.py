"""Regularisation paths: a fit at every C and every regularizer, each with its duality gap."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone

from .._pictures import as_shares, curves, left_out, legend, note, panels
from ..inner.systems import blas_for
from .search import grid_of_C, is_exact, list_of_regularizers
from .shared_kernels import SharedFold, SharedKernels, with_params


@dataclass(frozen=True)
class Path:
    """The result of `path` of an estimator: R regularizers × K ascending values of C, and M kernels.

    Attributes
    ----------
    Cs : (K,)
    regularizers : list of R
    kernel_names : list of M
    weights : (R, K, M), θ; one-vs-rest the mean over the classes
    objective, duality_gap : (R, K), primal objective and relative gap
    n_support, n_iter : (R, K)
    score : (R, K), on `test` if it was given, else on the training examples
    score_on : "test" or "training data"
    """

    Cs: np.ndarray
    regularizers: list[Any]
    kernel_names: list[str] = field(repr=False)
    weights: np.ndarray = field(repr=False)
    objective: np.ndarray = field(repr=False)
    duality_gap: np.ndarray = field(repr=False)
    n_support: np.ndarray = field(repr=False)
    n_iter: np.ndarray = field(repr=False)
    score: np.ndarray = field(repr=False)
    score_on: str = "training data"

    def to_frame(self) -> Any:
        """A pandas DataFrame with a row for each point, R × K, and a column of weights for each kernel."""
        import pandas as pd

        K = len(self.Cs)
        columns: dict[str, Any] = {"regularizer": [str(r) for r in self.regularizers for _ in range(K)]}
        columns |= {"C": np.tile(self.Cs, len(self.regularizers))}
        names = ("objective", "duality_gap", "score", "n_support", "n_iter")
        columns |= {name: vars(self)[name].ravel() for name in names}
        frame = pd.DataFrame(columns | {"n_kernels": (self.weights > 0).sum(axis=2).ravel()})
        weights = pd.DataFrame(self.weights.reshape(len(frame), -1), columns=self.kernel_names)
        return pd.concat([frame, weights], axis=1)

    def plot(self, ax: Any = None, regularizer: int = 0, top: int = 10) -> Any:
        """Shares θ / Σθ of the `top` heaviest kernels and, dashed, the score, against C; returns the axes.

        `regularizer` is the index of the regularizer to show.
        """
        if not 0 <= regularizer < len(self.regularizers):
            raise ValueError(f"regularizer={regularizer} is not in the path: give 0 to {len(self.regularizers) - 1}.")
        ax = panels(ax, 1, 1, (8.0, 3.8))[1][0, 0]
        return self.draw(ax, self.weights[regularizer], self.score[regularizer], self.Cs, "C", top)

    def draw(self, ax, theta, score, x, label, top):
        """Draws shares of weights θ (K, M) and scores (K,) at x (K,); texts x are categories."""
        shares, words = as_shares(theta), x[0] if isinstance(x[0], str) else None
        places = np.arange(len(x)) if words else x
        shown = curves(ax, places, shares, self.kernel_names, top)
        rest = 1.0 - shares[:, shown].sum(axis=1)[shares.any(axis=1)]
        alive = int(shares.any(axis=0).sum())
        note(ax, left_out(len(shown), alive, "kernels", rest.max() if len(rest) else 0.0).replace("hold", "hold up to"))
        ax.set_xlabel(label)
        if words:
            ax.set_xticks(places, x)
        else:
            ax.set_xscale("log")
        right = ax.twinx()
        right.plot(places, score, color="0.35", linestyle="--", marker=".", label="score")
        if np.ptp(score) < 0.02:  # else tiny differences would fill the picture
            right.set_ylim(score.max() - 0.1, score.max() + 0.01)
        right.set_ylabel(f"score on the {self.score_on} (dashed)", color="0.35")
        for one in (ax, right):
            one.spines["top"].set_visible(False)
        legend(ax, 1, shift=1.18)
        return ax


class HasPath:
    """Adds `path` to an estimator that learns from targets."""

    def path(
        self: Any,
        X: Any,
        y: Any,
        *,
        Cs: int | ArrayLike = 10,
        regularizer: Any = None,
        sample_weight: ArrayLike | None = None,
        task: ArrayLike | None = None,
        test: tuple[Any, ...] | None = None,
        covariates: Any = None,
    ) -> Path:
        """The regularisation path: this estimator fitted at every C, for one or several regularizers.

        Kernels are computed once. Each fit starts from the solution at the next greater C and has its own duality gap.
        The estimator does not change, and its C has no effect.

        Parameters
        ----------
        X, y, sample_weight, task, covariates : as in fit
        Cs : the values of C, or their number: log-spaced from 0.01 to 100
        regularizer : None for that of the estimator, a regularizer, or a list such as [1, 4/3, 2]
        test : None, or (X, y) of other examples to score on; (X, y, covariates) if the fits have covariates

        Returns
        -------
        Path
            Arrays over regularizers and C, with `to_frame()` and `plot(ax)`.

        Examples
        --------
        >>> from sklearn.datasets import load_breast_cancer
        >>> from sklearn.preprocessing import scale
        >>> from manykernels import MKLClassifier
        >>> from manykernels.kernels import RBF
        >>> X, y = load_breast_cancer(return_X_y=True)
        >>> model = MKLClassifier([RBF(gamma=g) for g in (0.01, 0.1, 1)], regularizer=1)
        >>> path = model.path(scale(X)[:200], y[:200], Cs=[0.1, 1, 10])
        >>> path.weights.shape, bool((path.duality_gap <= 1e-3).all())
        ((1, 3, 3), True)
        """
        Cs = np.sort(grid_of_C(Cs))
        found = list_of_regularizers(self.regularizer if regularizer is None else regularizer)
        plain = clone(self)
        plain._check_params()
        given = plain._check_data(X, y, sample_weight, task, covariates)
        y, n, covariates, every = given.Y, given.n, given.covariates, np.arange(given.n)
        kernels = SharedKernels(plain, given.X, given.task, covariates, is_exact(found))
        fold, scored_by = SharedFold(kernels, every, every), None if sample_weight is None else given.weight
        score_on, outside = ("training data", None) if test is None else ("test data", _pair(test, covariates))
        shape, weights, solutions = (len(found), len(Cs)), None, None  # type: Any, Any, Any
        numbers = {name: np.zeros(shape) for name in ("objective", "duality_gap", "n_support", "n_iter", "score")}
        for r, value in enumerate(found):
            at, solutions = with_params(plain, regularizer=value), []
            for k in range(len(Cs))[::-1]:  # warm starts save most from the greatest C down
                with blas_for(n, plain.n_jobs):
                    plan, (*_, solutions) = fold.fit(at.set_params(C=float(Cs[k])), y, given.weight, solutions)
                theta = np.atleast_2d(at.kernel_weights_).mean(axis=0)
                weights = np.zeros((*shape, len(theta))) if weights is None else weights
                weights[r, k] = theta
                with blas_for(n, plain.n_jobs):
                    score = fold.scored(at, plan).score(*outside or (fold.X_test, y, scored_by, None, None))
                reached = at.objective_, at.duality_gap_, len(at.support_), at.n_iter_, score
                for name, number in zip(numbers, reached, strict=True):
                    numbers[name][r, k] = number
        for name in ("n_support", "n_iter"):
            numbers[name] = numbers[name].astype(int)
        return Path(Cs, found, list(at.kernel_names_), weights, **numbers, score_on=score_on)


def _pair(test, covariates):
    """The arguments of `score` for the examples `test`."""
    what = "(X, y)" if covariates is None else "(X, y, covariates)"
    if not isinstance(test, tuple | list) or len(test) != what.count(",") + 1:
        raise ValueError(f"test is a {type(test).__name__}: give {what} of other examples.")
    return *test[:2], None, None, *(test[2:] or [None])
