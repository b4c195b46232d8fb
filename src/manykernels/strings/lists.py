"""Kernel lists that make multiple kernel learning of one string kernel: by degree, by position, by both."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .._validation import check_integer
from .degree import Degree
from .weighted_degree import WeightedDegree

if TYPE_CHECKING:
    from ..kernels._base import Kernel
    from ..sequences.alphabet import Alphabet


def degree_kernels(d: int, alphabet: str | Alphabet | None = "dna", unknown: str = "error") -> list[tuple[str, Kernel]]:
    """[(name, kernel)] of the d kernels Degree(1) … Degree(d): common words of k letters at the same place."""
    check_integer("d", d)
    return [(f"degree {k}", Degree(k, alphabet=alphabet, unknown=unknown)) for k in range(1, d + 1)]


def position_kernels(
    length: int, d: int, block: int = 1, alphabet: str | Alphabet | None = "dna", unknown: str = "error"
) -> list[tuple[str, Kernel]]:
    """[(name, kernel)]: WeightedDegree(d) on each `block` of positions of strings of that length; they add up to it.

    Longer strings are taken too: only words that start in their first `length` positions count. Shorter ones are not.
    """
    check_integer("d", d)
    options: dict[str, Any] = dict(alphabet=alphabet, unknown=unknown)
    return [(name, WeightedDegree(d, start, stop, **options)) for name, start, stop in _blocks(length, block)]


def degree_position_kernels(
    length: int, d: int, block: int = 1, alphabet: str | Alphabet | None = "dna", unknown: str = "error"
) -> list[tuple[str, Kernel]]:
    """[(name, kernel)]: Degree(k) for k = 1 … d on each `block` of positions where a word of k letters can start.

    `length` as in `position_kernels`.
    """
    check_integer("d", d)
    options: dict[str, Any] = dict(alphabet=alphabet, unknown=unknown)
    return [
        (f"degree {k}, {name}", Degree(k, start, stop, **options))
        for k in range(1, d + 1)
        for name, start, stop in _blocks(length, block)
        if start <= length - k
    ]


def _blocks(length, block):
    check_integer("length", length)
    check_integer("block", block)
    for start in range(0, length, block):
        stop = min(start + block, length)
        yield f"position {start}" if stop == start + 1 else f"positions {start}-{stop - 1}", start, stop
