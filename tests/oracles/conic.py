"""The primal problem as a conic program in cvxpy, solved by Clarabel: independent of the package."""

import contextlib
import itertools
import warnings
from numbers import Real

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
    "quantile": lambda y, f, q=0.5: cp.maximum(q * (y - f), (1 - q) * (f - y)),
    "poisson": lambda y, f: cp.exp(f) - cp.multiply(y, f) + y * np.log(np.maximum(y, 1e-300)) - y,
    "log_time": lambda y, f, epsilon=0.1: cp.pos(
        cp.maximum(np.log(np.abs(y)) - f, cp.multiply(y > 0, f - np.log(np.abs(y)))) - epsilon
    ),
    "one_class": lambda y, f: cp.pos(-f),
    "level_set": lambda y, f: cp.pos(1 - f),
}

WEIGHTS = {  # Ω(θ) as a penalty and constraints on an explicit θ ≥ 0, by the name of the regularizer
    "ElasticNet": lambda o, t: (0, [o.v * cp.sum(t) + (1 - o.v) * cp.sum_squares(t) <= 1]),
    "MixedNorm": lambda o, t: (0, [o.v * cp.sum(t) + (1 - o.v) * cp.sum(powers(t, o.p)) <= 1]),
    "WeightedLpNorm": lambda o, t: (0, [o.weights @ powers(t, o.p) <= 1]),
    "GroupNorm": lambda o, t: (
        0,
        [cp.pnorm(cp.hstack([cp.norm(t[np.flatnonzero(o.groups == g)]) for g in np.unique(o.groups)]), o.p) <= 1],
    ),
    "Ball": lambda o, t: (0, [cp.norm(t - o.center) <= o.radius]),
    "NonIsotropic": lambda o, t: (0, [cp.norm(np.linalg.inv(np.linalg.cholesky(o.E)) @ t) <= 1]),
    "Entropy": lambda o, t: (-0.5 * o.lam * cp.sum(cp.entr(t)), [cp.sum(t) == 1]),
    "LpPenalty": lambda o, t: _squared_norm(t, o.p, o.mu),
    "LpSum": lambda o, t: (cp.sum(powers(t, o.p)) / (2 * o.p), []),
    "Wedge": lambda o, t: (0.5 * cp.sum(t), [cp.diff(t) <= 0]),
}

BLOCKS = {  # a penalty in the norms ‖f_m‖ and its constraints
    "BlockElasticNet": lambda o, n: ((1 - o.lam) * cp.sum(n) + o.lam / 2 * cp.sum_squares(n), []),
    "Fixed": lambda o, n: (cp.sum(cp.multiply(0.5 / o.weights, cp.square(n))), []),
    "BlockNorm": lambda o, n: _squared_norm(n, o.q, 1.0),
    "BlockSum": lambda o, n: (cp.sum(powers(n, o.q)) / o.q, []),
}


