"""Loops over so many rows that they take tiles, here by their Python functions with tiles of a few rows."""

import numpy as np
import pytest

from manykernels.loops import degree

rng = np.random.default_rng(1)
n, L, d, size, M = 23, 9, 4, 4, 3


def text_and_values(bits, direct):
    """Sequences as words of 2, 4 or 8 bits, and values with nodes for some of the longer words."""
    letters = rng.choice(size + (bits > 2), size=(n, L), p=[0.25] * 4 if bits == 2 else [0.3, 0.3, 0.2, 0.1, 0.1])
    per = 8 // bits
    padded = np.pad(letters, ((0, 0), (0, -L % per))).reshape(n, -1, per)
    data = (padded << (bits * np.arange(per))).sum(axis=2).astype(np.uint8)
    starts = np.arange(n, dtype=np.int64) * data.shape[1]
    known = np.zeros((n, L), int)  # letters of the longest word without an unknown letter
    for i, at in np.ndindex(n, L):
        while known[i, at] < min(d, L - at) and letters[i, at + known[i, at]] < size:
            known[i, at] += 1
    depth = np.minimum(rng.integers(0, d, size=(n, L)), np.maximum(known - direct, 0)).astype(np.uint8)
    begin = np.concatenate([[0], np.cumsum(depth.sum(axis=1, dtype=np.int64))])
    nodes = rng.normal(size=3 * L * d).astype(np.float32)  # three for each position and length
    ids = [3 * (at * d + k) + rng.integers(3) for i, at in np.ndindex(n, L) for k in range(depth[i, at])]
    ids = np.array(ids, np.uint32)
    table = rng.normal(size=(L, sum(size**k for k in range(1, direct + 1)))).astype(np.float32)
    text = degree.AlignedText(data.ravel(), starts, bits, L, size)
    return letters, text, degree.WordValues(direct, table, nodes, depth, begin, ids)


def words_of(letters, values, i, low, high):
    """(position, letters, where its value is) of the words of example i, one after another."""
    direct, table, nodes, depth, begin, ids = values
    at_node = begin[i] + int(depth[i, :low].sum())
    for at in range(low, high):
        word, offset = 0, 0
        for k in range(min(direct, L - at)):
            if letters[i, at + k] >= size:
                break
            word = word * size + letters[i, at + k]
            yield at, k, (table, (at, offset + word))
            offset += size ** (k + 1)
        for k in range(direct, direct + depth[i, at]):
            yield at, k, (nodes, (ids[at_node],))
            at_node += 1


def plain(loop):
    """The Python function of a loop, which is its own under NUMBA_DISABLE_JIT=1."""
    return getattr(loop, "py_func", loop)


def in_python(loop, tile, monkeypatch):
    """The loop as Python runs it, with tiles of so many rows."""

    def called(*args):
        with monkeypatch.context() as patch:
            patch.setattr(degree, "ROWS_PER_TILE", tile)
            patch.setattr(degree, "_cursors", plain(degree._cursors))
            plain(loop)(*args)

    return called


@pytest.mark.parametrize("bits, direct", [(2, 2), (4, 1), (8, 2)])
@pytest.mark.parametrize("tile", [4, 10, 2**16])
@pytest.mark.parametrize("low, high", [(0, L), (3, 7)])
def test_words_are_looked_up_and_added_in_tiles_of_rows(low, high, tile, bits, direct, monkeypatch):
    letters, text, values = text_and_values(bits, direct)
    coef, kern = rng.random((L, d)), rng.integers(0, M, size=(L, d))
    rows, delta = rng.permutation(n)[:17], rng.normal(size=17)
    out = np.full(17, 9.0)
    expected = [sum(coef[at, k] * array[place] for at, k, (array, place) in words_of(letters, values, i, low, high))
                for i in rows]  # fmt: skip
    for look_up in (in_python(degree.look_up, tile, monkeypatch), degree.look_up):
        look_up(text, rows, values, coef, low, high, out)
        np.testing.assert_allclose(out, expected, atol=1e-5)
    if (low, high) == (0, L):
        each, found = np.zeros((17, M)), np.zeros((17, M))
        degree.look_up_each(text, rows, values, coef, kern, each)
        for r, i in enumerate(rows):
            for at, k, (array, place) in words_of(letters, values, i, 0, L):
                found[r, kern[at, k]] += coef[at, k] * array[place]
        np.testing.assert_allclose(each, found, atol=1e-5)
    table, nodes, q = values.table.astype(float), values.nodes.astype(float), np.zeros(M)
    naive = values._replace(table=table, nodes=nodes)
    for r, i in enumerate(rows):
        for at, k, (array, place) in words_of(letters, naive, i, low, high):
            q[kern[at, k]] += coef[at, k] * delta[r] * (2 * array[place] + delta[r])
            array[place] += delta[r]
    for add in (in_python(degree.add, tile, monkeypatch), degree.add):
        copy = values._replace(table=values.table.copy(), nodes=values.nodes.copy())
        grown = np.zeros(M)
        add(text, rows, delta, copy, coef, kern, low, high, grown)
        np.testing.assert_allclose(copy.table, table, atol=1e-5)
        np.testing.assert_allclose(copy.nodes, nodes, atol=1e-5)
        np.testing.assert_allclose(grown, q, atol=1e-4)
