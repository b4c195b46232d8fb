"""Lines of text files, gzipped or not, and results that are written as tables."""

import csv
import gzip
import os

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
