"""The alphabet of texts, guessed from their letters."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from .alphabet import PROTEIN

SEVERAL_BASES, RARE_RESIDUES, GAPS = "NRYSWKMBDHV", "XBZJUO", "-.*"  # letters that match nothing if they are few
MIN_BASES, MIN_RESIDUES = 0.9, 0.95  # least shares of the bases, or of the 20 amino acids, among the letters
MIN_LETTERS = 8  # of half of the texts, for sequences: shorter texts may be categories
MIXED = "DNA and RNA are mixed: write T for every U, or U for every T"


def as_texts(items: Iterable[Any]) -> list[str]:
    """The texts and bytes among the items that hold something, in upper case and without white space around them."""
    texts = (item.decode("latin-1") if isinstance(item, bytes) else item for item in items)
    return [text.upper() for text in (text.strip() for text in texts if isinstance(text, str)) if text]


def guess_alphabet(texts: list[str]) -> tuple[str | None, str]:
    """(alphabet, policy for other letters) of texts in upper case; (None, why not) if they are no sequences.

    DNA and RNA may have letters for several bases, proteins the rare B, Z, J, U and O, both may have gaps. They match
    nothing, and may be few only, so that words are no sequences.
    """
    letters = np.frombuffer("".join(texts).encode("latin-1", "replace"), np.uint8)
    counts = np.bincount(letters, minlength=256)

    def of(*known):
        return int(counts[[ord(letter) for letter in "".join(known)]].sum())

    total, gaps = len(letters), of(GAPS)
    kinds = [("dna", "ACGT", SEVERAL_BASES), ("rna", "ACGU", SEVERAL_BASES), (None, "ACGTU", SEVERAL_BASES)]
    for name, main, others in (*kinds, ("protein", PROTEIN.letters, RARE_RESIDUES)):
        plain = total and of(main, others[:1]) == total  # N of DNA and X of proteins belong to the alphabet
        least = MIN_RESIDUES if name == "protein" else MIN_BASES
        if plain and name != "protein" or of(main, others, GAPS) == total > gaps and of(main) >= least * (total - gaps):
            return (name, "error" if plain else "ignore") if name else (None, MIXED)
    return None, "their letters are those of no alphabet"
