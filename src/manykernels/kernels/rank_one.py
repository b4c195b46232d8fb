from typing import Any, SupportsIndex

from .linear import Linear
from .spec import KernelSpec


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
