"""Data larger than memory, or larger than a machine: fits on sources that are read block by block.

    MKLClassifier(kernels).fit(ArrayFile("X.npy"), y)
    MKLClassifier(degree_kernels(20)).fit(FastaFiles("sites_*.fa.gz"), "class")

The fit is the same as in memory: the same objective, the same weights and the same certificate over all examples. See
docs/streaming.md.
"""

from .arrays import ArrayFile, DaskCollection, HDF5File, ZarrArray
from .backends import Backend, Cluster, Processes, Threads, using
from .files import CSVFiles, FastaFiles, ParquetFiles, from_paths
from .sources import DataSource

__all__ = [
    "ArrayFile", "Backend", "CSVFiles", "Cluster", "DaskCollection", "DataSource", "FastaFiles", "HDF5File",
    "ParquetFiles", "Processes", "Threads", "ZarrArray", "as_source", "is_source", "using",
]  # fmt: skip


def as_source(X) -> DataSource:
    """X if it is a source, or the source of a Dask array, DataFrame or bag of file paths.

    Parameters
    ----------
    X : DataSource or Dask collection

    Returns
    -------
    DataSource

    Examples
    --------
    >>> import dask.array as da
    >>> from manykernels.streaming import as_source
    >>> as_source(da.ones((10, 2), chunks=(5, 2)))
    DaskCollection('Array of 2 partitions')
    """
    if not is_source(X):
        raise ValueError(f"X is of type {type(X).__name__}, which is no source: use one of manykernels.streaming.")
    if isinstance(X, DataSource):
        return X
    return from_paths(X.compute()) if type(X).__module__.startswith("dask.bag") else DaskCollection(X)


def is_source(X) -> bool:
    """Whether X is a source or a Dask array, DataFrame or bag.

    Parameters
    ----------
    X : anything that `fit` takes

    Returns
    -------
    bool

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels.streaming import is_source
    >>> is_source(np.ones((3, 2)))
    False
    """
    # a collection of Dask
    lazy = type(X).__module__.split(".")[0] in ("dask", "dask_expr") and hasattr(X, "to_delayed")
    return isinstance(X, DataSource) or lazy
