"""Variants from VCF files and from variant-scorer's tables, and their place in a reference genome."""

from __future__ import annotations

import os
from dataclasses import dataclass, field, replace
from os import PathLike
from typing import Any

import numpy as np

from .._validation import check_choice
from ..kernels.frames import listed
from .reference import Reference, counted, fields_of, lines, whole

# the places of chrom, position, id, reference and alternative allele; tables of variant-scorer have no header
COLUMNS = {
    "vcf": (0, 1, 2, 3, 4),
    "chrombpnet": (0, 1, 4, 2, 3),
    "bed": (0, 1, 5, 3, 4),
    "plink": (0, 3, 1, 4, 5),
    "original": (0, 1, 2, 3, 4),
}
INVALID = ("error", "skip")


@dataclass(frozen=True, eq=False)
class Variants:
    """Variants, one alternative allele each.

    Parameters
    ----------
    id : list of n str
    chrom : array (n,) of str
    pos : array (n,) of int64
        The place of the first letter of the reference allele, counted from 1 as in VCF files.
    ref, alt : lists of n str
        The alleles; an empty text is no letter, and an insertion without reference letters stands before `pos`.
    skipped : dict
        {reason: ids} of what was left out.

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels.genome import Variants
    >>> one = Variants(["rs1"], np.array(["chr1"]), np.array([12]), ["CAG"], ["CG"])
    >>> one.changed(0)
    (12, 'A', '')
    """

    id: list[str]
    chrom: np.ndarray
    pos: np.ndarray
    ref: list[str]
    alt: list[str]
    skipped: dict[str, list[str]] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.id)

    def summary(self) -> str:
        """One line: how many variants there are, and what was left out."""
        return f"{len(self)} variants; left out: {counted(self.skipped) or 'none'}"

    def changed(self, k: int) -> tuple[int, str, str]:
        """(start counted from 0, reference, alternative) of variant k without letters that both alleles share.

        Shared last letters go first, then shared first letters, so that longer anchors change nothing.
        """
        ref, alt = self.ref[k], self.alt[k]
        tail = len(os.path.commonprefix([ref[::-1], alt[::-1]]))
        ref, alt = ref[: len(ref) - tail], alt[: len(alt) - tail]
        head = len(os.path.commonprefix([ref, alt]))
        return int(self.pos[k]) - 1 + head, ref[head:], alt[head:]

    def without(self, reasons: dict[str, list[int]]) -> Variants:
        """The variants but for these rows, whose ids join `skipped`."""
        gone = {row for rows in reasons.values() for row in rows}
        rows = [row for row in range(len(self)) if row not in gone]
        skipped = self.skipped | {reason: [self.id[row] for row in those] for reason, those in reasons.items() if those}
        ids, ref, alt = ([column[row] for row in rows] for column in (self.id, self.ref, self.alt))
        return replace(self, id=ids, chrom=self.chrom[rows], pos=self.pos[rows], ref=ref, alt=alt, skipped=skipped)


