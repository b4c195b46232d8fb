from collections.abc import Callable, Sequence
from typing import Any

from ..._threads import n_threads, run_blocks
from ._base import Backend


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
