"""Minima of quadratic models on the simplex {x ≥ 0, Σx = 1}, and its projection."""

import numpy as np
import scipy.linalg as la

from ._work import spend

MOST = 1000  # weights above which pair steps are slow
STEPS, TRIALS, FLAT = 40, 30, 0.1  # of the dual; a line is searched until its slope is a tenth of what it was


def minimise_on_simplex(model, theta, slack, proximal):
    """argmin over the simplex of the model at θ, by pairwise steps on coordinates that have or could use weight.

    Where these are many, a damped model is minimised by way of its dual; others are thinned out before, by steps of
    `proximal`, the `minimise` of any regularizer.
    """
    from .loops.pairs import pair_steps

    used, dual = np.flatnonzero(theta), True
    thin = used.size > MOST and not _by_dual(model, used.size)
    x = proximal(model, theta, slack, 100) if thin else theta
    x = x / x.sum()
    gradient = model.gradient + model.multiply(x - theta)
    for _ in range(20):
        spend(200.0)
        used = np.flatnonzero(x)
        if dual and _by_dual(model, used.size):
            found, dual = _minimise_dual(model, theta, x, 0.01 * slack), False
            if found is not None:
                return found
        better = np.flatnonzero(gradient < float(x @ gradient))
        better = better[np.argsort(gradient[better], kind="stable")[: max(MOST // 4, used.size)]]
        index = np.union1d(used, better)
        part, slope, zero = x[index], gradient[index], np.zeros(len(index))
        pair_steps(model.block(index), part, slope, zero, zero, zero, zero + np.inf, 0.5 * slack, 200 * len(index))
        new = np.zeros_like(x)
        new[index] = part
        x, gradient = new, gradient + model.multiply(new - x)
        if float(x @ gradient) - gradient.min() <= slack:
            break
    return x


def _by_dual(model, used):
    """Whether a model with so many weights is quicker to minimise by its dual."""
    return used > MOST and used > 2 * len(model.Z) and bool(model.damping.min() > 0)


def _minimise_dual(model, theta, start, slack):
    """argmin over {x ≥ 0, Σx = 1} of a model at θ whose damping is positive, to `slack`; None where it does not settle.

    The dual variable is u = Z(x − θ). A u has one best x(u), the projection of θ − (g + Zᵀu) / damping in the metric
    of the damping, which gains all but ½ ‖Z(x(u) − θ) − u‖² of what can be gained. The systems have the rank of Z,
    however many weights x has; pair steps would have as many unknowns as weights.
    """
    Z, w = model.Z, 1.0 / model.damping
    u = Z @ (start - theta)
    pull = model.gradient + u @ Z
    x = project_simplex(theta - w * pull, w)
    for _ in range(STEPS):
        spend(200.0)
        rest = Z @ (x - theta) - u  # the gradient of the dual
        if 0.5 * (rest @ rest) <= slack:
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
    """(t, x) where a slope that falls with t, `first` at 0, is nearly 0; x is None where there is no such t."""
    low, high, above, below, t = 0.0, np.inf, first, 0.0, 1.0
    for turn in range(TRIALS):
        x, slope = look(t)
        if abs(slope) <= FLAT * first:
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
