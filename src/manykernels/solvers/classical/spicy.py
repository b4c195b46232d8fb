"""Proximal steps on the functions, each by Newton steps on its dual: SpicyMKL (Suzuki and Tomioka 2011).

    min over f_1..f_M, b :   Σ c V(y, Σ f_m + b) + g(‖f_1‖², …, ‖f_M‖²) ,   g = regularizer.block_norm

A proximal step from f_m = K_m β_m adds Σ ‖f_m − K_m β_m‖² / (2γ). Its dual is smooth except for the losses,

    min over a :   Σ c V*(y, −a / c) + E(a) ,   E(a) = max over f of Σ_i a_i f(x_i) − g − Σ ‖f_m − K_m β_m‖² / (2γ)

With u_m = β_m + γ a, ‖u_m‖² = u_mᵀK_m u_m, t = argmin ½ Σ (t_m − ‖u_m‖)² + γ g(t²) with Jacobian J in the ‖u_m‖,
ω_m = t_m / ‖u_m‖ and v_m = K_m u_m / ‖u_m‖ :

    ∇E = Σ ω_m K_m u_m ,   ∇²E = γ Σ ω_m K_m + γ Σ_mk (J_mk − ω_m [m = k]) v_m v_kᵀ ,   then β_m ← ω_m u_m , γ grows

A Newton step solves an SVM on ∇²E, so that every loss works, with its box and its kinks, and then searches the line,
where E costs M numbers. It takes one combination of the kernels with weight and one product with each kernel. The gap
of the proximal step, Σ c V + Σ c V* + aᵀ∇E, says when β should move. At γ → ∞ the method is Newton's method on the
dual; it starts there unless Ω* is an indicator or has kinks. The predictor is f_m = θ_m K_m a with one a, as in every
solver; at the optimum β_m = θ_m a. θ comes from the norms t, or, if no Ω exists, from the dual.
"""

from contextlib import suppress
from numbers import Real
from typing import Any

import numpy as np

from ..._limits import spend
from ..._parts import declared
from ..._validation import shown
from ...inner import InnerProblem
from ...inner.systems import HalfHessian
from ...problem import Problem
from ...solution import Solution
from .._oracle import Oracle
from ..base import BaseSolver, Control

MAX_GAMMA = 1e8  # over the largest weight: practically infinite
MAX_NEWTON_STEPS = 10  # of one proximal step; if they do not suffice, γ is too large
PROXIMAL_GAP_SHARE = 0.1  # of the present gap, to which a proximal step is solved
MIN_NEWTON_EXAMPLES = 1000  # of a Newton step; with more examples only those that could matter are added


@declared
class Spicy(BaseSolver):
    """Proximal steps on the functions by a dual augmented Lagrangian.

    Parameters
    ----------
    gamma : float, optional
        The first γ; None for a choice by the regularizer.
    growth : float, default 10
        Its factor from one proximal step to the next.

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels import MKLClassifier
    >>> from manykernels.kernels import RBF
    >>> from manykernels.solvers import Spicy
    >>> X = np.random.default_rng(0).normal(size=(60, 4))
    >>> y, widths = X[:, 0] + X[:, 1] ** 2 > 1, [RBF(gamma=g) for g in (0.01, 0.1, 0.5, 1.0)]
    >>> steps = [MKLClassifier(widths, regularizer=1, solver=Spicy(growth=g)).fit(X, y).n_iter_ for g in (2.0, 10.0)]
    >>> bool(steps[0] > steps[1])  # γ grows sooner
    True
    """

    file_tag = ("solver/spicy", 1)
    name = "spicy"
    needs = ("conjugate", "start", "block_norm", "block_prox", "block_prox_jacobian")
    missing = "it needs the proximal step of a block norm, which has no simple form there"

    gamma: float | None = None
    growth: float = 10.0

    def solve(self, problem: Problem, control: Control) -> Solution:
        gamma = 10.0 if self.gamma is None else self.gamma
        for name, value, least in (("gamma", gamma, 0), ("growth", self.growth, 1)):
            if not isinstance(value, Real) or not least < value < np.inf:
                raise ValueError(f"{name} must be a number above {least}, got {shown(value)}")
        oracle = Oracle(problem, control)
        oracle.carried = True
        return oracle.run(ProximalSteps(oracle, self.gamma, self.growth, control.warm is not None))


