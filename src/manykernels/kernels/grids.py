"""Functions that return many kernels at once."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ._median import median_between
from .polynomial import Polynomial
from .rbf import RBF
from .spec import KernelSpec
from .view_data import ViewArrays


def rbf_grid(
    X: Any = None,
    *,
    gammas: ArrayLike | None = None,
    widths: ArrayLike | None = None,
    columns: Any = None,
    n: int = 10,
    ratio: float = 2.0,
    weights: ArrayLike | None = None,
) -> list[KernelSpec]:
    """RBF kernels of several widths.

    gamma = gammas, or 1/(2 widths²), or `n` in steps of `ratio` around 1/median‖x−y‖².

    Parameters
    ----------
    X : array, DataFrame or dict of views, optional
        The training data, needed if neither gammas nor widths are given.
    gammas : array, optional
    widths : array, optional
        The σ of exp(−‖x−y‖²/(2σ²)).
    columns : optional
        The columns or the view that the kernels see, as in a `KernelSpec`; None for all.
    n : int, default 10
        The number of kernels around the median.
    ratio : float, default 2
        The ratio of neighbouring gammas.
    weights : array (n_examples,), optional
        Weights of the examples in the median.

    Returns
    -------
    list of KernelSpec

    Examples
    --------
    >>> from manykernels.kernels import rbf_grid
    >>> [spec.kernel for spec in rbf_grid(gammas=[0.1, 1.0])]
    [RBF(gamma=0.1), RBF(gamma=1.0)]
    >>> len(rbf_grid([[0.0], [1.0], [3.0]], n=5))
    5
    """
    if gammas is None:
        if widths is not None:
            gammas = 1.0 / (2.0 * np.asarray(widths, float) ** 2)
        elif X is not None:
            gammas = ratio ** (np.arange(n) - (n - 1) / 2) / median_distance(X, columns, weights)
        else:
            raise ValueError("rbf_grid needs gammas, widths, or X to choose them from.")
    return [KernelSpec(None, RBF(float(gamma)), columns) for gamma in np.atleast_1d(gammas)]


def per_column(kernels: Any, n_columns: int | Iterable[Any]) -> list[KernelSpec]:
    """Each kernel on each single column.

    Parameters
    ----------
    kernels : Kernel or list of Kernel
    n_columns : int or list
        A number of columns, or the columns.

    Returns
    -------
    list of KernelSpec

    Examples
    --------
    >>> from manykernels.kernels import RBF, per_column
    >>> [spec.columns for spec in per_column(RBF(gamma=1.0), 3)]
    [[0], [1], [2]]
    """
    columns = range(n_columns) if isinstance(n_columns, int | np.integer) else n_columns
    kernels = list(kernels) if isinstance(kernels, Iterable) else [kernels]
    return [KernelSpec(None, kernel, [column]) for column in columns for kernel in kernels]


def feature_bank(
    X: Any, widths: Iterable[float] | None = None, degrees: Iterable[float] = (1, 2, 3)
) -> list[KernelSpec]:
    """Gaussians exp(−‖x−y‖²/(2σ²)) and polynomials (x'y + 1)^degree on all features and on each single one.

    The widths σ are 2^-3 … 2^6 unless given: 13 (d + 1) kernels, the bank of Rakotomamonjy et al. (2008).

    Parameters
    ----------
    X : array (n, d)
        Only the number of columns is used.
    widths : iterable of float, optional
    degrees : iterable of float, default (1, 2, 3)

    Returns
    -------
    list of KernelSpec

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels.kernels import feature_bank
    >>> len(feature_bank(np.zeros((5, 3))))
    52
    """
    widths = 2.0 ** np.arange(-3, 7) if widths is None else widths
    kernels = [RBF(float(1 / (2 * s * s))) for s in widths] + [Polynomial(d, gamma=1.0, coef0=1.0) for d in degrees]
    return [KernelSpec(None, kernel) for kernel in kernels] + per_column(kernels, np.shape(X)[1])


def median_distance(X, columns=None, weights=None):
    """The median of ‖x−y‖² over pairs of different examples, 1 if there are none; see `_median`."""
    arrays = ViewArrays(X)
    view, indices, _ = arrays.resolve(columns)
    present = arrays.present.get(view)
    if present is not None:
        weights = present * (1.0 if weights is None else np.asarray(weights, float))
    return median_between(arrays.numbers(view, indices), weights)
