"""Readers of the words of strings, for banks/words/linadd.py: one kernel at any place, or several kernels at positions.

Both describe their words, and the places of the values, by channels, see loops/linadd.py.
"""

import numpy as np

from ..._threads import slices
from ...strings.planes import across, planes

MAP, SORTED, HASH = range(3)
CHANNEL = np.dtype(
    [(name, np.int64) for name in ("span", "depth", "prefix", "step", "kern", "kind", "first", "low", "high")]
    + [("weight", np.float64), ("salt", np.uint64), ("shift", np.uint64)]
)
WORD_LANES = 4  # parts that threads change in parallel
STRING_END = 2**62


class FreeWords:
    """Kernel m, of words at any place of [start:stop]; `channels` (C,), `places` and `moves` (C, k)."""

    def __init__(self, kernel, m, view, X, hashed):
        self.m, self.view, self.size, self.whole = m, view, X.alphabet.size, bool(kernel.whole)
        self.power = float(kernel.power)
        self.start, self.stop = kernel.start or 0, STRING_END if kernel.stop is None else kernel.stop
        self.opposite = X.alphabet.opposite() if kernel.reverse_complement else np.empty(0, np.uint8)
        readings = kernel.readings(self.size, hashed)
        deepest = max(1, max(len(reading.places) for reading in readings))
        self.channels = np.zeros(len(readings), CHANNEL)
        self.places, self.moves = np.zeros((2, len(readings), deepest), np.int64)
        self.table = np.array([reading.table for reading in readings])
        before = None
        for c, reading in enumerate(readings):
            depth = len(reading.places)
            self.places[c, :depth], self.moves[c, :depth] = reading.places, reading.moves
            self.channels[c]["span"], self.channels[c]["depth"] = reading.span, depth
            self.channels[c]["weight"], self.channels[c]["kern"] = reading.weight, m
            self.channels[c]["step"] = reading.step
            if before is not None and before.span <= reading.span and before.step <= reading.step:
                self.channels[c]["prefix"] = max(0, min(_alike(before, reading), len(before.places) - 1))
            before = reading
        self.spaces = [self.size ** int(depth) for depth in self.channels["depth"]]
        self.of = self.channels["kern"]
        self.words = np.empty(0, np.int64)

    def set_fields(self, **fields):
        """Sets fields of the channels."""
        for name, values in fields.items():
            self.channels[name] = values

    def _loop(self, lane=slice(None), codes=False):
        """The argument of the loops; `codes` replaces the places by the codes of the words."""
        from ...loops.linadd import WordReader

        channels = self.channels[lane]
        if codes:
            channels = channels.copy()
            channels["kind"] = channels["first"] = 0
        where = channels, self.places[lane], self.moves[lane], self.words
        return WordReader(self.size, self.start, self.stop, self.whole, self.opposite, *where, self.power)

    def lanes(self, hashed):
        return [slice(None)] if hashed else [s for s in slices(len(self.channels), WORD_LANES) if s.stop > s.start]

    def occurring(self, X, wanted):
        """The different words of each channel that is `wanted`, ascending."""
        from ...loops.linadd import places_of

        rows = np.arange(len(X))
        for c in np.flatnonzero(wanted):
            one = self._loop(slice(c, c + 1), codes=True)
            begin = np.concatenate([[0], np.cumsum(self._n_words(X, self.channels[c]))])
            codes, sign = np.empty(begin[-1], np.int64), np.empty(begin[-1])
            places_of(_text(X), rows, one, begin, codes, sign)
            yield np.unique(codes[sign > 0])

    def _n_words(self, X, channel):
        """The number of words of each string."""
        lengths = X.lengths.astype(np.int64)
        begin, end = (np.clip(np.where(b < 0, b + lengths, b), 0, lengths) for b in (self.start, self.stop))
        return np.maximum(end - begin - channel["span"] + 1, 0) * (self._strands // channel["step"])

    @property
    def _strands(self):
        return 2 if len(self.opposite) else 1

    def add(self, X, rows, delta, root, lane, values, q):
        from ...loops.linadd import visit

        reader, step = self._loop(lane), delta if root is None else delta * root[:, self.m]
        growth = np.zeros(len(reader.channels))
        visit(_text(X), rows, reader, values, step, growth)
        q[self.m] += growth.sum()

    def look_up(self, X, rows, use, values, out):
        from ...loops.linadd import visit

        if use[self.m]:
            found = np.zeros(len(rows))
            visit(_text(X), rows, self._loop(), values, np.empty(0), found)
            out[:, self.m] = found

    def features(self, X):
        """(places, values, number of words of each string), one string after another."""
        from ...loops.linadd import places_of

        count = np.sum([self._n_words(X, channel) for channel in self.channels], axis=0)
        begin = np.concatenate([[0], np.cumsum(count)])
        place, sign = np.empty(begin[-1], np.int64), np.empty(begin[-1])
        places_of(_text(X), np.arange(len(X)), self._loop(), begin, place, sign)
        here = sign != 0
        return place[here], sign[here], np.diff(np.concatenate([[0], np.cumsum(here)])[begin])


class PositionedWords:
    """Kernels of words at positions, each (position, length) of at most one kernel; `channels` (L, d).

    The feature of a word is `weight` = √coef. `depth` (L,) is the length of the longest words at a position.
    """

    def __init__(self, view, X):
        self.view, self.size, self.L = view, X.alphabet.size, X.length
        self.coef, self.kern = np.zeros((self.L, 0)), np.zeros((self.L, 0), np.int64)
        self.words = np.empty(0, np.int64)

    def take_in(self, m, table):
        """Adds kernel m with these coefficients; returns False if another kernel has one of its words."""
        d = max(table.shape[1], self.coef.shape[1])
        old, kern, new = (np.pad(A, ((0, 0), (0, d - A.shape[1]))) for A in (self.coef, self.kern, table))
        if np.any((old != 0) & (new != 0)):
            return False
        self.coef, self.kern = old + new, np.where(new != 0, m, kern)
        return True

    def finish(self):
        self.channels = np.zeros(self.coef.shape, CHANNEL)
        self.channels["weight"], self.channels["kern"] = np.sqrt(self.coef), self.kern
        self.channels["depth"] = np.arange(1, self.coef.shape[1] + 1)
        counted = self.coef > 0
        self.depth = np.where(counted.any(axis=1), self.coef.shape[1] - np.argmax(counted[:, ::-1], axis=1), 0)
        self.where = np.nonzero(counted)
        self.table = np.arange(len(self.where[0]))
        self.spaces = [self.size ** (int(k) + 1) for k in self.where[1]]
        self.of = self.kern[self.where]

    def set_fields(self, **fields):
        for name, values in fields.items():
            self.channels[name][self.where] = values

    def lanes(self, hashed):
        return [slice(0, self.L)] if hashed else [s for s in slices(self.L, WORD_LANES) if s.stop > s.start]

    def occurring(self, X, wanted):
        letters, chosen = X.codes(), np.zeros(self.coef.shape, bool)
        chosen[self.where] = wanted
        for at in range(self.L):
            code = np.zeros(len(X), np.int64)
            for k in range(self.depth[at]):
                letter = letters[:, at + k]
                code = np.where((code >= 0) & (letter < self.size), code * self.size + letter, -1)
                if chosen[at, k]:
                    yield np.unique(code[code >= 0])

    def _loop(self, X, rows, channels=None):
        """The first arguments of the loops."""
        from ...loops.linadd_placed import PlacedText, PlacedWords

        words = PlacedWords(self.channels if channels is None else channels, self.depth, self.words)
        return PlacedText(X.data, X.starts, X.bits, self.size), rows, words

    def add(self, X, rows, delta, root, lane, values, q):
        from ...loops.linadd_placed import visit_placed

        root = np.empty((0, 0)) if root is None else np.ascontiguousarray(root)
        visit_placed(*self._loop(X, rows), lane.start, lane.stop, root, values, delta, q[None])

    def look_up(self, X, rows, use, values, out):
        from ...loops.linadd_placed import visit_placed

        channels = self.channels.copy()
        channels["weight"] *= use[channels["kern"]]
        visit_placed(*self._loop(X, rows, channels), 0, self.L, np.empty((0, 0)), values, np.empty(0), out)

    def block(self, X, rows, weight):
        """Σ_m weight_m k_m(x_r, x_s), (|rows|, |rows|)."""
        from ...loops.strings import add_positions

        left, out = planes(X[rows]), np.zeros((1, len(rows), len(rows)))
        runs = np.cumsum(self.coef * weight[self.kern], axis=1)[:, :, None]
        add_positions(left, across(left), runs, np.zeros(1), out)
        return out[0]

    def features(self, X):
        from ...loops.linadd_placed import places_placed

        place, value = np.empty((len(X), *self.coef.shape), np.int64), np.empty((len(X), *self.coef.shape))
        places_placed(*self._loop(X, np.arange(len(X))), place, value)
        here = value != 0
        return place[here], value[here], np.count_nonzero(here, axis=(1, 2))


def _text(X):
    from ...loops.linadd import PackedText

    return PackedText(X.data, X.starts, X.lengths, X.bits)


def _alike(before, reading):
    """The number of first letters in which two readings agree."""
    letters = zip(before.places, before.moves, strict=True), zip(reading.places, reading.moves, strict=True)
    same = 0
    for one, other in zip(*letters, strict=False):
        if one != other:
            break
        same += 1
    return same
