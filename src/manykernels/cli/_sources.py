"""FASTA, FASTQ and kernel matrices as frames.

Sequences become a column, with a column per word of all headers, and ids as the index. The rows and columns of a kernel
matrix in a folder have ids; new examples have values with the training examples.
"""

import inspect
import re
import sys
import tempfile
from codecs import BOM_UTF8
from pathlib import Path
from typing import Any

import numpy as np

import manykernels as mk

from ..kernels.column_kinds import CODE
from ..kernels.table import SEQUENCE_COLUMN
from ..sequences.alphabet import MIN_LETTERS, as_texts, guess_alphabet
from ._talk import Wrong, pandas, say

_ENDS = ("fasta", "fa", "fna", "faa", "fastq", "fq")
FASTA_SUFFIXES = tuple(f".{end}{packed}" for end in _ENDS for packed in ("", ".gz", ".bz2", ".xz", ".zst"))
_WORD = re.compile(r"(?:^|[\s,;|])([A-Za-z_][\w.-]*)\s*[=:]\s*([^\s,;|]+)")
PLACE_SUFFIX = ".#"  # the column STEM.# of a matrix has the number of each example among the training examples
IDS_FILE, COLUMNS_FILE = "ids.txt", "columns.txt"  # one id per line, for all .npy files; STEM.ids.txt is for STEM.npy


def is_sequence_file(path: str) -> bool:
    return path.lower().endswith(FASTA_SUFFIXES)


def piped_sequences(data: bytes) -> Any | None:
    """The frame of FASTA or FASTQ from a pipe, compressed or not; None for other data."""
    data = data.removeprefix(BOM_UTF8)
    if data[:1] not in (b">", b"@") and data[:2] != b"\x1f\x8b":
        return None
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "stdin.fa"
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
    frame.attrs.update(sequences=[SEQUENCE_COLUMN], aside=list(columns)[1:], headers=lacking)
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


def say_taken(frame: Any, column: str, kernels: Any) -> None:
    """Say how many sequences of which lengths a column holds, and of which alphabet they are."""
    texts, before = as_texts(frame[column].dropna()), "" if column == SEQUENCE_COLUMN else f"{column}, "
    lengths = [len(text) for text in texts]
    size = f"{lengths[0]} letters" if len(set(lengths)) == 1 else f"{min(lengths)} to {max(lengths)} letters"
    say(f"{before}{len(texts)} sequences of {size}, taken as {kernels[0][1].alphabet}.")


def string_table(kernel: Any) -> dict[str, Any]:
    """The table of a kernel of sequences in a configuration, with the parameters that are not its defaults."""
    usual = {name: value.default for name, value in inspect.signature(type(kernel)).parameters.items()}
    changed = {
        name: value for name, value in kernel.get_params().items() if value != usual[name] and name != "alphabet"
    }
    return {"kernel": type(kernel).__name__} | changed | {"alphabet": kernel.alphabet}


def read_stdin() -> bytes:
    """The content of stdin."""
    stream = getattr(sys.stdin, "buffer", None)  # a stream of text has none
    return sys.stdin.read().encode() if stream is None else stream.read()


def is_list_of_ids(path: Path) -> bool:
    """Whether a file lists the ids of an .npy file of its folder."""
    return path.name.endswith((IDS_FILE, COLUMNS_FILE)) and any(path.parent.glob("*.npy"))


def read_npy(path: Path) -> Any:
    """A matrix with the ids of its rows, and of its columns if they differ, from files in the same folder."""
    K = np.load(path, allow_pickle=False)
    if K.ndim != 2 or K.dtype.kind not in "iufb":
        raise Wrong(f"{path} has shape {K.shape} and dtype {K.dtype}: give a matrix of numbers.")
    rows = _lines(path, IDS_FILE)
    if rows is None:
        raise Wrong(f"{path} has no ids: add {path.stem}.{IDS_FILE} or {IDS_FILE}, with the id of one row per line.")
    columns = _lines(path, COLUMNS_FILE)
    columns = rows if columns is None else columns
    if K.shape != (len(rows), len(columns)):
        raise Wrong(
            f"{path} has shape {K.shape}, but there are ids of {len(rows)} rows and {len(columns)} columns: correct "
            f"{IDS_FILE}, and add {COLUMNS_FILE} if the columns have other ids than the rows."
        )
    pd = pandas()
    return pd.DataFrame(K.astype(float), index=pd.Index(rows, name="id"), columns=columns)


