"""manykernels, through its public estimator."""

import numpy as np

from ..objective import Result
from ._base import Solver


class Newton(Solver):
    name = "manykernels newton"
    solver = "newton"
    tolerances = (1e-1, 1e-2, 1e-3, 1e-4, 1e-5)

    def prepare(self, S, y):
        return np.moveaxis(S, 0, 2), y

    def run(self, data, learned, p, C, tol):
        from manykernels import MKLClassifier

        X, y = data
        model = MKLClassifier("precomputed", regularizer=p, C=C, normalize=None, solver=self.solver, tol=tol).fit(X, y)
        a = np.zeros(len(y))
        a[model.support_] = model.dual_coef_[0]
        return Result(model.kernel_weights_, a, model.intercept_[0])


class Analytic(Newton):
    name = "manykernels analytic"
    solver = "analytic"
    tolerances = (1e-1, 1e-2, 1e-3)
