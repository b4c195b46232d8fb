import numpy as np
from numpy import ndarray

from .base import Bounds, Loss, Quadratic, spread, step_root


class OneClass(Loss):
    """The loss of the one-class support vector machine.

    V = max(0, −f), with + b in the objective;   V* = 0 on −1 ≤ u ≤ 0, Σa = 1 (Schölkopf et al. 2001).

    The weights are c_i = w_i / (ν Σw), so that Σc = 1/ν ≥ 1; y is not read.

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels.losses import OneClass
    >>> OneClass().value(np.zeros(2), np.array([0.5, -2.0])) + 0.0
    array([0., 2.])
    """

    file_tag = ("loss/one_class", 1)
    name = "one_class"
    targets = "none"
    total = 1.0

    def value(self, y: ndarray, f: ndarray) -> ndarray:
        return np.maximum(0.0, -f)

    def gradient(self, y: ndarray, f: ndarray) -> ndarray:
        return np.where(f < 0, -1.0, 0.0)

    def unit_box(self, y: ndarray) -> Bounds:
        return np.zeros(np.shape(y)), np.ones(np.shape(y))

    def quadratic(self, y: ndarray, c: ndarray, a: ndarray) -> Quadratic:
        zero = np.zeros(np.shape(y))
        return zero, zero, zero

    def start(self, y: ndarray, c: ndarray, equality: bool) -> ndarray:
        c = spread(c, y)
        return c / c.sum() if equality else np.zeros(np.shape(y))

    def intercept(self, y: ndarray, f: ndarray, c: ndarray) -> float:
        c = spread(c, f)
        return step_root(-f, c, self.total - c.sum())
