"""Entries that NumPy would turn into other numbers without a word: masked ones, dates and durations."""

from typing import Any

import numpy as np

from .frames import missing_entries

_CLOCKS = {  # types by name, so that pandas need not be imported
    "NaTType", "Period", "Timedelta", "Timestamp", "date", "datetime", "datetime64", "time", "timedelta", "timedelta64",
}  # fmt: skip


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
    """The same, and a ValueError for NaT and, unless `dates` are labels here, for dates and durations."""
    check_masks(name, value)
    dtype, listed = getattr(value, "dtype", None), isinstance(value, list | tuple)  # of any library
    kind = "O" if listed else getattr(dtype, "kind", "")  # of polars none
    if kind == "O":
        entries = value if listed else np.asarray(value).ravel().tolist()
        clocks = not _CLOCKS.isdisjoint({kind.__name__ for kind in set(map(type, entries))})
    else:
        clocks = kind in ("M", "m") or not kind and str(dtype).startswith(("Date", "Duration", "Time"))
    if not clocks:
        return
    if lost := int(missing_entries(np.asarray(value)).sum()):
        raise ValueError(f"{name} has {lost} missing values (NaT): leave these examples out of X and {name}.")
    if not dates:
        raise ValueError(
            f"{name} holds dates or durations, and numbers need a unit: give days, durations / np.timedelta64(1, 'D'), "
            "or texts if they are labels."
        )
