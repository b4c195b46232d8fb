"""Projected Newton steps on the weights, around a warm-started machine: the default for implicit kernels.

    J(θ) = min over f, b of Σ c V + ½ Σ ‖f_m‖² / θ_m ;   minimise J(θ) + Ω(θ)

∇J = −½ q with q_m = aᵀK_m a, and ∇²J = B P Bᵀ, where row m of B is (K_m a) on the free support vectors and P is the
free block of the inverse of their KKT matrix. Each step minimises the quadratic model plus Ω by spectral proximal
steps, which need only `regularizer.prox`.
"""

import numpy as np

from ._machine import half_hessian
from ._wrapper import Wrapper

NEEDS = ("value", "conjugate", "prox", "start")


def solve(problem, tol, max_iter, warm=None, monitor=None):
    return Wrapper(problem, newton_step, tol, max_iter, warm, monitor).run()


def newton_step(state):
    """The minimiser of the local model, (M',)."""
    halves = []
    for machine, a, P in zip(state.machines, state.a, state.products, strict=True):
        free = machine.free(a)
        if free.sum() > 1:
            try:
                B = P[:, free[state.support]]
                halves.append(half_hessian(state.K, np.flatnonzero(free), machine.diagonal, machine.intercept, B))
            except np.linalg.LinAlgError:
                continue
    Z = np.vstack(halves) if halves else np.zeros((1, len(state.theta)))
    if len(Z) > len(state.theta):
        H = Z.T @ Z
        return minimise_model(-0.5 * state.q, lambda v: H @ v, np.diagonal(H), state)
    return minimise_model(-0.5 * state.q, lambda v: Z.T @ (Z @ v), np.einsum("km,km->m", Z, Z), state)


def minimise_model(gradient, multiply, diagonal, state, max_steps=500):
    """argmin ⟨g, x − θ⟩ + ½ (x − θ)ᵀH(x − θ) + Ω(x) by proximal steps of Barzilai–Borwein length."""
    regularizer = state.problem.regularizer
    x, gradient = state.theta.copy(), gradient.copy()
    omega = regularizer.value(x)
    step = 1.0 / max(float(diagonal.max()), 1e-12 * float(np.abs(gradient).max()), 1e-300)
    for k in range(max_steps):
        target = regularizer.prox(x - step * gradient, step)
        move = target - x
        omega_target = regularizer.value(target)
        decrease = -(float(gradient @ move) + omega_target - omega)
        curved = multiply(move)
        curvature = float(move @ curved)
        if decrease <= 0 or not np.isfinite(decrease):
            break
        t = 1.0 if curvature <= decrease else decrease / curvature
        x = x + t * move
        gradient = gradient + t * curved
        omega = regularizer.value(x) if t < 1 else omega_target
        if k > 3 and decrease < 1e-3 * state.slack:
            break
        step = float(move @ move) / curvature if curvature > 1e-300 else 10 * step
    return np.maximum(x, 0.0)
