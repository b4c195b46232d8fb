"""The source of some files, chosen by the endings of their names."""

import os
from typing import Any

from .base import DataSource
from .fasta import FastaFiles
from .tables import CSVFiles, ParquetFiles

ENDINGS: dict[type[DataSource], tuple[str, ...]] = {
    FastaFiles: ("fa", "fasta", "fna", "faa", "fq", "fastq"),
    CSVFiles: ("csv",),
    ParquetFiles: ("parquet", "feather", "arrow"),
}
PACKED_ENDINGS = ("gz", "bz2", "xz", "zst")


def from_paths(paths: list[Any]) -> DataSource:
    """The source of these files, all of one kind; a ValueError if their names do not tell the kind."""
    strange = [path for path in paths if not isinstance(path, str | os.PathLike)]
    if strange:
        raise ValueError(f"X is a bag that holds {strange[0]!r}: a bag of file paths is wanted.")
    kinds = {_kind(os.fspath(path)) for path in paths}
    if len(kinds) != 1 or None in kinds:
        endings = ", ".join(f".{end}" for ends in ENDINGS.values() for end in ends)
        packed = ", ".join(f".{end}" for end in PACKED_ENDINGS)
        raise ValueError(
            f"X is a bag of {len(paths)} paths, {[os.fspath(path) for path in paths[:3]]} …: all must be of one kind "
            f"and end in one of {endings} (or that and {packed}); others are read by the "
            "sources of manykernels.streaming, FastaFiles(bag.compute()) for one."
        )
    return next(iter(kinds))(paths)


def _kind(path: str) -> Any:
    """The class of sources for a file of that name; None if there is none."""
    parts = os.path.basename(path).lower().split(".")[1:]
    end = next((part for part in reversed(parts) if part not in PACKED_ENDINGS), "")
    return next((kind for kind, ends in ENDINGS.items() if end in ends), None)
