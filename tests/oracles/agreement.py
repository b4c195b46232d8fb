"""What the gaps of two solutions of one problem determine, and no more than that.

With ε = primal − dual of a solution, any two solutions i, j (also i = j) enclose the optimum,

    0 ≤ P_i − D_j ≤ ε_i + ε_j ,   and   Ω(θ_i) + Ω*(½ q_j) − ½ ⟨θ_i, q_j⟩ ≤ P_i − D_j

since J(θ_i) ≥ − Σ c V*(a_j) − ½ ⟨θ_i, q_j⟩. At p = 1 that is all: weight lies where q_j is nearly largest, and kernels
that tie may share it in any way. The ℓp ball of 1 < p ≤ 2 is 2-uniformly convex (Ball, Carlen and Lieb 1994),
‖(x + y)/2‖_p ≤ 1 − (p − 1)/8 ‖x − y‖_p², so that there ‖θ_i − θ_j‖_p² ≤ 4 (ε_i + 2 ε_j) / ((p − 1) Ω*(½ q_j)).
"""

import numpy as np

from manykernels import regularizers
from manykernels.regularizers import LpNorm


def at(problem, theta, a, b):
    """(primal, dual, scale, q) of a point, from products with each kernel of the problem."""
    theta = theta[problem.kernels]
    P = problem.bank.products(a, np.arange(problem.bank.n), None, problem.kernels)
    q, outputs = np.einsum("tmi,ti->m", P, a), np.einsum("m,tmi->ti", theta, P)
    certificate = problem.certificate(problem.losses(outputs, b), a, b, theta, q)
    return certificate.primal, certificate.dual, certificate.scale, q


def assert_agree(problem, one, two, rounding=1e-9):
    """Both solve the problem to their gaps; `rounding` is what another bank of the same kernels may add to a gap."""
    assert one.converged and two.converged
    primal, dual, dual_q = [], [], []
    for s in (one, two):
        p, d, scale, q = at(problem, s.theta, s.a, s.b)
        if s.dual_a is not None:
            _, d, _, q = at(problem, s.theta, s.dual_a, s.b)
        primal, dual, dual_q = [*primal, p], [*dual, d], [*dual_q, q]
        assert p - d <= (s.gap + rounding) * scale
    allowed = (one.gap + two.gap + 2 * rounding) * scale
    for i, j in ((0, 1), (1, 0)):
        assert -rounding * scale <= primal[i] - dual[j] <= allowed
    if isinstance(problem.regularizer, LpNorm) and 1 < problem.regularizer.p <= 2:
        assert_weights_agree(problem.regularizer.p, one.theta, two.theta, 2 * allowed, 0.5 * dual_q[1])


def assert_weights_agree(p, one, two, epsilon, s):
    """‖θ_1 − θ_2‖_p within what a gap of ε = ε_1 + 2 ε_2 leaves open where the dual has ½ q = s; 1 < p ≤ 2."""
    radius = np.sqrt(4 * epsilon / ((p - 1) * LpNorm(p).conjugate(s)))
    assert np.linalg.norm(one - two, p) <= radius


def assert_models_agree(one, two, data):
    """Two classifiers fitted to `data`, two classes and 1 < p ≤ 2: objectives and weights within their gaps."""
    epsilon = [m.duality_gap_ * m.objective_ + 1e-9 * m.objective_ for m in (one, two)]
    assert abs(one.objective_ - two.objective_) <= max(epsilon)
    p = regularizers.get(two.regularizer).p
    parts = two.decision_parts(data)[two.support_]  # θ_m K_m a, so that a'parts = θ_m q_m; Ω* is 1-homogeneous: ½ Σ θq
    conjugate = 0.5 * float(np.sum(two.dual_coef_[0] @ parts))
    radius = np.sqrt(4 * (epsilon[0] + 2 * epsilon[1]) / ((p - 1) * conjugate))
    assert np.linalg.norm(one.kernel_weights_ - two.kernel_weights_, p) <= radius
