"""Decisions on every training example by the model without it, from one factorisation."""

from typing import Any

import numpy as np
from scipy.linalg import LinAlgError, cholesky
from scipy.linalg.lapack import dtrtri

from ..inner.systems import columns
from ..problem import Problem
from ..solution import Solution

AT_BOUND = 1e-3  # times c_i: an a_i this near to an end of its box, or to a kink, stays there
UNDETERMINED = 1e-9  # of the precision of an example: without it a covariate that has no more is not determined
RIDGE = 1e-10  # times the mean of the diagonal, so that equal examples can be factorised


def leave_one_out(problem: Problem, solution: Solution) -> np.ndarray:
    """f_t without example i at example i, (T, n), for all examples and outputs, to first order and at the same θ.

    Without example i its a_i becomes 0, and the others keep a_j = −c_j V′(y_j, f_j). To first order that is
    δa_j = −δf_j / E_j for the free examples F, where E_j = 1 / (c_j V″) is the curvature of the conjugate, and δa_j = 0
    for the others, at a kink of V* or at an end of the box. With δf = K δa + δb, Σ δa = 0 (covariates
    are further columns beside the 1),

        f_i without i  =  f_i − a_i S_i,    S_i = k_ii − (k_iG 1) [K_GG + E_G  1; 1ᵀ  0]⁻¹ (k_iG 1)ᵀ,   G = F ∖ {i}

    and S_i = 1 / ([K_FF + E_F  1; 1ᵀ  0]⁻¹)_ii − E_i for free i. It is exact for the squared loss, a Newton step for
    smooth losses, and the span rule for the hinge (Chapelle et al. 2002), where E = 0 on the margin.
    """
    bank, theta, a = problem.bank, solution.theta, solution.a
    support = np.flatnonzero(a.any(axis=0))
    f = bank.outputs(theta, a[:, support], support) + problem.level(solution.b)
    if len(support):
        K = bank.combined(theta, support, support, np.float64)
        equality = problem.intercept if problem.covariates is None else problem.covariates[support]
        for f_t, y, c, a_t in zip(f, problem.Y[:, support], problem.c[:, support], a[:, support], strict=True):
            lo, hi = problem.loss.box(y, c)
            _, E, kink = problem.loss.quadratic(y, c, a_t)
            near = AT_BOUND * c
            free = (lo + near < a_t) & (a_t < hi - near) & ((kink == 0) | (np.abs(a_t) > near))
            f_t[support] -= a_t * spans(K, np.broadcast_to(E, a_t.shape), free, equality)
    return f


def spans(K: np.ndarray, E: np.ndarray, free: np.ndarray, equality: Any) -> np.ndarray:
    """S (n,) of `leave_one_out`, from K (n, n), E (n,) and the mask of the free examples.

    `equality` is True with an intercept, or the covariates (n, k), which include the constant. If no more than k
    examples are free (k = 1 with an intercept alone), or a coefficient is not determined without an example, it counts
    as known.
    """
    S, rest = K.diagonal().copy(), ~free
    if not free.any():
        return S
    B = K[np.ix_(free, free)]
    B[np.diag_indices_from(B)] += E[free]
    root, ridge = _inverse_root(B)
    own, beside = np.sum(root**2, axis=0), K[np.ix_(free, rest)]
    less, more = own, 0.0
    ones = columns(equality, len(K))
    ones = np.zeros((len(K), 0)) if ones is None else ones.reshape(len(K), -1)
    if 0 < ones.shape[1] < len(B):
        U = root.T @ (root @ ones[free])  # B⁻¹ 1
        values, vectors = np.linalg.eigh(ones[free].T @ U)
        some = values > 1e-12 * values[-1]
        turn = vectors[:, some] / np.sqrt(values[some])
        less = own - np.sum((U @ turn) ** 2, axis=1)
        more = np.sum(((ones[rest] - beside.T @ U) @ turn) ** 2, axis=1)
    S[free] = 1.0 / np.where(less > UNDETERMINED * own, less, own) - E[free] - ridge
    S[rest] += more - np.sum((root @ beside) ** 2, axis=0)
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
