"""The protocol of a loss that is no sum over examples, such as Cox's partial likelihood."""

from typing import Any

import numpy as np
from numpy import ndarray
from numpy.typing import ArrayLike

from .base import Loss, Quadratic, spread

STRATUM = 2.0**40  # times of stratum s lie in [s, s + 1) · STRATUM
FEASIBLE = 1e-11  # of Σ c: a violation of the domain of L* that is rounding
PRECISE = 1e-22  # of L: the gain of a Newton step on coefficients after which they are known
SEPARATED = 1e-10  # of Σ c: below this loss the covariates order all events
MAX_NEWTON = 100  # steps
SHORTEST = 1e-10  # step of a line search
ROUNDING = 1e-14  # of L: a line search does not see smaller changes


class CoupledLoss(Loss):
    """A convex loss L(y, f) of all examples together, the sum of the losses of the strata.

    y_i is the time, with a minus sign if it is censored. The times of stratum s are s·2⁴⁰ plus a time or a rank below
    2⁴⁰; strata are never compared. A subclass defines `part(rows, y, c)`: an object with `rows`; `conjugate(a)`, which
    is L*(−a) or inf; `decisions(a)`, the f with ∇L(f) = −a at all rows of the problem; and `at(f)`. `at(f)` has the
    `value`; `shares()`, the same for each example; and `slope()`, `diagonal()` and `times(V)` of ∇L and ∇²L.
    """

    targets = "survival"
    coupled = True
    takes_intercept = False
    own_score = "concordance"
    closed = True  # L* has a closed form

    def part(self, rows: ndarray, y: ndarray, c: ndarray) -> Any:
        """The examples `rows` of one stratum, with targets y and costs c above 0; None if none are compared."""
        raise NotImplementedError(self._lacks("part(rows, y, c), the loss of one stratum"))

    def strata(self, y: ndarray, c: ArrayLike) -> list[Any]:
        """The parts of the strata whose examples are compared."""
        c, at = spread(c, y), np.floor(np.abs(y) / STRATUM)
        rows = (np.flatnonzero((at == s) & (c > 0)) for s in np.unique(at))
        found = (self.part(i, y[i], c[i]) for i in rows if not np.signbit(y[i]).all())
        return [part for part in found if part is not None]

    def risk(self, y: ndarray, c: ndarray, f: ndarray) -> float:
        return sum(part.at(f).value for part in self.strata(y, c))

    def slope(self, y: ndarray, c: ndarray, f: ndarray) -> ndarray:
        """∇L at f, (n,)."""
        return _joined(np.shape(y), [(part.rows, part.at(f).slope()) for part in self.strata(y, c)])

    def value(self, y: ndarray, f: ndarray) -> ndarray:
        """The share of each example in the loss at c = 1; their sum is `risk`."""
        return _joined(np.shape(y), [(part.rows, part.at(f).shares()) for part in self.strata(y, np.ones(np.shape(y)))])

    def gradient(self, y: ndarray, f: ndarray) -> ndarray:
        return self.slope(y, np.ones(np.shape(y)), f)

    def quadratic(self, y: ndarray, c: ndarray, a: ndarray) -> Quadratic:
        """The curvature of each example alone, 1 / (∇²L)_jj, at the f that belongs to a."""
        bends = [(part.rows, part.at(part.decisions(a)).diagonal()) for part in self.strata(y, c)]
        zero, bend = np.zeros(np.shape(y)), _joined(np.shape(y), bends)
        return zero, 1.0 / np.maximum(bend, 1e-12 * max(float(np.max(bend, initial=0.0)), 1e-200)), zero

    def dual_value(self, y: ndarray, c: ArrayLike, a: ndarray) -> float:
        """L*(−a)."""
        parts = self.strata(y, c)
        inside = _joined(np.shape(y), [(part.rows, np.ones(len(part.rows))) for part in parts]) > 0
        if np.any(np.abs(a[~inside]) > FEASIBLE * np.sum(c)):
            return np.inf
        return sum(part.conjugate(a[part.rows]) for part in parts)

    def coefficients(self, y: ndarray, f: ndarray, c: ndarray, E: ndarray) -> ndarray:
        """argmin_w L(f + E w), (k,), by Newton steps; without end if the covariates alone order the events."""
        w, strata, most = np.zeros(E.shape[1]), self.strata(y, c), SEPARATED * np.sum(c)
        points = [part.at(f) for part in strata]
        for _ in range(MAX_NEWTON):
            value = sum(own.value for own in points)
            if value <= most:
                break
            slope = sum(own.slope() @ E[part.rows] for part, own in zip(strata, points, strict=True))
            bend = sum(own.times(E[part.rows].T) @ E[part.rows] for part, own in zip(strata, points, strict=True))
            move = -np.linalg.lstsq(bend, slope, rcond=1e-13)[0]
            gain, t = -slope @ move, 1.0
            while True:
                points = [part.at(f + E @ (w + t * move)) for part in strata]
                if sum(own.value for own in points) <= value - 1e-4 * t * gain + ROUNDING * value:
                    break
                t *= 0.5
                if t < SHORTEST:
                    return w
            w = w + t * move
            if gain <= PRECISE * value:
                break
        return w

    def alignment_target(self, y: ndarray) -> ndarray:
        """Minus the slope at equal risks: for Cox the events less the expected events."""
        return -self.gradient(y, np.zeros(np.shape(y)))

    def objection(self, y: ndarray, intercept: bool) -> str:
        if np.signbit(y).all():
            return "y has no event among the examples with weight: all times are censored; add examples with events"
        if np.abs(self.alignment_target(y)).max() <= FEASIBLE * len(y):
            return (
                "y has an event of every example at the same time, so that no risk is seen to be higher than another: "
                "give times that differ, or censored examples"
            )
        return ""


def _joined(shape, parts):
    """The arrays of the strata at their rows, 0 elsewhere."""
    found = np.zeros(shape)
    for rows, values in parts:
        found[rows] = values
    return found
