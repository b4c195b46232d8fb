"""Projections and proximal steps of ℓp norms and their mixtures: monotone equations in one multiplier, by Newton."""

import numpy as np
from numba import njit

from . import OPTIONS

compiled = njit(cache=OPTIONS["cache"], nogil=True, error_model="numpy")
LEAST = 1e-300  # of a multiplier


@compiled
def log_root(level, first, second, q, start):
    """The root t of ln(e^{first + t} + e^{second + q t}) = level, q > 0, by Newton, which is monotone from above.

    `start` is near it, or inf.
    """
    if level == -np.inf:
        return level
    t = min(start, level - first, (level - second) / q)
    for _ in range(60):
        u, v = first + t, second + q * t
        small = np.exp(-abs(u - v))
        share = (1.0 if u > v else small) / (1.0 + small)
        step = (max(u, v) + np.log1p(small) - level) / (share + (1.0 - share) * q)
        t -= step
        if q == 1.0 or abs(step) <= 1e-9:
            break  # the next step would be smaller than rounding
    return t


@compiled
def power_roots(y, w, q):
    """The root x ≥ 0 of x + w x^q = y for every entry of y ≥ 0, (M,); w ≥ 0, q > 0."""
    x = np.empty(len(y))
    for i in range(len(y)):
        x[i] = np.exp(log_root(np.log(y[i]), 0.0, np.log(w), q, np.inf))
    return x


@compiled
def closer(m, excess, slope, lo, hi):
    """(m, lo, hi) after a step to the root of `excess`, which increases with ln m; lo = hi at the end.

    By Newton, or to the middle of the bracket lo < m < hi.
    """
    step = excess / slope
    if abs(step) <= 1e-15:
        return m, m, m
    if excess > 0.0:
        hi = m
    else:
        lo = m
    new = m * np.exp(-step)
    if not lo < new < hi:
        new = np.sqrt(lo) * np.sqrt(hi)
    return (new, lo, hi) if lo < new < hi else (new, new, new)


@compiled
def tighten(x, direction, alpha, beta, p):
    """x scaled to Σ alpha x + beta x^p = 1; where rounding left x = 0, the largest entry of `direction` has it all."""
    if not x.max() > 0.0:
        x = np.zeros(len(x))
        x[np.argmax(direction)] = 1.0
    x = x / x.max()
    return x * np.exp(log_root(0.0, np.log(np.sum(alpha * x)), np.log(np.sum(beta * x**p)), p, np.inf))


@compiled
def boundary(z, alpha, beta, p, unit, ridge):
    """(x, μ) with (unit + μ ridge) x + μ (alpha + p beta x^{p−1}) = z where x > 0, and Σ alpha x + beta x^p = 1.

    For max z = 1; where z ≤ μ alpha, x = 0. The constraint increases with m = 1/μ.
    """
    q, x, t, m, lo, hi = p - 1.0, np.zeros(len(z)), np.full(len(z), np.inf), np.inf, LEAST, 1.0 / LEAST
    for i in range(len(z)):
        m = min(m, (alpha[i] + p * beta[i] + ridge) / z[i])
    for _ in range(200):
        total, change, linear = 0.0, 0.0, unit + ridge / m
        for i in range(len(z)):
            rest, x[i] = z[i] - alpha[i] / m, 0.0
            if rest > 0.0:
                t[i] = log_root(np.log(rest), np.log(linear), np.log(p * beta[i] / m), q, t[i])
                x[i] = np.exp(t[i])
                power = beta[i] * x[i] ** q
                total += (alpha[i] + power) * x[i]
                moved = x[i] / m * (alpha[i] + ridge * x[i] + p * power)
                change += (alpha[i] + p * power) * (moved / (linear * x[i] + q * (rest - linear * x[i])))
        m, lo, hi = closer(m, np.log(total), change / total, lo, hi)
        if lo == hi:
            break
    return x, 1.0 / m


@compiled
def project_mixed(z, alpha, beta, p):
    """argmin ½‖x − z‖² over x ≥ 0, Σ alpha x + beta x^p ≤ 1, for z ≥ 0 outside that set; alpha, beta ≥ 0 are (M,)."""
    top = z.max()
    return tighten(boundary(z / top, alpha, beta, p, 1.0 / top, 0.0)[0], z, alpha, beta, p)


@compiled
def support_mixed(s, alpha, beta, p):
    """argmax ⟨x, s⟩ over x ≥ 0, Σ alpha x + beta x^p ≤ 1, and the multiplier μ, for max s = 1, beta > 0, p > 1."""
    return boundary(s, alpha, beta, p, 0.0, 0.0)


@compiled
def prox_squared_norm(z, w, p):
    """argmin over x ≥ 0 of ½‖x − z‖² + (w/2)‖x‖_p² for z ≥ 0, z ≠ 0, w > 0, 1 < p < inf.

    x = y/κ with y + w y^{p−1} = κ z and Σ y^p = 1, where μ = w/(p κ).
    """
    top, zero, one = z.max(), np.zeros(len(z)), np.ones(len(z))
    y, mu = boundary(z / top, zero, one, p, 0.0, p / w)
    return tighten(y, z, zero, one, p) * (top * mu * p / w)


@compiled
def balance_mixed(norms, alpha, beta, p):
    """argmin ½ Σ norms²/x over Σ alpha x + beta x^p ≤ 1, for norms ≥ 0, not all 0.

    x²(alpha + p beta x^{p−1}) = m norms², where m is a root.
    """
    level, m, lo, hi = 2.0 * np.log(norms / norms.max()), 1.0, LEAST, 1.0 / LEAST
    x, t = np.zeros(len(norms)), np.full(len(norms), np.inf)
    for _ in range(200):
        total, change = 0.0, 0.0
        for i in range(len(x)):
            mass = level[i] + np.log(m)
            t[i] = log_root(mass, np.log(alpha[i]), np.log(p * beta[i]), 0.5 * p + 0.5, t[i])
            x[i] = np.exp(0.5 * t[i])
            if x[i] > 0.0:
                first, second = alpha[i] * x[i], beta[i] * x[i] ** p
                total += first + second
                change += (first + p * second) / (2.0 + (p - 1.0) * (1.0 - alpha[i] * np.exp(t[i] - mass)))
        m, lo, hi = closer(m, np.log(total), change / total, lo, hi)
        if lo == hi:
            break
    return tighten(x, norms, alpha, beta, p)


@compiled
def decreasing(x):
    """The nearest nonincreasing sequence in the least squares sense, by pooling adjacent violators."""
    M = len(x)
    mean, size = np.empty(M), np.empty(M, np.int64)
    k = -1
    for i in range(M):
        k += 1
        mean[k], size[k] = x[i], 1
        while k > 0 and mean[k] >= mean[k - 1]:
            both = size[k] + size[k - 1]
            mean[k - 1] += (mean[k] - mean[k - 1]) * (size[k] / both)
            size[k - 1] = both
            k -= 1
    out, i = np.empty(M), 0
    for j in range(k + 1):
        for _ in range(size[j]):
            out[i] = mean[j]
            i += 1
    return out
