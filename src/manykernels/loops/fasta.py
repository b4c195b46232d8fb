"""One pass over a chunk of a FASTA or FASTQ file: where the headers lie, and the letters without line ends."""

import numpy as np
from numba import njit

from . import INNER, OPTIONS

NEWLINE, RETURN, SPACE, TAB, HEADER, COMMENT, AT, PLUS = 10, 13, 32, 9, 62, 35, 64, 43


@njit(**INNER)
def _line(chunk, start):
    """End of the line without trailing blanks, and the start of the next one."""
    end = start
    while end < len(chunk) and chunk[end] != NEWLINE:
        end += 1
    after = end + 1
    while end > start and (chunk[end - 1] == RETURN or chunk[end - 1] == SPACE or chunk[end - 1] == TAB):
        end -= 1
    return end, after


@njit(**INNER)
def _title(chunk, start, end):
    """Where the header's text begins, after the sign and blanks."""
    start += 1
    while start < end and (chunk[start] == SPACE or chunk[start] == TAB):
        start += 1
    return start


@njit(**OPTIONS)
def scan_fasta(chunk, letters, offsets, heads, tails):
    """Records of a FASTA chunk: count, or −1 − position of what is no FASTA. Lines that begin with # are comments."""
    count, at, j = 0, 0, np.int64(0)  # a plain 0 would be a type of its own: _line would be compiled twice
    while j < len(chunk):
        end, after = _line(chunk, j)
        if chunk[j] == HEADER:
            offsets[count], heads[count], tails[count] = at, _title(chunk, j, end), end
            count += 1
        elif chunk[j] != COMMENT:
            if count == 0 and end > j:
                return -1 - j
            for t in range(j, end):
                letters[at] = chunk[t]
                at += 1
        j = after
    offsets[count] = at
    return count


@njit(**OPTIONS)
def scan_fastq(chunk, letters, offsets, heads, tails):
    """Records of a FASTQ chunk (four lines each): count, or −1 − position of the header of a broken record."""
    count, at, j = 0, 0, np.int64(0)  # a plain 0 would be a type of its own: _line would be compiled twice
    while j < len(chunk):
        end, after = _line(chunk, j)
        if end == j:  # an empty line after the last record
            j = after
            continue
        if chunk[j] != AT:
            return -1 - j
        offsets[count], heads[count], tails[count] = at, _title(chunk, j, end), end
        start = after
        end, after = _line(chunk, start)
        size = end - start
        for t in range(start, end):
            letters[at] = chunk[t]
            at += 1
        plus = after
        if plus >= len(chunk) or chunk[plus] != PLUS:
            return -1 - j
        end, after = _line(chunk, plus)
        start = after
        end, after = _line(chunk, start)
        if end - start != size:
            return -1 - j
        count += 1
        j = after
    offsets[count] = at
    return count
