import os
import threading
import zipfile
from contextlib import contextmanager

import numpy as np

from .base import ArraySource

_one_at_a_time = threading.Lock()  # Python 3.11 cannot parse a header in two threads (its gh-106905)


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
            if name is not None:
                raise ValueError(f"y={name!r}: a .npy file holds one array; give y as an array.")
            with _one_at_a_time:
                X = np.load(self.path, mmap_mode="r")
            yield X
            return
        with zipfile.ZipFile(self.path) as archive, open(self.path, "rb") as file:
            member = name if name in archive.namelist() else f"{name}.npy"
            if member not in archive.namelist():
                known = [m.removesuffix(".npy") for m in archive.namelist()]
                raise ValueError(f"{self.path} has no array {name!r}; it has {known}.")
            info = archive.getinfo(member)
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
