"""Projections and proximal steps of ℓp norms and their mixtures: monotone equations in one multiplier, by Newton."""

import numpy as np
from numba import njit

from . import OPTIONS

compiled = njit(cache=OPTIONS["cache"], nogil=True, error_model="numpy")


@compiled
def project(z, p):
    """argmin ½‖x − z‖² over x ≥ 0, ‖x‖_p ≤ 1, for z ≥ 0 outside the ball.

    Solves x_i + μ x_i^{p−1} = z_i, Σ x_i^p = 1 in logarithms relative to z_max: with t = ln x,
    l = ln(z / z_max), ρ = ln(μ / z_max), each coordinate is the root of the convex, nearly linear
        F(t) = ln(e^{t − ln z_max} + e^{ρ + (p−1)t}) = l ,
    and the unknown is τ = t of the largest coordinate, which gives ρ and bounds every other t.
    """
    M, top, q = len(z), z.max(), p - 1.0
    L, tol = np.log(top), 1e-9 / max(1.0, p - 1.0)
    level, t, rate = np.empty(M), np.zeros(M), np.zeros(M)
    total = 0.0
    for i in range(M):
        # log1p keeps the digits of ratios near one, which 1/(p-1) magnifies
        level[i] = np.log1p((z[i] - top) / top) if z[i] > 0.5 * top else np.log(z[i]) - L
        total += np.exp(p / q * level[i])
    lo, hi = -np.log(M) / p, min(0.0, L)
    tau = min(max(-np.log(total) / p, lo), hi)
    moved = 0.0
    for iteration in range(100):
        share = min(np.exp(tau - L), 1.0 - 2.0**-53)
        rho = np.log1p(-share) - q * tau
        # −dt/dρ of the largest: the rates are dt_i/dτ
        rate_top = (1.0 - share) / (share + (1.0 - share) * q)
        total, change = 0.0, 0.0
        for i in range(M):
            upper = min(level[i] + L, (level[i] - rho) / q)
            if upper < -50.0:
                t[i], rate[i] = upper, 0.0
                continue
            x = min(upper, t[i] + rate[i] * moved) if iteration and t[i] > -50.0 else upper
            for _ in range(60):
                u, v = x - L, rho + q * x
                small = np.exp(-abs(u - v))
                w = (1.0 if u > v else small) / (1.0 + small)
                slope = w + (1.0 - w) * q
                step = (max(u, v) + np.log1p(small) - level[i]) / slope
                x = min(x - step, upper)
                if abs(step) <= tol:
                    break
            t[i] = x
            mass = np.exp(p * x)
            rate[i] = (1.0 - w) / slope / rate_top
            total += mass
            change += mass * rate[i]
        excess = np.log(total) / p
        if excess > 0.0:
            hi = tau
        else:
            lo = tau
        moved = -excess * total / change
        if abs(moved) <= tol:
            break  # the last step, to first order, is exact to rounding
        if not lo < tau + moved < hi:
            moved = 0.5 * (lo + hi) - tau
        tau += moved
    return np.exp(t + rate * moved)


@compiled
def power_root(y, w, q):
    """The root x ≥ 0 of x + w x^q = y for y ≥ 0, w ≥ 0, q > 0: Newton on ln x from above, where it is monotone."""
    if y <= 0.0 or w <= 0.0:
        return max(y, 0.0)
    if q == 1.0:
        return y / (1.0 + w)
    level, rho = np.log(y), np.log(w)
    t = min(level, (level - rho) / q)
    for _ in range(60):
        v = rho + q * t
        small = np.exp(-abs(t - v))
        share = (1.0 if t > v else small) / (1.0 + small)
        step = (max(t, v) + np.log1p(small) - level) / (share + (1.0 - share) * q)
        t -= step
        if abs(step) <= 1e-9:
            break
    return np.exp(t)


@compiled
def power_roots(y, w, q):
    """`power_root` of every entry of y, (M,)."""
    x = np.empty(len(y))
    for i in range(len(y)):
        x[i] = power_root(y[i], w, q)
    return x


@compiled
def prox_squared_norm(z, w, p):
    """argmin over x ≥ 0 of ½‖x − z‖² + (w/2)‖x‖_p² for z ≥ 0, z ≠ 0, w > 0, 1 < p < inf.

    x = y/κ with y + w y^{p−1} = κ z and Σ y^p = 1: a root in ln κ, by Newton steps inside a bracket.
    """
    M, top, q = len(z), z.max(), p - 1.0
    x = z / top
    y = np.empty(M)
    lo, hi = -np.inf, np.inf
    u = np.log(M ** (-1.0 / p) + w * M ** (-q / p))  # exact where all z are equal
    for _ in range(200):
        total, change, kappa = 0.0, 0.0, np.exp(u)
        for i in range(M):
            y[i] = power_root(kappa * x[i], w, q)
            if y[i] > 0.0:
                mass = y[i] ** p
                total += mass
                change += mass * p * kappa * x[i] / (y[i] + w * q * y[i] ** q)
        if not total > 0.0:
            lo, step = u, 1.0
        else:
            excess = np.log(total)
            if excess > 0.0:
                hi = u
            else:
                lo = u
            step = -excess / change * total
            if abs(step) <= 1e-14 * max(1.0, abs(u)):
                break
        if not lo < u + step < hi:
            if lo == -np.inf or hi == np.inf:
                step = 2.0 if hi == np.inf else -2.0
            else:
                step = 0.5 * (lo + hi) - u
                if step == 0.0 or u + step == lo or u + step == hi:
                    break
        u += step
    return y * (top * np.exp(-u))


