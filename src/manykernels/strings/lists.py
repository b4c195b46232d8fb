"""Lists of kernels that are parts of one string kernel: by degree, by position, or by both."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .._validation import check_integer
from .degree import Degree
from .weighted_degree import WeightedDegree

if TYPE_CHECKING:
    from ..kernels.base import Kernel
    from ..sequences.alphabet import Alphabet


def degree_kernels(d: int, alphabet: str | Alphabet | None = "dna", unknown: str = "error") -> list[tuple[str, Kernel]]:
    """The d kernels Degree(1) … Degree(d): common words of k letters at the same place.

    Parameters
    ----------
    d : int
        Letters of the longest words.
    alphabet, unknown
        As in `Degree`.

    Returns
    -------
    list of (name, kernel)

    Examples
    --------
    >>> from manykernels.strings import degree_kernels
    >>> [name for name, kernel in degree_kernels(3)]
    ['degree 1', 'degree 2', 'degree 3']
    """
    check_integer("d", d)
    return [(f"degree {k}", Degree(k, alphabet=alphabet, unknown=unknown)) for k in range(1, d + 1)]


def position_kernels(
    length: int, d: int, block: int = 1, alphabet: str | Alphabet | None = "dna", unknown: str = "error"
) -> list[tuple[str, Kernel]]:
    """WeightedDegree(d) on each block of positions; the sum of these kernels is WeightedDegree(d).

    Parameters
    ----------
    length : int
        Length of the strings. In longer strings only words that start in the first `length` positions count. Shorter
        strings are refused.
    d : int
        Letters of the longest words.
    block : int, default 1
        Positions per kernel.
    alphabet, unknown
        As in `WeightedDegree`.

    Returns
    -------
    list of (name, kernel)

    Examples
    --------
    >>> from manykernels.strings import position_kernels
    >>> [name for name, kernel in position_kernels(10, 3, block=4)]
    ['positions 0-3', 'positions 4-7', 'positions 8-9']
    """
    check_integer("d", d)
    options: dict[str, Any] = dict(alphabet=alphabet, unknown=unknown)
    return [(name, WeightedDegree(d, start, stop, **options)) for name, start, stop in _blocks(length, block)]


def degree_position_kernels(
    length: int, d: int, block: int = 1, alphabet: str | Alphabet | None = "dna", unknown: str = "error"
) -> list[tuple[str, Kernel]]:
    """Degree(k) for k = 1 … d on each block of positions where a word of k letters can start.

    Parameters
    ----------
    length : int
        As in `position_kernels`.
    d : int
        Letters of the longest words.
    block : int, default 1
        Positions per kernel.
    alphabet, unknown
        As in `Degree`.

    Returns
    -------
    list of (name, kernel)

    Examples
    --------
    >>> from manykernels.strings import degree_position_kernels
    >>> [name for name, kernel in degree_position_kernels(3, 2, block=2)]
    ['degree 1, positions 0-1', 'degree 1, position 2', 'degree 2, positions 0-1']
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
