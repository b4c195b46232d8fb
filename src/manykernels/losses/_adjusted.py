"""The coefficients of covariates at given outputs, a small convex problem.

    min over w :  Σ_i c_i V(y_i, f_i + (E w)_i)   =   max over a, Eᵀa = 0 :  − Σ_i a_i f_i − Σ_i c_i V*(y_i, −a_i / c_i)

The dual is an inner problem without kernels. Its Newton matrices are diagonal, so that a step on the central path costs
O(n k²); w are the multipliers of Eᵀa = 0.
"""

import numpy as np

from .._central_path import CentralPath
from .._limits import spend

MAX_STEPS = 80
PRECISE = 1e-13  # relative gap at which the path ends


def adjusted(loss, y, f, c, E):
    """(w (k,), a (n,)) for E (n, k); a is strictly inside its box, with Eᵀa = 0 up to rounding."""
    lo, hi = loss.box(y, c)
    index = np.flatnonzero(hi > lo)
    y, f, c, E = y[index], f[index], c[index], E[index]

    def rest(x):
        linear, diagonal, _ = loss.quadratic(y, c, x)
        return f + linear + diagonal * x, diagonal

    a = loss.start(y, c, True)
    path = CentralPath(None, rest, loss.quadratic(y, c, a)[2], lo[index], hi[index], np.zeros(E.shape[1]), E)
    best, least, dual = (np.zeros(E.shape[1]), np.zeros(len(lo))), np.inf, -np.inf
    with np.errstate(all="ignore"):
        path.start(a)
        for _ in range(MAX_STEPS):
            spend(50.0 + 1e-2 * len(y))
            x = path.p - path.m
            value = float(c @ loss.value(y, f + E @ path.beta))
            if np.abs(E.T @ x).max(initial=0.0) <= 1e-9 * (np.abs(x).sum() + 1e-300):
                dual = max(dual, -float(x @ f) - loss.dual_value(y, c, np.clip(x, lo[index], hi[index])))
            size = value + float(np.abs(x * f).sum()) + 1e-300
            if value <= least:
                whole = np.zeros(len(lo))
                whole[index] = x
                least, best = value, (path.beta, whole)
            if value - dual <= PRECISE * size or not path.step():
                break
    return best
