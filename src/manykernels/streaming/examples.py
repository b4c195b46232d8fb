"""Selects, joins and describes examples in any container."""

from typing import Any

import numpy as np
import scipy.sparse as sp

from ..kernels import ids
from ..kernels.base import len_
from ..kernels.frames import is_frame
from ..sequences import Sequences

BEGINNING = 16  # examples


def take(X: Any, rows: np.ndarray) -> Any:
    """A copy of the examples at these positions."""
    if isinstance(X, Sequences):
        return X[rows].compact()
    if isinstance(X, np.ndarray):
        return np.array(X[rows])
    return ids.take(X, rows)


def concatenate(blocks: list[Any]) -> Any:
    """The blocks in one container; a ValueError if they do not fit."""
    first = blocks[0]
    if len(blocks) == 1:
        return first
    if isinstance(first, Sequences):
        return Sequences.concatenate(blocks)
    if isinstance(first, np.ndarray):
        return np.concatenate(blocks)
    if sp.issparse(first):
        return sp.vstack(blocks, format="csr")
    if hasattr(first, "iloc"):  # a frame of pandas
        import pandas as pd

        return pd.concat(blocks, ignore_index=True)
    if is_frame(first):
        import polars as pl

        return pl.concat(blocks)
    return [x for block in blocks for x in block]


def columns_of(X: Any) -> tuple:
    """The kind of examples, and the names or the number of their columns, which all blocks must share."""
    if isinstance(X, Sequences):
        return "sequences", X.alphabet.name
    if is_frame(X):
        return "columns", *map(str, X.columns)
    shape = getattr(X, "shape", (len_(X),))  # an array of any library
    return ("features", *shape[1:])


def beginning(X: Any) -> bytes:
    """The numbers of the first examples, which tell whether X begins as before; empty if X has no such columns."""
    numbers = numbers_of(take(X, np.arange(min(len_(X), BEGINNING))))
    return b"" if numbers is None else numbers.tobytes()


def numbers_of(X: Any) -> np.ndarray | None:
    """X as float64 (n, d), NaN for other values than numbers; None if it has no columns."""
    if isinstance(X, np.ndarray) and X.ndim == 2:
        return X.astype(np.float64)
    if not is_frame(X):
        return None
    found = np.full(X.shape, np.nan)
    for j, name in enumerate(X.columns):
        column = np.asarray(X[name])
        if column.dtype.kind in "biuf":
            found[:, j] = column
    return found