class ProximalSteps:
    """The iterate a (T, n) with its products P = K_m a, and β with K_m β_m, all (T, M', n)."""

    def __init__(self, oracle, gamma, growth, warm):
        self.oracle, self.problem, self.regularizer = oracle, oracle.problem, oracle.problem.regularizer
        self.gamma, self.growth, self.warm = gamma, growth, warm

    def __call__(self, oracle):
        step, idle = self._start(), 0
        while idle < 10:
            point, turn = step.at(self.a, self.P), 0
            while turn < MAX_NEWTON_STEPS:
                certificate = oracle.certify(self._weights(point), self.a, self.P, gamma=step.gamma)
                scale, (gap, b) = certificate.scale, self._gap(point)
                if gap <= PROXIMAL_GAP_SHARE * scale * max(min(certificate.gap, 0.1), oracle.tol):
                    break
                target = max(min(0.1, gap / scale) * gap, 0.01 * oracle.tol * scale)
                if not self._newton(step, point, b, target):
                    break
                point, turn = step.at(self.a, self.P), turn + 1
            idle = 0 if turn else idle + 1
            if turn < MAX_NEWTON_STEPS:
                gamma = min(step.gamma * self.growth, MAX_GAMMA * max(1.0, float(oracle.best["theta"].max())))
            else:
                gamma, self.growth = max(1e-3 * step.gamma, min(step.gamma, 10.0)), np.sqrt(self.growth)
            step = step.next(self.a, point, gamma)

    def _start(self):
        """The proximal step at the solution of the first weights, shortened as needed, or at a warm start."""
        oracle, theta = self.oracle, self.oracle.theta
        if not self.warm:
            K, target = self._combined(theta), 0.01 * float(self.problem.c.sum())
            parts = zip(oracle.inners, oracle.a, strict=True)
            oracle.a = np.array([inner.solve(K, a, target)[0] for inner, a in parts])
        self.a, self.P = oracle.a, oracle.products(oracle.a)
        gamma, s = self.gamma, 0.5 * np.einsum("tmi,ti->m", self.P, self.a)
        if gamma is None:
            smooth = self.regularizer.shrink(1e4 * s) == 1 and not self.regularizer.simplex
            smooth &= self.regularizer.has("weights_from_dual")
            largest = float(self.regularizer.weights_from_dual(s).max()) if smooth else 0.0
            gamma = MAX_GAMMA * max(1.0, largest) if smooth else 10.0
        if self.warm:
            weights = theta[:, None]
            return ProximalStep(self.regularizer, gamma, weights * self.a[:, None], weights * self.P)
        step = ProximalStep(self.regularizer, gamma, np.zeros_like(self.P), np.zeros_like(self.P))
        if self.problem.loss.total == 0:
            a, P, self.a, self.P = self.a, self.P, 0.0 * self.a, 0.0 * self.P
            self._go(step, a, P)
        return step

    def _combined(self, theta, rows=None):
        bank = self.oracle.bank
        weights = np.zeros(bank.M)
        weights[self.oracle.index] = theta
        rows = None if rows is None or len(rows) == bank.n else rows
        return bank.combined(weights, rows, rows, dtype=np.float64, shifted=self.problem.intercept)

    def _weights(self, point):
        if self.regularizer.has("weights_from_norms"):
            return self.regularizer.weights_from_norms(point.t)
        return self.regularizer.weights_from_dual(0.5 * np.maximum(np.einsum("tmi,ti->m", self.P, self.a), 0.0))

    def _gap(self, point):
        """The gap of the proximal step, and its b."""
        b = self.oracle.intercepts(point.outputs)
        parts = zip(self.oracle.inners, self.a, point.outputs, b, strict=True)
        return sum(inner.gap(*part) for inner, *part in parts), b

    def _newton(self, step, point, b, target):
        """Moves a by one Newton step; False if rounding hides further progress."""
        self.oracle.hold()
        rows = self._rows(point, b)
        V, W = step.bend(point)
        model = DualModel(
            self._inners(rows), self.a, point.outputs, self._combined(step.gamma * point.omega, rows), V, W, rows
        )
        a = self.a.copy()
        a[:, rows] = model.minimise(target)
        return self._go(step, a, self.oracle.products(a))

    def _rows(self, point, b):
        """The examples that a Newton step may move."""
        n, loss = self.a.shape[1], self.problem.loss
        if n <= MIN_NEWTON_EXAMPLES or loss.interior:
            return np.arange(n)
        parts = zip(self.oracle.inners, self.a, point.outputs, b, strict=True)
        slack = np.min([inner.slack(*part) for inner, *part in parts], axis=0)
        needed = max(int(1.25 * np.count_nonzero(slack <= 0)), MIN_NEWTON_EXAMPLES)
        return np.sort(np.argsort(slack, kind="stable")[:needed])

    def _inners(self, rows):
        if len(rows) == self.a.shape[1]:
            return self.oracle.inners
        return [InnerProblem(m.loss, m.y[rows], m.c[rows], m.intercept, m.n_jobs) for m in self.oracle.inners]

    def _go(self, step, a, P):
        """Moves towards a, with products P, as far as the convex dual falls; returns whether it does.

        The slope decides, since the rounding of the value would hide small gains: the step is 1 if the slope stays
        negative, else its zero, to a tenth of its first value.
        """
        move, change = a - self.a, P - self.P
        smooth = step.line(self.a, self.P, move, change)

        def slope(tau):
            spend(60.0)
            total, here = smooth(tau), self.a + tau * move
            for inner, a_t, d in zip(self.oracle.inners, here, move, strict=True):
                linear, diagonal, kink = inner.loss.quadratic(inner.y, inner.c, a_t)
                total += d @ (linear + diagonal * a_t + kink * np.sign(a_t))
            return total

        lo, hi, below, above = 0.0, 1.0, slope(1e-9), slope(1.0)
        size = np.abs(step.at(self.a, self.P).outputs)
        if above <= 1e-12 * np.sum(np.abs(move) * size) + 1e-15 * np.abs(a).sum() * size.max():  # its rounding
            self.a, self.P = a, P
            return True
        if not below < 0:
            return False
        near, tau = 0.1 * abs(below), 0.0
        for turn in range(60):
            tau = lo - below * (hi - lo) / (above - below) if turn % 2 == 0 else 0.5 * (lo + hi)
            at = slope(tau)
            if abs(at) <= near:
                break
            lo, below, hi, above = (tau, at, hi, above) if at < 0 else (lo, below, tau, at)
        self.a, self.P = self.a + tau * move, self.P + tau * change
        return True


