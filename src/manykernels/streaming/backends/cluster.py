"""The workers of a Dask client. Shards are futures of pure tasks: if a worker dies, others load its shards again."""

import pickle
import time
import warnings
from collections.abc import Callable, Sequence
from contextlib import contextmanager
from typing import Any

from ..._validation import check_integer, check_number
from ..shards import load
from ._base import Backend

LOOK_INTERVAL = 5.0  # seconds between two checks of the workers
WORKER_TIMEOUT = 120.0  # seconds to wait for a new worker if there is none


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

    def __init__(self, client: Any = None, time_limit: float = 3600.0, retries: int = 3) -> None:
        self.client, self.width = client, 1
        self.time_limit, self.retries = check_number("time_limit", time_limit), check_integer("retries", retries, 0)

    def open(self) -> None:
        from distributed import default_client

        from ... import __version__

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

    def share(self, thing: Any) -> Any:
        packed = pickle.dumps(thing, protocol=5)
        self.sent += len(packed)
        with self._speaking():
            return self._submit(pickle.loads, packed)

    def given(self, source: Any, piece: Any) -> Any:
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
        with warnings.catch_warnings():  # about large graphs: the support vectors must be sent
            warnings.simplefilter("ignore", UserWarning)
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
