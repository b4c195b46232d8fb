"""Who asks the shards: this process, others on this machine, or a cluster."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any


class Backend(ABC):
    """Runs functions of shards. `hold` and `share` give handles, which stand for what they hold in the calls of `run`.

    Attributes
    ----------
    width : int
        How many calls run side by side.
    keeps_blocks : bool
        Whether pieces that can only be read in order are kept in files of this machine.

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
    sent = 0  # bytes that left this process for the shards since the beginning

    def open(self) -> None:
        """Called before anything else, for what the backend has to look at or to start."""
        self.sent = 0

    def close(self) -> None:
        """Called at the end."""
        return

    def hold(self, shards: Sequence[Any]) -> list[Any]:
        """Handles of shards, for as long as the backend is open.

        Parameters
        ----------
        shards : list of Shard

        Returns
        -------
        list
        """
        return list(shards)

    def share(self, thing: Any) -> Any:
        """The handle of something that all calls of a round look at.

        Parameters
        ----------
        thing : object
            The last one may be forgotten when there is a new one.

        Returns
        -------
        object
        """
        return thing

    def given(self, source: Any, piece: Any) -> Any:
        """The handle of a piece that is computed elsewhere; None where it is read."""
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
