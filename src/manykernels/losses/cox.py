"""Cox's partial likelihood: a convex loss of all examples together, with its gradient, curvature and conjugate.

    L(f) = Σ_k Σ_l w_kl ln( (Σ_{R_k} c_j e^{f_j} − s_kl Σ_{D_k} c_j e^{f_j}) / ((1 − s_kl) W_k) ) − Σ_events c_i f_i

k runs over the times of events, D_k are the d_k events at time k, of weight W_k = Σ_{D_k} c_i, and R_k the examples at
risk, whose time is not before it. Efron's terms are s_kl = l / d_k, l < d_k, w_kl = W_k / d_k; Breslow's one term is
s = 0, w = W_k. L ≥ 0, and L = 0 in the limit where every event has the largest risk of its R_k.

With v_j = c_j [event] − a_j and X_k = Σ a_j over the examples that have left before time k, the conjugate is finite
where v ≥ 0, X ≥ 0, Σ a = 0, and a_j = 0 for the examples that leave before the first event:

    L*(−a) = Σ_j v_j ln(v_j / c_j) + Σ_k [ X_{k+1} ln X_{k+1} − V_k ln P_k − Y_k ln Q_k ]
             − Σ_kl w_kl ln((1 − s_kl ρ_k) / ((1 − s_kl) W_k))

    V_k = Σ_{D_k} v_j,                                     Y_k = X_k + W_k − V_k
    P_k = X_k + Σ_l w_kl (1 − s_kl) / (1 − s_kl ρ_k),      Q_k = X_k + Σ_l w_kl / (1 − s_kl ρ_k)

where ρ_k solves ρ P(ρ) = V_k. It follows from the sums of hazards: with h_j = c_j e^{f_j} and S_k = Σ_{R_k} h_j,
X_k = S_k times the cumulative hazard before time k, and ρ_k = Σ_{D_k} h_j / S_k.
"""

import numpy as np
from numpy import ndarray
from scipy.special import xlogy

from .._validation import check_choice
from .base import Bounds
from .coupled import FEASIBLE, MAX_NEWTON, CoupledLoss

DEEPEST = 300.0  # f below its maximum counts as so far below, in the curvature


class Cox(CoupledLoss):
    """Minus the logarithm of Cox's partial likelihood, for the risk of examples whose times may be censored.

    y_i is the time, with a minus sign if it is censored: examples i and j are compared if i has an event while j is at
    risk. The times of stratum s are s·2⁴⁰ plus a time or a rank below 2⁴⁰; strata are never compared.
    The loss is no sum over examples; `risk` is the loss of all, and `value` shares it among them (Cox 1972).

    Parameters
    ----------
    ties : "efron" or "breslow", default "efron"
        How events at the same time are counted (Efron 1977, Breslow 1974).

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels.losses import Cox
    >>> y = np.array([1.0, 2.0, -3.0])  # two events and a censored time
    >>> round(Cox().risk(y, np.ones(3), np.zeros(3)), 3)  # ln 3 + ln 2
    1.792
    """

    file_tag = ("loss/cox", 1)
    name = "cox"
    ratio = "hazard ratio"
    interior = True

    def __init__(self, ties: str = "efron") -> None:
        self.ties = check_choice("ties", ties, ("efron", "breslow"))

    def part(self, rows: ndarray, y: ndarray, c: ndarray) -> "RiskSets":
        return RiskSets(rows, y, c, self.ties)

    def unit_box(self, y: ndarray) -> Bounds:
        """Of each a_j alone: a_j ≤ c_j for events, a_j ≤ 0 for censored times."""
        return np.full(np.shape(y), -np.inf), np.where(np.signbit(y), 0.0, 1.0)


