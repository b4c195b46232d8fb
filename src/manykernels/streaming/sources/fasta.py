from collections.abc import Iterator
from typing import Any

import numpy as np

from ...sequences.alphabet import Alphabet
from ...sequences.fasta import gathered, stream_fasta
from .base import FileSource
from .tables import Paths


class FastaFiles(FileSource):
    """The sequences of FASTA or FASTQ files (.gz, .bz2, .xz and .zst too).

    The headers hold the target under its name: `fit(FastaFiles("sites.fa.gz"), "class")` where they hold
    `class=1`. Each file is a piece: give several where several workers should read.

    Parameters
    ----------
    paths : path, pattern with *, or list of them
    alphabet : str or Alphabet, default "dna"
        As in `read_fasta`.
    unknown : {"error", "ambiguous", "ignore"}
        The treatment of letters outside the alphabet; ignored letters match nothing.
    window : (int, int), optional
        The letters [start:stop] of every sequence that are kept.
    rows : int, default 65536
        In a block, roughly.

    Examples
    --------
    >>> import tempfile
    >>> from manykernels.streaming import FastaFiles
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with open(f"{folder}/sites.fa", "w") as file:
    ...         print(">one class=1", file=file)
    ...         print("ACGT", file=file)
    ...     source = FastaFiles(f"{folder}/sites.fa").with_target("class")
    ...     [(list(X), y.tolist()) for piece in source.pieces() for X, y in source.read(piece)]
    [(['ACGT'], [1])]
    """

    in_order = True

    def __init__(
        self,
        paths: Paths,
        alphabet: str | Alphabet = "dna",
        unknown: str = "error",
        window: tuple[int, int] | None = None,
        rows: int = 2**16,
    ) -> None:
        super().__init__(paths, rows)
        self.alphabet, self.unknown, self.window = alphabet, unknown, window

    def read(self, piece: Any) -> Iterator[tuple[Any, np.ndarray | None]]:
        for X, labels in stream_fasta(piece, self.alphabet, self.unknown, self.target, self.rows):
            y = None if labels is None else gathered([labels], True)
            yield X if self.window is None else X.window(*self.window), y
