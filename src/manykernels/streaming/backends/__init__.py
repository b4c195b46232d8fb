"""Backends, which run functions on the shards, one file for each."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar

from ._base import Backend
from .cluster import Cluster
from .threads import Threads

_chosen: ContextVar[Backend | None] = ContextVar("manykernels_backend", default=None)


@contextmanager
def using(backend: Backend) -> Iterator[Backend]:
    """Within this context fits on sources use this backend.

    Parameters
    ----------
    backend : Backend
        `Threads()`, `Processes()` or `Cluster()`. Without this context a fit uses the active client of Dask, if there
        is one, else threads.

    Yields
    ------
    Backend

    Examples
    --------
    >>> from manykernels.streaming import Threads, using
    >>> with using(Threads(n_jobs=1)) as backend:
    ...     backend.width
    1
    """
    token = _chosen.set(backend)
    try:
        yield backend
    finally:
        _chosen.reset(token)


def active_backend(n_jobs: int | None = None) -> Backend:
    """The backend of `using`, the active client of Dask, or the threads of this process."""
    chosen = _chosen.get()
    if chosen is not None:
        return chosen
    if "distributed" in sys.modules:
        from distributed import default_client

        with suppress(ValueError):  # there is no client
            return Cluster(default_client())
    return Threads(n_jobs)
