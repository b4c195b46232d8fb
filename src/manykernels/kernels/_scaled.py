"""Kernels with a `gamma`, a number or a rule; the rules are widths that adapt to the columns."""

from numbers import Real
from typing import Any

import numpy as np
import scipy.sparse as sp

from .._validation import check_number, shown
from .base import Kernel

MAX_ROWS_FOR_UNIQUE = 20_000  # of more examples, equal ones are merged in a sample only
FEW_COLUMNS = 64  # of more, BLAS computes the distances
SORTED_SAMPLE = 2000  # values that say where the median lies
MIDDLE = 0.45, 0.55  # the shares of the weight between which the median of all lies, almost always


class ScaledKernel(Kernel):
    """A kernel with a parameter `gamma`: a number, or a rule that computes it from the weighted training examples.

    None is 1/n_features, "scale" 1/(n_features · variance of X), and, for kernels of a distance, "median" 1/the median
    distance between examples, all of the columns that the kernel sees. `resolve` puts in the number.
    """

    gamma: Any  # a number after `resolve`

    def check_state(self) -> None:
        super().check_state()
        if self.gamma is not None and self.gamma not in ("scale", "median"):
            self.resolve(None)

    def learns(self) -> str:
        return {"scale": "moments", "median": "data"}.get(self.gamma, "") if isinstance(self.gamma, str) else ""

    def resolve(self, X: Any, weights: np.ndarray | None = None) -> Kernel:
        if isinstance(self.gamma, float | Real) and not isinstance(self.gamma, bool):
            check_number("gamma", self.gamma, of=self)
            return self
        if self.gamma is None:
            gamma = 1.0 / max(X.shape[1], 1)
        elif isinstance(self.gamma, str) and self.gamma == "scale":
            with np.errstate(over="ignore", invalid="ignore"):
                variance = _variance(X, weights)
                whole = np.float64(X.shape[1] * variance)
                gamma = 1.0 / whole if variance > 0 else 1.0
            if not (np.isfinite(whole) and np.isfinite(gamma)):
                size = f"{variance:.0e}" if np.isfinite(whole) else "too large"
                raise ValueError(
                    f'gamma="scale" of {type(self).__name__} has no value, the variance of X is {size}: rescale X, for '
                    "example with StandardScaler()."
                )
        elif isinstance(self.gamma, str) and self.gamma == "median" and self.base in ("sqdist", "l1"):
            gamma = 1.0 / median_between(X, weights, self.base)
        else:
            median = ', "scale" or "median".' if self.base in ("sqdist", "l1") else ' or "scale".'
            raise ValueError(
                f"gamma={shown(self.gamma)} of {type(self).__name__} must be a number, None (1 / number of columns)"
                f"{median}"
            )
        found = object.__new__(type(self))  # `copy` takes ten times the calls, in a list of many kernels
        found.__dict__.update(vars(self), gamma=float(gamma))
        return found


def _variance(X, weights):
    """The variance of the entries of X (n, d) with weighted examples; 0 if all are equal, without any rounding."""
    X = X.astype(float) if sp.issparse(X) else X  # a copy, since `min` sorts the entries of an unsorted one in place
    if 0 not in X.shape and X.min() == X.max():
        return 0.0
    if weights is None and not sp.issparse(X):
        return np.var(X, dtype=float)
    w = np.ones(X.shape[0]) if weights is None else weights
    w = w / (w.sum() * X.shape[1])
    if sp.issparse(X):  # by distances from the mean: a difference of mean squares loses digits far from 0
        X = sp.csr_array(X)
        X.sum_duplicates()
        mean = w @ X.sum(axis=1)
        squares = sp.csr_array(((X.data - mean) ** 2, X.indices, X.indptr), shape=X.shape).sum(axis=1)
        return w @ (squares + (X.shape[1] - np.diff(X.indptr)) * mean**2)
    return w @ np.sum((X - w @ np.sum(X, axis=1, dtype=float)) ** 2, axis=1, dtype=float)


