"""Accelerated gradient steps on the smooth dual: Algorithm 2 of Xu, Jin, Zhu, Lyu and King (2010).

    min over a :   F(a) = Σ c V*(y, −a / c) + Ω*(½ q(a)) ,   lo ≤ a ≤ hi (, Σ a = total) ,   q_m = aᵀK_m a

θ = argmax ⟨θ, ½ q⟩ − Ω(θ), a softmax for `Entropy(lam)`, and ∇ = Σ θ_m K_m a + linear + diagonal·a. A step is

    argmin over x in the box (, Σ x = total) of ⟨∇, x − a⟩ + kink·|x| + (L/2) ‖x − a‖²

a soft threshold and a clip, around one root for the multiplier of Σ x where there is a bias. Besides the entropy it
takes every regularizer whose Ω* is finite and differentiable.

By default L follows the curvature that is met, and the momentum starts anew where it points uphill. The products K_m a
of a combination of two points are the combination of theirs, so that a step costs one product with each kernel.

`fixed_step=True` is Algorithm 2 as stated: three sequences, τ_k = 2/(k + 3), and a constant L. It departs from the
paper, which contradicts itself, in
  (10), (13)   no −1 in the exponents: they belong to a maximum over 0 ≤ p ≤ 1, (7) and (8) to one over the simplex;
               so (11) is f_λ − f ≤ (λ/2) ln M;
  (12)         ∇ = −e + Σ θ_m G_m α, without the ½;
  Corollary 3  L = max_m λ_max(K_m) + (2/λ) r² max_m λ_max(K_m)², r² = max ‖a‖² in the box (n C² for the hinge): the
               curvature of aᵀG a is its largest eigenvalue, not its largest diagonal entry a_g, and
               ∇²Ω* ≤ (2/λ) diag θ; plus the diagonal of a loss that has one;
  (18)         the steps go out from the start α⁰, d(α) = ½ ‖α − α⁰‖², where the paper has the solution with the mean
               kernel for α⁰ but d(α) = ½ ‖α‖²; then Theorem 4 holds as
               F(β^N) − F* ≤ 2 L ‖a* − α⁰‖² / (N + 1)², and with α⁰ = 0 as printed.
"""

from numbers import Integral
from typing import Any

import numpy as np

from ..._limits import spend
from ..._parts import declared
from ...problem import Problem
from ...solution import Solution
from .._oracle import Oracle
from ..base import BaseSolver, Control


@declared
class Nesterov(BaseSolver):
    """Accelerated gradient steps on the smooth dual.

    Parameters
    ----------
    fixed_step : bool, default False
        The method as stated in the paper, to study its bound; it takes thousands of steps.
    every : int, default 10
        The number of steps between two certificates; max_iter counts certificates.

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels import MKLClassifier
    >>> from manykernels.kernels import RBF
    >>> from manykernels.solvers import Nesterov
    >>> X = np.random.default_rng(0).normal(size=(60, 4))
    >>> y, widths = X[:, 0] + X[:, 1] ** 2 > 1, [RBF(gamma=g) for g in (0.01, 0.1, 0.5, 1.0)]
    >>> models = [MKLClassifier(widths, solver=Nesterov(every=k)).fit(X, y) for k in (5, 20)]
    >>> [model.history_[1]["steps"] for model in models]  # gradient steps between two certificates
    [5, 20]
    """

    file_tag = ("solver/nesterov", 1)
    name = "nesterov"
    needs = ("value", "conjugate", "weights_from_dual", "start")
    wants = {"smooth": "it needs a differentiable Ω*, which has kinks at p = 1: take Entropy(lam) with a small lam"}

    fixed_step: bool = False
    every: int = 10

    def refuse(self, problem: Problem) -> str | None:
        if problem.loss.interior:
            return (
                f"it needs a loss whose conjugate is quadratic in its box; that of the {problem.loss.name} loss has no "
                "bounded curvature at the edge"
            )
        return super().refuse(problem)

    def solve(self, problem: Problem, control: Control) -> Solution:
        every, warm = self.every, control.warm is not None
        if isinstance(every, bool) or not isinstance(every, Integral) or every < 1:
            raise ValueError(f"every must be a whole number of steps, at least 1, got {every!r}")
        oracle = Oracle(problem, control)
        smooth = SmoothDual(oracle)
        if self.fixed_step:
            L = smooth.lipschitz()
            return oracle.run(lambda oracle: algorithm_2(oracle, smooth, L, warm, every))
        return oracle.run(lambda oracle: adaptive(oracle, smooth, warm, every))


