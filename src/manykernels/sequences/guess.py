"""The alphabet of texts, guessed from their letters."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from .alphabet import GAPS, PROTEIN, RARE_RESIDUES, SEVERAL_BASES

MASKS = "NX"  # of unknown or masked bases, however many they are
MIN_BASES, MIN_RESIDUES = 0.9, 0.95  # least shares of the bases, or of the 20 amino acids, among the letters
NEARLY_ALL = 0.99  # with this share of bases, other letters are errors, and make no proteins of the sequences
MOST, OWN_BASES = 0.9, 0.95  # so do sequences, if most of them have this share of bases
FOREIGN = "foreign"  # the policy if there are such letters
MIN_LETTERS = 8  # of half of the texts, for sequences: shorter texts may be categories
MIXED = "DNA and RNA are mixed: write T for every U, or U for every T"


def as_texts(items: Iterable[Any]) -> list[str]:
    """The texts and bytes among the items that hold something, in upper case and without white space around them."""
    texts = (item.decode("latin-1") if isinstance(item, bytes) else item for item in items)
    return [text.upper() for text in (text.strip() for text in texts if isinstance(text, str)) if text]


def guess_alphabet(texts: list[str]) -> tuple[str | None, str]:
    """(alphabet, policy for other letters) of texts in upper case; (None, why not) if they are no sequences.

    DNA and RNA may have letters for several bases and X, proteins the rare B, Z, J, U and O, both may have gaps. They
    match nothing, and may be few only (but for N and X), so that words are no sequences. The policy is `FOREIGN` if
    nearly all letters, or most sequences, are bases and a few letters are of no base, such as E.
    """
    letters = np.frombuffer("".join(texts).encode("latin-1", "replace"), np.uint8)
    counts = np.bincount(letters, minlength=256)

    def of(*known):
        return int(counts[[ord(letter) for letter in "".join(known)]].sum())

    total, gaps = len(letters), of(GAPS)
    shown = total - gaps - of(MASKS)
    kinds = [("dna", "ACGT"), ("rna", "ACGU"), (None, "ACGTU")]
    for name, main in kinds:
        plain = total and of(main, "N") == total  # N belongs to the alphabet
        if plain or of(main, SEVERAL_BASES, "X", GAPS) == total and 0 < of(main) >= MIN_BASES * shown:
            return (name, "ambiguous") if name else (None, MIXED)
    strange = of("ACGTU", SEVERAL_BASES, "X", GAPS) < total
    for name, main in kinds:
        if 0 < of(main) >= NEARLY_ALL * shown or strange and _share_of(main, letters, texts) >= MOST:
            return (name, FOREIGN) if name else (None, MIXED)
    main = PROTEIN.letters
    plain = total and of(main, "X") == total
    if plain or of(main, RARE_RESIDUES, GAPS) == total > gaps and of(main) >= MIN_RESIDUES * (total - gaps):
        return "protein", "ambiguous"
    return None, "their letters are those of no alphabet"


def _share_of(main, letters, texts):
    """The share of the texts nearly all of whose letters, but for gaps and masks, are among `main`."""
    starts = np.cumsum([0, *map(len, texts[:-1])])
    own, other = (np.isin(letters, list(known.encode())) for known in (main, GAPS + MASKS))
    own, shown = np.add.reduceat(own, starts, dtype=int), np.add.reduceat(~other, starts, dtype=int)
    return float(np.mean((own > 0) & (own >= OWN_BASES * shown)))


def refuse_foreign(items: Iterable[Any], name: str) -> None:
    """A ValueError that names the first letter of the items that stands for no base of DNA or RNA, or for several."""
    known = {"dna": "ACGT", "rna": "ACGU"}[name] + SEVERAL_BASES + MASKS + GAPS
    for i, item in enumerate(items):
        text = item.decode("latin-1") if isinstance(item, bytes) else item if isinstance(item, str) else ""
        text = text.strip()
        for at, letter in enumerate(text) if set(text.upper()) - set(known) else ():
            if letter.upper() not in known:
                raise ValueError(
                    f"X[{i}] ({shortened(text)!r}) has {letter!r} at position {at}, which is no base, and nearly "
                    f"all of X is {name.upper()}: write N for an unknown base, or leave out what is no {name.upper()}; "
                    "if these are proteins, or the letter is right, list kernels with their alphabet, such as "
                    "Spectrum(3, alphabet='protein')."
                )


def shortened(text: str, most: int = 20) -> str:
    """The first letters of a text."""
    return text if len(text) <= most else f"{text[:most]}..."
