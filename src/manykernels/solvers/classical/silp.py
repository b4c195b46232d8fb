"""Semi-infinite linear programming: the wrapper, Algorithm 1 of Sonnenburg et al. (2006).

    min over θ in the simplex, z :  z     subject to   z ≥ − Σ c V*(y, −a / c) − ½ Σ_m θ_m aᵀK_m a   for every a

Each inner problem, solved at the weights of the last linear program, gives the most violated constraint, the next cut.
The paper stops on the relative change of z, which is the duality gap between the best weights so far and the mean of
the cuts. Departs from it in that an inner problem is solved only as well as that gap requires.
"""

from .._cuts import cuts_for
from .._oracle import OracleSolver


class SILP(OracleSolver):
    """Cutting planes and linear programs over the simplex.

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels import MKLClassifier
    >>> from manykernels.kernels import RBF
    >>> from manykernels.solvers import SILP
    >>> X = np.random.default_rng(0).normal(size=(60, 4))
    >>> y, widths = X[:, 0] + X[:, 1] ** 2 > 1, [RBF(gamma=g) for g in (0.01, 0.1, 0.5, 1.0)]
    >>> model = MKLClassifier(widths, regularizer=1, C=1.0, solver=SILP()).fit(X, y)
    >>> bool((model.kernel_weights_ == 0).any()), round(float(model.kernel_weights_.sum()), 6)
    (True, 1.0)
    >>> [step["n_kernels"] for step in model.history_][:2]  # each step adds a cut; the first one leaves a single kernel
    [4, 1]
    """

    file_tag = ("solver/silp", 1)
    name = "silp"
    needs = ("value", "conjugate", "start")

    wants = {"simplex": "its linear program is over weights on the simplex, LpNorm(1)"}

    def steps(self, oracle):
        """Solves the inner problem at the minimum of the cuts so far, over and over."""
        cuts, theta = cuts_for(oracle.problem.regularizer), oracle.theta
        while True:
            cuts.add(oracle(theta))
            theta, lower = cuts.minimum(0.1 * oracle.scale * max(oracle.gap, oracle.tol))
            oracle.bound(lower, cuts.dual_point())
