"""Kernel matrices in a folder: rows and columns have ids; new examples have values with the training examples."""

from pathlib import Path
from typing import Any

import numpy as np

from ._talk import Wrong, pandas

PLACE_SUFFIX = ".#"  # the column STEM.# of a matrix has the number of each example among the training examples
IDS_FILE, COLUMNS_FILE = "ids.txt", "columns.txt"  # one id per line, for all .npy files; STEM.ids.txt is for STEM.npy


def is_list_of_ids(path: Path) -> bool:
    """Whether a file lists the ids of an .npy file of its folder."""
    return path.name.endswith((IDS_FILE, COLUMNS_FILE)) and any(path.parent.glob("*.npy"))


def read_npy(path: Path) -> Any:
    """A matrix with the ids of its rows, and of its columns if they differ, from files in the same folder."""
    K = np.load(path, allow_pickle=False)
    if K.ndim != 2 or K.dtype.kind not in "iufb":
        raise Wrong(f"{path} has shape {K.shape} and dtype {K.dtype}: give a matrix of numbers.")
    rows = _lines(path, IDS_FILE)
    if rows is None:
        raise Wrong(f"{path} has no ids: add {path.stem}.{IDS_FILE} or {IDS_FILE}, with the id of one row per line.")
    columns = _lines(path, COLUMNS_FILE)
    columns = rows if columns is None else columns
    if K.shape != (len(rows), len(columns)):
        raise Wrong(
            f"{path} has shape {K.shape}, but there are ids of {len(rows)} rows and {len(columns)} columns: correct "
            f"{IDS_FILE}, and add {COLUMNS_FILE} if the columns have other ids than the rows."
        )
    pd = pandas()
    return pd.DataFrame(K.astype(float), index=pd.Index(rows, name="id"), columns=columns)


def _lines(path, name):
    for place in (path.with_name(f"{path.stem}.{name}"), path.with_name(name)):
        if place.is_file():
            lines = place.read_text(encoding="utf-8-sig").splitlines()
            return [line.strip() for line in lines if line.strip()]
    return None


def looks_square(frame: Any) -> bool:
    """Whether the table is meant as a kernel matrix: rows and columns share half of their ids, and at least two."""
    rows, columns = set(frame.index.map(str)), set(frame.columns)
    return len(rows & columns) >= max(2, (max(len(rows), len(columns)) + 1) // 2)


def fault(frame: Any) -> str | None:
    """The fault of a kernel matrix, with its cure, or None."""
    rows, columns = list(frame.index.map(str)), list(frame.columns)
    across, down = set(columns), set(rows)
    odd = next((f"row {id!r} has no column" for id in rows if id not in across), None)
    odd = odd or next((f"column {id!r} has no row" for id in columns if id not in down), None)
    if odd:
        return (
            f"{odd}: give rows and columns the same ids for a square kernel matrix, or rename the columns if the table "
            "is not a kernel matrix."
        )
    K = frame[rows].apply(pandas().to_numeric, errors="coerce").to_numpy(float)
    i, j = (int(k[0]) if len(k) else -1 for k in np.nonzero(~np.isfinite(K)))
    if i >= 0:
        value = frame.iloc[i][rows[j]]
        return f"the value of {rows[i]!r} with {rows[j]!r} is {value}, not a finite number: correct it."
    off = np.abs(K - K.T)
    if off.max() > 1e-6 * np.abs(K).max():
        i, j = np.unravel_index(off.argmax(), off.shape)
        return (
            f"it is not symmetric, {rows[i]!r} with {rows[j]!r} is {K[i, j]:g} and {rows[j]!r} with {rows[i]!r} is "
            f"{K[j, i]:g}: correct it, or give the mean of the two."
        )
    return None


def columns_of_matrix(frame: Any, stem: str) -> list[str]:
    """The columns of the kernel of a matrix: the place, and the values with each training example."""
    wrong = frame.attrs["matrices"][stem]
    if wrong:
        raise Wrong(f"{stem}: {wrong}")
    here = [name for name in frame.columns if name.startswith(f"{stem}.")]
    rows = set(frame.index[frame[here].notna().any(axis=1)].map(str))
    return [stem + PLACE_SUFFIX, *(name for name in here if name.removeprefix(f"{stem}.") in rows)]


def with_places(frame: Any, names: list[str]) -> Any:
    """The frame with a column of places for each kernel matrix of a model."""
    made = {}
    for name in names:
        if not name.endswith(PLACE_SUFFIX) or name in frame.columns:
            continue
        stem = name.removesuffix(PLACE_SUFFIX)
        columns = [other for other in names if other.startswith(f"{stem}.") and other != name]
        lost = [column.removeprefix(f"{stem}.") for column in columns if column not in frame.columns]
        if lost:
            raise Wrong(
                f"The data lack the values of {stem!r} with {len(lost)} training examples ({lost[0]!r}, for example): "
                f"add a matrix {stem} whose rows are the new examples and whose columns are the training examples."
            )
        empty = frame[columns].isna()
        partly = empty.any(axis=1) & ~empty.all(axis=1)
        if partly.any():
            id, gap = frame.index[partly][0], empty[partly].iloc[0].to_numpy().argmax()
            raise Wrong(
                f"{stem}: the value of {str(id)!r} with {columns[gap].removeprefix(f'{stem}.')!r} is missing: fill it "
                "in, or leave the whole row out."
            )
        place = {column.removeprefix(f"{stem}."): float(k) for k, column in enumerate(columns)}
        found = [place.get(str(id), -1.0) for id in frame.index]
        made[name] = np.where(empty.all(axis=1), np.nan, found)
    return pandas().concat([frame, pandas().DataFrame(made, index=frame.index)], axis=1) if made else frame
