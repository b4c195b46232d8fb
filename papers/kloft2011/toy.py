"""The data of section 6.1: two Gaussians in 50 dimensions, some of which tell them apart; a linear kernel for each."""

import numpy as np

D, RHO = 50, 1.75
BAYES = 0.0401  # Φ(−ρ)
# informative features; the paper gives the share of the others: ν = 0, 0.44, 0.64, 0.82, 0.92 and "1"
INFORMATIVE = (50, 28, 18, 9, 4, 1)
NORMS = (1.0, 4 / 3, 2.0, 4.0, np.inf)


def sparsity(informative):
    return 1 - informative / D


def sample(n, informative, rng):
    """(X (n, 50), y ±1), balanced: means ±ρ θ/‖θ‖ with θ of `informative` ones, identity covariance."""
    y = np.tile([1.0, -1.0], n // 2)
    mean = np.zeros(D)
    mean[:informative] = RHO / np.sqrt(informative)
    return rng.normal(size=(n, D)) + y[:, None] * mean, y


def truth(informative):
    return np.arange(D) < informative


def unit(x):
    return x / np.linalg.norm(x)
