"""Exponentials of one base are functions of one number d, so that one table look-up gives their weighted sum."""

from functools import lru_cache

import numpy as np

LOG2E = 1.4426950408889634
_CELLS_PER_OCTAVE = 32
_TAYLOR_TERMS = 16  # of a cell, before the series is economised
_MAX_CACHED_BYTES = 2**18  # of a table that is kept for later calls


def cells(rate, top):
    """(delta, octaves) of a table for exp(−rate d), 0 <= d <= top: cells split each octave of d + delta into 32."""
    delta = 2.0 ** np.ceil(np.log2(1.0 / rate.max()))
    end = min(100.0 / rate.min(), top) + delta
    return delta, max(int(np.ceil(np.log2(end / delta) + 1e-6)), 1)


def tables(rate, top, dtype):
    """exp(−rate_m d) as polynomials in the fraction of each of these cells, 0 beyond the last cell.

    ((M, cells + 1, 4 or 8), delta, first), errors about 1e-9 for float32 and 1e-15 for float64.
    """
    shift = 18 if dtype == np.float32 else 47
    delta, octaves = cells(rate, top)
    make = _made if table_bytes(rate, top, dtype) <= _MAX_CACHED_BYTES else _made.__wrapped__
    result, delta = make(rate.tobytes(), octaves, np.dtype(dtype).itemsize), np.asarray(delta, dtype)
    return result, delta[()], int(delta.view(f"i{delta.itemsize}") >> shift)


@lru_cache(maxsize=64)
def _made(rate, octaves, itemsize):
    """The polynomials, which views with the same rates share."""
    rate, size = np.frombuffer(rate), 4 if itemsize == 4 else 8
    delta = cells(rate, 0.0)[0]
    octave = np.repeat(delta * 2.0 ** np.arange(octaves), _CELLS_PER_OCTAVE)
    d = octave * np.tile(1 + np.arange(_CELLS_PER_OCTAVE) / _CELLS_PER_OCTAVE, octaves) - delta
    result = np.zeros((rate.size, d.size + 1, size))
    for m, one in enumerate(rate):
        series, step = np.empty((d.size, _TAYLOR_TERMS)), (one / _CELLS_PER_OCTAVE * octave)[:, None]
        series[:, 0], series[:, 1:] = np.exp(-one * d), step / -np.arange(1, _TAYLOR_TERMS)
        result[m, :-1] = np.cumprod(series, axis=1, out=series) @ _economised(size)
    result.flags.writeable = False
    return result


def table_bytes(rate, top, dtype, rows=0):
    """Bytes of `tables` and of sums by cell for `rows` rows."""
    size = 4 if dtype == np.float32 else 8
    return 8 * size * (_CELLS_PER_OCTAVE * cells(rate, top)[1] + 1) * (rate.size + rows)


@lru_cache
def _economised(size):
    """(terms, size): row k is s^k as a polynomial of `size` coefficients, from Chebyshev points of [0, 1]."""
    s = np.cos(np.pi * np.arange(size) / (size - 1)) / 2 + 0.5
    rows = np.linalg.solve(np.vander(s, increasing=True), np.vander(s, _TAYLOR_TERMS, increasing=True)).T
    rows[:size] = np.eye(size)
    return rows
