"""FASTA and FASTQ files, compressed or not, read in chunks directly into packed sequences."""

import bz2
import gzip
import lzma
import os
import re
from codecs import BOM_UTF8
from collections.abc import Callable
from contextlib import contextmanager, suppress
from os import PathLike
from typing import Any

import numpy as np

from .._validation import parse_bytes
from . import alphabet as _alphabet
from .alphabet import Alphabet
from .packed import Sequences
from .packing import Packer, frozen

PACKED = {b"\x1f\x8b": gzip.open, b"BZh": bz2.open, b"\xfd7zXZ\x00": lzma.open}  # by the first bytes
ZSTANDARD = b"\x28\xb5\x2f\xfd"
NEWLINE = 10


class UnknownFormat(Exception):
    """The file begins like no FASTA or FASTQ file."""


@contextmanager
def unpacked(path):
    """The file at the path for reading bytes; its first bytes tell how it is packed.

    The package xopen (`pip install manykernels[bio]`) unpacks gzip faster, and Zstandard, which has no other reader.
    """
    with open(path, "rb") as file:
        begin = file.peek(8)
        opener = next((opener for magic, opener in PACKED.items() if begin.startswith(magic)), None)
        if opener is gzip.open or begin.startswith(ZSTANDARD):
            opener = _opener(path, opener)
        if opener is None:
            yield file
        else:
            with opener(file) as inner:
                yield inner


def _opener(path, otherwise):
    try:
        from xopen import xopen
    except ImportError as error:
        if otherwise is None:
            raise ImportError(f"{path} is packed with Zstandard, which needs manykernels[bio]: unpack it") from error
        return otherwise
    return lambda file: xopen(file, "rb", threads=0)


def chunks(file, size):
    """Yields bytes of whole records, at most `size` of them; a longer record is an OverflowError."""
    rest, fastq = b"", None
    while part := file.read(size - len(rest)):
        data = rest + part
        if fastq is None:
            data = data.removeprefix(BOM_UTF8)
            fastq = _is_fastq(data)
        end = _end_of_fastq(data) if fastq else data.rfind(b"\n>") + 1
        if not end and len(data) >= size:
            raise OverflowError
        rest = data[end:]
        if end:
            yield data[:end]
    if rest:
        yield rest


def _is_fastq(data):
    if data.startswith(b"BAM\x01"):
        raise UnknownFormat("it is BAM")
    if b"\r" in data and b"\n" not in data:
        raise UnknownFormat(r"its lines end with CR alone: write it anew, tr '\r' '\n' < old > new")
    if data[:1] not in (b">", b"@", b"#"):
        raise UnknownFormat(f"it begins with {data[:1].decode('latin-1')!r}")
    return data[:1] == b"@"


def _end_of_fastq(data):
    """The end of the last record, of four lines."""
    ends = np.flatnonzero(np.frombuffer(data, np.uint8) == NEWLINE)
    whole = len(ends) // 4 * 4
    return int(ends[whole - 1]) + 1 if whole else 0


MIN_UNPACKED_LIMIT = 2**28  # bytes that any file may unpack to
MAX_UNPACKED_RATIO = 100  # of unpacked bytes to the size of a larger file
MAX_LABEL_LETTERS = 2**12
NO_RECORDS = "{} holds no records; a FASTA file has a line '>name' before each sequence"
BUFFER_SIZES = (2**22, 2**26, 2**30)  # bytes; the longest record must fit into one


