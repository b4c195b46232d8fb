"""Decisions on every training example by the model without it, from one factorisation."""

import numpy as np
from scipy.linalg import LinAlgError, cholesky
from scipy.linalg.lapack import dtrtri

from ..problem import Problem
from ..solution import Solution

AT_BOUND = 1e-3  # times c_i: an a_i this near to an end of its box, or to a kink, stays there
RIDGE = 1e-10  # times the mean of the diagonal, so that equal examples can be factorised


def leave_one_out(problem: Problem, solution: Solution) -> np.ndarray:
    """f_t without example i at example i, (T, n), for all examples and outputs, to first order and at the same θ.

    Without example i its a_i becomes 0, and the others keep a_j = −c_j V′(y_j, f_j). To first order that is
    δa_j = −δf_j / E_j for the free examples F, where E_j = 1 / (c_j V″) is the curvature of the conjugate, and δa_j = 0
    for the others, at a kink of V* or at an end of the box. With δf = K δa + δb, Σ δa = 0,

        f_i without i  =  f_i − a_i S_i,    S_i = k_ii − (k_iG 1) [K_GG + E_G  1; 1ᵀ  0]⁻¹ (k_iG 1)ᵀ,   G = F ∖ {i}

    and S_i = 1 / ([K_FF + E_F  1; 1ᵀ  0]⁻¹)_ii − E_i for free i. It is exact for the squared loss, a Newton step for
    smooth losses, and the span rule for the hinge (Chapelle et al. 2002), where E = 0 on the margin.
    """
    bank, theta, a = problem.bank, solution.theta, solution.a
    support = np.flatnonzero(a.any(axis=0))
    f = bank.outputs(theta, a[:, support], support) + solution.b[:, None]
    if len(support):
        K = bank.combined(theta, support, support, np.float64)
        for f_t, y, c, a_t in zip(f, problem.Y[:, support], problem.c[:, support], a[:, support], strict=True):
            lo, hi = problem.loss.box(y, c)
            _, E, kink = problem.loss.quadratic(y, c, a_t)
            near = AT_BOUND * c
            free = (lo + near < a_t) & (a_t < hi - near) & ((kink == 0) | (np.abs(a_t) > near))
            f_t[support] -= a_t * spans(K, np.broadcast_to(E, a_t.shape), free, problem.intercept)
    return f


def spans(K: np.ndarray, E: np.ndarray, free: np.ndarray, intercept: bool) -> np.ndarray:
    """S (n,) of `leave_one_out`, from K (n, n), E (n,) and the mask of the free examples.

    A single free example fixes the intercept: b then counts as known.
    """
    S, rest = K.diagonal().copy(), ~free
    if not free.any():
        return S
    B = K[np.ix_(free, free)]
    B[np.diag_indices_from(B)] += E[free]
    root, ridge = _inverse_root(B)
    u = root.T @ root.sum(axis=1)  # B⁻¹ 1
    total = u.sum() if intercept and len(B) > 1 else np.inf
    S[free] = 1.0 / (np.sum(root**2, axis=0) - u**2 / total) - E[free] - ridge
    beside = K[np.ix_(free, rest)]
    S[rest] += (1.0 - u @ beside) ** 2 / total - np.sum((root @ beside) ** 2, axis=0)
    return np.maximum(S, 0.0)


def _inverse_root(B):
    """(R, ridge): (B + ridge I)⁻¹ = RᵀR, with the least of some multiples of the mean of the diagonal as ridge."""
    step = RIDGE * B.diagonal().mean()
    for ridge in (step, 1e4 * step, np.linalg.norm(B, 1)):
        try:
            L = cholesky(B + ridge * np.eye(len(B)), lower=True, check_finite=False)
            return dtrtri(L, lower=1, overwrite_c=1)[0], ridge
        except LinAlgError:  # kernels that are not positive semidefinite
            continue
    raise ValueError("kernel values are not finite: rescale X first")
