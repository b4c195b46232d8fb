"""Cutting planes of J: the model max_k constant_k − ½ θᵀq_k, its minimum over the weights, and its level sets.

Every inner problem, solved to the end or not, gives a cut below J (`_oracle`). The minimum of the model plus Ω bounds
the optimum from below, and the multipliers λ of the cuts give a dual point, a = Σ_k λ_k a_k, that is at least as good.
"""

from abc import ABC, abstractmethod
from typing import NamedTuple

import numpy as np

from .._limits import spend
from .._simplex import project_simplex
from ._run import Finished

MAX_SLOPES = 10_000  # evaluations of slopes that the small programs may take before the gap is halved


class Cut(NamedTuple):
    """J(θ) ≥ constant − ½ θᵀq for every θ, from the dual point a; `value` ≥ J at the weights where it was made."""

    a: np.ndarray
    q: np.ndarray
    value: float
    constant: float


class Cuts(ABC):
    """The cuts so far, with the dual points that gave them."""

    def __init__(self, regularizer):
        self.left, self.least = MAX_SLOPES, np.inf
        self.regularizer, self.constants, self.slopes, self.points = regularizer, np.empty(0), None, []
        self.multipliers, self.scale = np.empty(0), 1.0

    def add(self, cut):
        """Adds a `Cut`, or an `InnerPoint`, which has the same fields and more."""
        row = -0.5 * cut.q[None]
        self.scale = max(self.scale if self.points else 0.0, abs(cut.value), 1e-300)
        self.constants = np.append(self.constants, cut.constant)
        self.slopes = row if self.slopes is None else np.vstack([self.slopes, row])
        self.points.append(cut.a)
        share = 1.0 / len(self.points)
        self.multipliers = np.append(self.multipliers * (1 - share), share)

    def values(self, theta):
        return self.constants + self.slopes @ theta

    def dual_point(self):
        """A function that gives Σ_k λ_k a_k, (T, n), at the present multipliers."""
        multipliers, points = self.multipliers.copy(), list(self.points)
        return lambda: sum(share * a for share, a in zip(multipliers, points, strict=True) if share > 0)

    @abstractmethod
    def minimum(self, tolerance):
        """(θ, a lower bound of min over θ of model + Ω, at most `tolerance` below it)."""

    def project(self, theta, level, tolerance, max_steps=500):
        """The nearest weights of the domain to θ with model ≤ level, up to `tolerance`.

        By the dual in λ ≥ 0, one variable per cut: θ(λ) = prox(θ + ½ Σ λ_k q_k).
        """
        unit = self.scale / max(float(np.abs(self.slopes).max()), 1e-300)  # λ in units that suit θ

        def weights(multipliers):
            return self.regularizer.prox(theta - (unit / self.scale) * multipliers @ self.slopes)

        def slope(multipliers):
            return (self.values(weights(multipliers)) - level) / self.scale

        def done(multipliers, g):
            return g.max() <= tolerance / self.scale and -(multipliers @ g) <= 1e-2 * (np.abs(multipliers) @ np.abs(g))

        start = np.zeros(len(self.points))
        return weights(self._ascend(slope, lambda x: np.maximum(x, 0.0), start, done, tolerance, max_steps))

    def _ascend(self, slope, project, x, done, tolerance, max_steps):
        """`ascend` within MAX_SLOPES, renewed whenever the gap is halved; then the run ends."""
        if tolerance <= 0.5 * self.least:
            self.left, self.least = MAX_SLOPES, tolerance
        if self.left <= 0:
            raise Finished

        def counted(x):
            self.left -= 1
            spend(60.0)
            return slope(x)

        return ascend(counted, project, x, done, max_steps)


class SimplexCuts(Cuts):
    """The weights lie on the simplex: the minimum is a linear program, kept warm from cut to cut."""

    def __init__(self, regularizer):
        super().__init__(regularizer)
        self.program = None

    def add(self, cut):
        super().add(cut)
        if self.program is None:
            self._begin(len(cut.q))
        # z ≥ constant + slopeᵀθ with everything in units of the first value
        index = np.arange(len(cut.q) + 1, dtype=np.int32)
        row = np.append(-self.slopes[-1] / self.unit, 1.0)
        self.program.addRow(self.constants[-1] / self.unit, np.inf, len(row), index, row)

    def _begin(self, M):
        import highspy

        self.unit, self.program = self.scale, highspy.Highs()
        for option, value in {"output_flag": False, "presolve": "off", "threads": 1}.items():
            self.program.setOptionValue(option, value)
        self.program.addVars(M + 1, np.append(np.zeros(M), -np.inf), np.full(M + 1, np.inf))
        self.program.changeColCost(M, 1.0)
        self.program.addRow(1.0, 1.0, M, np.arange(M, dtype=np.int32), np.ones(M))

    def minimum(self, tolerance):
        spend(500.0 + 10.0 * len(self.points))
        self.program.run()
        solution = self.program.getSolution()
        theta = np.maximum(solution.col_value[:-1], 0.0)
        multipliers = np.maximum(solution.row_dual[1:], 0.0)
        # after a failure of the program the last multipliers stay, which give a bound too
        if len(multipliers) == len(self.points) and multipliers.sum() > 0:
            self.multipliers = multipliers / multipliers.sum()
        theta = theta / theta.sum() if theta.sum() > 0 else np.full(len(theta), 1 / len(theta))
        return theta, float(self.multipliers @ self.constants + np.min(self.multipliers @ self.slopes))


