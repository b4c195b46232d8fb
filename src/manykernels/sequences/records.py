"""Files of records, unpacked and cut into chunks of whole records."""

import bz2
import gzip
import lzma
from codecs import BOM_UTF8
from contextlib import contextmanager

import numpy as np

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
    if data[:1] not in (b">", b"@", b"#"):
        raise UnknownFormat(f"it begins with {data[:1].decode('latin-1')!r}")
    return data[:1] == b"@"


def _end_of_fastq(data):
    """The end of the last record, of four lines."""
    ends = np.flatnonzero(np.frombuffer(data, np.uint8) == NEWLINE)
    whole = len(ends) // 4 * 4
    return int(ends[whole - 1]) + 1 if whole else 0
