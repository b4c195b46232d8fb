"""Every string kernel as its definition, in plain Python on two strings: slow and simple.

A letter matches itself if it is one of the alphabet's, and nothing otherwise. Values are kept: tests ask for the same
ones again, of every bank and store.
"""

from collections import Counter
from fractions import Fraction
from functools import cache
from itertools import product
from math import comb, floor

import numpy as np
from sklearn.base import clone

from manykernels import kernels as mk
from manykernels import strings as ms
from manykernels.sequences.alphabet import get


def same(u, v, letters):
    """Whether two words are equal and of known letters only."""
    return len(u) == len(v) and u == v and all(c in letters for c in u)


def words(x, k):
    return [x[p : p + k] for p in range(len(x) - k + 1)]


def common(x, y, k, letters, start, stop):
    """The places at which the same word of k letters starts in both."""
    places = range(len(x))[start:stop]
    return sum(p + k <= len(x) and same(x[p : p + k], y[p : p + k], letters) for p in places)


def beta(k, d):
    return Fraction(2 * (d - k + 1), d * (d + 1))


def weighted_degree(x, y, d, letters, start=None, stop=None):
    return sum(beta(k, d) * common(x, y, k, letters, start, stop) for k in range(1, d + 1))


def weighted_degree_shift(x, y, d, shift, letters):
    total = Fraction(0)
    for k in range(1, d + 1):
        for p in range(len(x) - k + 1):
            for s in range(shift + 1):
                if p + s + k <= len(x):
                    hits = same(x[p + s : p + s + k], y[p : p + k], letters)
                    hits += same(x[p : p + k], y[p + s : p + s + k], letters)
                    if hits:
                        total += beta(k, d) * Fraction(hits, 2 * (s + 1))
    return total


def spectrum(x, y, k, letters):
    return sum(same(u, v, letters) for u in words(x, k) for v in words(y, k))


def powers_of_counts(x, y, kernel, letters):
    """Σ_w (#_w(x) #_w(y))^power; of both strands w is the first of a word and its reverse complement."""
    power, total = {"sqrt": 0.5, "binary": 0.0}[kernel.counts], 0.0
    low, high = kernel.k if isinstance(kernel.k, tuple) else (kernel.k, kernel.k)

    def first(w):
        return min(w, reverse_complement(w, kernel.alphabet)) if kernel.reverse_complement else w

    for k in range(low, high + 1):
        a, b = (
            Counter(first(w) for w in words(z[kernel.start : kernel.stop], k) if set(w) <= set(letters)) for z in (x, y)
        )
        total += sum((a[w] * b[w]) ** power for w in a.keys() & b.keys())
    return total


