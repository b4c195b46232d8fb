from numbers import Real

import numpy as np

from .._state import check
from .._validation import check_number
from ._base import ScaledKernel


class Polynomial(ScaledKernel):
    """k(x, y) = (gamma x'y + coef0)^degree."""

    base = "dot"

    def __init__(self, degree=3, gamma=None, coef0=1.0):
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0

    def check_state(self):
        super().check_state()
        check(isinstance(self.degree, Real) and self.degree > 0, f"degree is {self.degree!r}")
        check(isinstance(self.coef0, Real), f"coef0 is {self.coef0!r}")

    @property
    def psd(self):
        return self.coef0 >= 0 and self.degree == int(self.degree)

    def resolve(self, X, weights=None):
        check_number("degree", self.degree, of=self)
        check_number("coef0", self.coef0, -np.inf, of=self)
        return super().resolve(X, weights)

    def form(self):
        if self.degree != int(self.degree) or self.degree > 16:
            return None
        return int(self.degree), self.gamma, self.coef0

    def from_base(self, B, out, sx=None, sy=None):
        np.multiply(B, self.gamma, out=out)
        out += np.asarray(self.coef0, out.dtype)
        return np.power(out, self.degree, out=out)
