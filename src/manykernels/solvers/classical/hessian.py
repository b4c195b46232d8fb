"""Second-order steps with a line search: HessianMKL (Chapelle, Rakotomamonjy 2008), timed in Kloft et al. (2011).

    min over θ of J(θ) + Ω(θ) ,   ∇J = −½ q ,  ∇²J = B P Bᵀ   (see `newton`)

Each step minimises the quadratic model plus Ω and is halved until the objective falls. Departs from the paper in its
stopping rule, the duality gap, and in that Ω need not be the simplex. `newton` is the same idea with active examples
and damping in place of the line search.
"""

from .._oracle import OracleSolver
from .._wrapper import ActiveState
from ..newton import Newton, NewtonStep

MAX_HALVINGS = 8  # of a step; after them the inner problem is too coarse


class Hessian(OracleSolver):
    """Second-order steps on the weights with a line search.

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels import MKLClassifier
    >>> from manykernels.kernels import RBF
    >>> from manykernels.solvers import Hessian
    >>> X = np.random.default_rng(0).normal(size=(60, 4))
    >>> y, widths = X[:, 0] + X[:, 1] ** 2 > 1, [RBF(gamma=g) for g in (0.01, 0.1, 0.5, 1.0)]
    >>> model = MKLClassifier(widths, solver=Hessian(), tol=1e-6).fit(X, y)
    >>> gaps = [step["gap"] for step in model.history_]
    >>> bool(gaps[2] < 0.1 * gaps[1] < 0.01 * gaps[0])
    True
    """

    file_tag = ("solver/hessian", 1)
    name = "hessian"
    effort = 1e-3  # the line search compares values, and the Hessian needs the right support
    needs = Newton.needs

    def steps(self, oracle):
        regularizer, point = oracle.problem.regularizer, oracle(oracle.theta)
        step = NewtonStep(closed_first=False, bends=1)
        while True:
            state = ActiveState(  # here on all examples
                problem=oracle.problem, theta=point.theta, q=point.q, a=point.a.copy(), support=point.support,
                products=point.products, K=point.K, inners=oracle.inners,
                tolerance=0.05 * oracle.scale * max(0.1 * oracle.gap, oracle.tol),
            )  # fmt: skip
            target = step.propose(state)
            value = point.value + regularizer.value(point.theta)
            for k in range(MAX_HALVINGS):
                t = 0.5**k
                trial = oracle(point.theta + t * (target - point.theta))
                if trial.value + regularizer.value(trial.theta) <= value - 1e-4 * t * step.promise:
                    break
            else:
                oracle.effort *= 0.1  # the inner problem was too coarse to see the descent
                if oracle.effort < 1e-9:
                    return
            point = trial
