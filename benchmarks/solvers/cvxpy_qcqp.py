"""The dual as a conic program in cvxpy, solved by Clarabel; p = 1 is the QCQP of Lanckriet et al. (2004)."""

import numpy as np

from ..objective import Result
from ._base import Solver


class Clarabel(Solver):
    name = "cvxpy + Clarabel"
    needs = ("cvxpy", "clarabel")
    most_examples = 200
    tolerances = (1e-8,)

    def prepare(self, S, y):
        """Roots R_m with R_mᵀ R_m = K_m."""
        roots = []
        for K in S:
            values, vectors = np.linalg.eigh(K.astype(float))
            keep = values > 1e-9 * values[-1]
            roots.append(np.sqrt(values[keep])[:, None] * vectors[:, keep].T)
        return roots, y

    def run(self, data, learned, p, C, tol):
        import cvxpy as cp

        roots, y = data
        alpha, s = cp.Variable(len(y), nonneg=True), cp.Variable(len(roots))
        quadratic = [0.5 * cp.sum_squares(R @ cp.multiply(y, alpha)) <= s[m] for m, R in enumerate(roots)]
        penalty = cp.max(s) if p == 1 else cp.pnorm(s, p / (p - 1))
        problem = cp.Problem(cp.Maximize(cp.sum(alpha) - penalty), [alpha <= C, y @ alpha == 0, *quadratic])
        problem.solve(cp.CLARABEL)
        theta = np.array([float(np.squeeze(c.dual_value)) for c in quadratic])
        return Result(np.maximum(theta, 0) / np.linalg.norm(theta, p), y * np.clip(alpha.value, 0, C))