@declared
class ProximalStep:
    """E around β (T, M', n), from inner products of β, K_m β_m, a and P = K_m a alone."""

    regularizer: Any
    gamma: Any
    beta: Any
    Kbeta: Any

    def at(self, a, P):
        return ProximalPoint(self, self.beta + self.gamma * a[:, None], self.Kbeta + self.gamma * P)

    def next(self, a, point, gamma):
        """The step around ω_m u_m."""
        weights = point.omega[:, None]
        beta = weights * (self.beta + self.gamma * a[:, None])
        return ProximalStep(self.regularizer, gamma, beta, weights * point.Ku)

    def bend(self, point):
        """V (T, k, n) and W (k, k) with ∇²E = γ Σ ω_m K_m + VᵀW V; k kernels have weight."""
        keep = np.flatnonzero(point.t > 0)
        J = self.regularizer.block_prox_jacobian(point.norms, self.gamma)
        J = np.diag(J[keep]) if J.ndim == 1 else J[np.ix_(keep, keep)]
        return point.Ku[:, keep] / point.norms[keep, None], self.gamma * (J - np.diag(point.omega[keep]))

    def line(self, a, P, move, change):
        """The slope of E along a + τ·move, a function of τ; K_m move = change."""
        g, start = self.gamma, self.at(a, P)
        cross = np.einsum("tmi,ti->m", start.Ku, move)
        curve = np.einsum("tmi,ti->m", change, move)

        def slope(tau):
            squares = start.norms**2 + 2 * g * tau * cross + (g * tau) ** 2 * curve
            norms = np.sqrt(np.maximum(squares, 0.0))
            return float(ratio(self.regularizer.block_prox(norms, g), norms) @ (cross + g * tau * curve))

        return slope


