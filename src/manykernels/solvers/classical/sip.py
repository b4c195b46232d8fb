"""Semi-infinite programming by cutting planes for p > 1 (Kloft et al. 2009; 2011, section 4.2.1).

    min over θ, z :  z + Ω(θ)     subject to   z ≥ − Σ c V*(y, −a / c) − ½ Σ_m θ_m aᵀK_m a   for every a

Departs from the papers in the small program: they replace ‖θ‖_p ≤ 1 by a sequence of quadratic constraints, here it
is solved in the multipliers of the cuts, which needs Ω* alone and so serves every Ω with a differentiable Ω*.
"""

from .._oracle import OracleSolver
from .silp import SILP


class SIP(OracleSolver):
    """Cutting planes for constraints and penalties with a differentiable Ω*.

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels import MKLClassifier
    >>> from manykernels.kernels import RBF
    >>> from manykernels.solvers import SIP
    >>> X = np.random.default_rng(0).normal(size=(60, 4))
    >>> y, widths = X[:, 0] + X[:, 1] ** 2 > 1, [RBF(gamma=g) for g in (0.01, 0.1, 0.5, 1.0)]
    >>> model = MKLClassifier(widths, regularizer=2, solver=SIP()).fit(X, y)
    >>> bool(model.kernel_weights_.all()), round(float(np.sum(model.kernel_weights_**2)), 6), model.n_iter_ < 10
    (True, 1.0, True)
    """

    file_tag = ("solver/sip", 1)
    name = "sip"
    needs = ("value", "conjugate", "weights_from_dual", "start")

    wants = {
        "smooth": "it needs a differentiable Ω*, which has kinks at p = 1; for LpNorm(1) solver='silp' is the same"
    }
    steps = SILP.steps