def read_variants(path: str | PathLike[str], format: str | None = None) -> Variants:
    """The variants of a VCF file or of a table of variant-scorer, gzipped or not.

    Parameters
    ----------
    path : str or path
    format : {"vcf", "chrombpnet", "bed", "plink", "original"}, optional
        None: a file that begins with "##fileformat=VCF" or "#CHROM" is a VCF file. The tables have the columns, without
        a header,

        - chrombpnet: chrom, position, allele 1, allele 2, id
        - bed: chrom, position, end, allele 1, allele 2, id
        - plink: chrom, id, (not read), position, allele 1, allele 2
        - original: chrom, position, id, allele 1, allele 2

        Allele 1 is the reference; positions count from 1, those of bed from 0. The allele "-" is no letter.

    Returns
    -------
    Variants
        A site with several alternative alleles becomes several variants, "rs1:A" and "rs1:T"; an id that is missing
        becomes chrom:pos:ref:alt. `skipped` names symbolic alleles (<DEL>, breakends), "*" (the letter is deleted
        by another variant), sites without an alternative, alternatives with N, and other letters than A, C, G and T.

    Examples
    --------
    >>> import tempfile
    >>> from manykernels.genome import read_variants
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with open(f"{folder}/some.vcf", "w") as file:
    ...         print("##fileformat=VCFv4.2", file=file)
    ...         print("chr1", 12, "rs1", "C", "A,T,<DEL>", ".", ".", ".", sep="\\t", file=file)
    ...     found = read_variants(f"{folder}/some.vcf")
    >>> found.id, found.summary()
    (['rs1:A', 'rs1:T'], '2 variants; left out: 1 symbolic allele (rs1:<DEL>)')
    """
    check_choice("format", format, (*COLUMNS, None))
    skipped: dict[str, list[str]] = {}
    rows, shown = [], os.fsdecode(path)
    for number, line in lines(path):
        if line.startswith("#") or not line.strip():
            format = "vcf" if format is None and line.startswith(("##fileformat=VCF", "#CHROM")) else format
            continue
        if format is None:
            raise ValueError(f"format of {shown} is unknown, it is no VCF file: give one of {', '.join(COLUMNS)}")
        fields, where = fields_of(line), f"{shown}, line {number}"
        if len(fields) <= max(COLUMNS[format]):
            raise ValueError(f"{where} has {len(fields)} columns: format={format!r} has {max(COLUMNS[format]) + 1}")
        chrom, text, name, ref, alts = (fields[column] for column in COLUMNS[format])
        pos = whole(text, "the position", where) + (format == "bed")
        several = alts.split(",")
        for alt in several:
            default = f"{chrom}:{pos}:{ref}:{alt}"
            called = default if name in (".", "") else f"{name}:{alt}" if len(several) > 1 else name
            reason = _unusable(ref, alt, format)
            if reason:
                skipped.setdefault(reason, []).append(called)
            else:
                rows.append((called, chrom, pos, *(a.upper().replace("-", "") for a in (ref, alt))))
    if not rows:
        raise ValueError(f"{shown} has no variants with letters; left out: {counted(skipped) or 'none'}")
    ids, chrom, pos, ref, alt = map(list, zip(*rows, strict=True))
    return Variants(ids, np.array(chrom), np.array(pos, np.int64), ref, alt, skipped)


def _unusable(ref, alt, format):
    """Why a variant cannot be scored, or None."""
    if alt in ("*", "."):
        return "allele *" if alt == "*" else "without an alternative"
    if alt.startswith("<") or set(alt) & set("[]"):
        return "symbolic allele"
    if "N" in alt.upper():
        return "alternative with N"
    none = {"-"} if format != "vcf" else set()
    if any(allele not in none and not set(allele.upper()) <= set("ACGTN") or not allele for allele in (ref, alt)):
        return "letters other than A, C, G, T and N"
    return "same alleles" if ref.upper() == alt.upper() else None


def as_variants(variants: Any) -> Variants:
    """The variants of a VCF file, or the given ones."""
    return variants if isinstance(variants, Variants) else read_variants(variants)


def located(variants: Variants, genome: Reference, invalid: str, width: int | None = None) -> Variants:
    """The variants whose reference allele stands in the genome and whose alleles fit into the width.

    invalid="error": a ValueError names the others; "skip": they join `skipped`.
    """
    check_choice("invalid", invalid, INVALID)
    wrong: dict[str, list[int]] = {"contig unknown": [], "reference mismatch": [], "longer than the window": []}
    for k, (chrom, pos, ref) in enumerate(
        zip(variants.chrom.tolist(), variants.pos.tolist(), variants.ref, strict=True)
    ):
        if chrom not in genome.lengths:
            wrong["contig unknown"].append(k)
        elif not 0 < pos <= genome.lengths[chrom] or genome.fetch(chrom, pos - 1, pos - 1 + len(ref)).upper() != ref:
            wrong["reference mismatch"].append(k)
        elif width is not None and max(map(len, variants.changed(k)[1:])) > width:
            wrong["longer than the window"].append(k)
    found = variants.without(wrong)
    if len(found) == len(variants):
        return found
    named = counted({reason: [variants.id[k] for k in rows] for reason, rows in wrong.items()})
    if invalid == "error" or not len(found):
        names = f", whose contigs are {listed(list(genome.lengths))}" if wrong["contig unknown"] else ""
        raise ValueError(
            f"{len(variants) - len(found)} of {len(variants)} variants do not fit {genome.path}{names}: {named}. "
            'Give the reference that they were called with, or invalid="skip"'
        )
    return found