class RiskSets:
    """The examples `rows` of one stratum in the order of their times, and the terms (k, s, w) of the module."""

    def __init__(self, rows, y, c, ties):
        time, event = np.abs(y), ~np.signbit(y)
        order = np.argsort(time, kind="stable")
        self.rows, self.c = rows[order], c[order]
        time, event = time[order], event[order]
        times, self.deaths = np.unique(time[event]), np.flatnonzero(event)
        self.first = np.searchsorted(time, times)  # of R_k
        self.last = np.searchsorted(times, time, side="right") - 1  # the last k whose R_k has the example, or −1
        self.of = self.last[self.deaths]  # k of each event
        count = np.bincount(self.of)
        self.W = np.bincount(self.of, self.c[self.deaths])
        if ties == "efron":
            self.k = np.repeat(np.arange(len(times)), count)
            self.s = (np.arange(len(self.k)) - np.repeat(np.cumsum(count) - count, count)) / np.repeat(count, count)
            self.w = np.repeat(self.W / count, count)
        else:
            self.k, self.s, self.w = np.arange(len(times)), np.zeros(len(times)), self.W
        self.K, self.count = len(times), count

    def sums(self, terms):
        """Σ_l of terms (terms,), for each k."""
        return np.bincount(self.k, terms, self.K)

    def at(self, f):
        return Hazards(self, f[self.rows])

    def conjugate(self, a):
        """L*(−a) of this stratum; inf outside its domain."""
        v, X, least = self._flows(a)
        room = FEASIBLE * float(self.c.sum())
        early = self.last < 0
        if least < -room or np.any(v[early] > room):
            return np.inf
        V, Y, rho, P, Q = self._ratios(v, X)
        safe = np.maximum(v, 0.0)
        terms = self.w * (np.log1p(-self.s * rho[self.k]) - np.log((1.0 - self.s) * self.W[self.k]))
        ends = xlogy(X[1:], X[1:]) - xlogy(V, P) - xlogy(Y, Q)
        return float(np.sum(xlogy(safe, safe / self.c)) + np.sum(ends) - np.sum(terms))

    def decisions(self, a):
        """The f with ∇L(f) = −a, up to a constant, at all rows of the problem; least where v = 0."""
        v, X, _ = self._flows(a[self.rows])
        _, _, _, P, Q = self._ratios(v, X)
        with np.errstate(divide="ignore"):
            S = np.concatenate([[0.0], np.cumsum(np.log(X[1:-1]) - np.log(Q[:-1]))])  # ln S_k
            hazard = (np.log(Q) - S)[np.maximum(self.last, 0)]
            hazard[self.deaths] = (np.log(P) - S)[self.of]
            own = np.log(np.maximum(v, 0.0) / self.c) - hazard
        own = np.where(np.isnan(own) | (self.last < 0), -np.inf, own)
        most = np.max(own, initial=-np.inf, where=np.isfinite(own))
        f = np.zeros(len(a))
        f[self.rows] = np.maximum(own - (most if np.isfinite(most) else 0.0), -DEEPEST)
        return f

    def _flows(self, a):
        """v (n,), X (K + 1,) and the least value of both, which is below 0 outside the domain."""
        v = -a
        v[self.deaths] += self.c[self.deaths]
        left = np.concatenate([[0.0], np.cumsum(a)])
        X = np.append(left[self.first], left[-1])
        least = min(float(v.min()), float(X.min()), -abs(float(X[-1])), -abs(float(X[0])))
        X = np.maximum(X, 0.0)
        X[[0, -1]] = 0.0
        return v, X, least

    def _ratios(self, v, X):
        """V, Y, ρ, P and Q of the module, each (K,)."""
        V = np.maximum(np.bincount(self.of, v[self.deaths], self.K), 0.0)
        Y, rho = np.maximum(X[:-1] + self.W - V, 0.0), np.ones(self.K)
        for _ in range(MAX_NEWTON):  # ρ P(ρ) is convex and rises: from the right no step overshoots
            left = 1.0 - self.s * rho[self.k]
            P = X[:-1] + self.sums(self.w * (1.0 - self.s) / left)
            slope = X[:-1] + self.sums(self.w * (1.0 - self.s) / left**2)
            step = np.maximum((rho * P - V) / slope, 0.0)
            rho = np.clip(rho - step, 0.0, 1.0)
            if np.all(step <= 1e-15):
                break
        left = 1.0 - self.s * rho[self.k]
        return V, Y, rho, X[:-1] + self.sums(self.w * (1.0 - self.s) / left), X[:-1] + self.sums(self.w / left)


