from collections.abc import Iterator
from typing import Any, Self

import numpy as np

from ..._validation import check_integer
from ...kernels.base import len_
from .base import DataSource, as_in_memory


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

    def __init__(self, collection: Any, rows: int = 2**16) -> None:
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

    def delayed(self, piece: Any) -> Any:
        return None if self._parts is None else self._parts[piece]

    def read(self, piece: Any) -> Iterator[tuple[Any, np.ndarray | None]]:
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
