"""Projected Newton steps on the weights, around a warm-started inner problem: the default for implicit kernels.

    J(θ) = min over f, b of Σ c V + ½ Σ ‖f_m‖² / θ_m ;   minimise J(θ) + Ω(θ)

∇J = −½ q with q_m = aᵀK_m a, and ∇²J = B P Bᵀ, where row m of B is (K_m a) on the free support vectors and P is the
free block of the inverse of their KKT matrix. Each step minimises a model plus Ω, `regularizer.minimise`: first the
quadratic one, then others around its minimiser, with the curvature of q for a kernel that acts alone,

    a ∝ 1 / (λ + θ_m μ) , so that q_m^{−½} is linear in θ :   q_m(x) = q_m / (1 + (H (x − θ))_m / q_m)²
"""

from contextlib import nullcontext, suppress

import numpy as np

from ..inner.systems import blas_for
from ..problem import Problem
from ..solution import Solution
from ._wrapper import Wrapper
from .base import BaseSolver, Control

MAX_MODELS = 6  # of one step; they cost no pass over the kernels
USUAL_STEPS = 12
MAX_GROWTH = 4.0  # of a q_m that a model may predict


class Newton(BaseSolver):
    """Damped Newton steps on the weights around a warm-started inner problem, on the active examples.

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels import MKLClassifier
    >>> from manykernels.kernels import RBF
    >>> from manykernels.solvers import Newton
    >>> X = np.random.default_rng(0).normal(size=(60, 4))
    >>> y, widths = X[:, 0] + X[:, 1] ** 2 > 1, [RBF(gamma=g) for g in (0.01, 0.1, 0.5, 1.0)]
    >>> model = MKLClassifier(widths, solver=Newton(), tol=1e-8).fit(X, y)
    >>> bool(model.duality_gap_ <= 1e-8), model.n_iter_ <= 6
    (True, True)
    """

    file_tag = ("solver/newton", 1)
    name = "newton"
    adjusts = coupled = True
    needs = ("value", "conjugate", "prox", "minimise", "start")

    def expected_work(self, problem: Problem, tol: float) -> float:
        n, held, regularizer = problem.bank.n, problem.bank.numeric(), problem.regularizer
        D = problem.bank.M if held is None else held[0].shape[1]
        slopes = np.arange(1.0, len(problem.kernels) + 1)
        known = regularizer.has("weights_from_norms") and np.ptp(regularizer.weights_from_norms(slopes)) == 0
        return (2 if known else USUAL_STEPS) * (3e3 + 2e-4 * n * n * (n + D))  # known: a plain sum of kernels

    def solve(self, problem: Problem, control: Control) -> Solution:
        return Wrapper(problem, NewtonStep(), control).solve()


class LocalModel:
    """⟨g, x − θ⟩ + ½ ‖Z (x − θ)‖² + ½ Σ damping_m (x_m − θ_m)²: the local model of J."""

    def __init__(self, gradient, Z, damping=0.0):
        self.gradient, self.Z = gradient, np.asarray(Z, np.float64)
        self.damping = np.zeros(len(gradient)) + damping
        self.H = self.Z.T @ self.Z if len(self.Z) > len(gradient) else None

    def ratio(self, move):
        """√(q(θ) / q(θ + move)), (M,), by the formula above; for a model without damping, like the next two."""
        q = -2.0 * self.gradient
        change = np.divide(self.multiply(move), q, out=np.zeros_like(q), where=q > 0)
        return np.maximum(1.0 + change, MAX_GROWTH**-0.5)

    def change(self, move):
        """J(θ + move) − J(θ): the integral of −½ q along the move."""
        return float(self.gradient @ (move / self.ratio(move)))

    def around(self, move, damping):
        """The model at θ + move, damped towards θ."""
        ratio = self.ratio(move)
        return LocalModel(self.gradient / ratio**2 + damping * move, self.Z * ratio**-0.75, damping)

    @property
    def diagonal(self):
        return np.einsum("km,km->m", self.Z, self.Z) + self.damping

    def multiply(self, v):
        return (self.Z.T @ (self.Z @ v) if self.H is None else self.H @ v) + self.damping * v

    def block(self, index):
        if self.H is None:
            Z = self.Z[:, index]
            H = Z.T @ Z
        else:
            H = self.H[np.ix_(index, index)]
        return H + np.diag(self.damping[index])


