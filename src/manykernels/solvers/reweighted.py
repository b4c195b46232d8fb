"""Alternation with the weights of the dual, for block norms that have no Ω: the SVM at θ, then θ from its norms.

    min over a :   Σ c V*(y, −a / c) + Ω*(½ q(a)) ,   q_m = aᵀK_m a ;   θ ← ∇Ω*(½ q)

Where Ω* is concave (`BlockNorm`, `BlockSum`: powers below 1 of the q_m) its tangent lies above it, so that the SVM
at θ minimises an upper bound of the dual problem, which touches it at the last a: the dual value never falls. Kernels
whose q_m vanishes get ever larger weights, which stall Newton steps and do no harm here.
"""

import numpy as np

from ..problem import Problem
from ._oracle import OracleSolver


class Reweighted(OracleSolver):
    """Alternates the inner problem and the weights of the dual: majorise and minimise.

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels import MKLClassifier
    >>> from manykernels.kernels import RBF
    >>> from manykernels.regularizers import BlockNorm
    >>> from manykernels.solvers import Reweighted
    >>> X = np.random.default_rng(0).normal(size=(60, 4))
    >>> y, widths = X[:, 0] + X[:, 1] ** 2 > 1, [RBF(gamma=g) for g in (0.01, 0.1, 0.5, 1.0)]
    >>> model = MKLClassifier(widths, regularizer=BlockNorm(3), solver=Reweighted()).fit(X, y)
    >>> dual = [step["dual"] for step in model.history_]
    >>> dual == sorted(dual), bool(model.kernel_weights_.max() < 2 * model.kernel_weights_.min())  # never falls; even
    (True, True)
    """

    file_tag = ("solver/reweighted", 1)
    name = "reweighted"
    needs = ("conjugate", "weights_from_dual", "start")

    def refuse(self, problem: Problem) -> str | None:
        if problem.regularizer.has("value"):
            return f"the Ω* of {problem.regularizer!r} is convex: its tangents bound it from below"
        return None

    def steps(self, oracle):
        theta, regularizer = oracle.theta, oracle.problem.regularizer
        while True:
            theta = regularizer.weights_from_dual(0.5 * np.maximum(oracle(theta).q, 0.0))
