"""FASTA and FASTQ as frames: a column of sequences, a column per word of all headers, and ids as the index."""

import inspect
import re
import sys
import tempfile
from codecs import BOM_UTF8
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import manykernels as mk

from ..kernels.column_kinds import CODE
from ..kernels.table import SEQUENCE_COLUMN
from ..sequences.guess import MIN_LETTERS, as_texts, guess_alphabet
from ._talk import Wrong, pandas

_ENDS = ("fasta", "fa", "fna", "faa", "fastq", "fq")
FASTA_SUFFIXES = tuple(f".{end}{packed}" for end in _ENDS for packed in ("", ".gz", ".bz2", ".xz", ".zst"))
_WORD = re.compile(r"(?:^|[\s,;|])([A-Za-z_][\w.-]*)\s*[=:]\s*([^\s,;|]+)")


def is_sequence_file(path: str) -> bool:
    return path.lower().endswith(FASTA_SUFFIXES)


def piped_sequences(data: bytes) -> Any | None:
    """The frame of FASTA or FASTQ from a pipe, compressed or not; None for other data."""
    data = data.removeprefix(BOM_UTF8)
    if data[:1] not in (b">", b"@") and data[:2] != b"\x1f\x8b":
        return None
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / ("stdin.fa.gz" if data[:2] == b"\x1f\x8b" else "stdin.fa")
        path.write_bytes(data)
        return read_sequences(str(path), "stdin")


def read_sequences(path: str, called: str | None = None) -> Any:
    """A frame with the column `sequence`, and a column for each `name=value` that all headers have."""
    try:
        found, headers = mk.sequences.read_fasta(path, "bytes", labels=list)
    except ValueError as error:
        raise Wrong(str(error).replace(path, called or path).rstrip(".") + ".") from error
    headers = headers.tolist()
    ids = [header.split()[0].split("|")[0] if header.split() else "" for header in headers]
    words = [dict(_WORD.findall(header)) for header in headers]
    shared = [name for name in words[0] if all(name in own for own in words)]
    columns: dict[str, Any] = {SEQUENCE_COLUMN: [str(sequence).upper() for sequence in found]}
    columns |= {name: _as_numbers([own[name] for own in words]) for name in shared if name != SEQUENCE_COLUMN}
    pd = pandas()
    frame = pd.DataFrame(columns, index=pd.Index(ids, name="id"))
    some = set().union(*words) - set(shared)
    lacking = {
        name: next(header for header, own in zip(headers, words, strict=True) if name not in own) for name in some
    }
    aside = [name for name in columns if name != SEQUENCE_COLUMN]
    frame.attrs.update(sequences=[SEQUENCE_COLUMN], aside=aside, headers=lacking)
    return frame


def _as_numbers(values):
    for kind in () if any(map(CODE.fullmatch, values)) else (int, float):
        try:
            return np.array([kind(value) for value in values])
        except ValueError:
            continue
    return values


def sequence_columns(frame: Any) -> list[str]:
    """The columns of DNA or RNA."""
    found = {name: as_texts(frame[name].dropna()) for name in frame.columns}
    long = {name: texts for name, texts in found.items() if texts and np.median([*map(len, texts)]) >= MIN_LETTERS}
    return [name for name, texts in long.items() if guess_alphabet(texts)[0] in ("dna", "rna")]


def say_taken(frame: Any, column: str, kernels: Any, say: Callable[[str], None]) -> None:
    """Say how many sequences of which lengths a column holds, and of which alphabet they are."""
    texts, before = as_texts(frame[column].dropna()), "" if column == SEQUENCE_COLUMN else f"{column}, "
    lengths = [len(text) for text in texts]
    size = f"{lengths[0]} letters" if len(set(lengths)) == 1 else f"{min(lengths)} to {max(lengths)} letters"
    say(f"{before}{len(texts)} sequences of {size}, taken as {kernels[0][1].alphabet}.")


def string_table(kernel: Any) -> dict[str, Any]:
    """The table of a kernel of sequences in a configuration, without its name and column."""
    return {"kernel": type(kernel).__name__} | _changed(kernel) | {"alphabet": kernel.alphabet}


def _changed(kernel):
    """The parameters of a kernel that are not its defaults, but for its alphabet."""
    usual = {name: value.default for name, value in inspect.signature(type(kernel)).parameters.items()}
    return {name: value for name, value in kernel.get_params().items() if value != usual[name] and name != "alphabet"}


def read_stdin() -> bytes:
    """The content of stdin."""
    stream = getattr(sys.stdin, "buffer", None)  # a stream of text has none
    return sys.stdin.read().encode() if stream is None else stream.read()
