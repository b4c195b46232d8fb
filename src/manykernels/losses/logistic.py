import numpy as np
from numpy import ndarray
from scipy.special import expit, xlog1py, xlogy

from .base import Bounds, Loss, Quadratic, reciprocal, signed_box, spread


class Logistic(Loss):
    """The logistic loss, whose models have probabilities.

    V = ln(1 + e^{−z}), z = y f;   V* = t ln t + (1 − t) ln(1 − t), t = −y u in [0, 1].

    Written for V = (1/σ) ln(1 + e^{σ(m − z)}), whose conjugate is (1/σ)(t ln t + (1 − t) ln(1 − t)) − m t.

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels.losses import Logistic
    >>> Logistic().value(np.array([1.0, -1.0]), np.array([0.5, 2.0])).round(3)
    array([0.474, 2.127])
    """

    file_tag = ("loss/logistic", 1)
    name = "logistic"
    ratio = "odds ratio"
    targets = "binary"
    interior = True
    probabilistic = True
    margin, sigma = 0.0, 1.0

    def value(self, y: ndarray, f: ndarray) -> ndarray:
        return np.logaddexp(0.0, self.sigma * (self.margin - y * f)) / self.sigma

    def gradient(self, y: ndarray, f: ndarray) -> ndarray:
        return -y * expit(self.sigma * (self.margin - y * f))

    def unit_box(self, y: ndarray) -> Bounds:
        return signed_box(y, 1.0)

    def _conjugate(self, y, a):
        t = y * a
        return (xlogy(t, t) + xlog1py(1.0 - t, -t)) / self.sigma - self.margin * t

    def quadratic(self, y: ndarray, c: ndarray, a: ndarray) -> Quadratic:
        t = np.clip(y * a * reciprocal(c), 1e-200, 1.0 - 2.0**-53)
        diagonal = reciprocal(c * self.sigma * t * (1.0 - t))
        slope = (np.log(t) - np.log1p(-t)) / self.sigma - self.margin
        return y * slope - diagonal * a, diagonal, np.zeros(np.shape(y))

    def start(self, y: ndarray, c: ndarray, equality: bool) -> ndarray:
        c = spread(c, y)
        above, below = c[y > 0].sum(), c[y <= 0].sum()
        if not equality or above + below == 0:
            return 0.5 * c * y
        return c * y * np.where(y > 0, below, above) / (above + below)
