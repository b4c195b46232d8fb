"""Files of a genome: FASTA references that are read by position, lines of other files, and tables of results."""

from __future__ import annotations

import csv
import gzip
import os
from collections.abc import Iterator
from contextlib import contextmanager
from os import PathLike
from typing import Any

import numpy as np


def is_gzip(path):
    """Whether a file begins like gzip's."""
    with open(path, "rb") as file:
        return file.read(2) == b"\x1f\x8b"


def lines(path):
    """Yields (number from 1, line without its end) of a text file; a gzipped one is known by its first bytes."""
    path = os.fsdecode(path)
    with gzip.open(path, "rt", encoding="utf-8") if is_gzip(path) else open(path, encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            yield number, line.rstrip("\r\n")


def fields_of(line):
    """The fields between tabs; between spaces if there is no tab."""
    return line.split("\t") if "\t" in line else line.split()


def whole(text, what, where):
    """The text as an integer >= 0; a ValueError that names the field and the place."""
    if not (text.isascii() and text.isdigit()):
        raise ValueError(f"{where}: {what}={text!r} is not a whole number >= 0")
    return int(text)


def counted(found):
    """{reason: names} as text, "2 duplicate (a, b); 1 past the contig's end (c)", with five names a reason."""
    return "; ".join(
        f"{len(names)} {reason} ({', '.join(names[:5])}{', …' if len(names) > 5 else ''})"
        for reason, names in found.items() if names
    )  # fmt: skip


class ColumnTable:
    """A result with `columns`, {name: array (n,)}."""

    columns: dict[str, np.ndarray]

    def to_csv(self, path: str | os.PathLike[str]) -> None:
        """Write the columns with their names; between tabs if the path ends in .tsv or .txt, else between commas."""
        path = os.fsdecode(path)
        with open(path, "w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file, delimiter="\t" if path.endswith((".tsv", ".txt")) else ",", lineterminator="\n")
            writer.writerow(self.columns)
            writer.writerows(zip(*(_texts(column) for column in self.columns.values()), strict=True))


def _texts(column):
    column = np.asarray(column)
    return [format(v, ".10g") for v in column] if column.dtype.kind == "f" else column.tolist()


GC, MASKED, UNKNOWN = 1, 2, 4  # bits of the kinds of letters
KINDS = np.full(256, UNKNOWN, np.uint8)
KINDS[list(b"ACGTacgt")] = 0
KINDS[list(b"CGcg")] |= GC
KINDS[list(b"abcdefghijklmnopqrstuvwxyz")] |= MASKED


class Reference:
    """The contigs of a FASTA file, read by position; lower-case letters are soft-masked repeats.

    The package pyfaidx reads the file (`pip install manykernels[bio]`) and writes the index `path.fai` beside it unless
    there is one. A gzipped file has no such index: all of it is unpacked into memory, a byte for each letter.

    Parameters
    ----------
    path : str or path
        A FASTA file, gzipped or not. The name of a contig is the first word of its header.

    Attributes
    ----------
    lengths : dict
        The number of letters of each contig, in the order of the file.

    Examples
    --------
    >>> import tempfile
    >>> from manykernels.genome import Reference
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with open(f"{folder}/genome.fa", "w") as file:
    ...         print(">chr1 the only one", "ACGTac", "GT", sep="\\n", file=file)
    ...     with Reference(f"{folder}/genome.fa") as reference:
    ...         reference.lengths, reference.fetch("chr1", -2, 6)
    ({'chr1': 8}, 'NNACGTac')
    """

    def __init__(self, path: str | PathLike[str]) -> None:
        self.path = os.fsdecode(path)
        if not os.path.isfile(self.path):
            raise FileNotFoundError(f"reference={self.path!r} is no file: give a FASTA file")
        self._fasta: Any = _unpacked(self.path) if is_gzip(self.path) else self._indexed()
        self.lengths: dict[str, int] = {name: len(self._fasta[name]) for name in self._fasta.keys()}

    def _indexed(self):
        try:
            import pyfaidx
        except ImportError as error:
            raise ImportError("a reference genome needs pyfaidx: pip install manykernels[bio]") from error
        try:
            return pyfaidx.Fasta(self.path, as_raw=True)
        except Exception as error:  # pyfaidx's own errors share no other base
            raise ValueError(
                f"reference={self.path!r} cannot be read by position ({error}): give an uncompressed FASTA file with "
                "unique names and lines of one length, in a folder where its index can be written"
            ) from error

    def fetch(self, chrom: str, start: int, stop: int) -> str:
        """The letters [start, stop) of a contig, counted from 0, with their case; N beyond the ends of the contig."""
        if chrom not in self.lengths:
            raise ValueError(self.unknown(chrom))
        size, asked = self.lengths[chrom], max(stop - start, 0)
        left, right = min(max(-start, 0), asked), min(max(stop - size, 0), asked)
        inside = self._fasta[chrom][start + left : stop - right] if left + right < asked else ""
        return "N" * left + inside + "N" * right

    def unknown(self, chrom: str) -> str:
        """The error of a contig that is not here."""
        first = ", ".join(list(self.lengths)[:3])
        return f"contig {chrom!r} is not in {self.path}, which has {first}, …: use the names of the FASTA file"

    def close(self) -> None:
        """Close the file."""
        if not isinstance(self._fasta, dict):
            self._fasta.close()

    def __enter__(self) -> Reference:
        return self

    def __exit__(self, *error: Any) -> None:
        self.close()


def _unpacked(path):
    """{the first word of the header: its letters} of a gzipped FASTA file."""
    found: dict[str, list[str]] = {}
    for number, line in lines(path):
        if line.startswith(">"):
            name = (line[1:].split() or [""])[0]
            if not name or name in found:
                raise ValueError(f"reference={path!r}, line {number}: {line!r} has no name, or one for the second time")
            found[name] = []
        elif found:
            found[name].append(line.strip())
        elif line.strip():
            raise ValueError(f"reference={path!r} does not begin with a header: give a FASTA file")
    return {name: "".join(parts) for name, parts in found.items()}


@contextmanager
def opened(reference: Any) -> Iterator[Reference]:
    """The reference of a path, closed at the end, or the given one, left open."""
    if isinstance(reference, Reference):
        yield reference
    else:
        with Reference(reference) as found:
            yield found


def composition(letters: np.ndarray, start: np.ndarray, stop: np.ndarray) -> tuple[np.ndarray, ...]:
    """Shares of letters[start_i : stop_i] (bytes), each (n,): of C and G among A, C, G and T; soft-masked; others."""
    kinds, counts = KINDS[letters], []
    for bit in (GC, MASKED, UNKNOWN):
        total = np.zeros(len(kinds) + 1, np.int64)
        np.cumsum((kinds & bit) > 0, out=total[1:])
        counts.append(total[stop] - total[start])
    (gc, masked, unknown), size = counts, stop - start
    return gc / np.maximum(size - unknown, 1), masked / size, unknown / size
