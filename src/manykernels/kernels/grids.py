"""Functions that return many kernels at once: grids of widths, and kernels of columns or of groups, which may overlap.

    min over w_m, b :  C Σ_i (y_i − Σ_m ⟨w_m, x_i[g_m]⟩ − b)² + Σ_m ‖w_m‖

is MKLRegressor(group_kernels(groups), regularizer=LpSum(1), loss="squared", normalize=None, C=C): the group lasso of
Yuan and Lin (2006), for overlapping groups that of Jacob et al. (2009) (Tomioka and Suzuki 2011, Ex. 6). LpNorm(1)
has ½ (Σ‖w_m‖)² in place of the sum, the same models at other C; LpNorm(p), p > 1, is its smooth variant (Kloft et al.
2011, §3.3; the paper writes the sum in its (13) and means the square).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple, SupportsIndex

import numpy as np
from numpy.typing import ArrayLike

from ._scaled import median_between
from .linear import Linear
from .polynomial import Polynomial
from .rbf import RBF
from .spec import KernelSpec
from .tasks import ALL
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
            arrays = ViewArrays(X)
            view, indices, _ = arrays.resolve(columns)
            if (present := arrays.present.get(view)) is not None:
                weights = present * (1.0 if weights is None else np.asarray(weights, float))
            median = median_between(arrays.numbers(view, indices), weights)
            gammas = ratio ** (np.arange(n) - (n - 1) / 2) / median
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


def rank_one_kernels(columns: Any, view: str | None = None) -> list[KernelSpec]:
    """One `Linear` kernel for each column, named after the column if it has a name.

    k_j(x, y) = x_j y_j.

    Parameters
    ----------
    columns : array, DataFrame, vectorizer, list of names or int
        The data, a fitted vectorizer (get_feature_names_out), the names in the order of the columns, or their number.
    view : str, optional
        The view of X that holds the columns, if X is a dict.

    Returns
    -------
    list of KernelSpec

    Examples
    --------
    >>> from manykernels.kernels import rank_one_kernels
    >>> [(spec.name, spec.columns) for spec in rank_one_kernels(["height", "width"])]
    [('height', [0]), ('width', [1])]
    """
    names, width, axes = None, columns, len(getattr(columns, "shape", ()))  # the user's array or frame
    if hasattr(columns, "get_feature_names_out"):  # the user's vectorizer
        names = columns.get_feature_names_out()
    elif hasattr(columns, "columns"):  # the user's frame
        names = columns.columns
    elif axes > 1:
        width = columns.shape[1]
    elif axes == 1 or not isinstance(columns, SupportsIndex):  # arrays are SupportsIndex too
        names = columns
    names = [None] * int(width) if names is None else [str(name) for name in names]
    if not names:
        raise ValueError(f"columns={columns!r} has no column: give data, names or a number of columns.")
    kernel = Linear()
    return [KernelSpec(name, kernel, [j] if view is None else (view, [j])) for j, name in enumerate(names)]


class Coefficients(NamedTuple):
    """`total` (n_features,) and `parts` {kernel name: (|group|,)}, with a row per class if there are more than two."""

    total: np.ndarray
    parts: dict


def group_kernels(groups: Iterable[Any] | dict[str, Any]) -> list[KernelSpec]:
    """One `Linear` kernel for each group of columns; groups may overlap.

    Parameters
    ----------
    groups : list of groups, or dict {name: group}
        A group is a list of columns.

    Returns
    -------
    list of KernelSpec

    Examples
    --------
    >>> from manykernels.kernels import group_kernels
    >>> [(spec.name, spec.columns) for spec in group_kernels({"left": [0, 1], "right": [1, 2]})]
    [('left', [0, 1]), ('right', [1, 2])]
    """
    named = list(groups.items()) if isinstance(groups, dict) else [(None, columns) for columns in groups]
    if not named:
        raise ValueError(f"groups={groups!r} has no group: give lists of columns.")
    for name, columns in named:
        if isinstance(columns, int | np.integer):
            raise ValueError(f"the group {name or columns!r} is the single number {columns}: give a list of columns.")
    return [KernelSpec(name, Linear(), columns) for name, columns in named]


def linear_coefficients(model: Any) -> Coefficients:
    """The weight vectors of a fitted model on Linear kernels.

    w_m = θ_m Σ_i a_i x_i[g_m], f(x) = ⟨total, x⟩ + b.

    `total` is the sum over kernels, each on its columns; kernels of single tasks are in `parts` only.

    Parameters
    ----------
    model : estimator
        A model fitted on one array or frame, with a normalisation other than "spherical".

    Returns
    -------
    Coefficients
        `total` (n_features,) and `parts` {kernel name: (|group|,)}, with a row per class if there are more than two.

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels import MKLRegressor
    >>> from manykernels.kernels import group_kernels, linear_coefficients
    >>> X = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 1.0], [3.0, 0.0]])
    >>> model = MKLRegressor(group_kernels([[0], [0, 1]]), loss="squared", C=100).fit(X, X[:, 0])
    >>> linear_coefficients(model).total.round(1) + 0.0
    array([1., 0.])
    """
    from sklearn.utils.validation import check_is_fitted

    check_is_fitted(model)
    kernels = model.predictor_.kernel_list
    if kernels is None or not all(isinstance(kernel, Linear) for kernel in kernels.kernels):
        raise ValueError(
            "linear_coefficients needs a model whose kernels are all Linear, such as group_kernels(groups)."
        )
    if model.normalize_ == "spherical":
        raise ValueError('normalize="spherical" divides by ‖x‖: f is not linear in x then; use another normalisation.')
    if any(plan.transformer is not None for plan in kernels.view_plans):
        raise ValueError("linear_coefficients needs kernels of X itself, not of the output of transformers.")
    if not isinstance(kernels.n_features, int | np.integer):
        raise ValueError("linear_coefficients needs X to be one array or frame, not views: see decision_parts.")
    theta = np.broadcast_to(np.atleast_2d(model.kernel_weights_), (len(model.dual_coef_), kernels.M))
    total, parts = np.zeros((len(theta), kernels.n_features)), {}
    for m, w in model.predictor_.coefficients(model.dual_coef_, theta):
        if kernels.task_of[m] == ALL:
            columns = slice(None) if kernels.columns[m] is None else kernels.columns[m]
            np.add.at(total, (slice(None), columns), w)  # type: ignore[arg-type]  # numpy takes slices too
        parts[kernels.names[m]] = w[0] if len(w) == 1 else w
    return Coefficients(total[0] if len(total) == 1 else total, {name: parts[name] for name in kernels.names})
