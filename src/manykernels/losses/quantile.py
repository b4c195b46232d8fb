import numpy as np
from numpy import ndarray

from .._validation import check_number
from .base import Bounds, Loss, Quadratic, spread, step_root, weak


class Quantile(Loss):
    """The pinball loss, whose minimum is a quantile of y given x.

    V = q max(0, y − f) + (1 − q) max(0, f − y);   V* = y u on −q ≤ u ≤ 1 − q (Koenker and Bassett 1978).

    Parameters
    ----------
    q : float, default 0.5
        0 < q < 1, the share of targets that should lie below f; 0.5 is the median.

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels.losses import Quantile
    >>> Quantile(0.9).value(np.array([1.0, 1.0]), np.array([0.0, 2.0])).round(3)
    array([0.9, 0.1])
    """

    file_tag = ("loss/quantile", 1)
    name = "quantile"
    own_score = "D² of the pinball loss"

    def __init__(self, q: float = 0.5) -> None:
        self.q = check_number("q", q, high=1.0)

    def value(self, y: ndarray, f: ndarray) -> ndarray:
        return np.maximum(self.q * (y - f), (1.0 - self.q) * (f - y))

    def gradient(self, y: ndarray, f: ndarray) -> ndarray:
        return np.where(f > y, 1.0 - self.q, np.where(f < y, -self.q, 0.0))

    def unit_box(self, y: ndarray) -> Bounds:
        return np.full(np.shape(y), self.q - 1.0), np.full(np.shape(y), self.q)

    def quadratic(self, y: ndarray, c: ndarray, a: ndarray) -> Quadratic:
        zero = np.zeros(np.shape(y))
        return -y, zero, zero

    def misfit(self, spread: float, C: float) -> str:
        return weak(f"C={C:g}", C, spread)

    def intercept(self, y: ndarray, f: ndarray, c: ndarray) -> float:
        c = spread(c, y)
        return step_root(y - f, c, -self.q * c.sum())