class SmoothCuts(Cuts):
    """Ω* is differentiable: the minimum is sought in the multipliers,

    max over λ in the simplex of  Σ λ_k constant_k − Ω*(½ Σ λ_k q_k),   θ = weights_from_dual(½ Σ λ_k q_k).
    """

    def minimum(self, tolerance, max_steps=1000):
        regularizer = self.regularizer

        def weights(multipliers):
            return regularizer.weights_from_dual(-multipliers @ self.slopes)

        def slope(multipliers):
            return self.values(weights(multipliers)) / self.scale

        def done(multipliers, g):
            return g.max() - multipliers @ g <= tolerance / self.scale

        self.multipliers = self._ascend(slope, project_simplex, self.multipliers, done, tolerance, max_steps)
        bound = self.multipliers @ self.constants - regularizer.conjugate(-self.multipliers @ self.slopes)
        return weights(self.multipliers), float(bound)


class CurvedCuts(Cuts):
    """The weights lie on the simplex and Ω is a sum over kernels of known derivatives, such as the entropy.

    Its Ω* is nearly a maximum if Ω is small beside the cuts, so that slopes in the multipliers say little. So the
    minimum is sought in θ, the multipliers λ and the slacks w_k = z − cut_k(θ) together, along the central path

        Ω'(θ) − ½ Σ λ_k q_k + ν − x = 0 ,   Σθ = Σλ = 1 ,   λ_k w_k = θ_m x_m = μ → 0 .
    """

    def minimum(self, tolerance, max_steps=200):
        Q, omega, K = -self.slopes.T, self.regularizer, len(self.constants)
        theta = found = omega.start(len(Q))
        multipliers = np.full(K, 1.0 / K)
        z = float(self.values(theta).max()) + max(float(np.ptp(self.values(theta))), tolerance)
        w, nu, best, share = z - self.values(theta), 0.0, (np.inf, -np.inf), 0.1
        x = float(multipliers @ w) / K / theta
        for _ in range(max_steps):
            spend(300.0 + 1e-4 * K**3)
            first, second = omega.derivatives(theta)
            upper, lower = float(self.values(theta).max()) + omega.value(theta), self._bound(multipliers)
            if upper < best[0]:
                best, found = (upper, best[1]), theta
            if lower > best[1]:
                best, self.multipliers = (best[0], lower), multipliers / multipliers.sum()
            if best[0] - best[1] <= tolerance:
                break
            mu = share * (float(multipliers @ w) + float(theta @ x)) / (K + len(Q))
            D, slope = 1.0 / (second + x / theta), first - Q @ multipliers + nu - mu / theta
            A, b = Q.T @ (D[:, None] * Q) + np.diag(w / multipliers), Q.T @ D
            one = np.ones(K)
            system = np.block([[A, one[:, None], -b[:, None]], [one, 0.0, 0.0], [b, 0.0, -D.sum()]])
            right = mu / multipliers - (z - self.values(theta)) + Q.T @ (D * slope)
            right = np.concatenate([right, [1.0 - multipliers.sum(), 1.0 - theta.sum() + D @ slope]])
            try:
                step = np.linalg.solve(system, right)
            except np.linalg.LinAlgError:
                break
            if not np.isfinite(step).all():  # rounding hides further progress
                break
            dtheta = D * (Q @ step[:K] - step[-1] - slope)
            dw = mu / multipliers - w - w / multipliers * step[:K]
            dx = mu / theta - x - x / theta * dtheta
            pairs = ((theta, dtheta), (x, dx), (multipliers, step[:K]), (w, dw))
            t = min(1.0, *(0.95 / max(float(np.max(-du / u)), 1e-300) for u, du in pairs))
            theta, multipliers = np.maximum(theta + t * dtheta, 1e-200), multipliers + t * step[:K]
            x, w, z, nu, share = x + t * dx, w + t * dw, z + t * step[-2], nu + t * step[-1], 0.1 if t > 0.5 else 0.5
            theta = theta / theta.sum()
        return found, best[1]

    def _bound(self, multipliers):
        multipliers = multipliers / multipliers.sum()
        return float(multipliers @ self.constants - self.regularizer.conjugate(-multipliers @ self.slopes))


def cuts_for(regularizer):
    """The cuts that suit the domain of the weights."""
    if regularizer.has("derivatives"):
        return CurvedCuts(regularizer)
    return (SimplexCuts if regularizer.simplex else SmoothCuts)(regularizer)


def ascend(slope, project, x, done, max_steps):
    """Maximises a concave function of known slope over a simple set by projected steps of Barzilai–Borwein length.

    Each is shortened until the slope along it no longer points back, so that no function value is needed.
    """
    x = project(x)
    g = slope(x)
    step = 1.0 / max(float(np.abs(g).max()), 1e-300)
    for _ in range(max_steps):
        if done(x, g):
            break
        move = project(x + step * g) - x
        rise = float(g @ move)
        if not rise > 0:
            break
        t = 1.0
        for _ in range(30):
            trial = x + t * move
            g_trial = slope(trial)
            ahead = float(g_trial @ move)
            if ahead >= -0.9 * rise:
                break
            t *= max(0.1, rise / (rise - ahead))  # the zero of a linear slope
        change = trial - x
        bend = float(change @ (g - g_trial))
        step = min(float(change @ change) / bend if bend > 1e-300 else 10 * step, 1e12)
        x, g = trial, g_trial
    return x
