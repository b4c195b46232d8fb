import numpy as np
from numpy import ndarray

from .base import Bounds, Loss, Quadratic, reciprocal, spread


class Squared(Loss):
    """The squared loss of ridge regression.

    V = (y − f)²;   V* = y u + u²/4.

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels.losses import Squared
    >>> Squared().value(np.array([1.0, -1.0]), np.array([0.5, 2.0]))
    array([0.25, 9.  ])
    """

    file_tag = ("loss/squared", 1)
    name = "squared"
    gaussian = True

    def value(self, y: ndarray, f: ndarray) -> ndarray:
        return (y - f) ** 2

    def gradient(self, y: ndarray, f: ndarray) -> ndarray:
        return 2.0 * (f - y)

    def unit_box(self, y: ndarray) -> Bounds:
        return np.full(np.shape(y), -np.inf), np.full(np.shape(y), np.inf)

    def quadratic(self, y: ndarray, c: ndarray, a: ndarray) -> Quadratic:
        zero = np.zeros(np.shape(y))
        return -y, 0.5 * reciprocal(c) + zero, zero

    def intercept(self, y: ndarray, f: ndarray, c: ndarray) -> float:
        """The weighted mean residual."""
        c = spread(c, y)
        return float(c @ (y - f) / c.sum()) if c.any() else 0.0
