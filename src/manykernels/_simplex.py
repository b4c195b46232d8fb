"""Minima of quadratic models on the simplex {x ≥ 0, Σx = 1}, and the projection onto it."""

import numpy as np
import scipy.linalg as la

from ._limits import spend

MAX_PAIR_STEP_WEIGHTS = 1000  # with more weights pair steps are slow
DUAL_STEPS, LINE_TRIALS = 40, 30
FLAT_SLOPE = 0.1  # share of its first slope at which a line search ends


def minimise_on_simplex(model, theta, tolerance, proximal):
    """argmin over the simplex of the model at θ, by pairwise steps on the coordinates with weight or a negative slope.

    With many coordinates a damped model is minimised by its dual; without damping, steps of `proximal`, the `minimise`
    of any regularizer, first reduce the coordinates with weight.
    """
    from .loops.box_qp import pair_steps

    used, dual = np.flatnonzero(theta), True
    thin = used.size > MAX_PAIR_STEP_WEIGHTS and not _by_dual(model, used.size)
    x = proximal(model, theta, tolerance, 100) if thin else theta
    x = x / x.sum()
    gradient = model.gradient + model.multiply(x - theta)
    for _ in range(20):
        spend(200.0)
        used = np.flatnonzero(x)
        if dual and _by_dual(model, used.size):
            found, dual = _minimise_dual(model, theta, x, 0.01 * tolerance), False
            if found is not None:
                return found
        better = np.flatnonzero(gradient < float(x @ gradient))
        better = better[np.argsort(gradient[better], kind="stable")[: max(MAX_PAIR_STEP_WEIGHTS // 4, used.size)]]
        index = np.union1d(used, better)
        part, slope, zero = x[index], gradient[index], np.zeros(len(index))
        pair_steps(model.block(index), part, slope, zero, zero, zero, zero + np.inf, 0.5 * tolerance, 200 * len(index))
        new = np.zeros_like(x)
        new[index] = part
        x, gradient = new, gradient + model.multiply(new - x)
        if float(x @ gradient) - gradient.min() <= tolerance:
            break
    return x


def _by_dual(model, used):
    """Whether the dual is the quicker way to minimise a model with `used` weights."""
    return used > MAX_PAIR_STEP_WEIGHTS and used > 2 * len(model.Z) and bool(model.damping.min() > 0)


def _minimise_dual(model, theta, start, tolerance):
    """argmin over {x ≥ 0, Σx = 1} of a model at θ with positive damping, to `tolerance`; None if it does not converge.

    The dual variable is u = Z(x − θ). Each u has one best x(u), the projection of θ − (g + Zᵀu) / damping in the
    metric of the damping, which is at most ½ ‖Z(x(u) − θ) − u‖² from the minimum. The linear systems have the rank of
    Z, whatever the number of weights.
    """
    Z, w = model.Z, 1.0 / model.damping
    u = Z @ (start - theta)
    pull = model.gradient + u @ Z
    x = project_simplex(theta - w * pull, w)
    for _ in range(DUAL_STEPS):
        spend(200.0)
        rest = Z @ (x - theta) - u  # the gradient of the dual
        if 0.5 * (rest @ rest) <= tolerance:
            return x
        used = np.flatnonzero(x)
        root = np.sqrt(w[used])
        part = Z[:, used] * root
        mean = part @ (root / np.linalg.norm(root))
        H = part @ part.T - np.outer(mean, mean)
        H[np.diag_indices_from(H)] += 1.0
        try:
            step = la.solve(H, rest, assume_a="pos", overwrite_a=True, check_finite=False)
        except la.LinAlgError:
            return None
        turn, ahead, length = step @ Z, step @ u, step @ step

        def look(t, pull=pull, turn=turn, ahead=ahead, length=length):
            """(x, the slope of the dual) after t steps."""
            x = project_simplex(theta - w * (pull + t * turn), w)
            return x, turn @ (x - theta) - ahead - t * length

        t, x = _search(look, float(rest @ step))
        if x is None:
            return None
        u, pull = u + t * step, pull + t * turn
    return None


def _search(look, first):
    """(t, x) where a slope that decreases in t from `first` is nearly 0; x is None if no such t is found."""
    low, high, above, below, t = 0.0, np.inf, first, 0.0, 1.0
    for turn in range(LINE_TRIALS):
        x, slope = look(t)
        if abs(slope) <= FLAT_SLOPE * first:
            return t, x
        if slope > 0:
            low, above = t, slope
        else:
            high, below = t, slope
        share = above / (above - below) if turn % 2 else 0.5
        t = 2.0 * t if high == np.inf else low + (high - low) * share
    return t, None


def project_simplex(z, w=1.0):
    """argmin over the simplex of ½ Σ (x − z)² / w, by sorted thresholds (Duchi et al. 2008): max(0, z − ν w)."""
    z = z - w * np.max(z / w)  # huge z keep their digits
    at = z / w
    order = np.argsort(at)[::-1]
    thresholds = (np.cumsum(z[order]) - 1.0) / np.cumsum(np.broadcast_to(w, z.shape)[order])
    return np.maximum(z - thresholds[np.count_nonzero(at[order] > thresholds) - 1] * w, 0.0)
