"""Packed sequences: code j of a sequence lies in byte start + j·bits // 8, lowest bits first (bits is 2, 4 or 8).

`scan_fasta` and `scan_fastq` go through a chunk of a file: where the headers lie, and the letters without line ends.
"""

import numpy as np
from numba import njit

from . import INNER, OPTIONS

NEWLINE, RETURN, SPACE, TAB, HEADER, COMMENT, AT, PLUS = 10, 13, 32, 9, 62, 35, 64, 43


@njit(**OPTIONS)
def pack(letters, offsets, table, size, bits, data, at, starts):
    """Pack sequences letters[offsets_i : offsets_i+1] through the code table into data from byte `at` on.

    Fills starts. Returns −1, or the position in `letters` of the first invalid letter (with 2 bits also of the first
    letter of code `size`). The sequence of that letter and all later ones are not packed.
    """
    per = 8 // bits
    for i in range(len(offsets) - 1):
        starts[i] = at
        j, stop = offsets[i], offsets[i + 1]
        while j < stop:
            byte = 0
            for s in range(per if per < stop - j else stop - j):
                code = table[letters[j + s]]
                if code < 0 or (bits == 2 and code == size):
                    return j + s
                byte |= code << (s * bits)
            data[at] = byte
            at += 1
            j += per
    return -1


@njit(**OPTIONS)
def unpack(data, start, length, bits, out):
    """out[:length] = the codes of the sequence that starts at byte `start`.

    numba's cache checks one file only: touch degree.py, degree_visits.py, linadd.py and linadd_placed.py with it.
    """
    if bits == 8:
        for j in range(length):
            out[j] = data[start + j]
    elif bits == 4:
        for j in range(length):
            out[j] = (data[start + (j >> 1)] >> (4 * (j & 1))) & 15
    else:
        for j in range(length):
            out[j] = (data[start + (j >> 2)] >> (2 * (j & 3))) & 3


@njit(**OPTIONS)
def unpack_rows(data, starts, lengths, bits, out):
    """out[i, :lengths_i] = the codes of sequence i; the rest of a row stays as it is."""
    for i in range(len(starts)):
        unpack(data, starts[i], lengths[i], bits, out[i])


@njit(**OPTIONS)
def unpack_flat(data, starts, lengths, bits, out):
    """out = the codes of all sequences, one after another."""
    at = 0
    for i in range(len(starts)):
        unpack(data, starts[i], lengths[i], bits, out[at : at + lengths[i]])
        at += lengths[i]


@njit(**OPTIONS)
def repack(data, starts, firsts, lengths, bits, new_bits, out, new_starts):
    """Copy codes firsts_i … firsts_i + lengths_i of every sequence, packed with new_bits."""
    at, per, mask = 0, 8 // bits, (1 << bits) - 1
    for i in range(len(starts)):
        new_starts[i] = at
        shift, byte = 0, 0
        for j in range(firsts[i], firsts[i] + lengths[i]):
            byte |= ((data[starts[i] + j // per] >> (bits * (j % per))) & mask) << shift
            shift += new_bits
            if shift == 8:
                out[at] = byte
                at += 1
                shift, byte = 0, 0
        if shift:
            out[at] = byte
            at += 1


@njit(**OPTIONS)
def same(data, starts, bits, other, other_starts, other_bits, lengths):
    """Whether two sets of sequences of the same lengths hold the same codes."""
    per, mask, other_per, other_mask = 8 // bits, (1 << bits) - 1, 8 // other_bits, (1 << other_bits) - 1
    for i in range(len(lengths)):
        s, t = starts[i], other_starts[i]
        for j in range(lengths[i]):
            a = (data[s + j // per] >> (bits * (j % per))) & mask
            if a != (other[t + j // other_per] >> (other_bits * (j % other_per))) & other_mask:
                return False
    return True


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
