"""Entries that NumPy would lose or turn into other numbers: masked and missing ones, dates and durations."""

import sys
from typing import Any

import numpy as np

from .frames import missing_entries

_CLOCKS = {  # types by name, so that pandas need not be imported
    "NaTType", "Period", "Timedelta", "Timestamp", "date", "datetime", "datetime64", "time", "timedelta", "timedelta64",
}  # fmt: skip
# arguments that have an entry for every example
_COMPLETE = "groups", "sample_weight", "task", "task_Y", "train_task", "event", "time", "strata"


def check_masks(name: str, value: Any) -> None:
    """A ValueError if entries of an array, or of one of a list of arrays, are masked."""
    if isinstance(value, np.ma.MaskedArray):
        mask = np.ascontiguousarray(np.ma.getmaskarray(value)).view(bool)  # of a structured array all fields
        if mask.any():
            cure = "leave these examples out, or fill them in"
            if name.startswith("X"):
                cure = 'fill it in, or give .astype(float).filled(np.nan) to kernels with missing="zero"'
            raise ValueError(f"{name} is a masked array, and the mask of {mask.sum()} entries would be lost: {cure}.")
    for k, one in enumerate(value if isinstance(value, list | tuple) else ()):
        if isinstance(one, np.ma.MaskedArray):
            check_masks(f"{name}[{k}]", one)


def check_entries(name: str, value: Any, dates: bool = False) -> None:
    """The same, for huge integers, complex numbers, NaT, arguments that must be complete, and weights that are texts.

    Dates and durations are refused too, unless `dates` are labels.
    """
    check_masks(name, value)
    dtype, listed = getattr(value, "dtype", None), isinstance(value, list | tuple)  # of any library
    kind, kinds = "O" if listed else getattr(dtype, "kind", ""), set()  # of polars none
    if kind == "O":
        entries = value if listed else np.asarray(value).ravel().tolist()
        kinds = {kind.__name__ for kind in set(map(type, entries))}
        clocks = not _CLOCKS.isdisjoint(kinds)
        whole = "int" in kinds and not name.startswith("X")  # whose reader names the column
        if whole and max(abs(entry) for entry in entries if isinstance(entry, int)) > sys.float_info.max:
            raise ValueError(f"{name} has a number beyond 1.8e308: correct it, or leave this example out.")
    else:
        clocks = kind in ("M", "m") or not kind and str(dtype).startswith(("Date", "Duration", "Time"))
    # the readers of tables name the columns; scikit-learn's checks want the words in brackets
    if (kind == "c" or kinds & {"complex", "complex128"}) and not name.startswith("X"):
        raise ValueError(f"{name} holds complex numbers: give real numbers (Complex data not supported).")
    needed = clocks or name in _COMPLETE and value is not None
    if needed and (lost := int(missing_entries(np.asarray(value, object if listed else None)).sum())):
        raise ValueError(f"{name} has {lost} missing values: leave these examples out of X and {name}.")
    texts = kinds & {"str", "str_"}
    if name == "groups" and texts and kinds - texts:
        raise ValueError("groups mixes numbers and texts, and 1 is not '1': give labels of one type.")
    if name == "sample_weight" and (kind in ("T", "U", "S") or texts):
        raise ValueError("sample_weight holds texts: give numbers, sample_weight.astype(float).")
    if clocks and not dates:
        raise ValueError(
            f"{name} holds dates or durations, and numbers need a unit: give days, durations / np.timedelta64(1, 'D'), "
            "or texts if they are labels."
        )