def median_between(x, weights=None, base="sqdist", sample=500):
    """The median of ‖x−y‖² (base "sqdist") or ‖x−y‖₁ ("l1") over pairs of different examples, 1 if there are none.

    x (n, d) are numbers. Equal examples count as one with their summed weight, and a pair has the product of its two
    weights. At most `sample` examples are compared, taken at even steps of the cumulated weight.
    """
    w = np.ones(x.shape[0]) if weights is None else np.asarray(weights, float)
    sparse = sp.issparse(x)
    if x.shape[0] > (sample if sparse else MAX_ROWS_FOR_UNIQUE):
        x, w = _spread(x, w, sample)
    x = np.asarray(x.toarray() if sparse else x, float) + 0.0  # −0 is 0
    keep = np.logical_and.reduce(np.isfinite(x), axis=1) & (w > 0)
    x, w = x[keep], w[keep]
    if len(x) < 2:
        return 1.0
    rows = np.ascontiguousarray(x).view(f"V{8 * x.shape[1]}").ravel()
    _, first, which = np.unique(rows, return_index=True, return_inverse=True)
    x, w = _spread(x[first], np.bincount(which, w), sample)
    size = np.maximum.reduce(np.abs(x), axis=None) or 1.0
    above = np.arange(len(x))[:, None] < np.arange(len(x))  # the pairs i < j
    d = _distances(x / size, base, above)  # squares of the largest numbers would overflow
    with np.errstate(over="ignore"):
        d = d * size * (size if base == "sqdist" else 1.0)
    apart = (d > 1e-12 * d.max(initial=0)) & np.isfinite(d)
    distances = d[apart]
    if not len(distances):
        return 1.0
    if (w == w[0]).all():
        return float(np.median(distances))
    return _median(distances, np.multiply.outer(w, w)[above][apart])


def _distances(x, base, above):
    """The distances of the pairs of rows i < j, the entries `above` the diagonal of a matrix."""
    if x.shape[1] == 1:
        d = np.subtract.outer(x[:, 0], x[:, 0])[above]
        return np.abs(d) if base == "l1" else d * d
    from scipy.spatial.distance import pdist

    if base == "l1" or x.shape[1] <= FEW_COLUMNS:
        return pdist(x, "cityblock" if base == "l1" else "sqeuclidean")
    x = x - x.mean(axis=0)  # keeps the digits of differences far from 0
    own = np.einsum("ij,ij->i", x, x)
    return (own[:, None] + own - 2 * x @ x.T)[above]


def _spread(x, w, sample):
    """At most `sample` of the examples, in even steps of their weight, and their weights."""
    if x.shape[0] <= sample:
        return x, w
    total = w.cumsum()
    count = np.bincount(total.searchsorted((np.arange(sample) + 0.5) / sample * total[-1], side="right"))
    rows = count.nonzero()[0]
    return x[rows], count[rows].astype(float)


def _median(values, w):
    """The weighted median, the mean of two values if it lies between them; only values near it are sorted."""
    half, below = np.add.reduce(w) / 2, 0.0  # methods such as `sum` run Python, here once for every column
    some = slice(None, None, max(1, len(values) // SORTED_SAMPLE))
    order = values[some].argsort()
    share = w[some][order].cumsum()
    low, high = values[some][order][share.searchsorted(np.array(MIDDLE) * share[-1])]
    near, under = (values >= low) & (values <= high), np.add.reduce(w[values < low])
    within = under + np.add.reduce(w[near])
    if under < (1 - 1e-9) * half and (1 + 1e-9) * half < within:  # else the sample misses the middle
        values, w, below = values[near], w[near], under
    order = values.argsort(kind="stable")
    values, total = values[order], below + w[order].cumsum()
    first, last = total.searchsorted(half * np.array([1 - 1e-12, 1 + 1e-12]))
    return float((values[first] + values[min(last, len(values) - 1)]) / 2)
