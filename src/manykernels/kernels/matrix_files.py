"""Kernel matrices in .npy files, larger than memory: read by rows, in the order in which they lie on the disk.

They are read and not mapped: what is mapped counts as memory until the system takes it back.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Sequence
from copy import copy
from os import PathLike
from typing import Any

import numpy as np

_SHORT = "{} has become shorter: it ends within matrix {}; write it again."
BLOCK = 2**24  # bytes that are read at a time


class MatrixFiles:
    """M matrices (n, n') in one .npy file (M, n, n'), or in M files (n, n') each: the `matrices` of a `KernelStack`.

    `stack[kernels]`, `stack[:, rows]` and the like are cut by `take`, which reads nothing; `read` reads rows of a
    matrix. `bytes_read` counts what was read, of all that were cut from one.
    """

    ndim = 3

    def __init__(self, paths: str | PathLike[str] | Sequence[str | PathLike[str]]) -> None:
        several = not isinstance(paths, str | PathLike)
        self.paths = [os.fspath(path) for path in paths] if several else [os.fspath(paths)]  # type: ignore[union-attr, arg-type]
        if not self.paths:
            raise ValueError("paths=[] names no file: give one .npy file (M, n, n), or one (n, n) for each kernel.")
        heads = [_head(path, 2 if several else 3) for path in self.paths]
        shapes, dtypes = {head[0] for head in heads}, {head[1] for head in heads}
        if len(shapes) > 1 or len(dtypes) > 1:
            raise ValueError(
                f"the files hold arrays of shapes {sorted(shapes)} and types {sorted(map(str, dtypes))}: all must be "
                "alike, matrices between the same examples."
            )
        shape, self.dtype = heads[0][0], heads[0][1]
        size = shape[-2] * shape[-1] * self.dtype.itemsize
        self._width = shape[-1]
        if several:
            self._places = [(path, head[2]) for path, head in zip(self.paths, heads, strict=True)]
        else:
            self._places = [(self.paths[0], heads[0][2] + m * size) for m in range(shape[0])]
        self._rows: np.ndarray | None = None
        self._cols: np.ndarray | None = None
        self.shape = (len(self._places), shape[-2], shape[-1])
        self._count, self._lock = [0], threading.Lock()

    @property
    def size(self) -> int:
        return self.shape[0] * self.shape[1] * self.shape[2]

    @property
    def nbytes(self) -> int:
        return self.size * self.dtype.itemsize

    @property
    def bytes_read(self) -> int:
        """So many bytes were read, by this one and all that were cut from the same."""
        return self._count[0]

    def __len__(self) -> int:
        return self.shape[0]

    def __getstate__(self):
        return {name: value for name, value in vars(self).items() if name != "_lock"}

    def __setstate__(self, state):
        vars(self).update(state, _lock=threading.Lock())

    def take(self, rows: Any = None, cols: Any = None, kernels: Any = None) -> MatrixFiles:
        """The same of some rows, columns and kernels, None for all."""
        part = copy(self)
        part._places = self._places if kernels is None else [self._places[m] for m in kernels]
        if rows is not None:
            part._rows = np.asarray(rows) if self._rows is None else self._rows[rows]
        if cols is not None:
            part._cols = np.asarray(cols) if self._cols is None else self._cols[cols]
        n = self.shape[1] if rows is None else len(rows)
        part.shape = (len(part._places), n, self.shape[2] if cols is None else len(cols))
        return part

    def read(self, m: int, rows: np.ndarray | None = None, cols: np.ndarray | None = None) -> np.ndarray:
        """These rows and columns of matrix m, (|rows|, |cols|); rows that follow each other are read at once."""
        path, start = self._places[m]
        rows = np.arange(self.shape[1]) if rows is None else np.asarray(rows)
        rows = rows if self._rows is None else self._rows[rows]
        if self._cols is not None:
            cols = self._cols if cols is None else self._cols[cols]
        out = np.empty((len(rows), self._width if cols is None else len(cols)), self.dtype)
        line = self._width * self.dtype.itemsize
        most = max(1, BLOCK // line)
        cuts = np.flatnonzero(np.diff(rows) != 1) + 1
        with open(path, "rb", buffering=0) as file:
            for low, high in zip([0, *cuts], [*cuts, len(rows)], strict=True):
                for first in range(low, high, most):
                    last = min(first + most, high)
                    block = out[first:last] if cols is None else np.empty((last - first, self._width), self.dtype)
                    file.seek(start + int(rows[first]) * line)
                    if _fill(file, block) != block.nbytes:
                        raise ValueError(_SHORT.format(path, m))
                    if cols is not None:
                        out[first:last] = block[:, cols]
        with self._lock:
            self._count[0] += len(rows) * line
        return out

    def blocks(self, rows: np.ndarray) -> list[np.ndarray]:
        """The rows in parts of some megabytes."""
        step = max(1, BLOCK // (self._width * self.dtype.itemsize))
        return [rows[start : start + step] for start in range(0, len(rows), step)]

    def diagonals(self) -> np.ndarray:
        """k_m(x_i, x_i), (M, n), read one by one."""
        rows = np.arange(self.shape[1]) if self._rows is None else self._rows
        cols = np.arange(self.shape[2]) if self._cols is None else self._cols
        out = np.empty(self.shape[:2], self.dtype)
        for m, (path, start) in enumerate(self._places):
            with open(path, "rb") as file:
                for k, (i, j) in enumerate(zip(rows.tolist(), cols.tolist(), strict=True)):
                    file.seek(start + (i * self._width + j) * self.dtype.itemsize)
                    number = file.read(self.dtype.itemsize)
                    if len(number) < self.dtype.itemsize:
                        raise ValueError(_SHORT.format(path, m))
                    out[m, k] = np.frombuffer(number, self.dtype)[0]
        return out

    def __getitem__(self, index: Any) -> np.ndarray:
        """Matrix m, or [:, i], row i of all of them."""
        if isinstance(index, tuple):
            return np.stack([self.read(m, np.array([index[1]]))[0] for m in range(len(self))])
        return self.read(index)

    def __iter__(self):
        return (self.read(m) for m in range(len(self)))

    def __repr__(self):
        return f"MatrixFiles(shape={self.shape}, dtype={self.dtype})"


def _head(path, ndim):
    """(shape, dtype, where the numbers begin) of an .npy file, or a ValueError."""
    try:
        found = np.load(path, mmap_mode="r", allow_pickle=False)
    except (ValueError, EOFError) as error:
        raise ValueError(f"{path} is not an .npy file that can be read by blocks ({error}): np.save it.") from error
    if not isinstance(found, np.memmap) or found.ndim != ndim:
        wanted = "(n, n), one kernel; several in one file are given as one path" if ndim == 2 else "(M, n, n)"
        shape = getattr(found, "shape", None)  # an .npz file of NumPy's has none
        raise ValueError(f"{path} holds an array of shape {shape}; it must be {wanted}.")
    if found.dtype not in (np.float32, np.float64) or not found.dtype.isnative or not found.flags.c_contiguous:
        order = "" if found.flags.c_contiguous else " in Fortran order"
        raise ValueError(
            f"{path} holds {found.dtype}{order}: give float32 or float64 in C order, "
            "np.save(path, np.ascontiguousarray(K, dtype=np.float32))."
        )
    return found.shape, found.dtype, found.offset


def _fill(file, block):
    """Reads until the block is full or the file ends; the bytes read."""
    view, done = memoryview(block).cast("B"), 0
    while done < len(view):
        got = file.readinto(view[done:])
        if not got:
            break
        done += got
    return done
