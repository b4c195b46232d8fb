"""The protocol of a data source: its pieces, their blocks, and fingerprints that tell whether it has changed."""

import glob
import hashlib
import os
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from copy import copy
from typing import Any, Self

import numpy as np

from ..._validation import check_integer
from ...kernels.base import len_

BLOCK_BYTES = 2**23
HASHED_BYTES = 2**16  # at either end of a file


class DataSource(ABC):
    """Examples that `fit` reads block by block instead of an X in memory.

    A source is small, can be pickled and holds no open file. A thread, a process or another machine can
    read each of its `pieces` separately; the blocks of a piece come in order.

    Attributes
    ----------
    target : str or None
        The name of the targets if the source holds them; they are then no part of X.
    in_order : bool
        Whether a piece can only be read from its beginning. A fit then keeps its blocks in a temporary file.

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels.streaming import DataSource
    >>> class Squares(DataSource):
    ...     def pieces(self):
    ...         return [0, 1]
    ...     def read(self, piece):
    ...         yield np.arange(4.0)[:, None] ** 2 + piece, None
    >>> len(Squares())
    8
    """

    target: str | None = None
    in_order = False

    @abstractmethod
    def pieces(self) -> list[Any]:
        """The parts that can be read separately, each a small object that can be pickled."""

    @abstractmethod
    def read(self, piece: Any) -> Iterator[tuple[Any, np.ndarray | None]]:
        """Yields (X, y) of each block, the same at each call; y holds the targets called `target`, None without one."""

    def files(self, piece: Any) -> list[str]:
        """The files of a piece, which must not change while a fit runs."""
        return []

    def fingerprint(self, piece: Any) -> tuple:
        """Sizes, times and hashes of the ends of its files, which change if the piece changes.

        Parameters
        ----------
        piece : object
            One of `pieces()`.

        Returns
        -------
        tuple
        """
        return tuple(_look(path) for path in self.files(piece))

    def delayed(self, piece: Any) -> Any:
        """The piece as a Dask delayed object, whose result `read` takes; None if `read` takes the piece itself."""
        return None

    def where(self, piece: Any) -> str:
        """The name of a piece in errors: its files, or the source."""
        return ", ".join(self.files(piece)) or repr(self)

    def with_target(self, name: str) -> Self:
        """The same source with the targets of that name taken out of X.

        Parameters
        ----------
        name : str

        Returns
        -------
        DataSource
        """
        found = copy(self)
        found.target = name
        return found

    def __len__(self) -> int:
        return sum(len_(X) for piece in self.pieces() for X, _ in self.read(piece))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(map(repr, self._shown()))})"

    def _shown(self):
        return []


def as_in_memory(block: np.ndarray) -> np.ndarray:
    """The block with integers, truth values and float16 as float64, as a fit in memory takes them."""
    return block.astype(np.float64) if block.dtype.kind in "biu" or block.dtype == np.float16 else block


class ArraySource(DataSource):
    """Rows of an array that is sliced on disk: a subclass defines `_opened(name)`."""

    def __init__(self, path: str | os.PathLike[str], name: str | None = None, rows: int | None = None) -> None:
        self.path, self.name = os.fspath(path), name
        self.rows = None if rows is None else check_integer("rows", rows)
        if not os.path.exists(self.path):
            raise FileNotFoundError(f"{self.path!r} does not exist.")
        with naming(self.path), self._opened(name) as X:
            if len(X.shape) != 2:
                raise ValueError(f"{self!r} has shape {X.shape}: give an array (n, d) with one row per example.")
            self.shape, self.itemsize = tuple(int(size) for size in X.shape), X.dtype.itemsize

    def _opened(self, name):
        """A context with the array of that name, which has a shape and a dtype and is sliced by rows."""
        raise NotImplementedError

    def __len__(self):
        return self.shape[0]

    def pieces(self) -> list[Any]:
        size = self.rows or int(np.clip(BLOCK_BYTES // (self.itemsize * max(self.shape[1], 1)), 256, 2**18))
        return [(low, min(low + size, self.shape[0])) for low in range(0, self.shape[0], size)]

    def read(self, piece: Any) -> Iterator[tuple[Any, np.ndarray | None]]:
        low, high = piece
        with self._opened(self.name) as X:
            if X.shape != self.shape:
                raise ValueError(f"{self!r} had shape {self.shape} and has {tuple(X.shape)} now: it has changed.")
            block, y = np.array(X[low:high]), None
        block = as_in_memory(block)
        if self.target is not None:
            with self._opened(self.target) as targets:
                if targets.shape[0] != self.shape[0]:
                    raise ValueError(f"{self.target!r} has {targets.shape[0]} rows and {self!r} has {self.shape[0]}.")
                y = np.array(targets[low:high])
        yield block, y

    def files(self, piece: Any) -> list[str]:
        return [self.path]

    def _shown(self):
        return [self.path] if self.name is None else [self.path, self.name]


class FileSource(DataSource):
    """Several files, each a piece."""

    def __init__(self, paths: Any, rows: int) -> None:
        self.paths, self.rows = find_files(paths), check_integer("rows", rows)

    def pieces(self) -> list[Any]:
        return list(self.paths)

    def files(self, piece: Any) -> list[str]:
        return [piece]

    def _shown(self):
        return self.paths if len(self.paths) <= 3 else [*self.paths[:2], f"… {len(self.paths)} files"]


class SourceError(ValueError):
    """An error that names its files."""


@contextmanager
def naming(where: str) -> Iterator[None]:
    """Turns errors into a ValueError that names `where` they come from, except errors of the system."""
    try:
        yield
    except (ImportError, MemoryError, RuntimeError, SourceError):
        raise
    except Exception as error:
        if where in str(error) and isinstance(error, ValueError | OSError):
            raise
        kind = "" if type(error) is ValueError else f"{type(error).__name__}: "
        raise SourceError(f"{where}: {kind}{str(error).strip()}") from error


def find_files(paths: Any) -> list[str]:
    """The files of a path, a pattern with * or a list of them."""
    several = [paths] if isinstance(paths, str | os.PathLike) else list(paths)
    found: list[str] = []
    for path in [os.fspath(one) for one in several]:
        matches = sorted(glob.glob(path)) if glob.has_magic(path) and not os.path.exists(path) else [path]
        if not matches or not os.path.exists(matches[0]):
            raise FileNotFoundError(f"paths={path!r} names no file.")
        found += matches
    if not found:
        raise ValueError("paths is empty: give at least one file.")
    return found


def _look(path):
    info = os.stat(path)
    if not os.path.isfile(path):  # a folder of chunks
        return path, 0, info.st_mtime_ns, ""
    with open(path, "rb") as file:
        ends = file.read(HASHED_BYTES)
        file.seek(max(0, info.st_size - HASHED_BYTES))
        ends += file.read(HASHED_BYTES)
    return path, info.st_size, info.st_mtime_ns, hashlib.blake2b(ends, digest_size=16).hexdigest()
