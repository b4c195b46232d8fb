"""The ids of the rows and columns of precomputed kernel matrices, which frames of pandas have as labels."""

from typing import Any

import numpy as np

from .frames import is_frame, is_pandas, listed


def ids_of(matrices: list[Any], names: list[Any] | None) -> tuple[np.ndarray | None, np.ndarray | None]:
    """(ids of the rows, ids of the columns), (n,) and (n_train,), or None where no matrix has labels.

    A ValueError if the labels of two matrices differ.
    """
    return _ids(matrices, names, "rows"), _ids(matrices, names, "columns")


def _ids(matrices, names, axis):
    first, ids = "", None
    for m, K in enumerate(matrices):
        labels = _labels(K, axis)
        called = f"matrices[{m}]" + ("" if names is None or m >= len(names) else f" ({names[m]!r})")
        if ids is None:
            first, ids = called, labels
        elif labels is not None and labels != ids:
            strange = [label for label in labels if label not in set(ids)]
            if strange or len(labels) != len(ids):
                raise ValueError(
                    f"{called} has other {axis} than {first}, {listed(strange)}: give matrices between the same "
                    "examples, or K.to_numpy() to match them by position"
                )
            raise ValueError(
                f"{called} has the {axis} of {first} in another order: give K.loc[ids, ids] of each matrix K, with one "
                "list of ids (new examples: K.loc[new_ids, ids])"
            )
    if ids is None:
        return None
    found = np.empty(len(ids), object)
    found[:] = ids
    return found


def _labels(K, axis):
    """The labels of an axis as a list; None if there are none, or if pandas has only numbered it."""
    if not (is_frame(K) and is_pandas(K)):
        return None
    index = K.index if axis == "rows" else K.columns
    numbered = type(index).__name__ == "RangeIndex" and index.start == 0 and index.step == 1
    return None if numbered else index.tolist()
