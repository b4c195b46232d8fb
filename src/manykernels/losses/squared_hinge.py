import numpy as np
from numpy import ndarray

from .base import Bounds, Loss, Quadratic, reciprocal, signed_box


class SquaredHinge(Loss):
    """The squared hinge loss, the 2-norm soft margin.

    V = max(0, 1 − z)², z = y f;   V* = y u + u²/4 on y u ≤ 0.

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels.losses import SquaredHinge
    >>> SquaredHinge().value(np.array([1.0, -1.0]), np.array([0.5, 2.0]))
    array([0.25, 9.  ])
    """

    file_tag = ("loss/squared_hinge", 1)
    name = "squared_hinge"
    targets = "binary"
    flat = True

    def value(self, y: ndarray, f: ndarray) -> ndarray:
        return np.maximum(0.0, 1.0 - y * f) ** 2

    def gradient(self, y: ndarray, f: ndarray) -> ndarray:
        return -2.0 * y * np.maximum(0.0, 1.0 - y * f)

    def unit_box(self, y: ndarray) -> Bounds:
        return signed_box(y, np.inf)

    def quadratic(self, y: ndarray, c: ndarray, a: ndarray) -> Quadratic:
        zero = np.zeros(np.shape(y))
        return -y, 0.5 * reciprocal(c) + zero, zero
