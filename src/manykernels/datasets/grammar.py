"""DNA sequences of which half hold motifs at fixed distances from each other."""

from typing import NamedTuple

import numpy as np

from .._validation import check_integer, check_number
from ..sequences import DNA, Sequences

MOTIFS = ("TGACTCAT", "ACCGGAAG", "GGCACGTG")


class Grammar(NamedTuple):
    """The sequences of `make_grammar`, and what was planted.

    Parameters
    ----------
    X : Sequences
        The n sequences.
    y : array (n,) of int
        1 with motifs, −1 without.
    motifs : list of arrays (w, 4)
        The probabilities of A, C, G and T at the places of each motif.
    places : array (n, M) of int
        Where each motif begins in each sequence, −1 if it is absent.
    strands : array (n,) of int
        1, or −1 if the motifs stand on the other strand, in reverse order.

    Examples
    --------
    >>> from manykernels.datasets import make_grammar
    >>> found = make_grammar(10)
    >>> type(found).__name__, len(found.X), found.places.shape
    ('Grammar', 10, (10, 3))
    """

    X: Sequences
    y: np.ndarray
    motifs: list[np.ndarray]
    places: np.ndarray
    strands: np.ndarray


def make_grammar(
    n: int, length: int = 150, motifs: tuple[str, ...] = MOTIFS, *,
    gap: int = 6, purity: float = 0.9, present: float = 0.9, random_state: int = 0,
) -> Grammar:  # fmt: skip
    """Random sequences; every second one has the motifs, in their order, `gap` letters apart, on one of both strands.

    Parameters
    ----------
    n : int
        Number of sequences.
    length : int, default 150
        Letters of a sequence.
    motifs : tuple of str
        The most likely letters of each motif; () plants nothing.
    gap : int, default 6
        Random letters between two motifs.
    purity : float, default 0.9
        The probability of the most likely letter at each place of a motif; the other three share the rest.
    present : float, default 0.9
        The probability of each motif in a sequence of class 1. An absent motif leaves random letters at its place.
    random_state : int, default 0

    Returns
    -------
    Grammar

    Examples
    --------
    >>> from manykernels.datasets import make_grammar
    >>> one = make_grammar(4, 30, ("GATTACA",), purity=1.0, present=1.0)
    >>> p = one.places[1, 0]
    >>> one.y, one.X[1:2].window(p, p + 7)[0] in ("GATTACA", "TGTAATC")
    (array([-1,  1, -1,  1]), True)
    """
    check_integer("n", n)
    check_integer("length", length)
    check_integer("gap", gap, 0)
    check_number("purity", purity, 0.25, 1, "both")
    check_number("present", present, 0, 1, "both")
    rng = np.random.default_rng(check_integer("random_state", random_state, 0))
    tables = [_table(motif, purity) for motif in motifs]
    starts = np.cumsum([0] + [len(table) + gap for table in tables])
    whole = int(starts[-1]) - gap
    if whole > length:
        raise ValueError(f"length={length} is less than the {whole} letters of motifs and gaps: raise it")
    codes, places = rng.integers(4, size=(n, length)), np.full((n, len(tables)), -1)
    y, strands = np.where(np.arange(n) % 2, 1, -1), rng.choice([1, -1], size=n)
    for i in np.flatnonzero(y > 0):
        first = int(rng.integers(length - max(whole, 0) + 1))
        row = codes[i] if strands[i] > 0 else (3 - codes[i])[::-1]  # the codes of A, C, G, T: 3 − code is opposite
        for m, table in enumerate(tables):
            if rng.random() < present:
                at = first + int(starts[m])
                row[at : at + len(table)] = [rng.choice(4, p=column) for column in table]
                places[i, m] = at if strands[i] > 0 else length - at - len(table)
        codes[i] = row if strands[i] > 0 else (3 - row)[::-1]
    letters = np.frombuffer(DNA.letters.encode(), np.uint8)[codes]
    return Grammar(Sequences.encode(letters, "dna"), y, tables, places, strands)


def _table(motif, purity):
    """Probabilities (w, 4) of the letters of a motif."""
    if not motif or set(motif) - set(DNA.letters):
        raise ValueError(f"motifs has {motif!r}: give texts of the letters A, C, G and T")
    hot = np.array([[letter == one for letter in DNA.letters] for one in motif])
    return np.where(hot, purity, (1 - purity) / 3)
