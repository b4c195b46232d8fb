"""Table 1: which block norm belongs to which regularizer of the weights."""

import numpy as np

from .._page import Finding, Section, Table

X = np.array([1e-3, 0.03, 0.2, 0.7, 1.0, 2.5, 9.0, 60.0])  # squared norms of f_m


def rows():
    """(name, h(d), g(x), the weight at the optimum, our regularizer, 1 for a minimum and −1 for a maximum over d)."""
    from manykernels.regularizers import BlockElasticNet, BlockSum, LpSum

    lam = 0.3
    found = [
        ("block 1-norm", lambda d: d, np.sqrt, np.sqrt, LpSum(1), 1),
        *[
            (
                f"ℓp-norm, p = {p:g}",
                lambda d, p=p: d**p / p,
                lambda x, p=p: (1 + p) / (2 * p) * x ** (p / (1 + p)),
                lambda x, p=p: x ** (1 / (1 + p)),
                LpSum(p),
                1,
            )
            for p in (1.5, 2.0, 4.0)
        ],
        ("uniform", lambda d: np.where(d <= 1, 0.0, np.inf), lambda x: x / 2, np.ones_like, BlockElasticNet(1), 1),
        *[
            (
                f"block q-norm, q = {q:g}",
                lambda d, q=q: -(q - 2) / q * d ** (-q / (q - 2)),
                lambda x, q=q: x ** (q / 2) / q,
                lambda x, q=q: x ** ((2 - q) / 2),
                BlockSum(q),
                -1,
            )
            for q in (3.0, 4.0)
        ],
        (
            f"elastic net, λ = {lam}",
            lambda d: np.where(lam * d < 1, (1 - lam) ** 2 * d / (1 - lam * d), np.inf),
            lambda x: (1 - lam) * np.sqrt(x) + lam / 2 * x,
            lambda x: np.sqrt(x) / ((1 - lam) + lam * np.sqrt(x)),
            BlockElasticNet(lam),
            1,
        ),
    ]
    return found


def run(scale, data):
    found = [(name, *errors(h, g, weight, ours, sign)) for name, h, g, weight, ours, sign in rows()]
    worst = max(max(row[1:4]) for row in found)
    return Section(
        "Table 1",
        "A regularizer h of the weights and a block norm g stand for each other where g(x) = min over d > 0 of "
        "½ (x/d + h(d)). Each row is checked at eight x: the minimum over a grid of a million d, refined, "
        "against the "
        "printed g, our `block_norm` and, at the printed weight, ½ (x/d + h(d)).",
        "none.",
        findings=[
            Finding(
                "g and h of every row belong together",
                "Table 1, “the concave function g”",
                f"largest relative difference {worst:.1e}; for q > 2, where g is convex, with a maximum over d for the "
                "minimum",
                worst < 1e-6,
                "1e-6",
            )
        ],
        tables=[
            Table(
                "Largest relative difference over the eight x",
                [
                    "row",
                    "extremum over d against g",
                    "½ (x/d + h(d)) at the printed weight against g",
                    "our block norm against g",
                    "extremum",
                ],
                [[name, *(float(e) for e in row[:3]), row[3]] for name, *row in found],
                "For q > 2 no convex h exists, and g is the largest value over d, not the smallest: h of the "
                "print is then "
                "to be read so.",
            )
        ],
    )


def errors(h, g, weight, ours, sign):
    """Relative differences (grid against g, at the printed weight against g, ours against g), and "min" or "max"."""
    grid = np.geomspace(1e-6, 1e6, 1_000_001)
    truth, least = g(X), []
    for x in X:
        d = grid
        for _ in range(3):
            with np.errstate(all="ignore"):
                values = sign * 0.5 * (x / d + h(d))
            k = int(np.nanargmin(values))
            d = np.linspace(d[max(k - 1, 0)], d[min(k + 1, len(d) - 1)], 10_001)
        least.append(sign * values[k])
    d = weight(X)
    single = np.array([ours.block_norm(np.array([x])) for x in X])
    at = 0.5 * (X / d + h(d))
    relative = [float(np.max(np.abs(v - truth) / truth)) for v in (np.array(least), at, single)]
    return *relative, "min" if sign > 0 else "max"
