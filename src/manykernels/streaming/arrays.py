"""Sources of arrays that are sliced by rows: NumPy, HDF5 and zarr files on a disk, and collections of Dask."""

import hashlib
import os
import threading
import zipfile
from abc import abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Self

import numpy as np
from numpy import ndarray

from .._validation import check_integer
from ..kernels.frames import len_
from .sources import DataSource, naming, needing

BLOCK_BYTES = 2**23
_one_at_a_time = threading.Lock()  # Python 3.11 cannot parse a header in two threads (its gh-106905)


def as_in_memory(block: ndarray) -> ndarray:
    """The block with integers, truth values and float16 as float64, as a fit in memory takes them."""
    return block.astype(np.float64) if block.dtype.kind in "biu" or block.dtype == np.float16 else block


class ArraySource(DataSource):
    """Rows of an array that is sliced on disk: a subclass defines `_opened(name)`."""

    noun = "array"

    def __init__(self, path: str | os.PathLike[str], name: str | None = None, rows: int | None = None) -> None:
        self.path, self.name = os.fspath(path), name
        self.rows = None if rows is None else check_integer("rows", rows)
        if not os.path.exists(self.path):
            raise FileNotFoundError(f"{self.path!r} does not exist.")
        with naming(self.path), self._opened(name) as X:
            if len(X.shape) != 2:
                raise ValueError(f"{self!r} has shape {X.shape}: give an array (n, d) with one row per example.")
            self.shape, self.itemsize = tuple(int(size) for size in X.shape), X.dtype.itemsize

    @abstractmethod
    def _opened(self, name):
        """A context with the array of that name, which has a shape and a dtype and is sliced by rows."""

    def _found(self, name, store):
        """The array of that name in a store of several."""
        if name not in store:
            raise ValueError(f"{self.path} has no {self.noun} {name!r}; it has {sorted(store)}.")
        return store[name]

    def __len__(self):
        return self.shape[0]

    def pieces(self) -> list[Any]:
        size = self.rows or int(np.clip(BLOCK_BYTES // (self.itemsize * max(self.shape[1], 1)), 256, 2**18))
        return [(low, min(low + size, self.shape[0])) for low in range(0, self.shape[0], size)]

    def read(self, piece) -> Iterator[tuple[Any, ndarray | None]]:
        low, high = piece
        with self._opened(self.name) as X:
            if X.shape != self.shape:
                raise ValueError(f"{self!r} had shape {self.shape} and has {tuple(X.shape)} now: it has changed.")
            block, y = np.array(X[low:high]), None
        block = as_in_memory(block)
        if self.target is not None:
            if self.name is None:
                raise ValueError(f"y={self.target!r}: {self.path} holds one array; give y as an array.")
            with self._opened(self.target) as targets:
                if targets.shape[0] != self.shape[0]:
                    raise ValueError(f"{self.target!r} has {targets.shape[0]} rows and {self!r} has {self.shape[0]}.")
                y = np.array(targets[low:high])
        yield block, y

    def files(self, piece) -> list[str]:
        return [self.path]

    def _shown(self):
        return [self.path] if self.name is None else [self.path, self.name]


class ArrayFile(ArraySource):
    """The rows of an array (n, d) in a `.npy` file, or in an `.npz` file that `np.savez` wrote.

    Parameters
    ----------
    path : str or path
    name : str, optional
        Of the array in an `.npz` file. Its targets may lie beside it: `fit(ArrayFile("data.npz", "X"), "y")`.
    rows : int, optional
        In a block; about 8 MB unless given.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> from manykernels.streaming import ArrayFile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     np.save(f"{folder}/X.npy", np.ones((10, 2)))
    ...     source = ArrayFile(f"{folder}/X.npy", rows=4)
    ...     [X.shape for piece in source.pieces() for X, _ in source.read(piece)]
    [(4, 2), (4, 2), (2, 2)]
    """

    def __init__(self, path: str | os.PathLike[str], name: str | None = None, rows: int | None = None) -> None:
        zipped = os.fspath(path).endswith(".npz")
        if zipped != (name is not None):
            raise ValueError(f"name={name!r}: " + ("name the array in an .npz file." if zipped else "leave it out."))
        super().__init__(path, name, rows)

    @contextmanager
    def _opened(self, name):
        if self.name is None:
            with _one_at_a_time:
                X = np.load(self.path, mmap_mode="r")
            yield X
            return
        with zipfile.ZipFile(self.path) as archive, open(self.path, "rb") as file:
            members = {member.removesuffix(".npy"): member for member in archive.namelist()}
            info = archive.getinfo(self._found(name.removesuffix(".npy"), members))
            if info.compress_type != zipfile.ZIP_STORED:
                raise ValueError(f"{self.path} is compressed and cannot be mapped: write it with np.savez, or as .npy.")
            file.seek(info.header_offset + 26)
            file.seek(sum(np.frombuffer(file.read(4), "<u2").tolist()), os.SEEK_CUR)
            read = {1: np.lib.format.read_array_header_1_0, 2: np.lib.format.read_array_header_2_0}
            with _one_at_a_time:
                shape, fortran, dtype = read[np.lib.format.read_magic(file)[0]](file)
            if dtype.hasobject:
                raise ValueError(f"{name!r} in {self.path} holds objects, not numbers.")
            yield np.memmap(self.path, dtype, "r", file.tell(), shape, "F" if fortran else "C")


class HDF5File(ArraySource):
    """The rows of a dataset (n, d) in an HDF5 file; needs h5py.

    Parameters
    ----------
    path : str or path
    name : str, default "X"
        Of the dataset. Its targets may lie beside it: `fit(HDF5File("data.h5", "X"), "y")`.
    rows : int, optional
        In a block; about 8 MB unless given.

    Examples
    --------
    >>> import tempfile
    >>> import h5py
    >>> import numpy as np
    >>> from manykernels.streaming import HDF5File
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with h5py.File(f"{folder}/data.h5", "w") as file:
    ...         file["X"] = np.ones((10, 2))
    ...     len(HDF5File(f"{folder}/data.h5", "X"))
    10
    """

    noun = "dataset"

    def __init__(self, path: str | os.PathLike[str], name: str = "X", rows: int | None = None) -> None:
        super().__init__(path, name, rows)

    @contextmanager
    def _opened(self, name):
        with needing("h5py", self):
            import h5py
        with h5py.File(self.path, "r") as file:
            yield self._found(name, file)


class ZarrArray(ArraySource):
    """The rows of an array (n, d) in a zarr group or store on a disk; needs zarr.

    Parameters
    ----------
    path : str or path
        A folder.
    name : str, optional
        Of the array where the folder is a group. Its targets may lie beside it: `fit(ZarrArray("a.zarr", "X"), "y")`.
    rows : int, optional
        In a block; about 8 MB unless given.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> import zarr
    >>> from manykernels.streaming import ZarrArray
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     group = zarr.open_group(f"{folder}/data.zarr", mode="w")
    ...     group["X"] = np.ones((10, 2))
    ...     len(ZarrArray(f"{folder}/data.zarr", "X"))
    10
    """

    @contextmanager
    def _opened(self, name):
        with needing("zarr", self):
            import zarr
        if self.name is None:
            yield zarr.open_array(self.path, mode="r")
        else:
            yield self._found(name, zarr.open_group(self.path, mode="r"))

    def fingerprint(self, piece) -> tuple:
        """Names, sizes and times of all files of the array."""
        top = self.path if self.name is None else os.path.join(self.path, self.name)
        found = [entry.path for folder, _, _ in os.walk(top) for entry in os.scandir(folder) if entry.is_file()]
        looks = [(path, info.st_size, info.st_mtime_ns) for path in sorted(found) for info in [os.stat(path)]]
        return top, len(looks), hashlib.blake2b(repr(looks).encode(), digest_size=16).hexdigest()


class DaskCollection(DataSource):
    """The rows of a Dask array (n, d) or DataFrame; `fit` wraps these objects by itself.

    Parameters
    ----------
    collection : dask.array.Array or dask.dataframe.DataFrame
        An array is cut along its rows only.
    rows : int, default 65536
        In a block, at most.

    Examples
    --------
    >>> import dask.array as da
    >>> from manykernels.streaming import DaskCollection
    >>> source = DaskCollection(da.ones((10, 2), chunks=(5, 2)))
    >>> [X.shape for piece in source.pieces() for X, _ in source.read(piece)]
    [(5, 2), (5, 2)]
    """

    def __init__(self, collection, rows: int = 2**16) -> None:
        self.rows = check_integer("rows", rows)
        if hasattr(collection, "chunks"):  # an array of Dask
            if len(collection.shape) != 2:
                raise ValueError(f"X has shape {collection.shape}: give an array (n, d) with one row per example.")
            collection = collection.rechunk({1: -1})
        self._parts: list[Any] | None = list(np.ravel(collection.to_delayed()))
        self.n_pieces = len(self._parts)
        self._name = f"{type(collection).__name__} of {self.n_pieces} partitions"

    def __getstate__(self) -> dict[str, Any]:
        return vars(self) | {"_parts": None}  # a worker gets only its partition

    def __copy__(self) -> Self:
        found = object.__new__(type(self))
        vars(found).update(vars(self))
        return found

    def pieces(self) -> list[Any]:
        return list(range(self.n_pieces))

    def delayed(self, piece) -> Any:
        return None if self._parts is None else self._parts[piece]

    def read(self, piece) -> Iterator[tuple[Any, ndarray | None]]:
        if isinstance(piece, int):
            if self._parts is None:
                raise ValueError(f"{self!r} cannot be read by another process: use threads, or a Dask client.")
            piece = self._parts[piece].compute(scheduler="synchronous")
        for low in range(0, len_(piece), self.rows):
            frame = hasattr(piece, "iloc")  # a frame of pandas
            X: Any = piece.iloc[low : low + self.rows] if frame else np.asarray(piece[low : low + self.rows])
            X = X if frame else as_in_memory(X)
            if self.target is None:
                yield X, None
                continue
            if not frame or self.target not in X.columns:
                raise ValueError(f"y={self.target!r}: {self!r} has no column of that name.")
            yield X[[name for name in X.columns if name != self.target]], X[self.target].to_numpy()

    def _shown(self):
        return [self._name]
