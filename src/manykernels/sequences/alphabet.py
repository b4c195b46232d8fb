"""Alphabets: the letters of sequences, their integer codes, and the alphabet of texts, guessed from their letters."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .._state import Stored, check, read_entries
from .._validation import shown

INVALID_CODE = -1  # of a letter that is an error
POLICIES = ("error", "ambiguous", "ignore", "A")  # of letters outside an alphabet; "A" reads them as A, as LS-GKM does
SEVERAL_BASES, RARE_RESIDUES, GAPS = "NRYSWKMBDHV", "XBZJUO", "-.*"  # letters that "ambiguous" lets match nothing


@dataclass(frozen=True)
class Alphabet(Stored):
    """Letters with codes 0 … A−1, and the code A for a letter that matches nothing, not even itself.

    Parameters
    ----------
    name : str
        The name in messages.
    letters : str
        The A letters (1 to 256, each within U+0000 … U+00FF), in the order of their codes.
    unknown : str, default ""
        Letters that are always read as code A (N of DNA). Other letters are errors, or code A if the encoding has
        `unknown="ignore"`, or `unknown="ambiguous"` and they stand for several bases or residues or for a gap. An
        alphabet of 256 letters has no code A.
    ignore_case : bool, default False
        Whether "a" is read as "A". Decoded letters have the case of `letters`.
    complement : str, default ""
        The letter opposite each of `letters` on the other strand, "TGCA" of DNA; empty for letters without one. Letters
        that match nothing are opposite themselves.

    Examples
    --------
    >>> from manykernels.sequences import DNA, Alphabet
    >>> DNA.letters, DNA.size, DNA.unknown
    ('ACGT', 4, 'N')
    >>> Alphabet("purine or pyrimidine", "RY", complement="YR").size
    2
    """

    file_tag = ("alphabet", 2)
    former_tags = (("alphabet", 1),)  # without complement
    saved = {"name": "text", "letters": "text", "unknown": "text", "ignore_case": "flag", "complement": "?text"}
    name: str
    letters: str
    unknown: str = ""
    ignore_case: bool = False
    complement: str = ""

    def __post_init__(self):
        letters, both = self.letters, self.letters + self.unknown
        if not isinstance(both, str) or not 1 <= len(letters) <= 256 or max(map(ord, both)) > 255:
            raise ValueError(f"letters={letters!r} of alphabet {self.name!r}: give 1 to 256 letters up to U+00FF")
        seen = [_variants(c, self.ignore_case) for c in both]
        for i, c in enumerate(both):
            if any(seen[i] & s for s in seen[:i]):
                raise ValueError(f"letter {c!r} occurs twice in alphabet {self.name!r}; give every letter once")
        opposite = dict(zip(letters, self.complement, strict=False))
        if self.complement and (
            len(self.complement) != len(letters) or any(opposite.get(opposite[c]) != c for c in letters)
        ):
            raise ValueError(
                f"complement={self.complement!r} of alphabet {self.name!r} with letters={letters!r}: give the letter "
                "opposite each letter, in their order, so that the complement of the complement is the letter itself"
            )

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Alphabet:
        own = read_entries(cls.saved, state)
        check(len(own["letters"]) + len(own["unknown"]) <= 256, "there are more than 256 letters")
        found = cls(**own | {"complement": own["complement"] or ""})
        named = _NAMED.get(found.name, found)  # files of version 1 have no complement
        return named if "complement" not in state and replace(named, complement="") == found else found

    @property
    def size(self) -> int:
        """A, the number of letters; also the code of a letter that matches nothing."""
        return len(self.letters)

    def opposite(self) -> np.ndarray:
        """The code of the complement of each code, (A + 1,) uint8; a ValueError for letters without a second strand."""
        if not self.complement:
            raise ValueError(
                f"reverse_complement=True needs the complement of each letter, and alphabet {self.name!r} has none: "
                "only DNA and RNA have a second strand; give reverse_complement=False, or Alphabet(..., complement=...)"
            )
        return np.array([*map(self.letters.index, self.complement), self.size], np.uint8)

    def table(self, unknown: str = "error") -> np.ndarray:
        """Code of each byte, (256,) int16; −1 if the byte is an error. U of RNA is T of DNA."""
        table = np.full(256, self.code_of_unknown(unknown), dtype=np.int16)
        for code, letter in enumerate(self.letters):
            for c in _variants(letter, self.ignore_case):
                table[ord(c)] = code
        if self in (DNA, RNA):
            table[[*b"TUtu"]] = self.size - 1
        for letter in self.unknown + (_AMBIGUOUS.get(self, "") if unknown == "ambiguous" else ""):
            for c in _variants(letter, self.ignore_case):
                table[ord(c)] = self.code_of_unknown(unknown) if unknown == "A" else self.size
        return table

    def strange(self) -> np.ndarray:
        """Which bytes "ambiguous" lets be errors, (256,); none of an alphabet of your own."""
        return (self.table("ambiguous") == INVALID_CODE) & (self in _AMBIGUOUS)

    def code_of_unknown(self, unknown: str) -> int:
        """The code of a letter that the alphabet lacks, by one of `POLICIES`: −1 (an error), A, or that of "A"."""
        if unknown not in POLICIES:
            raise ValueError(f"unknown={unknown!r}: give one of {', '.join(map(repr, POLICIES))}")
        if unknown == "A" and "A" not in self.letters:
            raise ValueError(f"unknown='A': alphabet {self.name!r} has no letter A; give 'error' or 'ignore'")
        return {"A": self.letters.find("A"), "ignore": self.size}.get(unknown, INVALID_CODE)

    def decoder(self) -> bytes:
        """Letter of each code, for `bytes.translate`; code A is the first unknown letter, else an unused character."""
        blank = self.unknown[:1] or next(
            (c for c in "?*-." + "".join(map(chr, range(256))) if c not in self.letters), ""
        )
        return (self.letters + blank).encode("latin-1").ljust(256, b"\0")


def _variants(letter, ignore_case):
    return (
        {c for c in (letter, letter.lower(), letter.upper()) if len(c) == 1 and ord(c) < 256}
        if ignore_case
        else {letter}
    )


DNA = Alphabet("dna", "ACGT", "N", ignore_case=True, complement="TGCA")
RNA = Alphabet("rna", "ACGU", "N", ignore_case=True, complement="UGCA")
PROTEIN = Alphabet("protein", "ACDEFGHIKLMNPQRSTVWY", "X", ignore_case=True)
BYTES = Alphabet("bytes", "".join(map(chr, range(256))))
_NAMED = {a.name: a for a in (DNA, RNA, PROTEIN, BYTES)}
_AMBIGUOUS = {DNA: SEVERAL_BASES + "X" + GAPS, RNA: SEVERAL_BASES + "X" + GAPS, PROTEIN: RARE_RESIDUES + GAPS}


def fitting(letters):
    """The names among "dna", "rna", "protein" whose alphabet has all these letters (uint8), known or unknown."""
    return [a.name for a in (DNA, RNA, PROTEIN) if (a.table()[letters] != INVALID_CODE).all()]


def get(alphabet: str | Alphabet) -> Alphabet:
    """The alphabet of that name ("dna", "rna", "protein", "bytes", in any case), or the given one."""
    if isinstance(alphabet, Alphabet):
        return alphabet
    found = _NAMED.get(alphabet.lower()) if isinstance(alphabet, str) else None
    if found is None:
        raise ValueError(
            f"alphabet={shown(alphabet)}: give one of {', '.join(map(repr, _NAMED))} or an Alphabet(name, letters)"
        )
    return found


def check_encoding(encoding: Any) -> None:
    """Raises a ValueError unless the encoding is (alphabet or None, policy).

    Parameters
    ----------
    encoding : tuple
        An `Alphabet` or None, and one of `POLICIES`.

    Examples
    --------
    >>> from manykernels.sequences import DNA, check_encoding
    >>> check_encoding((DNA, "ignore"))
    """
    alphabet, unknown = encoding
    check(alphabet is None or isinstance(alphabet, Alphabet), "an encoding has no alphabet")
    check(unknown in POLICIES, f"unknown is {unknown!r}")


MASKS = "NX"  # of unknown or masked bases, however many they are
MIN_BASES, MIN_RESIDUES = 0.9, 0.95  # least shares of the bases, or of the 20 amino acids, among the letters
NEARLY_ALL = 0.99  # with this share of bases, other letters are errors, and make no proteins of the sequences
MOST, OWN_BASES = 0.9, 0.95  # so do sequences, if most of them have this share of bases
FOREIGN = "foreign"  # the policy if there are such letters
MIN_PROTEIN = 20  # letters of half of the proteins, which are no categories then even if they repeat
MISSING = ("nan", "NaN", "None", "<NA>")  # texts of what is no text
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


def refuse_missing_text(text: str, name: str) -> None:
    """A ValueError if the text is what str(None) or str(nan) gives, of which N, A and N were read as bases."""
    if text in MISSING:
        raise ValueError(
            f"{name} is {text!r}, the text of a missing value: remove the example, or give None and the kernel with "
            'missing="zero"'
        )


def refuse_foreign(items: Iterable[Any], name: str) -> None:
    """A ValueError that names the first letter of the items that stands for no base of DNA or RNA, or for several."""
    known = {"dna": "ACGT", "rna": "ACGU"}[name] + SEVERAL_BASES + MASKS + GAPS
    for i, item in enumerate(items):
        text = item.decode("latin-1") if isinstance(item, bytes) else item if isinstance(item, str) else ""
        text = text.strip()
        refuse_missing_text(text, f"X[{i}]")
        at = next((at for at, letter in enumerate(text) if letter.upper() not in known), None)
        if at is not None:
            raise ValueError(
                f"X[{i}] ({text[:20] + '...' * (len(text) > 20)!r}) has {text[at]!r} at position {at}, which is no "
                f"base, and nearly all of X is {name.upper()}: write N for an unknown base, or leave out what is no "
                f"{name.upper()}; if these are proteins, or the letter is right, list kernels with their alphabet, "
                "such as Spectrum(3, alphabet='protein')."
            )


def kind_of_sequences(items):
    """(kind and why of DNA, RNA or proteins, or None; whether it is sure even if they repeat as categories do).

    Most entries are sequences, and encoding refuses the others.
    """
    texts = as_texts(items)
    half = float(np.median([len(text) for text in texts])) if 2 * len(texts) > len(items) else 0.0
    if half < MIN_LETTERS or len(set(texts)) == 1:
        return None, False
    name, why = guess_alphabet(texts)
    if name is None:
        return (("mixed", MIXED), True) if why == MIXED else (None, False)
    return ("sequences", ""), name != "protein" or half >= MIN_PROTEIN
