"""`minimise`, the model step of the newton solver, leaves no more than the tolerance it was given."""

import numpy as np
import pytest
from members import M, every

from manykernels.regularizers import Entropy, Separable

rng = np.random.default_rng(0)
S = rng.exponential(size=M)


class Model:
    """A convex quadratic at θ, as the newton solver makes them."""

    def __init__(self, theta, rank, scale):
        m, rng = len(theta), np.random.default_rng(0)
        Z = rng.normal(size=(rank, m)) * scale
        self.H, self.theta = Z.T @ Z, theta
        self.gradient = -0.5 * rng.exponential(size=m) * scale
        self.diagonal = np.diag(self.H).copy()

    def multiply(self, v):
        return self.H @ v

    def block(self, index):
        return self.H[np.ix_(index, index)]


@every("minimise")
@pytest.mark.parametrize("rank", [2, 10])
@pytest.mark.parametrize("scale", [0.3, 3.0])
def test_minimise_leaves_no_more_than_the_tolerance(omega, rank, scale):
    """Certified by Ω(x) + Ω*(−∇) + ⟨x, ∇⟩ for the model's gradient ∇ at x."""
    theta = omega.start(M)
    model, tolerance = Model(theta, rank, scale), 1e-6
    x = omega.minimise(model, theta, tolerance, 5000)
    gradient = model.gradient + model.multiply(x - theta)
    most = np.inf if omega.constraint else max(10 * theta.sum(), 1.0)  # the sum of the weights is bounded so
    gap = omega.value(x) + omega._capped_conjugate(-gradient, most) + x @ gradient
    assert np.all(x >= 0) and gap <= (20 if isinstance(omega, Separable) else 2) * tolerance


@every("minimise", where=lambda omega: not omega.constraint and not isinstance(omega, Entropy))
def test_the_conjugate_over_weights_of_bounded_sum_is_a_supremum(omega):
    """What `minimise` stops on where the model alone has no minimum."""
    for s in (3 * S, S - 0.2):
        for most in (0.5, 3.0):
            bound = omega._capped_conjugate(s, most)
            thetas = [omega._capped_prox(z, 1e4, most) for z in (1e4 * s, *rng.normal(size=(8, M)) * 1e4)]
            assert all(theta.sum() <= most * (1 + 1e-9) for theta in thetas)
            found = max(theta @ s - omega.value(theta) for theta in thetas)
            assert found - 1e-9 <= bound <= found + 0.01 * max(1, abs(found))
