"""How much a fit has worked: counted where its loops turn, not timed, so that results repeat on every machine.

    with Allowance(2e6):        # about two seconds
        spend(50.0)             # raises Exhausted once more than that is spent

The unit is about a microsecond of one core. Loops say what one turn costs: some for Python, and 1e-3 for each entry of
a matrix that is read; a Cholesky factor of n rows costs about 1e-4 n³.
"""

from __future__ import annotations

import threading

_mine = threading.local()


class Exhausted(Exception):
    """The work that was allowed is done."""


class Allowance:
    """A context manager, in which this thread may `spend` so much; `left` says how much of it is left."""

    def __init__(self, left: float) -> None:
        self.left = left

    def __enter__(self) -> Allowance:
        self.outer, _mine.allowance = getattr(_mine, "allowance", None), self
        return self

    def __exit__(self, *error: object) -> None:
        _mine.allowance = self.outer


def spend(work: float) -> None:
    """Takes note of some work; nothing happens where there is no `Allowance`."""
    allowance = getattr(_mine, "allowance", None)
    if allowance is not None:
        allowance.left -= work
        if allowance.left < 0:
            raise Exhausted
