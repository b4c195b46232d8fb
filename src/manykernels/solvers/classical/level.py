"""The level method: Algorithm 1 of Yang et al. (2011), for constraints on the weights.

    min over θ in Θ of J(θ) ,   h(θ) = max_k − Σ c V*(y, −a_k / c) − ½ Σ_m θ_m a_kᵀK_m a_k   (their eq. 23)

Each step solves the problem at fixed θ, adds its cut to h, projects θ onto the level set {h ≤ lower + τ · gap}, where
`lower` is the minimum of h over Θ. Unlike plain cutting planes it does not oscillate. The gap never rises (Theorem 4).
Departs from the paper in τ, 0.9 there and 0.5 here, and solves both small problems in the multipliers of the cuts,
without a conic solver.
"""

from numbers import Real

from ..._parts import declared
from ..._validation import shown
from ...problem import Problem
from .._cuts import cuts_for
from .._oracle import OracleSolver


@declared
class Level(OracleSolver):
    """Cutting planes and level sets.

    Parameters
    ----------
    tau : float, default 0.5
        The level between the bounds, in (0, 1).

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels import MKLClassifier
    >>> from manykernels.kernels import RBF
    >>> from manykernels.solvers import Level
    >>> X = np.random.default_rng(0).normal(size=(60, 4))
    >>> y, widths = X[:, 0] + X[:, 1] ** 2 > 1, [RBF(gamma=g) for g in (0.01, 0.1, 0.5, 1.0)]
    >>> models = [MKLClassifier(widths, regularizer=1, solver=Level(tau=tau)).fit(X, y) for tau in (0.1, 0.9)]
    >>> gaps = [[step["gap"] for step in model.history_] for model in models]
    >>> [gap == sorted(gap, reverse=True) for gap in gaps]  # never rises
    [True, True]
    >>> len(gaps[0]) < len(gaps[1])  # a high level means short steps
    True
    """

    file_tag = ("solver/level", 1)
    name = "level"
    needs = ("value", "conjugate", "weights_from_dual", "prox", "start")
    wants = {
        "constraint": "it projects onto level sets within a bounded domain of the weights: a constraint, not a penalty"
    }

    tau: float = 0.5

    def refuse(self, problem: Problem) -> str | None:
        regularizer = problem.regularizer
        if regularizer.constraint and not (regularizer.smooth or regularizer.simplex):
            return "its lower bounds need the simplex or a differentiable Ω*"
        return super().refuse(problem)

    def steps(self, oracle):
        if not (isinstance(self.tau, Real) and 0 < self.tau < 1):
            raise ValueError(f"tau must be a number between 0 and 1, got {shown(self.tau)}")
        cuts, theta = cuts_for(oracle.problem.regularizer), oracle.theta
        while True:
            cuts.add(oracle(theta))
            tolerance = 0.05 * oracle.scale * max(oracle.gap, oracle.tol)
            oracle.bound(cuts.minimum(tolerance)[1], cuts.dual_point())
            theta = cuts.project(theta, oracle.lower + self.tau * (oracle.upper - oracle.lower), tolerance)
