"""A primal–dual interior point method for an inner problem that coordinate and Newton steps do not finish.

    min over a :  ½ aᵀK a + shiftᵀa + Σ c V*(y, −a / c) ,   lo ≤ a ≤ hi (, Σ a = total)

If C is large and the kernel has low rank, nearly all a are at their bounds and a coordinate step is a tiny part of the
box; here the number of steps does not depend on C. With covariates E, Σ a = total becomes Eᵀa = total.
"""

import numpy as np

from .._central_path import CentralPath
from .._limits import spend
from .systems import blas_for, columns

MAX_STEPS = 60


def interior_point(inner, K, a, target):
    """(a, outputs, b, gap) of the best point found, with a gap of `target` if rounding allows, or None.

    `a` must be feasible. Variables next to a bound are set to it, unless the gap then exceeds the target.
    """
    with np.errstate(all="ignore"), blas_for(len(a), inner.n_jobs):  # a singular system ends the path
        return _follow(inner, K, a, target)


def _follow(inner, K, a, target):
    index = np.flatnonzero(inner.hi > inner.lo)
    Q = inner.host(K)[np.ix_(index, index)].astype(np.float64)
    held = np.where(inner.hi > inner.lo, 0.0, a)
    fixed = inner.outputs(K, held)[index]  # the shift, and the terms of the fixed variables
    y, c = inner.y[index], inner.c[index]

    def rest(x):
        """(slope, curvature) of shift and c V* at x, without the kink."""
        linear, diagonal, _ = inner.loss.quadratic(y, c, x)
        return fixed + linear + diagonal * x, diagonal

    bounds = inner.kink[index], inner.lo[index], inner.hi[index]
    path = CentralPath(Q, rest, *bounds, inner.sums(a) - inner.sums(held), columns(inner.equality(index), len(index)))
    path.start(a[index])

    def judged(x):
        trial = held.copy()
        trial[index] = np.clip(x, inner.lo[index], inner.hi[index])
        trial = inner.repair(trial, inner.sums(a))
        if trial is None:
            return None
        outputs = inner.outputs(K, trial)
        b = inner.quick_b(trial, outputs, path.beta)
        return trial, outputs, b, inner.gap(trial, outputs, b)

    best, settled, since = None, None, 0
    for _ in range(MAX_STEPS):
        spend(1000.0 + 2e-4 * len(a) ** 3)
        point = judged(path.p - path.m)
        if point is not None and np.isfinite(point[-1]):
            since = 0 if best is None or point[-1] < 0.9 * best[-1] else since + 1
            if best is None or point[-1] < best[-1]:
                best, settled = point, path.settled()
            if point[-1] <= 0.5 * target or since > 8:
                break
        if not path.step():
            break
    if inner.loss.interior:
        return best
    point = None if best is None else judged(settled)
    return point if point is not None and point[-1] <= max(target, best[-1]) else best
