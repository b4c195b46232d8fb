"""Processes of this machine, which exchange objects through files of a temporary folder."""

import os
import pickle
import tempfile
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context
from typing import Any, NamedTuple

from ..._threads import n_threads
from ..._validation import check_integer
from ._base import Backend

MAX_TRIES = 3  # with a new pool, after a process was killed


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

    def share(self, thing: Any) -> Any:
        return self._store(thing, True)

    def _store(self, thing, passing):
        path, self.count = os.path.join(self.folder.name, f"{self.count}.pickle"), self.count + 1
        with open(path, "wb") as file:
            pickle.dump(thing, file, protocol=5)
        self.sent += os.path.getsize(path)
        return StoredFile(path, passing)

    def run(self, function: Callable, calls: Sequence[tuple]) -> list[Any]:
        for tries in range(MAX_TRIES):
            try:
                return [found.result() for found in [self.pool.submit(_call, function, call) for call in calls]]
            except BrokenProcessPool as error:
                self.pool.shutdown(cancel_futures=True)
                self.pool = self._pool()
                if tries == MAX_TRIES - 1:
                    raise RuntimeError(
                        f"processes of the pool died {MAX_TRIES} times in a row, killed from outside or for lack of "
                        "memory: take fewer, Processes(n_workers), or a smaller memory_limit."
                    ) from error
        raise AssertionError


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
