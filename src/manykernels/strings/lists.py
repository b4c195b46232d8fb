"""Lists of string kernels: parts of one kernel by degree or position, and the default for sequences."""

from typing import Any

import numpy as np

from .._validation import check_integer
from ..kernels.base import Kernel
from ..sequences import Sequences
from ..sequences.alphabet import FOREIGN, Alphabet, as_texts, guess_alphabet, refuse_foreign
from .degree import Degree, WeightedDegree, WeightedDegreeShift
from .gapped_kmer import GappedKmer
from .spectrum import Spectrum


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
    return [(name, WeightedDegree(d, start, stop, alphabet, unknown)) for name, start, stop in _blocks(length, block)]


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
    return [
        (f"degree {k}, {name}", Degree(k, start, stop, alphabet, unknown))
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


def sequence_kernels(X: Any) -> list[tuple[str, Kernel]]:
    """The kernels of an estimator with kernels="auto" on sequences.

    Words of up to six letters anywhere, by the roots of their counts (proteins: three letters, by their counts), and at
    the same place if all sequences have one length; of DNA and RNA also words near the same place, and gapped words of
    both strands anywhere. Words are no longer than all sequences but the shortest twentieth. The alphabet is that of
    `Sequences`, else the first of DNA, RNA and proteins that has all letters, but for a few: N, X, letters for several
    bases, rare amino acids and gaps match nothing, also those that only new sequences have. If at least 99 % of the
    letters are bases, any other letter is an error, which names it. Upper and lower case are the same.

    Parameters
    ----------
    X : list or array of str or bytes, or Sequences

    Returns
    -------
    list of (name, kernel)

    Examples
    --------
    >>> from manykernels.strings import sequence_kernels
    >>> [name for name, kernel in sequence_kernels(["ACGTA", "ACGT"])]
    ['2 letters anywhere', '3 letters anywhere', '4 letters anywhere']
    """
    if isinstance(X, Sequences):
        alphabet: Any = X.alphabet
        name, lengths, policy = alphabet.name, X.lengths, "ambiguous"
    else:
        texts = as_texts(X)
        lengths, (alphabet, policy) = np.array([len(text) for text in texts]), guess_alphabet(texts)
        name = alphabet
        if name is None:
            raise ValueError(
                f"X has no sequences of DNA, RNA or proteins ({policy}): give texts of one alphabet, or list kernels "
                "with an alphabet of your own, such as Spectrum(3, alphabet=...)."
            )
        if policy == FOREIGN:
            refuse_foreign(X, name)
    options: dict[str, Any] = dict(alphabet=alphabet, unknown=policy)
    shortest, strands = int(np.quantile(lengths, _SHORT, method="lower")), name in ("dna", "rna")
    top = min(6 if strands else 3, shortest)
    placed = range(1, top + 1) if len(set(lengths)) == 1 else ()
    shifts = [s for s in _SHIFTS if strands and placed and s < shortest]
    found: list[tuple[str, Kernel]] = [(f"{_letters(k)} at a place", Degree(k, **options)) for k in placed]
    found += [(f"up to {_letters(top)} at a place ± {s}", WeightedDegreeShift(top, s, **options)) for s in shifts]
    roots = "sqrt" if strands else "all"  # measured on binding sites and promoters alone, see docs/sequences.md
    found += [(f"{_letters(k)} anywhere", Spectrum(k, **options, counts=roots)) for k in range(min(2, top), top + 1)]
    for span, k in _GAPPED:
        if strands and span <= shortest:
            kernel = GappedKmer(span, k, **options, reverse_complement=True)
            found.append((f"{k} of {_letters(span)} anywhere, both strands", kernel))
    return found


def _letters(k):
    return f"{k} letter{'s'[: k != 1]}"


_SHIFTS = 3, 10
_SHORT = 0.05  # share of the sequences that may be too short to hold the longest words
_GAPPED = (6, 4), (10, 6)  # (l, k)