class Hazards:
    """The sums of one stratum at f, in logarithms: S_k, ρ_k and the hazards of the times of events."""

    def __init__(self, sets, f):
        self.sets, self.f, self.h = sets, f, f + np.log(sets.c)  # h: ln h_j
        self.S = np.logaddexp.accumulate(self.h[::-1])[::-1][sets.first]
        self.own = np.exp(self.h[sets.deaths] - self.S[sets.of])  # h_j / S_k of each event
        self.rho = np.bincount(sets.of, self.own, sets.K)
        self.left = 1.0 - sets.s * np.minimum(self.rho, 1.0)[sets.k]

    def _terms(self):
        sets = self.sets
        return sets.w * (self.S[sets.k] + np.log(self.left) - np.log((1.0 - sets.s) * sets.W[sets.k]))

    @property
    def value(self):
        deaths = self.sets.deaths
        return float(np.sum(self._terms()) - self.sets.c[deaths] @ self.f[deaths])

    def shares(self):
        """The terms of each event, less the event, plus the expected events of each example, (n,)."""
        found, sets = self.slope(), self.sets
        found[sets.deaths] += (sets.sums(self._terms()) / sets.count)[sets.of] - self.f[sets.deaths]
        return found

    def expected(self, power=1):
        """Σ_{k, l: j ∈ R_k} w_kl p_jkl^power, p_jkl the share of example j in the term: (n,)."""
        sets = self.sets
        rate = sets.sums(sets.w / self.left**power)
        total = np.append(np.logaddexp.accumulate(np.log(rate) - power * self.S), -np.inf)
        found = np.exp(power * self.h + total[sets.last])  # last = −1: none
        less = sets.sums(sets.w * ((1.0 - sets.s) ** power - 1.0) / self.left**power)
        found[sets.deaths] += self.own**power * less[sets.of]
        return found

    def slope(self):
        """∇L, (n,)."""
        found, sets = self.expected(), self.sets
        found[sets.deaths] -= sets.c[sets.deaths]
        return found

    def diagonal(self):
        """The diagonal of ∇²L, (n,)."""
        return np.maximum(self.expected() - self.expected(2), 0.0)

    def times(self, V):
        """V ∇²L, for V (r, n)."""
        sets, top = self.sets, self.h.max()
        h, S = (np.exp(np.maximum(part - top, -DEEPEST)) for part in (self.h, self.S))
        rate = sets.w / (S[sets.k] * self.left) ** 2
        once, twice, thrice = (sets.sums(rate * sets.s**power) for power in range(3))
        sums = np.cumsum((h * V)[:, ::-1], axis=1)[:, ::-1][:, sets.first]
        mean, tied = sums * once, np.flatnonzero(twice)
        if len(tied):  # some events of a time count less
            of = np.searchsorted(tied, sets.of)
            both = np.flatnonzero(np.append(tied, -1)[of] == sets.of)
            deaths, of = sets.deaths[both], of[both]
            died = np.add.reduceat(h[deaths] * V[:, deaths], np.searchsorted(of, np.arange(len(tied))), axis=1)
            mean[:, tied] -= died * twice[tied]
            less = sums[:, tied] * twice[tied] - died * thrice[tied]
        found = self.expected() * V
        found -= h * np.pad(np.cumsum(mean, axis=1), ((0, 0), (0, 1)))[:, sets.last]
        if len(tied):
            found[:, deaths] += h[deaths] * less[:, of]
        return found