@compiled
def between(new, lo, hi):
    """The new multiplier if it lies in the bracket, else one that narrows it, geometrically where it is wide."""
    if lo < new < hi:
        return new
    if hi == np.inf:
        return 4.0 * lo
    return 0.5 * (lo + hi) if lo > 0.1 * hi else max(0.1 * hi, np.sqrt(lo * hi))


@compiled
def project_mixed(z, alpha, beta, p):
    """argmin ½‖x − z‖² over x ≥ 0, Σ alpha x + beta x^p ≤ 1, for z ≥ 0 outside that set; alpha, beta ≥ 0 are (M,).

    Solves x + μ(alpha + p beta x^{p−1}) = z with the constraint tight: a root in μ, by Newton on the logarithm of
    the constraint inside a bracket.
    """
    M, q = len(z), p - 1.0
    x = np.zeros(M)
    lo, hi, mu = 0.0, np.inf, 0.0
    for i in range(M):
        mu = max(mu, z[i] / (alpha[i] + p * beta[i]))
    for _ in range(200):
        total, change = 0.0, 0.0
        for i in range(M):
            w = mu * p * beta[i]
            x[i] = power_root(z[i] - mu * alpha[i], w, q)
            if x[i] > 0.0:
                power = x[i] ** q * beta[i]
                total += (alpha[i] + power) * x[i]
                change += (alpha[i] + p * power) ** 2 / (1.0 + mu * p * q * power / x[i])
        if total >= 1.0:
            lo = mu
        else:
            hi = mu
        step = np.log(total) * total / change if 0.0 < total < np.inf and change > 0.0 else np.nan
        if abs(step) <= 1e-15 * mu:
            break
        new = between(mu + step, lo, hi)
        if new == lo or new == hi:
            break
        mu = new
    return tighten(x, z, alpha, beta, p)


@compiled
def tighten(x, direction, alpha, beta, p):
    """x scaled to Σ alpha x + beta x^p = 1; where rounding left x = 0, the largest entry of `direction` has it all."""
    if not x.max() > 0.0:
        x = np.zeros(len(x))
        x[np.argmax(direction)] = 1.0
    x = x / x.max()
    linear, power = np.sum(alpha * x), np.sum(beta * x**p)
    u = min(-np.log(linear), -np.log(power) / p)  # ln of the scale, from above: the logarithm is convex in u
    for _ in range(60):
        first, second = linear * np.exp(u), power * np.exp(p * u)
        step = np.log(first + second) * (first + second) / (first + p * second)
        u -= step
        if abs(step) <= 1e-15:
            break
    return x * np.exp(u)


@compiled
def support_mixed(s, alpha, beta, p):
    """argmax ⟨x, s⟩ over x ≥ 0, Σ alpha x + beta x^p ≤ 1, and the multiplier μ, for max s = 1, beta > 0, p > 1.

    x^{p−1} = (s − μ alpha)₊ / (μ p beta): a root in μ as in `project_mixed`.
    """
    M, q = len(s), p - 1.0
    x = np.zeros(M)
    lo, hi, mu = 0.0, np.inf, 0.0
    for i in range(M):
        mu = max(mu, s[i] / (alpha[i] + p * beta[i]))
        if alpha[i] > 0.0 and s[i] > 0.0:
            hi = max(0.0 if hi == np.inf else hi, s[i] / alpha[i])
    for _ in range(200):
        total, change = 0.0, 0.0
        for i in range(M):
            rest = s[i] - mu * alpha[i]
            x[i] = (rest / (mu * p * beta[i])) ** (1.0 / q) if rest > 0.0 else 0.0
            if x[i] > 0.0:
                power = x[i] ** q * beta[i]
                total += (alpha[i] + power) * x[i]
                change += (alpha[i] + p * power) * x[i] / q * (alpha[i] / rest + 1.0 / mu)
        if total >= 1.0:
            lo = mu
        else:
            hi = mu
        step = np.log(total) * total / change if 0.0 < total < np.inf and change > 0.0 else np.nan
        if abs(step) <= 1e-15 * mu:
            break
        new = between(mu + step, lo, hi)
        if new == lo or new == hi:
            break
        mu = new
    return x, mu


@compiled
def balance_mixed(norms, alpha, beta, p):
    """argmin ½ Σ norms²/x over Σ alpha x + beta x^p ≤ 1, for norms ≥ 0, not all 0.

    x²(alpha + p beta x^{p−1}) = norms²·e^{−ρ}, a convex equation in ln x, with the constraint tight: a root in ρ.
    """
    M, q = len(norms), p - 1.0
    x, t = np.zeros(M), np.zeros(M)
    level = 2.0 * np.log(norms / norms.max())
    rho = 0.0
    for _ in range(100):
        total, change = 0.0, 0.0
        for i in range(M):
            if norms[i] <= 0.0:
                continue
            for _ in range(60):
                power = p * beta[i] * np.exp(q * t[i])
                slope = 2.0 + q * power / (alpha[i] + power)
                step = (2.0 * t[i] + np.log(alpha[i] + power) + rho - level[i]) / slope
                t[i] -= step
                if abs(step) <= 1e-12 * max(1.0, abs(t[i])):
                    break
            x[i] = np.exp(t[i])
            first, second = alpha[i] * x[i], beta[i] * np.exp(p * t[i])
            total += first + second
            change += (first + p * second) / slope
        step = np.log(total) * total / change
        rho += step
        if abs(step) <= 1e-14 * max(1.0, abs(rho)):
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
