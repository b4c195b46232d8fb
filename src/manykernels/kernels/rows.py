"""Which rows belong together: one decision for everything that has one entry per example."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._callers import warn
from .annotated import is_annotated
from .frames import check_entries, is_pandas, listed
from .stack import KernelStack
from .stack_examples import StackExamples
from .view_data import is_views
from .views import Views

WITH_DATES = ("groups", "time")  # labels of groups, and survival times, whose durations become days
SHARED = 1 / 3  # of the numbers of two indices: beyond it they are taken for numbers of the same rows


def check_rows(X: Any, called: str = "X", **parts: Any) -> None:
    """Whether rows of `parts` {argument: one entry per example, or a dict of columns} belong to those of X by position.

    Parts are compared with X, whose name is `called`, and with each other. A ValueError if two have the same ids in
    another order, or other ids, unless one has integers; a UserWarning if two are numbered alike in another order, and
    the numbers may be those that pandas gives. Masks, dates and durations are refused too, see `check_entries`.
    """
    known = [] if (ids := ids_of(X)) is None else [(called, X, ids)]
    for name, part in parts.items():
        if type(part) is dict and name != "covariates":
            raise ValueError(f"{name} is a dict: give an array with an entry per example, in the order of {called}.")
        columns = {f"{name}[{key!r}]": one for key, one in part.items()} if type(part) is dict else {name: part}
        for label, column in columns.items():
            check_entries(label, column, dates=name in WITH_DATES)
            if (ids := ids_of(column)) is not None:
                for before in known:
                    _compare(before, (label, column, ids))
                known.append((label, column, ids))


def check_beside(X: Any, predicted: dict[str, Any], **parts: Any) -> None:
    """`check_rows` of parts beside those that a prediction of X compares with the ids of X itself, `predicted`."""
    check_rows(X, **parts, **(predicted if ids_of(X) is None else {}))


def ids_of(data: Any) -> Any:
    """The labels of the examples, an index of pandas or an array (n,); None if there are none."""
    if data is None or isinstance(data, np.ndarray | list | tuple):
        return None
    if is_annotated(data):
        return data.obs_names
    if _has_own_ids(data):
        return data.ids
    if is_views(data):
        names = data.names if isinstance(data, Views) else data
        return next((ids for name in names if (ids := ids_of(data[name])) is not None), None)
    index = getattr(data, "index", None)  # the user's frame
    return index if is_pandas(data) and hasattr(index, "equals") else None  # Dask's index is not in memory


def _has_own_ids(data):
    return isinstance(data, Views | KernelStack | StackExamples) and data.ids is not None


def _compare(first, second):
    """Raises or warns if two parts (name, data, ids) do not go together row by row."""
    (name, data, ids), (other, column, others) = first, second
    if ids is others or len(ids) != len(others) or not isinstance(ids, np.ndarray) and ids.equals(others):
        return
    whole = [[int(i) if isinstance(i, float) and i.is_integer() else i for i in x.tolist()] for x in (ids, others)]
    ids, others = whole  # 7.0 is 7, in a column that once had a gap
    both = [{int}.issuperset(map(type, labels)) for labels in (ids, others)]
    given = list(range(len(ids))) in (ids, others)
    if any(both) and not all(both):  # "7" and 7, from files that were read in two ways
        ids, others = list(map(str, ids)), list(map(str, others))
    if ids == others:
        return
    what = "ids" if _has_own_ids(data) else "obs_names" if is_annotated(data) else "" if is_views(data) else "index"
    cure = f"{other}.loc[{name}.{what}]" if what and is_pandas(column) else f"{other} in the order of {name}"
    cure += f", or Views(..., examples={other}.index)" if what == "ids" and isinstance(data, Views) else ""
    what, same = "ids" if what == "ids" else "index", set(ids) == set(others)
    if same and not given:
        raise ValueError(f"{other} has the {what} of {name} in another order: give {cure}.")
    if not (same or any(both)):
        strange = [label for label in others if label not in set(ids)]
        raise ValueError(
            f"{other} has ids that {name} does not have, {listed(strange)}: give {other} of the examples of {name}, or "
            f"{other}.to_numpy() to match rows by position."
        )
    if same or not given and all(both) and _look_shuffled(ids, others):
        warn(
            f"{name} and {other} are numbered alike, but in different orders, and row i of {other} is taken for row i "
            f"of {name}: if these numbers are ids, give {cure}; if not, call reset_index(drop=True) on both."
        )


def _look_shuffled(ids, others):
    """Whether two lists of different numbers share many, and do not ascend alike, as rows of one order would."""
    own, other = set(ids), set(others)
    if len(own & other) < SHARED * len(ids) or len(own) < len(ids) or len(other) < len(ids):
        return False
    return not np.array_equal(np.argsort(ids), np.argsort(others))
