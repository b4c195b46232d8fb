"""The squared loss of ridge regression."""

import numpy as np

from ._base import Loss, reciprocal, spread


class Squared(Loss):
    """V = (y − f)²;   V* = y u + u²/4."""

    name = "squared"
    gaussian = True

    def value(self, y, f):
        return (y - f) ** 2

    def gradient(self, y, f):
        return 2.0 * (f - y)

    def unit_box(self, y):
        return np.full(np.shape(y), -np.inf), np.full(np.shape(y), np.inf)

    def quadratic(self, y, c, a):
        zero = np.zeros(np.shape(y))
        return -y, 0.5 * reciprocal(c) + zero, zero

    def intercept(self, y, f, c):
        """The weighted mean residual."""
        c = spread(c, y)
        return float(c @ (y - f) / c.sum()) if c.any() else 0.0
