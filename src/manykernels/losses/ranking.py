"""The squared hinge of the differences of pairs, with its gradient, curvature and conjugate.

    L(f) = Σ_(i, j) w_ij max(0, 1 − (f_i − f_j))² ,     w_ij = c_i c_j Σ_events c / Σ_(i, j) c_i c_j

(i, j) are the pairs that can be compared: i has an event, and j is known to have none until later, t_i < t_j, or
t_i = t_j with j censored. All pairs count alike, as in Harrell's concordance; the weights sum to that of the events.

With a multiplier μ_ij ≥ 0 for each pair, L(f) = max over μ of Σ [μ_ij (1 − f_i + f_j) − μ_ij² / 4 w_ij], so that

    L*(−a) = min over μ ≥ 0 :  Σ μ_ij² / 4 w_ij − Σ μ_ij ,    Σ_j μ_ij − Σ_j μ_ji = a_i for all i

Its own dual is min over f : L(f) + aᵀf, which Newton steps solve in finitely many steps, as L is piecewise quadratic.
Every f gives multipliers, μ_ij = 2 w_ij max(0, 1 − f_i + f_j), whose value is L*(∇L(f)): the conjugate at −a if they
balance, ∇L(f) = −a. If no f balances, the value is inf, which is a bound too.
"""

from functools import cached_property

import numpy as np
from numpy import ndarray
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from .._limits import spend
from .base import Bounds
from .coupled import FEASIBLE, MAX_NEWTON, CoupledLoss

BALANCED = 1e-14  # of Σ c: where Newton steps end
RIDGE = 1e-11  # of the mean curvature: f is known up to a constant for each set of pairs that hang together
SHORTEST = 1e-12  # step of a line search


class Ranking(CoupledLoss):
    """The squared hinge of every pair of examples whose order is known, for risks of times that may be censored.

    V = max(0, 1 − (f_i − f_j))² for each pair (i, j) in which i has an event before the time of j. Each pair has the
    same weight, and the weights sum to the number of events (Van Belle et al. 2007, Pölsterl et al. 2015). f orders the
    examples as Harrell's concordance does; e^f is not a hazard.

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels.losses import Ranking
    >>> y = np.array([1.0, 2.0, -3.0])  # two events and a censored time: three pairs of weight 2/3
    >>> round(Ranking().risk(y, np.ones(3), np.array([2.0, 1.5, 0.0])), 3)  # one of them is less than 1 apart
    0.167
    """

    file_tag = ("loss/ranking", 1)
    name = "ranking"
    interior = True
    closed = False
    attained = timeless = True

    def part(self, rows: ndarray, y: ndarray, c: ndarray) -> "OrderedPairs | None":
        found = OrderedPairs(rows, y, c)
        return found if len(found.deaths) else None

    def unit_box(self, y: ndarray) -> Bounds:
        """Of each a_j alone: a_j ≤ 0 for censored times."""
        return np.full(np.shape(y), -np.inf), np.where(np.signbit(y), 0.0, np.inf)

    def objection(self, y: ndarray, intercept: bool) -> str:
        if not self.strata(y, 1.0) and not np.signbit(y).all():
            return (
                "y has no pair of examples with weight whose order is known, an event before another time: add "
                "examples, or merge strata"
            )
        return super().objection(y, intercept)