def read_fasta(
    path: str | PathLike[str],
    alphabet: str | Alphabet = "dna",
    unknown: str = "error",
    *,
    labels: str | Callable[[list[str]], Any] | None = None,
    memory_limit: float | str | None = None,
    checked: bool = False,
) -> Any:
    """The sequences of a FASTA or FASTQ file (.gz, .bz2, .xz and .zst too), and optionally labels from the headers.

    The file is streamed: memory holds the packed result and one chunk. Files of Zstandard need `pip install
    manykernels[bio]`, which also unpacks gzip faster.

    Parameters
    ----------
    path : str or path
    alphabet : str or Alphabet, default "dna"
        "dna", "rna", "protein", "bytes" or an `Alphabet`. Lower-case (soft-masked) letters count as upper-case ones.
    unknown : {"error", "ambiguous", "ignore"}
        Whether letters outside the alphabet raise an error, do so unless they are for several bases or residues or
        gaps, or match nothing.
    labels : str or callable, optional
        A word: y holds the values after `word=` or `word:` in the headers, as int64, float64 or str, the first that
        fits all. Or a function of a list of headers (some thousands at a time, without ">" or "@") that returns one
        label per header; `labels=list` returns the headers.
    memory_limit : float or str, optional
        The most bytes (or "4GB") that the file may unpack to; by default 100 times its size, at least 256 MiB.

    checked : bool, default False
        As in `Sequences.encode`.

    Returns
    -------
    Sequences, or (Sequences, y) if there are labels

    Examples
    --------
    >>> import tempfile
    >>> from manykernels.sequences import read_fasta
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with open(f"{folder}/sites.fa", "w") as file:
    ...         print(">one class=1", file=file)
    ...         print("ACGT", file=file)
    ...     X, y = read_fasta(f"{folder}/sites.fa", labels="class")
    >>> list(X), y
    (['ACGT'], array([1]))
    """
    alphabet, path = _alphabet.get(alphabet), os.fsdecode(path)
    if labels is not None and not callable(labels) and not (isinstance(labels, str) and labels):
        raise ValueError(f"labels={labels!r}: give a word of the headers, a function of a list of headers, or None")
    limit = _limit(path, memory_limit)
    for size in BUFFER_SIZES:
        with suppress(OverflowError):
            [(sequences, found)] = _batches(path, alphabet, unknown, labels, np.inf, checked, size, limit)
            return sequences if labels is None else (sequences, gathered([found], isinstance(labels, str)))
    raise ValueError(f"{path} has a record longer than {BUFFER_SIZES[-1]} bytes; cut it into windows first")


def _limit(path, memory_limit):
    """The most bytes that the file may unpack to; inf if the path is no file on a disk, so that its size is unknown."""
    if memory_limit is not None:
        return parse_bytes(memory_limit)
    return max(MIN_UNPACKED_LIMIT, MAX_UNPACKED_RATIO * os.path.getsize(path)) if os.path.isfile(path) else np.inf


class Counted:
    """A file with a limit on the bytes read."""

    def __init__(self, file, limit):
        self.file, self.limit, self.count = file, limit, 0

    def read(self, size):
        data = self.file.read(size)
        self.count += len(data)
        if self.count > self.limit:
            raise TooMuch
        return data


class TooMuch(Exception):
    """The file unpacks to more bytes than the limit."""


def stream_fasta(path, alphabet="dna", unknown="error", labels=None, rows=2**16, checked=False):
    """Yields (Sequences, labels or None) of about `rows` records each, in the order of the file.

    Memory holds one block. Other parameters are those of `read_fasta`; labels are not converted to numbers.
    """
    path, size = os.fsdecode(path), BUFFER_SIZES[0]
    try:
        yield from _batches(path, _alphabet.get(alphabet), unknown, labels, rows, checked, size, np.inf)
    except OverflowError:
        raise ValueError(f"{path} has a record longer than {size} bytes; cut it into windows first") from None


def _batches(path, alphabet, unknown, labels, rows, checked, size, limit):
    """Yields (Sequences, labels or None) of `rows` records or more; an OverflowError for a record of over `size`."""
    name, total, found = _braced(path), 0, []
    packer = Packer(alphabet, unknown, f"sequence {{}} of {name}", checked)
    for letters, offsets, part in _chunks(path, labels, size, limit):
        packer.add(letters, offsets)
        found += [] if part is None else [part]
        if packer.count >= rows:
            yield Sequences.packed(packer), np.concatenate(found) if found else None
            total, found = total + packer.count, []
            packer = Packer(alphabet, unknown, f"sequence {total:,} + {{}} of {name}", checked)
    if packer.count:
        yield Sequences.packed(packer), np.concatenate(found) if found else None
    elif not total:
        raise ValueError(NO_RECORDS.format(path))


