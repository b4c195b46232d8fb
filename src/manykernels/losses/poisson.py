import numpy as np
from numpy import ndarray
from scipy.special import logsumexp, xlogy

from .base import Bounds, Loss, Quadratic, reciprocal, spread

MAX_LOG = 300.0  # of an expected count: beyond it e^f is continued by its tangent


class Poisson(Loss):
    """Half the Poisson deviance of counts y ≥ 0 with the log link: e^f is the expected count.

    V = e^f − y f + y ln y − y;   V* = t ln t − t − y ln y + y, t = y + u ≥ 0 (0 ln 0 = 0).

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels.losses import Poisson
    >>> Poisson().value(np.array([0.0, 3.0]), np.log([2.0, 3.0])).round(3) + 0.0
    array([2., 0.])
    """

    file_tag = ("loss/poisson", 1)
    name = "poisson"
    ratio = "rate ratio"
    targets = "count"
    interior = True
    own_score = "D² of the Poisson deviance"

    def value(self, y: ndarray, f: ndarray) -> ndarray:
        near = np.minimum(f, MAX_LOG)
        return np.maximum(np.exp(near) * (1.0 + (f - near)) - y * f + xlogy(y, y) - y, 0.0)

    def gradient(self, y: ndarray, f: ndarray) -> ndarray:
        return np.exp(np.minimum(f, MAX_LOG)) - y

    def unit_box(self, y: ndarray) -> Bounds:
        return np.full(np.shape(y), -np.inf), np.array(y, float)

    def _conjugate(self, y, a):
        t = np.maximum(y - a, 0.0)
        return xlogy(t, t) - t - xlogy(y, y) + y

    def quadratic(self, y: ndarray, c: ndarray, a: ndarray) -> Quadratic:
        t = np.maximum(y - a * reciprocal(c), 1e-200)
        diagonal = reciprocal(c * t)
        return -np.log(t) - diagonal * a, diagonal, np.zeros(np.shape(y))

    def start(self, y: ndarray, c: ndarray, equality: bool) -> ndarray:
        c = spread(c, y)
        mean = float(c @ y / c.sum()) if equality and c.any() else 1.0
        return c * (y - mean)

    def intercept(self, y: ndarray, f: ndarray, c: ndarray) -> float:
        c = spread(c, y)
        total = float(c @ y)
        return float(np.log(total) - logsumexp(f, b=c)) if total > 0 else 0.0

    def mean(self, f: ndarray) -> ndarray:
        return np.exp(f)

    def objection(self, y: ndarray, intercept: bool) -> str:
        if np.any(y < 0):
            return f"y has the negative value {y.min():g}: the poisson loss is for counts; use loss='squared'"
        if intercept and not y.any():
            return "y is 0 for every example with weight: the poisson loss then has no minimum; add examples with y > 0"
        return ""
