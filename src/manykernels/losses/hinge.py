import numpy as np
from numpy import ndarray

from .base import Bounds, Loss, Quadratic, signed_box, spread, step_root


class Hinge(Loss):
    """The hinge loss of the support vector machine.

    V = max(0, 1 − z), z = y f;   V* = y u on −1 ≤ y u ≤ 0 (Cortes and Vapnik 1995).

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels.losses import Hinge
    >>> Hinge().value(np.array([1.0, -1.0]), np.array([0.5, 2.0]))
    array([0.5, 3. ])
    """

    file_tag = ("loss/hinge", 1)
    name = "hinge"
    targets = "binary"
    flat = True

    def value(self, y: ndarray, f: ndarray) -> ndarray:
        return np.maximum(0.0, 1.0 - y * f)

    def gradient(self, y: ndarray, f: ndarray) -> ndarray:
        return np.where(y * f < 1, -y, 0.0)

    def unit_box(self, y: ndarray) -> Bounds:
        return signed_box(y, 1.0)

    def quadratic(self, y: ndarray, c: ndarray, a: ndarray) -> Quadratic:
        zero = np.zeros(np.shape(y))
        return -y, zero, zero

    def intercept(self, y: ndarray, f: ndarray, c: ndarray) -> float:
        c = spread(c, y)
        return step_root(y - f, c, -c[y > 0].sum())