class OrderedPairs:
    """The examples `rows` of one stratum in the order of their times, events first, and the pairs of their events.

    The event at `deaths[e]` is compared with the examples from `after[e]` on, which no event at its time belongs to.
    """

    def __init__(self, rows, y, c):
        time, event = np.abs(y), ~np.signbit(y)
        order = np.lexsort([~event, time])
        self.rows, self.c, time, event = rows[order], c[order], time[order], event[order]
        deaths = np.flatnonzero(event)
        times, at, count = np.unique(time[deaths], return_inverse=True, return_counts=True)
        after = (np.searchsorted(time, times) + count)[at]
        some = after < len(time)
        self.deaths, self.after = deaths[some], after[some]
        own, later = self.c[self.deaths], np.cumsum(self.c[::-1])[::-1][self.after]
        self.each = own * own.sum() / max(float(own @ later), 1e-300)  # w_ij = each_i c_j

    def at(self, f):
        return Margins(self, f[self.rows])

    def conjugate(self, a):
        """L*(−a) of this stratum; inf outside its domain."""
        if not a.any():  # reached where all pairs are in order
            return 0.0
        point = self.balanced(a)
        if np.abs(point.slope() + a).max() > FEASIBLE * self.c.sum():
            return np.inf
        return point.value - point.pull.sum()

    def decisions(self, a):
        """The f with ∇L(f) = −a at all rows of the problem."""
        f = np.zeros(len(a))
        f[self.rows] = self.balanced(a[self.rows]).f
        return f

    def balanced(self, a):
        """The `Margins` at the f of the least L(f) + aᵀf, or where Newton steps end."""
        point, size = Margins(self, np.zeros(len(a))), self.c.sum()
        for _ in range(MAX_NEWTON):
            spend(400.0 + 1e-5 * len(a) ** 3)
            slope = point.slope() + a
            if np.abs(slope).max() <= BALANCED * size:
                break
            bend = point.curvature()
            bend[np.diag_indices_from(bend)] += RIDGE * bend.trace() / len(a) + 1e-300
            try:
                move = -cho_solve(cho_factor(bend, overwrite_a=True, check_finite=False), slope, check_finite=False)
            except LinAlgError:
                break
            value, descent, t = point.value + a @ point.f, float(slope @ move), 1.0
            while True:
                trial = Margins(self, point.f + t * move)
                if trial.value + a @ trial.f <= value + 1e-4 * t * descent or t < SHORTEST:
                    break
                t *= 0.5
            if t < SHORTEST:
                break
            point = trial
        return point


class Margins:
    """The pairs of one stratum at f: how far each is from its margin, and the multipliers 2 w_ij of those that are."""

    def __init__(self, pairs, f):
        self.pairs, self.f = pairs, f
        short = np.maximum(1.0 - f[pairs.deaths][:, None] + f, 0.0)
        short[np.arange(len(f)) < pairs.after[:, None]] = 0.0
        self.short = short  # (events, n)
        self.pull = (2.0 * pairs.each[:, None] * short) * pairs.c  # μ

    @property
    def value(self):
        return float(self.costs().sum())

    def costs(self):
        """The loss of the pairs of each event."""
        return 0.5 * np.einsum("ij,ij->i", self.pull, self.short)

    def shares(self):
        found = np.zeros(len(self.f))
        found[self.pairs.deaths] = self.costs()
        return found

    def slope(self):
        """∇L, (n,)."""
        found = self.pull.sum(axis=0)
        found[self.pairs.deaths] -= self.pull.sum(axis=1)
        return found

    @cached_property
    def links(self):
        """2 w_ij of the pairs short of their margin, (events, n)."""
        return (2.0 * self.pairs.each[:, None] * (self.short > 0)) * self.pairs.c

    @cached_property
    def degrees(self):
        """The diagonal of ∇²L, (n,)."""
        found = self.links.sum(axis=0)
        found[self.pairs.deaths] += self.links.sum(axis=1)
        return found

    def diagonal(self):
        return self.degrees

    def curvature(self):
        """∇²L, the Laplacian of the links, (n, n)."""
        links, deaths = self.links, self.pairs.deaths
        found = np.zeros((len(self.f), len(self.f)))
        found[deaths] -= links
        found[:, deaths] -= links.T
        found[np.diag_indices_from(found)] += self.degrees
        return found

    def times(self, V):
        """V ∇²L, for V (r, n)."""
        links, deaths = self.links, self.pairs.deaths
        found = self.degrees * V - V[:, deaths] @ links
        found[:, deaths] -= V @ links.T
        return found