def start(oracle, smooth, warm):
    """The `SmoothPoint` at a warm start, or at the inner problem with uniform weights (line 2 of Algorithm 2)."""
    point = smooth.at(oracle.a if warm else oracle(oracle.theta).a)
    if warm:
        smooth.certify(point)
    return point


def algorithm_2(oracle, smooth, L, warm, every):
    """The sequences α, β, γ of the paper with the constant L."""
    point, k = start(oracle, smooth, warm), 0
    centre, total = point.a, 0.0
    while True:
        total = total + 0.5 * (k + 1) * point.gradient
        beta = smooth.step(point.a - point.gradient / L, 1 / L)
        gamma = smooth.step(centre - total / L, 0.25 * (k + 1) * (k + 2) / L)
        if (k + 1) % every == 0:
            smooth.certify(smooth.at(beta), steps=k + 1, lipschitz=L)
        tau, k = 2 / (k + 3), k + 1
        point = smooth.at(tau * gamma + (1 - tau) * beta)


def adaptive(oracle, smooth, warm, every):
    """The same steps with two sequences, a line search for L and restarts (O'Donoghue and Candès 2015)."""
    here = last = start(oracle, smooth, warm)
    L, t, k = smooth.curvature(here), 1.0, 0
    while True:
        t_next = 0.5 * (1 + np.sqrt(1 + 4 * t * t))
        w = (t - 1) / t_next
        ahead = here if w == 0 else smooth.at(here.a + w * (here.a - last.a), here.P + w * (here.P - last.P))
        while True:
            x = smooth.step(ahead.a - ahead.gradient / L, 1 / L)
            new, move = smooth.at(x), x - ahead.a
            share = smooth.bend(ahead, new, move) / max(0.5 * L * float(np.sum(move * move)), 1e-300)
            if not share > 1 or not move.any():
                break
            L *= max(1.5, min(share, 10.0))
        t = t_next if np.sum((ahead.a - x) * (x - here.a)) <= 0 else 1.0  # uphill: forget the momentum
        last, here, k = here, new, k + 1
        L *= 0.8 if share < 0.5 else 1.0
        if k % every == 0:
            smooth.certify(here, steps=k, lipschitz=L)


@declared
class SmoothPoint:
    """F without the kinks at a (T, n): its value, gradient and weights."""

    a: Any
    P: Any
    theta: Any
    value: Any
    gradient: Any


