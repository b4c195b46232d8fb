import numpy as np
from numpy import ndarray

from .base import Bounds, Loss, Quadratic, spread, step_root


class LevelSet(Loss):
    """The loss of density level sets without an offset.

    V = max(0, 1 − f);   V* = u on −1 ≤ u ≤ 0 (Kloft et al. 2011, §3.4).

    The hinge loss on positive examples only; y is not read, and there is no intercept: f itself is compared with 1.
    The paper lacks the 1 − in its primal; its conjugate and its dual have it.

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels.losses import LevelSet
    >>> LevelSet().value(np.zeros(2), np.array([0.5, 2.0]))
    array([0.5, 0. ])
    """

    file_tag = ("loss/level_set", 1)
    name = "level_set"
    targets = "none"
    takes_intercept = False

    def value(self, y: ndarray, f: ndarray) -> ndarray:
        return np.maximum(0.0, 1.0 - f)

    def gradient(self, y: ndarray, f: ndarray) -> ndarray:
        return np.where(f < 1, -1.0, 0.0)

    def unit_box(self, y: ndarray) -> Bounds:
        return np.zeros(np.shape(y)), np.ones(np.shape(y))

    def quadratic(self, y: ndarray, c: ndarray, a: ndarray) -> Quadratic:
        zero = np.zeros(np.shape(y))
        return zero - 1.0, zero, zero

    def intercept(self, y: ndarray, f: ndarray, c: ndarray) -> float:
        """The least b with f + b ≥ 1 everywhere; with an intercept, f = 0 would be optimal."""
        c = spread(c, f)
        return step_root(1.0 - f, c, -c.sum())
