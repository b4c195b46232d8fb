"""Counts the work of a fit instead of its time, so that results repeat on every machine.

    with Allowance(2e6):        # about two seconds
        spend(50.0)             # raises Exhausted once more than that is spent

The unit is about a microsecond of one core. Loops state the cost of one turn: a constant for Python, and 1e-3 for each
entry of a matrix that they read; a Cholesky factor of n rows costs about 1e-4 n³.
"""

import threading
from typing import Self


class Exhausted(Exception):
    """The allowed work is used up."""


class Allowance:
    """A context in which this thread may `spend` this much work; `left` is the rest."""

    def __init__(self, left: float) -> None:
        self.left = left

    def __enter__(self) -> Self:
        self.outer, _mine.allowance = _mine.allowance, self
        return self

    def __exit__(self, *error: object) -> None:
        _mine.allowance = self.outer


class _Mine(threading.local):
    allowance: Allowance | None = None


_mine = _Mine()


def spend(work: float) -> None:
    """Counts some work; does nothing outside an `Allowance`."""
    allowance = _mine.allowance
    if allowance is not None:
        allowance.left -= work
        if allowance.left < 0:
            raise Exhausted
