"""The primal problem as a conic program in cvxpy, solved by Clarabel: independent of the package."""

import contextlib
import warnings

import cvxpy as cp
import numpy as np

LOSSES = {  # V(y, f), elementwise
    "hinge": lambda y, f: cp.pos(1 - cp.multiply(y, f)),
    # min over v ≥ 0 of (1 − z + v)²: Clarabel stalls on the square of a positive part
    "squared_hinge": lambda y, f: cp.square(1 - cp.multiply(y, f) + cp.Variable(f.shape, nonneg=True)),
    "smooth_hinge": lambda y, f, sigma=10.0: cp.logistic(sigma * (1 - cp.multiply(y, f))) / sigma,
    "logistic": lambda y, f: cp.logistic(-cp.multiply(y, f)),
    "squared": lambda y, f: cp.square(y - f),
    "epsilon_insensitive": lambda y, f, epsilon=0.1: cp.pos(cp.abs(y - f) - epsilon),
    "huber": lambda y, f, delta=1.35: cp.huber(y - f, delta) / 2,
    "one_class": lambda y, f: cp.pos(-f),
}


def solve_conic(Ks, y, loss, p, C=1.0, intercept=True, sample_weight=None, nu=0.5, **params):
    """min C Σ w V(y, f + b) + ½ Σ_m ‖f_m‖²/θ_m over f_m, b, ‖θ‖_p ≤ 1: the objective, theta, f = Σ f_m and b.

    The weights are minimised out: ½ ‖(‖f_m‖)_m‖_r² with r = 2p/(p + 1), f_m = L_m β_m, K_m = L_m L_mᵀ.
    Y of shape (T, n) shares θ among T outputs. For one_class, C w is w/(ν Σw) and + b is added.
    """
    Y = np.atleast_2d(np.asarray(y, dtype=float))
    T, n = Y.shape
    w = np.broadcast_to(1.0 if sample_weight is None else sample_weight, (T, n))
    c = C * w if loss != "one_class" else w / (nu * w.sum(axis=1, keepdims=True))
    factors = [_factor(K) for K in Ks]
    betas = [cp.Variable((L.shape[1], T)) for L in factors]
    f = sum(L @ beta for L, beta in zip(factors, betas, strict=True))  # (n, T)
    b = cp.Variable((1, T))
    norms = cp.hstack([cp.norm(beta, "fro") for beta in betas])
    s, constraints = _block_norm(norms, 2.0 if p == np.inf else 2 * p / (p + 1))
    risk = cp.sum(cp.multiply(c.T, LOSSES[loss](Y.T, f + np.ones((n, 1)) @ b, **params)))
    extra = cp.sum(b) if loss == "one_class" else 0
    if not intercept:
        constraints.append(b == 0)
    problem = cp.Problem(cp.Minimize(risk + extra + 0.5 * cp.square(s)), constraints)
    _solve(problem)
    theta = norms.value ** (2 / (p + 1))
    theta = np.ones(len(Ks)) if p == np.inf else theta / np.sum(theta**p) ** (1 / p)
    shape = (lambda v: v) if np.ndim(y) == 2 else (lambda v: v[0])
    return {"objective": problem.value, "theta": theta, "f": shape(f.value.T), "b": shape(b.value[0])}


CAREFUL = {
    "max_iter": 500,
    "max_step_fraction": 0.95,
    "iterative_refinement_max_iter": 50,
    "iterative_refinement_reltol": 1e-15,
    "iterative_refinement_abstol": 1e-15,
}


def _solve(problem):
    """Solves to the tightest tolerance that rounding lets Clarabel prove."""
    for tol in (1e-10, 1e-9, 1e-8):
        with contextlib.suppress(cp.SolverError), warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Solution may be inaccurate")
            problem.solve(cp.CLARABEL, tol_gap_abs=tol, tol_gap_rel=tol, tol_feas=tol, **CAREFUL)
            if problem.status == cp.OPTIMAL:
                return
    raise cp.SolverError(f"the oracle stopped with status {problem.status}")


def _factor(K):
    """L with L Lᵀ = K."""
    values, vectors = np.linalg.eigh(K)
    keep = values > 1e-12 * values[-1]
    return vectors[:, keep] * np.sqrt(values[keep])


def _block_norm(t, r):
    """A variable s and the constraints of ‖t‖_r ≤ s, by power cones: t_m ≤ u_m^{1/r} s^{1−1/r}, Σ u = s."""
    s = cp.Variable(nonneg=True)
    if r in (1.0, 2.0):
        return s, [cp.norm(t, int(r)) <= s]
    u, v = cp.Variable(t.shape), cp.Variable(t.shape)
    return s, [t <= v, cp.sum(u) <= s, cp.PowCone3D(u, s * np.ones(t.shape), v, 1 / r)]
