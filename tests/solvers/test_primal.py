"""Newton steps on explicit features: the certificate is that of the point which is returned."""

import numpy as np
import pytest

from manykernels import losses
from manykernels.banks.choice import explicit_bank
from manykernels.kernels import RBF, KernelList, RandomFeatures
from manykernels.problem import Problem
from manykernels.regularizers import LpNorm
from manykernels.solvers import solve


@pytest.mark.parametrize("max_iter", [1, 2, 3, 1000])
@pytest.mark.parametrize("loss", ["logistic", "hinge", "squared"])
def test_the_certificate_is_that_of_the_point_that_is_returned(loss, max_iter):
    """Issue 11, point 24. Classes are unbalanced, so that Σa = 0 moves a: v goes with it."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 3))
    y = np.where(X[:, 0] + 0.3 * rng.normal(size=400) > 1.2, 1.0, -1.0)
    kernels = [RandomFeatures(RBF(gamma=g), rank=12, random_state=k) for k, g in enumerate((0.1, 0.5))]
    bank = explicit_bank(KernelList.from_spec(kernels, X), X)
    problem = Problem(bank, y, losses.get(loss), LpNorm(2), 2.0)
    s = solve(problem, "primal", tol=1e-3, max_iter=max_iter)
    P = bank.products(s.a, np.arange(400))
    q, outputs = np.einsum("tmi,ti->m", P, s.a), np.einsum("m,tmi->ti", s.theta, P)
    exact = problem.certificate(problem.losses(outputs, s.b), s.a, s.b, s.theta, q)
    assert s.primal == pytest.approx(exact.primal, rel=1e-5)
    assert exact.gap == pytest.approx(s.gap, abs=1e-5) and (s.converged or max_iter < 1000)
