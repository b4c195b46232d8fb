"""Backends, which run functions on the shards: threads or processes of this machine, or the workers of Dask."""

import os
import pickle
import sys
import tempfile
import time
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from multiprocessing import get_context
from typing import Any, NamedTuple

from .._threads import n_threads, run_blocks
from .._validation import check_integer, check_number
from .shards import load

MAX_TRIES = 3  # with a new pool, after a process was killed
LOOK_INTERVAL = 5.0  # seconds between two checks of the workers
WORKER_TIMEOUT = 120.0  # seconds to wait for a new worker if there is none


class Backend(ABC):
    """Runs functions on shards. `hold` and `share` return handles, which `run` replaces by their objects.

    Attributes
    ----------
    width : int
        The number of calls that run at the same time.
    keeps_blocks : bool
        Whether blocks of pieces that can only be read in order are kept in files of this machine.

    Examples
    --------
    >>> from manykernels.streaming import Backend, Threads
    >>> backend = Threads(n_jobs=1)
    >>> isinstance(backend, Backend), backend.run(pow, [(2, 3), (3, 2)])
    (True, [8, 9])
    """

    width: int
    keeps_blocks = True
    here = False  # whether calls run in this process
    sent = 0  # bytes sent to the shards so far

    def open(self) -> None:
        """Starts the backend; called first."""
        self.sent = 0

    def close(self) -> None:
        """Closes the backend; called last."""
        return

    def hold(self, shards: Sequence[Any]) -> list[Any]:
        """Handles of shards, valid while the backend is open.

        Parameters
        ----------
        shards : list of Shard

        Returns
        -------
        list
        """
        return list(shards)

    def share(self, thing) -> Any:
        """The handle of an object that all calls of a round use.

        Parameters
        ----------
        thing : object
            A new object may replace the last one.

        Returns
        -------
        object
        """
        return thing

    def given(self, source, piece) -> Any:
        """The handle of a piece that a worker computes; None if `read` takes the piece itself."""
        return None

    @abstractmethod
    def run(self, function: Callable, calls: Sequence[tuple]) -> list[Any]:
        """[function(*call) for call in calls].

        Parameters
        ----------
        function : callable
        calls : list of tuple

        Returns
        -------
        list
        """


class Threads(Backend):
    """The threads of this process, the default backend.

    Parameters
    ----------
    n_jobs : int or None, default None
        Threads; None or -1 for all cores.

    Examples
    --------
    >>> from manykernels.streaming import Threads
    >>> Threads(n_jobs=2).run(len, [("ab",), ("abc",)])
    [2, 3]
    """

    here = True

    def __init__(self, n_jobs: int | None = None) -> None:
        self.n_jobs, self.width = n_jobs, n_threads(n_jobs)

    def run(self, function: Callable, calls: Sequence[tuple]) -> list[Any]:
        return run_blocks(lambda call: function(*call), calls, self.n_jobs)


class StoredFile(NamedTuple):
    """An object in a file of the temporary folder."""

    path: str
    passing: bool


class Processes(Backend):
    """Processes of this machine, with a thread each; a killed process is replaced.

    Parameters
    ----------
    n_workers : int or None, default None
        The number of processes; None for one per core.

    Examples
    --------
    >>> from manykernels.streaming import Processes, using
    >>> with using(Processes(2)):
    ...     pass  # MKLClassifier(...).fit(source, y)
    """

    def __init__(self, n_workers: int | None = None) -> None:
        self.width = n_threads(-1) if n_workers is None else check_integer("n_workers", n_workers)

    def open(self) -> None:
        self.folder, self.sent, self.count = tempfile.TemporaryDirectory(prefix="manykernels-"), 0, 0
        self.pool = self._pool()

    def _pool(self):
        return ProcessPoolExecutor(self.width, mp_context=get_context("spawn"))

    def close(self) -> None:
        self.pool.shutdown(cancel_futures=True)
        self.folder.cleanup()

    def hold(self, shards: Sequence[Any]) -> list[Any]:
        return [self._store(shard, False) for shard in shards]

    def share(self, thing) -> Any:
        return self._store(thing, True)

    def _store(self, thing, passing):
        path, self.count = os.path.join(self.folder.name, f"{self.count}.pickle"), self.count + 1
        with open(path, "wb") as file:
            pickle.dump(thing, file, protocol=5)
        self.sent += os.path.getsize(path)
        return StoredFile(path, passing)

    def run(self, function: Callable, calls: Sequence[tuple]) -> list[Any]:
        for _ in range(MAX_TRIES):
            try:
                return [found.result() for found in [self.pool.submit(_call, function, call) for call in calls]]
            except BrokenProcessPool as error:
                died = error
                self.pool.shutdown(cancel_futures=True)
                self.pool = self._pool()
        raise RuntimeError(
            f"processes of the pool died {MAX_TRIES} times in a row, killed from outside or for lack of "
            "memory: take fewer, Processes(n_workers), or a smaller memory_limit."
        ) from died


_last: dict[str, Any] = {}  # the last shared object


def _call(function, call):
    return function(*(_restored(value) for value in call))


