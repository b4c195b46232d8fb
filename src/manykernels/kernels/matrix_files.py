"""Kernel matrices in .npy files, larger than memory: read by rows, in the order of the disk.

The files are not memory-mapped: mapped pages count as memory of the process until the system frees them.
"""

import math
import os
import threading
from collections.abc import Sequence
from copy import copy
from os import PathLike
from typing import Any, Self

import numpy as np

from .frames import cut

_TRUNCATED = "{} has become shorter: it ends within matrix {}; write it again."
BYTES_PER_READ = 2**24


class MatrixFiles:
    """M matrices (n, n') in one .npy file (M, n, n'), or in M files (n, n') each: the `matrices` of a `KernelStack`.

    `take` cuts kernels, rows and columns without reading; `read` reads rows of one matrix.
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
        return math.prod(self.shape)

    @property
    def nbytes(self) -> int:
        return self.size * self.dtype.itemsize

    @property
    def bytes_read(self) -> int:
        """The bytes read by this object and by all objects cut from the same files."""
        return self._count[0]

    def __len__(self) -> int:
        return self.shape[0]

    def __getstate__(self):
        return {name: value for name, value in vars(self).items() if name != "_lock"}

    def __setstate__(self, state):
        vars(self).update(state, _lock=threading.Lock())

    def take(self, rows: Any = None, cols: Any = None, kernels: Any = None) -> Self:
        """Some rows, columns and kernels, None for all; reads nothing."""
        part = copy(self)
        part._places = self._places if kernels is None else [self._places[m] for m in kernels]
        part._rows = rows if self._rows is None else cut(self._rows, rows)
        part._cols = cols if self._cols is None else cut(self._cols, cols)
        n = self.shape[1] if rows is None else len(rows)
        part.shape = (len(part._places), n, self.shape[2] if cols is None else len(cols))
        return part

    def read(self, m: int, rows: np.ndarray | None = None, cols: np.ndarray | None = None) -> np.ndarray:
        """These rows and columns of matrix m, (|rows|, |cols|); consecutive rows are read at once."""
        path, start = self._places[m]
        rows = np.arange(self.shape[1]) if rows is None else np.asarray(rows)
        rows = rows if self._rows is None else self._rows[rows]
        if self._cols is not None:
            cols = self._cols if cols is None else self._cols[cols]
        out = np.empty((len(rows), self._width if cols is None else len(cols)), self.dtype)
        line, step = self._width * self.dtype.itemsize, self._rows_per_read
        cuts = np.flatnonzero(np.diff(rows) != 1) + 1
        with open(path, "rb", buffering=0) as file:
            for low, high in zip([0, *cuts], [*cuts, len(rows)], strict=True):
                for first in range(low, high, step):
                    last = min(first + step, high)
                    block = out[first:last] if cols is None else np.empty((last - first, self._width), self.dtype)
                    file.seek(start + int(rows[first]) * line)
                    if _fill(file, block) != block.nbytes:
                        raise ValueError(_TRUNCATED.format(path, m))
                    if cols is not None:
                        out[first:last] = block[:, cols]
        with self._lock:
            self._count[0] += len(rows) * line
        return out

    def blocks(self, rows: np.ndarray) -> list[np.ndarray]:
        """The rows in blocks of about BYTES_PER_READ."""
        step = self._rows_per_read
        return [rows[start : start + step] for start in range(0, len(rows), step)]

    @property
    def _rows_per_read(self):
        return max(1, BYTES_PER_READ // (self._width * self.dtype.itemsize))

    def diagonals(self) -> np.ndarray:
        """k_m(x_i, x_i), (M, n), read entry by entry."""
        rows = np.arange(self.shape[1]) if self._rows is None else self._rows
        cols = np.arange(self.shape[2]) if self._cols is None else self._cols
        out = np.empty(self.shape[:2], self.dtype)
        for m, (path, start) in enumerate(self._places):
            with open(path, "rb") as file:
                for k, (i, j) in enumerate(zip(rows.tolist(), cols.tolist(), strict=True)):
                    file.seek(start + (i * self._width + j) * self.dtype.itemsize)
                    number = file.read(self.dtype.itemsize)
                    if len(number) < self.dtype.itemsize:
                        raise ValueError(_TRUNCATED.format(path, m))
                    out[m, k] = np.frombuffer(number, self.dtype)[0]
        return out

    def __getitem__(self, index: Any) -> np.ndarray:
        """Matrix m, or [:, i], row i of all matrices."""
        if isinstance(index, tuple):
            return np.stack([self.read(m, np.array([index[1]]))[0] for m in range(len(self))])
        return self.read(index)

    def __iter__(self):
        return (self.read(m) for m in range(len(self)))

    def __repr__(self):
        return f"MatrixFiles(shape={self.shape}, dtype={self.dtype})"


def _head(path, ndim):
    """(shape, dtype, offset of the numbers) of an .npy file, or a ValueError."""
    try:
        found = np.load(path, mmap_mode="r", allow_pickle=False)
    except (ValueError, EOFError) as error:
        raise ValueError(f"{path} is not an .npy file that can be read by blocks ({error}): np.save it.") from error
    if not isinstance(found, np.memmap) or found.ndim != ndim:
        wanted = "(n, n), one kernel; several in one file are given as one path" if ndim == 2 else "(M, n, n)"
        shape = getattr(found, "shape", None)  # NumPy's NpzFile has none
        raise ValueError(f"{path} holds an array of shape {shape}; it must be {wanted}.")
    if found.dtype not in (np.float32, np.float64) or not found.dtype.isnative or not found.flags.c_contiguous:
        order = "" if found.flags.c_contiguous else " in Fortran order"
        raise ValueError(
            f"{path} holds {found.dtype}{order}: give float32 or float64 in C order, "
            "np.save(path, np.ascontiguousarray(K, dtype=np.float32))."
        )
    return found.shape, found.dtype, found.offset


def _fill(file, block):
    """Reads until the block is full or the file ends, and returns the number of bytes read."""
    view, done = memoryview(block).cast("B"), 0
    while done < len(view):
        got = file.readinto(view[done:])
        if not got:
            break
        done += got
    return done
