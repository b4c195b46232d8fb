from contextlib import contextmanager
from os import PathLike

from .base import ArraySource


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

    def __init__(self, path: str | PathLike[str], name: str = "X", rows: int | None = None) -> None:
        super().__init__(path, name, rows)

    @contextmanager
    def _opened(self, name):
        try:
            import h5py
        except ImportError as error:
            raise ImportError("HDF5File needs h5py: pip install manykernels[stream]") from error
        with h5py.File(self.path, "r") as file:
            if name not in file:
                raise ValueError(f"{self.path} has no dataset {name!r}; it has {list(file)}.")
            yield file[name]
