"""Semi-infinite programming by cutting planes for p > 1 (Kloft et al. 2009; 2011, section 4.2.1).

    min over θ, z :  z + Ω(θ)     subject to   z ≥ − Σ c V*(y, −a / c) − ½ Σ_m θ_m aᵀK_m a   for every a

Departs from the papers in the small program: they replace ‖θ‖_p ≤ 1 by a sequence of quadratic constraints, here it
is solved in the multipliers of the cuts, which needs Ω* alone and so serves every Ω with a differentiable Ω*.
"""

from ._oracle import Oracle
from .silp import cutting_planes

NEEDS = ("value", "conjugate", "weights_from_dual", "start")


def refuse(problem):
    if not problem.regularizer.smooth:
        return "it needs a differentiable Ω*, which has kinks at p = 1; for LpNorm(1) solver='silp' is the same"


def solve(problem, tol, max_iter, warm=None, monitor=None):
    return Oracle(problem, tol, max_iter, warm, monitor).run(cutting_planes)
