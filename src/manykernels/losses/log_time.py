import numpy as np
from numpy import ndarray

from .._validation import check_number
from .base import Bounds, Loss, Quadratic, spread, step_root


class LogTime(Loss):
    """The ε-insensitive loss of the logarithm of times that may be censored: an accelerated failure time model.

    With z = ln |y|, V = max(0, |z − f| − ε) for an event, y > 0; V = max(0, z − f − ε) for a censored time, y < 0,
    which any later time fits as well;   V* = z u + ε|u| on |u| ≤ 1, or −1 ≤ u ≤ 0 (Shivaswamy et al. 2007).

    Parameters
    ----------
    epsilon : float, default 0.1
        ε ≥ 0, the half width of the tube in which ln(time) may differ from f at no cost.

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels.losses import LogTime
    >>> LogTime(0.0).value(np.array([np.e, -np.e, -np.e]), np.array([2.0, 2.0, 0.0]))
    array([1., 0., 1.])
    """

    file_tag = ("loss/log_time", 1)
    name = "log_time"
    ratio = "time ratio"
    targets = "survival"
    own_score = "concordance"

    def __init__(self, epsilon: float = 0.1) -> None:
        self.epsilon = check_number("epsilon", epsilon, closed="left")

    @property
    def flat(self) -> bool:  # type: ignore[override]  # depends on the width
        return self.epsilon > 0

    def value(self, y: ndarray, f: ndarray) -> ndarray:
        r = np.log(np.abs(y)) - f
        return np.maximum(0.0, np.where(y > 0, np.abs(r), r) - self.epsilon)

    def gradient(self, y: ndarray, f: ndarray) -> ndarray:
        r = np.log(np.abs(y)) - f
        return np.where((r > self.epsilon) | ((y > 0) & (r < -self.epsilon)), -np.sign(r), 0.0)

    def unit_box(self, y: ndarray) -> Bounds:
        return np.where(np.asarray(y) > 0, -1.0, 0.0), np.ones(np.shape(y))

    def quadratic(self, y: ndarray, c: ndarray, a: ndarray) -> Quadratic:
        event = np.asarray(y) > 0  # a ≥ 0 for the others, whose ε|a| is linear
        return self.epsilon * ~event - np.log(np.abs(y)), np.zeros(np.shape(y)), self.epsilon * event

    def intercept(self, y: ndarray, f: ndarray, c: ndarray) -> float:
        c, r, event = spread(c, y), np.log(np.abs(y)) - f, np.asarray(y) > 0
        return step_root(np.concatenate([r - self.epsilon, r[event] + self.epsilon]),
                         np.concatenate([c, c[event]]), -c.sum())  # fmt: skip

    def alignment_target(self, y: ndarray) -> ndarray:
        return np.log(np.abs(y))
