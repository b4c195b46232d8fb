"""The one objective, measured outside the solvers and in float64, the same way for every competitor.

    min over f_1..f_M, b, θ ≥ 0 :   C Σ_i max(0, 1 − y_i f(x_i)) + ½ Σ_m ‖f_m‖² / θ_m ,   ‖θ‖_p ≤ 1 ,  f = Σ_m f_m + b
    max over a :                    Σ_i y_i a_i − ‖ ½ (aᵀK_m a)_m ‖_{p/(p−1)} ,   0 ≤ y_i a_i ≤ C ,  Σ_i a_i = 0

The gap of a competitor is (primal − best dual) / primal, where the best dual is the largest value known for the
problem from anyone: a lower bound of the optimum for all. Nothing here comes from the package that is measured.
"""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Result:
    """What a competitor returns: (theta, a, b) with f = Σ θ_m K_m a + b, or its predictor's parts f_m in full.

    theta (M,), a (n,) signed; parts (M, n) are f_m on the examples and norms (M,) are ‖f_m‖. b = None: the best b.
    """

    theta: np.ndarray | None = None
    a: np.ndarray | None = None
    b: float | None = None
    parts: np.ndarray | None = None
    norms: np.ndarray | None = None


class Objective:
    """The problem on the normalised kernels S (M, n, n) with labels y ±1; it keeps the best dual value seen."""

    def __init__(self, S, y, p, C=1.0):
        self.S, self.y, self.p, self.C = S, np.asarray(y, float), p, C
        self.best_dual = 0.0  # a = 0

    def measure(self, result):
        """(primal, relative gap) of a result; its dual point, where it has one, may raise the bound."""
        if result.a is None:
            losses, norms = result.parts.sum(axis=0), self._least_norm(result.norms)
        else:
            theta = np.maximum(np.asarray(result.theta, float), 0)
            theta = theta / max(1.0, np.linalg.norm(theta, self.p))
            a = np.asarray(result.a, float)
            products = self._products(a)
            losses, norms = theta @ products, 0.5 * float(theta @ (products @ a))
            self.best_dual = max(self.best_dual, self.dual(a))
        b = self.best_intercept(losses) if result.b is None else float(result.b)
        primal = self._hinge(losses + b) + norms
        return primal, self.gap(primal)

    def gap(self, primal):
        return (primal - self.best_dual) / primal

    def dual(self, a):
        """The dual value of `a` after it is made feasible: cut to the box, then the heavier class scaled down."""
        alpha = np.clip(self.y * a, 0, self.C)
        plus, minus = alpha[self.y > 0].sum(), alpha[self.y < 0].sum()
        if min(plus, minus) <= 0:
            return 0.0
        alpha = alpha * np.where(self.y > 0, min(1, minus / plus), min(1, plus / minus))
        a = self.y * alpha
        q = np.maximum(self._products(a) @ a, 0)
        conjugate = np.inf if self.p == 1 else 1.0 if np.isinf(self.p) else self.p / (self.p - 1)
        return float(alpha.sum() - np.linalg.norm(0.5 * q, conjugate))

    def best_intercept(self, f):
        """argmin_b Σ max(0, 1 − y (f + b)), at one of the kinks b = y − f: where the slope changes sign."""
        kinks = np.sort(self.y - f)
        slopes = np.arange(1, len(f) + 1) - (self.y > 0).sum()  # on the right of each kink: (kinks passed) − n₊
        return float(kinks[min(np.searchsorted(slopes, 0), len(f) - 1)])

    def _hinge(self, f):
        return self.C * float(np.maximum(0, 1 - self.y * f).sum())

    def _least_norm(self, norms):
        """min over ‖θ‖_p ≤ 1 of ½ Σ ‖f_m‖² / θ_m = ½ ‖(‖f_m‖)‖²_{2p/(p+1)}."""
        r = 2.0 if np.isinf(self.p) else 2 * self.p / (self.p + 1)
        return 0.5 * float(np.linalg.norm(norms, r)) ** 2

    def _products(self, a):
        """K_m a for every kernel, (M, n), in float64."""
        support = np.flatnonzero(a)
        return np.array([K[:, support].astype(float) @ a[support] for K in self.S])
