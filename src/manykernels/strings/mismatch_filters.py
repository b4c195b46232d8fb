"""The weights c(m) of two words of l letters with m mismatches in the kernels of gkm-SVM, as exact fractions.

A is the number of letters of the alphabet. Ghandi et al. (2014) estimate the counts of words from those of gapped
words: a word adds f(m) to the estimate of a word with m mismatches,

    f(m) = Σ_i w_i C(l − m, k − i) C(m, i) ,
    w_i = (−1)^i C(l − k + i − 1, i) / C(k, i) · S(k − i) / (C(l, k) A^l) ,   S(q) = Σ_{i <= q} C(l, i) (A − 1)^i .

The kernel is the inner product of the estimates. With all of f this is c = f; "truncated" sets f to 0 from its first
value that is not positive on.
"""

from fractions import Fraction
from functools import lru_cache
from math import comb

FILTERS = ("counts", "full", "truncated")


@lru_cache(maxsize=64)
def mismatch_weights(l, k, d, rule, size):  # noqa: E741 (the paper's name)
    """(c(0) … c(d), the smallest eigenvalue of the matrix c(mismatches) [mismatches <= d] of all words)."""
    if rule == "counts":
        c = [Fraction(comb(l - m, k)) for m in range(d + 1)]
    else:
        f = _estimate(l, k, size)
        end = next((m for m, value in enumerate(f) if value <= 0), l + 1)
        c = f[: d + 1] if rule == "full" else [_product(f[:end], l, m, size) for m in range(d + 1)]
    return tuple(c), min(eigenvalue(c, l, s, size) for s in range(l + 1))


def eigenvalue(c, l, s, size):  # noqa: E741 (the paper's name)
    """The eigenvalue of the matrix c(mismatches) of all words, for characters that depend on s of their letters."""
    return sum(weight * _krawtchouk(l, m, s, size) for m, weight in enumerate(c))


def channel_weights(c, l):  # noqa: E741 (the paper's name)
    """v_0 … v_l with Σ_j v_j C(l − m, j) = c(m), 0 from m = len(c) on: the weight of j common letters."""
    by_matches = [Fraction(0)] * (l + 1 - len(c)) + list(reversed(c))
    return [
        sum(((-1) ** (j - i) * comb(j, i) * by_matches[i] for i in range(j + 1)), Fraction(0)) for j in range(l + 1)
    ]


def _estimate(l, k, size):  # noqa: E741 (the paper's name)
    """f(0) … f(l)."""
    w = []
    for i in range(k + 1):
        ways = Fraction(comb(l - k + i - 1, i), comb(k, i)) if i else Fraction(1)
        spheres = sum(comb(l, q) * (size - 1) ** q for q in range(k - i + 1))
        w.append((-1) ** i * ways * spheres / (comb(l, k) * size**l))
    return [sum(w[i] * comb(l - m, k - i) * comb(m, i) for i in range(min(m, k) + 1)) for m in range(l + 1)]


def _product(f, l, m, size):  # noqa: E741 (the paper's name)
    """Σ_w f(mismatches of u and w) f(mismatches of v and w) over all words w, for u and v with m mismatches.

    w differs from both at t of the other l − m places; of the m places it agrees with v, or with neither, at a places,
    and with neither at r of these.
    """
    total = Fraction(0)
    for t in range(l - m + 1):
        for a in range(m + 1):
            for r in range(a + 1):
                one, other = t + a, t + m - a + r
                if one < len(f) and other < len(f):
                    ways = comb(l - m, t) * (size - 1) ** t * comb(m, a) * comb(a, r) * (size - 2) ** r
                    total += ways * f[one] * f[other]
    return total


def _krawtchouk(l, m, s, size):  # noqa: E741 (the paper's name)
    """The eigenvalue of the matrix [m mismatches] of all words, for characters that depend on s letters."""
    return sum((-1) ** j * (size - 1) ** (m - j) * comb(s, j) * comb(l - s, m - j) for j in range(m + 1))
