import numpy as np
from numpy import ndarray
from numpy.typing import ArrayLike

from .._limits import spend
from .._validation import check_number, check_size, check_vector
from .base import Regularizer
from .lp_norm import norm


class Ball(Regularizer):
    """A ball around given kernel weights.

    Ω(θ) = 0 if θ ≥ 0 and ‖θ − center‖₂ ≤ radius, else +inf, center > 0 (Yang et al. 2011, Section III).

    Ω*(s) = ⟨center, s⟩ + radius ‖s‖₂ for s ≥ 0. A kernel that is left out keeps its weight in the centre.

    Parameters
    ----------
    center : array (M,)
        The centre of the ball, > 0.
    radius : float, default 1
        The largest distance from the centre, > 0.

    Examples
    --------
    >>> from manykernels.regularizers import Ball
    >>> Ball([0.5, 0.5], radius=0.1).value([0.5, 0.55]), Ball([0.5, 0.5], radius=0.1).value([0.0, 0.5])
    (0.0, inf)
    """

    file_tag = ("regularizer/ball", 1)
    constraint = True
    per_kernel = "center"

    def __init__(self, center: ArrayLike, radius: float = 1.0) -> None:
        self.center = check_vector("center", center)
        self.radius = check_number("radius", radius)

    def value(self, theta: ndarray) -> float:
        theta = np.asarray(theta, float)
        near = norm(theta - self.center, 2) <= self.radius * (1 + 1e-9)
        return 0.0 if near and theta.min() >= -1e-9 else np.inf

    def conjugate(self, s: ndarray) -> float:
        s = np.asarray(s, float)
        return float(self._ray(s, np.inf) @ s)

    def weights_from_dual(self, s: ndarray) -> ndarray:
        return self._ray(np.asarray(s, float), np.inf)

    def _ray(self, direction, longest):
        """(center + τ direction)₊ for the largest τ ≤ longest that stays in the ball.

        Entries are sorted by the τ at which they reach 0; after it an entry costs center², before it τ² direction².
        """
        c = self.center
        size = float(np.max(np.abs(direction)))
        if not size > 0:
            return c.copy()
        d = direction / size
        with np.errstate(divide="ignore", over="ignore"):
            ends = np.where(d < 0, c / np.maximum(-d, 1e-300), np.inf)
        order = np.argsort(ends)
        ended = np.concatenate([[0.0], np.cumsum(c[order] ** 2)])  # of the entries before
        free = np.concatenate([np.cumsum((d[order] ** 2)[::-1])[::-1], [0.0]])
        with np.errstate(divide="ignore", invalid="ignore"):
            tau = np.sqrt(np.maximum(self.radius**2 - ended, 0.0) / free)  # if this many entries have reached 0
        before = np.concatenate([ends[order], [np.inf]])
        k = int(np.argmax(tau <= before)) if np.any(tau <= before) else len(c)
        tau = min(tau[k] if free[k] > 0 else np.inf, longest * size)
        return np.maximum(c + min(tau, 1e300) * d, 0.0)

    def weights_from_norms(self, norms: ndarray) -> ndarray:
        """θ = c + x with x (c + x)² = norms²/(2μ), ‖x‖ = radius: Newton on ln x in ln μ."""
        norms, c = np.asarray(norms, float), self.center
        top = float(norms.max())
        if not top > 0:
            return self.start(len(norms))
        active = norms > 1e-150 * top
        c, level = c[active], 2 * np.log(norms[active] / top)
        t, rho = np.zeros(len(level)) + np.log(self.radius), np.log(self.radius) + 2 * np.log(c.max() + self.radius)
        for _ in range(100):
            for _ in range(60):
                spend(15.0)
                x = np.exp(t)
                slope = 1 + 2 * x / (c + x)
                move = (t + 2 * np.log(c + x) - rho - level) / slope
                t = t - move
                if np.all(np.abs(move) <= 1e-13 * np.maximum(1.0, np.abs(t))):
                    break
            mass = np.exp(2 * t)
            total = mass.sum()
            step = np.log(total / self.radius**2) / (2 * np.sum(mass / slope) / total)
            rho -= step
            if abs(step) <= 1e-14 * max(1.0, abs(rho)):
                break
        theta = self.center.copy()
        x = np.exp(t)
        theta[active] += x * (self.radius / np.linalg.norm(x))
        return theta

    def prox(self, z: ndarray, step: float = 1.0) -> ndarray:
        """The Euclidean projection of z, whatever the step: on the way from the centre to z."""
        z = np.asarray(z, float)
        inside = np.maximum(z, 0.0)
        if norm(inside - self.center, 2) <= self.radius:
            return inside
        return self._ray(z - self.center, 1.0)

    def start(self, M: int) -> ndarray:
        check_size("center", self.center, M)
        return self.center + self.radius / np.sqrt(M)