def solve_conic(Ks, y, loss, p, C=1.0, intercept=True, sample_weight=None, nu=0.5, covariates=None, **params):
    """min C Σ w V(y, f + b) + ½ Σ_m ‖f_m‖²/θ_m + Ω(θ) over f_m, b, θ: the objective, and theta where p is a number.

    p is a number, for ‖θ‖_p ≤ 1, or a regularizer that WEIGHTS or BLOCKS knows; f_m = L_m β_m with K_m = L_m L_mᵀ.
    Y of shape (T, n) shares θ among T outputs. For one_class, C w is w/(ν Σw) and + b is added; level_set has no b.
    Covariates Z (n, q) add Z w with free w.
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
    penalty, constraints = _penalty(p, betas, norms)
    level = 0 if loss in COUPLED else np.ones((n, 1)) @ b
    if covariates is not None:
        w = cp.Variable((covariates.shape[1], T))
        level = level + covariates @ w
    if loss in COUPLED:
        parts = enumerate(zip(Y, c, strict=True))
        risk = sum(COUPLED[loss](y_t, c_t, (f + level)[:, t], **params) for t, (y_t, c_t) in parts)
    else:
        risk = cp.sum(cp.multiply(c.T, LOSSES[loss](Y.T, f + level, **params)))
    extra = cp.sum(b) if loss == "one_class" else 0
    if not intercept or loss in ("level_set", *COUPLED):
        constraints = [*constraints, b == 0]
    problem = cp.Problem(cp.Minimize(risk + extra + penalty), constraints)
    prove(problem, use_quad_obj=loss != "ranking")  # power cones beside many squares: cones alone are more precise
    found = {"objective": problem.value} | ({"theta": _lp_weights(norms.value, p)} if isinstance(p, Real) else {})
    return found if covariates is None else found | {"w": w.value.T if np.ndim(y) == 2 else w.value[:, 0]}


def cox(y, c, f, ties="efron"):
    """Minus the logarithm of the partial likelihood, from its definition, less that of a perfect order."""
    time, event, stratum = np.abs(y), ~np.signbit(y), np.floor(np.abs(y) / 2.0**40)
    risk = 0
    for at in np.unique(time[event]):
        alive, dead = (time >= at) & (stratum == np.floor(at / 2.0**40)), (time == at) & event
        count, weight = dead.sum(), c[dead].sum()
        for k in range(count):
            left = 1 - k / count if ties == "efron" else 1.0
            sums = cp.log_sum_exp(f[alive] + np.log(np.where(dead, left * c, c)[alive]))
            risk += weight / count * (sums - np.log(left * weight))
        risk -= c[dead] @ f[dead]
    return risk


def ranking(y, c, f):
    """The squared hinge of every pair whose order is known, from its definition."""
    time, event, stratum = np.abs(y), ~np.signbit(y) & (c > 0), np.floor(np.abs(y) / 2.0**40)
    risk = 0
    for s in np.unique(stratum):
        own = [
            (i, j)
            for i in np.flatnonzero(event & (stratum == s))
            for j in np.flatnonzero((stratum == s) & (c > 0))
            if time[i] < time[j] or time[i] == time[j] and not event[j]
        ]
        if own:
            i, j = np.array(own).T
            w = c[i] * c[j] * (c[np.unique(i)].sum() / np.sum(c[i] * c[j]))
            risk += cp.sum_squares(cp.multiply(np.sqrt(w), cp.pos(1 - f[i] + f[j])))
    return risk


COUPLED = {"cox": cox, "ranking": ranking}


def _penalty(p, betas, norms):
    """½ Σ ‖f_m‖²/θ_m + Ω(θ), and its constraints."""
    name = type(p).__name__
    if isinstance(p, Real) or name == "LpNorm":  # the weights are minimised out: ½ ‖norms‖_r² with r = 2p/(p + 1)
        p = p if isinstance(p, Real) else p.p
        return _squared_norm(norms, 2.0 if p == np.inf else 2 * p / (p + 1), 1.0)
    if name in BLOCKS:
        return BLOCKS[name](p, norms)
    theta, ratios = cp.Variable(len(betas), nonneg=True), cp.Variable(len(betas))  # ‖f_m‖²/θ_m, also where both are 0
    omega, constraints = WEIGHTS[name](p, theta)
    above = [cp.quad_over_lin(beta, theta[m]) <= ratios[m] for m, beta in enumerate(betas)]
    return cp.sum(ratios) / 2 + omega, [*constraints, *above]


def _lp_weights(norms, p):
    theta = np.maximum(norms, 0.0) ** (2 / (p + 1))
    return np.ones(len(norms)) if p == np.inf else theta / np.sum(theta**p) ** (1 / p)


CAREFUL = {
    "max_iter": 500,
    "max_step_fraction": 0.95,
    "iterative_refinement_max_iter": 50,
    "iterative_refinement_reltol": 1e-15,
    "iterative_refinement_abstol": 1e-15,
}


def prove(problem, **options):
    """Solves to the tightest tolerance, at most 1e-8, that rounding lets Clarabel prove, or raises an error.

    Squares stay in the objective, or, where that proves nothing, become cones; then the data keep their scale.
    """
    forms = (options, {"use_quad_obj": False}, {"equilibrate_enable": False}, {"max_step_fraction": 0.8})
    for form, tol in itertools.product(forms, (1e-10, 1e-9, 1e-8)):
        with contextlib.suppress(cp.SolverError), warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Solution may be inaccurate")
            problem.solve(cp.CLARABEL, tol_gap_abs=tol, tol_gap_rel=tol, tol_feas=tol, **CAREFUL | form)
            if problem.status == cp.OPTIMAL:
                return
    raise cp.SolverError(f"the oracle stopped with status {problem.status}")


def _factor(K):
    """L with L Lᵀ = K."""
    values, vectors = np.linalg.eigh(K)
    keep = values > 1e-12 * values[-1]
    return vectors[:, keep] * np.sqrt(values[keep])


def powers(t, p):
    """t^p for t ≥ 0, elementwise."""
    return t if p == 1 else cp.square(t) if p == 2 else cp.power(t, p, approx=False)


def _squared_norm(t, r, scale):
    """(scale/2) ‖t‖_r² for t ≥ 0 and its constraints, by cones: t_m ≤ u_m^{1/r} s^{1−1/r}, Σ u = s."""
    s = cp.Variable(nonneg=True)
    if r in (1.0, 2.0, np.inf):
        return scale / 2 * cp.square(s), [cp.norm(t, "inf" if r == np.inf else int(r)) <= s]
    u, v = cp.Variable(t.shape), cp.Variable(t.shape)
    if r == 4 / 3:  # v² ≤ u w and w² ≤ u s: squares alone, of which Clarabel proves more digits
        w = cp.Variable(t.shape, nonneg=True)
        pairs = [cp.quad_over_lin(v[m], w[m]) <= u[m] for m in range(t.size)]
        pairs += [cp.quad_over_lin(w[m], s) <= u[m] for m in range(t.size)]
        return scale / 2 * cp.square(s), [t <= v, cp.sum(u) <= s, *pairs]
    cones = cp.PowCone3D(u, s * np.ones(t.shape), v, 1 / r)
    return scale / 2 * cp.square(s), [t <= v, cp.sum(u) <= s, cones]