class SmoothDual:
    """linear·a + ½ diagonal·a² + Ω*(½ q(a)) over the boxes of the T outputs."""

    def __init__(self, oracle):
        self.oracle, self.problem, self.kernels = oracle, oracle.problem, oracle.kernels
        self.regularizer = self.problem.regularizer
        bank, self.memory = self.problem.bank, None
        if bank.dtype == np.float64 or oracle.tol >= 1e-4:  # many passes: in memory if that is exact enough
            self.memory = bank.restrict(np.arange(oracle.n), self.kernels)
        parts = ((inner.lo, inner.hi, inner.linear, inner.diagonal, inner.kink) for inner in oracle.inners)
        self.lo, self.hi, self.linear, self.diagonal, self.kink = map(np.array, zip(*parts, strict=True))

    def products(self, a):
        if self.memory is None:
            return self.oracle.products(a)
        support = np.flatnonzero(a.any(axis=0))
        return self.memory.products(a[:, support], support)

    def certify(self, point, **extra):
        self.oracle.certify(point.theta, point.a, **extra)  # not from P, whose rounding adds up over many steps

    def at(self, a, P=None):
        """The `SmoothPoint` at a, where P (T, M', n) are the products K_m a if they are known."""
        spend(100.0 + 1e-3 * len(self.kernels) * a.size * a.shape[1] * (P is None))
        P = self.products(a) if P is None else P
        s = 0.5 * np.maximum(np.einsum("tmi,ti->m", P, a), 0.0)
        theta = self.regularizer.weights_from_dual(s)
        conjugate = float(s @ theta) - self.regularizer.value(theta)  # θ attains the maximum
        value = float(np.sum((self.linear + 0.5 * self.diagonal * a) * a)) + conjugate
        gradient = np.einsum("m,tmi->ti", theta, P) + self.linear + self.diagonal * a
        return SmoothPoint(a, P, theta, value, gradient)

    def bend(self, old, new, move):
        """F(new) − F(old) − ⟨∇F(old), move⟩, or a bound of it if rounding hides it."""
        bend = new.value - old.value - float(np.sum(old.gradient * move))
        if abs(bend) > 1e-9 * (abs(old.value) + abs(new.value)):
            return bend
        return 0.5 * float(np.sum((new.gradient - old.gradient) * move))

    def step(self, z, weight):
        """argmin over the box (, Σ x = total) of ½ ‖x − z‖² + weight · kink·|x|, (T, n)."""
        total = self.problem.loss.total if self.problem.intercept else None
        return np.array([prox(*part, total) for part in zip(z, weight * self.kink, self.lo, self.hi, strict=True)])

    def curvature(self, point):
        """A first L: the largest diagonal entry at the present weights."""
        own = point.theta @ self.problem.bank.diagonals()[self.kernels]
        return max(float(np.max(own + self.diagonal)), 1e-12)

    def lipschitz(self):
        """L = max λ_max(K_m) + (2/lam) r² max λ_max(K_m)² + max diagonal, r² = max ‖a‖² in the box."""
        if self.regularizer.conjugate_bend is None:
            raise ValueError(
                f"fixed_step=True has a constant L for Entropy(lam) only, not for {self.regularizer!r}: use "
                "regularizer=Entropy(1.0), or solver='nesterov', which searches its steps"
            )
        r2 = float(np.sum(np.maximum(self.lo**2, self.hi**2)))
        if not np.isfinite(r2):
            raise ValueError(
                f"fixed_step=True needs a bounded box, and that of the {self.problem.loss.name} loss is not: use "
                "solver='nesterov', which searches its steps"
            )
        top = max(self._largest_eigenvalue(m) for m in self.kernels)
        return top + self.regularizer.conjugate_bend * r2 * top**2 + float(self.diagonal.max())

    def _largest_eigenvalue(self, m):
        from scipy.linalg import eigvalsh

        n, bank = self.problem.bank.n, self.problem.bank
        K = bank.combined(np.eye(1, bank.M, m)[0], dtype=np.float64)
        return float(eigvalsh(K, subset_by_index=[n - 1, n - 1])[0])


def prox(z, kink, lo, hi, total):
    """argmin over lo ≤ x ≤ hi (, Σ x = total) of ½ ‖x − z‖² + kink·|x|: x(ν) = clip(soft(z − ν)), Newton on ν."""
    nu, low, high = 0.0, -np.inf, np.inf
    for _ in range(200):
        spend(25.0)
        w = z - nu
        x = np.clip(np.sign(w) * np.maximum(np.abs(w) - kink, 0.0), lo, hi)
        if total is None:
            return x
        excess = x.sum() - total
        if abs(excess) <= 1e-14 * (abs(total) + np.abs(x).sum()):
            break
        low, high = (nu, high) if excess > 0 else (low, nu)
        moving = np.count_nonzero((x > lo) & (x < hi) & (np.abs(w) > kink))
        new = nu + excess / moving if moving else np.nan
        if not low < new < high:
            reach = np.sign(excess) * max(1.0, 2 * np.abs(z).max())
            new = 0.5 * (low + high) if np.isfinite(low + high) else nu + reach
            if new in (low, high):
                break
        nu = new
    return x