def _chunks(path, labels, buffer_size, limit):
    """Yields (letters, offsets, labels or None) of each chunk of the file."""
    fastq, count = None, 0
    with unpacked(path) as file:
        found = chunks(Counted(file, limit), buffer_size)
        while (chunk := _next(found, path, count)) is not None:
            fastq = chunk[:1] == b"@" if fastq is None else fastq
            letters, offsets, heads, tails = _scan(chunk, fastq, path)
            part = None
            if labels is not None and heads:  # a chunk may hold comments only
                lines = b"\n".join([chunk[a:b] for a, b in zip(heads, tails, strict=True)])
                part = _labels(labels, lines.decode("utf-8", "replace").split("\n"), path, count)
            yield letters, offsets, part
            count += len(heads)


def _next(found, path, count):
    """The next chunk, or None; errors become ValueErrors that name the file."""
    try:
        return next(found, None)
    except EOFError:
        raise ValueError(
            f"{path} is truncated: the compressed data break off ({count} records were read); fetch it again"
        ) from None
    except UnknownFormat as error:
        raise ValueError(
            f"{path} is neither FASTA nor FASTQ: it must begin with '>' or '@', and lines must end with LF ({error})"
        ) from None
    except TooMuch:
        raise ValueError(
            f"{path} unpacks to more bytes than the limit ({count} records were read): if you trust it, give "
            "read_fasta(path, memory_limit=...), such as '100GB'"
        ) from None
    except (OverflowError, MemoryError):
        raise
    except Exception as error:
        raise ValueError(f"{path} cannot be read after {count} records: {error}; fetch it again") from error


def _scan(chunk, fastq, path):
    from ..loops.sequences import scan_fasta, scan_fastq

    raw = frozen(np.frombuffer(chunk, dtype=np.uint8))
    most = 1 + (np.count_nonzero(raw == 10) // 4 if fastq else np.count_nonzero(raw == ord(">")))
    letters, offsets = np.empty(len(raw), dtype=np.uint8), np.empty(most + 1, dtype=np.int64)
    heads, tails = np.empty(most, dtype=np.int64), np.empty(most, dtype=np.int64)
    count = (scan_fastq if fastq else scan_fasta)(raw, letters, offsets, heads, tails)
    if count < 0:
        line = bytes(raw[-1 - count : 59 - count]).split(b"\n")[0].decode("latin-1")
        kind = "FASTQ (four lines a record, as many qualities as letters)" if fastq else "FASTA"
        raise ValueError(f"{path} is not {kind}, or it is truncated: see the record that begins with {line!r}")
    return letters[: offsets[count]], offsets[: count + 1], heads[:count].tolist(), tails[:count].tolist()


def _labels(labels, headers, path, first):
    if callable(labels):
        found = labels(headers)
        _check_widths(found, path)
        found = np.asarray(found)
        if found.shape[:1] != (len(headers),):
            raise ValueError(
                f"labels returned shape {found.shape} for {len(headers)} headers; it must return one label per header"
            )
        return found
    word = re.compile(rf"(?:^|[\s,;|]){re.escape(labels)}\s*[=:]\s*([^\s,;|]+)")
    matches = [set(word.findall(header)) for header in headers]
    for i, match in enumerate(matches):
        if len(match) != 1:
            what = f"several '{labels}='" if match else f"no '{labels}='"
            raise ValueError(f"labels={labels!r}: header {headers[i]!r} of sequence {first + i} of {path} has {what}")
    found = [label for (label,) in matches]
    _check_widths(found, path)
    return np.array(found)


def _check_widths(found, path):
    """A ValueError for a very long label, since NumPy's array of labels would have its width in every entry."""
    if isinstance(found, list) and all(isinstance(label, str) for label in found):
        longest = max(map(len, found), default=0)
        if longest > MAX_LABEL_LETTERS:
            raise ValueError(
                f"{path} has a label of {longest} letters, more than {MAX_LABEL_LETTERS}: give another `labels`"
            )


def gathered(parts, numbers):
    """The labels of all parts; with `numbers` as numbers, unless texts such as 01 or 1_0 would lose their spelling."""
    found = np.concatenate(parts)
    codes = numbers and any(re.match(r"[-+]?0\d|.*_", label) for label in found.tolist())
    for dtype in (np.int64, np.float64) if numbers and not codes else ():
        try:
            return found.astype(dtype)
        except ValueError:
            pass
    return found


def _braced(path):
    return str(path).replace("{", "{{").replace("}", "}}")
