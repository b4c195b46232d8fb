"""Packed sequences: code j of a sequence lies in byte start + j·bits // 8, lowest bits first (bits is 2, 4 or 8)."""

from numba import njit

from . import OPTIONS


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
            for s in range(min(per, stop - j)):
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
