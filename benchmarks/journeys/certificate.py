"""The certificate of an ℓp-norm model in plain NumPy, from public attributes and Gram matrices."""

from typing import NamedTuple

import numpy as np

from .grams import UNIT
from .judge import Wrong


class Found(NamedTuple):
    """Primal and dual value of a model, what rounding may change in both, and the size that a gap is relative to."""

    primal: float
    dual: float
    bound: float
    size: float


def check(model, grams, y, weights, p, single, refit):
    """Wrong where objective, weights or gap disagree with their formulas beyond rounding.

    `duality_gap_` may owe itself to a better dual point than `dual_coef_`. Where it does, `refit` fits more exactly:
    the dual value of that model must explain the gap, or at least its primal value must not lie below the claim.
    """
    found = recompute(model, grams, y, weights, p, single)
    if abs(model.objective_ - found.primal) > found.bound + 1e-9 * found.size:
        raise Wrong(f"objective_ {model.objective_:.9g}, recomputed {found.primal:.9g} ± {found.bound:.2g}")
    allowed = (max(model.duality_gap_, 0.0) * (1 + 1e-6) + 1e-9) * found.size + found.bound
    if refit is None or found.primal - found.dual <= allowed:
        return
    exact = recompute(refit(), grams, y, weights, p, single)
    if found.primal - exact.dual <= allowed + exact.bound:
        return
    if exact.primal < found.primal - allowed - exact.bound:
        least = (found.primal - exact.primal) / found.size
        raise Wrong(f"duality_gap_ {model.duality_gap_:.3g}, and a better model shows a gap of {least:.3g} at least")


def recompute(model, grams, y, weights, p, single):
    """The values of a model.

    min Σ c V(y, f) + ½ Σ θ_m a'K_m a over ‖θ‖_p ≤ 1, against −Σ c V*(−a/c) − ‖(½ a'K_m a)_m‖_q.
    `single`: the given matrices are float32, and may be rounded to it once more when they are scaled.
    """
    loss = model.loss if isinstance(model.loss, str) else type(model.loss).__name__.lower()
    n = len(grams[0].K)
    theta_rows = np.atleast_2d(model.kernel_weights_)
    a_rows = np.zeros((len(model.dual_coef_), n))
    a_rows[:, model.support_] = model.dual_coef_
    K, A = scaled(model, grams)
    kappa = (2.0**-24 if single else 0.0) + 4 * (n + 64) * UNIT
    norm = np.max(theta_rows, axis=1) if p == np.inf else np.sum(theta_rows**p, axis=1) ** (1 / p)
    if np.any(norm > 1 + 1e-6) or np.any(theta_rows < 0):
        raise Wrong(f"weights leave the ball: norm {norm.max():.9g}")
    signs, costs = targets(model, y, weights, n, len(a_rows))
    primal = dual = bound = 0.0
    shared = len(theta_rows) == 1
    s_all, size_all = np.zeros(len(K)), 0.0
    for t, a in enumerate(a_rows):
        theta = theta_rows[0 if shared else t]
        b = model.intercept_[t] - np.broadcast_to(getattr(model, "intercept_shift_", 0.0), len(a_rows))[t]  # certified
        f = np.einsum("m,mij,j->i", theta, K, a) + b
        error = kappa * (np.einsum("m,mij,j->i", theta, A, np.abs(a)) + np.abs(b))
        q = np.einsum("i,mij,j->m", a, K, a)
        q_error = kappa * np.einsum("i,mij,j->m", np.abs(a), A, np.abs(a))
        value, conjugate, slope = loss_of(model, loss, signs[t], f, a, costs)
        if model.fit_intercept and abs(a.sum()) > 1e-7 * np.abs(a).sum() + 1e-300:
            raise Wrong(f"dual_coef_ sums to {a.sum():.3g} of {np.abs(a).sum():.3g}")
        part = np.sum(costs * value) + 0.5 * theta @ q
        off = np.sum(costs * (slope * error + error**2)) + 0.5 * theta @ q_error + 1e-12 * abs(part)
        primal, bound, size_all = primal + part, bound + off, size_all + abs(part)
        dual -= np.sum(conjugate)
        s_all += 0.5 * np.maximum(q, 0)
        bound += 0.5 * np.sum(q_error)
        if not shared:
            dual -= conjugate_norm(0.5 * np.maximum(q, 0), p)
    if shared:
        dual -= conjugate_norm(s_all, p)
    return Found(primal, dual, bound, max(size_all, least_size(loss, signs, costs, model.fit_intercept), 1e-300))


