"""One budget of memory: what a `memory_limit` is shared out to, and what each part may take where there is none.

The parts are alternatives or follow one another, so that their shares need not sum to one. docs/performance.md has this
table, and what lies outside the limit.
"""

from __future__ import annotations

from typing import NamedTuple


class Share(NamedTuple):
    """One part in `divisor` of the limit; `unlimited` bytes without one."""

    divisor: int
    unlimited: int


SHARES = {
    "matrices kept": Share(2, 2**32),  # kernel matrices that are held for all of a fit
    "matrices of folds": Share(1, 2**32),  # of all examples, that folds share
    "corrected matrices": Share(1, 2**32),  # with another spectrum, psd="clip" or "shift"
    "one matrix of pairs": Share(1, 2**32),  # the largest that is built of a kernel of pairs
    "base blocks": Share(4, 2**31),  # distances and products that kernels on the fly are computed from
    "tiles": Share(2, 2**33),  # of those kernels, beside what is held
    "kernel rows": Share(4, 2**30),  # that `chunking` caches
    "values of words": Share(2, 2**29),
    "features kept": Share(2, 2**31),  # of approximated kernels
    "features of a pass": Share(4, 2**31),  # that `primal` keeps from pass to pass
    "blocks of a stream": Share(4, 2**29),
    "bank of a stream": Share(2, 2**63),  # of its active examples
    "active examples": Share(2, 2**63),
}


class MemoryBudget(NamedTuple):
    """What may be taken of `limit` bytes; None for no limit.

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
