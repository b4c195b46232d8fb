"""The projection on the ℓp ball is exact, and its weights keep their symmetries."""

from decimal import Decimal, localcontext

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from manykernels import regularizers

POWERS = [1, 1.0001, 1.1, 4 / 3, 2, 4, 16, 100, np.inf]
BALLS = [regularizers.LpNorm(p) for p in POWERS]
every_ball = pytest.mark.parametrize("omega", BALLS, ids=repr)
rng = np.random.default_rng(0)
S = rng.exponential(size=5)
Z = [S, S - 0.7, 0.05 * S, 1e4 * (S - 0.3), np.ones(5), np.array([3.0, 0, -1, 1e-9, 2.9])]


@every_ball
def test_prox_is_where_no_way_into_the_ball_leads_nearer(omega):
    """⟨z − x, v − x⟩ ≤ 0 for all v of the ball, also for the best, of value ‖(z − x)₊‖_q; that alone names one x."""
    dual = np.inf if omega.p == 1 else 1.0 if omega.p == np.inf else omega.p / (omega.p - 1)
    for z in (*Z, np.array([0.9, 0.6, -0.2, 0.75])):
        x, size = omega.prox(z), max(1.0, np.abs(z).max())
        assert np.all(x >= 0) and np.linalg.norm(x, omega.p) <= 1 + 1e-12
        best = size * np.linalg.norm(np.maximum(z - x, 0) / size, dual)  # no power overflows
        assert best - (z - x) @ x <= 1e-10 * size


@every_ball
def test_projecting_twice_is_projecting_once_up_to_ten_thousand_weights(omega):
    for z in (*Z, 10 * rng.normal(size=10_000)):
        x = omega.prox(z)
        if omega.value(z) == 0:
            assert_array_equal(x, z)
        assert_allclose(omega.prox(x), x, atol=1e-14)


@pytest.mark.parametrize("p", [p for p in POWERS if 1 < p < np.inf])
@pytest.mark.parametrize(
    "z",
    [Z[0], Z[3], Z[5], [1 + 1e-12, 0, 0], [1e300, 3, 1e-300, 9e299], [7.0] * 4, [1e200, 1.00001e200, 9e199]],
    ids=range(7),
)
def test_lp_projection_is_accurate_to_twelve_digits(p, z):
    """Against x + μ x^{p−1} = z, ‖x‖_p = 1 in 50 digits: Newton's correction of the result is below 1e-12."""
    z = np.maximum(z, 0.0)
    x = regularizers.LpNorm(p).prox(z)
    if regularizers.LpNorm(p).value(z) == 0 and np.all(x == z):
        return
    with localcontext(prec=50):
        P, X, Zd = Decimal(float(p)), [Decimal(v) for v in x], [Decimal(v) for v in z]
        active = [i for i, v in enumerate(x) if v > 1e-13]
        top = max(active, key=lambda i: z[i])
        mu = (Zd[top] - X[top]) / X[top] ** (P - 1)
        residual = {i: Zd[i] - X[i] - mu * X[i] ** (P - 1) for i in active}
        slope = {i: 1 + mu * (P - 1) * X[i] ** (P - 2) for i in active}
        # δx_i = (residual_i − X_i^{p−1} δμ) / slope_i with Σ X^{p−1} δx = (1 − Σ X^p)/p
        weight = {i: X[i] ** (P - 1) for i in active}
        missing = (1 - sum(weight[i] * X[i] for i in active)) / P
        shift = sum(weight[i] * residual[i] / slope[i] for i in active) - missing
        dmu = shift / sum(weight[i] ** 2 / slope[i] for i in active)
        assert max(abs((residual[i] - weight[i] * dmu) / slope[i]) for i in active) < Decimal("1e-12")
        # what was set to zero is smaller than its equation allows
        for i in set(range(len(z))) - set(active):
            assert Zd[i] < Decimal("1e-12") + mu * Decimal("1e-12") ** (P - 1)


@every_ball
def test_weights_ignore_scale_and_follow_permutations(omega):
    order = rng.permutation(5)
    for weights in (omega.weights_from_norms, omega.weights_from_dual):
        assert_allclose(weights(S * 2.0**100), weights(S), rtol=1e-12)
        assert_allclose(weights(S[order]), weights(S)[order], rtol=1e-12)
    assert_allclose(omega.prox(Z[3][order]), omega.prox(Z[3])[order], atol=1e-12)


@pytest.mark.parametrize("p", [4 / 3, 2.0, 5.0])
@pytest.mark.filterwarnings("ignore:overflow")  # solve() silences it
def test_the_curvature_of_the_conjugate_at_0_does_not_divide_by_0(p):
    """A fit from a = 0 raised a ZeroDivisionError."""
    d, e = regularizers.LpNorm(p).conjugate_curvature(np.zeros(3))
    assert not np.isnan(d).any() and not np.isnan(e).any()
