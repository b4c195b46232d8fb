"""Pairwise and single coordinate steps for the box QP that every loss comes down to:

    min over lo ≤ a ≤ hi (, Σ a fixed) :  ½ aᵀK a + Σ linear_i a_i + ½ diagonal_i a_i² + kink_i |a_i|

`gradient` is that of the smooth part, K a + linear + diagonal·a, kept up to date. A move that would cross a kink
stops at 0.
"""

import numpy as np
from numba import njit

from . import OPTIONS

QUICK = OPTIONS | {"fastmath": {"nnan", "reassoc", "contract", "nsz", "arcp"}}  # a maximum of vectors needs "nnan"
STRETCH = 512


@njit(**QUICK)
def _best_partner(Ki, ci, top, bottom, down, gradient, curvature, score):
    """The k of largest gain²/curvature against i, −1 where none gains; `score` (STRETCH,) float32 is scratch.

    A stretch at a time: its scores and the largest of them take whole vectors, and only a stretch with a larger one is
    searched for it. In float32, gains in units of the violation and curvatures in those of i: a partner that is best
    to seven digits does as well.
    """
    best, j, nothing = np.float32(0.0), -1, np.float32(0.0)
    share, unit = 1.0 / (top - bottom), 1.0 / max(abs(ci), 1e-12)
    for first in range(0, len(down), STRETCH):
        width = min(STRETCH, len(down) - first)
        row, low, slope = Ki[first : first + width], down[first : first + width], gradient[first : first + width]
        bend, largest = curvature[first : first + width], nothing
        for k in range(width):
            gain = np.float32((top - low[k] + slope[k]) * share)
            gain = gain if gain > nothing else nothing
            c = abs(ci + bend[k] - 2.0 * row[k])  # negative only for indefinite kernels: then stay finite
            score[k] = gain * gain / np.float32((c if c > 1e-12 else 1e-12) * unit)
        for k in range(width):
            largest = score[k] if score[k] > largest else largest
        if largest > best:
            best = largest
            for k in range(width):
                if score[k] == largest:
                    j = first + k
                    break
    return j


@njit(**QUICK)
def _move_all(gradient, Ki, Kj, t, up):
    """gradient += t (K_i − K_j); the largest up − gradient then, and whose it is."""
    top, i = -np.inf, -1
    for first in range(0, len(up), STRETCH):
        width = min(STRETCH, len(up) - first)
        slope, high = gradient[first : first + width], up[first : first + width]
        one, other, largest = Ki[first : first + width], Kj[first : first + width], -np.inf
        for k in range(width):
            slope[k] += t * (one[k] - other[k])
        for k in range(width):
            room = high[k] - slope[k]
            largest = room if room > largest else largest
        if largest > top:
            top = largest
            for k in range(width):
                if high[k] - slope[k] == largest:
                    i = first + k
                    break
    return top, i


@njit(**OPTIONS)
def pair_steps(K, a, gradient, diagonal, kink, lo, hi, eps, max_steps):
    """Second-order pairs (i up, j down) until the largest violation is at most eps; returns (steps, violation, β).

    β, the multiplier of Σ a, is the intercept that these a imply: f = K a + β.
    """
    n = len(a)
    up = np.empty(n)  # minus the right derivative's kink, or −inf where a_i cannot rise
    down = np.empty(n)  # minus the left derivative's kink, or +inf where a_i cannot fall
    curvature, score = np.empty(n), np.empty(STRETCH, np.float32)
    for i in range(n):
        up[i] = -np.inf if a[i] >= hi[i] else (-kink[i] if a[i] >= 0 else kink[i])
        down[i] = np.inf if a[i] <= lo[i] else (-kink[i] if a[i] > 0 else kink[i])
        curvature[i] = K[i, i] + diagonal[i]
    top, i = _highest(up, gradient)
    bottom = _lowest(down, gradient)
    steps = 0
    while top - bottom > eps and steps < max_steps and i >= 0:
        steps += 1
        Ki, ci = K[i], curvature[i]
        j = _best_partner(Ki, ci, top, bottom, down, gradient, curvature, score)
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
        top, i = _move_all(gradient, Ki, K[j], t, up)
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
