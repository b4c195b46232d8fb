"""What one writes by hand: SVC and closed-form weights in turn (Kloft et al. 2011, Algorithm 1), no active sets."""

import numpy as np

from ..objective import Result
from ._base import Solver, svc


class AlternationSVC(Solver):
    name = "SVC + closed-form weights"
    needs = ("sklearn",)
    note = "Algorithm 1 of Kloft et al. by hand, `tol` on the change of the objective"
    tolerances = (1e-1, 1e-2, 1e-3)

    def run(self, data, learned, p, C, tol, max_iter=200):
        S, y = data
        theta, last = np.full(len(S), len(S) ** (-1 / p)), np.inf
        for _ in range(max_iter):
            a, b = svc(np.tensordot(theta.astype(S.dtype), S, 1), y, C, tol=min(1e-3, tol))
            support = np.flatnonzero(a)
            s = a[support].astype(S.dtype)
            q = np.array([s @ (K[support][:, support] @ s) for K in S], float)
            value = np.abs(a).sum() - 0.5 * theta @ q
            if last - value <= 0.1 * tol * value:
                break
            norms = theta * np.sqrt(np.maximum(q, 0))
            best, last = norms ** (2 / (p + 1)), value
            theta_next = best / np.linalg.norm(best, p)
            result, theta = Result(theta, a, b), theta_next
        else:
            return result
        return Result(theta, a, b)
