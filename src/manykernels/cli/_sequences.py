"""FASTA and FASTQ as frames: a column of sequences, a column per word of all headers, and ids as the index.

Columns of sequences in other tables are recognised by their letters.
"""

import inspect
import re
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import manykernels as mk

from ._talk import Wrong, pandas

_ENDS = ("fasta", "fa", "fna", "faa", "fastq", "fq")
FASTA_SUFFIXES = tuple(f".{end}{packed}" for end in _ENDS for packed in ("", ".gz", ".bz2", ".xz", ".zst"))
SEQUENCE_COLUMN = "sequence"
SHORTEST_SEQUENCE = 8
_WORD = re.compile(r"(?:^|[\s,;|])([A-Za-z_][\w.-]*)\s*[=:]\s*([^\s,;|]+)")
_ALPHABETS = (("dna", "ACGTN"), ("rna", "ACGUN"))


def is_sequence_file(path: str) -> bool:
    return path.lower().endswith(FASTA_SUFFIXES)


def piped_sequences(data: bytes) -> Any | None:
    """The frame of FASTA or FASTQ from a pipe, compressed or not; None for other data."""
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
    ids = [header.split()[0].split("|")[0] if header.split() else "" for header in headers.tolist()]
    words = [dict(_WORD.findall(header)) for header in headers.tolist()]
    shared = [name for name in words[0] if all(name in own for own in words)]
    columns: dict[str, Any] = {SEQUENCE_COLUMN: [str(sequence).upper() for sequence in found]}
    columns |= {name: _as_numbers([own[name] for own in words]) for name in shared if name != SEQUENCE_COLUMN}
    pd = pandas()
    twice = len(set(ids)) < len(ids)
    frame = pd.DataFrame(columns, index=None if twice else pd.Index(ids, name="id"))
    frame.attrs.update(sequences=[SEQUENCE_COLUMN], aside=[name for name in columns if name != SEQUENCE_COLUMN])
    return frame


def _as_numbers(values):
    for kind in (int, float):
        try:
            return np.array([kind(value) for value in values])
        except ValueError:
            continue
    return values


def sequence_columns(frame: Any) -> list[str]:
    """The columns of texts that are all DNA or all RNA, of 8 letters at least: shorter texts may be categories."""
    return [name for name in frame.columns if _are_sequences(frame[name].dropna())]


def _are_sequences(column):
    texts = column.tolist()
    if not texts or not all(isinstance(text, str) and len(text) >= SHORTEST_SEQUENCE for text in texts):
        return False
    letters = set().union(*(text.upper() for text in texts))
    return any(letters <= set(known) for _, known in _ALPHABETS)


def string_tables(frame: Any, column: str, say: Callable[[str], None]) -> list[dict[str, Any]]:
    """Tables of a configuration for sequences, those of `strings.sequence_kernels`."""
    texts, before = frame[column].dropna().str.upper().tolist(), "" if column == SEQUENCE_COLUMN else f"{column}, "
    if not all(texts):
        raise Wrong(f"Column {column!r} has an empty sequence: remove it.")
    found, lengths = mk.strings.sequence_kernels(texts), {len(text) for text in texts}
    alphabet = found[0][1].alphabet
    size = f"of {next(iter(lengths))} letters" if len(lengths) == 1 else f"of {min(lengths)} to {max(lengths)} letters"
    say(
        f"{before}{len(texts)} sequences {size}, taken as {alphabet}. {len(found)} kernels chosen: words "
        + ("at the same place and words anywhere" if len(lengths) == 1 else "anywhere, since lengths differ")
        + ("" if alphabet == "protein" else "; gapped words of both strands")
        + ". `manykernels init` writes them to an editable file."
    )
    shared = {"alphabet": alphabet, "columns": [column]}
    shared |= {"missing": "zero"} if len(texts) < len(frame) else {}
    return [
        {"name": before + name, "kernel": type(kernel).__name__} | _changed(kernel) | shared for name, kernel in found
    ]


def _changed(kernel):
    """The parameters of a kernel that are not its defaults, but for its alphabet."""
    usual = {name: value.default for name, value in inspect.signature(type(kernel)).parameters.items()}
    return {name: value for name, value in kernel.get_params().items() if value != usual[name] and name != "alphabet"}


def read_stdin() -> bytes:
    """The content of stdin."""
    stream = getattr(sys.stdin, "buffer", None)  # a stream of text has none
    return sys.stdin.read().encode() if stream is None else stream.read()
