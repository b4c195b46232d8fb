"""Norms and powers: the proximal steps that the ℓp members and the block norms share."""

import numpy as np


def norm(x, p):
    """‖x‖_p without overflow."""
    size = np.abs(x)
    top = float(np.maximum.reduce(size))  # methods such as `max` run Python, here in the innermost loop
    if p == np.inf or top == 0 or top == np.inf:
        return top
    return top * float(np.add.reduce((size / top) ** p)) ** (1 / p)


def power_prox(z, w, p):
    """argmin over x ≥ 0 of ½‖x − z‖² + (w/p) Σ x^p, 1 ≤ p < inf: x + w x^{p−1} = z."""
    z = np.maximum(np.asarray(z, dtype=float), 0.0)
    if p == 1:
        return np.maximum(z - w, 0.0)
    from ..loops.lp_projection import power_roots

    return power_roots(z, float(w), p - 1.0)


def power_prox_jacobian(x, w, p):
    """The derivative of `power_prox` in z, (M,), at its value x."""
    if p == 1:
        return (x > 0).astype(float)
    with np.errstate(divide="ignore", over="ignore"):
        return 1 / (1 + w * (p - 1) * np.asarray(x, dtype=float) ** (p - 2))


def squared_norm_prox(z, w, p):
    """argmin over x ≥ 0 of ½‖x − z‖² + (w/2) ‖x‖_p², 1 ≤ p ≤ inf."""
    z = np.maximum(np.asarray(z, dtype=float), 0.0)
    if p == 2:
        return z / (1 + w)
    if not z.max() > 0:
        return z
    if p in (1, np.inf):
        ordered, count = np.sort(z)[::-1], np.arange(1, len(z) + 1)
        sums = np.cumsum(ordered)
        if p == 1:  # x = (z − w Σx)₊
            threshold = w * sums / (1 + w * count)
            return np.maximum(z - threshold[np.count_nonzero(ordered > threshold) - 1], 0.0)
        top = sums / (count + w)  # x = min(z, R), Σ (z − R)₊ = w R
        return np.minimum(z, top[np.count_nonzero(ordered > top) - 1])
    from ..loops.lp_projection import prox_squared_norm

    return prox_squared_norm(z, float(w), float(p))


def squared_norm_prox_jacobian(x, w, p):
    """The derivative of `squared_norm_prox` in z, (M, M), at its value x, for 1 ≤ p < inf.

    (I + w (p−1) R^{2−p} diag(x^{p−2}) + w (2−p) vvᵀ)⁻¹ with R = ‖x‖_p, v = (x/R)^{p−1}, on the x that are not 0.
    """
    x = np.asarray(x, dtype=float)
    R = norm(x, p)
    if R == 0:
        return np.zeros((len(x), len(x))) if p < 2 else np.eye(len(x)) / (1 + w * (p == 2))
    with np.errstate(divide="ignore", over="ignore"):
        D = 1 / (1 + w * (p - 1) * (x / R) ** (p - 2)) if p > 1 else (x > 0).astype(float)
    v = (x / R) ** (p - 1) * (D > 0)
    c = w * (2 - p)
    return np.diag(D) - np.outer(D * v, D * v) * (c / (1 + c * float(v @ (D * v))))
