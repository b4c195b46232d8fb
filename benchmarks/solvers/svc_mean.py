"""scikit-learn's SVC on the plain sum of the kernels: equal weights on the p-ball, nothing is learned."""

import numpy as np

from ..objective import Result
from ._base import Solver, svc


class MeanSVC(Solver):
    name = "SVC, equal weights"
    needs = ("sklearn",)
    solves = False
    note = "the weights are not learned"

    def run(self, data, learned, p, C, tol):
        S, y = data
        theta = np.full(len(S), len(S) ** (-1 / p))
        a, b = svc(np.tensordot(theta.astype(S.dtype), S, 1), y, C)
        return Result(theta, a, b)
