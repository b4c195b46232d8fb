"""The protocol of a backend: this process, others on this machine, or a cluster."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any


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

    def share(self, thing: Any) -> Any:
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

    def given(self, source: Any, piece: Any) -> Any:
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