def least_size(loss, y, costs, intercept):
    """What a gap is relative to where the objective is near 0 (docs/theory-problem.md): 1e-12 Σ c.

    The squared loss has the unit of y², so that Σ c says nothing of its size; there it is the 1e-12th part of what the
    best constant loses, Σ c (1e-12 (y − ȳ)² + 1e-24 y²).
    """
    if loss != "squared":
        return 1e-12 * float(costs.sum()) * len(y)
    mean = y @ costs / max(float(costs.sum()), 1e-300) if intercept else np.zeros(len(y))
    return float(np.sum(costs * (1e-12 * (y - mean[:, None]) ** 2 + 1e-24 * y**2)))


def scaled(model, grams):
    """The kernels as the model has normalised them, (M, n, n), and their sizes A.

    Constant kernels stay as they are (`normalize` in the reference of the estimators).
    """
    K, A = np.stack([g.K for g in grams]), np.stack([g.A for g in grams])
    if model.normalize == "spherical":
        root = np.sqrt(np.maximum(np.einsum("mii->mi", K), 0))
        root[root == 0] = np.inf
        root[[g.constant for g in grams]] = 1.0
        K, A = (part / root[:, :, None] / root[:, None, :] for part in (K, A))
    return K * model.kernel_scale_[:, None, None], A * model.kernel_scale_[:, None, None]


def targets(model, y, weights, n, outputs):
    """What each output is asked for, (T, n), and c_i = C · sample weight."""
    C = model.C_ if model.C == "auto" else model.C
    costs = C * (np.ones(n) if weights is None else np.asarray(weights, float))
    if hasattr(model, "classes_"):
        labels = np.asarray(y)
        if labels.ndim == 2 and getattr(model, "multilabel_", False):
            return np.where(labels.T > 0, 1.0, -1.0), costs
        labels = labels.ravel()
        chosen = model.classes_[1:] if outputs == 1 else model.classes_
        return np.array([np.where(labels == c, 1.0, -1.0) for c in chosen]), costs
    values = np.asarray(y, float)
    return np.atleast_2d(values.T).reshape(outputs, n), costs


def loss_of(model, loss, y, f, a, c):
    """V(y, f), c V*(y, −a/c), and how fast V may grow with f."""
    weighed = c > 0
    if np.any(a[~weighed] != 0):
        raise Wrong("examples of weight 0 are in the support")
    u = np.where(weighed, -a / np.where(weighed, c, 1.0), 0.0)
    t = -y * u
    r = y - f
    if loss in ("hinge", "logistic"):
        if np.any(t < -1e-7) or np.any(t > 1 + 1e-7):
            raise Wrong(f"dual_coef_ leaves its box: {t.min():.3g} … {t.max():.3g} of c")
        t = np.clip(t, 0, 1)
    if loss == "hinge":
        return np.maximum(0, 1 - y * f), -c * t, np.ones_like(f)
    if loss == "logistic":
        entropy = sum(np.where(x > 0, x * np.log(np.where(x > 0, x, 1.0)), 0.0) for x in (t, 1 - t))
        return np.logaddexp(0, -y * f), c * entropy, np.ones_like(f)
    if loss == "squared":
        return r**2, c * (y * u + u**2 / 4), 2 * np.abs(r)
    epsilon = 0.1 if model.epsilon is None else model.epsilon
    if np.any(np.abs(u) > 1 + 1e-7):
        raise Wrong(f"dual_coef_ leaves its box: {np.abs(u).max():.9g} of c")
    return np.maximum(0, np.abs(r) - epsilon), c * (y * u + epsilon * np.abs(u)), np.ones_like(f)


def conjugate_norm(s, p):
    """Ω*(s) of ‖θ‖_p ≤ 1: ‖s‖_q."""
    top = float(np.max(s, initial=0.0))
    if p == 1 or top == 0:
        return top
    q = 1.0 if p == np.inf else p / (p - 1)
    return top * float(np.sum((s / top) ** q)) ** (1 / q)
