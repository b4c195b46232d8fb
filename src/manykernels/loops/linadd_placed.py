"""Words at positions as explicit features: linadd for position-dependent kernels in the stores of linadd.py.

`channels` (L, d) are CHANNELs, one for the words of each length 1 … d at each place; weight 0 means unused.
numba's cache checks only this file: touch it when a loop of another file that it calls changes.
"""

from collections import namedtuple

import numpy as np
from numba import njit

from . import OPTIONS
from .linadd import seek
from .sequences import unpack

MAX_HELD_LETTERS = 2**17  # at a time

PlacedText = namedtuple("PlacedText", "data starts bits size")
PlacedWords = namedtuple("PlacedWords", "channels depth words")  # depth (L,): of the longest words at each place


@njit(**OPTIONS)
def visit_placed(text, rows, placed, low, high, root, values, delta, out):
    """Words at their places l, low <= l < high: channels (L, d) for word lengths 1 … d, up to depth_l of them.

    With delta (|rows|,): values += delta_r root_rm weight of each word of each row, out_m grows with ‖values of m‖².
    With delta empty, look-up: out_rm += Σ weight · value. `root` may be empty.
    """
    (data, starts, bits, size), (channels, depth, words) = text, placed
    L, d = channels.shape
    most = max(1, min(len(rows), MAX_HELD_LETTERS // L))
    letters = np.empty((most, L), np.uint8)
    for first in range(0, len(rows), most):
        some = rows[first : first + most]
        for r in range(len(some)):
            unpack(data, starts[some[r]], L, bits, letters[r])
        for at in range(low, high):
            for r in range(len(some)):
                code = np.int64(0)
                for k in range(depth[at]):
                    if letters[r, at + k] >= size:
                        break
                    code = code * size + letters[r, at + k]
                    channel = channels[at, k]
                    if channel.weight == 0.0:
                        continue
                    place, sign = seek(code, channel, words)
                    if sign == 0.0:  # then longer words have no place either
                        break
                    m, step = channel.kern, sign * channel.weight
                    if len(delta) > 0:
                        step *= delta[first + r] * (root[first + r, m] if len(root) > 0 else 1.0)
                        out[0, m] += step * (2.0 * values[place] + step)
                        values[place] += step
                    else:
                        out[first + r, m] += step * values[place]


@njit(**OPTIONS)
def places_placed(text, rows, placed, place, value):
    """place and value (|rows|, L, d): the place of each word of a row and sign · weight, 0 without a place."""
    (data, starts, bits, size), (channels, depth, words) = text, placed
    L, d = channels.shape
    letters = np.empty(L, np.uint8)
    place[:], value[:] = 0, 0.0
    for r in range(len(rows)):
        unpack(data, starts[rows[r]], L, bits, letters)
        for at in range(L):
            code = np.int64(0)
            for k in range(depth[at]):
                if letters[at + k] >= size:
                    break
                code = code * size + letters[at + k]
                place[r, at, k], sign = seek(code, channels[at, k], words)
                value[r, at, k] = sign * channels[at, k].weight


@njit(**OPTIONS)
def hashed_norms(place, value, begin, bits, values, out):
    """out[r, place >> bits] += Σ values² of the words begin_r … begin_r+1; `values` are zero before and after."""
    for r in range(len(begin) - 1):
        for e in range(begin[r], begin[r + 1]):
            old = values[place[e]]
            out[r, place[e] >> bits] += value[e] * (2.0 * old + value[e])
            values[place[e]] = old + value[e]
        for e in range(begin[r], begin[r + 1]):
            values[place[e]] = 0.0
