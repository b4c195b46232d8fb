"""Single coordinate steps for the box QP of losses without an intercept:

    min over lo ≤ a ≤ hi :  ½ aᵀK a + Σ linear_i a_i + ½ diagonal_i a_i² + kink_i |a_i|

`gradient` is that of the smooth part, K a + linear + diagonal·a, kept up to date. A move that would cross a kink
stops at 0.
"""

from numba import njit

from . import OPTIONS


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
