"""What a fit may take: shares of a `memory_limit`, and work that is counted instead of its time.

The parts of a `memory_limit` are alternatives or follow one another, so that their shares need not sum to one.
docs/performance.md shows this table and lists what the limit does not count.

Work is counted, so that results repeat on every machine:

    with Allowance(2e6):        # about two seconds
        spend(50.0)             # raises Exhausted once more than that is spent

The unit is about a microsecond of one core. Loops state the cost of one turn: a constant for Python, and 1e-3 for each
entry of a matrix that they read; a Cholesky factor of n rows costs about 1e-4 n³.
"""

import os
import threading
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple, Self

MIN_FLOAT32_GAP = 1e-4  # smallest gap for which float32 is precise enough
MIN_EXAMPLES_PER_FEATURE = 4  # for the solver `primal`


class Share(NamedTuple):
    """One part in `divisor` of the limit; `unlimited` bytes without one."""

    divisor: int
    unlimited: int


SHARES = {
    "matrices kept": Share(2, 2**32),  # kernel matrices that a fit keeps, or the rows that `chunking` caches
    "matrices of folds": Share(1, 2**32),  # of all examples; folds share them
    "copied rows": Share(1, 2**63),  # of a stack in memory, for the active examples
    "rows read from files": Share(2, 2**63),  # of a stack on disk
    "matrices of auto kernels": Share(1, 2**63),  # in float32; bounds the number of kernels
    "corrected matrices": Share(1, 2**32),  # with another spectrum, psd="clip" or "shift"
    "one matrix of pairs": Share(1, 2**32),  # the largest one of a kernel of pairs
    "base blocks": Share(4, 2**31),  # distances and products for kernels computed on the fly
    "tiles": Share(2, 2**33),  # of kernels computed on the fly
    "kernel rows": Share(4, 2**30),  # from which scales are estimated
    "values of words": Share(2, 2**29),
    "values of all words": Share(2, 2**31),  # that are possible, twice for each kernel
    "tables of words": Share(4, 2**63),  # values of short words, besides a bound by the data
    "features kept": Share(2, 2**31),  # of approximated kernels
    "features of columns": Share(1, 2**63),  # that linear kernels take from X
    "features of a pass": Share(4, 2**31),  # that `primal` keeps from pass to pass
    "device on the host": Share(1, 2**32),  # PyTorch's device "cpu"
    "blocks of a stream": Share(4, 2**29),
    "bank of a stream": Share(2, 2**63),  # of its active examples
    "active examples": Share(2, 2**63),
    "choice of C": Share(2, 2**63),  # the matrix of a sample, and its factors
}

DEVICE_SHARES = {"base block": 0.4, "matrices": 0.6, "stripes": 0.25, "features": 0.6}  # of the free memory of a device


class MemoryBudget(NamedTuple):
    """The shares of `limit` bytes; None for no limit.

    Examples
    --------
    >>> MemoryBudget(4_000_000_000).share("kernel rows")
    1000000000
    >>> MemoryBudget(None).share("kernel rows") == 2**30
    True
    """

    limit: float | None

    def share(self, part: str) -> float:
        """Bytes for this part, one of `SHARES`."""
        divisor, unlimited = SHARES[part]
        return unlimited if self.limit is None else self.limit // divisor


def machine_memory() -> float:
    """Bytes of memory of this machine, or of the container if that is less; infinite where they are unknown."""
    found = float("inf")
    with suppress(AttributeError, OSError, ValueError):  # sysconf is Python's on Unix
        found = float(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    with suppress(OSError, ValueError):
        found = min(found, float(Path("/sys/fs/cgroup/memory.max").read_text()))
    return found


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