class ProximalPoint:
    """At one a: K_m u_m (T, M', n), the norms of u_m, t, ω (M',), and the outputs ∇E (T, n)."""

    def __init__(self, step, u, Ku):
        self.Ku, self.norms = Ku, np.sqrt(np.maximum(np.einsum("tmi,tmi->m", u, Ku), 0.0))
        self.t = step.regularizer.block_prox(self.norms, step.gamma)
        self.omega = ratio(self.t, self.norms)
        self.outputs = np.einsum("m,tmi->ti", self.omega, Ku)


class DualModel:
    """⟨∇E, x − a⟩ + ½ (x − a)ᵀ∇²E (x − a) + Σ c V*(y, −x / c) on the rows: T problems on `base`, tied by V and W."""

    def __init__(self, inners, a, outputs, base, V, W, rows):
        self.inners, self.base, self.W = inners, base, W
        self.a, self.outputs, self.V = a[:, rows], outputs[:, rows], V[:, :, rows]

    def minimise(self, target):
        """x (T, |rows|), to a gap of `target`: exact for one output; for several, a sweep that `_join` improves."""
        x = self.a.copy()
        for t, inner in enumerate(self.inners):
            V, others = self.V[t], self._tie(x)  # x[t] is still a[t]
            H = V.T @ (self.W @ V)
            H += self.base
            shift = self.outputs[t] - H @ self.a[t] + V.T @ (self.W @ others)
            x[t] = inner.solve(H, x[t], target / len(x), shift=shift)[0]
        return self._join(x, target) if len(x) > 1 and len(self.W) else x

    def _join(self, best, target):
        """Newton on z = W Σ_t V_t (x_t − a_t), which is all that several outputs share."""
        centre, z = self.outputs - self.a @ self.base, self.W @ self._tie(best)
        start, value = self._value(self.a), self._value(best)
        for _ in range(20):
            S, x = np.zeros_like(self.W), np.empty_like(best)
            for t, inner in enumerate(self.inners):
                V = self.V[t]
                x[t] = inner.solve(self.base, best[t], target / len(x), shift=centre[t] + V.T @ z)[0]
                free = inner.free(x[t])
                if free.sum() <= 1:
                    continue
                with suppress(np.linalg.LinAlgError):  # an indefinite kernel: its part of S stays 0
                    Z = HalfHessian(self.base, free, inner.diagonal, inner.intercept, V[:, free]).Z
                    S += Z.T @ Z
            z = z + np.linalg.lstsq(np.eye(len(z)) + self.W @ S, self.W @ self._tie(x) - z, rcond=None)[0]
            gain = value - self._value(x)
            if gain > 0:
                best, value = x, value - gain
            if abs(gain) <= 0.01 * (start - value):
                break
        return best

    def _tie(self, x):
        return np.einsum("tmi,ti->m", self.V, x - self.a)

    def _value(self, x):
        move, tie = x - self.a, self._tie(x)
        conjugates = sum(m.loss.dual_value(m.y, m.c, x_t) for m, x_t in zip(self.inners, x, strict=True))
        return float(np.sum(move * (self.outputs + 0.5 * move @ self.base)) + 0.5 * tie @ self.W @ tie) + conjugates


def ratio(t, norms):
    """t / norms, 0 where t is."""
    return np.divide(t, norms, out=np.zeros_like(t), where=t > 0)
