import numpy as np
from numpy import ndarray

from .._validation import check_number
from .base import OTHER_UNIT, Bounds, Loss, Quadratic, reciprocal, weak


class Huber(Loss):
    """Huber's loss, quadratic near 0 and linear far from it.

    V = r²/2 for |r| ≤ δ, else δ|r| − δ²/2, r = y − f;   V* = y u + u²/2 on |u| ≤ δ (Huber 1964).

    Parameters
    ----------
    delta : float, default 1.35
        δ > 0, where the loss becomes linear.

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels.losses import Huber
    >>> Huber(delta=1.0).value(np.array([0.0, 0.0]), np.array([0.5, 3.0]))
    array([0.125, 2.5  ])
    """

    file_tag = ("loss/huber", 1)
    name = "huber"

    def __init__(self, delta: float = 1.35) -> None:
        self.delta = check_number("delta", delta)

    def value(self, y: ndarray, f: ndarray) -> ndarray:
        r = np.abs(y - f)
        near = np.minimum(r, self.delta)
        return near * (r - 0.5 * near)

    def gradient(self, y: ndarray, f: ndarray) -> ndarray:
        return np.clip(f - y, -self.delta, self.delta)

    def unit_box(self, y: ndarray) -> Bounds:
        return np.full(np.shape(y), -self.delta), np.full(np.shape(y), self.delta)

    def quadratic(self, y: ndarray, c: ndarray, a: ndarray) -> Quadratic:
        zero = np.zeros(np.shape(y))
        return -y, reciprocal(c) + zero, zero

    def misfit(self, spread: float, C: float) -> str:
        if self.delta > OTHER_UNIT * spread:
            return f"delta={self.delta:g} is more than {OTHER_UNIT} times that: the loss is the squared one at C / 2"
        return weak(f"C={C:g} times delta={self.delta:g}", C * self.delta, spread)
