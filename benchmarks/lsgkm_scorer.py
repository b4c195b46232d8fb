"""The score of a text model of LS-GKM by the formulas of its authors alone: nothing here is of the package.

S(q) = Σ_{i ≤ q} C(l, i) 3^i;  w_m = (−1)^m C(l−k+m−1, m) / C(k, m) · S(k−m) / (C(l, k) 4^l), the fraction 1 at m = 0;
f(m) = Σ_{i ≤ min(m, k)} w_i C(l−m, k−i) C(m, i), 0 from the first f(m) < 1e-50 on for the truncated filter;
c(m) = Σ_{m1, m2, t} C(l−m, t) 3^t C(m, m1−t) C(m1−t, r) 2^r f(m1) f(m2), r = m1 + m2 − 2t − m, or C(l−m, k) of counts.
"""

import gzip
from math import comb

import numpy as np

OPPOSITE = str.maketrans("ACGT", "TGCA")


def scores(path, texts):
    """Σ coef K(x_i, x) / √(K(x_i, x_i) K(x, x)) − rho."""
    with (gzip.open if str(path).endswith(".gz") else open)(path, "rt") as file:
        head, _, body = file.read().partition("\nSV\n")
    fields = dict(line.split(" ", 1) for line in head.splitlines())
    support = [line.split() for line in body.splitlines()]
    l, k, d = (int(fields[name]) for name in "Lkd")  # noqa: E741
    c = weights(l, k, fields["kernel_type"])[: d + 1]
    both = fields.get("norc", "0") == "0"
    table = [Windows(x, l) for _, x in support]
    own = np.array([kernel(one, one, c, both) for one in table])
    coefs = np.array([float(coef) for coef, _ in support]) / np.sqrt(own)
    found = []
    for text in texts:
        new = Windows(text, l)
        values = np.array([kernel(one, new, c, both) for one in table])
        found.append(coefs @ values / np.sqrt(kernel(new, new, c, both)) - float(fields["rho"]))
    return np.array(found)


class Windows:
    """The letters of all windows of a text and of its other strand as indicators, (windows, 4 l)."""

    def __init__(self, text, l):  # noqa: E741
        self.l, (self.ahead, self.back) = l, (self.hot(one, l) for one in (text, text[::-1].translate(OPPOSITE)))

    @staticmethod
    def hot(text, l):  # noqa: E741
        letters = np.array([[a == b for b in "ACGT"] for a in text], np.float32)
        return np.concatenate([letters[j : len(text) - l + 1 + j] for j in range(l)], axis=1)


def kernel(x, y, c, both):
    total = 0.0
    for other in (y.ahead, y.back)[: 1 + both]:
        far = np.bincount((x.l - np.rint(x.ahead @ other.T)).astype(int).ravel(), minlength=x.l + 1)
        total += float(far[: len(c)] @ c)
    return total


def weights(l, k, kind):  # noqa: E741
    """c(0) … c(l)."""
    if kind == "gkm_cnt":
        return np.array([comb(l - m, k) for m in range(l + 1)], float)
    sphere = [sum(comb(l, i) * 3**i for i in range(q + 1)) for q in range(k + 1)]
    w = [
        (-1) ** m * (comb(l - k + m - 1, m) / comb(k, m) if m else 1.0) * sphere[k - m] / (comb(l, k) * 4**l)
        for m in range(k + 1)
    ]
    f = [sum(w[i] * comb(l - m, k - i) * comb(m, i) for i in range(min(m, k) + 1)) for m in range(l + 1)]
    if kind == "gkm_estfull":
        return np.array(f)
    end = next((m for m in range(l + 1) if f[m] < 1e-50), l + 1)
    f = [value if m < end else 0.0 for m, value in enumerate(f)]
    c = np.zeros(l + 1)
    for m in range(l + 1):
        for m1 in range(l + 1):
            for m2 in range(l + 1):
                for t in range(min(m1, l - m) + 1):
                    r = m1 + m2 - 2 * t - m
                    if 0 <= r <= m1 - t <= m:
                        ways = comb(l - m, t) * 3**t * comb(m, m1 - t) * comb(m1 - t, r) * 2**r
                        c[m] += ways * f[m1] * f[m2]
    return c
