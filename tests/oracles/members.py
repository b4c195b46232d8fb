"""Examples of every convex regularizer, for five kernels."""

import numpy as np
import pytest

from manykernels.regularizers import (
    Ball,
    BlockElasticNet,
    BlockNorm,
    BlockSum,
    ElasticNet,
    Entropy,
    Fixed,
    GroupNorm,
    LpNorm,
    LpPenalty,
    LpSum,
    MixedNorm,
    NonIsotropic,
    Separable,
    Wedge,
    WeightedLpNorm,
)

M = 5
W = np.array([0.5, 1.0, 2.0, 0.1, 3.0])
NEAR = np.array([[4, 1, 0, 1, 1], [1, 3, 1, 0, 1], [0, 1, 2, 1, 0], [1, 0, 1, 5, 1], [1, 1, 0, 1, 3]]) / 3
FAR = np.array([[4, -1, 0, -1, 1], [-1, 3, -2, 0, 1], [0, -2, 3, 1, 0], [-1, 0, 1, 5, -1], [1, 1, 0, -1, 3]]) / 3
MEMBERS = {
    LpNorm: [LpNorm(p) for p in (1, 1.0001, 1.1, 4 / 3, 2, 4, 16, 100, np.inf)],
    ElasticNet: [ElasticNet(v) for v in (0, 0.01, 0.5, 0.99, 1)],
    MixedNorm: [MixedNorm(v, p) for v, p in ((0.3, 1), (0.3, 1.2), (0.7, 3), (0, 4), (1, 3), (0.2, 16))],
    WeightedLpNorm: [WeightedLpNorm(p, W) for p in (1, 1.1, 2, 8)],
    GroupNorm: [GroupNorm([0, 1, 0, 2, 1], p) for p in (1, 1.5, 2, 8, np.inf)],
    Ball: [Ball(W, r) for r in (0.05, 1.0, 10.0)],
    NonIsotropic: [NonIsotropic(E) for E in (NEAR, FAR, np.diag(W))],
    Entropy: [Entropy(lam) for lam in (1e-3, 0.1, 1, 50)],
    LpPenalty: [LpPenalty(p, mu) for p, mu in ((1, 1), (1.1, 0.2), (2, 3), (4, 0.5), (np.inf, 1))],
    LpSum: [LpSum(p) for p in (1, 1.2, 2, 5)],
    BlockElasticNet: [BlockElasticNet(lam) for lam in (0, 0.01, 0.5, 0.9, 1)],
    Wedge: [Wedge()],
    Fixed: [Fixed(W)],
    Separable: [
        Separable(lambda x: 0.5 * np.sqrt(x) + 0.25 * x),
        Separable(lambda x: x**0.75 / 1.5, lambda x: 0.5 * x**-0.25),
        Separable(np.sqrt),
    ],
    BlockNorm: [BlockNorm(q) for q in (2, 3, 10)],
    BlockSum: [BlockSum(q) for q in (2, 3, 10)],
}
EVERY = [omega for members in MEMBERS.values() for omega in members]


def every(*methods, where=lambda omega: True):
    """The members that offer these methods."""
    chosen = [omega for omega in EVERY if all(omega.has(method) for method in methods) and where(omega)]
    return pytest.mark.parametrize("omega", chosen, ids=lambda omega: repr(omega)[:60])
