import numpy as np
from numpy import ndarray

from .._validation import check_number
from .base import Bounds, Loss, Quadratic, spread, step_root, weak


class EpsilonInsensitive(Loss):
    """The ε-insensitive loss of support vector regression.

    V = max(0, |y − f| − ε);   V* = y u + ε|u| on |u| ≤ 1 (Vapnik 1995).

    Parameters
    ----------
    epsilon : float, default 0.1
        ε ≥ 0, the half width of the tube in which a residual costs nothing.

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels.losses import EpsilonInsensitive
    >>> EpsilonInsensitive(0.25).value(np.array([1.0, 1.0]), np.array([0.5, 0.9]))
    array([0.25, 0.  ])
    """

    file_tag = ("loss/epsilon_insensitive", 1)
    name = "epsilon_insensitive"

    def __init__(self, epsilon: float = 0.1) -> None:
        self.epsilon = check_number("epsilon", epsilon, closed="left")

    @property
    def flat(self) -> bool:  # type: ignore[override]  # depends on the width
        return self.epsilon > 0

    def value(self, y: ndarray, f: ndarray) -> ndarray:
        return np.maximum(0.0, np.abs(y - f) - self.epsilon)

    def gradient(self, y: ndarray, f: ndarray) -> ndarray:
        return np.where(np.abs(f - y) > self.epsilon, np.sign(f - y), 0.0)

    def unit_box(self, y: ndarray) -> Bounds:
        return np.full(np.shape(y), -1.0), np.full(np.shape(y), 1.0)

    def quadratic(self, y: ndarray, c: ndarray, a: ndarray) -> Quadratic:
        return -y, np.zeros(np.shape(y)), np.full(np.shape(y), self.epsilon)

    def misfit(self, spread: float, C: float) -> str:
        if self.epsilon > spread:
            return f"epsilon={self.epsilon:g} is larger: most targets lie in the tube, and f stays nearly constant"
        return weak(f"C={C:g}", C, spread)

    def intercept(self, y: ndarray, f: ndarray, c: ndarray) -> float:
        c = spread(c, y)
        knots = np.concatenate([y - f - self.epsilon, y - f + self.epsilon])
        return step_root(knots, np.concatenate([c, c]), -c.sum())
