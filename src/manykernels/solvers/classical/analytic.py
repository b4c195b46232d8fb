"""Alternation with the closed-form weights: Algorithm 1 of Kloft et al. (2011).

    a ← the inner problem at θ;   ‖f_m‖² = θ_m² aᵀK_m a;   θ ← argmin over θ of ½ Σ ‖f_m‖² / θ_m + Ω(θ)   (eq. 19, 24)

Departs from the paper in its stopping rule, the duality gap, and in that the inner tolerance follows that gap.
At p = 1 no convergence is proved (their Theorem 4 asks p > 1): a weight that reaches 0 stays 0.
"""

import numpy as np

from ...problem import Problem
from ...solution import Solution
from .._wrapper import Wrapper
from ..base import BaseSolver, Control


class Analytic(BaseSolver):
    """Alternates the inner problem and the closed-form weights.

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels import MKLClassifier
    >>> from manykernels.kernels import RBF
    >>> from manykernels.solvers import Analytic
    >>> X = np.random.default_rng(0).normal(size=(60, 4))
    >>> y, widths = X[:, 0] + X[:, 1] ** 2 > 1, [RBF(gamma=g) for g in (0.01, 0.1, 0.5, 1.0)]
    >>> model = MKLClassifier(widths, regularizer=2, solver=Analytic(), tol=1e-6).fit(X, y)
    >>> a, parts = model.dual_coef_[0], model.decision_parts(X)[model.support_]  # θ_m K_m a
    >>> norms = np.sqrt(model.kernel_weights_ * (a @ parts))  # ‖f_m‖
    >>> bool(np.allclose(model.kernel_weights_, norms ** (2 / 3) / np.sqrt(np.sum(norms ** (4 / 3))), atol=1e-3))
    True
    """

    file_tag = ("solver/analytic", 1)
    name = "analytic"
    adjusts = coupled = True
    needs = ("value", "conjugate", "weights_from_norms", "prox", "start")

    def solve(self, problem: Problem, control: Control) -> Solution:
        wrapper = Wrapper(problem, ClosedForm(), control)
        if not wrapper.theta.all():  # the closed form cannot revive a weight of 0
            wrapper.theta = 0.999 * wrapper.theta + 0.001 * problem.regularizer.start(len(wrapper.theta))
        return wrapper.solve()


class ClosedForm:
    """The weights that are best for the norms of the current predictor: the objective cannot rise."""

    patience = 100
    cuts = False

    def propose(self, state):
        norms = state.theta * np.sqrt(np.maximum(state.q, 0.0))
        return state.problem.regularizer.weights_from_norms(norms)

    def judge(self, decrease):
        return True
