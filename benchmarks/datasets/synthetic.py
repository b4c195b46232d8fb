"""Seeded random problems."""

import numpy as np


def make_table(n=200, features=10, seed=0):
    """Gaussian columns; the label is the sign of a quadratic of the first three, with a tenth of the labels flipped."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, features))
    y = np.sign(X[:, 0] + X[:, 1] ** 2 - X[:, 2] ** 2 + 0.1)
    return X, np.where(rng.random(n) < 0.1, -y, y), f"synthetic, {n} × {features}"


def make_columns(n, features, informative=20, seed=0):
    """Many Gaussian columns of which the first few matter, each through a bump: sign of a centred Σ exp(−x²)."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, features))
    score = np.exp(-(X[:, :informative] ** 2)).sum(axis=1)
    y = np.where(score > np.median(score), 1.0, -1.0)
    return X, np.where(rng.random(n) < 0.05, -y, y), f"synthetic, {n} × {features}, {informative} columns matter"
