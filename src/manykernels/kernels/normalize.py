"""The three normalisations of a kernel matrix; w are weights of the examples, W = Σw."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from .._validation import check_choice

CHOICES = ("multiplicative", "spherical", "trace", None)
CHOICES_OF_MODELS = ("auto", "exact", *CHOICES)  # "exact": "multiplicative", from all pairs of any number of examples


class Scaled(NamedTuple):
    """A normalisation `kind` with factors that were computed on all examples, for a bank of some of them: (M,) each.

    `mean` is the mean entry of each kernel before scaling.
    """

    kind: str | None
    scale: np.ndarray
    usable: np.ndarray
    mean: np.ndarray

    def part(self, kernels):
        """The normalisation of these kernels alone."""
        return Scaled(self.kind, self.scale[kernels], self.usable[kernels], self.mean[kernels])


def kind_of(normalize):
    """The kind, one of `CHOICES` or "auto", of a normalisation or of a `Scaled`."""
    return normalize.kind if isinstance(normalize, Scaled) else "multiplicative" if normalize == "exact" else normalize


def multiplicative_scale(K, w=None):
    """1 / (Σ w_i k_ii / W − Σ w_i w_j k_ij / W²): the scale that gives unit variance in feature space."""
    w = np.ones(len(K)) if w is None else np.asarray(w, float)
    return 1.0 / (w @ np.diag(K) / w.sum() - w @ (K @ w) / w.sum() ** 2)


def multiplicative(K: np.ndarray, w: ArrayLike | None = None) -> np.ndarray:
    """The kernel of unit variance in feature space.

    K / (Σ w_i k_ii / W − Σ w_i w_j k_ij / W²), W = Σw.

    Parameters
    ----------
    K : array (n, n)
    w : array (n,), optional
        Weights of the examples.

    Returns
    -------
    array (n, n)

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels.kernels import multiplicative
    >>> multiplicative(np.diag([2.0, 2.0]))
    array([[2., 0.],
           [0., 2.]])
    """
    return K * multiplicative_scale(K, w)


def trace(K: np.ndarray, w: np.ndarray | None = None) -> np.ndarray:
    """The kernel of unit mean diagonal.

    K / (Σ w_i k_ii / W), W = Σw.

    Parameters
    ----------
    K : array (n, n)
    w : array (n,), optional
        Weights of the examples.

    Returns
    -------
    array (n, n)

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels.kernels import trace
    >>> trace(np.diag([1.0, 3.0]))
    array([[0.5, 0. ],
           [0. , 1.5]])
    """
    return K / np.average(np.diag(K), weights=w)


def spherical(K: np.ndarray, diag_x: ArrayLike | None = None, diag_y: ArrayLike | None = None) -> np.ndarray:
    """The cosine in feature space.

    k_ij / √(k_ii k_jj), 0 if k_ii or k_jj is 0.

    Parameters
    ----------
    K : array (n, m)
    diag_x, diag_y : array (n,) and (m,), optional
        k(x, x) of the rows and of the columns, for new data; by default the diagonal of K.

    Returns
    -------
    array (n, m)

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels.kernels import spherical
    >>> spherical(np.array([[4.0, 1.0], [1.0, 1.0]]))
    array([[1. , 0.5],
           [0.5, 1. ]])
    """
    diag_x = np.diag(K) if diag_x is None else diag_x
    return K * inverse_root(diag_x)[:, None] * inverse_root(diag_x if diag_y is None else diag_y)


def inverse_root(diagonal):
    """1/√d, 0 if d <= 0."""
    d = np.asarray(diagonal, float)
    return np.divide(1.0, np.sqrt(np.maximum(d, 0)), out=np.zeros_like(d), where=d > 0)


def check_normalize(normalize):
    check_choice("normalize", kind_of(normalize), CHOICES)


def precision(dtype):
    """The relative precision, in units of the mean diagonal, of a kernel's variance from entries of this dtype."""
    return 1e-6 if dtype == np.float32 else 1e-12


def scales(diagonal, variance, normalize, precision):
    """(scale, usable) of kernels, (M,) each, from mean diagonals Σ w_i k_ii / W and variances in feature space.

    The variance is Σ w_i k_ii / W − Σ w_i w_j k_ij / W². A kernel is not usable, and its scale is 0, if its variance is
    at most `precision`, that of its computation, times the mean diagonal.
    """
    diagonal, variance = np.asarray(diagonal, float), np.asarray(variance, float)
    if not np.isfinite(diagonal).all():
        raise ValueError("values of a kernel overflow: rescale the columns of X, for example with StandardScaler().")
    by = {"multiplicative": variance, "trace": diagonal}.get(normalize, np.ones_like(diagonal))
    scale = np.divide(1.0, by, out=np.zeros_like(by), where=by > np.finfo(float).tiny)
    usable = (variance > precision * np.maximum(np.abs(diagonal), np.finfo(float).tiny)) & (scale > 0)
    return np.where(usable, scale, 0.0), usable
