"""Reduced gradients: SimpleMKL (Rakotomamonjy, Bach, Canu, Grandvalet 2008), which Yang (2011) and Xu (2010) time.

    min over θ in the simplex of J(θ) ,   ∂J/∂θ_m = −½ aᵀK_m a

The largest weight keeps Σθ = 1. A step follows the reduced gradient to the first weight that becomes 0, and continues
with that weight fixed as long as J falls; then a line search finds the best point on the way back. Every inner problem
starts at the solution of the one before. Departs from the paper in its stopping rule, the duality gap, in that the
search finds the zero of the slope of J where the paper has golden sections, and in that it is refined when it gains
nothing.
"""

import numpy as np

from .._oracle import OracleSolver

FIRST_PRECISION = 0.1  # of the slope at the end of a line search, relative to that at its start
MAX_SEARCH = 30  # points of a line search


class SimpleMKL(OracleSolver):
    """Reduced gradients on the simplex with a line search.

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels import MKLClassifier
    >>> from manykernels.kernels import RBF
    >>> from manykernels.solvers import SimpleMKL
    >>> X = np.random.default_rng(0).normal(size=(60, 4))
    >>> y, widths = X[:, 0] + X[:, 1] ** 2 > 1, [RBF(gamma=g) for g in (0.01, 0.1, 0.5, 1.0)]
    >>> model = MKLClassifier(widths, regularizer=1, solver=SimpleMKL()).fit(X, y)
    >>> bool((model.kernel_weights_ == 0).any()), round(float(model.kernel_weights_.sum()), 6)
    (True, 1.0)
    >>> model.n_iter_ > MKLClassifier(widths, regularizer=1, solver="newton").fit(X, y).n_iter_  # first-order steps
    True
    """

    file_tag = ("solver/simplemkl", 1)
    name = "simplemkl"
    effort = 1e-5  # the line search compares values and slopes
    needs = ("value", "conjugate", "start")

    wants = {"simplex": "its reduced gradient is that of weights on the simplex, LpNorm(1)"}

    def steps(self, oracle):
        point, precision = oracle(oracle.theta / oracle.theta.sum()), FIRST_PRECISION
        while True:
            gradient, top = -0.5 * point.q, int(np.argmax(point.theta))
            theta, a, value = point.theta, point.a, point.value
            direction = _reduced(theta, gradient, top)
            while np.any(direction):  # to the boundary, and along it
                far, reach = _boundary(theta, direction)
                trial = oracle.value(far)
                if trial >= value:
                    theta = _search(oracle, theta, a, direction, reach, precision)
                    break
                theta, a, value = far, oracle.a, trial
                direction = _reduced(theta, gradient, top)
            best = oracle(theta)
            if not best.value < point.value:
                precision *= 0.1
                oracle.effort *= 0.1
                if precision < 1e-12:
                    return
                best = oracle(point.theta)  # to the new precision
            point = best


def _reduced(theta, gradient, top):
    """The descent direction that keeps Σθ = 1: every weight against the largest; weights at 0 do not fall."""
    direction = gradient[top] - gradient
    direction[(theta <= 0) & (direction < 0)] = 0.0
    direction[top] = 0.0
    direction[top] = -direction.sum()
    return direction


def _boundary(theta, direction):
    """(where the first weight becomes 0, the step to it)."""
    falling = np.flatnonzero(direction < 0)
    steps = -theta[falling] / direction[falling]
    first = int(np.argmin(steps))
    far = np.maximum(theta + steps[first] * direction, 0.0)
    far[falling[first]] = 0.0
    return far / far.sum(), float(steps[first])


def _search(oracle, theta, a, direction, reach, precision):
    """The weights θ + t · direction, 0 ≤ t ≤ reach, of nearly the smallest J, which is larger at `reach` than at 0.

    J is convex along the line, and the sign of its slope brackets the minimum. The next t is the root of the secant;
    the slope of an end that stays twice counts half (the Illinois rule). `a` is the solution at 0, the present one that
    at `reach`.
    """
    move, low, high, side = oracle.move(direction), 0.0, reach, 0
    fall, rise = oracle.slope(a, move), oracle.slope(oracle.a, move)
    enough, x = precision * abs(fall), theta
    for _ in range(MAX_SEARCH):
        if not fall < 0 < rise:
            break
        t = (low * rise - high * fall) / (rise - fall)
        x = np.maximum(theta + t * direction, 0.0)
        x /= x.sum()
        oracle.value(x)
        slope = oracle.slope(oracle.a, move)
        if abs(slope) <= enough:
            break
        if slope > 0:
            high, rise, fall, side = t, slope, fall * (0.5 if side > 0 else 1.0), 1
        else:
            low, fall, rise, side = t, slope, rise * (0.5 if side < 0 else 1.0), -1
    return x