def centre_weights(n, centre):
    """The weight of each of n windows of GappedKmer, 1 without `centre`."""
    if centre is None:
        return [1] * n
    return [min(centre[0], floor(centre[0] * 2 ** (-abs(n // 2 - i) / centre[1]) + 1)) for i in range(n)]


def weighted_windows(z, kernel, mirrored):
    """[(window, its weight)]; of a second strand each window has the weight of the one opposite."""
    weights = centre_weights(len(words(z, kernel.l)), kernel.centre)
    return list(zip(words(z, kernel.l), weights[::-1] if mirrored else weights, strict=True))


def gapped(x, y, kernel, letters, mirrored):
    """Over windows: in how many ways k places can be chosen at which the letters agree."""
    total = 0
    for (u, one), (v, other) in product(weighted_windows(x, kernel, False), weighted_windows(y, kernel, mirrored)):
        total += one * other * comb(sum(a == b and a in letters for a, b in zip(u, v, strict=True)), kernel.k)
    return total


@cache
def gkm_weights(l, k, d, rule, size, nearest):  # noqa: E741
    """c(0) … c(d) of GappedKmer by sums over all words of l letters, and the smallest eigenvalue of their matrix."""
    every = np.array(list(product(range(size), repeat=l)))
    far = (every[:, None] != every).sum(axis=2)
    spheres = [sum(comb(l, i) * (size - 1) ** i for i in range(q + 1)) for q in range(l + 1)]
    w = [
        (-1) ** i * (comb(l - k + i - 1, i) / comb(k, i) if i else 1) * spheres[k - i] / (comb(l, k) * size**l)
        for i in range(k + 1)
    ]
    f = [sum(w[i] * comb(l - m, k - i) * comb(m, i) for i in range(min(m, k) + 1)) for m in range(l + 1)]
    if rule == "counts":
        c = np.array([float(comb(l - m, k)) for m in range(l + 1)])
    else:
        end = next((m for m in range(l + 1) if f[m] < 1e-14), l + 1) if rule == "truncated" else l + 1
        estimate = np.array(f[:end] + [0.0] * (l + 1 - end))[far]
        c = np.array([(estimate[0] @ estimate.T)[far[0] == m][0] for m in range(l + 1)])
    least = np.linalg.eigvalsh(np.where(far <= d, c[far], 0.0)).min()
    c[0] -= min(least, 0) if nearest else 0
    return c[: d + 1], least


def gkm(x, y, kernel, letters, mirrored):
    """Σ c(mismatches) over windows of known letters with at most d mismatches."""
    d = kernel.l - kernel.k if kernel.d is None else kernel.d
    c, _ = gkm_weights(kernel.l, kernel.k, d, kernel.filter, len(letters), kernel.nearest)
    found = weighted_windows(x, kernel, False), weighted_windows(y, kernel, mirrored)
    total = 0.0
    for (u, one), (v, other) in product(*([(u, w) for u, w in z if all(a in letters for a in u)] for z in found)):
        far = sum(a != b for a, b in zip(u, v, strict=True))
        total += one * other * c[far] if far <= d else 0.0
    return total


@cache
def mismatch_counts(x, k, m, letters):
    """#{words of x within m of w}, for every word w over the alphabet."""
    known = [u for u in words(x, k) if all(c in letters for c in u)]
    near = Counter()
    for w in map("".join, product(letters, repeat=k)):
        near[w] = sum(sum(a != b for a, b in zip(u, w, strict=True)) <= m for u in known)
    return near


def mismatch(x, y, k, m, letters):
    a, b = mismatch_counts(x, k, m, letters), mismatch_counts(y, k, m, letters)
    return sum(a[w] * b[w] for w in a)


def reverse_complement(x, alphabet="dna"):
    """The other strand; letters without a complement stay."""
    alphabet = get(alphabet)
    opposite = dict(zip(alphabet.letters, alphabet.complement, strict=True))
    return "".join(opposite.get(c, c) for c in reversed(x))


RULES = {}


def rule(kernel):
    """k as a function of two strings whose letters have the case of the alphabet; `mirrored`: y is a second strand."""
    asked = type(kernel), repr(kernel.get_params())
    if asked not in RULES:
        RULES[asked] = cache(defined(clone(kernel)))
    return RULES[asked]


def defined(kernel):
    if getattr(kernel, "gamma", None) is not None:
        one, gamma = rule(clone(kernel).set_params(gamma=None)), kernel.gamma

        def exponential(x, y, mirrored=False):
            size = one(x, x) * one(y, y)
            return np.exp(gamma * ((one(x, y) / np.sqrt(size) if size > 0 else 0.0) - 1))

        return exponential
    if getattr(kernel, "counts", "all") != "all":
        return lambda x, y, mirrored=False: powers_of_counts(x, y, kernel, get(kernel.alphabet).letters)
    if getattr(kernel, "reverse_complement", False):
        one, part = clone(kernel).set_params(reverse_complement=False), slice(kernel.start, kernel.stop)
        one = rule(one.set_params(start=None, stop=None))
        return lambda x, y, mirrored=False: (
            one(x[part], y[part]) + one(x[part], reverse_complement(y[part], kernel.alphabet), True)
        )
    match kernel:
        case mk.Sum():
            one, other = rule(kernel.k1), rule(kernel.k2)
            return lambda x, y, mirrored=False: one(x, y) + other(x, y)
        case mk.Product():
            one, other = rule(kernel.k1), rule(kernel.k2)
            return lambda x, y, mirrored=False: one(x, y) * other(x, y)
        case mk.Constant():
            return lambda x, y, mirrored=False: kernel.value
    return lambda x, y, mirrored=False: of_one_strand(kernel, x, y, mirrored)


def of_one_strand(kernel, x, y, mirrored):
    letters = get(kernel.alphabet).letters
    start, stop = kernel.start, kernel.stop
    match kernel:
        case ms.Degree():
            return common(x, y, kernel.k, letters, start, stop)
        case ms.WeightedDegree():
            return weighted_degree(x, y, kernel.d, letters, start, stop)
    x, y = x[start:stop], y[start:stop]
    match kernel:
        case ms.WeightedDegreeShift():
            return weighted_degree_shift(x, y, kernel.d, kernel.shift, letters)
        case ms.Spectrum():
            low, high = kernel.k if isinstance(kernel.k, tuple) else (kernel.k, kernel.k)
            return sum(spectrum(x, y, k, letters) for k in range(low, high + 1))
        case ms.GappedKmer() if (kernel.d, kernel.filter) != (None, "counts"):
            return gkm(x, y, kernel, letters, mirrored)
        case ms.GappedKmer():
            return gapped(x, y, kernel, letters, mirrored)
        case ms.Mismatch():
            return mismatch(x, y, kernel.k, kernel.m, letters)
    raise NotImplementedError(type(kernel))


def value(kernel, x, y):
    return rule(kernel)(x, y)


def matrix(kernel, X, Y=None):
    """k(x_i, y_j), (n, m)."""
    k = rule(kernel)
    return np.array([[float(k(x, y)) for y in (X if Y is None else Y)] for x in X])
