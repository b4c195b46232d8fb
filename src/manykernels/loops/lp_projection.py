"""The Euclidean projection on the nonnegative part of the unit ℓp ball, 1 < p < inf."""

import numpy as np
from numba import njit


@njit(cache=True, nogil=True, error_model="numpy")
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