def _restored(value):
    if not isinstance(value, StoredFile):
        return value
    if value.path in _last:
        return _last[value.path]
    with open(value.path, "rb") as file:
        found = pickle.load(file)
    if value.passing:
        _last.clear()
        _last[value.path] = found
    return found


class Cluster(Backend):
    """The workers of a Dask client; the default if `distributed` has an active client.

    The driver holds all state. If a worker dies, others load its shards again.

    Parameters
    ----------
    client : distributed.Client, optional
        The active one unless given.
    time_limit : float, default 3600
        Seconds that a round may take; the error then names the workers that are late.
    retries : int, default 3
        How often a task that fails is tried again.

    Examples
    --------
    >>> from manykernels.streaming import Cluster
    >>> Cluster(client=None, time_limit=60.0).retries
    3
    """

    keeps_blocks = False

    def __init__(self, client=None, time_limit: float = 3600.0, retries: int = 3) -> None:
        self.client, self.width = client, 1
        self.time_limit, self.retries = check_number("time_limit", time_limit), check_integer("retries", retries, 0)

    def open(self) -> None:
        from distributed import default_client

        from .. import __version__

        self.client = default_client() if self.client is None else self.client
        self.address = getattr(self.client.scheduler, "address", "of the client")  # Dask's scheduler
        with self._speaking():
            found = self.client.run(_version, on_error="return")
            versions = {worker: None if isinstance(v, ImportError) else v for worker, v in found.items()}
            versions = {w: v for w, v in versions.items() if not isinstance(v, Exception)}  # workers that just died
            self.workers = sorted(versions)
            if not self.workers:
                raise RuntimeError(f"{self._called()} has no workers: start some, or close the client.")
            threads = self.client.nthreads()
        other = {worker: found for worker, found in versions.items() if found != __version__}
        if other:
            worker, found = next(iter(other.items()))
            raise RuntimeError(
                f"manykernels is {__version__} here and {found or 'not installed'} at {len(other)} of "
                f"{len(versions)} workers, {worker} for one: install the same version everywhere."
            )
        self.width, self.sent = sum(threads.values()), 0

    def hold(self, shards: Sequence[Any]) -> list[Any]:
        held = []
        with self._speaking():
            for k, shard in enumerate(shards):
                near = dict(workers=[self.workers[k % len(self.workers)]], allow_other_workers=True)
                held.append(self._submit(load, shard, self.given(shard.source, shard.piece), **near))
        return held

    def share(self, thing) -> Any:
        packed = pickle.dumps(thing, protocol=5)
        self.sent += len(packed)
        with self._speaking():
            return self._submit(pickle.loads, packed)

    def given(self, source, piece) -> Any:
        part = source.delayed(piece)
        if part is None:
            return None
        with self._speaking():
            return self.client.compute(part)

    def run(self, function: Callable, calls: Sequence[tuple]) -> list[Any]:
        from distributed import wait

        with self._speaking():
            futures = [self._submit(function, *call) for call in calls]
            begun = alone = time.monotonic()
            while True:
                try:
                    wait(futures, timeout=min(LOOK_INTERVAL, self.time_limit))
                    return self.client.gather(futures)
                except TimeoutError:
                    now = time.monotonic()
                    alone = now if self.client.nthreads() else alone
                    if now - alone > WORKER_TIMEOUT:
                        raise RuntimeError(f"{self._called()} has no workers any more: start some.") from None
                    if now - begun >= self.time_limit:
                        raise TimeoutError(self._late(futures)) from None

    def _submit(self, function, *args, **options):
        # about large graphs: the support vectors must be sent
        with warnings.catch_warnings(action="ignore", category=UserWarning):
            return self.client.submit(function, *args, pure=False, retries=self.retries, **options)

    def _late(self, futures):
        """A sentence that names the workers that have not answered."""
        waiting = {future.key for future in futures if future.status == "pending"}
        where = {worker: len(waiting & {str(key) for key in keys}) for worker, keys in self.client.processing().items()}
        slow = {worker: count for worker, count in where.items() if count}
        names = ", ".join(f"{worker} ({count} shards)" for worker, count in slow.items()) or "no worker in particular"
        for future in futures:
            future.cancel()
        return (
            f"a round took longer than time_limit={self.time_limit:g} seconds, and {len(waiting)} of {len(futures)} "
            f"shards have no answer from {names}: look at that worker, or give "
            "using(Cluster(time_limit=...)) more time."
        )

    def _called(self):
        return f"the Dask scheduler {self.address}"

    @contextmanager
    def _speaking(self):
        """Explains the error if the scheduler does not answer any more."""
        from asyncio import CancelledError as Stopped
        from concurrent.futures import CancelledError

        from distributed.comm import CommClosedError

        try:
            yield
        except (Exception, Stopped) as error:
            lost = isinstance(error, CommClosedError | ConnectionError | CancelledError | Stopped)
            if not lost and self.client.scheduler is not None and self.client.status != "closed":
                raise
            raise RuntimeError(
                f"{self._called()} does not answer any more ({type(error).__name__}): start it again; a fit with "
                "checkpoint=... goes on where it was."
            ) from error


def _version():
    from manykernels import __version__

    return __version__


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
