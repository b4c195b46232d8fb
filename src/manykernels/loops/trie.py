"""Words at positions, stored in tables and tries with shared prefixes: the loops of banks/words/trie.py.

The store of position `at` holds the value of every word that begins there. A word of up to `direct` letters is the
index of its value in `table`; `first` leads from the words of `direct` letters to the nodes of longer words. A node is
a run of letters without a branch, all with one value. The three arrays of nodes are views of one memory, 32 bytes per
node: values[:, 0], the letters of the run texts[:, 1], and links[:, 4:] = the number of letters, the first child, the
next sibling. Node 0 means none. Letters are packed into 64 bits, `bits` each, the first one lowest. Helpers take no
arrays here: counting references would cost more than the walk.
"""

from collections import namedtuple

import numpy as np
from numba import njit, types
from numba.extending import intrinsic

from . import OPTIONS

_ONE = np.uint64(1)

Trie = namedtuple("Trie", "bits direct places table first values texts links")  # the store of some places
CellKernels = namedtuple("CellKernels", "cells kern coef")  # see `look_up`


@intrinsic
def _lowest(typing_context, word):
    """The number of zeros below the lowest bit set in a uint64, 64 for 0."""

    def generate(context, builder, signature, args):
        return builder.cttz(args[0], context.get_constant(types.boolean, False))

    return types.uint64(types.uint64), generate


@njit(**OPTIONS)
def pack(codes, size, bits, words, counts):
    """words (n, L) uint64: the letters from each position on, as many as fit; counts (n, L): how many are known."""
    step, mask = np.uint64(bits), ~np.uint64(0) >> np.uint64(64 % bits)
    for i in range(codes.shape[0]):
        word, run = np.uint64(0), 0
        for p in range(codes.shape[1] - 1, -1, -1):
            run = run + 1 if codes[i, p] < size else 0
            word = (word << step) & mask
            if run > 0:
                word |= np.uint64(codes[i, p])
            words[i, p], counts[i, p] = word, run


@njit(**OPTIONS)
def add(words, counts, delta, trie, longest, used):
    """Adds delta_r to the values of all words of example r at the places; returns the number of nodes in use.

    At places[i] words have up to longest[i] letters.
    """
    bits, direct, places, table, first, values, texts, links = trie
    span, step = 64 // bits, np.uint64(bits)
    letter = (_ONE << step) - _ONE
    for i in range(len(places)):
        at = places[i]
        for r in range(len(words)):
            last, word = min(longest[i], counts[r, at]), words[r, at]
            offset, mask = np.uint64(0), letter
            for _ in range(min(direct, last)):
                table[i, offset + (word & mask)] += delta[r]
                offset += mask + _ONE
                mask = (mask << step) | letter
            if last <= direct:
                continue
            k, above, root = direct, 0, word & (mask >> step)
            node = first[i, root]
            while k < last:
                head, here = node, words[r, at + k]
                while node > 0 and (texts[node, 1] ^ here) & letter != 0:
                    node = links[node, 6]
                if node == 0:
                    used += 1
                    values[used, 0], texts[used, 1], links[used, 4] = 0.0, here, min(span, last - k)
                    links[used, 5], links[used, 6] = 0, head
                    if above > 0:
                        links[above, 5] = used
                    else:
                        first[i, root] = used
                    node = used
                n = min(links[node, 4], last - k, np.int64(_lowest(texts[node, 1] ^ here)) // bits)
                if n < links[node, 4]:  # a branch or the end of the word within the run: cut it there
                    used += 1
                    values[used, 0], texts[used, 1] = values[node, 0], texts[node, 1] >> np.uint64(n * bits)
                    links[used, 4], links[used, 5], links[used, 6] = links[node, 4] - n, links[node, 5], 0
                    links[node, 4], links[node, 5] = n, used
                values[node, 0] += delta[r]
                k, above, node = k + n, node, links[node, 5]
    return used


@njit(**OPTIONS)
def look_up(words, counts, trie, deep, weight, kernels, out):
    """out[r, 0] += Σ_{l at the places} Σ_p Σ_k weight[|p − l|, min(p, l), k] · value at l of the word of r at p.

    weight (S + 1, L, d), and deep (S + 1, L) the letters up to its last coefficient that is not 0; words have k + 1.
    Where there are entries in `kern` the same for every kernel, weight 0, out (n, M): the coefficients of cell
    (s, l, k), number c = (s L + l) d + k, are coef[cells[c] : cells[c + 1]], those of the kernels kern[…].
    """
    (bits, direct, places, table, first, values, texts, links), (cells, kern, coef) = trie, kernels
    S, (L, d), each, step = deep.shape[0] - 1, weight.shape[1:], len(kern) > 0, np.uint64(bits)
    letter, found = (_ONE << step) - _ONE, np.empty(d)
    for i in range(len(places)):
        at = places[i]
        for r in range(len(words)):
            total = 0.0
            for p in range(max(0, at - S), min(L, at + S + 1)):
                s, low = abs(p - at), min(p, at)
                last, word = min(deep[s, low], counts[r, p]), words[r, p]
                offset, mask, k = np.uint64(0), letter, min(direct, last)
                for j in range(k):
                    value = table[i, offset + (word & mask)]
                    found[j] = value
                    total += weight[s, low, j] * value
                    offset += mask + _ONE
                    mask = (mask << step) | letter
                node = first[i, word & (mask >> step)] if direct < last else 0
                while node > 0:
                    here = words[r, p + k]
                    while node > 0 and (texts[node, 1] ^ here) & letter != 0:
                        node = links[node, 6]
                    if node == 0:
                        break
                    n = min(links[node, 4], last - k, np.int64(_lowest(texts[node, 1] ^ here)) // bits)
                    value = values[node, 0]
                    for j in range(k, k + n):
                        found[j] = value
                        total += weight[s, low, j] * value
                    k += n
                    node = links[node, 5] if n == links[node, 4] and k < last else 0
                if each:
                    cell = (s * L + low) * d
                    for j in range(k):
                        for e in range(cells[cell + j], cells[cell + j + 1]):
                            out[r, kern[e]] += coef[e] * found[j]
            out[r, 0] += total
