"""Kernel matrices among the tables of a folder: rows and columns have ids; new examples bring values with old ones."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from ._talk import Wrong, pandas

PLACE = ".#"  # the column of a matrix, STEM.#, that holds the number of each example among the training examples
IDS, COLUMNS = "ids.txt", "columns.txt"  # beside STEM.npy: one id a line, of a file of its own STEM.ids.txt


def is_list_of_ids(path: Path) -> bool:
    """Whether a file holds the ids of an .npy file of its folder."""
    return path.name.endswith((IDS, COLUMNS)) and any(path.parent.glob("*.npy"))


def read_npy(path: Path) -> Any:
    """A matrix with ids for its rows, and for its columns where they are others, from files beside it."""
    K = np.load(path, allow_pickle=False)
    if K.ndim != 2 or K.dtype.kind not in "iufb":
        raise Wrong(f"{path} has shape {K.shape} of {K.dtype}: give a matrix of numbers.")
    rows = _lines(path, IDS)
    if rows is None:
        raise Wrong(f"{path} has no ids: put {path.stem}.{IDS} or {IDS} beside it, the id of a row a line.")
    columns = _lines(path, COLUMNS)
    columns = rows if columns is None else columns
    if K.shape != (len(rows), len(columns)):
        raise Wrong(
            f"{path} has shape {K.shape}, but there are ids of {len(rows)} rows and {len(columns)} columns: correct "
            f"{IDS}, and give {COLUMNS} where columns are others than rows."
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
    """Whether rows and columns are so much the same that a kernel matrix is meant: half of either, and two at least."""
    rows, columns = set(frame.index.map(str)), set(frame.columns)
    return len(rows & columns) >= max(2, (max(len(rows), len(columns)) + 1) // 2)


def fault(frame: Any) -> str | None:
    """What is wrong with a kernel matrix between the examples of a folder, with the cure; None where nothing is."""
    rows, columns = list(frame.index.map(str)), list(frame.columns)
    across, down = set(columns), set(rows)
    odd = next((f"row {id!r} has no column" for id in rows if id not in across), None)
    odd = odd or next((f"column {id!r} has no row" for id in columns if id not in down), None)
    if odd:
        return (
            f"{odd}: make rows and columns the same ids for a square matrix of similarities; a table of another kind "
            "needs other names of columns."
        )
    K = frame[rows].apply(pandas().to_numeric, errors="coerce").to_numpy(float)
    i, j = (int(k[0]) if len(k) else -1 for k in np.nonzero(~np.isfinite(K)))
    if i >= 0:
        return f"the value of {rows[i]!r} with {rows[j]!r} is {frame.iloc[i][rows[j]]}, no finite number: correct it."
    off = np.abs(K - K.T)
    if off.max() > 1e-6 * np.abs(K).max():
        i, j = np.unravel_index(off.argmax(), off.shape)
        return (
            f"it is not symmetric, {rows[i]!r} with {rows[j]!r} is {K[i, j]:g} and {rows[j]!r} with {rows[i]!r} is "
            f"{K[j, i]:g}: correct it, or give the mean of the two."
        )
    return None


def columns_of_matrix(frame: Any, stem: str) -> list[str]:
    """The names of the numbers that the kernel of a matrix sees: places, and values with each training example."""
    wrong = frame.attrs["matrices"][stem]
    if wrong:
        raise Wrong(f"{stem}: {wrong}")
    here = [name for name in frame.columns if name.startswith(f"{stem}.")]
    rows = set(frame.index[frame[here].notna().any(axis=1)].map(str))
    return [stem + PLACE, *(name for name in here if name.removeprefix(f"{stem}.") in rows)]


def with_places(frame: Any, names: list[str]) -> Any:
    """The frame with the places of its examples, of each matrix that a model sees."""
    made = {}
    for name in names:
        if not name.endswith(PLACE) or name in frame.columns:
            continue
        stem = name.removesuffix(PLACE)
        columns = [other for other in names if other.startswith(f"{stem}.") and other != name]
        lost = [column.removeprefix(f"{stem}.") for column in columns if column not in frame.columns]
        if lost:
            raise Wrong(
                f"The data lack the values of {stem!r} with {len(lost)} training examples ({lost[0]!r}, for example): "
                f"put a matrix {stem} there, its rows the new examples and its columns the training examples."
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
