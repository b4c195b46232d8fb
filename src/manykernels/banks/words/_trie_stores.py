"""Groups of kernels that share stores, and the stores, for banks/words/trie.py."""

import math
from functools import cached_property

import numpy as np

from ..._state import Stored, check, check_integer, check_value
from ..._threads import n_threads, run_blocks, slices
from ...strings.planes import across

MAX_TABLE_WORDS = 2**12  # of the longest length in the table of a position
LOOK_UP_COST = 70.0  # nanoseconds of the words at a position
MAX_CELLS = 2**22
ROWS_COMPARED = 512  # at a time
TRIE_LANES = 8  # ranges of positions that threads change in parallel


class TrieGroup(Stored):
    """The kernels `which` of one view: coefficients `cells` (CSR, ((S + 1) L d, M)), and positions where words begin.

    The normalised features of example i and kernel m have the factor row_factor_i factor_m; row_factor None means 1.
    """

    saved = {
        "view": "int 0", "which": "i8 m", "share as row_factor": "?f8 n", "factor": "f8 m", "shape": "any",
        "cells": "csr _ m", "direct": "int 1",
    }  # fmt: skip

    def __init__(self, view, alphabet, which, tables, row_factor, factor, limit):
        import scipy.sparse as sp

        self.view, self.alphabet, self.which, self.row_factor = view, alphabet, np.array(which), row_factor
        self.factor = np.array(factor)
        L = tables[0].shape[1]
        self.shape = max(len(table) for table in tables), L, max(table.shape[2] for table in tables)
        parts = [np.nonzero(table) for table in tables]
        rows = np.concatenate([np.ravel_multi_index(part, self.shape) for part in parts])
        values = np.concatenate([table[part] for table, part in zip(tables, parts, strict=True)])
        columns = np.repeat(np.arange(len(tables)), [len(part[0]) for part in parts])
        self.cells = sp.csr_array((values, (rows, columns)), shape=(np.prod(self.shape), len(tables)))
        self.deep, self.places, self.longest = self._survey()
        self.bits = bits_of(alphabet)
        self.direct = self._direct(limit)

    def _survey(self):
        """(deep, places, longest): word lengths by shift and position, positions where words begin, lengths there."""
        deep = letters((np.diff(self.cells.indptr) > 0).reshape(self.shape))
        longest = deep.max(axis=0)
        for s in range(1, len(deep)):
            longest[s:] = np.maximum(longest[s:], deep[s, : len(longest) - s])
        places = np.flatnonzero(longest)
        return deep, places, longest[places]

    def check_state(self):
        check_value("shape", list(self.shape), "list 3 int 1 <2147483648", {})
        check(self.shape[0] <= self.shape[1], f"shape = {self.shape} has more shifts than letters")
        rows, length = self.cells.shape[0], math.prod(self.shape)
        check(rows == length, f"cells has {rows} rows where {length} are wanted")

    def look_at(self, X):
        """Sets what follows from the sequences, or raises a ValueError if they do not fit a group from a file."""
        self.alphabet, self.bits = X.alphabet, bits_of(X.alphabet)
        check(self.row_factor is None or len(self.row_factor) == len(X), "share is of other sequences")
        check((X.lengths == self.shape[1]).all(), "shared is for sequences of another length")
        longest = min(self.shape[2], (MAX_TABLE_WORDS.bit_length() - 1) // self.bits)
        check_integer("direct", self.direct, 1, max(1, longest))
        self.deep, self.places, self.longest = self._survey()

    def _direct(self, limit):
        """The length of the longest words whose values are in the table."""
        direct = 1
        while direct < self.shape[2] and 2 ** (self.bits * (direct + 1)) <= MAX_TABLE_WORDS:
            if len(self.places) * 12 * width(self.bits, direct + 1) > limit:
                break
            direct += 1
        return direct

    def pack(self, X):
        """(words, counts), both (n, L): see loops/trie."""
        from ...loops import trie as loops

        codes = X.codes()
        words, counts = np.empty(codes.shape, np.uint64), np.empty(codes.shape, np.int32)
        loops.pack(codes, self.alphabet.size, self.bits, words, counts)
        return words, counts

    def row_factors(self, rows):
        """The factors of these rows, None for 1."""
        return None if self.row_factor is None else self.row_factor[rows]

    def weight(self, theta):
        """Σ_m θ_m coef_m, (S + 1, L, d), for the weights θ of all kernels."""
        return (self.cells @ (theta[self.which] * self.factor**2)).reshape(self.shape)

    def compares(self, size):
        """Whether comparing every sequence with `size` others takes less time than a look-up of its words."""
        cost = -(-self.shape[1] // 64) * (4.0 + 0.3 * self.shape[2])  # nanoseconds of a pair
        return size * cost < LOOK_UP_COST * len(self.places) and self.by_letters is not None

    @cached_property
    def by_letters(self):
        """The coefficients by the number of letters, (d, M), if they are the same at every position; else None."""
        (shifts, L, d), M = self.shape, len(self.which)
        if shifts > 1 or L * d * M > MAX_CELLS:
            return None
        table = self.cells.toarray().reshape(L, d, M)
        past = (np.arange(L)[:, None] + np.arange(d) >= L)[:, :, None]
        return table[0] if np.all((table == table[0]) | past) else None

    def pair_products(self, left, right, A, n_jobs):
        """Σ_j A_tj k_m(x_i, y_j), (T, M, n), of sequences as bit planes, without factors."""
        from ...loops.strings import sum_degrees

        coef, columns = self.by_letters, across(right)
        found = np.empty((len(A), coef.shape[1], len(left)))

        def part(rows):
            words = np.zeros((len(left[rows]), len(A), len(coef)))
            sum_degrees(left[rows], columns, A, words)
            found[:, :, rows] = coef.T @ words.transpose(1, 2, 0)

        run_blocks(part, slices(len(left), -(-len(left) // ROWS_COMPARED)), n_jobs)
        return found

    def block(self, left, weight, n_jobs):
        """Σ weight [s, l, k] · (common words of k + 1 letters at l and l ± s) of all pairs of bit planes."""
        from ...loops.strings import add_degrees, add_positions, shift_planes

        n, right, zero = len(left), across(left), np.zeros(1)
        K = np.zeros((1, n, n))
        moved = np.empty_like(right)
        for s, table in enumerate(weight):
            if not table.any():
                continue
            L, d = table.shape
            even = np.all((table == table[0]) | (np.arange(L)[:, None] + np.arange(d) + s >= L))
            for shift in {s, -s}:
                shift_planes(right, shift, moved)
                runs = np.cumsum(table if shift >= 0 else np.pad(table, ((s, 0), (0, 0)))[:L], axis=1)[:, :, None]

                def part(low, even=even, runs=runs, table=table):
                    if even:
                        add_degrees(left[low], moved, table[:1], zero, K[:, low])
                    else:
                        add_positions(left[low], moved, runs, zero, K[:, low])

                run_blocks(part, slices(n, n_threads(n_jobs)), n_jobs)
        return K[0]


class Store:
    """The values of all words at some positions: a table of short words, nodes of longer words (see loops/trie)."""

    def __init__(self, group, lane):
        self.group, part = group, slices(len(group.places), TRIE_LANES)[lane]
        self.places, self.longest = group.places[part], group.longest[part]
        tail = self.longest.max(initial=0) - group.direct
        self.new = len(self.places) * (1 + -(-tail // (64 // group.bits))) if tail > 0 else 0  # nodes for an example
        self.table = np.zeros((len(self.places), width(group.bits, group.direct)))
        self.first = np.zeros((len(self.places), 2 ** (group.bits * group.direct)), np.int32)
        self.nodes, self.used = np.empty((1, 4)), 0

    def clear(self):
        self.table[:], self.first[:], self.used = 0, 0, 0

    def _trie(self):
        from ...loops.trie import Trie

        nodes = self.nodes, self.nodes.view(np.uint64), self.nodes.view(np.int32)
        return Trie(self.group.bits, self.group.direct, self.places, self.table, self.first, *nodes)

    def add(self, words, counts, delta):
        from ...loops import trie as loops

        need = self.used + 1 + len(words) * self.new
        if need > len(self.nodes):
            nodes = np.empty((max(need, 3 * len(self.nodes) // 2), 4))
            nodes[: self.used + 1] = self.nodes[: self.used + 1]
            self.nodes = nodes
        self.used = loops.add(words, counts, delta, self._trie(), self.longest, self.used)

    def look_up(self, words, counts, deep, weight, *entries):
        """Σ weight · value of each example, (n, 1), or with `entries` of each kernel, (n, M)."""
        from ...loops import trie as loops

        out = np.zeros((len(words), len(self.group.which) if len(entries[1]) else 1))
        loops.look_up(words, counts, self._trie(), deep, weight, loops.CellKernels(*entries), out)
        return out


def bits_of(alphabet):
    """Bits of a letter."""
    return max(1, (alphabet.size - 1).bit_length())


def letters(weight):
    """The lengths of the longest words with a weight, (S + 1, L), from weights (S + 1, L, d)."""
    found = weight != 0
    return np.where(found.any(axis=2), weight.shape[2] - np.argmax(found[:, :, ::-1], axis=2), 0)


def width(bits, direct):
    """The number of codes of words of up to `direct` letters."""
    return sum(2 ** (bits * k) for k in range(1, direct + 1))
