"""himalaya's MultipleKernelRidgeCV: squared loss on ±1, weights e^δ and the ridge chosen by cross-validation.

Another problem than that of `objective.py`, so it is measured by its predictor's own parts f_m = e^δ_m K_m w, with the
best intercept.
"""

import contextlib
import io

import numpy as np

from ..objective import Result
from ._base import Solver


class MultipleKernelRidge(Solver):
    needs = ("himalaya",)
    solves = False

    def __init__(self, solver, note, most_examples=10**9, **options):
        self.name, self.solver, self.note, self.options = f"himalaya {solver}", solver, note, options
        self.most_examples = most_examples

    def learn(self, data, tol):
        from himalaya.kernel_ridge import MultipleKernelRidgeCV

        S, y = data
        options = self.options | {"progress_bar": False}
        model = MultipleKernelRidgeCV(
            kernels="precomputed", solver=self.solver, solver_params=options, cv=3, random_state=0
        )
        with contextlib.redirect_stdout(io.StringIO()):
            model.fit(S, y.astype(S.dtype))
        weights, w = np.exp(model.deltas_.astype(float)), model.dual_coef_.astype(S.dtype)
        products = np.array([K @ w for K in S], float)
        norms = weights * np.sqrt(np.maximum(products @ w, 0))
        return Result(parts=weights[:, None] * products, norms=norms)

    def run(self, data, learned, p, C, tol):
        return learned


MULTIPLE_RIDGE = [
    MultipleKernelRidge(
        "random_search", "ridge, weights by cross-validated random search", n_iter=10, alphas=np.logspace(-2, 4, 7)
    ),
    MultipleKernelRidge("hyper_gradient", "ridge, weights by the gradient of cross-validation", 500, max_iter=20),
]
