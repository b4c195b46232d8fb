"""The protocol of a data source: its pieces, their blocks, and fingerprints that tell whether it has changed."""

import hashlib
import os
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from copy import copy
from typing import Any, Self

import numpy as np

from ..kernels.frames import len_

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
    def read(self, piece) -> Iterator[tuple[Any, np.ndarray | None]]:
        """Yields (X, y) of each block, the same at each call; y holds the targets called `target`, None without one."""

    def files(self, piece) -> list[str]:
        """The files of a piece, which must not change while a fit runs."""
        return []

    def fingerprint(self, piece) -> tuple:
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

    def delayed(self, piece) -> Any:
        """The piece as a Dask delayed object, whose result `read` takes; None if `read` takes the piece itself."""
        return None

    def where(self, piece) -> str:
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


@contextmanager
def needing(package: str, owner: DataSource) -> Iterator[None]:
    """Says how to install the package that reads the files of `owner`, if it cannot be imported."""
    try:
        yield
    except ImportError as error:
        raise ImportError(f"{type(owner).__name__} needs {package}: pip install manykernels[stream]") from error


def _look(path):
    info = os.stat(path)
    if not os.path.isfile(path):  # a folder of chunks
        return path, 0, info.st_mtime_ns, ""
    with open(path, "rb") as file:
        ends = file.read(HASHED_BYTES)
        file.seek(max(0, info.st_size - HASHED_BYTES))
        ends += file.read(HASHED_BYTES)
    return path, info.st_size, info.st_mtime_ns, hashlib.blake2b(ends, digest_size=16).hexdigest()