def _lines(path, name):
    for place in (path.with_name(f"{path.stem}.{name}"), path.with_name(name)):
        if place.is_file():
            lines = place.read_text(encoding="utf-8-sig").splitlines()
            return [line.strip() for line in lines if line.strip()]
    return None


def looks_square(frame: Any) -> bool:
    """Whether the table is meant as a kernel matrix: rows and columns share half of their ids, and at least two."""
    rows, columns = set(frame.index.map(str)), set(frame.columns)
    return len(rows & columns) >= max(2, (max(len(rows), len(columns)) + 1) // 2)


def fault(frame: Any) -> str | None:
    """The fault of a kernel matrix, with its cure, or None."""
    rows, columns = list(frame.index.map(str)), list(frame.columns)
    across, down = set(columns), set(rows)
    odd = next((f"row {id!r} has no column" for id in rows if id not in across), None)
    odd = odd or next((f"column {id!r} has no row" for id in columns if id not in down), None)
    if odd:
        return (
            f"{odd}: give rows and columns the same ids for a square kernel matrix, or rename the columns if the table "
            "is not a kernel matrix."
        )
    K = frame[rows].apply(pandas().to_numeric, errors="coerce").to_numpy(float)
    i, j = (int(k[0]) if len(k) else -1 for k in np.nonzero(~np.isfinite(K)))
    if i >= 0:
        value = frame.iloc[i][rows[j]]
        return f"the value of {rows[i]!r} with {rows[j]!r} is {value}, not a finite number: correct it."
    off = np.abs(K - K.T)
    if off.max() > 1e-6 * np.abs(K).max():
        i, j = np.unravel_index(off.argmax(), off.shape)
        return (
            f"it is not symmetric, {rows[i]!r} with {rows[j]!r} is {K[i, j]:g} and {rows[j]!r} with {rows[i]!r} is "
            f"{K[j, i]:g}: correct it, or give the mean of the two."
        )
    return None


def columns_of_matrix(frame: Any, stem: str) -> list[str]:
    """The columns of the kernel of a matrix: the place, and the values with each training example."""
    wrong = frame.attrs["matrices"][stem]
    if wrong:
        raise Wrong(f"{stem}: {wrong}")
    here = [name for name in frame.columns if name.startswith(f"{stem}.")]
    rows = set(frame.index[frame[here].notna().any(axis=1)].map(str))
    return [stem + PLACE_SUFFIX, *(name for name in here if name.removeprefix(f"{stem}.") in rows)]


def with_places(frame: Any, names: list[str]) -> Any:
    """The frame with a column of places for each kernel matrix of a model."""
    made = {}
    for name in names:
        if not name.endswith(PLACE_SUFFIX) or name in frame.columns:
            continue
        stem = name.removesuffix(PLACE_SUFFIX)
        columns = [other for other in names if other.startswith(f"{stem}.") and other != name]
        ids = [column.removeprefix(f"{stem}.") for column in columns]
        lost = [id for id in ids if f"{stem}.{id}" not in frame.columns]
        if lost:
            raise Wrong(
                f"The data lack the values of {stem!r} with {len(lost)} training examples ({lost[0]!r}, for example): "
                f"add a matrix {stem} whose rows are the new examples and whose columns are the training examples."
            )
        empty = frame[columns].isna()
        partly = empty.any(axis=1) & ~empty.all(axis=1)
        if partly.any():
            id, gap = frame.index[partly][0], empty[partly].iloc[0].to_numpy().argmax()
            raise Wrong(
                f"{stem}: the value of {str(id)!r} with {ids[gap]!r} is missing: fill it in, or leave the whole row "
                "out."
            )
        place = {id: float(k) for k, id in enumerate(ids)}
        found = [place.get(str(id), -1.0) for id in frame.index]
        made[name] = np.where(empty.all(axis=1), np.nan, found)
    return pandas().concat([frame, pandas().DataFrame(made, index=frame.index)], axis=1) if made else frame