class NewtonStep:
    """Minimises the local model, damped in the metric 1/θ; a model that predicted too much gets more damping."""

    patience = 20
    cuts = True  # bound the optimum if single steps do not

    def __init__(self, closed_first=True, bends=MAX_MODELS):
        self.level, self.first, self.bends, self.blas = 0.0, closed_first, bends, nullcontext()

    def propose(self, state):
        """The minimiser of the local model, (M',); moves state.a to the predicted solution of the inner problem.

        For a penalty the closed form makes the first step, which finds the size of the weights.
        """
        regularizer, first = state.problem.regularizer, self.first
        self.first = False
        if first and not regularizer.constraint and regularizer.has("weights_from_norms"):
            self.promise = 0.0
            return regularizer.weights_from_norms(state.theta * np.sqrt(np.maximum(state.q, 0.0)))
        self.blas = blas_for(len(state.support), state.problem.bank.n_jobs, len(state.theta))
        with self.blas:
            return self._propose(state)

    def _propose(self, state):
        halves = []
        for inner, a, P in zip(state.inners, state.a, state.products, strict=True):
            free, half = inner.free(a), None
            if free.sum() > 1:
                with suppress(np.linalg.LinAlgError):
                    B = P[:, free[state.support]]
                    half = inner.half_hessian(state.K, free, B)
            halves.append(half)
        Z = [half.Z for half in halves if half is not None] or [np.zeros((1, len(state.theta)))]
        model = LocalModel(-0.5 * state.q, np.vstack(Z))
        theta = self.aim(model, state.theta, state.problem.regularizer, state.tolerance)
        for inner, a, half in zip(state.inners, state.a, halves, strict=True):
            if half is not None and not inner.loss.interior:
                guess = a.copy()
                guess[half.index] += half.response(theta - self.theta)
                guess = inner.repair(np.clip(guess, inner.lo, inner.hi), inner.sums(a))
                if guess is not None:
                    a[:] = guess
        return theta

    def aim(self, model, theta, regularizer, tolerance):
        """The weights that minimise a `LocalModel` of J around θ, plus Ω."""
        self.model, self.theta, self.regularizer, self.tolerance = model, theta, regularizer, tolerance
        return self._minimise()

    def _minimise(self):
        """The minimiser of the quadratic model, then of models around it, until they gain nothing or fail."""
        regularizer, model = self.regularizer, self.model
        metric = 1.0 / (self.theta + 0.1 / len(self.theta))
        damping, x, value, last = self.level * metric, self.theta, regularizer.value(self.theta), np.inf
        for k in range(self.bends):
            local = model.around(x - self.theta, damping) if k else LocalModel(model.gradient, model.Z, damping)
            target = regularizer.minimise(local, x, self.tolerance, 50 if k else 500)
            step, omega = target - x, regularizer.value(target)
            gain = value - omega - step @ (local.gradient + 0.5 * local.multiply(step))
            if k and not gain < last:
                break
            x, value, last = target, omega, gain
            if gain <= self.tolerance:
                break
        move = x - self.theta
        self.size = float(metric @ move**2)
        change = model.change(move) if self.bends > 1 else move @ (model.gradient + 0.5 * model.multiply(move))
        self.promise = regularizer.value(self.theta) - value - change - 0.5 * self.level * self.size
        return x

    def judge(self, decrease):
        """Whether the decrease agrees with the prediction; sets the damping of the next step."""
        if self.promise <= 0:
            return True
        ratio = decrease / max(self.promise, 1e-300)
        if ratio < 0.5:
            self.level = max(8 * self.level, 0.5 * self.promise / max(self.size, 1e-300))
        elif ratio > 0.8:
            self.level *= 0.1
        return ratio > 0

    def retry(self):
        """A shorter step from the same point."""
        with self.blas:
            return self._minimise()
