"""Linear kernels on groups of columns, which may overlap: the group lasso and its weight vectors.

    min over w_m, b :  C Σ_i (y_i − Σ_m ⟨w_m, x_i[g_m]⟩ − b)² + Σ_m ‖w_m‖

is MKLRegressor(group_kernels(groups), regularizer=LpSum(1), loss="squared", normalize=None, C=C): the group lasso of
Yuan and Lin (2006), for overlapping groups that of Jacob et al. (2009) (Tomioka and Suzuki 2011, Ex. 6). LpNorm(1)
has ½ (Σ‖w_m‖)² in place of the sum, the same models at other C; LpNorm(p), p > 1, is its smooth variant (Kloft et al.
2011, §3.3; the paper writes the sum in its (13) and means the square).
"""

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from .linear import Linear
from .spec import KernelSpec
from .tasks import ALL


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
