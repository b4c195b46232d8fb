import hashlib
import os
from contextlib import contextmanager
from typing import Any

from .base import ArraySource


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
        try:
            import zarr
        except ImportError as error:
            raise ImportError("ZarrArray needs zarr: pip install manykernels[stream]") from error
        if self.name is None:
            if name is not None:
                raise ValueError(f"y={name!r}: {self.path} holds one array; give y as an array.")
            yield zarr.open_array(self.path, mode="r")
            return
        group = zarr.open_group(self.path, mode="r")
        if name not in group:
            raise ValueError(f"{self.path} has no array {name!r}; it has {sorted(group)}.")
        yield group[name]

    def fingerprint(self, piece: Any) -> tuple:
        """Names, sizes and times of all files of the array."""
        top = self.path if self.name is None else os.path.join(self.path, self.name)
        found = [entry.path for folder, _, _ in os.walk(top) for entry in os.scandir(folder) if entry.is_file()]
        looks = [(path, info.st_size, info.st_mtime_ns) for path in sorted(found) for info in [os.stat(path)]]
        return top, len(looks), hashlib.blake2b(repr(looks).encode(), digest_size=16).hexdigest()
