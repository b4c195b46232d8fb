"""The hinge loss of the support vector machine."""

import numpy as np

from ._base import Loss, signed_box, spread, step_root


class Hinge(Loss):
    """V = max(0, 1 − z), z = y f;   V* = y u on −1 ≤ y u ≤ 0 (Cortes and Vapnik 1995)."""

    name = "hinge"
    targets = "binary"

    def value(self, y, f):
        return np.maximum(0.0, 1.0 - y * f)

    def gradient(self, y, f):
        return np.where(y * f < 1, -y, 0.0)

    def unit_box(self, y):
        return signed_box(y, 1.0)

    def quadratic(self, y, c, a):
        zero = np.zeros(np.shape(y))
        return -y, zero, zero

    def intercept(self, y, f, c):
        c = spread(c, y)
        return step_root(y - f, c, -c[y > 0].sum())
