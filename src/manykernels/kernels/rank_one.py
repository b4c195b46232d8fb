from __future__ import annotations

from typing import Any, SupportsIndex

from .linear import Linear
from .spec import KernelSpec


def rank_one_kernels(columns: Any, view: str | None = None) -> list[KernelSpec]:
    """A kernel for each single column.

    k_j(x, y) = x_j y_j, one `Linear` kernel for each column.

    Kernels take the names of the columns where these have names.

    Parameters
    ----------
    columns : array, DataFrame, vectorizer, list of names or int
        The data themselves, a fitted vectorizer (get_feature_names_out), the names, column after column, or a number.
    view : str, optional
        The view of X that holds them, where X is a dict.

    Returns
    -------
    list of KernelSpec

    Examples
    --------
    >>> from manykernels.kernels import rank_one_kernels
    >>> [(spec.name, spec.columns) for spec in rank_one_kernels(["height", "width"])]
    [('height', [0]), ('width', [1])]
    """
    names, width, axes = None, columns, len(getattr(columns, "shape", ()))  # of a user's array or frame
    if hasattr(columns, "get_feature_names_out"):  # a user's vectorizer
        names = columns.get_feature_names_out()
    elif hasattr(columns, "columns"):  # a user's frame
        names = columns.columns
    elif axes > 1:
        width = columns.shape[1]
    elif axes == 1 or not isinstance(columns, SupportsIndex):  # every array is one
        names = columns
    names = [None] * int(width) if names is None else [str(name) for name in names]
    if not names:
        raise ValueError(f"columns={columns!r} has no column: give data, names or a number of columns.")
    kernel = Linear()
    return [KernelSpec(name, kernel, [j] if view is None else (view, [j])) for j, name in enumerate(names)]
