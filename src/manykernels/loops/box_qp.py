"""Pairwise and single coordinate steps for the box QP that every loss comes down to:

    min over lo ≤ a ≤ hi (, Σ a fixed) :  ½ aᵀK a + Σ linear_i a_i + ½ diagonal_i a_i² + kink_i |a_i|

`gradient` is that of the smooth part, K a + linear + diagonal·a, kept up to date. A move that would cross a kink
stops at 0.
"""

import numpy as np
from numba import njit

from . import OPTIONS


@njit(**OPTIONS)
def pair_steps(K, a, gradient, diagonal, kink, lo, hi, eps, max_steps):
    """Second-order pairs (i up, j down) until the largest violation is at most eps; returns (steps, violation, β).

    β, the multiplier of Σ a, is the intercept that these a imply: f = K a + β.
    """
    n = len(a)
    up = np.empty(n)  # minus the right derivative's kink, or −inf where a_i cannot rise
    down = np.empty(n)  # minus the left derivative's kink, or +inf where a_i cannot fall
    curvature = np.empty(n)
    for i in range(n):
        up[i] = -np.inf if a[i] >= hi[i] else (-kink[i] if a[i] >= 0 else kink[i])
        down[i] = np.inf if a[i] <= lo[i] else (-kink[i] if a[i] > 0 else kink[i])
        curvature[i] = K[i, i] + diagonal[i]
    top, i = _highest(up, gradient)
    bottom = _lowest(down, gradient)
    steps = 0
    while top - bottom > eps and steps < max_steps:
        steps += 1
        Ki, ci = K[i], curvature[i]
        best, share, j = 0.0, 1.0, -1  # the largest gain²/curvature so far is best/share: products spare divisions
        for k in range(n):
            gain = top - down[k] + gradient[k]
            if gain > 0:
                c = abs(ci + curvature[k] - 2.0 * Ki[k])  # negative only for indefinite kernels: then stay finite
                c = c if c > 1e-12 else 1e-12
                gain *= gain
                if gain * share > best * c:
                    best, share, j = gain, c, k
        if j < 0:
            break
        c = abs(ci + curvature[j] - 2.0 * Ki[j])
        t = (top - down[j] + gradient[j]) / (c if c > 1e-12 else 1e-12)
        rise = (0.0 if kink[i] > 0 and a[i] < 0 else hi[i]) - a[i]
        fall = a[j] - (0.0 if kink[j] > 0 and a[j] > 0 else lo[j])
        if t >= rise and rise <= fall:
            t = rise
            a[i] = 0.0 if kink[i] > 0 and a[i] < 0 else hi[i]
            a[j] = a[j] - t
        elif t >= fall:
            t = fall
            a[j] = 0.0 if kink[j] > 0 and a[j] > 0 else lo[j]
            a[i] = a[i] + t
        else:
            a[i] += t
            a[j] -= t
        gradient[i] += diagonal[i] * t
        gradient[j] -= diagonal[j] * t
        for k in (i, j):
            up[k] = -np.inf if a[k] >= hi[k] else (-kink[k] if a[k] >= 0 else kink[k])
            down[k] = np.inf if a[k] <= lo[k] else (-kink[k] if a[k] > 0 else kink[k])
        Kj = K[j]
        top = -np.inf
        for k in range(n):
            g = gradient[k] + t * (Ki[k] - Kj[k])
            gradient[k] = g
            u = up[k] - g
            if u > top:
                top, i = u, k
        if steps % 32 == 0:
            bottom = _lowest(down, gradient)
    bottom = _lowest(down, gradient)
    return steps, top - bottom, _middle(top, bottom)


@njit(**OPTIONS)
def _highest(up, gradient):
    top, i = -np.inf, -1
    for k in range(len(up)):
        u = up[k] - gradient[k]
        if u > top:
            top, i = u, k
    return top, i


@njit(**OPTIONS)
def _lowest(down, gradient):
    bottom = np.inf
    for k in range(len(down)):
        v = down[k] - gradient[k]
        bottom = v if v < bottom else bottom
    return bottom


@njit(**OPTIONS)
def _middle(top, bottom):
    if np.isinf(top):
        return bottom if not np.isinf(bottom) else 0.0
    return top if np.isinf(bottom) else 0.5 * (top + bottom)


@njit(**OPTIONS)
def single_steps(K, a, gradient, diagonal, kink, lo, hi, eps, max_steps):
    """Single coordinate steps of largest gain, for problems without Σ a fixed; returns (steps, violation, 0)."""
    n = len(a)
    steps = 0
    while True:
        best, worst, i, move = 0.0, 0.0, -1, 0.0
        for k in range(n):
            g, s = gradient[k], kink[k]
            rise = -g - (s if a[k] >= 0 else -s) if a[k] < hi[k] else 0.0
            fall = g + (s if a[k] > 0 else -s) if a[k] > lo[k] else 0.0
            v = rise if rise > fall else fall
            if v > worst:
                worst = v
            if v > 0:
                c = abs(K[k, k] + diagonal[k])
                gain = v * v / (c if c > 1e-12 else 1e-12)
                if gain > best:
                    best, i = gain, k
                    move = v if rise > fall else -v
        if worst <= eps or steps >= max_steps or i < 0:
            return steps, worst, 0.0
        steps += 1
        c = abs(K[i, i] + diagonal[i])
        t = move / (c if c > 1e-12 else 1e-12)
        new = a[i] + t
        if t > 0:
            stop = 0.0 if kink[i] > 0 and a[i] < 0 else hi[i]
            new = stop if new > stop else new
        else:
            stop = 0.0 if kink[i] > 0 and a[i] > 0 else lo[i]
            new = stop if new < stop else new
        t = new - a[i]
        a[i] = new
        gradient[i] += diagonal[i] * t
        Ki = K[i]
        for k in range(n):
            gradient[k] += t * Ki[k]
