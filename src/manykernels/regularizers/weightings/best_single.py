from heapq import heappop, heappush

import numpy as np
from numpy import ndarray

from ..._callers import warn
from ..._validation import check_integer
from ...banks.base import Bank
from ...losses.base import Loss
from .base import TwoStage, solve_single

_PREDICTOR_TOL = 1e-3  # gap of the predictors that the rule compares
_FITS = 50  # of them share the work that one fit may take; it matters if C is so large that no predictor converges


class BestSingle(TwoStage):
    """The best kernel alone, by cross-validation.

    All weight on the kernel whose predictor alone has the lowest mean held-out loss over `cv` folds.

    A loss is at least 0, so that a kernel whose loss in some folds exceeds that of the best kernel in all folds is not
    fitted in its other folds.

    Example k of each class (of all, for real targets) is in fold k mod cv, where copies count as separate examples.

    Parameters
    ----------
    cv : int, default 5
        The number of folds, at least 2 and at most the size of the smallest class.

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels.banks import DenseBank
    >>> from manykernels.losses import Hinge
    >>> from manykernels.weighting import BestSingle
    >>> y = np.array([1.0, -1.0, 1.0, -1.0])
    >>> bank = DenseBank(np.stack([np.outer(y, y), np.eye(4)], axis=2))
    >>> BestSingle(cv=2).bind(bank, y, 1.0, Hinge())[0]
    Fixed(weights=[1., 0.])
    """

    file_tag = ("weighting/best_single", 1)

    def __init__(self, cv: int = 5) -> None:
        self.cv = check_integer("cv", cv, 2)

    def weights(
        self, bank: Bank, Y: ndarray, c: ndarray, loss: Loss | None = None, intercept: bool = True, C: float = 1.0
    ) -> ndarray:
        if loss is None:
            raise ValueError("BestSingle needs the loss to compare kernels by: bind(bank, Y, c, loss)")
        rows = np.flatnonzero((c > 0).any(axis=0))
        folds = self._folds(Y[:, rows], loss.targets == "binary" or set(np.unique(Y)) <= {-1.0, 1.0})
        done, gaps, last = np.zeros(bank.M, int), np.zeros(bank.M), -1
        race = [(0.0, m) for m in np.flatnonzero(bank.usable).tolist()]  # (risk so far, kernel): the least goes on
        while race and done[race[0][1]] < self.cv:
            risk, m = heappop(race)
            if m != last:
                last, K = m, bank.combined(np.eye(1, bank.M, m)[0], rows, rows, dtype=np.float64)
            part, gap = _held_out(K, Y[:, rows], c[:, rows], folds == done[m], loss, intercept)
            done[m], gaps[m] = done[m] + 1, max(gaps[m], gap)
            heappush(race, (risk + part if np.isfinite(part) else np.inf, m))
        _warn_unsolved(self, bank, gaps)
        return np.eye(1, bank.M, race[0][1])[0] if race else np.zeros(bank.M)

    def _folds(self, Y, stratify):
        labels = np.unique(Y, axis=1, return_inverse=True)[1].ravel() if stratify else np.zeros(Y.shape[1], int)
        least = np.bincount(labels).min()
        if least < self.cv:
            what = "the smallest class has" if stratify else "there are"
            raise ValueError(f"cv={self.cv} folds are too many: {what} {least} examples; lower cv")
        folds = np.empty(len(labels), int)
        for label in range(labels.max() + 1):
            folds[labels == label] = np.arange(np.sum(labels == label)) % self.cv
        return folds


def _held_out(K, Y, c, test, loss, intercept):
    """(Σ c V over the test examples, the gap) of the predictor learned on the others."""
    found = solve_single(K[np.ix_(~test, ~test)], Y[:, ~test], c[:, ~test], loss, intercept, _PREDICTOR_TOL, _FITS)
    f = found.a @ K[np.ix_(~test, test)] + found.b[:, None]
    return sum(float(w[test] @ loss.value(y[test], f_t)) for y, w, f_t in zip(Y, c, f, strict=True)), found.gap


def _warn_unsolved(rule, bank, gaps):
    """Warns about compared predictors that did not converge; `duality_gap_` does not cover them."""
    short = np.flatnonzero(~(gaps <= _PREDICTOR_TOL))
    if short.size:
        worst = short[np.argmax(np.nan_to_num(gaps[short], nan=np.inf))]
        warn(
            f"regularizer={rule!r} compares kernels by predictors that stopped short of a duality gap "
            f"of {_PREDICTOR_TOL:g} for {short.size} of them ({bank.names[worst]!r}: {gaps[worst]:.2g}), so that its "
            "choice is less certain: lower C, or rescale these kernels"
        )
